//! Chat completions, the API of OpenAI and nearly everyone else: Mistral, Grok, GLM, Qwen,
//! DeepSeek, OpenRouter, Groq, LM Studio, vLLM, llama.cpp.

mod answer;
#[cfg(test)]
mod tests;

use quorum_core::call::{Call, MessageRole};
use serde_json::{Value, json};

use super::{
    DISCUSS, DISCUSS_SUMMARY, Framing, Limit, Model, Outgoing, Probe, Schema, Shows, Wire, discuss_schema,
    effort, message,
    openai::{self, BEARER},
    strict_schema::strict,
    system_and_turns,
};

pub(super) const WIRE: Wire = Wire {
    name: "openai-chat",
    summary: "Chat completions, supported by OpenAI and most other servers",
    auth: BEARER,
    headers: &[],
    framing: Framing::Events,
    encode,
    decoder: |quirks| Box::new(answer::Answer::of(quirks)),
    refusal: openai::refusal,
    probe,
    hottest: 2.0,
    embedding: Some(openai::EMBEDDING),
    listing: Some(openai::LISTING),
};

/// The most stop sequences OpenAI accepts; all are enforced on the answer.
const MOST_STOPS: usize = 4;

fn encode(call: &Call, model: &Model) -> Outgoing {
    let quirks = model.quirks;
    let limit = match quirks.limit {
        Limit::MaxTokens => "max_tokens",
        Limit::MaxCompletionTokens => "max_completion_tokens",
    };
    let mut body = json!({ "model": model.name, "messages": null, "stream": true });
    body["messages"] = messages(call, model).into();
    body[limit] = call.max_tokens.into();
    if quirks.stream_options {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if quirks.temperature {
        body["temperature"] = call.temperature.into();
    }
    if let Some(effort) = effort(call, model) {
        body["reasoning_effort"] = effort.into();
    }
    let stops: Vec<&String> = call.stop.iter().filter(|it| !it.is_empty()).take(MOST_STOPS).collect();
    if quirks.stop && !stops.is_empty() {
        body["stop"] = json!(stops);
    }
    if let Some(form) = response_format(call, quirks.schema) {
        body["response_format"] = form;
    }
    if offers_discuss(call, model) {
        body["tools"] = json!([discuss()]);
    }
    Outgoing { path: "/chat/completions".to_owned(), body }
}

/// The system instructions and the turns, in the form shared by all wires derived from this one.
pub(super) fn messages(call: &Call, model: &Model) -> Vec<Value> {
    let (system, turns) = system_and_turns(call, model);
    let turns = turns.into_iter().map(|(voiced, text)| (role(voiced), text));
    system
        .map(|text| ("system", text))
        .into_iter()
        .chain(turns)
        .map(|(role, text)| message(role, text))
        .collect()
}

pub(super) fn role(voiced: MessageRole) -> &'static str {
    match voiced {
        MessageRole::Assistant => "assistant",
        MessageRole::User => "user",
    }
}

/// JSON mode is requested only for forms that have a schema: other forms are lines and markers.
fn response_format(call: &Call, how: Schema) -> Option<Value> {
    let shape = call.shape.as_ref()?;
    let schema = shape.schema.as_deref()?;
    match how {
        Schema::Strict => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": shape.form.kind, "schema": strict(schema), "strict": true },
        })),
        Schema::Json => Some(json!({ "type": "json_object" })),
        Schema::Prompt => None,
    }
}

/// Whether the tool is offered. With a schema most servers can't call tools, and some reject the
/// combination.
pub(super) fn offers_discuss(call: &Call, model: &Model) -> bool {
    let has_schema = call.shape.as_ref().is_some_and(|it| it.schema.is_some());
    call.may_convene && model.quirks.tools && !has_schema
}

pub(super) fn discuss() -> Value {
    let function = json!({ "name": DISCUSS, "description": DISCUSS_SUMMARY, "parameters": discuss_schema() });
    json!({ "type": "function", "function": function })
}

/// Requests the list of models: not every compatible server supports a request for one model.
pub(super) fn probe(_model: &Model) -> Probe {
    Probe { path: "/models".to_owned(), body: None, shows: Shows::ByList }
}
