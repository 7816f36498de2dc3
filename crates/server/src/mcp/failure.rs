//! Errors of tools: a code, a sentence, and all mistakes of the input at once.

use quorum::{Complaint, Error, Remedy};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::{
    mcp::{ListedTool, arguments::Mistake, tools::Form},
    problem::{self, Problem},
};

/// The code of input that a tool does not take.
pub(crate) const INVALID_INPUT: &str = "INVALID_INPUT";
const NOT_FOUND: &str = "NOT_FOUND";

/// An error that the caller of a tool is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    /// What is wrong with the arguments, field by field.
    mistakes: Vec<String>,
    retry_after_ms: Option<u64>,
}

impl Failure {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Failure { code, message, mistakes: Vec::new(), retry_after_ms: None }
    }

    /// The same words whether an id is malformed, unknown or another tenant's.
    pub(crate) fn no_such_discussion() -> Self {
        Failure::new(NOT_FOUND, "there is no discussion with this id")
    }

    /// All mistakes in the arguments.
    pub(crate) fn mistakes(mistakes: &[Mistake]) -> Self {
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Failure::invalid(told.join("; "), told)
    }

    /// The failure of an order or a command, in which fields have the names that the tool gives
    /// them.
    pub(crate) fn renamed(error: impl Into<Problem>, names: &[(&str, &str)]) -> Self {
        Failure::from(error.into().renamed(names))
    }

    fn invalid(message: impl Into<String>, mistakes: Vec<String>) -> Self {
        Failure { mistakes, ..Failure::new(INVALID_INPUT, message) }
    }

    /// The result that reports it.
    pub(crate) fn result(&self, listed: &ListedTool) -> CallToolResult {
        let mut told = json!({ "code": self.code, "message": self.message, "tool": listed.name });
        if self.code == INVALID_INPUT {
            told["details"] = json!({ "validationErrors": self.mistakes });
        }
        if let Some(ms) = self.retry_after_ms {
            told["retryAfterMs"] = json!(ms);
        }
        let mut result = CallToolResult::structured_error(told);
        if listed.tool.form == Form::Text {
            result.content = vec![ContentBlock::text(format!("Error: {}", self.message))];
        }
        result
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::from(Problem::from(match error {
            Error::Refused(complaints) => Error::Refused(complaints.into_iter().map(for_tools).collect()),
            other => other,
        }))
    }
}

/// The complaint without remedies that are endpoints of the HTTP API: there are no such tools.
fn for_tools(mut complaint: Complaint) -> Complaint {
    complaint.remedies.retain(|it| !matches!(it, Remedy::FindAgents { .. } | Remedy::ListSessions));
    complaint
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let document = problem.document();
        let told = || document.fields.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
        let is = |kind: problem::Kind| document.code == kind.code();
        // Whatever its status: fields that don't go together are as wrong as a wrong value.
        let is_input = !document.fields.is_empty() && !is(problem::NOT_AWAITED);
        let mut failure = match document.status {
            _ if is_input => Failure::invalid(&document.detail, told()),
            400 => Failure::invalid(&document.detail, told()),
            404 => Failure::no_such_discussion(),
            _ if is(problem::KEY_REUSED) => Failure::new("KEY_REUSED", &document.detail),
            _ if is(problem::QUEUE_FULL) => Failure::new("BUSY", &document.detail),
            _ => Failure::new(&document.code, &document.detail),
        };
        failure.retry_after_ms = document.retry_after_s.map(|seconds| seconds * 1_000);
        failure
    }
}

/// The properties of an error in an output schema.
pub(crate) fn properties() -> Map<String, Value> {
    let schema = json!({
        "code": { "type": "string", "description": "What kind of error it is; only with isError" },
        "message": { "type": "string", "description": "The error in a sentence" },
        "tool": { "type": "string", "description": "The tool that reports it" },
        "details": {
            "type": "object",
            "properties": { "validationErrors": { "type": "array", "items": { "type": "string" } } },
        },
        "retryAfterMs": { "type": "integer", "minimum": 0, "description": "When to try again" },
    });
    match schema {
        Value::Object(properties) => properties,
        _ => Map::new(),
    }
}
