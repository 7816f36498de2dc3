//! Google's Gemini API in version `v1beta`. Version `v1` rejects the fields it lacks, and the error
//! says what to do.

mod decoder;
mod schema;
#[cfg(test)]
mod tests;

use quorum_core::{
    call::{Call, MessageRole},
    model::error::{ErrorClass, ProviderError},
};
use serde_json::{Value, json};

use self::decoder::{Response, StreamDecoder, status};
use super::{
    Auth, DISCUSS, DISCUSS_SUMMARY, Framing, Model, Outgoing, Probe, Refused, Schema, Shows, Wire,
    discuss_schema, effort, system_and_turns, text::in_path,
};

pub(super) const WIRE: Wire = Wire {
    name: "gemini",
    summary: "Google's Gemini API",
    auth: Auth { header: "x-goog-api-key", prefix: "" },
    headers: &[],
    framing: Framing::Events,
    encode,
    decoder: |_| Box::new(StreamDecoder::default()),
    refusal,
    probe,
    hottest: 2.0,
    embedding: None,
    listing: None,
};

/// The most stop sequences the API accepts; all are enforced on the answer.
const MOST_STOPS: usize = 5;

fn encode(call: &Call, model: &Model) -> Outgoing {
    let config = config(call, model);
    // The API accepts either JSON output or a tool, not both.
    let offers_tool = call.may_convene && model.quirks.tools && config.get("responseMimeType").is_none();
    let (system, turns) = system_and_turns(call, model);
    let mut body = json!({ "contents": null, "generationConfig": config });
    body["contents"] = contents(turns).into();
    if let Some(system) = system {
        body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
    }
    if offers_tool {
        body["tools"] = json!([{ "functionDeclarations": [discuss()] }]);
    }
    Outgoing { path: format!("{}:streamGenerateContent?alt=sse", path(model)), body }
}

fn contents(turns: Vec<(MessageRole, String)>) -> Vec<Value> {
    let role = |voiced| if voiced == MessageRole::Assistant { "model" } else { "user" };
    let content = |(voiced, text)| json!({ "role": role(voiced), "parts": [{ "text": text }] });
    turns.into_iter().map(content).collect()
}

fn config(call: &Call, model: &Model) -> Value {
    let quirks = model.quirks;
    let mut config = json!({ "maxOutputTokens": call.max_tokens });
    if quirks.temperature {
        config["temperature"] = json!(call.temperature.clamp(0.0, WIRE.hottest));
    }
    if let Some(effort) = effort(call, model) {
        config["thinkingConfig"] = json!({ "thinkingLevel": effort });
    }
    let stop: Vec<&String> = call.stop.iter().filter(|it| !it.is_empty()).take(MOST_STOPS).collect();
    if quirks.stop && !stop.is_empty() {
        config["stopSequences"] = json!(stop);
    }
    let schema = call.shape.as_ref().and_then(|it| it.schema.as_deref());
    if let (Some(schema), Schema::Strict | Schema::Json) = (schema, quirks.schema) {
        config["responseMimeType"] = json!("application/json");
        if quirks.schema == Schema::Strict {
            // The older `responseSchema` has a dialect without additionalProperties or type unions;
            // the models that supported only that one are gone.
            config["responseJsonSchema"] = schema::ordered(schema);
        }
    }
    config
}

/// In the dialect of `parameters`, which every version with tools supports and which has no
/// additionalProperties.
fn discuss() -> Value {
    let mut parameters = discuss_schema();
    if let Some(fields) = parameters.as_object_mut() {
        fields.shift_remove("additionalProperties");
    }
    json!({ "name": DISCUSS, "description": DISCUSS_SUMMARY, "parameters": parameters })
}

fn probe(model: &Model) -> Probe {
    Probe { path: path(model), body: None, shows: Shows::ByStatus }
}

/// The path of a model. `models/` is part of a name as Google lists it, and may be omitted.
fn path(model: &Model) -> String {
    let name = in_path(&model.name);
    if name.contains('/') { format!("/{name}") } else { format!("/models/{name}") }
}

fn refusal(refused: &Refused<'_>) -> ProviderError {
    let status = match (refused.status, serde_json::from_str::<Response<'_>>(refused.body)) {
        (200, Ok(Response { error: Some(error), .. })) => status(&error),
        (status, _) => status,
    };
    let usual = Refused { status, ..*refused }.usual();
    let class = match status {
        // An invalid key is reported as a bad request.
        400 if refused.body.contains("API_KEY_INVALID") => ErrorClass::Authentication,
        // Cancelled by the server, not by us.
        499 => ErrorClass::ApiError,
        _ => usual.class,
    };
    ProviderError { class, message: with_advice(without_key(usual.message)), ..usual }
}

/// Adds advice to the error of an older API version, which only names the field it doesn't know.
fn with_advice(message: String) -> String {
    if message.contains("Cannot find field") {
        return format!("{message}; a base_url that ends with /v1beta may know it");
    }
    message
}

/// The message without the key, which a suspension quotes as `'api_key:…'`.
fn without_key(message: String) -> String {
    const BEFORE: &str = "api_key:";
    let Some(at) = message.find(BEFORE) else { return message };
    let (before, key) = message.split_at(at + BEFORE.len());
    let end = key.find(|it: char| !it.is_ascii_alphanumeric() && !"-_".contains(it)).unwrap_or(key.len());
    format!("{before}…{}", &key[end..])
}
