//! The bodies of `/v1` in the OpenAPI document: the fields that have an effect. Others are accepted
//! and ignored, as the vendors' clients send many.

use std::borrow::Cow;

use quorum::{
    registry::Registry,
    request::{
        fields,
        limits::{LONGEST_CONVERSATION, LONGEST_NAME, LONGEST_SESSION, OPTIONS, ROUNDS, most_seats},
    },
};
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema, schema::ObjectBuilder},
};

use crate::v1::{
    conversation::MOST_MESSAGES,
    given::MOST_FIELDS,
    wanted::{MOST_STOPS, field_of},
};

macro_rules! bodies {
    ($($(#[$about:meta])* $name:ident;)*) => {
        $(
            $(#[$about])*
            pub(crate) struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    ObjectBuilder::new().into()
                }
            }

            impl ToSchema for $name {
                fn name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
            }
        )*
    };
}

bodies! {
    /// The body of a chat completion.
    ChatOrder;
    /// The body of a response.
    ResponseOrder;
    /// The body of a message.
    MessageOrder;
}

/// One event of a stream under `/v1`, as SSE clients receive it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it documents the wire format; events are rendered by their vendor's form")]
pub(crate) struct VendorEvent {
    /// Its name, in the formats that name their events.
    #[schema(value_type = String, required = false)]
    event: Option<String>,
    /// A JSON document in the vendor's format; `[DONE]` at the end of a chat completion.
    data: String,
}

/// An error under `/v1`: OpenAI's form, or Anthropic's where `type` is `error`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it documents the wire format; errors are rendered by their vendor's form")]
pub(crate) struct VendorError {
    /// `error` in Anthropic's form; absent in OpenAI's.
    #[schema(value_type = String, required = false)]
    r#type: Option<String>,
    error: VendorErrorBody,
}

/// What happened, in the vendors' terms.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it documents the wire format; errors are rendered by their vendor's form")]
pub(crate) struct VendorErrorBody {
    /// The kind: `invalid_request_error`.
    r#type: String,
    /// What happened, and what to do about it.
    message: String,
    /// A code for programs: `model_not_found`.
    code: String,
    /// The parameter in question.
    param: Option<String>,
}

/// The schemas by their names in the document.
pub(crate) fn schemas(registry: &Registry) -> [(Cow<'static, str>, Value); 3] {
    let chat = json!({
        "messages": messages(&["system", "developer", "user", "assistant", "tool", "function"]),
        "response_format": format("json_schema"),
        "max_completion_tokens": tokens(), "max_tokens": tokens(), "stop": stops(),
        "n": { "type": ["integer", "null"], "minimum": 1, "maximum": 1 },
        "seed": { "type": ["integer", "null"], "minimum": i64::MIN, "maximum": i64::MAX },
        "stream_options": open(&json!({ "include_usage": { "type": ["boolean", "null"] } })),
    });
    let input = json!({ "oneOf": [asked(), messages(&["system", "developer", "user", "assistant"])] });
    let response = json!({
        "input": input, "instructions": nullable(text()), "max_output_tokens": tokens(),
        "background": { "type": ["boolean", "null"] }, "text": open(&json!({ "format": format("") })),
        "previous_response_id": { "type": ["string", "null"], "maxLength": LONGEST_NAME },
    });
    let message = json!({
        "messages": messages(&["user", "assistant", "system"]), "max_tokens": tokens(), "stop_sequences": stops(),
        "system": { "oneOf": [text(), parts()] }, "output_config": open(&json!({ "format": format("") })),
    });
    let panel = panel(registry);
    let asked = json!({ "model": "quorum", "messages": [{ "role": "user", "content": TABS }] });
    [
        (ChatOrder::name(), body(chat, &panel, &["model", "messages"], &asked)),
        (
            ResponseOrder::name(),
            body(response, &panel, &["model", "input"], &json!({ "model": "quorum", "input": TABS })),
        ),
        (MessageOrder::name(), body(message, &panel, &["model", "messages"], &asked)),
    ]
}

/// The question of the examples.
const TABS: &str = "Tabs or spaces?";

fn body(own: Value, panel: &Value, required: &[&str], example: &Value) -> Value {
    let mut properties = json!({
        "model": { "type": "string", "minLength": 1, "maxLength": 2 * LONGEST_NAME, "examples": ["quorum"] },
        "stream": { "type": ["boolean", "null"] },
        "temperature": { "type": ["number", "null"], "minimum": 0, "maximum": 2 },
        "metadata": open(&json!({
            "session_id": { "type": ["string", "null"], "minLength": 1, "maxLength": LONGEST_SESSION, "pattern": "\\S" },
            "task": { "type": ["string", "null"], "minLength": 1, "maxLength": LONGEST_NAME, "pattern": "\\S" },
        })),
        "quorum": panel,
    });
    if let (Value::Object(properties), Value::Object(own)) = (&mut properties, own) {
        properties.extend(own);
    }
    json!({
        "type": "object", "required": required, "properties": properties, "maxProperties": MOST_FIELDS,
        "examples": [example],
        "description": "The vendor's own fields; those without effect are listed in `quorum.ignored`.",
    })
}

/// The field `quorum`: budgets and panel, and every option that the registry declares.
fn panel(registry: &Registry) -> Value {
    let name = json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_NAME });
    let seat = json!({ "oneOf": [name, {
        "type": "object", "required": ["type", "id"], "additionalProperties": false,
        "properties": { "type": { "type": "string", "enum": ["provider", "agent"] }, "id": name },
    }] });
    let mut properties = declared(registry);
    let own = json!({
        "max_cost": { "type": ["number", "null"], "minimum": 1e-9, "maximum": 1e9 },
        "max_calls": { "type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX },
        "rounds": { "type": ["integer", "null"], "minimum": ROUNDS.start(), "maximum": ROUNDS.end() },
        "providers": { "type": ["array", "null"], "items": name, "maxItems": most_seats(registry) },
        "participants": { "type": ["array", "null"], "items": seat, "maxItems": most_seats(registry) },
        "options": { "type": ["array", "null"], "items": name, "maxItems": OPTIONS.end() },
        "thinking": { "type": ["string", "null"], "enum": ["full", "progress", "off", null] },
        "detach": { "type": ["boolean", "null"] },
    });
    if let (Value::Object(properties), Value::Object(own)) = (&mut properties, own) {
        properties.extend(own);
    }
    open(&properties)
}

/// The schemas of the declared options, by the names of their fields.
fn declared(registry: &Registry) -> Value {
    let fields = fields::schemas(registry);
    let options = registry.options().into_iter();
    options.filter_map(|it| Some((field_of(it.name), fields.get(it.name)?.clone()))).collect()
}

/// An object with these fields and others that are ignored.
fn open(properties: &Value) -> Value {
    json!({ "type": ["object", "null"], "properties": properties, "maxProperties": MOST_FIELDS })
}

/// The form of the answer. The schema stands in an object of this name, or else beside the type.
fn format(nested: &str) -> Value {
    let schema = json!({ "schema": {
        "type": "object", "maxProperties": MOST_FIELDS,
        "description": "A JSON Schema of at most 64 KiB. With `strict` beside it, words that we don't check are refused.",
    } });
    let kind = |kinds: &[&str]| json!({ "type": "string", "enum": kinds });
    let (mut required, mut properties) = (vec!["type"], json!({ "type": kind(&["json_schema"]) }));
    if let (true, Value::Object(properties)) = (nested.is_empty(), &mut properties) {
        required.push("schema");
        properties.extend(schema.as_object().cloned().unwrap_or_default());
    } else {
        required.push(nested);
        properties[nested] = json!({
            "type": "object", "required": ["schema"], "properties": schema, "maxProperties": MOST_FIELDS,
        });
    }
    json!({ "oneOf": [
        { "type": "null" },
        { "type": "object", "required": ["type"], "properties": { "type": kind(&["text", "json_object"]) }, "maxProperties": MOST_FIELDS },
        { "type": "object", "required": required, "properties": properties, "maxProperties": MOST_FIELDS },
    ] })
}

fn messages(roles: &[&str]) -> Value {
    let message = json!({
        "type": "object", "required": ["role", "content"], "maxProperties": MOST_FIELDS,
        "properties": {
            "role": { "type": "string", "enum": roles },
            "content": { "oneOf": [text(), parts()] },
        },
    });
    json!({ "type": "array", "minItems": 1, "maxItems": MOST_MESSAGES, "items": message })
}

fn parts() -> Value {
    let part = json!({
        "type": "object", "required": ["type", "text"], "maxProperties": MOST_FIELDS,
        "properties": { "type": { "type": "string", "enum": ["text", "input_text", "output_text"] }, "text": text() },
    });
    json!({ "type": "array", "maxItems": MOST_MESSAGES, "items": part })
}

fn text() -> Value {
    json!({ "type": "string", "maxLength": LONGEST_CONVERSATION })
}

/// A text that asks something.
fn asked() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_CONVERSATION, "pattern": "\\S" })
}

