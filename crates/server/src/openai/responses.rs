//! `/v1/responses`: a discussion as a response, also in the background.

use axum::{
    Json,
    extract::{Path, State},
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use quorum::{
    Discussion,
    model::{
        client::ClientOrder, command::Command, id::DiscussionId, lifecycle::Lifecycle,
        state::State as DiscussionState,
    },
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    created_at,
    responses_request::{FUSION, MESSAGE, REASONING, RESPONSE, Requested, id_of, read, repeated},
    responses_stream::ResponseStream,
    usage,
};
use crate::{
    app::App,
    body::Params,
    guard::Caller,
    routes::events::stream_slot,
    v1::{
        Waiting,
        answer::{ABORTED, Answer, answer},
        body::{Fields, refuse_recursion},
        client_order,
        cut::Ended,
        fault::Fault,
        fusion,
        start::{Sent, start},
        stream::{Reader, name_discussion, streamed},
        waited::{Waited, recorded_talk, waited},
        wanted::Wanted,
    },
};

const PATH: &str = "/v1/responses";

/// Ask the panel as if it were one model, in the format of OpenAI's responses
///
/// With `background`, the answer is `queued` at once, and `GET /v1/responses/{id}` has it later:
/// the way for long discussions. `previous_response_id` takes the conversation from the record.
#[utoipa::path(
    post, path = "/v1/responses", operation_id = "create_response", tag = "panel as a model", request_body = crate::wire::panel_model::ResponseOrder,
    params(("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    responses(
        (status = 200, description = "The response, or its events", content(
            (crate::wire::answers::VendorResponse = "application/json"), (crate::wire::panel_model::VendorEvent = "text/event-stream")
        )),
        (status = 404, description = "There is no such model or previous response", body = crate::wire::panel_model::VendorError)
    )
)]
pub(super) async fn create(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Fields(body): Fields,
) -> Result<Response, Fault> {
    let Requested { wanted, is_background } = read(&scope, app.registry(), body.clone()).await?;
    let sent = Sent { path: PATH, headers: &headers, body: &body };
    if wanted.stream {
        let slot = stream_slot(&app, &scope)?;
        let waiting = if is_background { Waiting::Not } else { Waiting::OnStream };
        let client = start(&app, &scope, &wanted, sent, waiting).await?;
        let about = About::new(client.discussion().id(), &wanted, is_background);
        let format = ResponseStream::new(about, wanted.fusion.is_some());
        return streamed(&app, client, slot, wanted.panel.thinking, format).await;
    }
    let waiting = if is_background { Waiting::Not } else { Waiting::ForTheEnd };
    let client = start(&app, &scope, &wanted, sent, waiting).await?;
    let id = client.discussion().id();
    let about = About::new(id, &wanted, is_background);
    let told = if is_background {
        about.unfinished("queued")
    } else {
        let Waited { answer, state, talk } = waited(&app, client, wanted.panel.thinking).await?;
        let fusion = wanted.fusion.is_some().then(|| fusion_item(&state, &answer));
        about.finished(&answer, before_message(id, fusion, talk))
    };
    let mut response = Json(told).into_response();
    name_discussion(&mut response, id);
    Ok(response)
}

/// The query of a retrieval.
#[derive(Deserialize)]
pub(super) struct Retrieval {
    stream: Option<bool>,
    starting_after: Option<String>,
}

