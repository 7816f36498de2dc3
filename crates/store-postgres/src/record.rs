//! The record: creating discussions, checking and reading facts.

use std::sync::LazyLock;

use quorum_core::{
    model::{
        digest::Digest,
        event::{Event, Fact, Lineage},
        id::{DiscussionId, Seq, Step, Tenant},
        list_status::{self, ListStatus},
        relevance::key,
        seed_rows::{Seats, StateUpdate, stored_role},
        spec::Spec,
        time::{Timestamp, iso},
    },
    seams::{Append, Claim, Created, LONGEST_WAIT_MS, Queueing, Runner, StoreError, check_room, needs},
};
use tokio_postgres::{Row, types::ToSql};
use uuid::Uuid;

use crate::{
    batch::{FactColumns, FactRow, LogColumns, LogRow, text},
    connection::Connection,
    error::{JobError, unreadable},
};

/// The discussions that wait for a node, as the partial indexes know them.
pub(crate) const WAITING: &str = "root = id AND run = 'runnable' AND node IS NULL AND NOT stuck";

/// Where a new discussion begins.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// This node runs it.
    Claimed(Runner),
    /// It waits in the queue, or is a sub-discussion.
    Free,
    /// It waits in the queue, and its tenant's turns are counted.
    Queued(Queueing),
}

/// A discussion to create.
pub(crate) struct Opening<'a> {
    id: DiscussionId,
    root: DiscussionId,
    spec: &'a Spec,
    flow: u32,
    facts: &'a [Fact],
    seats: &'a Seats,
    place: Place,
}

impl<'a> Opening<'a> {
    /// Checks the first facts.
    pub(crate) fn of(
        id: DiscussionId,
        facts: &'a [Fact],
        seats: &'a Seats,
        place: Place,
    ) -> Result<Self, StoreError> {
        check_numbers(id, Seq::START, facts)?;
        let Some(Fact { event: Event::Opened { spec, lineage, flow, .. }, .. }) = facts.first() else {
            return Err(StoreError::Unusable(format!("discussion {id} doesn't start with an `opened` fact")));
        };
        let root = lineage.as_ref().map_or(id, |it: &Lineage| it.root);
        Ok(Opening { id, root, spec, flow: *flow, facts, seats, place })
    }

    fn tenant(&self) -> &Tenant {
        &self.spec.tenant
    }

    /// Whether what is checked first has to stay so until it is created: in a transaction.
    pub(crate) fn needs_locks(&self) -> bool {
        let counts = match self.place {
            Place::Queued(queueing) => queueing.most.is_some(),
            Place::Claimed(runner) => runner.most_of_tenant.is_some(),
            Place::Free => false,
        };
        counts || self.spec.session.is_some()
    }
}

/// Creates a discussion with its first facts, all in one statement; in a transaction, if it
/// [needs locks](Opening::needs_locks).
pub(crate) async fn create(connection: &mut Connection, opening: &Opening<'_>) -> Result<Created, JobError> {
    if exists(connection, opening.id).await? {
        return Ok(Created::Existed);
    }
    check_references(connection, opening).await?;
    match opening.place {
        Place::Queued(queueing) if queueing.most.is_some() => {
            check_queue(connection, opening.tenant(), &queueing).await?;
        }
        Place::Claimed(runner) if runner.most_of_tenant.is_some() => {
            check_share(connection, opening.tenant(), &runner).await?;
        }
        Place::Queued(_) | Place::Claimed(_) | Place::Free => {}
    }
    let created = insert(connection, opening).await;
    match (created, opening.place) {
        (Err(error), Place::Claimed(it)) if error.is_gone() => Err(StoreError::Gone(it.node).into()),
        (created, _) => created,
    }
}

/// Locks the tenant's place in the queue, so that orders of two nodes are counted one after the
/// other, and fails if too many wait.
async fn check_queue(
    connection: &mut Connection,
    tenant: &Tenant,
    queueing: &Queueing,
) -> Result<(), JobError> {
    lock_tenant(connection, tenant.name()).await?;
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT count(*) FROM discussions WHERE {WAITING} AND tenant = $1"));
    let waiting: i64 = connection.query(&SQL, &[&text(tenant.name())]).await?[0].get(0);
    Ok(check_room(waiting as u64, queueing)?)
}

/// The same for a discussion that is begun at once: fails if too many of the tenant run.
async fn check_share(connection: &mut Connection, tenant: &Tenant, runner: &Runner) -> Result<(), JobError> {
    lock_tenant(connection, tenant.name()).await?;
    let sql = "SELECT count(*) FROM discussions WHERE tenant = $1 AND node IS NOT NULL";
    let running: i64 = connection.query(sql, &[&text(tenant.name())]).await?[0].get(0);
    Ok(runner.check_room(running as u64)?)
}

