//! CORS headers for pages of the listed origins; none by default.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, CorsLayer};

use crate::v1::answer::DISCUSSION;

/// How long a browser may cache a preflight response.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The CORS layer; `None` if no origins are listed.
pub(crate) fn shared(origins: &[String]) -> Option<CorsLayer> {
    let listed: Vec<HeaderValue> = origins.iter().filter_map(|it| it.parse().ok()).collect();
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // A listed page may send any header: the SDKs of vendors send many of their own.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([header::LOCATION, header::RETRY_AFTER, HeaderName::from_static(DISCUSSION)])
        .max_age(REMEMBERED);
    (!listed.is_empty()).then(|| layer.allow_origin(listed))
}
