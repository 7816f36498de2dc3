//! The protocol over HTTP: one path behind the guard, without sessions.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    extract::{Request, State},
    http::{Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use quorum::Scope;
use rmcp::{
    ServerHandler,
    model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use tokio::sync::Notify;

use crate::{
    app::App,
    body::received,
    mcp::{
        calls::CallMark,
        handler::{Caller, Handler},
        stdio::unreadable,
    },
    problem::Problem,
};

/// Where it is served.
pub(crate) const PATH: &str = "/mcp";

/// Answers one request. Host, origin, token and rate were checked by the guard.
pub(crate) async fn answer(State(app): State<App>, request: Request) -> Response {
    let handler = Handler { app: app.clone(), caller: Caller::Guarded };
    answer_by(handler, &app, request).await
}

/// The same by any handler.
pub(crate) async fn answer_by<H>(handler: H, app: &App, request: Request) -> Response
where
    H: ServerHandler + Clone,
{
    let (request, open) = match whole(app, request).await {
        Ok(whole) => whole,
        Err(refused) => return *refused,
    };
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config(app));
    let response = service.handle(request).await.map(Body::new);
    match open {
        Some(open) if is_stream(&response) => response.map(|body| until_cancelled(body, open)),
        Some(_) | None => response,
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    kind.is_some_and(|it| it.starts_with("text/event-stream"))
}

/// The body up to the cancellation of its request: a client that cancelled expects no answer. The
/// library takes the end of the stream for a closed connection, and cancels the call.
fn until_cancelled(body: Body, open: OpenCall) -> Body {
    let cancelled = async move { open.cancelled.notified().await };
    Body::from_stream(body.into_data_stream().take_until(Box::pin(cancelled)))
}

/// A request that its client may cancel by a message of its own, for as long as this exists.
struct OpenCall {
    app: App,
    mark: CallMark,
    cancelled: Arc<Notify>,
}

impl OpenCall {
    fn new(app: &App, mark: CallMark) -> Self {
        let cancelled = app.mcp.calls.open(mark.clone());
        OpenCall { app: app.clone(), mark, cancelled }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.app.mcp.calls.close(&self.mark, &self.cancelled);
    }
}

/// No session is kept, so that a restart breaks no client. The guard has checked names and origins.
fn config(app: &App) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_sse_retry(None)
        .with_sse_keep_alive(Some(app.limits().silence))
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(app.limits().body_bytes)
}

/// The request with its body in memory, if that arrives in time, is not too large and is a message;
/// and how its client may cancel it.
async fn whole(app: &App, request: Request) -> Result<(Request, Option<OpenCall>), Box<Response>> {
    if request.method() != Method::POST {
        return Ok((request, None));
    }
    let (parts, body) = request.into_parts();
    let received = received(Request::new(body), app).await;
    let bytes = received.map_err(|problem: Problem| Box::new(problem.into_response()))?;
    // The library would answer that its media type is not supported.
    let refused = || Box::new((StatusCode::BAD_REQUEST, Json(unreadable(&bytes))).into_response());
    let message: ClientJsonRpcMessage = serde_json::from_slice(&bytes).map_err(|_| refused())?;
    cancel(app, &parts, &message);
    let open = mark_of(&parts, &message).map(|mark| OpenCall::new(app, mark));
    Ok((Request::from_parts(parts, Body::from(bytes)), open))
}

/// The mark of a request.
fn mark_of(parts: &Parts, message: &ClientJsonRpcMessage) -> Option<CallMark> {
    let JsonRpcMessage::Request(request) = message else { return None };
    Some(CallMark::of(parts.extensions.get::<Scope>()?, parts, request.id.to_string()))
}

impl CallMark {
    fn of(scope: &Scope, parts: &Parts, request: String) -> CallMark {
        let program = parts.headers.get(header::USER_AGENT).and_then(|it| it.to_str().ok());
        CallMark {
            tenant: scope.tenant().name().to_owned(),
            who: scope.who().to_owned(),
            program: program.unwrap_or_default().to_owned(),
            request,
        }
    }
}

/// Cancels the call that this message names. Without a session, the library can't tell which one
/// is meant.
fn cancel(app: &App, parts: &Parts, message: &ClientJsonRpcMessage) {
    let JsonRpcMessage::Notification(message) = message else { return };
    if let Some(scope) = parts.extensions.get::<Scope>()
        && let ClientNotification::CancelledNotification(cancelled) = &message.notification
        && let Some(request) = &cancelled.params.request_id
    {
        app.mcp.calls.cancel(&CallMark::of(scope, parts, request.to_string()));
    }
}