/// Locks the row of a tenant in the queue until the transaction ends.
pub(crate) async fn lock_tenant(connection: &mut Connection, tenant: &str) -> Result<(), JobError> {
    let tenant = text(tenant);
    let sql = "INSERT INTO turns (tenant, next) VALUES ($1, 0) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[&tenant]).await?;
    connection.query("SELECT next FROM turns WHERE tenant = $1 FOR UPDATE", &[&tenant]).await?;
    Ok(())
}

pub(crate) async fn exists(connection: &mut Connection, id: DiscussionId) -> Result<bool, JobError> {
    let sql = "SELECT 1 FROM discussions WHERE id = $1";
    Ok(connection.query_opt(sql, &[&Uuid::from(id)]).await?.is_some())
}

async fn check_references(connection: &mut Connection, opening: &Opening<'_>) -> Result<(), JobError> {
    if opening.root != opening.id {
        let sql = "SELECT 1 FROM discussions WHERE id = $1 AND root = id";
        if connection.query_opt(sql, &[&Uuid::from(opening.root)]).await?.is_none() {
            return Err(StoreError::Unknown(opening.root).into());
        }
    }
    if let Some(session) = opening.spec.session {
        // The lock keeps the session until the discussion is recorded.
        let sql = "SELECT 1 FROM sessions WHERE id = $1 AND tenant = $2 FOR KEY SHARE";
        if connection.query_opt(sql, &[&session, &text(opening.tenant().name())]).await?.is_none() {
            return Err(StoreError::UnknownSession(session).into());
        }
    }
    Ok(())
}

/// The place in the queue of a tenant that has not waited before: that of the first that waits, or
/// else after all turns that were ever given.
const LEAST_TURN: &str = "SELECT coalesce(
    (SELECT turn FROM discussions WHERE root = id AND run = 'runnable' AND node IS NULL AND NOT stuck
     AND ready_at <= (SELECT now_us()) ORDER BY turn, opened_at, id LIMIT 1),
    (SELECT max(next) FROM turns), 0) AS turn";

/// Gives the tenant ($4) the next turn of its own, at least that one.
const OWN_TURN: &str = "INSERT INTO turns (tenant, next) SELECT $4::text, turn + 1 FROM least
    ON CONFLICT (tenant) DO UPDATE SET next = greatest(turns.next, excluded.next - 1) + 1
    RETURNING next - 1 AS turn";

fn insert_sql(own_turn: &str) -> String {
    format!(
        "WITH least AS ({LEAST_TURN}), taken AS ({own_turn}), new AS (
             INSERT INTO discussions
             (id, root, session, tenant, pattern, flow, needs, topic, key, simulated, opened_at, status, success,
              synthesis, ended_at, digest, run, last, last_at, written_at, fence, node, claimed_at, turn, ready_at,
              unindexed)
             SELECT $1::uuid, $2::uuid, $3::uuid, $4::text, $5::text, $6::int, $7::text[], $8::text, $9::text,
              $10::boolean, $11::bigint, $12::text, $13::boolean, $14::text, $15::bigint, $16::text, 'runnable',
              $17::bigint, $18::bigint, now_us(), CASE WHEN $19::uuid IS NULL THEN 0 ELSE 1 END, $19::uuid,
              CASE WHEN $19::uuid IS NULL THEN NULL ELSE $17::bigint END,
              CASE WHEN $1::uuid = $2::uuid THEN turn ELSE 0 END, now_us() + $20::bigint, $1::uuid = $2::uuid
             FROM taken
             ON CONFLICT (id) DO NOTHING RETURNING number, id
         ), written AS (
             INSERT INTO facts (discussion, seq, at, active_ms, step, type, body)
             SELECT new.number, f.* FROM new, unnest($21::bigint[], $22::bigint[], $23::bigint[], $24::text[],
              $25::text[], $26::text[]) AS f
         ), logged AS (
             INSERT INTO discussion_logs
             (id, project_id, agent_id, role, content, turn_index, round_number, metadata, created_at)
             SELECT l.id, new.id, l.agent, l.role, l.content, l.turn, l.round, l.metadata, l.at
             FROM new, unnest($27::uuid[], $28::text[], $29::text[], $30::text[], $31::int[], $32::int[],
              $33::text[], $34::text[]) AS l (id, agent, role, content, turn, round, metadata, at)
         ), seated AS (
             INSERT INTO discussion_participants (id, project_id, agent_id, role, sequence_order, created_at)
             SELECT q.id, new.id, q.agent, q.role, q.place::int - 1, $38::text
             FROM new, unnest($35::uuid[], $36::text[], $37::text[]) WITH ORDINALITY AS q (id, agent, role, place)
         ), begun AS (
             INSERT INTO discussion_state
             (id, project_id, current_turn_index, current_round, status, created_at, updated_at)
             SELECT $39::uuid, new.id, $40::int, $41::int, $42::text, $38::text, $43::text FROM new
         )
         SELECT number FROM new"
    )
}

