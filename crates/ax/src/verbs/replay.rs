//! `ax replay`: plays back a recorded discussion, on a screen or line by line, then prints its
//! result.

use std::{sync::Arc, time::Duration};

use quorum::{
    Scope, Signal, Snapshot,
    model::{
        event::Fact,
        id::{DiscussionId, Seq},
        state::State,
        time::Timestamp,
    },
};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::Replay,
    exit::Exit,
    live::{Clock, Key, Keys, Watch, events::LeaveSignals},
    verbs::history::show_state,
};

/// The longest pause between two events at normal speed, however long it really was.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A recorded event, and when it happened.
struct Moment {
    at: Timestamp,
    signal: Signal,
}

/// `ax replay`
pub(crate) async fn replay(scope: &Scope, args: &Replay) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.shown.which.id).await?;
    let id = discussion.id();
    let moments = moments(scope, id).await?;
    let opened = moments.first().and_then(|it| match &it.signal {
        Signal::Fact { fact, .. } => State::opened(id, fact),
        Signal::Piece(_) | Signal::Trouble(_) => None,
    });
    if let Some(state) = opened {
        let state = Snapshot::new(Box::new(state), scope.quorum().registry().clone());
        let watch = Watch::over(&state, args.shown.output, Keys::OfReplay);
        if !play(&moments, args, watch).await? {
            return Ok(Exit::Interrupted);
        }
    }
    show_state(&discussion, args.shown.output).await?;
    Ok(Exit::Done)
}

/// Shows one event after the other. `false` if the person left before the end.
async fn play(moments: &[Moment], args: &Replay, mut watch: Watch) -> anyhow::Result<bool> {
    let mut waits = !args.fast;
    let mut last = None;
    for Moment { at, signal } in moments {
        if let Some(earlier) = last.replace(*at).filter(|_| waits) {
            match wait(pause(earlier, *at, args.speed), &mut watch).await? {
                Waited::Out => {}
                Waited::Skipped => waits = false,
                Waited::Left => {
                    watch.close();
                    return Ok(false);
                }
            }
        }
        watch.set_clock(Clock::at(u64::try_from(at.epoch_ms()).unwrap_or_default(), args.speed));
        watch.handle_signal(signal);
    }
    watch.close();
    Ok(true)
}

/// How a pause ended.
enum Waited {
    Out,
    Skipped,
    Left,
}

async fn wait(pause: Duration, watch: &mut Watch) -> anyhow::Result<Waited> {
    let (mut interrupt, mut leave) = (signal(SignalKind::interrupt())?, LeaveSignals::new()?);
    let mut over = std::pin::pin!(tokio::time::sleep(pause));
    let mut held = false;
    loop {
        let keys = tokio::select! {
            biased;
            () = leave.received() => return Ok(Waited::Left),
            _ = interrupt.recv() => return Ok(Waited::Left),
            keys = watch.next_keys() => keys,
            () = &mut over, if !held => return Ok(Waited::Out),
        };
        for key in keys {
            match key {
                Key::Pause => {
                    held = !held;
                    watch.say(if held { "Paused. p resumes." } else { "Resumed." });
                }
                Key::Stop => return Ok(Waited::Skipped),
                Key::Quit => return Ok(Waited::Left),
                Key::Follow(_) | Key::All | Key::Help => {}
            }
        }
    }
}

fn pause(from: Timestamp, to: Timestamp, speed: f64) -> Duration {
    let gap = Duration::from_micros(u64::try_from(to.0.saturating_sub(from.0)).unwrap_or_default());
    gap.min(LONGEST_PAUSE).div_f64(speed)
}

/// The events of a discussion and all its sub-discussions, in the order they would have been seen.
async fn moments(scope: &Scope, root: DiscussionId) -> anyhow::Result<Vec<Moment>> {
    let mut moments = Vec::new();
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        let facts = scope.discussion(id).await?.facts(Seq::START).await?;
        waiting.extend(State::of(id, &facts).iter().flat_map(children));
        moments.extend(moments_of(id, facts));
    }
    // A stable sort, so that events with the same time stay in recorded order.
    moments.sort_by_key(|it| it.at);
    Ok(moments)
}

fn children(state: &State) -> Vec<DiscussionId> {
    state.subs.values().filter_map(|sub| sub.end.as_ref()?.child).collect()
}

/// The events of one discussion. Times never decrease, so that a clock that was set back doesn't
/// change the order.
fn moments_of(id: DiscussionId, facts: Vec<Fact>) -> Vec<Moment> {
    let mut latest = Timestamp(i64::MIN);
    let moment = |fact: Fact| {
        latest = latest.max(fact.at);
        Moment { at: latest, signal: Signal::Fact { discussion: id, fact: Arc::new(fact) } }
    };
    facts.into_iter().map(moment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_a_day_is_not_waited_for() {
        let seconds = |from: i64, to: i64, speed: f64| {
            pause(Timestamp(from * 1_000_000), Timestamp(to * 1_000_000), speed).as_secs_f64()
        };
        assert_eq!([seconds(0, 1, 1.0), seconds(0, 86_400, 1.0), seconds(5, 0, 1.0)], [1.0, 2.0, 0.0]);
        assert_eq!([seconds(0, 1, 4.0), seconds(0, 86_400, 4.0), seconds(0, 1, 0.5)], [0.25, 0.5, 2.0]);
    }
}
