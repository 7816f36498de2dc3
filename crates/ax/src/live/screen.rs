//! The state of the screen: a fold of the discussion's facts, of the text as it arrives, and of
//! time.

use std::sync::Arc;

use quorum::{
    Signal, Snapshot,
    model::{
        command::Command,
        event::{Event, Fact},
        flips::{RoundAgreement, agreement_by_round},
        lifecycle::Lifecycle,
        state::State,
        transcript::Turn,
    },
};

use crate::{
    live::{
        keys::Key,
        steps::{self, StepRow},
        voice::{Doing, Voice},
    },
    render::{
        progress::ProgressLines,
        scores::{self, ScoreRow},
    },
};

/// A discussion as the screen shows it. All times are milliseconds of one clock, chosen by the
/// caller.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    pub(super) state: State,
    pub(super) voices: Vec<Voice>,
    pub(super) agreement: Vec<RoundAgreement>,
    pub(super) scores: Vec<ScoreRow>,
    /// The steps of a run.
    pub(super) steps: Vec<StepRow>,
    /// Formats the events that the screen does not show.
    pub(crate) progress: ProgressLines,
    /// When the last fact arrived: active time is counted on from there.
    pub(super) heard_at: u64,
    /// The seat whose text is shown in full.
    pub(crate) focus: Option<usize>,
    /// The last line.
    pub(crate) footer: Footer,
    pub(super) keys: Keys,
}

/// What the keys control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    Discussion,
    /// Those of a discussion that another process runs.
    Watched,
    Replay,
}

/// The keys of a discussion that is paused here.
pub(crate) const PAUSED: &str = "Paused. p resumes · s concludes with what was said · q leaves it paused";

/// The content of the last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Footer {
    /// Nothing: there is no keyboard.
    Absent,
    /// How to list the keys.
    Hint,
    /// The list of keys.
    Help,
    /// A notice about the last request.
    Notice(String),
}

impl Screen {
    /// The screen of a discussion in this state.
    pub(crate) fn of(state: &Snapshot, (footer, keys): (Footer, Keys), now: u64) -> Screen {
        let (progress, state) = (ProgressLines::of(state, state.registry()), State::clone(state));
        let voices = state.spec.participants.iter().map(Voice::of).collect();
        let (agreement, scores, steps) = (Vec::new(), Vec::new(), Vec::new());
        let (heard_at, focus) = (now, None);
        let mut screen =
            Screen { voices, agreement, scores, steps, progress, heard_at, focus, footer, keys, state };
        screen.recall(now);
        screen.update_summaries();
        screen
    }

    /// Handles a signal from the engine.
    pub(crate) fn handle_signal(&mut self, signal: &Signal, now: u64) {
        self.progress.hear(signal);
        match signal {
            Signal::Fact { discussion, fact }
                if *discussion == self.state.id && self.state.seq < fact.seq =>
            {
                self.state.apply(fact);
                self.heard_at = now;
                self.follow(fact, now);
            }
            Signal::Piece(piece) if piece.discussion == self.state.id => {
                let voice = self.voices.iter_mut().find(|it| it.name == piece.participant);
                voice.into_iter().for_each(|voice| voice.receive(piece, now));
            }
            Signal::Fact { .. } | Signal::Piece(_) | Signal::Trouble(_) => {}
        }
    }

    /// Handles a key that only changes the view. The number of a seat that there isn't changes
    /// nothing.
    pub(crate) fn press(&mut self, key: Key) {
        match key {
            Key::Follow(seat) if self.voices.len() <= seat => {}
            Key::Follow(seat) if self.focus == Some(seat) => self.focus = None,
            Key::Follow(seat) => self.focus = Some(seat),
            Key::All => self.focus = None,
            Key::Help if self.footer == Footer::Help => self.footer = Footer::Hint,
            Key::Help => self.footer = Footer::Help,
            Key::Pause | Key::Stop | Key::Quit => {}
        }
    }

    /// Whether this process waits at the pause of a discussion.
    pub(super) fn is_held_here(&self) -> bool {
        self.state.lifecycle == Lifecycle::Paused && self.keys == Keys::Discussion
    }

    /// Whether the key to pause resumes the discussion. A replay has pauses of its own.
    pub(super) fn is_paused(&self) -> bool {
        let State { lifecycle, pending, .. } = &self.state;
        let is_paused = *lifecycle == Lifecycle::Paused || *pending == Some(Command::Pause);
        is_paused && self.keys != Keys::Replay
    }

