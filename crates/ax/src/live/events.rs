//! The event loop of a run: the engine's signals, keys, and signals to this process.

use std::sync::Arc;

use futures::{Stream, StreamExt};
use quorum::{Discussion, Error, Handle, Signal, Snapshot, Steered, StoreError, model::command::Command};
use tokio::{
    signal::unix::{Signal as Caught, SignalKind, signal},
    time::{Duration, Instant},
};

use crate::live::{Key, Watch, jsonl::JsonLines};

const STOPPING: &str = "Stopping: no more calls. The answer will be made from what has been said.";

/// How the event loop of a run ended.
pub(crate) enum LoopEnd {
    /// The run is over.
    Ended { interrupted: bool, paused: bool },
    /// This process is to go at once.
    Left,
}

/// What somebody at the terminal asked for so far.
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
) -> anyhow::Result<LoopEnd> {
    let (mut interrupt, mut leave) = (signal(SignalKind::interrupt())?, LeaveSignals::new()?);
    let mut signals = std::pin::pin!(signals);
    let (mut requested, mut trouble) = (Requested::default(), Trouble::default());
    let mut leaving = Leaving::default();
    loop {
        tokio::select! {
            // What was said before the end is shown before it.
            biased;
            () = leave.received() => {
                if !leaving.begin(discussion, &requested, watch).await {
                    return Ok(LoopEnd::Left);
                }
            }
            () = leaving.timed_out() => return Ok(leaving.finish(discussion).await),
            _ = interrupt.recv() => {
                requested.interrupts += 1;
                if !on_interrupt(discussion, requested.interrupts, watch).await? {
                    return Ok(LoopEnd::Left);
                }
            }
            keys = watch.stir() => for key in keys {
                if !on_key(discussion, key, &mut requested, watch).await? {
                    return Ok(LoopEnd::Left);
                }
            },
            signal = signals.next() => match signal {
                Some(signal) => {
                    if trouble.is_news(&signal) {
                        watch.hear(&signal);
                    }
                    if let Some(jsonl) = &mut jsonl {
                        jsonl.write_signal(discussion, &signal).await?;
                    }
                }
                None if leaving.pauses => return Ok(leaving.finish(discussion).await),
                None => {
                    let Requested { interrupts, paused, .. } = requested;
                    let interrupted = interrupts > 0 || leaving.deadline.is_some();
                    return Ok(LoopEnd::Ended { interrupted, paused });
                }
            },
        }
    }
}

/// How long the calls under way may take to end once this process was told to.
const GRACE: Duration = Duration::from_secs(5);

/// Leaving without losing an answer that is paid for: nothing new is asked, what is under way is
/// awaited for a while and recorded, and another process may go on at once.
#[derive(Default)]
struct Leaving {
    deadline: Option<Instant>,
    /// Whether this loop has paused the discussion, and has to take that back.
    pauses: bool,
}

impl Leaving {
    /// Asks for nothing new to be begun. `false` when there is nothing to wait for: it was told before,
    /// or nothing can be recorded.
    async fn begin(&mut self, discussion: &Discussion, requested: &Requested, watch: &mut Watch) -> bool {
        if self.deadline.replace(Instant::now() + GRACE).is_some() {
            return false;
        }
        watch.say(
            "Leaving once the calls under way are recorded, within 5 s. A second signal leaves at once.",
        );
        // What was stopped begins nothing new by itself, and a pause would take the stop back.
        self.pauses = !requested.paused && !requested.stopped && requested.interrupts == 0;
        !self.pauses || discussion.send(Command::Pause).await.is_ok()
    }

    async fn timed_out(&self) {
        match self.deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// Undoes the pause, so that the next `resume` continues.
    async fn finish(&self, discussion: &Discussion) -> LoopEnd {
        let resumed = if self.pauses { discussion.send(Command::Resume).await } else { Ok(()) };
        match resumed {
            Err(Error::Store(StoreError::Over(_))) => LoopEnd::Ended { interrupted: true, paused: false },
            // What could not be taken back, `ax resume` does.
            Ok(()) | Err(_) => LoopEnd::Left,
        }
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

/// The signals after which this process leaves at once.
pub(crate) struct LeaveSignals {
    terminate: Caught,
    quit: Caught,
    /// Only at a terminal: who started us with `nohup` wants us to go on.
    hangup: Option<Caught>,
}

impl LeaveSignals {
    pub(crate) fn new() -> anyhow::Result<LeaveSignals> {
        let (terminate, quit) = (signal(SignalKind::terminate())?, signal(SignalKind::quit())?);
        Ok(LeaveSignals { terminate, quit, hangup: None })
    }

    /// Where a terminal is held that may be closed.
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

/// First stop, then abort, then leave. `false` when there is nothing gentler left to do.
async fn on_interrupt(discussion: &Discussion, interrupts: u32, watch: &mut Watch) -> anyhow::Result<bool> {
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

/// What a key asks for. `false` when that is to leave.
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
            watch.say("Going on.");
            send(discussion, Command::Resume).await?;
        }
        Key::Pause if !requested.stopped => {
            requested.paused = true;
            watch.say("Pausing once the calls under way are done. p goes on.");
            send(discussion, Command::Pause).await?;
        }
        Key::Stop | Key::Pause | Key::Follow(_) | Key::All | Key::Help => {}
    }
    Ok(true)
}

/// What is over needs no command.
async fn send(discussion: &Discussion, command: Command) -> anyhow::Result<bool> {
    match discussion.send(command).await {
        Ok(()) | Err(Error::Store(StoreError::Over(_))) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// How waiting at a paused discussion ended.
pub(crate) enum PauseEnd {
    /// It goes on here.
    GoesOn(Handle),
    /// It ended meanwhile.
    Over(Snapshot),
    /// Another process has it.
    Elsewhere,
    /// It is left as it is.
    Left,
    /// The same, with a signal.
    Interrupted,
}

/// Waits at the screen of a discussion that was paused here until somebody resumes or leaves it.
pub(crate) async fn wait_while_paused(
    discussion: &Discussion,
    watch: &mut Watch,
) -> anyhow::Result<PauseEnd> {
    let (mut interrupt, mut leave) = (signal(SignalKind::interrupt())?, LeaveSignals::new()?);
    watch.say("Paused. p goes on · s concludes with what was said · q leaves it so");
    loop {
        let keys = tokio::select! {
            biased;
            () = leave.received() => return Ok(PauseEnd::Interrupted),
            _ = interrupt.recv() => return Ok(PauseEnd::Interrupted),
            keys = watch.stir() => keys,
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
        Steered::Sent { .. } => PauseEnd::Elsewhere,
        Steered::Idle(state) => PauseEnd::Over(*state),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_trouble_is_said_once() {
        let mut trouble = Trouble::default();
        let mut is_news = |message: &str| trouble.is_news(&Signal::Trouble(message.into()));
        let full = "no room left";
        assert_eq!([full, full, "disk I/O error", full].map(&mut is_news), [true, false, true, true]);
    }
}