/// Get a response
///
/// `queued` and `in_progress` while it is discussed, `completed`, `incomplete`, `failed` or
/// `cancelled` afterwards. With `stream`, all of its events from the first one, and those that
/// follow as they happen.
#[utoipa::path(
    get, path = "/v1/responses/{response}", operation_id = "retrieve_response", tag = "panel as a model",
    params(
        ("response" = String, Path, description = "The id: `resp_` and that of the discussion"),
        ("stream" = Option<bool>, Query, description = "Whether it comes as events")
    ),
    responses(
        (status = 200, description = "The response as far as it is, or its events", content(
            (crate::wire::answers::VendorResponse = "application/json"), (crate::wire::panel_model::VendorEvent = "text/event-stream")
        )),
        (status = 404, description = "There is no such response", body = crate::wire::panel_model::VendorError)
    )
)]
pub(super) async fn retrieve(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Path(response): Path<String>,
    Params(Retrieval { stream, starting_after }): Params<Retrieval>,
) -> Result<Response, Fault> {
    refuse_recursion(&headers)?;
    let discussion = scope.discussion(id_of(&response)?).await?;
    // Text that was streamed in pieces is told as a whole later, so the numbers differ.
    if starting_after.is_some() {
        let message = "a stream is told from its beginning; leave starting_after out";
        return Err(Fault::unsupported("starting_after", message));
    }
    if stream != Some(true) {
        return found(&app, &discussion).await;
    }
    let slot = stream_slot(&app, &scope)?;
    let state = discussion.state().await?;
    let order = state.spec.client.clone().unwrap_or_default();
    let format = ResponseStream::new(About::recorded(&state), order.analysis);
    streamed(&app, Reader::LookingOn(discussion), slot, order.thinking, format).await
}

/// Cancel a response
///
/// Ends its discussion at once.
#[utoipa::path(
    post, path = "/v1/responses/{response}/cancel", operation_id = "cancel_response", tag = "panel as a model",
    params(("response" = String, Path, description = "The id: `resp_` and that of the discussion")),
    responses(
        (status = 200, description = "The response as it is now", body = crate::wire::answers::VendorResponse),
        (status = 404, description = "There is no such response", body = crate::wire::panel_model::VendorError)
    )
)]
pub(super) async fn cancel(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Path(response): Path<String>,
) -> Result<Response, Fault> {
    refuse_recursion(&headers)?;
    let discussion = scope.discussion(id_of(&response)?).await?;
    if !discussion.state().await?.lifecycle.is_terminal() {
        discussion.steer(Command::Abort).await?;
        let mut listener = app.hub.hear(&discussion).await?;
        let mut state = discussion.state().await?;
        while !state.lifecycle.is_terminal() && listener.next().await.is_some() {
            state = discussion.state().await?;
        }
    }
    found(&app, &discussion).await
}

/// The answer with a response in whichever state its discussion is.
async fn found(app: &App, discussion: &Discussion) -> Result<Response, Fault> {
    let mut response = Json(as_it_is(app, discussion).await?).into_response();
    name_discussion(&mut response, discussion.id());
    Ok(response)
}

/// A response in whichever state its discussion is.
async fn as_it_is(app: &App, discussion: &Discussion) -> Result<Value, Fault> {
    let state = discussion.state().await?;
    let client = state.spec.client.clone().unwrap_or_default();
    let about = About::recorded(&state);
    Ok(match state.lifecycle {
        Lifecycle::Configuring | Lifecycle::Validating | Lifecycle::Ready => about.unfinished("queued"),
        Lifecycle::Initializing | Lifecycle::Running | Lifecycle::Paused | Lifecycle::Completing => {
            about.unfinished("in_progress")
        }
        Lifecycle::Completed | Lifecycle::Error | Lifecycle::Aborted => {
            let talk = recorded_talk(app, discussion, client.thinking).await?;
            match answer(&state, app.registry()) {
                Ok(answer) => {
                    let fusion = client.analysis.then(|| fusion_item(&state, &answer));
                    about.finished(&answer, before_message(state.id, fusion, talk))
                }
                Err(fault) => {
                    let fusion = client.analysis.then(|| failed_fusion_item(&state, &fault));
                    about.failed(&fault, before_message(state.id, fusion, talk))
                }
            }
        }
    })
}

/// The items before the message: Fusion's, and the talk.
fn before_message(id: DiscussionId, fusion: Option<Value>, talk: Option<String>) -> Vec<Value> {
    fusion.into_iter().chain(talk.map(|it| reasoning_item(id, &it))).collect()
}

