//! How the server itself is: alive, ready, counted, described, and who did what on it.

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use quorum::model::report::iso;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::{body::Params, guard::Caller, house::App, problem::Problem, routes::discussions::limit};

/// Whether the process lives
#[utoipa::path(
    get, path = "/healthz", tag = "server", responses((status = 200, description = "It does", body = Object)), security(())
)]
pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// Whether discussions can be kept
#[utoipa::path(
    get, path = "/readyz", tag = "server", responses((status = 200, description = "They can", body = Object)), security(())
)]
pub(super) async fn ready(Caller(scope): Caller) -> Result<Json<Value>, Problem> {
    scope.is_ready().await?;
    Ok(Json(json!({ "status": "ready" })))
}

/// What was counted, for Prometheus
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, description = "Counters and histograms", content_type = "text/plain", body = String))
)]
pub(super) async fn metrics(State(app): State<App>, _: Caller) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.text()).into_response()
}

/// This description
#[utoipa::path(
    get, path = "/openapi.json", tag = "server", responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
pub(super) async fn document(State(app): State<App>, _: Caller) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], app.openapi().to_owned()).into_response()
}

/// How many.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Recent {
    /// How many at most.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
}

/// Who did what, newest first
#[utoipa::path(
    get, path = "/api/audit", tag = "server", params(Recent),
    responses((status = 200, description = "Deeds: when, who, what, to which discussion, with which result", body = Vec<Object>))
)]
pub(super) async fn audit(
    Caller(scope): Caller,
    Params(recent): Params<Recent>,
) -> Result<Json<Vec<Value>>, Problem> {
    let deeds = scope.deeds(limit(recent.limit)?).await?;
    let shown = |it: &quorum::Deed| {
        json!({
            "at": iso(it.at), "who": it.who, "action": it.action, "discussionId": it.discussion, "result": it.result,
        })
    };
    Ok(Json(deeds.iter().map(shown).collect()))
}
