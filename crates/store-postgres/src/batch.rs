//! Appends as rows, and the one statement that writes a whole batch of them.
//!
//! For each append, the statement updates the discussion's row if the claim is still the newest and
//! `last` is what the writer expects; only then are the facts and the rows derived from them
//! inserted. An append to a sub-discussion locks the row of its root, so that a takeover can't come
//! between the check and the insert.

use std::borrow::Cow;

use quorum_core::{
    model::{
        event::Fact,
        id::{DiscussionId, Step},
        lifecycle::Lifecycle,
        list_status::{self, ListStatus},
        seed_rows::{self, Seats, StateUpdate},
        time::{Timestamp, iso},
    },
    seams::{Append, StoreError, Then},
};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// Text as PostgreSQL can hold it: without NUL.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

pub(crate) struct FactRow {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) active_ms: i64,
    pub(crate) step: Option<String>,
    pub(crate) kind: String,
    pub(crate) body: String,
}

impl FactRow {
    pub(crate) fn of(fact: &Fact) -> Result<Self, StoreError> {
        let fault = |error| StoreError::Unusable(format!("a fact can't be written as JSON: {error}"));
        let body = serde_json::to_string(&fact.event).map_err(fault)?;
        Ok(FactRow {
            seq: fact.seq.0 as i64,
            at: fact.at.0,
            active_ms: fact.active_ms as i64,
            step: fact.step.as_ref().map(Step::as_str).map(|it| text(it).into_owned()),
            kind: kind(&body).to_owned(),
            body,
        })
    }

    pub(crate) fn all(facts: &[Fact]) -> Result<Vec<Self>, StoreError> {
        facts.iter().map(FactRow::of).collect()
    }
}

/// The event's type: the first field of its JSON, where serde puts the tag.
fn kind(body: &str) -> &str {
    body.strip_prefix("{\"type\":\"").unwrap_or(body).split('"').next().unwrap_or_default()
}

/// A row of `discussion_logs`.
pub(crate) struct LogRow {
    pub(crate) id: Uuid,
    pub(crate) agent: Option<String>,
    pub(crate) role: &'static str,
    pub(crate) content: String,
    pub(crate) turn_index: i32,
    pub(crate) round: i32,
    pub(crate) metadata: String,
    pub(crate) at: String,
}

impl LogRow {
    pub(crate) fn all(id: DiscussionId, facts: &[Fact], seats: &Seats) -> Vec<Self> {
        let rows = facts.iter().filter_map(|fact| seed_rows::log(id, fact, seats));
        rows.map(|log| LogRow {
            id: log.id.parse().unwrap_or_default(),
            agent: log.agent.map(|it| text(it).into_owned()),
            role: log.role,
            content: text(log.content).into_owned(),
            turn_index: log.turn_index as i32,
            round: log.round as i32,
            metadata: log.metadata,
            at: iso(log.at),
        })
        .collect()
    }
}

/// An append as parameters of the statement.
pub(crate) struct AppendRow {
    pub(crate) id: Uuid,
    root: Uuid,
    fence: i64,
    node: Uuid,
    expected: i64,
    pub(crate) last: i64,
    last_at: Option<i64>,
    is_over: bool,
    /// The last command taken, if it is to wait for a further one.
    park_after: Option<i64>,
    ends: bool,
    status: Option<&'static str>,
    /// The time of its end, if these facts say something about it.
    ended_at: Option<Option<i64>>,
    success: Option<Option<bool>>,
    synthesis: Option<String>,
    digest: Option<String>,
    facts: Vec<FactRow>,
    logs: Vec<LogRow>,
    state: StateUpdate,
}

