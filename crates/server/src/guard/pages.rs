//! What pages of the listed origins are told, so that their browsers let them use this server; nobody is told so by default.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::CorsLayer;

/// How long a browser may remember what it was told.
const REMEMBERED: Duration = Duration::from_secs(600);

/// What such a page may send beyond what any page may.
const SENT: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("last-event-id"),
];

/// Nothing where nobody is listed.
pub(crate) fn shared(origins: &[String]) -> Option<CorsLayer> {
    let listed: Vec<HeaderValue> = origins.iter().filter_map(|it| it.parse().ok()).collect();
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(SENT)
        .expose_headers([header::LOCATION, header::RETRY_AFTER])
        .max_age(REMEMBERED);
    (!listed.is_empty()).then(|| layer.allow_origin(listed))
}
