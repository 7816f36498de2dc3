//! Retries after an error: whether one can help, which participants take part again, and what of
//! the record is replaced.

use std::collections::BTreeMap;

use super::State;
use crate::model::{
    error::{Code, ErrorClass, Problem},
    event::{Fact, FailedTurn, Retried, RetryPoint, TalkEnd, WindUp},
    outcome::StoppingReason,
    phase::DECIDING,
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
        let from = self.decisive_failure();
        let from = from.map(|it| RetryPoint { round: it.round, phase: it.phase.clone() });
        let kept = self.halted.as_ref().map_or(self.turns.len(), |it| it.turns) as u32;
        Retried { reseated, kept, from }
    }

    /// The failure that a retry goes back to: if the talk ended for want of participants, the last
    /// of the talk, even if others failed when deciding on what there was.
    fn decisive_failure(&self) -> Option<&FailedTurn> {
        let is_of_talk = |it: &&FailedTurn| it.phase != DECIDING;
        let of_talk = self.failures.iter().rfind(is_of_talk).filter(|_| self.talk_lost_participants());
        of_talk.or(self.failures.last())
    }

    /// Whether the talk ended because too few participants were left.
    fn talk_lost_participants(&self) -> bool {
        self.wound_up.as_ref().is_some_and(WindUp::is_loss) || self.lost_its_sides().is_some()
    }

    /// The end of a talk that the pattern itself ended because too few were left.
    pub(crate) fn lost_its_sides(&self) -> Option<&TalkEnd> {
        self.ended.as_ref().filter(|it| it.stopping == StoppingReason::MODEL_UNAVAILABLE)
    }

    /// Whether this problem is due to participants that were lost.
    pub(crate) fn is_due_to_losses(&self, problem: &Problem) -> bool {
        match &self.wound_up {
            Some(reason) => reason.is_loss(),
            None if self.lost_its_sides().is_some() => true,
            None => {
                let lost_deciding = self.failures.iter().any(|it| it.phase == DECIDING);
                problem.code == Code::SynthesisFailed && lost_deciding
            }
        }
    }

    /// The problem, worth a retry only if that could bring back the participants that were lost:
    /// the one it names, otherwise as many as are needed.
    pub(crate) fn weighed(&self, problem: &Problem) -> Problem {
        let retryable = problem.retryable && self.can_be_mended(problem);
        Problem { retryable, ..problem.clone() }
    }

    fn can_be_mended(&self, problem: &Problem) -> bool {
        let lost: BTreeMap<&str, ErrorClass> = self.lost().collect();
        if let Some(class) = problem.participant.as_deref().and_then(|name| lost.get(name)) {
            return class.is_transient();
        }
        let for_good = lost.values().filter(|it| !it.is_transient()).count();
        let needed = self.spec.tolerance.min_providers.max(1) as usize;
        let are_enough = needed <= self.spec.participants.len().saturating_sub(for_good);
        are_enough && (for_good < lost.len() || lost.is_empty() || !self.is_due_to_losses(problem))
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