impl AppendRow {
    pub(crate) fn of(append: &Append, seats: &Seats) -> Result<Self, StoreError> {
        let Append { claim, id, expected, facts, then, digest } = append;
        let (status, ended_at, success) = changed(facts);
        let is_over = matches!(status, Some(Lifecycle::Completed | Lifecycle::Aborted));
        let (park_after, ends) = match then {
            Then::Continue => (None, false),
            Then::Park { seen } => (Some(seen.0 as i64), true),
            Then::Done => (None, true),
        };
        let digest = digest.as_ref().map(|it| serde_json::to_string(&**it).unwrap_or_default());
        Ok(AppendRow {
            id: (*id).into(),
            root: claim.id.into(),
            fence: claim.fence as i64,
            node: claim.node.into(),
            expected: expected.0 as i64,
            last: facts.last().map_or(*expected, |it| it.seq).0 as i64,
            last_at: facts.last().map(|it| it.at.0),
            is_over: is_over || *then == Then::Done,
            park_after,
            ends,
            status: status.map(Lifecycle::name),
            ended_at,
            success,
            synthesis: list_status::synthesis(facts).map(|it| text(it).into_owned()),
            digest,
            facts: FactRow::all(facts)?,
            logs: LogRow::all(*id, facts, seats),
            state: StateUpdate::of(facts, seats),
        })
    }

    /// The discussions whose rows it locks.
    pub(crate) fn rows(&self) -> [Uuid; 2] {
        [self.id, self.root]
    }

    /// About how many bytes it sends.
    pub(crate) fn size(&self) -> usize {
        self.facts.iter().map(|it| it.body.len()).sum::<usize>()
            + self.logs.iter().map(|it| it.content.len()).sum::<usize>()
    }
}

type StatusChange = (Option<Lifecycle>, Option<Option<i64>>, Option<Option<bool>>);

/// The status, the end and the success that these facts set, each only if they set it: a value that
/// two different beginnings lead to follows from the facts alone.
fn changed(facts: &[Fact]) -> StatusChange {
    let other =
        ListStatus { status: Lifecycle::Running, success: Some(true), ended_at: Some(Timestamp(i64::MIN)) };
    let (one, other) = (ListStatus::OPENED.after(facts), other.after(facts));
    let same = |is_same: bool| is_same.then_some(());
    (
        same(one.status == other.status).map(|()| one.status),
        same(one.ended_at == other.ended_at).map(|()| one.ended_at.map(|it| it.0)),
        same(one.success == other.success).map(|()| one.success),
    )
}

