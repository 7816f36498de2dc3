//! All discussions: listed, searched, ordered.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{Discussion, Request, Scope, listing::Entry, model::spec::Spec};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::{
    body::{Body, Params},
    guard::Caller,
    house::App,
    problem::{self, Problem},
    wire::order::{self, order_key},
};

const USUAL: usize = 50;
const MOST: usize = 200;

/// Which discussions to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Only those that have to do with these words, most relevant first.
    q: Option<String>,
    /// How many at most.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<usize>,
    /// Only those of this session.
    #[param(value_type = Option<String>, format = "uuid")]
    session_id: Option<Uuid>,
}

/// How many were asked for.
pub(super) fn limit(given: Option<usize>) -> Result<usize, Problem> {
    match given {
        None => Ok(USUAL),
        Some(limit) if (1..=MOST).contains(&limit) => Ok(limit),
        Some(limit) => Err(Problem::field("limit", format!("must be from 1 to {MOST}, not {limit}"))),
    }
}

/// List discussions, or search them
#[utoipa::path(
    get, path = "/api/discussions", tag = "discussions", params(Wanted),
    responses((status = 200, description = "Newest, or most relevant, first", body = Vec<Object>))
)]
pub(super) async fn list(
    Caller(scope): Caller,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Vec<Entry>>, Problem> {
    let limit = limit(wanted.limit)?;
    let found = match wanted.q.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        Some(words) => scope.search(words, limit, wanted.session_id).await?,
        None => scope.list(limit, wanted.session_id).await?,
    };
    Ok(Json(found))
}

/// Order a discussion without listening to it
#[utoipa::path(
    post, path = "/api/discussions", tag = "discussions", request_body = order::Order,
    params(("Idempotency-Key" = Option<String>, Header, description = "The sender's own name for this order", max_length = 255)),
    responses((status = 202, description = "It runs; Location says where", body = Object))
)]
pub(super) async fn create(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Body(mut request): Body<Request>,
) -> Result<Response, Problem> {
    choose_voices(&app, &mut request);
    let spec = scope.check(&request)?;
    let order = Order { what: "discussion", headers: &headers, body: &request };
    let discussion = start(&app, &scope, spec, order).await?;
    Ok(accepted(&discussion))
}

/// A server without real voices uses none.
pub(super) fn choose_voices(app: &App, request: &mut Request) {
    if app.are_voices_simulated() {
        request.offline = Some(true);
    }
}

/// What was ordered, as it was sent.
pub(super) struct Order<'o, B> {
    pub(super) what: &'o str,
    pub(super) headers: &'o HeaderMap,
    pub(super) body: &'o B,
}

/// Starts what was checked, once for a key.
pub(super) async fn start<B: Serialize>(
    app: &App,
    scope: &Scope,
    spec: Spec,
    order: Order<'_, B>,
) -> Result<Discussion, Problem> {
    let key = order_key(order.headers, order.what, order.body)?;
    let _held = hold(app, scope, key.as_ref())?;
    let started = scope.start(spec, key.as_ref()).await?;
    Ok(app.hub.take(started))
}

/// Keeps the key to this request until it is answered.
pub(super) fn hold(
    app: &App,
    scope: &Scope,
    key: Option<&quorum::OrderKey>,
) -> Result<Option<crate::house::InFlight>, Problem> {
    let Some(key) = key else { return Ok(None) };
    let held = app.take_order(format!("{}\n{}", scope.tenant().name(), key.key));
    let message = "a request with the same key is being answered; send it again in a moment";
    held.map(Some).ok_or_else(|| Problem::new(problem::IN_FLIGHT, message).after(1))
}

/// Where to find a discussion that was just ordered.
pub(super) fn accepted(discussion: &Discussion) -> Response {
    let id = discussion.id();
    let at = format!("/api/discussions/{id}");
    let links = json!({
        "self": at, "events": format!("{at}/events"), "state": format!("{at}/state"), "result": format!("{at}/result"),
    });
    let body = json!({ "discussionId": id, "links": links });
    (StatusCode::ACCEPTED, [(header::LOCATION, at)], Json(body)).into_response()
}
