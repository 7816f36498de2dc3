//! Databases as a whole: everything is moved from SQLite to PostgreSQL and back, what is wrong is
//! found, and what is in use stays where it is.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::path::Path;

use quorum::{
    database::{Database, Error, Location, Moved, Purpose, Sample, check, relocate},
    seams::{
        Archive, AuditEntry, Draw, KnownOutcome, NewMemory, Node, Nodes, Queueing, Reservation, Retention,
        Scored, Session, Store, Then,
        transfer::{Bundle, Bundles, Page, Row, Rule, SHELVES, Transfer},
    },
};
use quorum_core::model::{
    account::{Account, Caps},
    command::Command,
    id::{DiscussionId, NodeId, Tenant},
    money::Usd,
    spec::Spec,
    time::Timestamp,
};
use quorum_store::SqliteStore;
use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::{
    conformance::store::fixture::{Writer, about, below, ending, finish, node, open, opening, said, second},
    postgres,
};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

const DAY_S: i64 = 86_400;

fn file(path: &Path) -> Database {
    Database::open(&Location::File(path.to_owned()), Purpose::Use).unwrap()
}

fn shared(database: &postgres::Database) -> Database {
    Database::open(&Location::parse(&database.url()).unwrap(), Purpose::Use).unwrap()
}

async fn moves(from: &Database, to: &Database) -> Result<Moved, Error> {
    relocate(from, to, &mut |_| {}).await
}

/// Fills a store with something of every kind.
async fn fill<S: Store + Archive>(store: &S) {
    let acme = Tenant::named("acme");
    let session = Session {
        id: Uuid::new_v4(),
        name: "Travel\0".to_owned(),
        created_at: second(1),
        tenant: acme.clone(),
    };
    store.create_session(session.clone()).await.unwrap();
    let ordered = Spec { tenant: acme.clone(), session: Some(session.id), ..about("tabs or \0spaces?") };
    let waiting = DiscussionId::fresh();
    store.enqueue(waiting, opening(ordered, second(2), None), Queueing::default()).await.unwrap();
    store.send(waiting, Command::Pause).await.unwrap();

    let running = open(store, "with a child", second(3)).await;
    let child = running.derived("sub1");
    store.create(child, opening(about("below"), second(3), below(running))).await.unwrap();
    let mut writer = Writer::claiming(store, running, "one").await;
    let account = Account { tenant: acme.clone(), name: "ann".to_owned() };
    let caps = Caps { per_day: Some(Usd::from_cents(100)), ..Caps::default() };
    let (settled, target) = (Usd::ZERO, Usd::from_cents(30));
    let draw = Draw { claim: writer.claim.clone(), account, caps, at: second(4), settled, target };
    store.draw(draw.clone()).await.unwrap();
    writer
        .write(second(4), vec![said("ann", 1, "tabs"), said("bob", 1, "\u{1f642}")], Then::Continue)
        .await
        .unwrap();
    let mut below = Writer { id: child, last: quorum_core::model::id::Seq(3), ..writer };
    below.write(second(5), ending("fine"), Then::Done).await.unwrap();

    let paid = open(store, "paid", second(8)).await;
    let paying = Writer::claiming(store, paid, "one").await;
    store.draw(Draw { claim: paying.claim.clone(), ..draw }).await.unwrap();
    store.settle(paying.claim, Usd::from_cents(20)).await.unwrap();

    let old = finish(store, "old", "spaces", second(6)).await;
    let done = finish(store, "done", "tabs", second(40 * DAY_S)).await;
    let outcome = |answer: &str| KnownOutcome {
        discussion: done,
        tenant: acme.clone(),
        simulated: false,
        answer: answer.to_owned(),
        by: "ann".to_owned(),
        at: second(7),
        scored: Scored { was_right: Some(true), probability: Some(0.7), options: 2, answers: Vec::new() },
    };
    for answer in ["tabs", "spaces"] {
        store.resolve(outcome(answer)).await.unwrap();
    }
    for (key, id) in [("used", done), ("unused", DiscussionId::fresh())] {
        let (tenant, key, digest) = (acme.clone(), key.to_owned(), "d".to_owned());
        store.reserve(Reservation { tenant, key, digest, id }).await.unwrap();
    }
    for action in ["start", "rate", "delete"] {
        let (tenant, who, result) = (acme.clone(), "ann".to_owned(), "4 of 5".to_owned());
        let action = action.to_owned();
        store
            .log(AuditEntry { at: second(40 * DAY_S), tenant, who, action, discussion: done, result })
            .await
            .unwrap();
    }
    for value in [json!({ "a": [1.5, null] }), json!("two")] {
        let new = NewMemory {
            tenant: acme.clone(),
            namespace: "n".to_owned(),
            key: "k".to_owned(),
            origin: value.to_string(),
            value,
            at: second(10),
            expires: None,
        };
        store.remember(new).await.unwrap();
    }
    let wall = Timestamp(second(40 * DAY_S).0);
    let expired = store.expire(Retention { keep_ms: 30 * DAY_S as u64 * 1_000, wall }).await.unwrap();
    assert_eq!(expired.hidden, 1, "the old one, {old}");
    store.deregister(NodeId::named("one")).await.unwrap();
}

