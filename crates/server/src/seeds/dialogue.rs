//! `POST /api/discussion`: two models talk while the caller listens (A15).

use axum::{extract::State, http::HeaderMap, response::Response};
use quorum::{Error, model::id::Seq};

use crate::{
    app::App,
    body::Body,
    guard::Caller,
    live::watcher::View,
    problem::Problem,
    routes::{discussions, events},
    seeds::dialogue_order::{Dialogue, in_its_words},
    wire::order::KEY,
};

/// Run a dialogue of two models and stream its events
///
/// The response is a stream of events. Closing it aborts the discussion unless `detach` is true. If
/// the same order was sent several times with one `Idempotency-Key`, the last response to be closed
/// does.
#[utoipa::path(
    post, path = "/api/discussion", tag = "discussions", request_body = Dialogue,
    params(("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    responses((status = 200, description = "The events", content_type = "text/event-stream", body = events::Told))
)]
pub(super) async fn converse(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Body(dialogue): Body<Dialogue>,
) -> Result<Response, Problem> {
    let in_words = |error: Error| match error {
        Error::Refused(complaints) => {
            Problem::refused(&complaints.into_iter().map(in_its_words).collect::<Vec<_>>())
        }
        other => Problem::from(other),
    };
    let mut request = dialogue.request(&app.usable_providers()).map_err(|wrong| Problem::refused(&wrong))?;
    discussions::choose_voices(&app, &mut request);
    let spec = dialogue.name(scope.check(&request).map_err(in_words)?);
    let slot = events::stream_slot(&app, &scope)?;
    let order = discussions::Order { what: "dialogue", headers: &headers, body: &dialogue };
    let discussion = discussions::place(&app, &scope, spec, order).await?.discussion;
    let watcher = app.hub.watch(&discussion, View::Events, Seq::START).await?;
    let watcher = watcher.never_silent_for(app.limits().silence).holding(slot);
    let watcher = match (dialogue.detach, headers.contains_key(KEY)) {
        (true, _) => watcher,
        (false, false) => watcher.aborting(),
        (false, true) => watcher.aborting_as_last().await?,
    };
    Ok(events::stream(watcher))
}
