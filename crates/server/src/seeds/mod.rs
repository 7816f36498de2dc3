//! Routes, events and JSON for the seeds' own clients. Code in this crate that must name a single
//! pattern belongs here.

mod conversation;
mod dialogue;
mod dialogue_order;
mod state;
mod table;

pub(crate) use dialogue_order::limits;
use quorum::{ProviderEntry, seeds::events::NAMES};
use serde_json::{Value, json};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::app::App;

/// The seeds' routes.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(dialogue::converse))
        .routes(routes!(table::show, table::speak))
        .routes(routes!(state::state))
}

/// Lists the available providers in the OpenAPI document.
pub(crate) fn name_providers(document: &mut Value, providers: &[ProviderEntry]) {
    let names: Vec<&String> =
        providers.iter().flat_map(|it| std::iter::once(&it.name).chain(&it.aliases)).collect();
    document["components"]["schemas"]["Model"]["properties"]["providerId"]["enum"] = json!(names);
}

/// The names of all events.
pub(crate) fn event_names() -> Vec<String> {
    NAMES.iter().map(|name| (*name).to_owned()).collect()
}

/// The patterns that other programs are not offered as a model, because people take part in them.
pub(crate) const NEEDS_PEOPLE: &[&str] = &["roundtable"];

/// The pattern that works like OpenRouter's Fusion: everyone answers, and one answer combines
/// them.
pub(crate) const FUSED: &str = "synthesis";
