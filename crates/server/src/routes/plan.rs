//! Plans an order without asking any model.

use std::time::Duration;

use axum::{Json, extract::State};
use quorum::{Error, Forking, Plan, Scope, model::spec::Spec};
use serde::{Deserialize, Serialize};
use tokio::{
    task::spawn_blocking,
    time::{Instant, timeout, timeout_at},
};
use utoipa::ToSchema;

use crate::{
    app::App,
    body::{Body, Fields, Id},
    guard::Caller,
    problem::{self, Problem},
    routes::{discussions, past},
    wire::{answers, order, panel::Panel},
};

/// A plan, and how its panel differs from the default one.
#[derive(Debug, Serialize)]
pub(super) struct Planned {
    #[serde(flatten)]
    plan: Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    panel: Option<Panel>,
}

/// Plan a discussion without asking any model
///
/// Who is asked in which order, and how many calls, tokens and dollars it takes: `typical`, with
/// answers as long as in the `typicalFrom` past discussions of these models (0: as long as such
/// answers usually are); `usual`, with every answer at its length limit; and `most`, the upper
/// bound, with every possible retry. `panel` says how the panel differs from the default one, as in
/// the answer to an order. Nothing is recorded.
#[utoipa::path(
    post, path = "/api/plan", tag = "discussions", request_body = order::Order,
    responses((status = 200, description = "The plan", body = answers::Plan))
)]
pub(super) async fn plan(
    State(app): State<App>,
    Caller(scope): Caller,
    Body(fields): Body<Fields>,
) -> Result<Json<Planned>, Problem> {
    let mut request = order::request(&fields).map_err(|it| app.known_fields.in_order(it, &fields))?;
    discussions::choose_voices(&app, &mut request);
    let spec = scope.order(&request).await?;
    let panel = discussions::panel_choice(&scope, &request);
    let plan = planned(&app, move |time| aside(&scope, &spec, time)).await??;
    Ok(Json(Planned { plan, panel }))
}

/// What follows a past discussion: a fork at a step, or the whole discussion again.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "at": "1/answering/claude", "changes": { "rounds": 3 } }))]
pub(crate) struct Next {
    /// The step at which a fork branches off; left out, everyone is asked again.
    #[serde(default)]
    #[schema(max_length = 200)]
    at: Option<String>,
    /// Participants that leave. Only with `at`.
    #[serde(default)]
    #[schema(schema_with = past::seats)]
    without: Vec<String>,
    /// Changes of the order.
    #[serde(default)]
    #[schema(value_type = order::Changes)]
    changes: Fields,
}

/// Plan a fork or a repeat without asking any model
///
/// The same as a plan of an order. For a fork, `kept` says how many answers are taken over, and the
/// figures are of what is asked again. Nothing is recorded.
#[utoipa::path(
    post, path = "/api/discussions/{id}/plan", tag = "control", params(Id), request_body = Next,
    responses((status = 200, description = "The plan", body = answers::Plan))
)]
pub(super) async fn next(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    Body(next): Body<Next>,
) -> Result<Json<Plan>, Problem> {
    let discussion = scope.discussion(id).await?;
    if discussion.is_run().await? {
        return Err(Problem::new(problem::INVALID, "a run of a workflow is planned by its file"));
    }
    let Next { at, without, changes: fields } = next;
    let given = fields.clone();
    let changes =
        order::changes(fields).map_err(|it| app.known_fields.in_order(it, &given).within("changes"))?;
    let plan = match at {
        Some(at) => {
            let forking = Forking { at, without, changes };
            planned(&app, move |time| in_time(time, discussion.plan_fork(&forking))).await?
        }
        None if !without.is_empty() => {
            return Err(Problem::field("without", "leaves a fork only; give `at`, or change `participants`"));
        }
        None => {
            let spec = discussion.again(&changes).await.map_err(|error| past::of_fork(error, &given))?;
            planned(&app, move |time| in_time(time, scope.plan(&spec))).await?
        }
    };
    plan?.map(Json).map_err(|error| past::of_fork(error, &given))
}

/// Makes a plan on a thread of its own, when it is its turn. The work gets the time that is left.
async fn planned<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(Duration) -> T + Send + 'static,
) -> Result<T, Problem> {
    let latest = Instant::now() + app.limits().plan_time;
    let turn = timeout_at(latest, app.planners.clone().acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        let message = "too many plans are being made at the moment; try again later";
        return Err(Problem::new(problem::TOO_MANY, message).after(5));
    };
    let time = latest.saturating_duration_since(Instant::now());
    let planned = spawn_blocking(move || {
        let planned = work(time);
        // Held by the work and not by the request, which the client may drop.
        drop(turn);
        planned
    });
    planned.await.map_err(|error| Problem::from(Error::Fault(error.to_string())))
}

/// Plans on this thread alone, so that a plan of a thousand rounds blocks no other request. A plan
/// that exceeds its time is dropped.
pub(crate) fn aside(scope: &Scope, spec: &Spec, time: Duration) -> Result<Plan, Problem> {
    Ok(in_time(time, scope.plan(spec))??)
}

fn in_time(
    time: Duration,
    planning: impl Future<Output = Result<Plan, Error>>,
) -> Result<Result<Plan, Error>, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| Problem::from(Error::Fault(error.to_string())))?;
    let planned = runtime.block_on(async { timeout(time, planning).await });
    let message = "the plan took too long; try again later, or plan fewer rounds";
    planned.map_err(|_| Problem::new(problem::UNAVAILABLE, message).after(5))
}
