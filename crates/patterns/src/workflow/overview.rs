//! All steps of a run with their states at this moment: what exports, the page without scripts and
//! the terminal draw. Steps that wait are included, which have no result yet.

use std::collections::BTreeMap;

use quorum_core::model::{
    id::{DiscussionId, Step},
    state::State,
};
use serde::Serialize;

use crate::workflow::{
    plan::{Action, PlanStep},
    plan_of,
    report::{StepResult, results},
};

/// A step and its state.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepState {
    /// The step's id.
    pub step_id: String,
    /// Its name in the run, which differs from the id inside a loop.
    pub path: String,
    /// The step's type.
    #[serde(rename = "type")]
    pub step_type: String,
    /// `waiting`, `running`, `done`, `failed` or `skipped`; in a run that is over, also `not
    /// reached`.
    pub status: &'static str,
    /// The ids of the steps beside it that it waits for.
    pub after: Vec<String>,
    /// How long it took, if it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The discussion it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discussion_id: Option<DiscussionId>,
    /// Why it failed or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The turns of the loop around it that were begun, each with the state of this step there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<StepState>,
    /// The steps inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<Inside>,
}

/// A list of steps inside a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inside {
    /// What distinguishes it from the other list of the step: `then`, `else`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'static str>,
    /// The steps.
    pub steps: Vec<StepState>,
}

/// The state of every step of a run; `None` if it is no run.
#[must_use]
pub fn overview(state: &State) -> Option<Vec<StepState>> {
    let plan = plan_of(&state.spec)?;
    let overview = Overview { state, results: results(state) };
    let mut steps = overview.list(&plan.steps, "");
    if state.lifecycle.is_terminal() {
        steps.iter_mut().for_each(end);
    }
    Some(steps)
}

/// In a run that is over, a step without a result was not reached or was cut off.
fn end(step: &mut StepState) {
    if matches!(step.status, "waiting" | "running") {
        step.status = "not reached";
    }
    step.turns.iter_mut().for_each(end);
    step.inside.iter_mut().flat_map(|it| &mut it.steps).for_each(end);
}

struct Overview<'s> {
    state: &'s State,
    results: BTreeMap<String, StepResult>,
}

impl Overview<'_> {
    /// The steps of a list whose names in the run begin with this prefix.
    fn list(&self, steps: &[PlanStep], prefix: &str) -> Vec<StepState> {
        steps.iter().map(|it| self.step(it, prefix)).collect()
    }

    fn step(&self, step: &PlanStep, prefix: &str) -> StepState {
        let path = format!("{prefix}{}", step.id);
        let inside = match &step.action {
            Action::Prompt(_) | Action::Discuss(_) | Action::Tool(_) => Vec::new(),
            Action::Parallel { steps, .. } => vec![Inside { label: None, steps: self.list(steps, prefix) }],
            Action::Conditional { then, otherwise, .. } => [("then", then), ("else", otherwise)]
                .into_iter()
                .filter(|(_, steps)| !steps.is_empty())
                .map(|(label, steps)| Inside { label: Some(label), steps: self.list(steps, prefix) })
                .collect(),
            Action::Loop { steps, .. } => vec![Inside { label: None, steps: self.turned(steps, &path) }],
        };
        let result = self.results.get(&path);
        StepState {
            step_id: step.id.clone(),
            step_type: step.step_type.clone(),
            status: result.map_or_else(|| self.open(&path, &inside), |it| it.status.name()),
            after: step.after.clone(),
            duration_ms: result.map(|it| it.duration_ms),
            discussion_id: result.and_then(|it| it.discussion_id).or_else(|| self.under_way(&path)),
            error: result.and_then(|it| Some(it.error.as_ref()?.message.clone())),
            turns: Vec::new(),
            inside,
            path,
        }
    }

    /// The steps of a loop: each with its turns, and a state over all of them.
    fn turned(&self, steps: &[PlanStep], around: &str) -> Vec<StepState> {
        let turns = self.turns(around);
        let each = |step: &PlanStep| {
            let prefix = |turn: usize| format!("{around}/{turn}/");
            let turns: Vec<StepState> = (0..turns).map(|turn| self.step(step, &prefix(turn))).collect();
            let mut whole = self.step(step, &format!("{around}/*/"));
            whole.status = over_all(&turns, self.results.contains_key(around));
            StepState { turns, ..whole }
        };
        steps.iter().map(each).collect()
    }

    /// How many turns of this loop were begun.
    fn turns(&self, around: &str) -> usize {
        let jobs = self.state.subs.keys().chain(self.state.tools.keys()).filter_map(Step::job_name);
        let names = self.results.keys().map(String::as_str).chain(jobs);
        let turn = |name: &str| {
            let rest = name.strip_prefix(around)?.strip_prefix('/')?;
            rest.split('/').next()?.parse::<usize>().ok()
        };
        names.filter_map(turn).max().map_or(0, |last| last + 1)
    }

    /// The state of a step without a result.
    fn open(&self, path: &str, inside: &[Inside]) -> &'static str {
        let step = Step::job(path);
        let is_begun = self.state.subs.contains_key(&step) || self.state.tools.contains_key(&step);
        let mut below = inside.iter().flat_map(|it| &it.steps);
        let is_active = below.any(|it| matches!(it.status, "running" | "done" | "failed"));
        if is_begun || is_active { "running" } else { "waiting" }
    }

    /// The discussion of a step that is not over yet.
    fn under_way(&self, path: &str) -> Option<DiscussionId> {
        let step = Step::job(path);
        self.state.subs.contains_key(&step).then(|| self.state.id.derived(step.as_str()))
    }
}

/// The state of a step in a loop over all its turns.
fn over_all(turns: &[StepState], is_over: bool) -> &'static str {
    let any = |status: &str| turns.iter().any(|it| it.status == status);
    match () {
        () if any("failed") => "failed",
        () if any("running") => "running",
        () if is_over && any("done") => "done",
        () if is_over => "skipped",
        () if any("done") => "running",
        () => "waiting",
    }
}
