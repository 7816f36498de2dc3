//! `/v1/messages`: a whole discussion as one message.

use axum::{
    Json,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use quorum::{
    Registry,
    model::{
        client::{Author, Thinking},
        state::State as DiscussionState,
    },
    request::limits::TEMPERATURE,
};
use serde_json::{Map, Value, json};

use super::messages_stream::MessageStream;
use crate::{
    app::App,
    guard::Caller,
    routes::events::stream_slot,
    v1::{
        Waiting,
        answer::{Answer, Usage},
        body::Fields,
        conversation::{
            Asked, Conversation, bounded, called, part, role_of, text_of, unknown_role, unsupported_content,
        },
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

const PATH: &str = "/v1/messages";

/// Ask the panel as if it were one model, in Anthropic's format
///
/// The talk comes as a thinking block, the synthesis as text.
#[utoipa::path(
    post, path = "/v1/messages", operation_id = "create_message", tag = "panel as a model", request_body = crate::wire::panel_model::MessageOrder,
    params(("Idempotency-Key" = Option<String>, Header, description = "The client's own key for this order")),
    responses((status = 200, description = "The message, or its events", content(
        (crate::wire::answers::VendorMessage = "application/json"), (crate::wire::panel_model::VendorEvent = "text/event-stream")
    )), (status = 404, description = "There is no such model", body = crate::wire::panel_model::VendorError))
)]
pub(super) async fn create(
    State(app): State<App>,
    Caller(scope): Caller,
    headers: HeaderMap,
    Fields(body): Fields,
) -> Result<Response, Fault> {
    let wanted = read(body.clone(), app.registry())?;
    let sent = Sent { path: PATH, headers: &headers, body: &body };
    if wanted.stream {
        let slot = stream_slot(&app, &scope)?;
        let client = start(&app, &scope, &wanted, sent, Waiting::OnStream).await?;
        let format = MessageStream::new(&wanted.model, client.discussion().id());
        return streamed(&app, client, slot, wanted.panel.thinking, format).await;
    }
    let client = start(&app, &scope, &wanted, sent, Waiting::ForTheEnd).await?;
    let id = client.discussion().id();
    let Waited { answer, state, talk } = waited(&app, client, wanted.panel.thinking).await?;
    let mut response = Json(message(&wanted.model, &answer, &state, talk)).into_response();
    name_discussion(&mut response, id);
    Ok(response)
}

fn message(model: &str, answer: &Answer, state: &DiscussionState, talk: Option<String>) -> Value {
    let thinking = talk.map(|it| json!({ "type": "thinking", "thinking": it, "signature": "" }));
    let text = json!({ "type": "text", "text": answer.content() });
    json!({
        "id": format!("msg_{}", state.id), "type": "message", "role": "assistant", "model": model,
        "content": thinking.into_iter().chain([text]).collect::<Vec<_>>(),
        "stop_reason": stop_reason(answer.ended), "stop_sequence": answer.stop,
        "usage": usage(&answer.usage), "quorum": answer.quorum,
    })
}

pub(super) fn stop_reason(ended: Ended) -> &'static str {
    match ended {
        Ended::Complete => "end_turn",
        Ended::Length => "max_tokens",
        Ended::Stopped => "stop_sequence",
    }
}

/// What all calls used, in Anthropic's terms.
pub(super) fn usage(usage: &Usage) -> Value {
    let Usage { prompt, completion, cached, cache_written, .. } = *usage;
    let told = json!({
        "input_tokens": prompt.saturating_sub(cached + cache_written), "output_tokens": completion,
        "cache_creation_input_tokens": cache_written, "cache_read_input_tokens": cached,
    });
    usage.with_cost(told, ["input", "output"])
}

fn read(body: Map<String, Value>, registry: &Registry) -> Result<Wanted, Fault> {
    let mut given = Given::body(body)?;
    let model = wanted::model(&mut given)?;
    let asked = asked(&mut given)?;
    // Tools that need not be called are ignored; `any` and a named one must be.
    let tool = wanted::tools(&mut given)?;
    let fusion = fusion::configured(&mut given, tool)?;
    let kind = given.parts("thinking", |it| it.text("type"))?.flatten();
    let shown = if kind.as_deref() == Some("disabled") { Thinking::Off } else { Thinking::Full };
    let panel = PanelOptions::take(&mut given, shown, registry)?;
    let schema = schema(format(&mut given)?)?;
    let (session, task) = wanted::metadata(&mut given)?;
    Ok(Wanted {
        model,
        asked,
        temperature: given.number("temperature", TEMPERATURE)?,
        max_tokens: wanted::max_tokens(&mut given, &["max_tokens"])?,
        stop: wanted::stops(&mut given, "stop_sequences", schema.as_ref())?,
        seed: None,
        schema,
        panel,
        fusion,
        session,
        previous: None,
        repeated: Map::new(),
        task,
        stream: given.flag("stream")?.unwrap_or(false),
        ignored: given.ignored(),
    })
}

/// The form of the answer: `output_config.format`, or `output_format` as earlier clients send it.
fn format(given: &mut Given) -> Result<Option<Given>, Fault> {
    let configured = given.parts("output_config", |it| it.object("format"))?.flatten();
    let earlier = given.object("output_format")?;
    Ok(configured.or(earlier))
}

fn asked(given: &mut Given) -> Result<Asked, Fault> {
    let messages = given.list("messages")?.unwrap_or_default();
    let mut conversation = Conversation::default();
    conversation.instruct(&text_of(given.take("system").as_ref(), "system")?);
    for (index, message) in bounded(&messages, "messages")?.iter().enumerate() {
        say(&mut conversation, message, &format!("messages[{index}]"))?;
    }
    conversation.asked("messages")
}

fn say(conversation: &mut Conversation, message: &Value, param: &str) -> Result<(), Fault> {
    let role = role_of(message, param)?;
    let content = message.get("content").unwrap_or(&Value::Null);
    let place = format!("{param}.content");
    let by = match role {
        "user" => Author::User,
        "assistant" => Author::Assistant,
        "system" => {
            conversation.instruct(&text_of(Some(content), &place)?);
            return Ok(());
        }
        _ => return Err(unknown_role(role, param)),
    };
    let Value::Array(blocks) = content else {
        conversation.say(by, &text_of(Some(content), &place)?);
        return Ok(());
    };
    let mut texts = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("{place}[{index}]");
        match block.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text" => texts.push(part(block, &place)?),
            "thinking" | "redacted_thinking" => {}
            "tool_use" | "server_tool_use" => texts.push(called(&block["name"], &block["input"])),
            "tool_result" => {
                let text = text_of(block.get("content"), &format!("{place}.content"))?;
                conversation.say(Author::Tool, &text);
            }
            other => return Err(unsupported_content(other, &place)),
        }
    }
    conversation.say(by, &texts.join("\n"));
    Ok(())
}