async fn insert(connection: &mut Connection, opening: &Opening<'_>) -> Result<Created, JobError> {
    static PLAIN: LazyLock<String> = LazyLock::new(|| insert_sql("SELECT turn FROM least"));
    static QUEUED: LazyLock<String> = LazyLock::new(|| insert_sql(OWN_TURN));
    let (node, wait_us, sql) = match opening.place {
        Place::Claimed(it) => (Some(Uuid::from(it.node)), 0, &*PLAIN),
        Place::Free => (None, 0, &*PLAIN),
        Place::Queued(it) if opening.root == opening.id => {
            (None, it.ready_in_ms.min(LONGEST_WAIT_MS) as i64 * 1_000, &*QUEUED)
        }
        Place::Queued(_) => (None, 0, &*PLAIN),
    };
    let Opening { id, root, spec, flow, facts, seats, .. } = opening;
    let row = NewRows {
        discussion: NewDiscussion::of(opening),
        facts: FactRow::all(facts)?,
        logs: LogRow::all(*id, facts, seats),
        seats: SeatColumns::of(*id, seats, facts.first().map(|it| iso(it.at)).unwrap_or_default()),
    };
    let (mut fact_columns, mut log_columns) = (FactColumns::default(), LogColumns::default());
    fact_columns.extend(0, &row.facts);
    log_columns.extend(0, &row.logs);
    let (id, root, flow, tenant) =
        (Uuid::from(*id), Uuid::from(*root), *flow as i32, text(spec.tenant.name()));
    let new = &row.discussion;
    let mut parameters: Vec<&(dyn ToSql + Sync)> =
        vec![&id, &root, &spec.session, &tenant, &spec.pattern, &flow];
    parameters.extend(new.parameters());
    parameters.extend([&node as &(dyn ToSql + Sync), &wait_us]);
    parameters.extend(fact_columns.parameters());
    parameters.extend(log_columns.parameters());
    parameters.extend(row.seats.parameters());
    parameters.extend(new.state_parameters());
    let created = connection.query_opt(sql, &parameters).await.map_err(JobError::of_a_write)?;
    Ok(if created.is_some() { Created::New } else { Created::Existed })
}

/// The rows of a new discussion.
struct NewRows<'a> {
    discussion: NewDiscussion<'a>,
    facts: Vec<FactRow>,
    logs: Vec<LogRow>,
    seats: SeatColumns,
}

/// The columns of a new discussion that have to be made.
struct NewDiscussion<'a> {
    needs: Vec<String>,
    topic: std::borrow::Cow<'a, str>,
    key: String,
    simulated: bool,
    opened_at: i64,
    status: &'static str,
    success: Option<bool>,
    synthesis: Option<&'a str>,
    ended_at: Option<i64>,
    digest: String,
    last: i64,
    last_at: i64,
    state_id: Uuid,
    turn_index: i32,
    round: i32,
    state: &'static str,
    updated_at: String,
}

impl<'a> NewDiscussion<'a> {
    fn of(opening: &Opening<'a>) -> Self {
        let Opening { id, spec, facts, seats, .. } = opening;
        let ListStatus { status, success, ended_at } = ListStatus::OPENED.after(facts);
        let at = |fact: Option<&Fact>| fact.map(|it| it.at).unwrap_or_default();
        let state = StateUpdate::of(facts, seats);
        NewDiscussion {
            needs: needs(spec),
            topic: text(&spec.topic),
            key: key(&spec.topic),
            simulated: spec.simulation.is_some(),
            opened_at: at(facts.first()).0,
            status: status.name(),
            success,
            synthesis: list_status::synthesis(facts),
            ended_at: ended_at.map(|it| it.0),
            digest: serde_json::to_string(&Digest::opened()).unwrap_or_default(),
            last: facts.last().map_or(0, |it| it.seq.0 as i64),
            last_at: at(facts.last()).0,
            state_id: id.derived("state").into(),
            turn_index: state.turn_index.unwrap_or_default() as i32,
            round: state.round.unwrap_or_default() as i32,
            state: state.status.unwrap_or("active"),
            updated_at: iso(at(facts.last())),
        }
    }