pub(crate) const SQL: &str = "
WITH want AS (
    SELECT * FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::bigint[], $5::uuid[], $6::bigint[], $7::bigint[],
        $8::bigint[], $9::boolean[], $10::bigint[], $11::boolean[], $12::text[], $13::boolean[], $14::bigint[],
        $15::boolean[], $16::boolean[], $17::text[], $18::text[])
    AS w (ord, id, root, fence, node, expected, last, last_at, is_over, park_after, ends, status, sets_ended,
        ended_at, sets_success, success, synthesis, digest)
), held AS (
    SELECT id, fence, node FROM discussions WHERE id IN (SELECT root FROM want WHERE root <> id)
    ORDER BY id FOR NO KEY UPDATE
), ok AS (
    UPDATE discussions d SET
        last = w.last,
        last_at = coalesce(w.last_at, d.last_at),
        written_at = now_us(),
        status = coalesce(w.status, d.status),
        ended_at = CASE WHEN w.sets_ended THEN w.ended_at ELSE d.ended_at END,
        success = CASE WHEN w.sets_success THEN w.success ELSE d.success END,
        synthesis = coalesce(w.synthesis, d.synthesis),
        digest = coalesce(w.digest, d.digest),
        run = CASE WHEN w.is_over THEN 'over' WHEN w.park_after >= d.last_command THEN 'parked' ELSE 'runnable' END,
        unindexed = d.unindexed OR (d.root = d.id AND (w.is_over OR coalesce(w.park_after >= d.last_command, false))),
        node = CASE WHEN w.ends AND d.root = d.id THEN NULL ELSE d.node END,
        claimed_at = CASE WHEN w.ends AND d.root = d.id THEN NULL ELSE d.claimed_at END,
        attempts = CASE WHEN w.ends AND d.root = d.id THEN 0 ELSE d.attempts END
    FROM want w LEFT JOIN held h ON h.id = w.root
    WHERE d.id = w.id AND d.root = w.root AND d.last = w.expected AND d.run <> 'over'
        AND coalesce(h.fence, d.fence) = w.fence AND coalesce(h.node, d.node) = w.node
    RETURNING w.ord, d.number, d.id
), written AS (
    INSERT INTO facts (discussion, seq, at, active_ms, step, type, body)
    SELECT ok.number, f.seq, f.at, f.active_ms, f.step, f.type, f.body
    FROM unnest($19::int[], $20::bigint[], $21::bigint[], $22::bigint[], $23::text[], $24::text[], $25::text[])
    AS f (ord, seq, at, active_ms, step, type, body) JOIN ok USING (ord)
), logged AS (
    INSERT INTO discussion_logs
        (id, project_id, agent_id, role, content, turn_index, round_number, metadata, created_at)
    SELECT l.id, ok.id, l.agent, l.role, l.content, l.turn, l.round, l.metadata, l.at
    FROM unnest($26::int[], $27::uuid[], $28::text[], $29::text[], $30::text[], $31::int[], $32::int[], $33::text[],
        $34::text[])
    AS l (ord, id, agent, role, content, turn, round, metadata, at) JOIN ok USING (ord)
), moved AS (
    UPDATE discussion_state s SET
        current_turn_index = coalesce(u.turn, s.current_turn_index),
        current_round = coalesce(u.round, s.current_round),
        status = coalesce(u.status, s.status),
        updated_at = u.at
    FROM unnest($35::int[], $36::int[], $37::int[], $38::text[], $39::text[]) AS u (ord, turn, round, status, at)
    JOIN ok USING (ord)
    WHERE s.project_id = ok.id
)
SELECT ord FROM ok";

/// The columns of a batch: each field is one array of the statement.
#[derive(Default)]
pub(crate) struct Columns<'a> {
    ord: Vec<i32>,
    id: Vec<Uuid>,
    root: Vec<Uuid>,
    fence: Vec<i64>,
    node: Vec<Uuid>,
    expected: Vec<i64>,
    last: Vec<i64>,
    last_at: Vec<Option<i64>>,
    is_over: Vec<bool>,
    park_after: Vec<Option<i64>>,
    ends: Vec<bool>,
    status: Vec<Option<&'a str>>,
    sets_ended: Vec<bool>,
    ended_at: Vec<Option<i64>>,
    sets_success: Vec<bool>,
    success: Vec<Option<bool>>,
    synthesis: Vec<Option<&'a str>>,
    digest: Vec<Option<&'a str>>,
    pub(crate) facts: FactColumns<'a>,
    pub(crate) logs: LogColumns<'a>,
    state_ord: Vec<i32>,
    state_turn: Vec<Option<i32>>,
    state_round: Vec<Option<i32>>,
    state_status: Vec<Option<&'static str>>,
    state_at: Vec<String>,
}

impl<'a> Columns<'a> {
    /// The columns of these appends, which are of different discussions.
    pub(crate) fn of(appends: impl Iterator<Item = &'a AppendRow>) -> Self {
        let mut columns = Columns::default();
        appends.enumerate().for_each(|(ord, append)| columns.push(ord as i32, append));
        columns
    }

    fn push(&mut self, ord: i32, append: &'a AppendRow) {
        self.ord.push(ord);
        self.id.push(append.id);
        self.root.push(append.root);
        self.fence.push(append.fence);
        self.node.push(append.node);
        self.expected.push(append.expected);
        self.last.push(append.last);
        self.last_at.push(append.last_at);
        self.is_over.push(append.is_over);
        self.park_after.push(append.park_after);
        self.ends.push(append.ends);
        self.status.push(append.status);
        self.sets_ended.push(append.ended_at.is_some());
        self.ended_at.push(append.ended_at.flatten());
        self.sets_success.push(append.success.is_some());
        self.success.push(append.success.flatten());
        self.synthesis.push(append.synthesis.as_deref());
        self.digest.push(append.digest.as_deref());
        self.facts.extend(ord, &append.facts);
        self.logs.extend(ord, &append.logs);
        self.push_state(ord, append);
    }

