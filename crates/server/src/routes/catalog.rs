//! Lists of providers, patterns, methods and other choices for an order.

use axum::{Json, extract::State};
use quorum::{
    MethodEntry, NamedEntry, PatternEntry, PresetEntry, ProviderEntry, StrategyEntry, agents::AgentEntry,
};

use crate::{
    app::App,
    guard::Caller,
    problem::{self, Problem},
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
    // The files are read each time, and may be many.
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
