//! Anthropic's Messages API.

mod cache;
mod decoder;
mod schema;
#[cfg(test)]
mod tests;

use quorum_core::{
    call::{Call, MessageRole},
    model::error::ProviderError,
};
use serde_json::{Value, json};

use self::decoder::{Failed, StreamDecoder};
use super::{
    Auth, DISCUSS, DISCUSS_SUMMARY, Framing, Model, Outgoing, Probe, Refused, Schema, Shows, Wire,
    discuss_schema, effort, message, strict_schema::strict, system_and_turns, text::in_path,
};

pub(super) const WIRE: Wire = Wire {
    name: "anthropic",
    summary: "Anthropic's Messages API",
    auth: Auth { header: "x-api-key", prefix: "" },
    headers: &[("anthropic-version", "2023-06-01")],
    framing: Framing::Events,
    encode,
    decoder: |_| Box::new(StreamDecoder::default()),
    refusal,
    probe,
    hottest: 1.0,
    embedding: None,
    listing: None,
};

fn encode(call: &Call, model: &Model) -> Outgoing {
    let quirks = model.quirks;
    let (system, turns) = system_and_turns(call, model);
    let mut body = json!({
        "model": model.name,
        "max_tokens": call.max_tokens,
        "messages": null,
        "stream": true,
    });
    body["messages"] = messages(turns).into();
    if let Some(system) = system {
        body["system"] = system.into();
    }
    if quirks.temperature {
        // Other vendors accept up to 2, this one up to 1.
        body["temperature"] = json!(call.temperature.clamp(0.0, WIRE.hottest));
    }
    let stop = stop(call);
    if quirks.stop && !stop.is_empty() {
        body["stop_sequences"] = json!(stop);
    }
    if let Some(effort) = effort(call, model) {
        body["output_config"] = json!({ "effort": effort });
    }
    if let Some(schema) = held_to(call, quirks.schema) {
        // Not a forced tool call: models that always think reject one, and all models since Claude
        // 4.5 accept a schema for the answer itself, without a beta header. The JSON comes as plain
        // text.
        body["output_config"]["format"] =
            json!({ "type": "json_schema", "schema": schema::accepted(&strict(schema)) });
    }
    if call.may_convene && quirks.tools {
        body["tools"] =
            json!([{ "name": DISCUSS, "description": DISCUSS_SUMMARY, "input_schema": discuss_schema() }]);
        body["tool_choice"] = json!({ "type": "auto", "disable_parallel_tool_use": true });
    }
    cache::mark(&mut body, call, model);
    Outgoing { path: "/messages".to_owned(), body }
}

fn messages(turns: Vec<(MessageRole, String)>) -> Vec<Value> {
    let role = |voiced| if voiced == MessageRole::Assistant { "assistant" } else { "user" };
    turns.into_iter().map(|(voiced, text)| message(role(voiced), text)).collect()
}

/// Stop sequences of white space only are rejected here; they are enforced on the answer.
fn stop(call: &Call) -> Vec<&String> {
    call.stop.iter().filter(|it| !it.trim().is_empty()).collect()
}

fn held_to(call: &Call, schema: Schema) -> Option<&Value> {
    match schema {
        Schema::Strict => call.shape.as_ref()?.schema.as_deref(),
        // JSON without a schema can't be requested.
        Schema::Json | Schema::Prompt => None,
    }
}

fn probe(model: &Model) -> Probe {
    Probe { path: format!("/models/{}", in_path(&model.name)), body: None, shows: Shows::ByStatus }
}

/// Classifies a response by its status, unless an error comes with a 200.
fn refusal(refused: &Refused<'_>) -> ProviderError {
    match (refused.status, serde_json::from_str::<Failed<'_>>(refused.body)) {
        (200, Ok(failed)) => Refused { status: failed.error.status(), ..*refused }.usual(),
        _ => refused.usual(),
    }
}
