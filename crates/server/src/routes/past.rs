//! Follow-ups to a past discussion: forks, repeats and ratings.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use quorum::{
    Complaint, Discussion, Error, Forking, OrderKey, RunForking, request::limits::LONGEST_NAME,
    vocabulary::option::MOST_SEATS, workflow::RunOrder,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{
    ToSchema,
    openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type},
};

use crate::{
    app::App,
    body::{Body, Fields, Id},
    guard::Caller,
    problem::Problem,
    routes::{
        discussions::{self, Placed},
        workflows,
    },
    wire::order::{self, changes, order_key},
};

/// The step at which a fork branches off, and its changes.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "at": "1/answering/claude", "changes": { "rounds": 3 } }))]
pub(crate) struct Fork {
    /// The step up to which, inclusive, the past answers are kept: `1/answering/claude`; of a run,
    /// the name of a step that has ended.
    #[schema(max_length = 200)]
    at: String,
    /// Participants that leave.
    #[serde(default)]
    #[schema(schema_with = seats)]
    without: Vec<String>,
    /// Further changes. A newcomer that gets a role through an option takes the seat of the
    /// participant that had it.
    #[serde(default)]
    #[schema(value_type = order::Changes)]
    changes: Fields,
    /// Of a run: the changed workflow, as an object or a YAML or JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    workflow: Option<Value>,
    /// Of a run: what it is given instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    input: Option<Value>,
    /// Of a run: values by name instead, for `{{name}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    variables: Option<Map<String, Value>>,
    /// Of a run: whether tools are used again whose arguments changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    rerun_tools: bool,
}

impl Fork {
    /// The first field that only a run has, of those given.
    fn of_runs(&self) -> Option<&'static str> {
        let given = [
            ("workflow", self.workflow.is_some()),
            ("input", self.input.is_some()),
            ("variables", self.variables.is_some()),
            ("rerunTools", self.rerun_tools),
        ];
        given.into_iter().find(|it| it.1).map(|it| it.0)
    }
}

pub(super) fn seats() -> Array {
    let name = ObjectBuilder::new().schema_type(Type::String).max_length(Some(LONGEST_NAME));
    ArrayBuilder::new().items(name).max_items(Some(MOST_SEATS)).build()
}

/// Fork a discussion, asking only what is new
///
/// The past discussion stays unchanged. Its answers up to the given step are kept in the new one
/// and cost nothing. A run keeps every step whose filled configuration is equal, and uses no tool
/// again unless told to.
#[utoipa::path(
    post, path = "/api/discussions/{id}/fork", tag = "control",
    params(Id, ("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    request_body = Fork, responses((status = 202, description = "The new discussion is running or queued", body = discussions::Accepted))
)]
pub(super) async fn fork(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    headers: HeaderMap,
    Body(fork): Body<Fork>,
) -> Result<Response, Problem> {
    let discussion = scope.discussion(id).await?;
    let key = order_key(&headers, &format!("fork of {id}"), &fork)?;
    let _locked = discussions::lock_key(&app, &scope, key.as_ref())?;
    if discussion.is_run().await? {
        return Ok(discussions::accepted(&fork_run(&app, &discussion, fork, key.as_ref()).await?, None));
    }
    if let Some(field) = fork.of_runs() {
        return Err(Problem::field(field, "only a run of a workflow has this, and this is a discussion"));
    }
    let Fork { at, without, changes: fields, .. } = fork;
    let given = fields.clone();
    let changes = changes(fields).map_err(|it| app.known_fields.in_order(it, &given).within("changes"))?;
    let forking = Forking { at, without, changes };
    let placed = place_fork(&app, &discussion, &forking, key.as_ref()).await;
    Ok(discussions::accepted(&placed.map_err(|error| of_fork(error, &given))?, None))
}

/// Starts a fork, or queues it if no run slot is free.
async fn place_fork(
    app: &App,
    discussion: &Discussion,
    forking: &Forking,
    key: Option<&OrderKey>,
) -> Result<Placed, Error> {
    let Some(slot) = app.run_slot(discussion.tenant()).await? else {
        return discussion.queue_fork_once(forking, key, app.limits().queued()).await.map(Placed::queued);
    };
    let started = discussion.fork_once(forking, key).await?;
    Ok(Placed::running(app.hub.publish(started, slot)))
}

