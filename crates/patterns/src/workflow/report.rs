//! The results of steps: as they are recorded, and as the result of the run shows them.

use std::collections::BTreeMap;

use quorum_core::{
    model::{
        error::{Code, Problem},
        id::DiscussionId,
        outcome::Decision,
        state::State,
    },
    vocabulary::{result::ResultField, view::View},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::workflow::{
    overview::overview,
    plan::{Action, Plan, PlanStep, walk},
    plan_of,
    template::in_text,
};

/// The kind of the note that records the end of a step.
pub const STEP: &str = "step";

/// The fields that a run adds to its result.
pub(super) const FIELDS: &[ResultField] = &[
    ResultField {
        name: "stepResults",
        title: "Results of the steps",
        view: View::Hidden,
        of: |state| serde_json::to_value(in_order(&plan_of(&state.spec)?, &results(state))).ok(),
    },
    ResultField {
        name: "steps",
        title: "Steps",
        view: View::Steps,
        of: |state| serde_json::to_value(overview(state)?).ok(),
    },
    ResultField { name: "workflow", title: "Workflow", view: View::Hidden, of: |state| of_run(state) },
];

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has its output.
    Done,
    /// It failed.
    Failed,
    /// It was not run.
    Skipped,
}

impl Status {
    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
        }
    }
}

/// Why a step failed or was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepError {
    /// A code for programs.
    pub code: String,
    /// What happened, as a sentence.
    pub message: String,
}

impl StepError {
    /// An error with this code.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        StepError { code: code.to_owned(), message: message.into() }
    }
}

/// The end of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepResult {
    /// The step's id.
    pub step_id: String,
    /// Its name in the run, which differs from the id inside a loop.
    pub path: String,
    /// The step's type.
    #[serde(rename = "type")]
    pub step_type: String,
    /// Whether it has its output.
    pub success: bool,
    /// How it ended.
    pub status: Status,
    /// Its output; null if it has none.
    pub output: Value,
    /// The active time of the run when it began.
    #[serde(default)]
    pub from_ms: u64,
    /// How long it took, in active time.
    pub duration_ms: u64,
    /// How many calls or attempts were repeated.
    pub retry_count: u32,
    /// The discussion it held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discussion_id: Option<DiscussionId>,
    /// Why it failed or was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
    /// The expressions whose paths were unknown, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<String>,
    /// Whether the run went on although it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continued: bool,
}

impl StepResult {
    /// Whether it ended the list that it is in.
    pub(super) fn is_fatal(&self) -> bool {
        self.status == Status::Failed && !self.continued
    }

    /// Whether steps that depend on it can't run.
    pub(super) fn blocks(&self) -> bool {
        let skipped = self.status == Status::Skipped && self.error.is_some();
        self.is_fatal() || skipped
    }

    /// The same in one line for people.
    pub(super) fn told(&self) -> String {
        let why = self.error.as_ref().map(|it| format!(": {}", it.message)).unwrap_or_default();
        match self.status {
            Status::Done => format!("{} is done after {}", self.path, seconds(self.duration_ms)),
            Status::Failed => format!("{} failed{why}", self.path),
            Status::Skipped => format!("{} is skipped{why}", self.path),
        }
    }
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}

/// The recorded results, by the steps' names in the run.
#[must_use]
pub fn results(state: &State) -> BTreeMap<String, StepResult> {
    state.noted::<StepResult>(STEP).map(|it| (it.path.clone(), it)).collect()
}

/// The results in the order of the plan; the turns of loops one after the other.
#[must_use]
pub fn in_order(plan: &Plan, results: &BTreeMap<String, StepResult>) -> Vec<StepResult> {
    let mut places = BTreeMap::new();
    walk(&plan.steps, &mut |step, _| {
        let place = places.len();
        places.insert(step.id.clone(), place);
    });
    let key = |it: &StepResult| {
        let names = it.path.split('/');
        names
            .map(|name| name.parse().unwrap_or_else(|_| places.get(name).copied().unwrap_or(0)))
            .collect::<Vec<usize>>()
    };
    let mut all: Vec<StepResult> = results.values().cloned().collect();
    all.sort_by_key(|it| (key(it), it.path.clone()));
    all
}

