//! Lists, searches and starts discussions.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{
    Discussion, Request, Scope,
    model::{id::DiscussionId, spec::Spec},
    request::limits::LONGEST_SEARCH,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::{
    app::App,
    body::{Body, Fields, Params},
    guard::Caller,
    live::hub::RunSlot,
    problem::{self, Problem},
    wire::{
        listing::Listed,
        order::{self, order_key},
        panel::Panel,
    },
};

const USUAL: usize = 50;

/// The maximum number of entries in a list.
pub(crate) const MOST_LISTED: usize = 200;

/// The `Retry-After` in seconds when all run slots are taken.
const FULL_FOR_S: u64 = 5;

/// Filters of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Only discussions that match these words, most relevant first.
    q: Option<String>,
    /// The maximum number of entries.
    limit: Option<usize>,
    /// Only discussions of this session.
    #[param(value_type = Option<String>, format = "uuid")]
    session_id: Option<Uuid>,
}

/// The requested limit.
pub(super) fn limit(given: Option<usize>) -> Result<usize, Problem> {
    match given {
        None => Ok(USUAL),
        Some(limit) if (1..=MOST_LISTED).contains(&limit) => Ok(limit),
        Some(limit) => {
            Err(Problem::parameter("limit", format!("must be from 1 to {MOST_LISTED}, not {limit}")))
        }
    }
}

/// List or search discussions
///
/// Each with its state, whom it waits for (a person whose turn it is, or a decision), and its cost
/// so far. There is no cost if a price is unknown.
#[utoipa::path(
    get, path = "/api/discussions", tag = "discussions", params(Wanted),
    responses((status = 200, description = "Newest, or most relevant, first", body = Vec<Object>, example = json!([{
        "discussionId": "01890000-0000-7000-8000-000000000001", "topic": "Tabs or spaces?", "status": "running",
        "startedAt": "2026-11-15T09:00:00Z", "simulated": false, "awaiting": [{ "participant": "me", "round": 1, "phase": "speaking" }],
        "totalTokens": 812, "estimatedCost": 0.0042,
    }])))
)]
pub(super) async fn list(
    State(app): State<App>,
    Caller(scope): Caller,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Vec<Listed>>, Problem> {
    let limit = limit(wanted.limit)?;
    if let Some(length) = wanted.q.as_ref().map(|it| it.chars().count()).filter(|it| LONGEST_SEARCH < *it) {
        let message = format!("may have at most {LONGEST_SEARCH} characters; this has {length}");
        return Err(Problem::parameter("q", message));
    }
    let found = match wanted.q.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        Some(words) => scope.search(words, limit, wanted.session_id).await?,
        None => scope.list(limit, wanted.session_id).await?,
    };
    Ok(Json(app.list_details.complete(&app.hub, &scope, found).await?))
}

/// Start a discussion without listening to it
///
/// It runs whether or not a client listens. The same `Idempotency-Key` with the same order returns
/// the same discussion, however often it is sent, even after a restart.
#[utoipa::path(
    post, path = "/api/discussions", tag = "discussions", request_body = order::Order,
    params(("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    responses((status = 202, description = "It is running; Location has its address", body = Accepted))
)]
pub(super) async fn create(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Body(fields): Body<Fields>,
) -> Result<Response, Problem> {
    let mut request = order::request(&fields)?;
    choose_voices(&app, &mut request);
    let spec = scope.check(&request)?;
    let order = Order { what: "discussion", headers: &headers, body: &request };
    let discussion = start(&app, &scope, spec, order).await?;
    Ok(accepted(&discussion, scope.panel_choice(&request).map(Panel::from)))
}

/// Uses simulated voices on a server without real ones.
pub(crate) fn choose_voices(app: &App, request: &mut Request) {
    if app.are_voices_simulated() {
        request.offline = Some(true);
    }
}

/// An order as sent.
pub(crate) struct Order<'o, B> {
    pub(crate) what: &'o str,
    pub(crate) headers: &'o HeaderMap,
    pub(crate) body: &'o B,
}

/// Starts a checked order, once per idempotency key.
pub(crate) async fn start<B: Serialize>(
    app: &App,
    scope: &Scope,
    spec: Spec,
    order: Order<'_, B>,
) -> Result<Discussion, Problem> {
    let key = order_key(order.headers, order.what, order.body)?;
    let _locked = lock_key(app, scope, key.as_ref())?;
    let slot = run_slot(app)?;
    let started = scope.start_once(spec, key.as_ref()).await?;
    Ok(app.hub.publish(started, slot))
}

/// A run slot, or an error if none is free. Taken before anything is recorded.
pub(crate) fn run_slot(app: &App) -> Result<RunSlot, Problem> {
    let full = || {
        let most = app.limits().running;
        let message =
            format!("{most} discussions are running, which is this server's limit; try again later");
        Problem::new(problem::TOO_MANY_RUNNING, message).after(FULL_FOR_S)
    };
    app.hub.run_slot().ok_or_else(full)
}

/// Locks the idempotency key until this request is answered.
pub(super) fn lock_key(
    app: &App,
    scope: &Scope,
    key: Option<&quorum::OrderKey>,
) -> Result<Option<crate::app::InFlight>, Problem> {
    let Some(key) = key else { return Ok(None) };
    let held = app.take_order(format!("{}\n{}", scope.tenant().name(), key.key));
    let message = "a request with the same key is in progress; send it again in a moment";
    held.map(Some).ok_or_else(|| Problem::new(problem::IN_FLIGHT, message).after(1))
}

/// A discussion that was just started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accepted {
    #[schema(value_type = String, format = "uuid")]
    discussion_id: DiscussionId,
    links: Links,
    /// How the panel differs from the usual one; absent if the order names its panel, gets the
    /// usual one, or is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    panel: Option<Panel>,
}

/// Links to the discussion.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Links {
    #[serde(rename = "self")]
    #[schema(example = "/api/discussions/01890000-0000-7000-8000-000000000001")]
    itself: String,
    events: String,
    state: String,
    result: String,
}

/// The response with links to a discussion that was just started.
pub(super) fn accepted(discussion: &Discussion, panel: Option<Panel>) -> Response {
    let id = discussion.id();
    let at = format!("/api/discussions/{id}");
    let below = |name: &str| format!("{at}/{name}");
    let links =
        Links { itself: at.clone(), events: below("events"), state: below("state"), result: below("result") };
    let body = Accepted { discussion_id: id, links, panel };
    (StatusCode::ACCEPTED, [(header::LOCATION, at)], Json(body)).into_response()
}
