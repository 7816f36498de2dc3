//! The endpoints in OpenAI's format.

mod chat;
mod chat_stream;
mod models;
mod responses;
mod responses_request;
mod responses_stream;
mod usage;

use utoipa_axum::{router::OpenApiRouter, routes};

use crate::app::App;

pub(crate) use models::created_at;

/// The routes.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(models::list))
        .routes(routes!(models::one))
        .routes(routes!(chat::complete))
        .routes(routes!(responses::create))
        .routes(routes!(responses::retrieve))
        .routes(routes!(responses::cancel))
}
