//! With the real store: a crash after every single write, and two processes on one file.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{path::Path, sync::Arc, time::Duration};

use futures::StreamExt;
use quorum::{
    Discussion, Finished, Handle, Quorum, Request, Scope, Signal, Steered,
    model::{
        command::Command,
        event::Event,
        id::Tenant,
        lifecycle::Lifecycle,
        outcome::StoppingReason,
        spec::{Recursion, Spec, TimeoutStrategy, Timing},
    },
    request::Simulate,
};
use quorum_core::seams::Store;
use quorum_patterns::registry;
use quorum_store::SqliteStore;
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::spec,
    stopwatch::Stopwatch,
};
use tempfile::TempDir;
use tokio::time::timeout;
use uuid::Uuid;

/// The 200 ms within which another process receives a command, plus the time it takes to act on it.
const IN_TIME: Duration = Duration::from_millis(1_200);

/// The limit for what never comes.
const FOREVER: Duration = Duration::from_secs(60);

fn opened(file: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(file).unwrap())
}

fn quick() -> Panel {
    panel().takes("*", 1)
}

async fn survives(panel: &Panel, spec: Spec, least: u64) {
    let folder = TempDir::new().unwrap();
    let store = || opened(&folder.path().join(Uuid::new_v4().to_string())) as Arc<dyn Store>;
    let deaths = resume_anywhere(store, panel, registry(), spec).await;
    assert!(deaths >= least, "it died {deaths} times only");
}

#[tokio::test]
async fn f1_a_sequential_discussion_survives_every_crash() {
    survives(&quick(), spec("round-robin"), 8).await;
}

#[tokio::test]
async fn f1_a_parallel_discussion_survives_every_crash() {
    // Concurrent answers are written together; staggered ones are separate writes to crash after.
    let apart = quick().takes("bob", 15).takes("cyd", 30);
    // On a busy machine some still arrive together, so this is less than the usual number.
    survives(&apart, spec("synthesis"), 5).await;
}

#[tokio::test]
async fn f1_a_recursive_discussion_survives_every_crash() {
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Cascade });
    let usual = spec("round-robin");
    let timing = Timing { total_ms: 180_000, ..usual.timing };
    let convening = quick().convenes("ann", "and at what price?");
    // Usually twelve; answers of the sub-discussion may arrive together.
    survives(&convening, Spec { rounds: 1, recursion, timing, ..usual }, 10).await;
}

/// One discussion in two processes; the first runs it.
struct Processes {
    first: Discussion,
    second: Discussion,
    handle: Handle,
    _folder: TempDir,
}

fn scope(file: &Path) -> Scope {
    Quorum::builder().store(opened(file)).simulated().build().unwrap().scope(Tenant::default(), "ann")
}

async fn processes() -> Processes {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("quorum.db");
    let (first, second) = (scope(&file), scope(&file));
    let simulate = Some(Simulate { latency_ms: Some(100), ..Simulate::default() });
    let pattern = Some("round-robin".to_owned());
    let long = Request { simulate, pattern, rounds: Some(10), ..Request::on("Tabs or spaces?") };
    let (first, handle) = first.start(first.check(&long).unwrap()).await.unwrap();
    let second = second.discussion(first.id()).await.unwrap();
    assert!(handle.signals().any(async |it| is(&it, |it| matches!(it, Event::TurnCompleted { .. }))).await);
    Processes { first, second, handle, _folder: folder }
}

fn is(signal: &Signal, wanted: impl Fn(&Event) -> bool) -> bool {
    matches!(signal, Signal::Fact { fact, .. } if wanted(&fact.event))
}

impl Processes {
    /// The second process sends a command; the first takes it in time.
    async fn commands(&self, command: Command) {
        let signals = self.handle.signals();
        let sent = Stopwatch::start();
        let Steered::Sent { .. } = self.second.steer(command.clone()).await.unwrap() else {
            panic!("nobody runs it")
        };
        let taken = signals.any(async |it| is(&it, |it| matches!(it, Event::CommandTaken { .. })));
        assert!(timeout(FOREVER, taken).await.unwrap(), "{command} was never taken");
        assert!(sent.took().own < IN_TIME, "{command} came late: {:?}", sent.took());
    }
}

#[tokio::test]
async fn one_process_pauses_a_discussion_of_another_and_continues_it() {
    let processes = processes().await;
    assert!(processes.second.resume_here().await.is_err(), "only one can run it");
    processes.commands(Command::Pause).await;
    let Finished::Waiting(state) = processes.handle.finished().await.unwrap() else { panic!("it went on") };
    assert_eq!(state.lifecycle, Lifecycle::Paused);
    let handle = processes.second.resume_here().await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert!(outcome.success && outcome.rounds.len() == 10, "{outcome:?}");
    assert_eq!(processes.first.outcome().await.unwrap(), outcome);
}

#[tokio::test]
async fn one_process_stops_a_discussion_of_another() {
    let processes = processes().await;
    processes.commands(Command::Stop).await;
    let Finished::Over(_) = processes.handle.finished().await.unwrap() else { panic!("it waits") };
    let outcome = processes.second.outcome().await.unwrap();
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::USER_STOP));
    assert!(outcome.rounds.len() < 10 && !outcome.synthesis.is_empty(), "{outcome:?}");
}

#[tokio::test]
async fn one_process_aborts_a_discussion_of_another() {
    let processes = processes().await;
    processes.commands(Command::Abort).await;
    let Finished::Over(state) = processes.handle.finished().await.unwrap() else { panic!("it waits") };
    assert_eq!(state.lifecycle, Lifecycle::Aborted);
}
