//! `/v1/chat/completions`: a whole discussion as one chat completion.

use axum::{
    Json,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use quorum::{
    Registry,
    model::{client::Author, state::State as DiscussionState},
    request::limits::TEMPERATURE,
};
use serde_json::{Map, Value, json};

use super::{chat_stream::ChatStream, created_at, usage};
use crate::{
    app::App,
    guard::Caller,
    routes::events::stream_slot,
    v1::{
        Waiting,
        answer::Answer,
        body::Fields,
        conversation::{Asked, Conversation, bounded, called, role_of, text_of, unknown_role},
        cut::Ended,
        fault::Fault,
        fusion,
        given::Given,
        schema::schema,
        start::{Sent, start},
        stream::{name_discussion, streamed},
        waited::{Waited, waited},
        wanted::{self, PanelOptions, Wanted},
    },
};

const PATH: &str = "/v1/chat/completions";

/// Ask the panel as if it were one model, in OpenAI's format
///
/// The last message is the question, system messages are instructions, and earlier messages go to
/// everyone as the conversation so far. With `stream`, the talk comes as reasoning and the
/// synthesis as content. The answer has a field `quorum` with votes, dissent and what was ignored.
#[utoipa::path(
    post, path = "/v1/chat/completions", operation_id = "create_chat_completion", tag = "panel as a model", request_body = crate::wire::panel_model::ChatOrder,
    params(("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    responses((status = 200, description = "The answer, or its events", content(
        (crate::wire::answers::ChatCompletion = "application/json"), (crate::wire::panel_model::VendorEvent = "text/event-stream")
    )), (status = 404, description = "There is no such model", body = crate::wire::panel_model::VendorError))
)]
pub(super) async fn complete(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Fields(body): Fields,
) -> Result<Response, Fault> {
    let (wanted, has_usage) = read(body.clone(), app.registry())?;
    let sent = Sent { path: PATH, headers: &headers, body: &body };
    if wanted.stream {
        let slot = stream_slot(&app, &scope)?;
        let client = start(&app, &scope, &wanted, sent, Waiting::OnStream).await?;
        let format =
            ChatStream::new(&wanted.model, client.discussion().id(), has_usage, wanted.fusion.is_some());
        return streamed(&app, client, slot, wanted.panel.thinking, format).await;
    }
    let client = start(&app, &scope, &wanted, sent, Waiting::ForTheEnd).await?;
    let id = client.discussion().id();
    let Waited { answer, state, talk } = waited(&app, client, wanted.panel.thinking).await?;
    let mut response = Json(completion(&wanted, &answer, &state, talk)).into_response();
    name_discussion(&mut response, id);
    Ok(response)
}

fn completion(wanted: &Wanted, answer: &Answer, state: &DiscussionState, talk: Option<String>) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer.content(), "refusal": null });
    if let Some(talk) = talk {
        message["reasoning_content"] = json!(talk);
        message["reasoning"] = json!(talk);
    }
    let mut told = json!({
        "id": format!("chatcmpl-{}", state.id), "object": "chat.completion",
        "created": created_at(state.id), "model": wanted.model, "system_fingerprint": null,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish(answer.ended) }],
        "usage": usage::of_chat(&answer.usage), "quorum": answer.quorum,
    });
    if wanted.fusion.is_some() {
        told["fusion"] = fusion::item(&format!("fus_{}", state.id), state, Some(&answer.outcome));
    }
    told
}

/// The finish reason.
pub(super) fn finish(ended: Ended) -> &'static str {
    match ended {
        Ended::Complete | Ended::Stopped => "stop",
        Ended::Length => "length",
    }
}

/// The request in these fields, and whether its stream ends with the usage.
fn read(body: Map<String, Value>, registry: &Registry) -> Result<(Wanted, bool), Fault> {
    let mut given = Given::body(body)?;
    let model = wanted::model(&mut given)?;
    let asked = asked(&mut given)?;
    refuse_unsupported(&mut given)?;
    let tool = wanted::tools(&mut given)?;
    let fusion = fusion::configured(&mut given, tool)?;
    let shown = wanted::shown(&mut given)?;
    let panel = PanelOptions::take(&mut given, shown, registry)?;
    let format = given.object("response_format")?;
    let schema = schema(format)?;
    let (session, task) = wanted::metadata(&mut given)?;
    let has_usage = given.parts("stream_options", |it| it.flag("include_usage"))?;
    let has_usage = has_usage.flatten().unwrap_or(false);
    let wanted = Wanted {
        model,
        asked,
        temperature: given.number("temperature", TEMPERATURE)?,
        max_tokens: wanted::max_tokens(&mut given, &["max_tokens", "max_completion_tokens"])?,
        stop: wanted::stops(&mut given, "stop", schema.as_ref())?,
        seed: wanted::seed(&mut given)?,
        schema,
        panel,
        fusion,
        session,
        previous: None,
        repeated: Map::new(),
        task,
        stream: given.flag("stream")?.unwrap_or(false),
        ignored: given.ignored(),
    };
    Ok((wanted, has_usage))
}

/// Refuses parameters that change what is answered and have no meaning here.
fn refuse_unsupported(given: &mut Given) -> Result<(), Fault> {
    if given.whole("n", 1..=128)?.is_some_and(|it| 1 < it) {
        return Err(Fault::unsupported("n", "a panel gives one answer; send several requests"));
    }
    let is_scored = given.flag("logprobs")? == Some(true);
    let is_ranked = given.take("top_logprobs").is_some_and(|it| it != 0);
    let is_modal = given.texts("modalities", 8)?.iter().any(|it| it != "text");
    let is_spoken = given.take("audio").is_some();
    let called = given.take("function_call");
    let is_called = called.as_ref().is_some_and(Value::is_object);
    for (param, is_given, message) in [
        ("logprobs", is_scored, "a panel has no log probabilities"),
        ("top_logprobs", is_ranked, "a panel has no log probabilities"),
        ("modalities", is_modal, "a panel answers with text alone"),
        ("audio", is_spoken, "a panel answers with text alone"),
        ("function_call", is_called, "a panel calls no functions of the client; send auto or none"),
    ] {
        if is_given {
            return Err(Fault::unsupported(param, message));
        }
    }
    if called.is_some() {
        given.ignore("function_call");
    }
    Ok(())
}

fn asked(given: &mut Given) -> Result<Asked, Fault> {
    let messages = given.list("messages")?.unwrap_or_default();
    let mut conversation = Conversation::default();
    for (index, message) in bounded(&messages, "messages")?.iter().enumerate() {
        say(&mut conversation, message, &format!("messages[{index}]"))?;
    }
    conversation.asked("messages")
}

fn say(conversation: &mut Conversation, message: &Value, param: &str) -> Result<(), Fault> {
    let role = role_of(message, param)?;
    let text = text_of(message.get("content"), &format!("{param}.content"))?;
    match role {
        "system" | "developer" => conversation.instruct(&text),
        "user" => conversation.say(Author::User, &text),
        "assistant" => {
            let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
            let calls = calls.map(|it| called(&it["function"]["name"], &it["function"]["arguments"]));
            let texts: Vec<String> = std::iter::once(text).chain(calls).filter(|it| !it.is_empty()).collect();
            conversation.say(Author::Assistant, &texts.join("\n"));
        }
        "tool" | "function" => conversation.say(Author::Tool, &text),
        _ => return Err(unknown_role(role, param)),
    }
    Ok(())
}