fn nullable(mut schema: Value) -> Value {
    schema["type"] = json!(["string", "null"]);
    schema
}

fn tokens() -> Value {
    json!({ "type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX })
}

fn stops() -> Value {
    let stop = json!({ "type": "string", "minLength": 1, "maxLength": 1_000 });
    json!({ "oneOf": [stop, { "type": "array", "items": stop, "maxItems": MOST_STOPS }, { "type": "null" }] })
}

#[cfg(test)]
mod tests {
    use quorum::{registry::Pattern, vocabulary::option::Opt};

    use super::*;

    const LEGS: Opt<u32> = Opt::whole("legCount", "How often it goes round", 1..=9, 2);

    /// A pattern of another crate.
    static RELAY: Pattern = Pattern { name: "relay", options: &[&LEGS], ..Pattern::PLAIN };

    #[test]
    fn an_option_of_a_foreign_pattern_is_a_field_of_the_panel() {
        let registry = quorum::built_in().with_patterns([&RELAY]);
        for (name, body) in schemas(&registry) {
            let expected = &fields::schemas(&registry)["legCount"];
            assert_eq!(&body["properties"]["quorum"]["properties"]["leg_count"], expected, "{name}");
        }
        let [(_, chat), ..] = schemas(&quorum::built_in());
        assert_eq!(chat["properties"]["quorum"]["properties"].get("leg_count"), None);
    }
}
