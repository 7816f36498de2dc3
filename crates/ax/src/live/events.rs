//! The event loop of a run: the engine's signals, keys, and signals to this process.

use std::sync::Arc;

use futures::{Stream, StreamExt};
use quorum::{Discussion, Error, Handle, Signal, Snapshot, Steered, StoreError, model::command::Command};
use tokio::{
    signal::unix::{Signal as Caught, SignalKind, signal},
    time::{Duration, Instant},
};

use crate::live::{Key, Watch, jsonl::JsonLines, screen::PAUSED};

const STOPPING: &str = "Stopping: only a verdict, the answer and votes are still asked for.";

/// How the event loop of a run ended.
pub(crate) enum LoopEnd {
    /// The run is over.
    Ended { interrupted: bool, paused: bool },
    /// This process is to leave at once.
    Left,
}

/// What the person at the terminal has requested so far.
#[derive(Default)]
struct Requested {
    interrupts: u32,
    paused: bool,
    stopped: bool,
}

/// Handles the events of a run until it is over.
pub(crate) async fn handle_all(
    discussion: &Discussion,
    signals: impl Stream<Item = Signal>,
    watch: &mut Watch,
    mut jsonl: Option<&mut JsonLines>,
    ProcessSignals { interrupt, leave, on_interrupt }: &mut ProcessSignals,
) -> anyhow::Result<LoopEnd> {
    let mut signals = std::pin::pin!(signals);
    let (mut requested, mut trouble) = (Requested::default(), Trouble::default());
    let mut leaving = Leaving::default();
    loop {
        tokio::select! {
            // What was said before the end is shown before the end.
            biased;
            () = leave.received() => {
                if *on_interrupt == OnInterrupt::Leave || !leaving.begin(discussion, watch) {
                    return Ok(LoopEnd::Left);
                }
            }
            () = leaving.timed_out() => return Ok(LoopEnd::Left),
            _ = interrupt.recv() => {
                requested.interrupts += 1;
                if *on_interrupt == OnInterrupt::Leave || !interrupted(discussion, requested.interrupts, watch).await? {
                    return Ok(LoopEnd::Left);
                }
            }
            keys = watch.next_keys() => for key in keys {
                if !on_key(discussion, key, &mut requested, watch).await? {
                    return Ok(LoopEnd::Left);
                }
            },
            signal = signals.next() => match signal {
                Some(signal) => {
                    if trouble.is_news(&signal) {
                        watch.handle_signal(&signal);
                    }
                    if let Some(jsonl) = &mut jsonl {
                        jsonl.write_signal(discussion, &signal).await?;
                    }
                }
                None if leaving.is_begun() => return Ok(release_and_wait(discussion).await),
                None => {
                    let Requested { interrupts, paused, .. } = requested;
                    return Ok(LoopEnd::Ended { interrupted: interrupts > 0, paused });
                }
            },
        }
    }
}

/// How long the calls under way may take to finish after a signal to leave.
const GRACE: Duration = Duration::from_secs(5);

/// Leaves without losing a paid answer: starts no new calls, waits a while for those under way to
/// be recorded, and then lets another process continue at once.
#[derive(Default)]
struct Leaving {
    deadline: Option<Instant>,
}

impl Leaving {
    /// Stops new calls from starting. `false` on a second signal, which leaves without waiting.
    fn begin(&mut self, discussion: &Discussion, watch: &mut Watch) -> bool {
        if self.deadline.replace(Instant::now() + GRACE).is_some() {
            return false;
        }
        watch.say(
            "Leaving once the calls under way are recorded, within 5 s. A second signal leaves at once.",
        );
        discussion.release_for(0);
        true
    }

    fn is_begun(&self) -> bool {
        self.deadline.is_some()
    }

    async fn timed_out(&self) {
        match self.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }
}

/// How a run ended that was released by this process: its last call may also have ended the
/// discussion.
async fn release_and_wait(discussion: &Discussion) -> LoopEnd {
    match discussion.state().await {
        Ok(state) if state.lifecycle.is_terminal() => LoopEnd::Ended { interrupted: true, paused: false },
        Ok(_) | Err(_) => LoopEnd::Left,
    }
}

/// The record's current problem, so that it is reported once and not every few seconds.
#[derive(Default)]
struct Trouble(Option<Arc<str>>);

impl Trouble {
    fn is_news(&mut self, signal: &Signal) -> bool {
        match signal {
            Signal::Trouble(message) => self.0.replace(message.clone()).as_ref() != Some(message),
            Signal::Fact { .. } => {
                self.0 = None;
                true
            }
            Signal::Piece(_) => true,
        }
    }
}

/// The signals to this process while a discussion runs. They are caught before the first paid call,
/// so that none of them kills the process with a call under way.
pub(crate) struct ProcessSignals {
    interrupt: Caught,
    leave: LeaveSignals,
    on_interrupt: OnInterrupt,
}

/// What Ctrl-C does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnInterrupt {
    /// It stops the discussion, then aborts it.
    Steer,
    /// It leaves the discussion, which another process runs.
    Leave,
}

impl ProcessSignals {
    pub(crate) fn new() -> anyhow::Result<ProcessSignals> {
        let (interrupt, leave) = (signal(SignalKind::interrupt())?, LeaveSignals::new()?);
        Ok(ProcessSignals { interrupt, leave, on_interrupt: OnInterrupt::Steer })
    }

