//! The jobs of steps: what a prompt, a discussion or a tool is asked, and what became of it.

use quorum_core::{
    floor::work::{JobEnd, JobResult, ToolCall, Work},
    model::{
        error::{Code, ErrorClass, Problem},
        event::{SubConcluded, ToolUsed, WindUp},
        participant::Participant,
        spec::{Spec, Timing},
    },
    registry::Snapshot,
};
use serde_json::{Value, json};

use crate::{
    pattern::prompt::SYSTEM,
    workflow::{
        plan::{DiscussAction, PlanStep, PromptAction, ToolAction},
        report::StepError,
        template::{Markers, Scope, TooLong, fill, fill_value, in_text},
    },
};

/// How long a tool may take unless its step says otherwise.
const TOOL_MS: u64 = 60_000;

/// The time beyond the one for an answer: a check of the provider, and writing it down.
const MARGIN_MS: u64 = 15_000;

/// The code of a step that took too long.
const STEP_TIMEOUT: &str = "STEP_TIMEOUT";

/// A job that may begin, and the expressions that could not be resolved.
pub(super) type Filled = Result<(Work, Vec<String>), StepError>;

fn too_long(code: &str) -> impl Fn(TooLong) -> StepError {
    move |wrong| StepError::new(code, wrong.to_string())
}

/// The question: as written, or else the input.
fn question(
    written: Option<&str>,
    scope: &dyn Scope,
    markers: Markers,
    unresolved: &mut Vec<String>,
) -> Result<String, TooLong> {
    let filled = fill(written.unwrap_or("{{input}}"), scope, markers)?;
    unresolved.extend(filled.unresolved);
    Ok(filled.text)
}

pub(super) fn prompt(step: &PlanStep, action: &PromptAction, scope: &dyn Scope) -> Filled {
    let mut unresolved = Vec::new();
    let wrong = too_long("PROMPT_TOO_LONG");
    let topic = question(action.prompt.as_deref(), scope, Markers::Kept, &mut unresolved).map_err(&wrong)?;
    if topic.trim().is_empty() {
        return Err(StepError::new("PROMPT_MISSING", "the prompt is empty after filling"));
    }
    let mut spec = Spec { topic, ..action.spec.clone() };
    if let Some(system) = &action.system {
        let filled = fill(system, scope, Markers::Kept).map_err(&wrong)?;
        unresolved.extend(filled.unresolved);
        spec.settings.set(SYSTEM.name(), filled.text);
    }
    if let Some(ms) = step.timeout_ms {
        spec.timing = Timing { step_ms: ms, total_ms: ms + MARGIN_MS, ..spec.timing };
    }
    Ok((Work::Discussion(Box::new(spec)), unresolved))
}

pub(super) fn discuss(step: &PlanStep, action: &DiscussAction, scope: &dyn Scope) -> Filled {
    let mut unresolved = Vec::new();
    let wrong = too_long("DISCUSS_PROMPT_TOO_LONG");
    let topic =
        question(action.prompt.as_deref(), scope, Markers::Defused, &mut unresolved).map_err(&wrong)?;
    if topic.trim().is_empty() {
        return Err(StepError::new("DISCUSS_PROMPT_MISSING", "the prompt is empty after filling"));
    }
    let mut spec = Spec { topic, ..action.spec.clone() };
    if let Some(context) = &action.context {
        let filled = fill(context, scope, Markers::Defused).map_err(&wrong)?;
        unresolved.extend(filled.unresolved);
        spec.background = Some(filled.text).filter(|it| !it.trim().is_empty());
    }
    let mut filled = |text: &str| {
        let filled = fill(text, scope, Markers::Defused).map_err(&wrong)?;
        unresolved.extend(filled.unresolved);
        Ok::<String, StepError>(filled.text)
    };
    for option in &mut spec.options {
        *option = filled(option)?;
    }
    for Participant { brief, .. } in &mut spec.participants {
        if let Some(brief) = brief {
            *brief = filled(brief)?;
        }
    }
    if let Some(total_ms) = step.timeout_ms {
        let reserve_ms = spec.timing.reserve_ms.min(total_ms / 2);
        spec.timing = Timing { total_ms, reserve_ms, ..spec.timing };
    }
    Ok((Work::Discussion(Box::new(spec)), unresolved))
}

pub(super) fn tool(step: &PlanStep, action: &ToolAction, scope: &dyn Scope, again_in_forks: bool) -> Filled {
    let mut unresolved = Vec::new();
    let arguments = fill_value(&action.arguments, scope, &mut unresolved);
    let call = ToolCall {
        tool: action.tool.clone(),
        arguments: arguments.map_err(too_long("TOOL_ARGUMENTS_TOO_LONG"))?,
        timeout_ms: step.timeout_ms.unwrap_or(TOOL_MS),
        repeatable: action.repeatable,
        again_in_forks,
        retry: action.retry.clone(),
    };
    Ok((Work::Tool(call), unresolved))
}

/// What a job came to.
pub(super) struct Came {
    pub(super) output: Result<Value, StepError>,
    pub(super) from_ms: u64,
    pub(super) duration_ms: u64,
    pub(super) retry_count: u32,
    pub(super) child: Option<quorum_core::model::id::DiscussionId>,
}