    /// From `needs` to `last_at`.
    fn parameters(&self) -> [&(dyn ToSql + Sync); 12] {
        [
            &self.needs,
            &self.topic,
            &self.key,
            &self.simulated,
            &self.opened_at,
            &self.status,
            &self.success,
            &self.synthesis,
            &self.ended_at,
            &self.digest,
            &self.last,
            &self.last_at,
        ]
    }

    fn state_parameters(&self) -> [&(dyn ToSql + Sync); 5] {
        [&self.state_id, &self.turn_index, &self.round, &self.state, &self.updated_at]
    }
}

/// The columns of the participants, and the time of the opening.
struct SeatColumns {
    id: Vec<Uuid>,
    agent: Vec<Option<String>>,
    role: Vec<&'static str>,
    at: String,
}

impl SeatColumns {
    fn of(id: DiscussionId, seats: &Seats, at: String) -> Self {
        let numbered = 0..seats.0.len();
        SeatColumns {
            id: numbered.map(|place| id.derived(&format!("participant/{place}")).into()).collect(),
            agent: seats.0.iter().map(|it| it.agent().map(|it| text(it).into_owned())).collect(),
            role: seats.0.iter().map(|it| stored_role(&it.role)).collect(),
            at,
        }
    }

    fn parameters(&self) -> [&(dyn ToSql + Sync); 4] {
        [&self.id, &self.agent, &self.role, &self.at]
    }
}

/// Fails unless the facts are numbered after this one.
pub(crate) fn check_numbers(id: DiscussionId, expected: Seq, facts: &[Fact]) -> Result<(), StoreError> {
    let are_in_order = facts.iter().zip(expected.0 + 1..).all(|(fact, number)| fact.seq.0 == number);
    let message = || format!("the facts for discussion {id} are not numbered from {} on", expected.next());
    are_in_order.then_some(()).ok_or_else(|| StoreError::Unusable(message()))
}

/// Why an append was refused.
pub(crate) async fn refusal(connection: &mut Connection, append: &Append) -> Result<StoreError, JobError> {
    let Append { claim, id, expected, .. } = append;
    let sql =
        "SELECT d.root, d.last, d.run, r.fence, r.node FROM discussions d JOIN discussions r ON r.id = d.root
               WHERE d.id = $1";
    let Some(row) = connection.query_opt(sql, &[&Uuid::from(*id)]).await? else {
        return Ok(StoreError::Unknown(*id));
    };
    let (root, last, fence, node): (Uuid, i64, i64, Option<Uuid>) =
        (row.get(0), row.get(1), row.get(3), row.get(4));
    let Claim { id: claimed, node: holder, fence: held } = claim;
    let is_newest =
        root == Uuid::from(*claimed) && fence == *held as i64 && node == Some(Uuid::from(*holder));
    let is_over = row.get::<_, &str>(2) == "over";
    Ok(match is_newest && last == expected.0 as i64 && is_over {
        true => StoreError::Over(*id),
        // If nothing is wrong now, it was when the append came; its caller must look again.
        false => StoreError::Fenced(*id),
    })
}

/// The facts after this number.
pub(crate) async fn read(
    connection: &mut Connection,
    id: DiscussionId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Fact>, JobError> {
    let sql = "SELECT seq, at, active_ms, step, body FROM facts
               WHERE discussion = (SELECT number FROM discussions WHERE id = $1) AND seq > $2 ORDER BY seq LIMIT $3";
    let (after, limit) =
        (i64::try_from(after.0).unwrap_or(i64::MAX), i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = connection.query(sql, &[&Uuid::from(id), &after, &limit]).await?;
    if rows.is_empty() && !exists(connection, id).await? {
        return Err(StoreError::Unknown(id).into());
    }
    rows.iter().map(|row| fact(id, row)).collect()
}

fn fact(id: DiscussionId, row: &Row) -> Result<Fact, JobError> {
    let (seq, step) = (Seq(row.get::<_, i64>(0) as u64), row.get::<_, Option<&str>>(3).map(Step::from));
    let event =
        serde_json::from_str(row.get(4)).map_err(|error| unreadable(id, &format!("fact {seq}"), error))?;
    Ok(Fact { seq, at: Timestamp(row.get(1)), active_ms: row.get::<_, i64>(2) as u64, step, event })
}
