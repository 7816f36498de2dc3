//! The routes. A route is a function with its description above it, and one line here.

mod catalog;
mod control;
mod cursor;
pub(crate) mod discussions;
mod docs;
pub(crate) mod events;
mod one;
mod operations;
mod outcomes;
mod page;
mod past;
pub(crate) mod plan;
pub(crate) mod workflows;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state},
    routing::{MethodRouter, any},
};
use tower_http::{catch_panic::CatchPanicLayer, compression::CompressionLayer};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    anthropic,
    app::App,
    guard::{callers, headers::headers, names, pages, unread::unread},
    mcp, openai, openapi,
    problem::{self, Problem},
    seeds,
    v1::fault::envelopes,
    web,
};

fn api() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::about())
        .routes(routes!(discussions::list, discussions::create))
        .routes(routes!(plan::plan))
        .routes(routes!(plan::next))
        .routes(routes!(one::title, one::rename))
        .routes(routes!(workflows::run))
        .routes(routes!(one::delete))
        .routes(routes!(one::result))
        .routes(routes!(one::export))
        .routes(routes!(events::events))
        .routes(routes!(control::pause))
        .routes(routes!(control::resume))
        .routes(routes!(control::stop))
        .routes(routes!(control::abort))
        .routes(routes!(control::say))
        .routes(routes!(control::rule))
        .routes(routes!(control::note))
        .routes(routes!(past::fork))
        .routes(routes!(past::again))
        .routes(routes!(past::rate))
        .routes(routes!(outcomes::resolve))
        .routes(routes!(outcomes::calibration))
        .routes(routes!(catalog::sessions, catalog::create_session))
        .routes(routes!(operations::audit))
        .routes(routes!(operations::spending))
        .routes(routes!(operations::health))
        .routes(routes!(operations::ready))
        .routes(routes!(operations::metrics))
        .merge(compressed())
        .merge(seeds::routes())
        .merge(openai::routes())
        .merge(anthropic::routes())
}

/// Routes whose answers are sent compressed: descriptions of this server, which have no text of
/// users and models, so their length reveals nothing.
fn compressed() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(catalog::providers))
        .routes(routes!(catalog::agents))
        .routes(routes!(catalog::patterns))
        .routes(routes!(catalog::methods))
        .routes(routes!(catalog::window_strategies))
        .routes(routes!(catalog::detectors))
        .routes(routes!(catalog::presets))
        .routes(routes!(operations::document))
        .routes(routes!(page::docs))
        .routes(routes!(page::style))
        .layer(CompressionLayer::new())
}

/// The OpenAPI document.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    openapi::completed(api().split_for_parts().1)
}

/// All routes behind the guard.
pub(crate) fn router(app: App) -> Router {
    router_with(app, any(mcp::http::answer))
}

/// The same with other answers to the Model Context Protocol.
pub(crate) fn router_with(app: App, protocol: MethodRouter<App>) -> Router {
    let (routes, _) = api().split_for_parts();
    let largest = app.limits().body_bytes;
    let guarded = routes
        .merge(web::routes())
        .route(mcp::http::PATH, protocol)
        .fallback(|| async {
            Problem::new(problem::NOT_FOUND, "there is no such page or endpoint; /docs lists the endpoints")
        })
        .method_not_allowed_fallback(|| async {
            Problem::new(problem::WRONG_METHOD, "the endpoint has no such method; /docs lists the endpoints")
        })
        .layer(DefaultBodyLimit::max(largest))
        .layer(CatchPanicLayer::custom(|_| {
            axum::response::IntoResponse::into_response(Problem::new(
                problem::INTERNAL,
                "internal error; everything recorded so far is kept",
            ))
        }))
        .layer(from_fn_with_state(app.clone(), callers));
    let shared = match pages::shared(app.origins()) {
        Some(layer) => guarded.layer(layer),
        None => guarded,
    };
    let named = shared.layer(from_fn_with_state(app.clone(), names));
    named.layer(from_fn(envelopes)).layer(from_fn(unread)).layer(from_fn(headers)).with_state(app)
}
