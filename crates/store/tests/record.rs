//! The contents of the database: requirement C's tables, and an immutable record.

#![expect(clippy::unwrap_used, reason = "a test whose database can't be asked can only stop")]

use std::{path::Path, sync::Arc};

use common::Folder;
use quorum_core::{
    model::{
        event::{Awaited, Event, Placed, Retried},
        id::{DiscussionId, Seq, Step},
        lifecycle::Lifecycle,
        money::Spent,
        participant::Participant,
        reading::{Reading, Source, Stance},
        spec::Spec,
        transcript::Turn,
    },
    seams::{Archive, Retention, Store, StoreError, Then, Wanted},
};
use quorum_store::SqliteStore;
use quorum_testkit::{
    call::turn,
    conformance::{
        columns::{Columns, each_is_moved_or_left},
        store::fixture::{
            Writer, about, below, ending, finish, moved, open, open_as_ordered, opening, said, second,
        },
    },
    spec::spec,
};
use rusqlite::Connection;
use serde_json::json;

mod common;

fn begin() -> (Folder, SqliteStore, Connection) {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.database()).unwrap();
    let raw = Connection::open(folder.database()).unwrap();
    (folder, store, raw)
}

/// The rows of a query, with their columns joined.
fn rows(raw: &Connection, sql: &str) -> Vec<String> {
    let mut statement = raw.prepare(sql).unwrap();
    let columns = statement.column_count();
    let shown = |row: &rusqlite::Row<'_>| {
        let values: Result<Vec<String>, _> = (0..columns).map(|column| value(row, column)).collect();
        Ok(values?.join("|"))
    };
    statement.query_map([], shown).unwrap().map(Result::unwrap).collect()
}

fn value(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        rusqlite::types::ValueRef::Integer(number) => number.to_string(),
        rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        _ => "-".to_owned(),
    })
}

#[test]
fn c01_the_three_tables_have_the_seeds_columns() {
    let (_folder, _store, raw) = begin();
    let columns =
        |table: &str| rows(&raw, &format!("SELECT name FROM pragma_table_info('{table}')")).join(" ");
    assert_eq!(columns("discussion_participants"), "id project_id agent_id role sequence_order created_at");
    assert_eq!(
        columns("discussion_state"),
        "id project_id current_turn_index current_round status created_at updated_at"
    );
    assert_eq!(
        columns("discussion_logs"),
        "id project_id agent_id role content turn_index round_number metadata created_at"
    );
}

#[tokio::test]
async fn c01_a_discussion_has_its_seats_and_its_state_from_the_beginning() {
    let (_folder, store, raw) = begin();
    let id = open_as_ordered(&store, spec("debate"), second(1)).await;
    let seats = rows(&raw, "SELECT project_id, agent_id, role, sequence_order FROM discussion_participants");
    assert_eq!(
        seats,
        ["ann|specialist|0", "bob|specialist|1", "cyd|specialist|2"].map(|it| format!("{id}|{it}"))
    );
    let state =
        "SELECT project_id, current_turn_index, current_round, status, created_at FROM discussion_state";
    assert_eq!(rows(&raw, state), [format!("{id}|0|0|active|2026-01-01T00:00:01Z")]);
}

/// A call to this one.
fn asking(who: &str) -> Event {
    Event::CallPlaced(Placed {
        attempt: 1,
        participant: who.to_owned(),
        provider: "scripted".to_owned(),
        model: None,
        form: None,
        price: None,
        reserved: Spent::default(),
        nonce: String::new(),
        digest: None,
        repeats: false,
        labels: Vec::new(),
        unheard: 0,
        shortened: 0,
        counted: 0,
        max_tokens: 0,
    })
}

/// The state of the discussions in the order they were opened, without what never changes.
fn states(raw: &Connection) -> Vec<String> {
    let sql = "SELECT current_turn_index, current_round, it.status, substr(updated_at, 18) FROM discussion_state AS it \
               JOIN discussions ON discussions.id = project_id ORDER BY number";
    rows(raw, sql)
}

