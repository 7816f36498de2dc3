//! Guards every request: host name, origin, token and rate limit (S2, S3, S10).

pub(crate) mod headers;
pub(crate) mod pages;
pub(crate) mod rate;
mod token;
pub(crate) mod unread;

use std::{convert::Infallible, net::IpAddr};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderName, Method, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use quorum::Scope;

use crate::{
    app::App,
    problem::{self, Problem},
    settings::Settings,
    web,
};

/// The scope of the caller.
pub(crate) struct Caller(pub(crate) Scope);

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let scope = parts.extensions.get::<Scope>().cloned();
        scope.map(Caller).ok_or_else(|| Problem::new(problem::UNKNOWN_CALLER, "authentication is required"))
    }
}

/// The scope of the caller of a page; `None` if a token is required and none was sent.
pub(crate) struct MaybeCaller(pub(crate) Option<Scope>);

impl FromRequestParts<App> for MaybeCaller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(MaybeCaller(parts.extensions.get::<Scope>().cloned()))
    }
}

/// Paths that need no token.
const OPEN: &[&str] = &[ALIVE, "/readyz"];

const ALIVE: &str = "/healthz";

/// The header with the span that a request comes from.
const TRACEPARENT: &str = "traceparent";

/// The host names this server answers to.
#[derive(Debug)]
pub(crate) struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    pub(crate) fn of(settings: &Settings) -> Self {
        let named = settings.origins.iter().filter_map(|it| it.split_once("://")).map(|(_, host)| name(host));
        let hosts = std::iter::once("localhost".to_owned()).chain(named.map(str::to_owned)).collect();
        Names { hosts, origins: settings.origins.clone() }
    }

    /// Whether the host is one of ours. A page with DNS rebinding sends its own name; an IP address
    /// can't be rebound.
    fn answers_to(&self, host: &str) -> bool {
        let name = name(host).trim_end_matches('.');
        let is_address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        is_address || self.hosts.iter().any(|it| it.eq_ignore_ascii_case(name))
    }

    /// Whether a page of this origin may use the server: our own, or one that is listed.
    fn welcomes(&self, origin: &str, host: &str) -> bool {
        let own = origin.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
        own.is_some_and(|(_, it)| it.eq_ignore_ascii_case(host))
            || self.origins.iter().any(|it| it.eq_ignore_ascii_case(origin))
    }
}

/// A host without its port.
fn name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

