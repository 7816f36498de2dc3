//! Plans an order without asking any model.

use std::time::Duration;

use axum::{Json, extract::State};
use quorum::{Error, Plan, Scope, model::spec::Spec};
use serde::Serialize;
use tokio::{
    task::spawn_blocking,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    app::App,
    body::{Body, Fields},
    guard::Caller,
    problem::{self, Problem},
    routes::discussions,
    wire::{answers, order, panel::Panel},
};

/// A plan, and how its panel differs from the usual one.
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
/// answers usually are); `usual`, with the longest answers; and `most`, if everything fails as
/// often as it can. `panel` says how the panel differs from the usual one, as in the answer to an
/// order. Nothing is recorded.
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
    let latest = Instant::now() + app.limits().plan_time;
    let turn = timeout_at(latest, app.planners.clone().acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        let message = "too many plans are being made at the moment; try again later";
        return Err(Problem::new(problem::TOO_MANY, message).after(5));
    };
    let time = latest.saturating_duration_since(Instant::now());
    let planned = spawn_blocking(move || {
        let planned = aside(&scope, &spec, time);
        // Held by the work and not by the request, which the client may drop.
        drop(turn);
        planned
    });
    let plan = planned.await.map_err(|error| Problem::from(Error::Fault(error.to_string())))??;
    Ok(Json(Planned { plan, panel }))
}

/// Plans on this thread alone, so that a plan of a thousand rounds blocks no other request. A plan
/// that exceeds its time is dropped.
pub(crate) fn aside(scope: &Scope, spec: &Spec, time: Duration) -> Result<Plan, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| Problem::from(Error::Fault(error.to_string())))?;
    let planned = runtime.block_on(async { timeout(time, scope.plan(spec)).await });
    let message = "the plan took too long; try again later, or plan fewer rounds";
    Ok(planned.map_err(|_| Problem::new(problem::UNAVAILABLE, message).after(5))??)
}
