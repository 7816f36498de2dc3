//! CORS headers for pages of the listed origins; none by default.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::CorsLayer;

/// How long a browser may cache a preflight response.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The request headers such a page may send beyond the safelisted ones.
const SENT: [HeaderName; 8] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("x-api-key"),
];

/// The CORS layer; `None` if no origins are listed.
pub(crate) fn shared(origins: &[String]) -> Option<CorsLayer> {
    let listed: Vec<HeaderValue> = origins.iter().filter_map(|it| it.parse().ok()).collect();
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(SENT)
        .expose_headers([header::LOCATION, header::RETRY_AFTER])
        .max_age(REMEMBERED);
    (!listed.is_empty()).then(|| layer.allow_origin(listed))
}
