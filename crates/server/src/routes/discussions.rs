//! Lists, searches and starts discussions.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{
    Discussion, Error, Request, Scope,
    listing::Entry,
    model::{id::DiscussionId, spec::Spec, time::Timestamp},
    request::limits::LONGEST_SEARCH,
    seams::{Created, Cursor, StoreError},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::{
    app::App,
    body::{Body, Fields, Params},
    guard::Caller,
    problem::{self, Problem},
    routes::cursor::PageCursor,
    wire::{
        answers,
        order::{self, order_key},
        panel::Panel,
    },
};

const USUAL: usize = 50;

/// The maximum number of entries in a list.
pub(crate) const MOST_LISTED: usize = 200;

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
    /// Only discussions after this place of the list: the `cursor` of the `Link` header of the page
    /// before. Not with `q`.
    cursor: Option<String>,
}

fn cursor_of(entry: &Entry) -> PageCursor {
    PageCursor { at: entry.cursor.opened_at.0, id: entry.cursor.id.into() }
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
/// so far. There is no cost if a price is unknown. `run` says whether it is run: `queued`,
/// `running`, `waiting` (for a person), `stuck` (no longer retried after repeated failures) or
/// `over`. If there may be more, the `Link` header has the next page.
#[utoipa::path(
    get, path = "/api/discussions", tag = "discussions", params(Wanted),
    responses((status = 200, description = "Newest, or most relevant, first", body = Vec<answers::DiscussionEntry>, example = json!([{
        "discussionId": "01890000-0000-7000-8000-000000000001", "topic": "Tabs or spaces?", "status": "running",
        "startedAt": "2026-11-15T09:00:00Z", "simulated": false, "awaiting": [{ "participant": "me", "round": 1, "phase": "speaking" }],
        "totalTokens": 812, "estimatedCost": 0.0042,
    }])))
)]
pub(super) async fn list(
    State(app): State<App>,
    Caller(scope): Caller,
    Params(wanted): Params<Wanted>,
) -> Result<Response, Problem> {
    let limit = limit(wanted.limit)?;
    if let Some(length) = wanted.q.as_ref().map(|it| it.chars().count()).filter(|it| LONGEST_SEARCH < *it) {
        let message = format!("may have at most {LONGEST_SEARCH} characters; this has {length}");
        return Err(Problem::parameter("q", message));
    }
    let after = PageCursor::read(wanted.cursor.as_deref())?;
    let after = after.map(|it| Cursor { opened_at: Timestamp(it.at), id: it.id.into() });
    let (found, next) = match wanted.q.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        Some(words) => (scope.search(words, limit, wanted.session_id).await?, None),
        None => {
            let found = scope.list_after(after, limit, wanted.session_id).await?;
            let next = found.last().filter(|_| found.len() == limit).map(cursor_of);
            (found, next)
        }
    };
    let page = app.list_details.complete(&app.hub, &scope, found).await?;
    Ok((next.map(|it| it.link("/api/discussions")), Json(page)).into_response())
}

/// Start a discussion without waiting for it
///
/// It runs whether or not a client listens. If no server has room for it, it is queued. The same
/// `Idempotency-Key` with the same order returns the same discussion, however often it is sent,
/// even after a restart.
#[utoipa::path(
    post, path = "/api/discussions", tag = "discussions", request_body = order::Order,
    params(("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    responses((status = 202, description = "It is running or queued; Location has its address", body = Accepted))
)]
pub(super) async fn create(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Body(fields): Body<Fields>,
) -> Result<Response, Problem> {
    let mut request = order::request(&fields).map_err(|it| app.known_fields.in_order(it, &fields))?;
    choose_voices(&app, &mut request);
    let order = Order { what: "discussion", headers: &headers, body: &request };
    let placed = match scope.order(&request).await {
        Ok(spec) => place(&app, &scope, spec, order).await?,
        Err(error) => placed_before(&scope, &order).await?.ok_or(error)?,
    };
    Ok(accepted(&placed, panel_choice(&scope, &request)))
}

/// The discussion of an order that is sent again with its key, but would be refused now: `last` may
/// mean the discussion that it has begun itself, which is still running.
async fn placed_before<B: Serialize>(scope: &Scope, order: &Order<'_, B>) -> Result<Option<Placed>, Problem> {
    let Some(key) = order_key(order.headers, order.what, order.body)? else { return Ok(None) };
    Ok(scope.started_under(&key).await?.map(Placed::running))
}

/// How the panel differs from the default one; `None` for a follow-up, which keeps the panel.
pub(super) fn panel_choice(scope: &Scope, request: &Request) -> Option<Panel> {
    scope.panel_choice(request).filter(|_| request.follows.is_none()).map(Panel::from)
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

/// An order that was accepted.
pub(crate) struct Placed {
    pub(crate) discussion: Discussion,
    status: PlacedStatus,
}

/// Whether it runs.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlacedStatus {
    /// It was started.
    Running,
    /// It waits until a server has room for it.
    Queued,
}

impl Placed {
    pub(crate) fn running(discussion: Discussion) -> Self {
        Placed { discussion, status: PlacedStatus::Running }
    }

    /// An order for which no run slot was free, unless the same one came before.
    pub(crate) fn queued((discussion, created): (Discussion, Created)) -> Self {
        match created {
            Created::New => Placed { discussion, status: PlacedStatus::Queued },
            Created::Existed => Placed::running(discussion),
        }
    }
}

/// Starts a checked order, or queues it if there is no room for it; once per idempotency key.
pub(crate) async fn place<B: Serialize>(
    app: &App,
    scope: &Scope,
    spec: Spec,
    order: Order<'_, B>,
) -> Result<Placed, Problem> {
    let key = order_key(order.headers, order.what, order.body)?;
    let _locked = lock_key(app, scope, key.as_ref())?;
    if let Some(slot) = app.run_slot(scope.tenant()).await? {
        match scope.start_once(spec.clone(), key.as_ref()).await {
            // Another node was faster with the tenant's last place.
            Err(Error::Store(StoreError::TenantFull { .. })) => {}
            started => return Ok(Placed::running(app.hub.publish(started?, slot))),
        }
    }
    let most = app.limits().queued();
    Ok(Placed::queued(scope.queue_once(spec, key.as_ref(), most).await?))
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
    /// The discussion's id.
    #[schema(value_type = String, format = "uuid")]
    discussion_id: DiscussionId,
    /// Whether it was started, or waits until a server has room for it.
    status: PlacedStatus,
    /// Where to read and hear it.
    links: Links,
    /// How the panel differs from the default one; absent if the order names its panel, gets the
    /// default one, or is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    panel: Option<Panel>,
}

/// Links to the discussion.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Links {
    /// It as a conversation.
    #[serde(rename = "self")]
    #[schema(example = "/api/discussions/01890000-0000-7000-8000-000000000001")]
    itself: String,
    /// Its events as a stream.
    events: String,
    /// Its full state.
    state: String,
    /// Its result, as far as there is one.
    result: String,
}

/// The response with links to a discussion that was just started.
pub(super) fn accepted(placed: &Placed, panel: Option<Panel>) -> Response {
    let id = placed.discussion.id();
    let at = format!("/api/discussions/{id}");
    let below = |name: &str| format!("{at}/{name}");
    let links =
        Links { itself: at.clone(), events: below("events"), state: below("state"), result: below("result") };
    let body = Accepted { discussion_id: id, status: placed.status, links, panel };
    (StatusCode::ACCEPTED, [(header::LOCATION, at)], Json(body)).into_response()
}
