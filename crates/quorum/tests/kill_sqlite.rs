//! Over the real store: a death after every single write, and two doors on one file.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::StreamExt;
use quorum::{
    Config, Finished, Handle, Quorum, Request, Resumed, Signal, Steered,
    model::{
        command::Command,
        event::Event,
        lifecycle::Lifecycle,
        outcome::StoppingReason,
        spec::{Recursion, Spec, TimeoutStrategy, Timing},
    },
    request::Simulate,
    voices,
};
use quorum_core::{craft::Crafts, seams::Store};
use quorum_patterns::{CONSENSUS, CONTEXTS, PATTERNS};
use quorum_store::SqliteStore;
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::spec,
};
use tempfile::TempDir;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

const CRAFTS: Crafts = Crafts { patterns: PATTERNS, consensus: CONSENSUS, contexts: CONTEXTS };

/// The 200 ms within which another process hears of a command, and a second for a busy machine.
const IN_TIME: Duration = Duration::from_millis(1_200);

fn opened(file: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(file).unwrap())
}

fn quick() -> Panel {
    panel().takes("*", 1)
}

async fn survives(panel: &Panel, spec: Spec, least: u64) {
    let folder = TempDir::new().unwrap();
    let store = || opened(&folder.path().join(Uuid::new_v4().to_string())) as Arc<dyn Store>;
    let deaths = resume_anywhere(store, panel, CRAFTS, spec).await;
    assert!(deaths >= least, "it died {deaths} times only");
}

#[tokio::test]
async fn f1_a_sequential_discussion_survives_every_death() {
    survives(&quick(), spec("round-robin"), 8).await;
}

#[tokio::test]
async fn f1_a_parallel_discussion_survives_every_death() {
    // Those who answer at once are written at once; apart, each answer is a write to die after.
    let apart = quick().takes("bob", 15).takes("cyd", 30);
    // On a busy machine they come together all the same, so this is less than there usually are.
    survives(&apart, spec("synthesis"), 5).await;
}

#[tokio::test]
async fn f1_a_recursive_discussion_survives_every_death() {
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Cascade });
    let usual = spec("round-robin");
    let timing = Timing { total_ms: 180_000, ..usual.timing };
    let convening = quick().convenes("ann", "and at what price?");
    // Twelve as a rule; answers to the side-talk may come together.
    survives(&convening, Spec { rounds: 1, recursion, timing, ..usual }, 10).await;
}

/// Two doors as two processes have them, and a discussion that the first runs.
struct Doors {
    first: Quorum,
    second: Quorum,
    handle: Handle,
    _folder: TempDir,
}

fn door(file: &Path) -> Quorum {
    let config = Config::parse("", Path::new("config.toml"), PathBuf::new()).unwrap();
    Quorum::over(config, opened(file), Arc::new(voices::simulated()))
}

async fn doors() -> Doors {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("quorum.db");
    let (first, second) = (door(&file), door(&file));
    let simulate = Some(Simulate { latency_ms: Some(30), ..Simulate::default() });
    let pattern = Some("round-robin".to_owned());
    let long = Request { simulate, pattern, rounds: Some(10), ..Request::on("Tabs or spaces?") };
    let handle = first.start(&long).await.unwrap();
    assert!(handle.signals().any(async |it| is(&it, |it| matches!(it, Event::TurnCompleted { .. }))).await);
    Doors { first, second, handle, _folder: folder }
}

fn is(signal: &Signal, wanted: impl Fn(&Event) -> bool) -> bool {
    matches!(signal, Signal::Fact { fact, .. } if wanted(&fact.event))
}

impl Doors {
    /// The second door passes a command on; the first takes it in time.
    async fn commands(&self, command: Command) {
        let signals = self.handle.signals();
        let sent = Instant::now();
        let Steered::Sent { .. } = self.second.steer(self.handle.id(), command.clone()).await.unwrap() else {
            panic!("nobody runs it")
        };
        let taken = signals.any(async |it| is(&it, |it| matches!(it, Event::CommandTaken { .. })));
        let took = timeout(2 * IN_TIME, taken).await.map(|_| sent.elapsed());
        assert!(took.is_ok_and(|took| took < IN_TIME), "{command} came late");
    }
}

#[tokio::test]
async fn one_process_pauses_what_another_runs_and_goes_on_with_it() {
    let doors = doors().await;
    let id = doors.handle.id();
    assert!(doors.second.resume(id).await.is_err(), "only one can run it");
    doors.commands(Command::Pause).await;
    let Finished::Waiting(state) = doors.handle.finished().await.unwrap() else { panic!("it went on") };
    assert_eq!(state.lifecycle, Lifecycle::Paused);
    let Resumed::Running(handle) = doors.second.resume(id).await.unwrap() else { panic!("it is over") };
    let outcome = handle.finished().await.unwrap().outcome();
    assert!(outcome.success && outcome.rounds.len() == 10, "{outcome:?}");
    assert_eq!(doors.first.outcome(id).await.unwrap(), outcome);
}

#[tokio::test]
async fn one_process_stops_what_another_runs() {
    let doors = doors().await;
    doors.commands(Command::Stop).await;
    let Finished::Over(_) = doors.handle.finished().await.unwrap() else { panic!("it waits") };
    let outcome = doors.second.outcome(doors.handle.id()).await.unwrap();
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::UserStop));
    assert!(outcome.rounds.len() < 10 && !outcome.synthesis.is_empty(), "{outcome:?}");
}

#[tokio::test]
async fn one_process_aborts_what_another_runs() {
    let doors = doors().await;
    doors.commands(Command::Abort).await;
    let Finished::Over(state) = doors.handle.finished().await.unwrap() else { panic!("it waits") };
    assert_eq!(state.lifecycle, Lifecycle::Aborted);
}
