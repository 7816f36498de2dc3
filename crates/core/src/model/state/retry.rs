//! Retries after an error: which participants take part again, and what of the record is replaced.

use super::State;
use crate::model::{
    error::ErrorClass,
    event::{Fact, Retried, RetryPoint, TalkEnd},
};

/// How much had been recorded when the talk ended. A retry drops what came after: a decision on
/// less than the whole talk. What it cost stays counted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Halted {
    turns: usize,
    readings: usize,
    unread: usize,
    noted: usize,
    ruled: usize,
    ended: Option<TalkEnd>,
}

impl State {
    /// Notes how much is recorded when the talk ends.
    pub(super) fn note_halt(&mut self, fact: &Fact) {
        if self.halted.is_none() && fact.event.halts() {
            self.halted = Some(Halted {
                turns: self.turns.len(),
                readings: self.readings.len(),
                unread: self.unread.len(),
                noted: self.noted.len(),
                ruled: self.ruled.len(),
                ended: self.ended.clone(),
            });
        }
    }

    /// The retry of a discussion that ended in an error.
    pub(crate) fn retry(&self) -> Retried {
        // A discussion that failed in another way goes on where it stood.
        if self.conclusion.is_none() {
            return Retried::default();
        }
        let lost: Vec<&str> = self.lost().filter(|it| it.1.is_transient()).map(|it| it.0).collect();
        let seats = self.spec.participants.iter().map(|it| it.name.clone());
        let reseated = seats.filter(|name| lost.contains(&name.as_str())).collect();
        let from = self.failures.last().map(|it| RetryPoint { round: it.round, phase: it.phase.clone() });
        let kept = self.halted.as_ref().map_or(self.turns.len(), |it| it.turns) as u32;
        Retried { reseated, kept, from }
    }

    /// The participants that are missing, each with the class of its error.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (&str, ErrorClass)> {
        let absent = self.absent.iter().map(|it| (it.participant.as_str(), it.class));
        absent.chain(self.failures.iter().map(|it| (it.participant.as_str(), it.class)))
    }

    pub(super) fn apply_retried(&mut self, retried: &Retried) {
        self.failed = None;
        let Some(seated) = &mut self.seated else {
            // No participant was seated, so all are checked again.
            self.absent.clear();
            return;
        };
        let halted = self.halted.take();
        if retried.from.is_none() {
            return;
        }
        let seats = self.spec.participants.iter().map(|it| &it.name);
        let is_back = |name: &String| retried.reseated.contains(name);
        *seated = seats.filter(|it| seated.contains(it) || is_back(it)).cloned().collect();
        self.absent.retain(|it| !is_back(&it.participant));
        self.failures.retain(|it| !is_back(&it.participant));
        (self.wound_up, self.decision, self.conclusion) = (None, None, None);
        if let Some(halted) = halted {
            self.turns.truncate(halted.turns);
            self.readings.truncate(halted.readings);
            self.unread.truncate(halted.unread);
            self.noted.truncate(halted.noted);
            self.ruled.truncate(halted.ruled);
            self.ended = halted.ended;
        }
    }
}
