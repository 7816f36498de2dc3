//! `ax replay`: plays back a recorded discussion, on a screen or line by line, then prints its
//! result.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use quorum::{
    Piece, Scope, Signal, Snapshot,
    model::{
        event::{Event, Fact},
        id::{DiscussionId, Seq, Step},
        state::State,
        time::Timestamp,
        transcript::Turn,
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
    let typing = if Watch::is_screen(args.shown.output) { Typing::Shown } else { Typing::LeftOut };
    let moments = moments(scope, id, typing).await?;
    let opened = moments.first().and_then(|it| match &it.signal {
        Signal::Fact { fact, .. } => State::opened(id, fact),
        Signal::Piece(_) | Signal::Trouble(_) => None,
    });
    if let Some(state) = opened {
        let state = Snapshot::new(Box::new(state), scope.quorum().registry().clone());
        let watch = Watch::over(&state, args.shown.output, Keys::Replay);
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

/// Whether a replay types turns out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Typing {
    /// On a screen.
    Shown,
    /// In plain lines: a turn is shown when it is complete.
    LeftOut,
}

/// The events of a discussion and all its sub-discussions, in the order they would have been seen.
async fn moments(scope: &Scope, root: DiscussionId, typing: Typing) -> anyhow::Result<Vec<Moment>> {
    let mut moments = Vec::new();
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        let facts = scope.discussion(id).await?.facts(Seq::START).await?;
        let state = State::of(id, &facts);
        waiting.extend(state.iter().flat_map(children));
        let typist = state.filter(|_| typing == Typing::Shown).map(Typist::of);
        moments.extend(moments_of(id, facts, typist));
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
fn moments_of(id: DiscussionId, facts: Vec<Fact>, mut typist: Option<Typist>) -> Vec<Moment> {
    let mut latest = Timestamp(i64::MIN);
    let mut moments = Vec::new();
    for fact in facts {
        latest = latest.max(fact.at);
        if let Some(typist) = &mut typist {
            moments.extend(typist.pieces(&fact, latest));
        }
        moments.push(Moment { at: latest, signal: Signal::Fact { discussion: id, fact: Arc::new(fact) } });
    }
    moments
}

/// Types out the turns of a recorded discussion, word by word over the time that each took. The
/// record has when a call was placed and when its answer was complete, not when each word came.
struct Typist {
    state: State,
    /// The calls that were placed: the attempt, and when.
    placed: BTreeMap<Step, (u32, Timestamp)>,
}

impl Typist {
    /// For a discussion whose final state this is: the names behind labels are in it.
    fn of(state: State) -> Typist {
        Typist { state, placed: BTreeMap::new() }
    }

    /// The words that arrived before this fact.
    fn pieces(&mut self, fact: &Fact, at: Timestamp) -> Vec<Moment> {
        match (&fact.event, &fact.step) {
            (Event::CallPlaced(placed), Some(step)) => {
                self.placed.insert(step.clone(), (placed.attempt, at));
                Vec::new()
            }
            (Event::TurnCompleted { turn }, _) if !turn.reused => {
                let call = self.placed.remove(&turn.step);
                call.map(|call| self.words(turn, call, at)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn words(&self, turn: &Turn, (attempt, from): (u32, Timestamp), to: Timestamp) -> Vec<Moment> {
        let text = if turn.prose().is_empty() { String::new() } else { self.state.shown(turn) };
        let words: Vec<&str> = match text.as_str() {
            // A form without prose is shown only as being filled in.
            "" => vec![""],
            text => text.split_inclusive(char::is_whitespace).collect(),
        };
        let first = from.0.saturating_add(to.0.saturating_sub(from.0) / THINKING);
        let (span, number) = (to.0.saturating_sub(first), words.len() as i64);
        let mut offset = 0;
        let piece = |(place, word): (usize, &str)| {
            let at = Timestamp(first + span / number * place as i64);
            let piece = Piece {
                discussion: self.state.id,
                step: turn.step.clone(),
                attempt,
                participant: turn.participant.clone(),
                round: turn.round,
                offset,
                text: word.to_owned(),
                hidden: if word.is_empty() { turn.text.len() } else { 0 },
            };
            offset += word.len();
            Moment { at, signal: Signal::Piece(Arc::new(piece)) }
        };
        words.into_iter().enumerate().map(piece).collect()
    }
}

/// The share of a call's time before its first word, as the denominator of a fraction.
const THINKING: i64 = 5;

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

    /// A discussion with one call that was answered after 10 s.
    fn recorded() -> Vec<Fact> {
        let (second, step) = (1_000_000, "1/answering/ann");
        let spec = serde_json::json!({
            "topic": "Tabs?", "pattern": "synthesis", "rounds": 1,
            "participants": [{ "name": "ann", "provider": "ann", "role": "speaker", "weight": 1.0 }],
            "consensus": { "method": "synthesis", "include_dissent": true }, "settings": {},
            "window": { "strategy": "slide", "overflow": "truncate" },
            "manner": { "temperature": 0.7, "max_tokens": 2048 },
            "timing": { "step_ms": 60_000, "total_ms": 300_000, "reserve_ms": 10_000 },
            "tolerance": { "go_on": true, "min_providers": 2 }, "limits": {},
        });
        let placed = serde_json::json!({
            "seq": 2, "at": second, "active_ms": 0, "type": "call_placed", "step": step, "attempt": 2,
            "participant": "ann", "provider": "ann", "nonce": "0",
            "reserved": { "calls": 1, "tokens": 0, "usd": 0 },
        });
        let turn = serde_json::json!({
            "step": step, "participant": "ann", "round": 1, "phase": "answering", "text": "Tabs it is, friends",
            "started_at": second, "duration_ms": 10_000, "finish": "stop",
            "bill": { "usage": { "prompt": 1, "completion": 4 } },
        });
        let opened = serde_json::json!({ "seq": 1, "at": 0, "active_ms": 0, "type": "opened", "spec": spec, "flow": 2 });
        let done = serde_json::json!({
            "seq": 3, "at": 11 * second, "active_ms": 0, "type": "turn_completed", "step": step, "turn": turn,
        });
        [opened, placed, done].map(|it| serde_json::from_value(it).unwrap()).to_vec()
    }

    #[test]
    fn a_replay_types_out_what_was_streamed() {
        let (id, facts) = (DiscussionId::fresh(), recorded());
        let typist = State::of(id, &facts).map(Typist::of);
        let told = |moments: Vec<Moment>| -> Vec<(f64, String)> {
            let text = |it: &Moment| match &it.signal {
                Signal::Piece(piece) => format!("{}@{} {}", piece.attempt, piece.offset, piece.text),
                Signal::Fact { fact, .. } => format!("fact {}", fact.seq.0),
                Signal::Trouble(_) => String::new(),
            };
            moments.iter().map(|it| (it.at.0 as f64 / 1e6, text(it))).collect()
        };
        let expected = [
            (0.0, "fact 1"),
            (1.0, "fact 2"),
            (3.0, "2@0 Tabs "),
            (5.0, "2@5 it "),
            (7.0, "2@8 is, "),
            (9.0, "2@12 friends"),
            (11.0, "fact 3"),
        ];
        let expected: Vec<(f64, String)> = expected.map(|(at, text)| (at, text.to_owned())).to_vec();
        assert_eq!(told(moments_of(id, facts.clone(), typist)), expected);
        assert_eq!(told(moments_of(id, facts, None)).len(), 3);
    }
}
