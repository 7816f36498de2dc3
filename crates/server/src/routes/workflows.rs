//! Starts runs of workflows.

use std::io::Read;

use axum::{extract::State, http::HeaderMap, response::Response};
use quorum::{
    Complaint, Request,
    model::error::Code,
    request::{
        limits::{COST, LONGEST_NAME},
        size::LIMITS_APPLY_INSIDE,
    },
    workflow::{
        LARGEST_FILE, RunError, RunOrder, Wrong,
        find::{all, file_of, folders},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::{
    app::App,
    body::Body,
    guard::Caller,
    problem::Problem,
    routes::discussions::{self, Accepted, Order},
    wire::bounds::{Field, range},
};

/// The most fields of an object and entries of a list, in a workflow or in what it is given.
const MOST_INSIDE: usize = 1_000;

/// The limits of these fields in the OpenAPI document.
pub(crate) fn limits() -> [Field; 9] {
    let inside = json!({
        "maxLength": LARGEST_FILE, "maxItems": MOST_INSIDE, "maxProperties": MOST_INSIDE,
        LIMITS_APPLY_INSIDE: true,
    });
    let of_types = |types: Value| {
        let mut limits = inside.clone();
        limits["type"] = types;
        limits
    };
    let mut anything = of_types(json!(["object", "array", "string", "number", "boolean", "null"]));
    // Generators of clients want to know the items of a list.
    anything["items"] = inside.clone();
    [
        ("Run", "workflow", of_types(json!(["object", "string", "null"]))),
        ("Run", "name", json!({ "minLength": 1, "maxLength": LONGEST_NAME, "pattern": "^[A-Za-z0-9_-]+$" })),
        ("Run", "input", anything.clone()),
        ("Fork", "workflow", of_types(json!(["object", "string", "null"]))),
        ("Fork", "input", anything),
        ("Fork", "variables", of_types(json!(["object", "null"]))),
        ("Run", "variables", of_types(json!("object"))),
        ("Run", "maxCalls", range(&(1..=u32::MAX))),
        ("Run", "maxCost", range(&COST)),
    ]
}

/// An order to run a workflow: the workflow itself, or the name of one that the server has.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "name": "architecture-decision", "input": "move billing to event sourcing" }))]
pub(crate) struct Run {
    /// The workflow: an object, or a YAML or JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    workflow: Option<Value>,
    /// The name of a workflow in one of the server's folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// What the run is given.
    #[serde(default)]
    #[schema(value_type = Object)]
    input: Value,
    /// Values by name, for `{{name}}`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    variables: Map<String, Value>,
    /// The maximum number of calls of all steps together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_calls: Option<u32>,
    /// The maximum cost in USD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_cost: Option<f64>,
    /// Whether to use simulated voices even if real ones are available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offline: Option<bool>,
}

/// Run a workflow
///
/// The run is a discussion like any other: its result, events and commands are at the addresses in
/// the answer. Its steps may use memory and no other tool.
#[utoipa::path(
    post, path = "/api/workflows/runs", tag = "discussions", request_body = Run,
    params(("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    responses((status = 202, description = "It is running; Location has its address", body = Accepted))
)]
pub(super) async fn run(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Body(wanted): Body<Run>,
) -> Result<Response, Problem> {
    let (file, text) = written(&wanted, &folders(&scope.quorum().config().file))?;
    let mut request = Request {
        max_calls: wanted.max_calls,
        max_cost: wanted.max_cost,
        offline: wanted.offline,
        ..Request::default()
    };
    discussions::choose_voices(&app, &mut request);
    let order = RunOrder {
        file,
        text,
        input: wanted.input.clone(),
        variables: wanted.variables.clone(),
        request,
        how_to_allow: "only memory can be used over HTTP".to_owned(),
        ..RunOrder::default()
    };
    let spec = scope.plan_workflow(&order).map_err(refused)?;
    let order = Order { what: "workflow", headers: &headers, body: &wanted };
    let placed = discussions::place(&app, &scope, spec, order).await?;
    Ok(discussions::accepted(&placed, None))
}

/// The workflow's text, and what mistakes in it are reported under.
fn written(wanted: &Run, folders: &[std::path::PathBuf]) -> Result<(String, Vec<u8>), Problem> {
    match (&wanted.workflow, &wanted.name) {
        (Some(workflow), None) => Ok(("workflow".to_owned(), text_of(workflow)?)),
        (None, Some(name)) => named(name, folders),
        (Some(_), Some(_)) => Err(Problem::field("workflow", "give the workflow or a name, not both")),
        (None, None) => Err(Problem::field("workflow", "is missing; give the workflow or a name")),
    }
}

/// The text of a workflow that is written as a text or as an object.
pub(super) fn text_of(workflow: &Value) -> Result<Vec<u8>, Problem> {
    match workflow {
        Value::String(text) => Ok(text.clone().into_bytes()),
        Value::Object(_) => Ok(serde_json::to_string_pretty(workflow).unwrap_or_default().into_bytes()),
        _ => Err(Problem::field("workflow", "must be an object or a text")),
    }
}

/// A workflow of the server's folders. A path is not a name: a client must not choose a file.
pub(crate) fn named(name: &str, folders: &[std::path::PathBuf]) -> Result<(String, Vec<u8>), Problem> {
    let in_folders =
        |file: &std::path::PathBuf| file.parent().is_some_and(|it| folders.iter().any(|f| f == it));
    let file = if is_name(name) { file_of(name, folders).filter(in_folders) } else { None };
    let unknown = || Problem::field("name", "there is no workflow of this name on the server");
    let file = file.ok_or_else(unknown)?;
    let mut text = Vec::new();
    let read =
        std::fs::File::open(&file).and_then(|it| it.take(LARGEST_FILE as u64 + 1).read_to_end(&mut text));
    read.map_err(|_| unknown())?;
    if text.len() > LARGEST_FILE {
        return Err(Problem::field("name", "the workflow file is too large"));
    }
    Ok((name.to_owned(), text))
}

/// The names under which a client can run the workflows of these folders.
pub(crate) fn names(folders: &[std::path::PathBuf]) -> Vec<String> {
    let found = all(folders).into_iter().filter(|it| !it.hidden && is_name(&it.name));
    found.map(|it| it.name).collect()
}

fn is_name(name: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(plain)
}

pub(super) fn refused(error: RunError) -> Problem {
    match error {
        RunError::Wrong(wrong) => Problem::refused(&mistakes(&wrong)),
        RunError::Quorum(error) => error.into(),
    }
}

/// Each mistake with its place in the workflow.
fn mistakes(wrong: &Wrong) -> Vec<Complaint> {
    wrong.lines().into_iter().map(|it| Complaint::new("workflow", Code::InvalidRequest, it)).collect()
}