/// Everything of a store, in an order that all stores share.
async fn everything(store: &impl Transfer) -> (Vec<Bundle>, Vec<Vec<Row>>) {
    let mut bundles = store.bundles(Bundles::After(0, 1_000)).await.unwrap();
    bundles.iter_mut().for_each(|it| it.number = 0);
    bundles.sort_by_key(|it| it.id);
    let mut shelves = Vec::new();
    for table in SHELVES {
        let mut rows = store.shelf(Page { table, skip: 0, limit: 1_000 }).await.unwrap();
        rows.sort();
        shelves.push(rows);
    }
    (bundles, shelves)
}

/// The same without NUL, which PostgreSQL can't hold in texts.
fn without_nul((mut bundles, mut shelves): (Vec<Bundle>, Vec<Vec<Row>>)) -> (Vec<Bundle>, Vec<Vec<Row>>) {
    let plain = |cell: &mut Option<String>| {
        if let Some(cell) = cell {
            *cell = cell.replace('\0', "\u{fffd}");
        }
    };
    for bundle in &mut bundles {
        bundle.discussion.iter_mut().for_each(plain);
        bundle.belongings.iter_mut().flatten().flatten().for_each(plain);
    }
    shelves.iter_mut().flatten().flatten().for_each(plain);
    (bundles, shelves)
}

#[tokio::test]
async fn everything_is_moved_to_postgres_and_back() {
    let folder = TempDir::new().unwrap();
    let first = folder.path().join("first.db");
    let store = SqliteStore::open(&first).unwrap();
    fill(&store).await;
    let before = everything(&store).await;
    let kinds: Vec<usize> = (0..before.0[0].belongings.len())
        .map(|it| before.0.iter().map(|b| b.belongings[it].len()).sum())
        .collect();
    assert!(kinds.iter().all(|it| 0 < *it), "something of each kind belongs to a discussion: {kinds:?}");
    assert!(before.1.iter().all(|it| !it.is_empty()), "something is in every other table: {:?}", before.1);
    drop(store);

    let database = postgres::Database::fresh();
    let (one, two) = (file(&first), shared(&database));
    let moved = moves(&one, &two).await.unwrap();
    assert_eq!((moved.written, moved.known, moved.unfinished), (6, 0, 3));
    let again = moves(&one, &two).await.unwrap();
    assert_eq!((again.written, again.known, again.rows), (0, 6, 0), "a second move changes nothing");
    let postgres = PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap();
    assert_eq!(everything(&postgres).await, without_nul(before.clone()));
    let sound = check(&two, Sample::All).await.unwrap();
    assert_eq!((sound.sampled, sound.flaws), (6, Vec::new()));

    let last = folder.path().join("last.db");
    let three = file(&last);
    assert_eq!(moves(&two, &three).await.unwrap().written, 6);
    let sound = check(&three, Sample::All).await.unwrap();
    assert_eq!((sound.sampled, sound.flaws), (6, Vec::new()));
    drop(three);
    let back = SqliteStore::open(&last).unwrap();
    assert_eq!(everything(&back).await, without_nul(before));
    // What was moved can be continued and found.
    let found = back.search("tabs", quorum::seams::Wanted::default()).await.unwrap();
    assert!(found.iter().any(|it| it.topic == "done"), "{found:?}");
}

#[tokio::test]
async fn moved_discussions_go_on_in_postgres() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path().join("one.db")).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    drop(store);
    let database = postgres::Database::fresh();
    moves(&file(&folder.path().join("one.db")), &shared(&database)).await.unwrap();
    let postgres = PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap();
    let mut writer = Writer::claiming(&postgres, id, "heir").await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    writer.write(second(3), ending("tabs"), Then::Done).await.unwrap();
}

