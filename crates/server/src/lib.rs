//! The HTTP server: the seeds' API, live events, and a guard before all of it.
//!
//! # Layout
//! - [`settings`]: where it listens, who may come in, how much it bears
//! - `serve`: connections; `pace`: those whose other side does not read; `guard`: names, pages, tokens, floods; `app`: what requests share
//! - `routes`: what can be asked for; `wire`: our JSON; `seeds`: routes and JSON of the seeds' own clients; `body`: what comes in; `problem`: what went wrong
//! - `live`: events, put into words once for everybody who watches
//! - `web`: the page people watch on, its files being in the folder of that name
//! - `openapi`, `metrics`: what is said about it and what is counted

mod app;
mod body;
mod guard;
mod live;
mod metrics;
mod openapi;
mod pace;
mod problem;
mod routes;
mod seeds;
mod serve;
pub mod settings;
mod sizes;
mod web;
mod wire;
mod wording;

pub use serve::Server;
pub use settings::{Error, Limits, Settings, Voices};