    /// Whether the screen changes with every second.
    pub(crate) fn is_timed(&self) -> bool {
        self.state.lifecycle.is_active() || self.voices.iter().any(Voice::is_timed)
    }

    /// How long the discussion has been running.
    pub(super) fn active_ms(&self, now: u64) -> u64 {
        let runs = self.state.lifecycle.is_active() && self.state.lifecycle != Lifecycle::Paused;
        self.state.active_ms + if runs { now.saturating_sub(self.heard_at) } else { 0 }
    }

    /// Restores each participant's line from the record, for a discussion that has already run.
    fn recall(&mut self, now: u64) {
        let state = &self.state;
        for voice in &mut self.voices {
            let name = &voice.name;
            let absent =
                state.absent.iter().find(|it| it.participant == *name).map(|it| unavailable(&it.message));
            let failed =
                state.failures.iter().find(|it| it.participant == *name).map(|it| it.message.clone());
            let under_way = state.under_way.iter().find(|(_, it)| it.participant == *name);
            let now_on = |it: &&Arc<Turn>| it.round == state.round && Some(&it.phase) == state.phase.as_ref();
            let spoke = state.turns.iter().filter(now_on).rfind(|it| it.participant == *name);
            if let Some(why) = absent.or(failed) {
                voice.doing = Doing::Failed { why };
            } else if state.awaiting.iter().any(|it| it.participant == *name) {
                voice.doing = Doing::Awaited;
            } else if let Some((step, placed)) = under_way {
                voice.asked(Some(step), placed, now);
            } else if let Some(turn) = spoke {
                voice.spoke(turn);
            }
        }
    }

    fn follow(&mut self, fact: &Fact, now: u64) {
        match &fact.event {
            Event::PhaseEntered { .. } => self.voices.iter_mut().for_each(Voice::turn_page),
            Event::PanelSeated { absent, .. } => {
                for it in absent {
                    self.does(&it.participant, Doing::Failed { why: unavailable(&it.message) });
                }
            }
            Event::CallPlaced(placed) => {
                let voice = self.voices.iter_mut().find(|it| it.name == placed.participant);
                voice.into_iter().for_each(|it| it.asked(fact.step.as_ref(), placed, now));
            }
            Event::CallFailed { participant, class, retry_in_ms: Some(wait), .. } => {
                let voice = self.voices.iter_mut().find(|it| it.name == *participant);
                voice.into_iter().for_each(|it| it.failed(*class, now + wait));
            }
            Event::CallAbandoned { participant, .. } => self.does(participant, Doing::LetGo),
            Event::TurnCompleted { turn } => {
                let voice = self.voices.iter_mut().find(|it| it.name == turn.participant);
                voice.into_iter().for_each(|it| it.spoke(turn));
            }
            Event::TurnFailed(failed) => {
                self.does(&failed.participant, Doing::Failed { why: failed.message.clone() });
            }
            Event::SubRequested { turn, topic } => {
                self.does(&turn.participant, Doing::Convening { topic: topic.clone() });
            }
            Event::SubConcluded(end) => self.does(&end.participant, Doing::Waiting),
            Event::PersonAwaited(awaited) => self.does(&awaited.participant, Doing::Awaited),
            Event::ReplyRead { participant, reading, .. } => {
                let voice = self.voices.iter_mut().find(|it| it.name == *participant);
                voice.into_iter().for_each(|it| it.read(reading));
                self.update_summaries();
            }
            Event::RoundClosed { .. }
            | Event::Noted(_)
            | Event::ChildConvened(_)
            | Event::ToolPlaced(_)
            | Event::ToolUsed(_) => self.update_summaries(),
            _ => {}
        }
    }

    fn does(&mut self, name: &str, doing: Doing) {
        if let Some(voice) = self.voices.iter_mut().find(|it| it.name == name) {
            voice.doing = doing;
        }
    }

    fn update_summaries(&mut self) {
        self.agreement = agreement_by_round(&self.state);
        self.scores = scores::of_state(self.progress.registry(), &self.state);
        self.steps = steps::rows(&self.state);
    }
}

fn unavailable(message: &str) -> String {
    format!("not available: {message}")
}