/// What every state of a response has.
pub(super) struct About {
    pub(super) id: DiscussionId,
    pub(super) model: String,
    pub(super) previous: Option<String>,
    pub(super) is_background: bool,
    /// The parameters of the request that it repeats.
    repeated: Value,
}

impl About {
    fn new(id: DiscussionId, wanted: &Wanted, is_background: bool) -> About {
        About::of(id, client_order(wanted, None), is_background)
    }

    /// The same of an earlier response, from its record.
    fn recorded(state: &DiscussionState) -> About {
        let order = state.spec.client.clone();
        let is_background = order.as_ref().is_some_and(|it| it.attended.is_none());
        About::of(state.id, order.unwrap_or_default(), is_background)
    }

    fn of(id: DiscussionId, order: ClientOrder, is_background: bool) -> About {
        let repeated = repeated(&order);
        About { id, model: order.model, previous: order.previous, is_background, repeated }
    }

    pub(super) fn unfinished(&self, status: &str) -> Value {
        let own = json!({
            "id": format!("{RESPONSE}{}", self.id), "object": "response", "created_at": created_at(self.id),
            "status": status, "background": self.is_background, "error": null, "incomplete_details": null,
            "model": self.model, "output": [], "parallel_tool_calls": false,
            "previous_response_id": self.previous, "store": true,
            "reasoning": { "effort": null, "summary": null }, "top_p": null, "tool_choice": "auto", "tools": [],
            "truncation": "disabled", "usage": null, "user": null, "completed_at": null,
            "frequency_penalty": null, "presence_penalty": null,
        });
        with(&own, self.repeated.clone())
    }

    /// The finished response, with these items before the message.
    pub(super) fn finished(&self, answer: &Answer, mut output: Vec<Value>) -> Value {
        output.push(message_item(self.id, &answer.content(), answer.ended));
        let mut told = self.unfinished(status(answer.ended));
        told["output"] = output.into();
        told["usage"] = usage::of_response(&answer.usage);
        told["quorum"] = answer.quorum.clone();
        told["completed_at"] = json!(created_at(self.id) + answer.outcome.total_duration_ms / 1_000);
        if answer.ended == Ended::Length {
            told["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        }
        told
    }

    /// The response that failed or was cancelled, with the items so far.
    pub(super) fn failed(&self, fault: &Fault, output: Vec<Value>) -> Value {
        let is_cancelled = fault.code() == ABORTED;
        let mut told = self.unfinished(if is_cancelled { "cancelled" } else { "failed" });
        if !is_cancelled {
            told["error"] = json!({ "code": fault.code(), "message": fault.message() });
        }
        told["output"] = output.into();
        told
    }
}

/// These fields, and more.
pub(super) fn with(fields: &Value, more: Value) -> Value {
    let mut all = fields.clone();
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

/// The status of a response and of its message.
pub(super) fn status(ended: Ended) -> &'static str {
    match ended {
        Ended::Complete | Ended::Stopped => "completed",
        Ended::Length => "incomplete",
    }
}

pub(super) fn message_item(id: DiscussionId, text: &str, ended: Ended) -> Value {
    json!({
        "id": format!("{MESSAGE}{id}"), "type": "message", "status": status(ended), "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

pub(super) fn reasoning_item(id: DiscussionId, talk: &str) -> Value {
    json!({
        "id": format!("{REASONING}{id}"), "type": "reasoning",
        "summary": [{ "type": "summary_text", "text": talk }],
    })
}

pub(super) fn fusion_item(state: &DiscussionState, answer: &Answer) -> Value {
    fusion::item(&format!("{FUSION}{}", state.id), state, Some(&answer.outcome))
}

/// The item of a discussion without an answer: what the models said was paid for.
pub(super) fn failed_fusion_item(state: &DiscussionState, fault: &Fault) -> Value {
    let item = fusion::item(&format!("{FUSION}{}", state.id), state, None);
    with(&item, json!({ "error": fault.message() }))
}
