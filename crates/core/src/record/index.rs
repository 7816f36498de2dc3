//! An index of a discussion's facts by step, for replay.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use crate::{
    call::retry::Failures,
    model::{
        error::ErrorClass,
        event::{Event, Fact},
        id::Step,
        time::Timestamp,
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
    /// When the next attempt may be made, after a failure.
    pub(crate) not_before: Option<Timestamp>,
    /// Whether that is because of the provider's rate limit, which applies to every discussion.
    pub(crate) limited: bool,
}

impl Index {
    pub(super) fn add(&mut self, fact: &Fact) {
        let Some(step) = &fact.step else { return };
        match &fact.event {
            Event::CallPlaced(placed) => {
                let past = self.past.entry(step.clone()).or_default();
                (past.attempts, past.cut_off, past.not_before) = (placed.attempt, true, None);
            }
            Event::CallFailed { class, retry_in_ms, .. } => {
                let past = self.past.entry(step.clone()).or_default();
                past.failures.count(*class);
                past.cut_off = false;
                past.not_before = retry_in_ms.map(|ms| fact.at.plus_ms(ms));
                past.limited = *class == ErrorClass::RateLimit;
            }
            Event::CallAbandoned { .. } => self.past.entry(step.clone()).or_default().cut_off = false,
            Event::TurnCompleted { turn } => {
                drop(self.settled.insert(step.clone(), Settled::Turn(turn.clone())));
            }
            Event::TurnFailed(_) => drop(self.settled.insert(step.clone(), Settled::Failed)),
            Event::SubRequested { turn, .. } => drop(self.subs.insert(step.clone(), turn.clone())),
            Event::GroupClosed { taken, .. } => drop(self.closed.insert(step.clone(), taken.clone())),
            _ => drop(self.marks.insert(step.clone())),
        }
    }
}
