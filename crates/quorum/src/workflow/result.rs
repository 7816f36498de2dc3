//! The result of a run, with the origin's names.

use quorum_core::model::id::DiscussionId;
use quorum_patterns::workflow::{
    plan_of,
    report::{StepResult, in_order, results},
};
use serde::Serialize;
use serde_json::Value;

use crate::Snapshot;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// The run's id.
    pub run_id: DiscussionId,
    /// The workflow's id.
    pub workflow_id: String,
    /// Its version.
    pub version: String,
    /// The lifecycle state.
    pub status: String,
    /// Whether every step that mattered has its output.
    pub success: bool,
    /// The steps that are over, in the order of the plan.
    pub step_results: Vec<StepResult>,
    /// The output of the last finished step.
    pub output: Value,
    /// The expressions whose paths were unknown, as written.
    pub unresolved: Vec<String>,
    /// Why the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunProblem>,
    /// How long it ran, in active time.
    pub total_duration_ms: u64,
    /// What it used.
    pub cost_summary: CostSummary,
    /// Whether the voices were simulated.
    pub simulated: bool,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunProblem {
    /// The error code.
    pub code: String,
    /// What happened.
    pub message: String,
    /// The step that failed, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_step_id: Option<String>,
}

/// What a run used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CostSummary {
    /// Calls to providers.
    pub total_calls: u32,
    /// Tokens, in and out.
    pub total_tokens: u64,
    /// The cost in USD, as far as prices are known.
    pub estimated_cost_usd: f64,
}

impl RunResult {
    /// The result of this run so far; `None` if it is not a run of a workflow.
    #[must_use]
    pub fn of(state: &Snapshot) -> Option<RunResult> {
        let plan = plan_of(&state.spec)?;
        let outcome = state.outcome();
        let run = outcome.fields.get("workflow").cloned().unwrap_or(Value::Null);
        let text = |name: &str| run.pointer(name).and_then(Value::as_str).map(str::to_owned);
        let problem = outcome.error.as_ref().map(|it| RunProblem {
            code: text("/error/code").unwrap_or_else(|| it.code.to_string()),
            message: text("/error/message").unwrap_or_else(|| it.message.clone()),
            failed_step_id: text("/error/failedStepId"),
        });
        let unresolved = run.get("unresolved").cloned().unwrap_or(Value::Null);
        Some(RunResult {
            run_id: state.id,
            workflow_id: plan.workflow.clone(),
            version: plan.version.clone(),
            status: state.lifecycle.name().to_owned(),
            success: outcome.success,
            step_results: in_order(&plan, &results(state)),
            output: run.get("output").cloned().unwrap_or(Value::Null),
            unresolved: serde_json::from_value(unresolved).unwrap_or_default(),
            error: problem,
            total_duration_ms: outcome.total_duration_ms,
            cost_summary: CostSummary {
                total_calls: state.spent.calls,
                total_tokens: state.spent.tokens,
                estimated_cost_usd: state.spent.usd.dollars(),
            },
            simulated: outcome.simulated,
        })
    }
}
