//! Several processes on one file: claims, commands, and takeover after a crash.

#![expect(clippy::unwrap_used, reason = "a test that has lost its processes can only stop")]

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command as Process, Stdio},
    time::Duration,
};

use common::Folder;
use futures::StreamExt;
use quorum_core::{
    model::{
        command::{Command, CommandId},
        id::Seq,
    },
    seams::{Archive, Store, StoreError, Then, Wake, Wanted},
};
use quorum_store::SqliteStore;
use quorum_testkit::conformance::store::fixture::{
    Writer, claim, claim_any, ending, node, open, reap, said, second,
};

mod common;

/// The variable with the database of the process to be killed.
const DATABASE: &str = "QUORUM_TEST_DATABASE";

fn locks(folder: &Folder) -> usize {
    std::fs::read_dir(folder.database().with_extension("db.runners")).unwrap().count()
}

#[tokio::test]
async fn a_discussion_that_one_process_runs_cant_be_claimed_by_another() {
    let folder = Folder::new();
    let one = SqliteStore::open(folder.database()).unwrap();
    let two = SqliteStore::open(folder.database()).unwrap();
    let id = open(&one, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&one, id, "ax").await;
    let held = StoreError::Held { id, owner: "ax".to_owned() };
    assert_eq!(claim(&two, id, "another").await, Err(held));
    assert_eq!(claim_any(&two, 9, "other").await, Ok(Vec::new()));
    // The other process may still read and send commands.
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    assert_eq!(two.read(id, Seq(3), 9).await.unwrap().len(), 1);
    assert_eq!(two.send(id, Command::Pause).await, Ok(CommandId(1)));
    assert_eq!(one.commands(id, CommandId(0)).await, Ok(vec![(CommandId(1), Command::Pause)]));
}

#[tokio::test]
async fn a_cached_discussion_is_read_again_after_another_process_wrote() {
    let folder = Folder::new();
    let one = SqliteStore::open(folder.database()).unwrap();
    let two = SqliteStore::open(folder.database()).unwrap();
    let id = open(&one, "tabs or spaces?", second(1)).await;
    let mut early = Writer::claiming(&one, id, "one").await;
    early.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap();
    assert!(reap(&two, "one").await);
    let mut late = Writer { last: Seq(4), ..Writer::claiming(&two, id, "two").await };
    let refused = early.write(second(3), vec![said("bob", 1, "spaces")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Fenced(id)));
    assert_eq!(one.held(early.claim.node).await, Ok(Vec::new()));
    late.write(second(4), ending("spaces"), Then::Done).await.unwrap();
    assert_eq!(one.send(id, Command::Pause).await, Err(StoreError::Over(id)));
    assert_eq!(one.search("tabs", Wanted { limit: 9, ..Wanted::default() }).await.unwrap().len(), 1);
}

#[tokio::test]
async fn closing_a_store_releases_its_claims() {
    let folder = Folder::new();
    let one = SqliteStore::open(folder.database()).unwrap();
    let two = SqliteStore::open(folder.database()).unwrap();
    let id = open(&one, "tabs or spaces?", second(1)).await;
    claim(&one, id, "one").await.unwrap();
    assert_eq!(locks(&folder), 2);
    drop(one);
    assert_eq!(locks(&folder), 1);
    assert_eq!(claim_any(&two, 9, "two").await.unwrap()[0].fence, 2);
    drop(two);
    assert_eq!(locks(&folder), 0);
}

#[tokio::test]
async fn of_two_concurrent_claims_exactly_one_succeeds() {
    let folder = Folder::new();
    let stores = [0, 1].map(|_| SqliteStore::open(folder.database()).unwrap());
    for _ in 0..20 {
        let id = open(&stores[0], "tabs or spaces?", second(1)).await;
        let tries = stores.iter().zip(["one", "two"]).map(|(store, name)| claim(store, id, name));
        let won = futures::future::join_all(tries).await.into_iter().filter(Result::is_ok).count();
        assert_eq!(won, 1);
    }
}

