//! Lists of providers, patterns, methods and other choices for an order.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use quorum::{
    MethodEntry, NamedEntry, PatternEntry, PresetEntry, ProviderEntry, StrategyEntry, agents::AgentEntry,
    model::time::Timestamp, request::limits::LONGEST_SESSION,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    body::{Body, Params},
    guard::Caller,
    problem::{self, Problem},
    routes::{
        cursor::PageCursor,
        discussions::{MOST_LISTED, limit},
    },
    wire::answers,
};

/// List providers
///
/// The catalogue's and the configuration's own: whether each is available, and otherwise what it
/// lacks; its models, their windows and prices.
#[utoipa::path(
    get, path = "/api/providers", tag = "catalogue",
    responses((status = 200, description = "Every provider, usable here or not", body = Vec<answers::Provider>, example = json!([{
        "name": "claude", "aliases": ["anthropic"], "available": false, "lacks": "ANTHROPIC_API_KEY is not set", "window": 200000,
    }])))
)]
pub(super) async fn providers(State(app): State<App>, _: Caller) -> Json<Vec<ProviderEntry>> {
    Json(app.providers())
}

/// List agents
///
/// The profiles beside the server's configuration. A seat in `participants` of an order is
/// `{ "type": "agent", "id": "reviewer" }`, or `reviewer:agent`. Profiles with mistakes are left
/// out.
#[utoipa::path(
    get, path = "/api/agents", tag = "catalogue",
    responses((status = 200, description = "Every agent, and through whom it would speak", body = Vec<answers::AgentEntry>, example = json!([{
        "id": "reviewer", "displayName": "Reviewer", "role": "security engineer", "speaksThrough": "claude",
        "reason": "preferred", "weight": 1.5, "enabled": true, "folder": "user",
    }])))
)]
pub(super) async fn agents(State(app): State<App>, _: Caller) -> Result<Json<Vec<AgentEntry>>, Problem> {
    // The files are read anew each time, and may be many.
    let listed = tokio::task::spawn_blocking(move || app.agents()).await;
    let failed = |_| Problem::new(problem::INTERNAL, "internal error; the agents could not be listed");
    listed.map(Json).map_err(failed)
}

/// List patterns
///
/// The name goes into `pattern` of an order. Each pattern declares the options it reads, the roles
/// it distinguishes, its structured replies and results and how they are drawn, how it may end, and
/// the decisions it may ask people for.
#[utoipa::path(
    get, path = "/api/patterns", tag = "catalogue",
    responses((status = 200, description = "Every pattern", body = Vec<answers::PatternEntry>, example = json!([{
        "name": "relay", "summary": "Each adds to what was said before", "usual": { "rounds": 2, "seats": [2, 6] },
        "options": [{
            "name": "legs", "flag": "legs", "summary": "How often it goes round", "kind": "whole", "onSurfaces": true,
            "schema": { "type": "integer", "minimum": 1, "maximum": 9, "description": "How often it goes round" },
        }],
        "roles": [], "forms": [], "endings": [], "rulings": [],
        "results": [{ "name": "laps", "title": "Laps", "view": { "kind": "list" } }],
    }])))
)]
pub(super) async fn patterns(State(app): State<App>, _: Caller) -> Json<Vec<PatternEntry>> {
    Json(app.patterns())
}

/// List consensus methods
///
/// The name goes into `consensus` of an order.
#[utoipa::path(
    get, path = "/api/consensus-methods", tag = "catalogue",
    responses((status = 200, description = "Every method, with its options, structured replies and results", body = Vec<answers::MethodEntry>))
)]
pub(super) async fn methods(State(app): State<App>, _: Caller) -> Json<Vec<MethodEntry>> {
    Json(app.methods())
}

/// List context strategies, which shorten a discussion that outgrows a model's window
///
/// The name goes into `windowStrategy` of an order.
#[utoipa::path(
    get, path = "/api/window-strategies", tag = "catalogue",
    responses((status = 200, description = "Every strategy, with its options", body = Vec<answers::StrategyEntry>))
)]
pub(super) async fn window_strategies(State(app): State<App>, _: Caller) -> Json<Vec<StrategyEntry>> {
    Json(app.window_strategies())
}

/// List detectors, which watch the course of a discussion
///
/// Options of the kind `detectors` take these names.
#[utoipa::path(
    get, path = "/api/detectors", tag = "catalogue",
    responses((status = 200, description = "Every detector", body = Vec<answers::NamedEntry>, example = json!([{
        "name": "silence", "summary": "No participant adds anything new",
    }])))
)]
pub(super) async fn detectors(State(app): State<App>, _: Caller) -> Json<Vec<NamedEntry>> {
    Json(app.detectors())
}

/// List presets: named orders of the configuration
///
/// The name goes into `preset` of an order, whose own fields take precedence.
#[utoipa::path(
    get, path = "/api/presets", tag = "catalogue",
    responses((status = 200, description = "Every preset, with the fields it fills in", body = Vec<answers::PresetEntry>, example = json!([{ "name": "quick", "fields": { "rounds": 1 } }])))
)]
pub(super) async fn presets(State(app): State<App>, _: Caller) -> Json<Vec<PresetEntry>> {
    Json(app.presets())
}

/// List sessions: folders for discussions that belong together
///
/// The id goes into `sessionId` of an order, and of a list. If there may be more, the `Link` header
/// has the next page.
#[utoipa::path(
    get, path = "/api/sessions", tag = "catalogue", params(SessionsWanted),
    responses((status = 200, description = "Newest first", body = Vec<answers::Session>, example = json!([{
        "sessionId": "01890000-0000-7000-8000-0000000000aa", "name": "Billing", "createdAt": "2026-11-15T09:00:00Z",
    }])))
)]
pub(super) async fn sessions(
    Caller(scope): Caller,
    Params(wanted): Params<SessionsWanted>,
) -> Result<Response, Problem> {
    let limit = limit(wanted.limit.or(Some(MOST_LISTED)))?;
    let after = PageCursor::read(wanted.cursor.as_deref())?.map(|it| (Timestamp(it.at), it.id));
    let sessions = scope.sessions_after(after, limit).await?;
    let next = sessions.last().filter(|_| sessions.len() == limit);
    let next = next.map(|it| PageCursor { at: it.cursor.0.0, id: it.cursor.1 });
    Ok((next.map(|it| it.link("/api/sessions")), Json(sessions)).into_response())
}

/// The part of the list of sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionsWanted {
    /// The maximum number of entries; 200 without one.
    limit: Option<usize>,
    /// Only sessions after this place of the list: the `cursor` of the `Link` header of the page
    /// before.
    cursor: Option<String>,
}

/// A new session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Billing" }))]
pub(crate) struct NewSession {
    /// The name of the session.
    name: String,
}

/// Create a session
///
/// Names need not be unique; the id tells sessions apart.
#[utoipa::path(
    post, path = "/api/sessions", tag = "catalogue", request_body = NewSession,
    responses((status = 201, description = "It is there", body = answers::Session, example = json!({
        "sessionId": "01890000-0000-7000-8000-0000000000aa", "name": "Billing", "createdAt": "2026-11-15T09:00:00Z",
    })))
)]
pub(super) async fn create_session(
    Caller(scope): Caller,
    Body(new): Body<NewSession>,
) -> Result<Response, Problem> {
    let name = new.name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_SESSION {
        return Err(Problem::field("name", format!("has 1 to {LONGEST_SESSION} characters")));
    }
    Ok((StatusCode::CREATED, Json(scope.create_session(name).await?)).into_response())
}
