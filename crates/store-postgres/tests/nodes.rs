//! Two processes on one database: news between them, lost connections, and jobs that are not kept
//! waiting by others.

#![expect(clippy::unwrap_used, reason = "a test whose store can't be opened can only stop")]

use std::{
    cell::Cell,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::BoxStream};
use quorum_core::{
    model::{
        command::Command,
        id::{DiscussionId, NodeId, Seq, Step, Tenant},
        piece::Piece,
        relevance::content_words,
        spec::Spec,
    },
    seams::{
        Archive, ClaimRequest, Created, Duty, LiveText, Nodes, Query, Queueing, Session, Store, StoreError,
        Then, Wake, Wanted,
    },
};
use quorum_store_postgres::{Address, Options, PostgresStore};
use quorum_testkit::{
    conformance::store::fixture::{Writer, about, claim, node, open, opening, said, second},
    postgres::Database,
};
use uuid::Uuid;

fn opened(database: &Database) -> PostgresStore {
    PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap()
}

/// Waits until this is heard.
async fn hears(news: &mut BoxStream<'static, Wake>, is_it: impl Fn(&Wake) -> bool) {
    let heard = news.by_ref().any(async |it| is_it(&it));
    let waited = tokio::time::timeout(std::time::Duration::from_secs(20), heard).await;
    assert_eq!(waited, Ok(true), "it was not heard");
}

fn piece(discussion: DiscussionId, offset: usize, text: &str) -> Piece {
    let (step, participant) = (Step::from("1/speaking/ann"), "ann".to_owned());
    Piece { discussion, step, attempt: 1, participant, round: 1, offset, text: text.to_owned(), hidden: 0 }
}

#[tokio::test]
async fn commands_facts_and_text_reach_the_other_process() {
    let database = Database::fresh();
    let (runner, other) = (opened(&database), opened(&database));
    let (mut at_runner, mut at_other) = (runner.watch(), other.watch());
    let id = open(&runner, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&runner, id, "one").await;

    other.send(id, Command::Pause).await.unwrap();
    hears(&mut at_runner, |it| *it == Wake::Commands(id)).await;

    other.follow(id);
    hears(&mut at_runner, |it| *it == Wake::Text(LiveText::Wanted(id))).await;
    runner.delta(&Arc::new(piece(id, 0, "ta")));
    runner.delta(&Arc::new(piece(id, 2, "bs")));
    let whole = Arc::new(piece(id, 0, "tabs"));
    hears(&mut at_other, |it| *it == Wake::Text(LiveText::Piece(whole.clone()))).await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    hears(&mut at_other, |it| *it == Wake::Facts { id, last: Seq(4) }).await;

    runner.deregister(NodeId::named("one")).await.unwrap();
    hears(&mut at_other, |it| *it == Wake::Work).await;
}

/// Like `ax pause`, whose process ends as soon as the command is recorded.
#[tokio::test]
async fn a_command_of_a_process_that_ends_at_once_is_heard_of() {
    let database = Database::fresh();
    let (runner, other) = (opened(&database), opened(&database));
    let id = open(&runner, "tabs or spaces?", second(1)).await;
    let _writer = Writer::claiming(&runner, id, "one").await;
    let mut news = runner.watch();
    other.send(id, Command::Pause).await.unwrap();
    drop(other);
    hears(&mut news, |it| *it == Wake::Commands(id)).await;
}

#[tokio::test]
async fn a_command_whose_news_was_lost_is_found() {
    let database = Database::fresh();
    let runner = opened(&database);
    let id = open(&runner, "tabs or spaces?", second(1)).await;
    let _writer = Writer::claiming(&runner, id, "one").await;
    let mut news = runner.watch();
    for number in 1..=2 {
        database.run(&format!(
            "INSERT INTO commands (discussion, id, command, at) VALUES ('{id}', {number}, '\"pause\"', 0);
             UPDATE discussions SET last_command = {number} WHERE id = '{id}'"
        ));
        hears(&mut news, |it| *it == Wake::Commands(id)).await;
    }
}