#[tokio::test]
async fn a_target_with_other_discussions_is_refused() {
    let folder = TempDir::new().unwrap();
    let (one, two) = (folder.path().join("one.db"), folder.path().join("two.db"));
    let store = SqliteStore::open(&one).unwrap();
    finish(&store, "one", "tabs", second(1)).await;
    store.deregister(NodeId::named("one")).await.unwrap();
    drop(store);
    let store = SqliteStore::open(&two).unwrap();
    let session = Session {
        id: Uuid::new_v4(),
        name: "Travel".to_owned(),
        created_at: second(1),
        tenant: Tenant::default(),
    };
    store.create_session(session).await.unwrap();
    drop(store);
    let refused = moves(&file(&one), &file(&two)).await.unwrap_err();
    assert!(matches!(refused, Error::Occupied { table: "sessions", .. }), "{refused}");
    let three = folder.path().join("three.db");
    moves(&file(&one), &file(&three)).await.unwrap();
    let store = SqliteStore::open(&three).unwrap();
    finish(&store, "another", "tabs", second(1)).await;
    store.deregister(NodeId::named("one")).await.unwrap();
    drop(store);
    let refused = moves(&file(&one), &file(&three)).await.unwrap_err();
    assert!(matches!(refused, Error::NotEmpty { discussions: 1, .. }), "{refused}");
    let refused = moves(&file(&one), &file(&one)).await.unwrap_err();
    assert!(matches!(refused, Error::Same(_)), "{refused}");
}

#[tokio::test]
async fn a_database_in_use_is_refused_until_its_node_has_ended() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("one.db");
    let database = postgres::Database::fresh();
    let postgres = PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap();
    let id = open(&postgres, "tabs or spaces?", second(1)).await;
    let lives = NodeId::fresh();
    postgres.join(Node { id: lives, lease_ms: 200, ..Node::fresh("ax (process 7 on host)") }).await.unwrap();
    postgres.claim(id, lives).await.unwrap();
    let (from, to) = (shared(&database), file(&path));
    let beats = async {
        loop {
            postgres.beat(lives, quorum::seams::Duty::Serving).await.unwrap();
        }
    };
    let refused = tokio::select! {
        moved = moves(&from, &to) => moved.unwrap_err(),
        () = beats => unreachable!("it beats for ever"),
    };
    assert!(refused.to_string().contains("ax (process 7 on host)"), "{refused}");
    // The last beat may still be on its way; this one comes after it.
    postgres.beat(lives, quorum::seams::Duty::Serving).await.unwrap();
    // It has died without a word: its beat is unchanged for its lease.
    assert_eq!(moves(&from, &to).await.unwrap().written, 1);
}

#[tokio::test]
async fn what_is_wrong_with_postgres_is_found() {
    let database = postgres::Database::fresh();
    let postgres = PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap();
    fill(&postgres).await;
    let shared = shared(&database);
    let rules = async || -> Vec<Rule> {
        check(&shared, Sample::All).await.unwrap().flaws.iter().map(|it| it.rule).collect()
    };
    assert_eq!(rules().await, []);
    let off = "SET session_replication_role = replica;";
    let tries = [
        ("DELETE FROM facts WHERE seq = 2", vec![Rule::Numbers]),
        ("UPDATE allowances SET fence = 99", vec![Rule::Fences]),
        ("UPDATE discussions SET run = 'runnable' WHERE topic = 'done'", vec![Rule::Over, Rule::Projections]),
        ("UPDATE discussions SET node = gen_random_uuid() WHERE topic = 'paid'", vec![Rule::Held]),
        ("INSERT INTO search VALUES (999, 1, '')", vec![Rule::Orphans]),
        ("UPDATE discussions SET topic = 'other' WHERE topic = 'paid'", vec![Rule::Projections]),
        ("UPDATE discussion_logs SET round_number = 9", vec![Rule::Projections]),
        ("UPDATE discussion_state SET status = 'paused'", vec![Rule::Projections]),
    ];
    for (sql, expected) in tries {
        let backup = "CREATE TABLE saved_{} AS TABLE {}";
        let tables = ["facts", "allowances", "discussions", "search", "discussion_logs", "discussion_state"];
        for table in tables {
            database.run(&backup.replace("{}", table));
        }
        database.run(&format!("{off} {sql}"));
        assert_eq!(rules().await, expected, "{sql}");
        for table in tables {
            let again = match table {
                "discussions" => "OVERRIDING SYSTEM VALUE",
                _ => "",
            };
            database.run(&format!(
                "{off} DELETE FROM {table}; INSERT INTO {table} {again} SELECT * FROM saved_{table};
                 DROP TABLE saved_{table}"
            ));
        }
        assert_eq!(rules().await, [], "{sql} was undone");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_file_is_found() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("one.db");
    let store = SqliteStore::open(&path).unwrap();
    fill(&store).await;
    node(&store, "other").await;
    drop(store);
    assert_eq!(check(&file(&path), Sample::All).await.unwrap().flaws, []);
    // Read by number, so that the sample is spread.
    assert_eq!(check(&file(&path), Sample::Of(2)).await.unwrap().sampled, 2);
}
