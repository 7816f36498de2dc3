//! Operation of the server itself: liveness, readiness, metrics, API description, audit log.

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{
    StoreError,
    model::{id::DiscussionId, time::iso},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    body::Params,
    guard::Caller,
    problem::Problem,
    routes::{cursor::PageCursor, discussions::limit},
    wire::{answers, spending::CapState},
};

/// Check that the process is alive
///
/// Needs no token and is not rate-limited.
#[utoipa::path(
    get, path = "/healthz", tag = "server", responses((status = 200, description = "The process is alive", body = answers::Health, example = json!({ "status": "ok" }))), security(())
)]
pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// Check that this server accepts orders
///
/// Ready while the server's heartbeat reaches the store, discussions can be stored, and it is not
/// shutting down; otherwise a 503 with the same details. It does not query the store, so it may be
/// called often. Needs no token.
#[utoipa::path(
    get, path = "/readyz", tag = "server",
    responses(
        (status = 200, description = "The server accepts orders", body = Readiness),
        (status = 503, description = "The server is shutting down, or can't use its store", body = Readiness)
    ),
    security(())
)]
pub(super) async fn ready(State(app): State<App>) -> Response {
    let health = app.quorum().node_health();
    let is_ready = health.is_ready();
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = Readiness {
        status: match (health.draining, is_ready) {
            (true, _) => "draining",
            (false, true) => "ready",
            (false, false) => "unreachable",
        },
        node: health.id.to_string(),
        nodes: health.nodes,
        heartbeat_age_ms: health.beat_age.map(|age| age.as_millis() as u64),
        clock_off_by_ms: health.skew_ms.filter(|_| health.has_wrong_clock()),
    };
    (status, Json(body)).into_response()
}

/// Whether a server accepts orders, and its node.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Readiness {
    /// `ready`, `draining`, or `unreachable` if the store can't be reached or written.
    #[schema(value_type = answers::ReadyStatus)]
    status: &'static str,
    /// The id of this node.
    node: String,
    /// How many nodes share the store.
    nodes: usize,
    /// The age of this node's last heartbeat in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    heartbeat_age_ms: Option<u64>,
    /// How far this node's clock is behind the store's, if that is more than 2 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_off_by_ms: Option<i64>,
}

/// Get metrics for Prometheus
///
/// A tenant sees the numbers of its own discussions; a caller without a tenant sees those of all.
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, description = "Counters and histograms", content_type = "text/plain", body = String))
)]
pub(super) async fn metrics(State(app): State<App>, Caller(scope): Caller) -> Result<Response, Problem> {
    let tenant = Some(scope.tenant().clone()).filter(|it| !it.is_own());
    match app.quorum().backlog(tenant.clone()).await {
        Ok(backlog) => app.metrics.queue(scope.tenant(), Some(backlog)),
        // The node's own metrics are needed most while the store is unavailable.
        Err(quorum::Error::Store(StoreError::Unavailable(_))) => app.metrics.queue(scope.tenant(), None),
        Err(error) => return Err(error.into()),
    }
    if tenant.is_none() {
        app.metrics.node(&app.quorum().node_health());
        app.quorum().store_figures().iter().for_each(|it| app.metrics.store(it));
    }
    let text = app.metrics.text(scope.tenant());
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// Get this API description
///
/// `/docs` shows the same to people.
#[utoipa::path(
    get, path = "/openapi.json", tag = "server", responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
pub(super) async fn document(State(app): State<App>, _: Caller) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], app.openapi().to_owned()).into_response()
}

/// The limit of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Recent {
    /// The maximum number of entries.
    limit: Option<usize>,
    /// Only entries after this place of the list: the `cursor` of the `Link` header of the page
    /// before.
    cursor: Option<String>,
}

/// An audit entry: an action on a discussion.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditEntry {
    /// When it happened.
    #[schema(format = "date-time")]
    at: String,
    /// The name of the token, `local` if there are none, or the login name of a terminal user.
    who: String,
    /// What was done.
    #[schema(example = "pause")]
    action: String,
    /// The discussion it was done to.
    #[schema(value_type = String, format = "uuid")]
    discussion_id: DiscussionId,
    /// `done`, or the reason for a refusal.
    result: String,
}

impl From<quorum::AuditEntry> for AuditEntry {
    fn from(entry: quorum::AuditEntry) -> Self {
        let quorum::AuditEntry { at, who, action, discussion, result, .. } = entry;
        AuditEntry { at: iso(at), who, action, discussion_id: discussion, result }
    }
}

/// List the audit log, newest first
///
/// Every action on a discussion, who took it, and its result, refused or not. If there may be more,
/// the `Link` header has the next page.
#[utoipa::path(
    get, path = "/api/audit", tag = "server", params(Recent),
    responses((status = 200, description = "Entries: when, who, what, to which discussion, with which result", body = Vec<AuditEntry>))
)]
pub(super) async fn audit(
    Caller(scope): Caller,
    Params(recent): Params<Recent>,
) -> Result<Response, Problem> {
    let limit = limit(recent.limit)?;
    let before = PageCursor::read(recent.cursor.as_deref())?.map(|it| it.at.unsigned_abs());
    let entries = scope.audit_before(before, limit).await?;
    let next = entries.last().filter(|_| entries.len() == limit);
    let next = next.map(|(number, it)| PageCursor { at: *number as i64, id: it.discussion.into() });
    let entries: Vec<AuditEntry> = entries.into_iter().map(|it| it.1.into()).collect();
    Ok((next.map(|it| it.link("/api/audit")), Json(entries)).into_response())
}

/// Get what is left of the caller's spending caps
///
/// The caps of the caller's token, or of the local user if there are no tokens: what was spent,
/// what running discussions have set aside, what is left, and when each cap renews. Empty if
/// nothing is limited.
#[utoipa::path(
    get, path = "/api/spending", tag = "server",
    responses((status = 200, description = "The caps of a day and of a month, as far as they are set", body = Vec<CapState>))
)]
pub(super) async fn spending(Caller(scope): Caller) -> Result<Json<Vec<CapState>>, Problem> {
    Ok(Json(scope.spending().await?.into_iter().map(CapState::from).collect()))
}