#[tokio::test]
async fn a_lost_connection_is_replaced_and_watchers_are_told() {
    let database = Database::fresh();
    // Other tests use the same server, so only connections of this name are ended.
    let url = format!("{}&application_name=lost_connection", database.url());
    let store = PostgresStore::open(Address::parse(&url).unwrap()).unwrap();
    let mut news = store.watch();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    let ended = database.run(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'lost_connection'",
    );
    assert_eq!(ended, "3", "one that writes, one that listens, one for the rest");
    hears(&mut news, |it| *it == Wake::Resync).await;
    writer.write(second(2), vec![said("bob", 1, "spaces")], Then::Continue).await.unwrap();
    assert_eq!(store.read(id, Seq(3), 9).await.map(|facts| facts.len()), Ok(2));
}

#[tokio::test]
async fn a_takeover_between_two_processes_fences_the_child_too() {
    use quorum_testkit::conformance::store::fixture::{below, reap};
    let database = Database::fresh();
    let (one, two) = (opened(&database), opened(&database));
    for round in 0..10 {
        let id = open(&one, "tabs or spaces?", second(1)).await;
        let child = id.derived("sub1");
        one.create(child, opening(about("below"), second(1), below(id))).await.unwrap();
        let name = format!("node {round}");
        let mut late = Writer { id: child, ..Writer::claiming(&one, id, &name).await };
        let takeover = async {
            assert!(reap(&two, &name).await);
            claim(&two, id, "heir").await.unwrap()
        };
        let wrote = late.write(second(2), vec![said("ann", 1, "late")], Then::Continue);
        let (wrote, heirs) = futures::future::join(wrote, takeover).await;
        let last = match wrote {
            Ok(last) => last,
            Err(error) => {
                assert_eq!(error, StoreError::Fenced(child));
                Seq(3)
            }
        };
        let mut heir = Writer { store: &two, claim: heirs, id: child, last };
        assert!(heir.write(second(3), vec![said("ann", 1, "heir")], Then::Continue).await.is_ok());
    }
}

#[tokio::test]
async fn nodes_of_two_processes_see_each_other() {
    let database = Database::fresh();
    let (one, two) = (opened(&database), opened(&database));
    node(&one, "one").await;
    node(&two, "two").await;
    let names: Vec<String> = one.nodes().await.unwrap().into_iter().map(|it| it.node.name).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// Its removal at another node came between the check and the insert.
#[tokio::test]
async fn a_session_is_kept_while_a_discussion_is_opened_in_it() {
    let database = Database::fresh();
    let store = opened(&database);
    let (id, tenant) = (Uuid::new_v4(), Tenant::default());
    let session = Session { id, tenant, name: "tabs".to_owned(), created_at: second(1) };
    store.create_session(session).await.unwrap();
    database.run(
        "CREATE FUNCTION is_locked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF NOT EXISTS (SELECT FROM sessions WHERE id = NEW.session AND xmax = pg_current_xact_id()::xid) THEN
                 RAISE EXCEPTION 'the session may be removed';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER is_locked BEFORE INSERT ON discussions FOR EACH ROW EXECUTE FUNCTION is_locked()",
    );
    let spec = Spec { session: Some(id), ..about("tabs or spaces?") };
    let created = store.create(DiscussionId::fresh(), opening(spec, second(2), None)).await;
    assert_eq!(created, Ok(Created::New));
}

/// It stopped all writes of the node.
#[tokio::test]
async fn a_row_that_another_transaction_has_locked_delays_only_its_own_appends() {
    let database = Database::fresh();
    let store = opened(&database);
    let [one, two] = [open(&store, "tabs?", second(1)).await, open(&store, "spaces?", second(1)).await];
    let mut first = Writer::claiming(&store, one, "one").await;
    let mut second_one = Writer::claiming(&store, two, "one").await;
    let (client, connection) = tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let lock = format!("BEGIN; SELECT FROM discussions WHERE id = '{one}' FOR UPDATE");
    client.batch_execute(&lock).await.unwrap();
    for last in [4, 5] {
        let tabs = first.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue);
        let spaces = second_one.write(second(2), vec![said("ann", 1, "spaces")], Then::Continue);
        let (refused, written) = futures::future::join(tabs, spaces).await;
        let expected = format!("has locked discussion {one}");
        assert!(
            matches!(&refused, Err(StoreError::Unavailable(told)) if told.contains(&expected)),
            "{refused:?}"
        );
        assert_eq!(written, Ok(Seq(last)));
    }
    client.batch_execute("ROLLBACK").await.unwrap();
    let written = first.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await;
    assert_eq!(written, Ok(Seq(4)));
    drop(client);
    connection.await.unwrap().unwrap();
}

