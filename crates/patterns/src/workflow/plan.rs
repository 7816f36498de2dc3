//! The plan of a run: a workflow that was checked, with its input. It is recorded when the run is
//! opened, so that a later change of the file changes nothing.

use quorum_core::model::{retry_policy::RetryPolicy, spec::Spec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A checked workflow and its input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The workflow's id.
    pub workflow: String,
    /// Its version.
    pub version: String,
    /// Its name for people.
    pub name: String,
    /// The steps in their order.
    pub steps: Vec<PlanStep>,
    /// What the run is given.
    pub input: Value,
    /// Values by name, for `{{name}}`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
    /// How many prompts, discussions and tools may be under way at once.
    pub concurrency: usize,
    /// Whether a fork may use tools again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rerun_tools: bool,
    /// The run that a fork continues from: `run.id` and `run.startedAt` stay as they were there, so
    /// that equal steps stay equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_run: Option<FirstRun>,
}

/// The first of a line of forks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstRun {
    /// Its id.
    pub id: String,
    /// When it was started.
    pub started_at: String,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Its id, unique in the workflow.
    pub id: String,
    /// The step's type, as the file calls it.
    #[serde(rename = "type")]
    pub step_type: String,
    /// The steps in the same list that must be over first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The time limit in active time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether the run continues without this step's output if the step fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
    /// What it does.
    pub action: Action,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Action {
    /// Asks one voice.
    Prompt(Box<PromptAction>),
    /// Holds a discussion.
    Discuss(Box<DiscussAction>),
    /// Uses a tool.
    Tool(ToolAction),
    /// Runs steps at once.
    Parallel {
        /// The steps.
        steps: Vec<PlanStep>,
        /// Whether one success is enough.
        fail_safe: bool,
    },
    /// Runs one of two lists of steps.
    Conditional {
        /// The condition.
        condition: String,
        /// The steps if it is true.
        then: Vec<PlanStep>,
        /// The steps if it is false.
        otherwise: Vec<PlanStep>,
    },
    /// Runs steps again and again.
    Loop {
        /// What it iterates over.
        over: Turns,
        /// The steps of an iteration.
        steps: Vec<PlanStep>,
        /// The maximum number of iterations.
        most: usize,
        /// How many iterations run at once.
        concurrency: usize,
    },
}

/// A question to one voice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptAction {
    /// The question, with expressions; `None` for the text of the input.
    pub prompt: Option<String>,
    /// The system text, with expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Whether the answer must be JSON.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub json: bool,
    /// Everything else; its topic and system text are filled in at the step.
    pub spec: Spec,
}

/// A discussion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiscussAction {
    /// The question, with expressions; `None` for the text of the input.
    pub prompt: Option<String>,
    /// The background, with expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Everything else; its topic, background, options and briefs are filled in at the step.
    pub spec: Spec,
}

/// The use of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolAction {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, with expressions in every string.
    pub arguments: Value,
    /// Whether it may be used again after a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeatable: bool,
    /// How often it is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
}

/// What a loop iterates over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Turns {
    /// The items of a list, or of an expression's value.
    Items(Value),
    /// Iterations as long as a condition is true.
    While(String),
}

impl Action {
    /// The lists of steps inside this one.
    #[must_use]
    pub fn inside(&self) -> Vec<&[PlanStep]> {
        match self {
            Action::Prompt(_) | Action::Discuss(_) | Action::Tool(_) => Vec::new(),
            Action::Parallel { steps, .. } | Action::Loop { steps, .. } => vec![steps],
            Action::Conditional { then, otherwise, .. } => vec![then, otherwise],
        }
    }
}

/// Every step of these lists, with the loops around it, outermost first.
pub fn walk<'p>(steps: &'p [PlanStep], seen: &mut dyn FnMut(&'p PlanStep, &[&'p str])) {
    fn within<'p>(
        steps: &'p [PlanStep],
        loops: &mut Vec<&'p str>,
        seen: &mut dyn FnMut(&'p PlanStep, &[&'p str]),
    ) {
        for step in steps {
            seen(step, loops);
            let is_loop = matches!(step.action, Action::Loop { .. });
            if is_loop {
                loops.push(&step.id);
            }
            step.action.inside().into_iter().for_each(|inside| within(inside, loops, seen));
            if is_loop {
                loops.pop();
            }
        }
    }
    within(steps, &mut Vec::new(), seen);
}