#[tokio::test]
async fn c01_each_fact_moves_the_state_of_its_own_discussion_and_no_other() {
    let (_folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    open(&store, "vi or emacs?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let entered = Event::PhaseEntered { phase: "speaking".to_owned(), round: 2 };
    let course = [
        (vec![moved(Lifecycle::Ready, Lifecycle::Running)], "0|0|active|02Z"),
        (vec![Event::RoundOpened { round: 1 }], "0|1|active|03Z"),
        (vec![asking("cyd")], "2|1|active|04Z"),
        (vec![said("bob", 1, "tabs")], "2|1|active|05Z"),
        (vec![entered], "2|2|active|06Z"),
        (vec![moved(Lifecycle::Running, Lifecycle::Paused)], "2|2|paused|07Z"),
        (vec![moved(Lifecycle::Paused, Lifecycle::Running)], "2|2|active|08Z"),
        (vec![moved(Lifecycle::Running, Lifecycle::Error)], "2|2|paused|09Z"),
        (
            vec![Event::Retried(Retried::default()), moved(Lifecycle::Error, Lifecycle::Ready)],
            "2|2|active|10Z",
        ),
        (vec![Event::RoundOpened { round: 3 }, said("cyd", 3, "spaces")], "0|3|active|11Z"),
        (vec![moved(Lifecycle::Running, Lifecycle::Completing)], "0|3|active|12Z"),
    ];
    for (at, (events, expected)) in (2..).zip(course) {
        writer.write(second(at), events, Then::Continue).await.unwrap();
        assert_eq!(states(&raw), [expected, "0|0|active|01Z"]);
    }
    writer.write(second(13), ending("tabs"), Then::Done).await.unwrap();
    assert_eq!(states(&raw), ["0|3|completed|13Z", "0|0|active|01Z"]);
}

#[tokio::test]
async fn c01_an_aborted_discussion_is_completed_and_a_project_has_one_state() {
    let (_folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let another = "INSERT INTO discussion_state SELECT 'another', project_id, 0, 0, 'active', created_at, updated_at \
                   FROM discussion_state";
    let refused = raw.execute_batch(another).unwrap_err().to_string();
    assert_eq!(refused, "the state of a discussion is not replaced");
    let aborted = vec![moved(Lifecycle::Running, Lifecycle::Aborted)];
    writer.write(second(2), aborted, Then::Continue).await.unwrap();
    assert_eq!(states(&raw), ["0|0|completed|02Z"]);
}

#[tokio::test]
async fn c06_every_turn_is_its_own_row() {
    let (_folder, store, raw) = begin();
    let id = open_as_ordered(&store, spec("debate"), second(1)).await;
    let child = id.derived("sub1");
    store.create(child, opening(about("how wide is a tab?"), second(1), below(id))).await.unwrap();
    let mut writer = Writer::claiming(&store, id, "one").await;
    let form = Some("ballot".to_owned());
    let ballot = Turn { form, ..turn(1, "voting", "ann", "{\"choice\": \"tabs\"}") };
    let ballot = Event::TurnCompleted { turn: Arc::new(ballot) };
    let talk = vec![said("ann", 1, "tabs"), ballot, said("bob", 1, "spaces")];
    writer.write(second(2), talk, Then::Continue).await.unwrap();
    let mut below = Writer { id: child, last: Seq(3), ..writer };
    below.write(second(3), vec![said("bob", 1, "four")], Then::Continue).await.unwrap();
    let sql = "SELECT project_id, agent_id, role, content, turn_index, round_number, metadata, created_at \
               FROM discussion_logs ORDER BY rowid";
    let turn = |role: &str| format!(r#"{{"kind":"turn","phase":"speaking","role":"{role}"}}"#);
    assert_eq!(
        rows(&raw, sql),
        [
            format!("{id}|ann|specialist|tabs|0|1|{}|2026-01-01T00:00:02Z", turn("proponent")),
            format!("{id}|bob|specialist|spaces|1|1|{}|2026-01-01T00:00:02Z", turn("opponent")),
            format!("{child}|bob|specialist|four|1|1|{}|2026-01-01T00:00:03Z", turn("speaker")),
        ]
    );
}

#[tokio::test]
async fn c06_structured_replies_are_rows_of_their_kind() {
    let (_folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let plain = Reading {
        kind: "casting".to_owned(),
        version: 1,
        value: json!({ "summary": "ann won", "reasoning": "" }),
        told: Some("gave out the positions".to_owned()),
        reason_at: None,
        stance: None,
    };
    let stance = Stance { position: "tabs".to_owned(), confidence: 0.5, chooses: true, joins: true };
    let at = |pointer: &str| Some(pointer.to_owned());
    let readings = [
        Reading {
            kind: "ballot".to_owned(),
            stance: Some(stance),
            reason_at: at("/summary"),
            ..plain.clone()
        },
        Reading { kind: "verdict".to_owned(), reason_at: at("/summary"), ..plain.clone() },
        Reading { kind: "assessment".to_owned(), reason_at: at("/reasoning"), ..plain.clone() },
        Reading { kind: "year".to_owned(), told: None, ..plain.clone() },
        plain,
    ];
    let read = |reading| Event::ReplyRead {
        participant: "bob".to_owned(),
        round: 2,
        source: Source::Stated,
        reading,
    };
    writer.write(second(2), readings.map(read).to_vec(), Then::Continue).await.unwrap();
    let sql = "SELECT metadata ->> 'kind', content, turn_index, round_number, metadata ->> 'source' FROM discussion_logs";
    let expected = [
        "ballot|tabs|1|2|stated",
        "verdict|ann won|1|2|stated",
        "assessment|gave out the positions|1|2|stated",
        "year||1|2|stated",
        "casting|gave out the positions|1|2|stated",
    ];
    assert_eq!(rows(&raw, sql), expected, "the position, else the reasons, else the line for people");
    let sql = "SELECT metadata -> 'reading' FROM discussion_logs WHERE metadata ->> 'kind' = 'ballot'";
    let written = json!({
        "kind": "ballot", "value": { "summary": "ann won", "reasoning": "" }, "told": "gave out the positions",
        "reason_at": "/summary", "stance": { "position": "tabs", "confidence": 0.5, "chooses": true },
    });
    assert_eq!(rows(&raw, sql), [written.to_string()]);
}

#[tokio::test]
async fn c06_a_synthesis_is_logged_once() {
    let (_folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let Event::TurnCompleted { turn } = said("ann", 1, "Tabs.\n[MARK]\n{}") else { panic!("it was said") };
    let turn = Turn { form: Some("summary".into()), prose: Some("Tabs.".into()), ..(*turn).clone() };
    let reading = Reading {
        kind: "summary".to_owned(),
        version: 1,
        value: json!({ "text": "Tabs." }),
        told: None,
        reason_at: Some("/text".to_owned()),
        stance: None,
    };
    let read = Event::ReplyRead { participant: "ann".to_owned(), round: 1, source: Source::Stated, reading };
    let facts = vec![Event::TurnCompleted { turn: Arc::new(turn) }, read];
    writer.write(second(2), facts, Then::Continue).await.unwrap();
    let sql = "SELECT metadata ->> 'kind', content FROM discussion_logs";
    assert_eq!(rows(&raw, sql), ["summary|Tabs."]);
}

#[tokio::test]
async fn c06_a_turn_and_its_row_are_one_transaction_and_a_failure_spares_the_rest_of_the_batch() {
    let (_folder, store, raw) = begin();
    raw.execute_batch(
        "CREATE TRIGGER spoil BEFORE INSERT ON discussion_logs WHEN NEW.content = 'spoilt'
         BEGIN SELECT RAISE(ABORT, 'spoilt'); END",
    )
    .unwrap();
    let write = async |number: usize| {
        let id = open(&store, "tabs or spaces?", second(1)).await;
        let mut writer = Writer::claiming(&store, id, "one").await;
        let text = if number == 7 { "spoilt" } else { "fine" };
        let written = writer.write(second(2), vec![said("ann", 1, text)], Then::Continue).await;
        assert_eq!(written.is_ok(), number != 7);
        store.read(id, Seq(3), usize::MAX).await.unwrap().len()
    };
    let written = futures::future::join_all((0..16).map(write)).await;
    let expected: Vec<usize> = (0..16).map(|number| usize::from(number != 7)).collect();
    assert_eq!(written, expected);
    assert_eq!(rows(&raw, "SELECT count(*) FROM discussion_logs"), ["15"]);
}

#[tokio::test]
async fn inv_disc_630_a_finished_record_cant_be_changed_even_by_raw_sql() {
    let (_folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    writer.write(second(2), ending("tabs"), Then::Done).await.unwrap();
    let record = || (rows(&raw, "SELECT * FROM facts"), rows(&raw, "SELECT * FROM discussion_logs"));
    let before = record();
    for sql in [
        "UPDATE facts SET body = '{}'",
        "DELETE FROM facts",
        "DELETE FROM facts WHERE seq = 7",
        "INSERT INTO facts SELECT discussion, 8, at, active_ms, step, type, body FROM facts WHERE seq = 7",
        "INSERT OR REPLACE INTO facts SELECT discussion, seq, at, 0, step, type, '{}' FROM facts",
        "UPDATE discussions SET run = 'runnable'",
        "UPDATE discussions SET topic = 'vi or emacs?'",
        "UPDATE discussions SET digest = '{}'",
        "UPDATE discussions SET needs = '[]', flow = 7",
        "UPDATE discussions SET success = 0, synthesis = 'spaces'",
        "INSERT OR REPLACE INTO discussions SELECT * FROM discussions",
        "DELETE FROM discussions",
        "UPDATE discussion_logs SET content = 'spaces'",
        "DELETE FROM discussion_logs",
    ] {
        assert!(raw.execute_batch(sql).is_err(), "{sql}");
    }
    assert_eq!(record(), before);
}

#[tokio::test]
async fn inv_disc_630_a_finished_discussion_took_forged_rows_in_the_other_tables() {
    let (_folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    store.send(id, quorum_core::model::command::Command::Stop).await.unwrap();
    let mut writer = Writer::claiming(&store, id, "one").await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    writer.write(second(2), ending("tabs"), Then::Done).await.unwrap();
    let tables = ["discussion_logs", "discussion_participants", "discussion_state", "commands"];
    let all = || tables.map(|table| rows(&raw, &format!("SELECT * FROM {table}")));
    let before = all();
    for sql in [
        "INSERT INTO discussion_logs SELECT 'forged', project_id, agent_id, role, 'spaces', 0, 1, '{}', created_at
         FROM discussion_logs",
        "INSERT INTO discussion_participants SELECT 'forged', project_id, 'eve', role, 9, created_at
         FROM discussion_participants LIMIT 1",
        "UPDATE discussion_participants SET agent_id = 'eve'",
        "DELETE FROM discussion_participants",
        "UPDATE discussion_state SET status = 'active'",
        "DELETE FROM discussion_state",
        "INSERT OR REPLACE INTO discussion_state SELECT id, project_id, 7, 7, 'active', created_at, updated_at
         FROM discussion_state",
        "INSERT INTO commands SELECT 99, discussion, 99, command, at FROM commands",
        "UPDATE commands SET command = '{}'",
        "DELETE FROM commands",
    ] {
        assert!(raw.execute_batch(sql).is_err(), "{sql}");
    }
    assert_eq!(all(), before);
}

#[tokio::test]
async fn inv_disc_630_a_replacement_took_rows_of_a_finished_discussion_for_another() {
    let (_folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    store.send(id, quorum_core::model::command::Command::Stop).await.unwrap();
    let mut writer = Writer::claiming(&store, id, "one").await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    writer.write(second(2), ending("tabs"), Then::Done).await.unwrap();
    let other = open(&store, "vi or emacs?", second(3)).await;
    let tables = [
        "facts",
        "discussions",
        "discussion_logs",
        "discussion_participants",
        "discussion_state",
        "commands",
    ];
    let all = || tables.map(|table| rows(&raw, &format!("SELECT * FROM {table}")));
    let before = all();
    for sql in [
        "REPLACE INTO discussion_logs SELECT id, 'OTHER', agent_id, role, 'spaces', 0, 1, '{}', created_at
         FROM discussion_logs",
        "REPLACE INTO discussion_logs (rowid, id, project_id, role, content, turn_index, round_number, metadata, created_at)
         SELECT rowid, 'forged', 'OTHER', role, 'spaces', 0, 1, '{}', created_at FROM discussion_logs",
        "INSERT OR REPLACE INTO discussion_participants SELECT id, 'OTHER', 'eve', role, 9, created_at
         FROM discussion_participants",
        "REPLACE INTO discussion_participants (rowid, id, project_id, role, sequence_order, created_at)
         SELECT rowid, 'forged', 'OTHER', role, 9, created_at FROM discussion_participants LIMIT 1",
        "UPDATE OR REPLACE discussion_state SET id = (SELECT id FROM discussion_state WHERE project_id <> 'OTHER')
         WHERE project_id = 'OTHER'",
        "UPDATE OR REPLACE discussion_state SET rowid = 1 WHERE project_id = 'OTHER'",
        "REPLACE INTO discussion_state SELECT id, 'OTHER', 7, 7, 'active', created_at, updated_at
         FROM discussion_state WHERE project_id <> 'OTHER'",
        "REPLACE INTO commands SELECT number, 'OTHER', 99, command, at FROM commands",
        "REPLACE INTO facts (rowid, discussion, seq, at, active_ms, type, body)
         SELECT 2, discussion, max(seq) + 1, at, 0, type, body FROM facts WHERE discussion = 2",
        "REPLACE INTO discussions SELECT 1, 'forged', root, tenant, session, pattern, topic, key, simulated, opened_at,
         status, success, synthesis, ended_at, run, fence, owner, runner, lease_until, hidden_at, restored_at, unindexed,
         node, flow, needs, turn, ready_at, attempts, claimed_at, stuck, digest, title FROM discussions WHERE id = 'OTHER'",
        "UPDATE OR REPLACE discussions SET number = 1 WHERE id = 'OTHER'",
    ] {
        let sql = sql.replace("OTHER", &other.to_string());
        let error = raw.execute_batch(&sql).err().map(|it| it.to_string()).unwrap_or_default();
        assert!(error.contains("replaced") || error.contains("keeps its id"), "{sql}: {error}");
    }
    assert_eq!(all(), before);
}

#[tokio::test]
async fn c01_a_person_has_no_agent_id_and_the_turn_index_names_who_is_next() {
    let (_folder, store, raw) = begin();
    let mut order = spec("synthesis");
    order.participants[1] = Participant::person("me");
    let id = open_as_ordered(&store, order, second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let awaited = Event::PersonAwaited(Awaited {
        participant: "me".to_owned(),
        answers: Step::new(1, "speaking", "me"),
        round: 1,
        phase: "speaking".to_owned(),
        prompt: String::new(),
        shape: None,
        digest: None,
    });
    writer.write(second(2), vec![said("cyd", 1, "tabs"), awaited], Then::Continue).await.unwrap();
    assert_eq!(rows(&raw, "SELECT current_turn_index FROM discussion_state"), ["1"]);
    writer.write(second(3), vec![said("me", 1, "spaces")], Then::Continue).await.unwrap();
    assert_eq!(rows(&raw, "SELECT current_turn_index FROM discussion_state"), ["2"]);
    let seats = "SELECT ifnull(agent_id, 'nobody') FROM discussion_participants ORDER BY sequence_order";
    assert_eq!(rows(&raw, seats), ["ann", "nobody", "cyd"]);
    let logs = "SELECT ifnull(agent_id, 'nobody'), metadata ->> 'participant', content FROM discussion_logs";
    assert_eq!(rows(&raw, logs), ["cyd|-|tabs", "nobody|me|spaces"]);
}

#[tokio::test]
async fn c06_a_judges_json_is_no_row_of_the_log() {
    let (_folder, store, raw) = begin();
    let id = open_as_ordered(&store, spec("debate"), second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let Event::TurnCompleted { turn } = said("cyd", 1, r#"{ "shouldContinue": true }"#) else {
        panic!("it is a turn")
    };
    let turn = Arc::new(Turn { form: Some("assessment".to_owned()), ..(*turn).clone() });
    writer.write(second(2), vec![Event::TurnCompleted { turn }], Then::Continue).await.unwrap();
    assert_eq!(rows(&raw, "SELECT content FROM discussion_logs"), [""; 0]);
}

#[tokio::test]
async fn inv_disc_630_facts_of_a_running_discussion_dont_change_either() {
    let (_folder, store, raw) = begin();
    open(&store, "tabs or spaces?", second(1)).await;
    for sql in [
        "UPDATE facts SET at = 0",
        "DELETE FROM facts WHERE seq = 3",
        "INSERT OR REPLACE INTO facts SELECT discussion, seq, at, 0, step, type, '{}' FROM facts",
        "INSERT INTO facts SELECT discussion, 9, at, active_ms, step, type, body FROM facts WHERE seq = 3",
    ] {
        assert!(raw.execute_batch(sql).is_err(), "{sql}");
    }
}

#[tokio::test]
async fn inv_disc_630_the_same_topic_has_the_same_key() {
    let (_folder, store, raw) = begin();
    for topic in ["tabs or spaces?", " tabs or spaces?\n", "vi or emacs?"] {
        open(&store, topic, second(1)).await;
    }
    let keys = rows(&raw, "SELECT key FROM discussions ORDER BY number");
    assert!(keys.iter().all(|key| key.starts_with("discussion:")));
    assert_eq!((keys[0] == keys[1], keys[0] == keys[2]), (true, false));
}

#[tokio::test]
async fn inv_disc_631_by_rank_without_regard_to_age_accents_and_endings() {
    let (_folder, store, _raw) = begin();
    let topic = finish(&store, "which cafés in Zürich?", "All of them.", second(1)).await;
    let synthesis = finish(&store, "what to eat?", "Bread, or a cafe au lait.", second(2)).await;
    finish(&store, "tabs or spaces?", "Tabs.", second(3)).await;
    let found = async |words: &str| -> Vec<DiscussionId> {
        let found = store.search(words, Wanted { limit: 10, ..Wanted::default() }).await.unwrap();
        found.iter().map(|summary| summary.id).collect()
    };
    assert_eq!(found("cafe").await, [topic, synthesis]);
    assert_eq!(found("CAFÉ").await, [topic, synthesis]);
    assert_eq!(found("bread cafe").await, [synthesis]);
    assert_eq!(found("zurich cafe").await, [topic]);
    assert_eq!(found("ZURICH").await, [topic]);
    assert_eq!(found("breads").await, [synthesis]);
    assert_eq!(found("what to do in which of them?").await, []);
}

#[tokio::test]
async fn inv_disc_632_retention_deletes_everything_and_enables_the_triggers_again() {
    let (_folder, store, raw) = begin();
    let old = open(&store, "old", second(1)).await;
    store.create(old.derived("sub1"), opening(about("below"), second(1), below(old))).await.unwrap();
    store.send(old, quorum_core::model::command::Command::Stop).await.unwrap();
    let mut writer = Writer::claiming(&store, old, "one").await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    writer.write(second(2), ending("tabs"), Then::Done).await.unwrap();
    let day = |number: i64| second(number * 86_400);
    let on = |number| Retention { keep_ms: 86_400_000, wall: day(number) };
    let mut gone = Vec::new();
    for number in [3, 10] {
        let young = finish(&store, "young", "new", day(number)).await;
        gone.push(store.expire(on(number)).await.unwrap().removed);
        store.remove(young).await.unwrap();
    }
    assert_eq!(gone, [0, 1]);
    for table in [
        "facts",
        "discussions",
        "commands",
        "search",
        "discussion_logs",
        "discussion_state",
        "discussion_participants",
    ] {
        assert_eq!(rows(&raw, &format!("SELECT count(*) FROM {table}")), ["0"], "{table}");
    }
    finish(&store, "young", "new", second(9)).await;
    assert!(raw.execute_batch("DELETE FROM facts").is_err());
}

#[tokio::test]
async fn inv_disc_300_a_session_must_exist() {
    let (_folder, store, _raw) = begin();
    let nowhere = uuid::Uuid::now_v7();
    let order = Spec { session: Some(nowhere), ..about("tabs or spaces?") };
    let refused = store.create(DiscussionId::fresh(), opening(order, second(1), None)).await;
    assert_eq!(refused, Err(StoreError::UnknownSession(nowhere)));
    assert_eq!(store.list(Wanted::default()).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_fact_of_an_unknown_type_is_kept_and_ignored() {
    let (folder, store, raw) = begin();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let body = r#"{"type":"telepathy","thought":{"of":"tabs"}}"#;
    let sql =
        "INSERT INTO facts SELECT number, 4, 0, 0, NULL, 'telepathy', ?2 FROM discussions WHERE id = ?1";
    raw.execute(sql, [id.to_string().as_str(), body]).unwrap();
    let facts = store.read(id, Seq(3), 9).await.unwrap();
    assert_eq!(facts.iter().map(|fact| &fact.event).collect::<Vec<_>>(), [&Event::Unknown]);
    drop(store);
    reopen(&folder.database(), id).await;
    assert_eq!(rows(&raw, "SELECT body FROM facts WHERE seq = 4"), [body]);
}

async fn reopen(file: &Path, id: DiscussionId) {
    let store = SqliteStore::open(file).unwrap();
    let mut writer = Writer { last: Seq(4), ..Writer::claiming(&store, id, "one").await };
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
}

#[test]
fn a_column_that_is_not_moved_is_noticed() {
    let (_folder, _store, raw) = begin();
    let mut found = Columns::new();
    let sql = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
               WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'search%'";
    for row in rows(&raw, sql) {
        let (table, column) = row.split_once('|').unwrap();
        // Its name from before all stores had the same.
        let table = if table == "deeds" { "audit" } else { table };
        found.entry(table.to_owned()).or_default().insert(column.to_owned());
    }
    each_is_moved_or_left(
        &found,
        &[
            // Numbers are given anew, in the same order.
            ("audit", &["number"]),
            ("commands", &["number"]),
            ("memory", &["number"]),
            ("outcomes", &["number"]),
            // Nobody runs anything that is moved, and the search index is made of the record.
            ("discussions", &["number", "unindexed", "node", "claimed_at", "owner", "runner", "lease_until"]),
            // What concerns running processes.
            ("nodes", &["id", "beat", "name", "version", "config", "lease_ms", "draining", "runner"]),
            ("attached", &["discussion", "client", "node"]),
            // The database itself.
            ("identity", &["store"]),
            ("maintenance", &["forgetting"]),
            ("moved", &["source", "name", "upto"]),
        ],
    );
}
