//! Routes, events and JSON that the seeds' own clients use. What is named after a single pattern
//! elsewhere in this crate belongs here.

mod conversation;
mod dialogue;
mod dialogue_order;
mod state;
mod table;

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

/// Says in the OpenAPI document which providers can be named.
pub(crate) fn name_providers(document: &mut Value, providers: &[ProviderEntry]) {
    let names: Vec<&String> =
        providers.iter().flat_map(|it| std::iter::once(&it.name).chain(&it.aliases)).collect();
    document["components"]["schemas"]["Model"]["properties"]["providerId"]["enum"] = json!(names);
}

/// The names of the events there are.
pub(crate) fn event_names() -> Vec<String> {
    NAMES.iter().map(|name| name.replace('_', "-")).collect()
}