/// The steps of these that have an output, last first.
fn all_done<'p>(
    steps: &'p [PlanStep],
    results: &'p BTreeMap<String, StepResult>,
) -> impl Iterator<Item = (&'p PlanStep, &'p StepResult)> {
    let done = |step: &'p PlanStep| Some((step, results.get(&step.id)?));
    steps.iter().rev().filter_map(done).filter(|(_, it)| it.status == Status::Done)
}

/// The last step of these that has an output.
fn last_done<'p>(
    steps: &'p [PlanStep],
    results: &'p BTreeMap<String, StepResult>,
) -> Option<(&'p PlanStep, &'p StepResult)> {
    all_done(steps, results).next()
}

/// The text of a finished step for people.
fn text_of(step: &PlanStep, result: &StepResult, results: &BTreeMap<String, StepResult>) -> String {
    let chapter = |title: &str, value: &Value| format!("## {title}\n\n{}", in_text(value));
    match (&step.action, &result.output) {
        (Action::Conditional { then, otherwise, .. }, _) => {
            let inside = [then, otherwise].into_iter().find_map(|it| last_done(it, results));
            inside.map_or_else(String::new, |(step, result)| text_of(step, result, results))
        }
        (Action::Parallel { .. }, Value::Object(outputs)) => {
            let chapters = outputs.iter().map(|(id, output)| chapter(id, output));
            chapters.collect::<Vec<_>>().join("\n\n")
        }
        (Action::Loop { .. }, Value::Array(outputs)) => {
            let chapters =
                outputs.iter().zip(1..).map(|(output, number)| chapter(&format!("{number}"), output));
            chapters.collect::<Vec<_>>().join("\n\n")
        }
        (_, output) => in_text(output),
    }
}

/// What the run came to.
#[must_use]
pub fn decision(plan: &Plan, results: &BTreeMap<String, StepResult>) -> Decision {
    // A branch without a step has no text; then the step before it counts.
    let mut texts = all_done(&plan.steps, results).map(|(step, result)| text_of(step, result, results));
    let synthesis = texts.find(|it| !it.is_empty()).unwrap_or_default();
    let failed = failed(plan, results);
    let problem = failed.map(|it| {
        let why = it.error.as_ref().map_or("it failed", |it| &it.message);
        Problem::new(Code::StepFailed, format!("the step {} failed: {why}", it.path))
    });
    let degraded = problem.is_some();
    Decision { synthesis, problem, degraded, ..Decision::default() }
}

/// The step that ended the run: the innermost one.
fn failed<'r>(plan: &Plan, results: &'r BTreeMap<String, StepResult>) -> Option<&'r StepResult> {
    if !plan.steps.iter().any(|step| results.get(&step.id).is_some_and(StepResult::is_fatal)) {
        return None;
    }
    let fatal = || results.values().filter(|it| it.is_fatal());
    let is_leaf = |it: &&StepResult| !matches!(it.step_type.as_str(), "parallel" | "conditional" | "loop");
    fatal().filter(is_leaf).min_by_key(|it| it.from_ms + it.duration_ms).or_else(|| fatal().next())
}

/// The run as a whole.
fn of_run(state: &State) -> Option<Value> {
    let plan = plan_of(&state.spec)?;
    let results = results(state);
    let output = last_done(&plan.steps, &results).map_or(Value::Null, |(_, it)| it.output.clone());
    let mut run = Map::new();
    run.insert("workflowId".to_owned(), json!(plan.workflow));
    run.insert("version".to_owned(), json!(plan.version));
    run.insert("output".to_owned(), output);
    let mut unresolved: Vec<String> = Vec::new();
    for written in in_order(&plan, &results).into_iter().flat_map(|it| it.unresolved) {
        if !unresolved.contains(&written) {
            unresolved.push(written);
        }
    }
    run.insert("unresolved".to_owned(), json!(unresolved));
    if let Some(failed) = failed(&plan, &results) {
        let error = failed.error.as_ref();
        run.insert(
            "error".to_owned(),
            json!({
                "code": error.map_or("STEP_FAILED", |it| &it.code),
                "message": error.map_or("", |it| &it.message),
                "failedStepId": failed.step_id,
            }),
        );
    }
    Some(Value::Object(run))
}