/// Two nodes that lock them in different orders wait for each other.
#[tokio::test]
async fn tenants_are_locked_in_the_same_order_by_all_nodes() {
    let database = Database::fresh();
    let store = opened(&database);
    for (tenant, topic) in [("b", "one?"), ("b", "two?"), ("a", "three?")] {
        let spec = Spec { tenant: Tenant::named(tenant), ..about(topic) };
        let id = DiscussionId::fresh();
        store.enqueue(id, opening(spec, second(1), None), Queueing::default()).await.unwrap();
    }
    // A tenant is inserted, if it is not there, before it is locked.
    database.run(
        "CREATE TABLE noted (number bigserial, tenant text, transaction xid8);
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             INSERT INTO noted (tenant, transaction) VALUES (NEW.tenant, pg_current_xact_id());
             RETURN NEW;
         END $$;
         CREATE TRIGGER note BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION note();
         UPDATE discussions SET turn = CASE tenant WHEN 'a' THEN 9 ELSE 1 END",
    );
    let request = ClaimRequest { most_of_tenant: Some(1), ..ClaimRequest::any(node(&store, "one").await, 2) };
    assert_eq!(store.claim_any(request).await.map(|taken| taken.len()), Ok(2));
    let locked = database.run(
        "SELECT string_agg(tenants, ' ' ORDER BY first) FROM
         (SELECT string_agg(tenant, ',' ORDER BY number) AS tenants, min(number) AS first FROM noted
          GROUP BY transaction) AS it",
    );
    assert_eq!(locked, "b a");
}

/// Discussions that the search index lacks, with long answers.
fn backlog(database: &Database, count: u32) {
    let columns = database.run(
        "SELECT string_agg(quote_ident(attname), ',') FROM pg_attribute
         WHERE attrelid = 'discussions'::regclass AND 0 < attnum AND attname NOT IN ('number', 'id', 'root', 'synthesis')",
    );
    let words = "SELECT string_agg('word' || i, ' ') FROM generate_series(1, 2000) AS i";
    database.run(&format!(
        "INSERT INTO discussions (id, root, synthesis, {columns})
         SELECT new.id, new.id, ({words}), {columns} FROM discussions, generate_series(1, {count}),
         LATERAL (SELECT gen_random_uuid() AS id WHERE generate_series IS NOT NULL) AS new"
    ));
}

/// The longest time that a job took while another one ran, and what that one returned.
async fn slowest<T>(other: impl Future<Output = T>, mut job: impl AsyncFnMut()) -> (Duration, T) {
    let (slowest, began) = (Cell::new(Duration::ZERO), Cell::new(Instant::now()));
    let note = || slowest.set(slowest.get().max(began.get().elapsed()));
    let jobs = async {
        loop {
            began.set(Instant::now());
            job().await;
            note();
        }
    };
    let done = tokio::select! {
        done = other => done,
        () = jobs => unreachable!("the jobs have no end"),
    };
    note();
    (slowest.get(), done)
}

/// Searches took all connections until everything was indexed, and other nodes considered this one
/// dead.
#[tokio::test]
async fn a_search_that_has_much_to_index_delays_neither_beats_nor_reads() {
    let database = Database::fresh();
    let address = Address::parse(&database.url()).unwrap();
    let store = PostgresStore::open_with(address, Options { connections: 1, ..Options::default() }).unwrap();
    let node = node(&store, "one").await;
    let id = open(&store, "tabs or spaces?", second(1)).await;
    backlog(&database, 1_000);
    let query = Query { words: content_words("tabs"), recalling: None };
    let missing = || database.run("SELECT count(*) FROM discussions WHERE unindexed");
    let find = async {
        let began = Instant::now();
        let first = store.find(query.clone(), Wanted::default()).await.map(|found| found.len());
        assert!(first.as_ref().is_ok_and(|found| (1..1_001).contains(found)), "it waited for all: {first:?}");
        while missing() != "0" {
            store.index().await.unwrap();
        }
        let found = store.find(query, Wanted::default()).await.map(|found| found.len());
        (found, began.elapsed())
    };
    let (slowest, (found, searched)) = slowest(find, async || {
        store.beat(node, Duty::Serving).await.unwrap();
        store.read(id, Seq::START, 1).await.unwrap();
    })
    .await;
    assert_eq!(found, Ok(1_001));
    assert!(slowest < Duration::from_secs(1), "{slowest:?} of {searched:?}");
}
