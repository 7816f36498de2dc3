//! Events of one discussion: past ones, then live ones.

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{Scope, model::id::Seq};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::{App, StreamSlot},
    body::{Id, Params},
    guard::Caller,
    live::{
        frame::EventId,
        watcher::{View, Watcher},
    },
    problem::{self, Problem},
    wire::answers,
};

/// The start of the stream, and the view.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
    /// Only events after this number; the header `Last-Event-ID` has the same meaning.
    after: Option<u64>,
    /// The twelve events, every fact as recorded, or everything.
    #[param(inline)]
    view: Option<Kind>,
}

/// The contents of a stream.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The twelve events, and text as it is written.
    Events,
    /// Every fact.
    Facts,
    /// Every fact, and text as it is written.
    All,
}

/// One event of a stream, as SSE clients receive it.
#[derive(ToSchema)]
#[schema(as = StreamedEvent)]
#[expect(dead_code, reason = "it documents the wire format; frames are rendered once for all watchers")]
pub(crate) struct Told {
    /// The sequence number of a recorded event; text deltas have none. With PostgreSQL, the epoch
    /// of the log comes before it: `3-12`. It changes when a replica takes over.
    #[schema(value_type = String, example = "12")]
    id: Option<String>,
    /// Its name.
    #[schema(value_type = answers::EventName)]
    event: String,
    /// A JSON document: the `EventData` whose `x-events` has the name.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// Listen to a discussion, from its beginning or from a given event
///
/// Recorded events have a number; text deltas have none. A client that joins in the middle of a
/// turn first receives the text so far, as a chunk with offset 0. A chunk with offset 0 replaces
/// the text received before for its step.
#[utoipa::path(
    get, path = "/api/discussions/{id}/events", tag = "discussions",
    params(
        Id, From,
        (
            "Last-Event-ID" = inline(Option<String>), Header, pattern = r"^([0-9]+-)?[0-9]+$|^$",
            description = "Only events after the one with this id, or from the beginning if it is of an older epoch"
        )
    ),
    responses(
        (status = 200, description = "The events", content_type = "text/event-stream", body = Told),
        (status = 204, description = "It is over, and there are no more events")
    )
)]
pub(super) async fn events(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    Params(from): Params<From>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = match last_heard(&headers)? {
        Some(id) => id.resumed_in(app.quorum().log_epoch()),
        None => Seq(from.after.unwrap_or_default()),
    };
    let discussion = scope.discussion(id).await?;
    let slot = stream_slot(&app, &scope)?;
    let view = match from.view {
        None | Some(Kind::Events) => View::Events,
        Some(Kind::Facts) => View::Facts,
        Some(Kind::All) => View::All,
    };
    let watcher = app.hub.watch(&discussion, view, after).await?;
    if watcher.has_nothing_new() {
        // Browsers reconnect after the end of a stream, but not after this status.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(stream(watcher.never_silent_for(app.limits().silence).holding(slot)))
}

/// The header that a browser sends when it reconnects.
fn last_heard(headers: &HeaderMap) -> Result<Option<EventId>, Problem> {
    let Some(given) = headers.get("last-event-id") else { return Ok(None) };
    let given = given.to_str().map(str::trim).unwrap_or("?");
    if given.is_empty() {
        // Sent by a client that has received nothing yet.
        return Ok(None);
    }
    given
        .parse()
        .ok()
        .map(Some)
        .ok_or_else(|| Problem::parameter("Last-Event-ID", "must be the id of an event"))
}

/// A stream slot, or an error if none is free.
pub(crate) fn stream_slot(app: &App, scope: &Scope) -> Result<StreamSlot, Problem> {
    let message = "too many event streams are open; try again later";
    app.streams.acquire(scope.tenant()).ok_or_else(|| Problem::new(problem::TOO_MANY, message).after(5))
}

/// The SSE response. Proxies must not buffer it.
pub(crate) fn stream(watcher: Watcher) -> Response {
    let mut response = Body::from_stream(watcher.frames()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
