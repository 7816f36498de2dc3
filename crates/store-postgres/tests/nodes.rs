//! Two processes on one database: news between them, lost connections, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test whose store can't be opened can only stop")]

use std::sync::Arc;

use futures::{StreamExt, stream::BoxStream};
use quorum_core::{
    model::{
        command::Command,
        id::{DiscussionId, NodeId, Seq, Step},
        piece::Piece,
    },
    seams::{LiveText, Nodes, Store, StoreError, Then, Wake},
};
use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::{
    conformance::store::fixture::{Writer, claim, node, open, said, second},
    postgres::Database,
};

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

    runner.part(NodeId::named("one")).await.unwrap();
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
    use quorum_testkit::conformance::store::fixture::{about, below, opening, reap};
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