/// Admits requests to one of our host names, from an allowed origin, with a content type that other
/// pages can't send.
pub(crate) async fn names(State(app): State<App>, request: Request, next: Next) -> Response {
    match check_names(&app, &request).and_then(|()| check_content(&request)) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Authenticates the caller and applies the rate limit.
pub(crate) async fn callers(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match admit(&app, &request) {
        Ok(scope) => {
            let scope = scope.map(|it| called_by(it, request.headers()));
            scope.and_then(|scope| request.extensions_mut().insert(scope));
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// The scope for the caller's span, if its headers name one. A broken header is ignored, as the
/// W3C says.
fn called_by(scope: Scope, headers: &HeaderMap) -> Scope {
    let mut all = headers.get_all(TRACEPARENT).iter();
    let (first, second) = (all.next(), all.next());
    let sent = first.filter(|_| second.is_none()).and_then(|it| it.to_str().ok()?.parse().ok());
    match sent {
        Some(caller) => scope.called_by(caller),
        None => scope,
    }
}

/// The scope of the caller; `None` for a page without private data.
fn admit(app: &App, request: &Request) -> Result<Option<Scope>, Problem> {
    let presented = token::presented(request.headers());
    let known = token::known(app.tokens(), presented.as_deref());
    check_pace(app, request, known.map_or("", |it| &it.name))?;
    match (app.tokens().is_empty(), known) {
        (true, _) => Ok(Some(app.scope(None))),
        // Liveness is not a secret, and health checks seldom have a token.
        (false, _) if OPEN.contains(&request.uri().path()) => Ok(Some(app.scope(None))),
        (false, Some(token)) => Ok(Some(app.scope(Some(token)))),
        (false, None) if request.method() == Method::GET && web::is_shell(request.uri().path()) => Ok(None),
        (false, None) => {
            let message = "send a token: Authorization: Bearer TOKEN";
            Err(Problem::new(problem::UNKNOWN_CALLER, message))
        }
    }
}

fn check_names(app: &App, request: &Request) -> Result<(), Problem> {
    let host = host(request).ok_or_else(|| Problem::new(problem::INVALID, "there is no Host header"))?;
    if !app.names.answers_to(&host) {
        let message = "this server does not answer to that name; list it under origins in [server]";
        return Err(Problem::new(problem::FOREIGN_HOST, message));
    }
    check_page(app, request, &host)
}

/// Applies the rate limit. Liveness is always answered: that is as cheap as a refusal, and a flood
/// must not look like a crash.
fn check_pace(app: &App, request: &Request, caller: &str) -> Result<(), Problem> {
    if request.uri().path() == ALIVE {
        return Ok(());
    }
    let too_many =
        |seconds| Problem::new(problem::TOO_MANY, "too many requests; wait a moment").after(seconds);
    app.buckets.take_request(caller, app.quorum().node_health().nodes).map_err(too_many)
}

/// The host: HTTP/1.1 sends it as a header, a request in absolute form in its target.
fn host(request: &Request) -> Option<String> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    let header = first.filter(|_| second.is_none())?.to_str().ok()?.trim().to_owned();
    let target = request.uri().authority().map(|it| it.as_str());
    target.is_none_or(|target| target.eq_ignore_ascii_case(&header)).then_some(header)
}

/// Pages of other sites may link here, but may not do anything else.
fn check_page(app: &App, request: &Request, host: &str) -> Result<(), Problem> {
    let foreign = || Problem::new(problem::FOREIGN_ORIGIN, "pages of another origin may not use this server");
    let headers = request.headers();
    for origin in headers.get_all(header::ORIGIN) {
        if !origin.to_str().is_ok_and(|it| app.names.welcomes(it, host)) {
            return Err(foreign());
        }
    }
    let is_named = headers.contains_key(header::ORIGIN);
    let site = text(headers, "sec-fetch-site").unwrap_or_default();
    let follows_a_link =
        request.method() == Method::GET && text(headers, "sec-fetch-mode") == Some("navigate");
    let is_own = matches!(site, "" | "same-origin" | "none") || is_named || follows_a_link;
    is_own.then_some(()).ok_or_else(foreign)
}

fn text<'h>(headers: &'h HeaderMap, name: &'static str) -> Option<&'h str> {
    headers.get(HeaderName::from_static(name)).and_then(|it| it.to_str().ok())
}

/// A form of another site can send anything but JSON.
fn check_content(request: &Request) -> Result<(), Problem> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    if text(request.headers(), "content-encoding").is_some_and(|it| !it.eq_ignore_ascii_case("identity")) {
        return Err(Problem::new(problem::NOT_JSON, "send the body as it is, without Content-Encoding"));
    }
    let Some(given) = request.headers().get(header::CONTENT_TYPE) else { return Ok(()) };
    let kind = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(problem::NOT_JSON, "send Content-Type: application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let origins = vec!["https://panel.example.org".to_owned()];
        Names { hosts: vec!["localhost".to_owned(), "panel.example.org".to_owned()], origins }
    }

    #[test]
    fn s3_requests_to_other_host_names_are_refused() {
        let check = |hosts: &[&str], expected: bool| {
            hosts.iter().for_each(|host| assert_eq!(names().answers_to(host), expected, "{host}"));
        };
        check(&["localhost", "localhost:3000", "LOCALHOST:9", "localhost.", "panel.example.org"], true);
        check(&["127.0.0.1:3000", "[::1]:3000", "[::1]", "10.0.0.7"], true);
        check(
            &["evil.example", "evil.example:3000", "localhost.evil.example", "panel.example.org.evil"],
            false,
        );
        check(&["127.0.0.1.nip.io:3000", "", "1", ":3000"], false);
    }

    #[test]
    fn s3_requests_of_other_origins_are_refused() {
        let check = |origin: &str, expected: bool| {
            assert_eq!(names().welcomes(origin, "localhost:3000"), expected, "{origin}");
        };
        check("http://localhost:3000", true);
        check("https://panel.example.org", true);
        check("http://localhost:3001", false);
        check("http://localhost", false);
        check("null", false);
        check("", false);
        check("http://evil.example", false);
        check("ftp://localhost:3000", false);
        check("https://panel.example.org.evil.example", false);
    }
}