/// The result of a job, read as this kind of step.
pub(super) fn came(end: JobEnd, as_prompt: bool, json: bool) -> Came {
    let from_ms = end.from_ms;
    match end.result {
        JobResult::Tool(used) => {
            let ToolUsed { output, error, attempt, took_ms, .. } = *used;
            let output = error.map_or(Ok(output), |it| Err(StepError::new(&it.code, it.message)));
            Came {
                output,
                from_ms,
                duration_ms: took_ms,
                retry_count: attempt.saturating_sub(1),
                child: None,
            }
        }
        JobResult::Discussion { end, state } => {
            let output = match &state {
                Some(state) if end.problem.is_some() && is_late(state) => Err(late(&end)),
                Some(state) if as_prompt => answered(&end, state, json),
                Some(state) => discussed(&end, state),
                None => unread(&end),
            };
            let retry_count = state.as_ref().map_or(0, |it| it.wear.retries);
            Came { output, from_ms, duration_ms: end.ran_ms, retry_count, child: end.child }
        }
    }
}

/// Whether it ended because its time was up, for all that is known.
fn is_late(state: &Snapshot) -> bool {
    let all_slow = state.failures.iter().all(|it| it.class == ErrorClass::Timeout);
    state.wound_up == Some(WindUp::Deadline) || (all_slow && !state.failures.is_empty())
}

fn late(end: &SubConcluded) -> StepError {
    let message = end.problem.as_ref().map_or("it took too long", |it| &it.message);
    StepError::new(STEP_TIMEOUT, message)
}

/// The result of a discussion whose record was removed.
fn unread(end: &SubConcluded) -> Result<Value, StepError> {
    match (&end.synthesis, &end.problem) {
        (_, Some(problem)) => Err(failed(problem)),
        (Some(text), None) => Ok(json!({ "content": text, "synthesis": text, "usage": {} })),
        (None, None) => Err(StepError::new("STEP_FAILED", "its record was removed")),
    }
}

fn answered(end: &SubConcluded, state: &Snapshot, json: bool) -> Result<Value, StepError> {
    if let Some(problem) = &end.problem {
        return Err(failed(problem));
    }
    let Some(turn) = state.turns.last() else {
        return Err(StepError::new("STEP_FAILED", "there is no answer"));
    };
    let provider = state.spec.seat(&turn.participant).map_or("", |it| it.provider.as_str());
    let usage = turn.bill.usage;
    let mut output = json!({
        "content": &*turn.text,
        "provider": provider,
        "model": turn.answered_by.clone().or_else(|| turn.model.clone()),
        "usage": {
            "promptTokens": usage.prompt,
            "completionTokens": usage.completion,
            "totalTokens": usage.total(),
        },
    });
    if json {
        let read = read_json(&turn.text).ok_or_else(|| {
            StepError::new("OUTPUT_NOT_JSON", "the answer is no JSON, which the step requires")
        })?;
        output["json"] = read;
    }
    Ok(output)
}

/// The JSON of an answer, with or without a fence around it.
fn read_json(text: &str) -> Option<Value> {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|it| it.strip_suffix("```"));
    let inner = fenced.map(|it| it.split_once('\n').map_or(it, |(_, rest)| rest));
    serde_json::from_str(inner.unwrap_or(text)).ok()
}

fn discussed(end: &SubConcluded, state: &Snapshot) -> Result<Value, StepError> {
    let outcome = state.outcome();
    if let Some(problem) = end.problem.as_ref().filter(|_| !outcome.success) {
        return Err(failed(problem));
    }
    let mut output = serde_json::to_value(&outcome)
        .map_err(|error| StepError::new("STEP_FAILED", format!("its result can't be read: {error}")))?;
    let votes = ["/consensus/votingResults/winner", "/votingResults/winner"];
    if let Some(winner) = votes.iter().find_map(|at| output.pointer(at)).cloned()
        && let Some(consensus) = output.get_mut("consensus").and_then(Value::as_object_mut)
    {
        consensus.entry("winner").or_insert(winner);
    }
    Ok(output)
}

fn failed(problem: &Problem) -> StepError {
    let code = match problem.code {
        Code::DiscussionTimeout | Code::TurnTimeout | Code::ProviderTimeout => STEP_TIMEOUT.to_owned(),
        other => other.to_string(),
    };
    StepError { code, message: problem.message.clone() }
}

/// The list that a loop goes through.
pub(super) fn items(
    written: &Value,
    scope: &dyn Scope,
    unresolved: &mut Vec<String>,
) -> Result<Vec<Value>, StepError> {
    let filled = fill_value(written, scope, unresolved).map_err(too_long("LOOP_NOT_A_LIST"))?;
    match filled {
        Value::Array(items) => Ok(items),
        Value::Object(mut fields) if fields.get("json").is_some_and(Value::is_array) => {
            match fields.remove("json") {
                Some(Value::Array(items)) => Ok(items),
                _ => Ok(Vec::new()),
            }
        }
        other => {
            let text = quorum_core::model::excerpt::in_short(in_text(&other));
            let message = format!("items must be a list, and this is {text}");
            Err(StepError::new("LOOP_NOT_A_LIST", message))
        }
    }
}