    /// The signals while a discussion of another process is watched: any of them leaves it.
    pub(crate) fn leaving() -> anyhow::Result<ProcessSignals> {
        Ok(ProcessSignals { on_interrupt: OnInterrupt::Leave, ..ProcessSignals::new()? })
    }
}

/// The signals that make this process leave.
pub(crate) struct LeaveSignals {
    terminate: Caught,
    quit: Caught,
    /// Only at a terminal: under `nohup` the process must survive a hangup.
    hangup: Option<Caught>,
}

impl LeaveSignals {
    pub(crate) fn new() -> anyhow::Result<LeaveSignals> {
        let (terminate, quit) = (signal(SignalKind::terminate())?, signal(SignalKind::quit())?);
        Ok(LeaveSignals { terminate, quit, hangup: None })
    }

    /// The signals for a process at a terminal, which may be closed.
    pub(crate) fn at_a_terminal() -> anyhow::Result<LeaveSignals> {
        Ok(LeaveSignals { hangup: Some(signal(SignalKind::hangup())?), ..LeaveSignals::new()? })
    }

    pub(crate) async fn received(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = hangup => {}
            _ = self.terminate.recv() => {}
            _ = self.quit.recv() => {}
        }
    }
}

/// Stops on the first interrupt, aborts on the second. `false` on the third, which leaves.
async fn interrupted(discussion: &Discussion, interrupts: u32, watch: &mut Watch) -> anyhow::Result<bool> {
    let command = match interrupts {
        1 => {
            watch.say(&format!("{STOPPING} Ctrl-C again aborts."));
            Command::Stop
        }
        2 => {
            watch.say("Aborting. Ctrl-C again leaves at once.");
            Command::Abort
        }
        _ => return Ok(false),
    };
    send(discussion, command).await
}

/// Does what a key asks for. `false` if that is to leave.
async fn on_key(
    discussion: &Discussion,
    key: Key,
    requested: &mut Requested,
    watch: &mut Watch,
) -> anyhow::Result<bool> {
    match key {
        Key::Quit => return Ok(false),
        Key::Stop if !requested.stopped => {
            requested.stopped = true;
            watch.say(&format!("{STOPPING} Ctrl-C twice aborts."));
            send(discussion, Command::Stop).await?;
        }
        Key::Pause if requested.paused => {
            requested.paused = false;
            watch.say("Resumed.");
            send(discussion, Command::Resume).await?;
        }
        Key::Pause if !requested.stopped => {
            requested.paused = true;
            watch.say("Pausing after the calls under way. p resumes.");
            send(discussion, Command::Pause).await?;
        }
        Key::Stop | Key::Pause | Key::Follow(_) | Key::All | Key::Help => {}
    }
    Ok(true)
}

/// Sends a command, unless the discussion is already over.
async fn send(discussion: &Discussion, command: Command) -> anyhow::Result<bool> {
    match discussion.send(command).await {
        Ok(()) | Err(Error::Store(StoreError::Over(_))) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// How waiting at a paused discussion ended.
pub(crate) enum PauseEnd {
    /// It continues here.
    GoesOn(Handle),
    /// It ended meanwhile.
    Over(Snapshot),
    /// Another process runs it.
    Elsewhere,
    /// It stays paused.
    Left,
    /// It stays paused, after a signal.
    Interrupted,
}

/// Waits at the screen of a discussion paused here, until the person resumes or leaves it.
pub(crate) async fn wait_while_paused(
    discussion: &Discussion,
    watch: &mut Watch,
) -> anyhow::Result<PauseEnd> {
    let (mut interrupt, mut leave) = (signal(SignalKind::interrupt())?, LeaveSignals::new()?);
    watch.say(PAUSED);
    loop {
        let keys = tokio::select! {
            biased;
            () = leave.received() => return Ok(PauseEnd::Interrupted),
            _ = interrupt.recv() => return Ok(PauseEnd::Interrupted),
            keys = watch.next_keys() => keys,
        };
        for key in keys {
            match key {
                Key::Pause => return go_on(discussion).await,
                Key::Stop => return wind_up(discussion).await,
                Key::Quit => return Ok(PauseEnd::Left),
                Key::Follow(_) | Key::All | Key::Help => {}
            }
        }
    }
}

async fn go_on(discussion: &Discussion) -> anyhow::Result<PauseEnd> {
    match discussion.resume_here().await {
        Ok(handle) => Ok(PauseEnd::GoesOn(handle)),
        Err(Error::Store(StoreError::Over(_))) => Ok(PauseEnd::Over(discussion.state().await?)),
        Err(error) => Err(error.into()),
    }
}

async fn wind_up(discussion: &Discussion) -> anyhow::Result<PauseEnd> {
    Ok(match discussion.steer(Command::Stop).await? {
        Steered::Here(handle) => PauseEnd::GoesOn(handle),
        Steered::Sent { .. } | Steered::Recorded => PauseEnd::Elsewhere,
        Steered::Idle(state) => PauseEnd::Over(*state),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_is_reported_once() {
        let mut trouble = Trouble::default();
        let mut is_news = |message: &str| trouble.is_news(&Signal::Trouble(message.into()));
        let full = "no room left";
        assert_eq!([full, full, "disk I/O error", full].map(&mut is_news), [true, false, true, true]);
    }
}