#[tokio::test]
async fn commands_of_another_process_are_noticed() {
    let folder = Folder::new();
    let one = SqliteStore::open(folder.database()).unwrap();
    let two = SqliteStore::open(folder.database()).unwrap();
    let id = open(&one, "tabs or spaces?", second(1)).await;
    let mut news = one.watch();
    two.send(id, Command::Abort).await.unwrap();
    // 200 ms are promised, but a busy machine may take longer to run this process at all.
    let told = news.by_ref().any(async |heard| heard == Wake::Commands(id));
    assert_eq!(tokio::time::timeout(Duration::from_secs(20), told).await, Ok(true));
    drop(one);
    let rest: Vec<Wake> = news.collect().await;
    assert!(rest.iter().all(|heard| [Wake::Commands(id), Wake::Work].contains(heard)), "{rest:?}");
}

#[test]
fn many_processes_may_open_a_new_database_at_once() {
    let folder = Folder::new();
    let opened: Vec<bool> = std::thread::scope(|scope| {
        let open = || scope.spawn(|| SqliteStore::open(folder.database()).map(drop));
        let threads: Vec<_> = (0..8).map(|_| open()).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap().map_err(|error| panic!("{error}")).is_ok())
            .collect()
    });
    assert_eq!(opened, [true; 8]);
}

#[tokio::test]
async fn locks_of_dead_processes_are_removed() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.database()).unwrap();
    std::fs::write(folder.database().with_extension("db.runners").join("dead.lock"), "").unwrap();
    assert_eq!(locks(&folder), 2);
    claim_any(&store, 1, "one").await.unwrap();
    assert_eq!(locks(&folder), 1);
}

#[tokio::test]
async fn the_claim_of_a_killed_process_is_taken_over_at_once() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.database()).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let (mut process, mut said) = start("a_process_that_claims_and_waits", &folder.database());
    assert_eq!(said.next().unwrap(), "claimed");
    let held = StoreError::Held { id, owner: "the dead".to_owned() };
    assert_eq!(claim(&store, id, "the heir").await, Err(held));
    process.kill().unwrap();
    process.wait().unwrap();
    let taken = claim(&store, id, "the heir").await.unwrap();
    assert_eq!((taken.node, taken.fence), (node(&store, "the heir").await, 2));
    assert_eq!(locks(&folder), 1);
}

#[tokio::test]
async fn c06_acknowledged_facts_survive_a_crash() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.database()).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    drop(store);
    let (mut process, mut said) = start("a_process_that_writes_until_it_is_killed", &folder.database());
    let mut acknowledged: u64 = 0;
    while acknowledged < 50 {
        acknowledged = said.next().unwrap().parse().unwrap();
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let acknowledged = said.last().map_or(acknowledged, |line| line.parse().unwrap_or(acknowledged));
    let facts = SqliteStore::open(folder.database()).unwrap().read(id, Seq::START, usize::MAX).await.unwrap();
    assert!(facts.len() as u64 >= acknowledged, "{} facts, {acknowledged} acknowledged", facts.len());
}

/// Starts one of the two tests below in its own process and returns the lines it prints.
fn start(what: &str, database: &Path) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut process = Process::new(std::env::current_exe().unwrap())
        .args(["--exact", what, "--nocapture"])
        .env(DATABASE, database)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
    // The test harness prints too; our lines start with a marker.
    (process, lines.filter_map(|line| line.split_once("> ").map(|(_, said)| said.to_owned())))
}

fn database_to_die_with() -> Option<PathBuf> {
    std::env::var_os(DATABASE).map(PathBuf::from)
}

fn say(what: impl std::fmt::Display) {
    println!("> {what}");
    std::io::stdout().flush().unwrap();
}

/// Does nothing unless another test starts it.
#[tokio::test]
async fn a_process_that_claims_and_waits() {
    let Some(database) = database_to_die_with() else { return };
    let store = SqliteStore::open(database).unwrap();
    claim_any(&store, 1, "the dead").await.unwrap();
    say("claimed");
    std::future::pending::<()>().await;
}

/// Does nothing unless another test starts it.
#[tokio::test]
async fn a_process_that_writes_until_it_is_killed() {
    let Some(database) = database_to_die_with() else { return };
    let store = SqliteStore::open(database).unwrap();
    let claim = claim_any(&store, 1, "the dead").await.unwrap().remove(0);
    let mut writer = Writer { store: &store, id: claim.id, claim, last: Seq(3) };
    loop {
        say(writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap());
    }
}
