//! Holds one discussion of an evaluation: starts it, continues it, or finds it finished.

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    model::{
        event::Fork, lifecycle::Lifecycle, outcome::StoppingReason, participant::Participant, spec::Spec,
        transcript::Turn,
    },
    registry::Snapshot,
};

use super::{Job, Running};
use crate::{Error, Started};

/// What became of a discussion.
pub(super) enum Held {
    /// It took place.
    Took(Box<Ran>),
    /// It was not started: the budget is used up, or a person stopped the evaluation.
    NotStarted,
}

/// A discussion that took place.
pub(crate) struct Ran {
    pub(crate) job: Job,
    pub(crate) state: Snapshot,
    /// Whether an earlier process had finished it.
    pub(super) was_found: bool,
}

/// Holds a discussion, within the budget.
pub(super) async fn held(run: &Running<'_>, job: Job) -> Result<Held, Error> {
    let (spec, key) = job.order(run.evaluation, run.scope)?;
    let spec = Spec { graded: job.is_open, ..spec };
    let Some(reserved) = run.budget.reserve(&job) else { return Ok(Held::NotStarted) };
    let spec = run.budget.limited(spec, reserved);
    let started = match job.fork.clone() {
        Some(fork) => run.scope.branch_once(fork, spec, &key).await,
        None => run.scope.start_once(spec, Some(&key)).await,
    };
    let finished = match started {
        Ok(started) => finished(started).await,
        Err(error) => Err(error),
    };
    let (state, was_found) = match finished {
        Ok(finished) => finished,
        Err(error) => {
            run.budget.release(reserved);
            return Err(error);
        }
    };
    run.budget.settle(reserved, state.spent.usd);
    Ok(Held::Took(Box::new(Ran { job, state, was_found })))
}

/// The state at its end. One that failed, or that a process left behind, is continued; what was
/// answered in it is not asked again.
async fn finished(started: Started) -> Result<(Snapshot, bool), Error> {
    let Started { discussion, handle } = started;
    let handle = match handle {
        Some(handle) => handle,
        None => {
            let state = discussion.state().await?;
            if matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted) {
                return Ok((state, true));
            }
            discussion.resume_here().await?
        }
    };
    match handle.finished().await? {
        Finished::Over(state) | Finished::Waiting(state) => Ok((state, false)),
    }
}

impl Ran {
    /// Whether it has no result that could be graded.
    pub(super) fn has_failed(&self) -> bool {
        self.failure().is_some()
    }

    /// The topic and the reason, if it failed.
    pub(super) fn failure(&self) -> Option<(String, String)> {
        let outcome = self.state.outcome();
        let reason = match &outcome.stopping_reason {
            _ if self.state.lifecycle != Lifecycle::Completed => Some("it was not finished".to_owned()),
            Some(reason) if *reason == StoppingReason::BUDGET => Some("its budget was used up".to_owned()),
            Some(reason) if *reason == StoppingReason::MODEL_UNAVAILABLE => {
                Some("too few participants answered".to_owned())
            }
            Some(reason) if *reason == StoppingReason::TIMEOUT => Some("its time was up".to_owned()),
            _ => None,
        };
        let told = outcome.error.map(|it| it.message.clone());
        reason.map(|it| (self.state.id.to_string(), told.map_or(it.clone(), |told| format!("{it}: {told}"))))
    }

    /// Where another discussion takes over its first answers.
    pub(super) fn fork(&self) -> Option<Fork> {
        let firsts = self.first_turns();
        let last = firsts.last()?;
        Some(Fork { of: self.state.id, at: last.step.clone() })
    }

    /// The turns of its first answers, with reminders of them.
    pub(crate) fn first_turns(&self) -> Vec<&Arc<Turn>> {
        self.state.turns.iter().filter(|it| it.step.is_first()).collect()
    }

    /// Calls that were made for it, and not taken over.
    pub(super) fn calls(&self) -> u64 {
        self.state.turns.iter().filter(|it| !it.reused).count() as u64
    }

    /// A seat's voice as a request names it: `claude`, or `claude/MODEL`.
    pub(super) fn written(&self, name: &str) -> String {
        let seat = self.state.spec.participants.iter().find(|it| it.name == name);
        match seat.map(|it| (&it.provider, &it.model)) {
            Some((provider, Some(model))) => format!("{provider}/{model}"),
            Some((provider, None)) => provider.clone(),
            None => name.to_owned(),
        }
    }

    /// The number of models on its panel.
    pub(super) fn voices(&self) -> usize {
        self.state.spec.participants.iter().filter(|it| !Participant::is_person(it)).count()
    }
}