    fn push_state(&mut self, ord: i32, append: &AppendRow) {
        if append.state == StateUpdate::default() {
            return;
        }
        self.state_ord.push(ord);
        self.state_turn.push(append.state.turn_index.map(|it| it as i32));
        self.state_round.push(append.state.round.map(|it| it as i32));
        self.state_status.push(append.state.status);
        self.state_at.push(iso(Timestamp(append.last_at.unwrap_or_default())));
    }

    /// The parameters of the statement.
    pub(crate) fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        let mut all: Vec<&(dyn ToSql + Sync)> = vec![
            &self.ord,
            &self.id,
            &self.root,
            &self.fence,
            &self.node,
            &self.expected,
            &self.last,
            &self.last_at,
            &self.is_over,
            &self.park_after,
            &self.ends,
            &self.status,
            &self.sets_ended,
            &self.ended_at,
            &self.sets_success,
            &self.success,
            &self.synthesis,
            &self.digest,
        ];
        all.push(&self.facts.ord);
        all.extend(self.facts.parameters());
        all.push(&self.logs.ord);
        all.extend(self.logs.parameters());
        all.extend([&self.state_ord as &(dyn ToSql + Sync), &self.state_turn, &self.state_round]);
        all.extend([&self.state_status as &(dyn ToSql + Sync), &self.state_at]);
        all
    }
}

/// The columns of facts.
#[derive(Default)]
pub(crate) struct FactColumns<'a> {
    ord: Vec<i32>,
    seq: Vec<i64>,
    at: Vec<i64>,
    active_ms: Vec<i64>,
    step: Vec<Option<&'a str>>,
    kind: Vec<&'a str>,
    body: Vec<&'a str>,
}

impl<'a> FactColumns<'a> {
    pub(crate) fn extend(&mut self, ord: i32, rows: &'a [FactRow]) {
        for row in rows {
            self.ord.push(ord);
            self.seq.push(row.seq);
            self.at.push(row.at);
            self.active_ms.push(row.active_ms);
            self.step.push(row.step.as_deref());
            self.kind.push(&row.kind);
            self.body.push(&row.body);
        }
    }

    /// All but the ordinal.
    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 6] {
        [&self.seq, &self.at, &self.active_ms, &self.step, &self.kind, &self.body]
    }
}

/// The columns of `discussion_logs`.
#[derive(Default)]
pub(crate) struct LogColumns<'a> {
    ord: Vec<i32>,
    id: Vec<Uuid>,
    agent: Vec<Option<&'a str>>,
    role: Vec<&'a str>,
    content: Vec<&'a str>,
    turn_index: Vec<i32>,
    round: Vec<i32>,
    metadata: Vec<&'a str>,
    at: Vec<&'a str>,
}

impl<'a> LogColumns<'a> {
    pub(crate) fn extend(&mut self, ord: i32, rows: &'a [LogRow]) {
        for row in rows {
            self.ord.push(ord);
            self.id.push(row.id);
            self.agent.push(row.agent.as_deref());
            self.role.push(row.role);
            self.content.push(&row.content);
            self.turn_index.push(row.turn_index);
            self.round.push(row.round);
            self.metadata.push(&row.metadata);
            self.at.push(&row.at);
        }
    }

    /// All but the ordinal.
    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 8] {
        [
            &self.id,
            &self.agent,
            &self.role,
            &self.content,
            &self.turn_index,
            &self.round,
            &self.metadata,
            &self.at,
        ]
    }
}
