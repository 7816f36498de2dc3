//! The protocol over HTTP: one path behind the guard, without sessions.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{Method, request::Parts},
    response::{IntoResponse, Response},
};
use quorum::Scope;
use rmcp::{
    ServerHandler,
    model::{ClientJsonRpcMessage, ClientNotification, JsonRpcMessage},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};

use crate::{
    app::App,
    body::received,
    mcp::{
        calls::CallMark,
        handler::{Caller, Handler},
    },
    problem::{self, Problem},
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
    let request = match whole(app, request).await {
        Ok(request) => request,
        Err(problem) => return problem.into_response(),
    };
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config(app));
    service.handle(request).await.map(Body::new)
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

/// The request with its body in memory, if that arrives in time, is not too large and is no batch.
async fn whole(app: &App, request: Request) -> Result<Request, Problem> {
    if request.method() != Method::POST {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let bytes = received(Request::new(body), app).await?;
    if bytes.iter().find(|it| !it.is_ascii_whitespace()) == Some(&b'[') {
        return Err(Problem::new(problem::INVALID, "send one message at a time, not a batch"));
    }
    cancel(app, &parts, &bytes);
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// Cancels the call that this message names. Without a session, the library can't tell which one
/// is meant.
fn cancel(app: &App, parts: &Parts, bytes: &Bytes) {
    let is_cancellation = || bytes.windows(CANCELLED.len()).any(|it| it == CANCELLED);
    let Some(scope) = parts.extensions.get::<Scope>().filter(|_| is_cancellation()) else { return };
    let Ok(JsonRpcMessage::Notification(message)) = serde_json::from_slice::<ClientJsonRpcMessage>(bytes)
    else {
        return;
    };
    if let ClientNotification::CancelledNotification(cancelled) = message.notification
        && let Some(request) = cancelled.params.request_id
    {
        app.mcp.calls.cancel(&CallMark::of(scope, parts, request.to_string()));
    }
}

/// The method of a cancellation.
const CANCELLED: &[u8] = b"notifications/cancelled";
