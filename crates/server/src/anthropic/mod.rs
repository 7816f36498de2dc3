//! The endpoint in Anthropic's format.

mod messages;
mod messages_stream;

use utoipa_axum::{router::OpenApiRouter, routes};

use crate::app::App;

/// The routes.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(messages::create))
}