/// Forks a run. Only memory can be used over HTTP, whatever the original was allowed.
async fn fork_run(
    app: &App,
    discussion: &Discussion,
    fork: Fork,
    key: Option<&OrderKey>,
) -> Result<Placed, Problem> {
    if !fork.without.is_empty() || !fork.changes.0.is_empty() {
        let message = "a run has no participants and options of its own; change its input, variables or \
                       workflow";
        return Err(Problem::field(if fork.without.is_empty() { "changes" } else { "without" }, message));
    }
    let text = match &fork.workflow {
        None => Vec::new(),
        Some(written) => workflows::text_of(written)?,
    };
    let order = RunOrder {
        file: "workflow".to_owned(),
        text,
        how_to_allow: "only memory can be used over HTTP".to_owned(),
        ..RunOrder::default()
    };
    let Fork { at, input, variables, rerun_tools, .. } = fork;
    let forking = RunForking { at, input, variables, order, rerun_tools };
    let forked = discussion.check_run_fork(&forking).await.map_err(workflows::refused)?;
    let Some(slot) = app.run_slot(discussion.tenant()).await? else {
        return Ok(Placed::queued(discussion.queue_fork_run(forked, key, app.limits().queued()).await?));
    };
    let started = discussion.fork_run(forked, key).await?;
    Ok(Placed::running(app.hub.publish(started, slot)))
}

/// Reports a problem with a change under the field it was written in.
pub(super) fn of_fork(error: Error, Fields(changes): &Fields) -> Problem {
    let Error::Refused(complaints) = error else { return Problem::from(error) };
    let placed = complaints.into_iter().map(|it| match changes.contains_key(&it.field) {
        true => Complaint { field: format!("changes.{}", it.field), ..it },
        false => it,
    });
    Problem::refused(&placed.collect::<Vec<_>>())
}

/// Repeat a past discussion with changes
///
/// All participants are asked again. Everything that is not changed is as in the past order.
#[utoipa::path(
    post, path = "/api/discussions/{id}/again", tag = "control",
    params(Id, ("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    request_body = order::Changes, responses((status = 202, description = "The new discussion is running or queued", body = discussions::Accepted))
)]
pub(super) async fn again(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    headers: HeaderMap,
    Body(fields): Body<Fields>,
) -> Result<Response, Problem> {
    let discussion = scope.discussion(id).await?;
    let order = discussions::Order { what: &format!("again {id}"), headers: &headers, body: &fields.clone() };
    let given = fields.clone();
    let changes = changes(fields).map_err(|it| app.known_fields.in_order(it, &given))?;
    let again = discussion.again(&changes).await;
    let spec = again.map_err(|error| of_again(error, &given))?;
    Ok(discussions::accepted(&discussions::place(&app, &scope, spec, order).await?, None))
}

/// Reports a problem with a change as the caller's own, and not as one of the past discussion.
fn of_again(error: Error, Fields(changes): &Fields) -> Problem {
    let Error::Refused(complaints) = error else { return Problem::from(error) };
    let placed = complaints.into_iter().map(|it| match changes.contains_key(&it.field) {
        true => Complaint { origin: None, ..it },
        false => it,
    });
    Problem::refused(&placed.collect::<Vec<_>>())
}

/// A rating of a result.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "rating": 4 }))]
pub(crate) struct Rating {
    /// From 1, useless, to 5.
    #[schema(value_type = u8, minimum = 1, maximum = 5)]
    rating: f64,
}

/// Rate a result
///
/// The rating is stored with the name of the caller, and counted in `/metrics`.
#[utoipa::path(
    post, path = "/api/discussions/{id}/rating", tag = "control", params(Id),
    request_body = Rating, responses((status = 204, description = "Thank you"))
)]
pub(super) async fn rate(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    Body(given): Body<Rating>,
) -> Result<StatusCode, Problem> {
    let discussion = scope.discussion(id).await?;
    // In JSON, 4.0 is as whole as 4.
    if given.rating.fract() != 0.0 || !(1.0..=5.0).contains(&given.rating) {
        return Err(Problem::field(
            "rating",
            format!("must be 1, 2, 3, 4 or 5, not {}", json!(given.rating)),
        ));
    }
    let rating = given.rating as u8;
    discussion.rate(rating).await?;
    app.metrics.rated(scope.tenant(), rating, &discussion.state().await?.spec.pattern);
    Ok(StatusCode::NO_CONTENT)
}
