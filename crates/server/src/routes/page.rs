//! Pages for people, readable without scripts. Everything on them is text of ours or escaped.

use std::fmt::Write;

use axum::{
    http::header,
    response::{Html, IntoResponse, Response},
};

use crate::{guard::Caller, openapi, seeds::event_names};

const STYLE: &str = include_str!("page.css");

/// Show this API description as a page
///
/// Without scripts or external resources.
#[utoipa::path(
    get, path = "/docs", tag = "server",
    responses((status = 200, description = "A page", content_type = "text/html", body = String))
)]
pub(super) async fn docs(_: Caller) -> Html<String> {
    let mut body = String::from(
        "<h1>Quorum over HTTP</h1>\n<p>For programs: <a href=\"/openapi.json\">openapi.json</a>. Errors \
         are RFC 9457 problem documents that name the field.</p>\n<table>\n",
    );
    for (method, path, summary) in openapi::ways(&super::document()) {
        let _ = writeln!(
            body,
            "<tr><td>{method}</td><td><code>{}</code></td><td>{}</td></tr>",
            escaped(&path),
            escaped(&summary)
        );
    }
    let _ = writeln!(body, "</table>\n<p>Events: <code>{}</code></p>", event_names().join("</code>, <code>"));
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
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"/page.css\">\n</head>\n<body>\n{body}</body>\n</html>\n"
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
