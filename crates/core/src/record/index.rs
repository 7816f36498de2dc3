//! An index of a discussion's facts by step, for replay.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    call::retry::Failures,
    model::{
        error::ErrorClass,
        event::{Event, Fact, FailedTurn, Retried, RetryPoint},
        id::Step,
        transcript::Turn,
    },
};

/// The facts that a replay looks up.
#[derive(Default)]
pub(super) struct Index {
    pub(super) settled: HashMap<Step, Settled>,
    pub(super) past: HashMap<Step, Past>,
    pub(super) subs: HashMap<Step, Arc<Turn>>,
    pub(super) closed: HashMap<Step, Vec<String>>,
    pub(super) marks: HashSet<Step>,
    /// The steps recorded since the talk ended; `None` while it goes on.
    since_halt: Option<Vec<Step>>,
    /// The participants of the first panel.
    seated: Vec<String>,
    /// The turns that failed for good, and where. A first answer's step doesn't say where.
    failed: Vec<FailedAt>,
    /// The retries so far, in order.
    retries: Vec<(RetryPoint, Vec<String>)>,
}

/// A turn that failed for good.
struct FailedAt {
    step: Step,
    participant: String,
    round: u32,
    phase: String,
}

/// How a step ended.
#[derive(Clone)]
pub(crate) enum Settled {
    Turn(Arc<Turn>),
    Failed,
}

/// The attempts made at a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Past {
    pub(crate) attempts: u32,
    pub(crate) failures: Failures,
    /// Whether the last attempt was under way when the process ended.
    pub(crate) cut_off: bool,
    /// The active time at which the next attempt may be made, after a failure, and how long that
    /// was to wait. Active time is monotonic, and the same on every machine.
    pub(crate) not_before: Option<(u64, u64)>,
    /// Whether that is because of the provider's rate limit, which applies to every discussion.
    pub(crate) limited: bool,
}

impl Index {
    pub(super) fn add(&mut self, fact: &Fact) {
        if fact.event.halts() {
            self.since_halt.get_or_insert_default();
        }
        match &fact.event {
            Event::PanelSeated { seated, .. } => self.seated.clone_from(seated),
            Event::Retried(retried) => self.retry(retried),
            _ => {}
        }
        let Some(step) = &fact.step else { return };
        self.since_halt.iter_mut().for_each(|since| since.push(step.clone()));
        match &fact.event {
            Event::CallPlaced(placed) => {
                let past = self.past.entry(step.clone()).or_default();
                (past.attempts, past.cut_off, past.not_before) = (placed.attempt, true, None);
            }
            Event::CallFailed { class, only_thoughts, retry_in_ms, .. } => {
                let past = self.past.entry(step.clone()).or_default();
                past.failures.count(*class);
                if *only_thoughts {
                    past.failures.count_only_thoughts();
                }
                past.cut_off = false;
                past.not_before = retry_in_ms.map(|ms| (fact.active_ms + ms, ms));
                past.limited = *class == ErrorClass::RateLimit;
            }
            Event::CallAbandoned { .. } => self.past.entry(step.clone()).or_default().cut_off = false,
            Event::TurnCompleted { turn } => {
                drop(self.settled.insert(step.clone(), Settled::Turn(turn.clone())));
            }
            Event::TurnFailed(failed) => {
                let FailedTurn { participant, round, phase, .. } = failed.clone();
                self.failed.push(FailedAt { step: step.clone(), participant, round, phase });
                drop(self.settled.insert(step.clone(), Settled::Failed));
            }
            Event::SubRequested { turn, .. } => drop(self.subs.insert(step.clone(), turn.clone())),
            Event::GroupClosed { taken, .. } => drop(self.closed.insert(step.clone(), taken.clone())),
            _ => drop(self.marks.insert(step.clone())),
        }
    }

    /// Forgets what a retry replaces: everything since the talk ended, and the failures of the
    /// participants that are asked again. The numbers of their attempts go on.
    fn retry(&mut self, retried: &Retried) {
        let since = self.since_halt.take().unwrap_or_default();
        let Some(from) = &retried.from else { return };
        since.iter().for_each(|step| self.forget(step));
        let is_back =
            |it: &FailedAt| from.is_at(it.round, &it.phase) && retried.reseated.contains(&it.participant);
        let (again, rest): (Vec<FailedAt>, _) = self.failed.drain(..).partition(is_back);
        self.failed = rest;
        again.iter().for_each(|it| self.forget(&it.step));
        self.retries.push((from.clone(), retried.reseated.clone()));
    }

    fn forget(&mut self, step: &Step) {
        self.settled.remove(step);
        self.subs.remove(step);
        self.closed.remove(step);
        self.marks.remove(step);
        if let Some(past) = self.past.get_mut(step) {
            *past = Past { attempts: past.attempts, ..Past::default() };
        }
    }

    /// The participants that take part again from this phase on, by the retry with this number.
    pub(super) fn reseated(&self, retry: usize, round: u32, phase: &str) -> Option<&[String]> {
        let (_, names) = self.retries.get(retry).filter(|(from, _)| from.is_at(round, phase))?;
        Some(names)
    }

    /// The participants that came only with a retry.
    pub(super) fn latecomers(&self) -> impl Iterator<Item = &String> {
        self.retries.iter().flat_map(|(_, names)| names).filter(|it| !self.seated.contains(it))
    }
}
