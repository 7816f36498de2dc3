//! Holds one discussion of an evaluation: starts it, continues it, or finds it finished.

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    model::{
        event::Fork, lifecycle::Lifecycle, money::Usd, outcome::StoppingReason, participant::Participant,
        transcript::Turn,
    },
    registry::Snapshot,
};

use super::{Job, Running};
use crate::{Error, OrderKey, Started};

/// The result of holding a discussion.
pub(super) enum DiscussionRun {
    /// It took place.
    Took(Box<Ran>),
    /// It was not started: the budget is used up, or a person stopped the evaluation.
    NotStarted,
}

/// A discussion that took place.
pub(crate) struct Ran {
    pub(crate) job: Job,
    pub(crate) state: Snapshot,
    /// Its earlier attempts, which failed; their answers are reused.
    pub(crate) failed: Vec<Snapshot>,
    /// Whether an earlier process had finished it.
    pub(super) was_found: bool,
}

/// How often a discussion that failed is tried again, once each time the evaluation is continued.
pub(super) const MOST_ATTEMPTS: usize = 20;

/// Holds a discussion, within the budget. If it failed in an earlier process, it is held again, and
/// its answers are reused.
pub(super) async fn run_discussion(run: &Running<'_>, job: Job) -> Result<DiscussionRun, Error> {
    let spec = job.order(run.scope)?;
    let mut failed: Vec<Snapshot> = Vec::new();
    let key = loop {
        let key = job.key(run.evaluation, &spec, failed.len());
        // A finished discussion needs no room in the budget.
        let Some(state) = over(run, &key).await? else { break key };
        run.budget.settle(Usd::ZERO, state.id, state.spent.usd);
        if failure(&state).is_none() || failed.len() == MOST_ATTEMPTS {
            return Ok(DiscussionRun::Took(Box::new(Ran { job, state, failed, was_found: true })));
        }
        failed.push(state);
    };
    let Some(reserved) = run.budget.reserve(&job).await else { return Ok(DiscussionRun::NotStarted) };
    if run.is_stopped() {
        run.budget.release(reserved);
        return Ok(DiscussionRun::NotStarted);
    }
    let spec = run.budget.limited(spec, reserved);
    let fork = failed.last().and_then(last_answer).or_else(|| job.fork.clone());
    let started = match fork {
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
    run.budget.settle(reserved, state.id, state.spent.usd);
    Ok(DiscussionRun::Took(Box::new(Ran { job, state, failed, was_found })))
}

/// The fork point from which another discussion reuses all answers of this one.
fn last_answer(state: &Snapshot) -> Option<Fork> {
    let last = state.turns.last()?;
    Some(Fork { of: state.id, at: last.step.clone() })
}

/// The discussion and the reason, if it has no result that could be graded.
fn failure(state: &Snapshot) -> Option<(String, String)> {
    let outcome = state.outcome();
    let reason = match &outcome.stopping_reason {
        _ if state.lifecycle != Lifecycle::Completed => Some("it was not finished".to_owned()),
        Some(reason) if *reason == StoppingReason::BUDGET => Some("its budget was used up".to_owned()),
        Some(reason) if *reason == StoppingReason::MODEL_UNAVAILABLE => {
            Some("too few participants answered".to_owned())
        }
        Some(reason) if *reason == StoppingReason::TIMEOUT => Some("its time was up".to_owned()),
        _ => None,
    };
    let told = outcome.error.map(|it| it.message.clone());
    reason.map(|it| (state.id.to_string(), told.map_or(it.clone(), |told| format!("{it}: {told}"))))
}

/// The discussion that was started under this key, if it is over.
pub(super) async fn over(run: &Running<'_>, key: &OrderKey) -> Result<Option<Snapshot>, Error> {
    let Some(discussion) = run.scope.started_under(key).await? else { return Ok(None) };
    let state = discussion.state().await?;
    Ok(Some(state).filter(|it| it.lifecycle.is_terminal()))
}

/// The state at its end. A discussion left unfinished by another process is continued, and its
/// answers are kept.
pub(super) async fn finished(started: Started) -> Result<(Snapshot, bool), Error> {
    let Started { discussion, handle } = started;
    let handle = match handle {
        Some(handle) => handle,
        None => {
            let state = discussion.state().await?;
            if state.lifecycle.is_terminal() {
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

    /// The discussion and the reason, if it failed.
    pub(super) fn failure(&self) -> Option<(String, String)> {
        failure(&self.state)
    }

    /// The fork point from which another discussion reuses its first answers.
    pub(super) fn fork(&self) -> Option<Fork> {
        let firsts = self.first_turns();
        let last = firsts.last()?;
        Some(Fork { of: self.state.id, at: last.step.clone() })
    }

    /// The turns of its first answers, with reminders of them.
    pub(crate) fn first_turns(&self) -> Vec<&Arc<Turn>> {
        self.state.turns.iter().filter(|it| it.step.is_first()).collect()
    }

    /// The number of its own calls, without reused answers.
    pub(super) fn calls(&self) -> u64 {
        let all = self.failed.iter().chain([&self.state]).flat_map(|it| &it.turns);
        all.filter(|it| !it.reused).count() as u64
    }

    /// The answer of an earlier attempt that this turn reuses.
    pub(super) fn paid_before(&self, turn: &Turn) -> Option<&Turn> {
        let all = self.failed.iter().flat_map(|it| &it.turns);
        all.map(|it| &**it).find(|it| !it.reused && it.step == turn.step)
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
