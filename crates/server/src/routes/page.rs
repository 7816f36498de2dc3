//! Pages for people, readable without scripts. Everything on them is text of ours or escaped.

use std::fmt::Write;

use axum::{
    extract::State,
    http::header,
    response::{Html, IntoResponse, Response},
};
use serde_json::Value;

use crate::{app::App, guard::Caller, routes::docs::described, seeds::event_names};

const STYLE: &str = include_str!("page.css");

/// Show this API description as a page
///
/// Every operation with its parameters, body and answers, and every type with its fields. Without
/// scripts or external resources.
#[utoipa::path(
    get, path = "/docs", tag = "server",
    responses((status = 200, description = "A page", content_type = "text/html", body = String))
)]
pub(super) async fn docs(State(app): State<App>, _: Caller) -> Html<String> {
    let document: Value = serde_json::from_str(app.openapi()).unwrap_or_default();
    let mut body = String::from(
        "<header><a href=\"/\">All discussions</a></header>\n<main>\n<h1>Quorum over HTTP</h1>\n\
         <p>For programs: <a href=\"/openapi.json\">openapi.json</a>. Errors \
         are RFC 9457 problem documents that name the field.</p>\n",
    );
    body.push_str(&described(&document));
    let names = event_names().join("</code>, <code>");
    let _ = writeln!(body, "<h2 id=\"events\">Events</h2>\n<p><code>{names}</code></p>\n</main>");
    page("Quorum over HTTP", &body)
}

/// Get the style sheet of the pages
///
/// For `/docs`.
#[utoipa::path(
    get, path = "/page.css", tag = "server",
    responses((status = 200, description = "A style sheet", content_type = "text/css", body = String))
)]
pub(super) async fn style(_: Caller) -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"/assets/icon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"/page.css\">\n</head>\n<body>\n{body}</body>\n</html>\n"
    ))
}
