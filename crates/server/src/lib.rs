//! The HTTP server: the seeds' API, live events, and a guard before all of it.
//!
//! # Layout
//! - [`settings`]: listen address, access and limits
//! - `serve`: connections; `pace`: timeouts of stalled writes
//! - `guard`: host names, origins, tokens, rate limits; `app`: state shared by all requests
//! - `routes`: the endpoints; `seeds`: endpoints and JSON for the seeds' own clients
//! - `v1`: the panel as one model, in the formats of `openai` and `anthropic`
//! - `wire`: our JSON; `body`: extractors; `unknown`: unknown fields; `problem`: errors
//! - `live`: events, serialized once for all subscribers
//! - [`mcp`]: the Model Context Protocol, over HTTP and over standard input and output
//! - `web`: the web page; its files are in the folder of that name
//! - `openapi`, `metrics`: API description and counters

mod anthropic;
mod app;
mod body;
mod claimer;
mod guard;
mod live;
pub mod mcp;
mod metrics;
mod openai;
mod openapi;
mod pace;
mod problem;
mod routes;
mod seeds;
mod serve;
pub mod settings;
mod sizes;
mod unknown;
mod v1;
mod web;
mod wire;
mod wording;

/// The OpenAPI document of a server that knows these patterns and providers, for programs that
/// generate clients from it.
#[must_use]
pub fn openapi(registry: &quorum::Registry, providers: &[quorum::ProviderEntry]) -> serde_json::Value {
    openapi::with_fields(routes::document(), registry, providers)
}

pub use serve::Server;
pub use settings::{Error, Limits, Settings, Voices};
