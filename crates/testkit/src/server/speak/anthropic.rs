//! Anthropic's Messages API.

mod answer;

use serde_json::{Map, Value, json};

use super::{
    super::{
        prompt_cache::{Part, Prompt},
        request::{Asked, Request},
    },
    EVENTS, Refusal, Speech, Topic,
    fields::{self, Fields, Odd, Type, text, texts},
    named_after, named_in, schema,
};

pub(super) const SPEECH: Speech = Speech {
    name: "anthropic",
    recognise,
    key: |request| request.header("x-api-key"),
    read,
    prompt,
    stream: answer::stream,
    content_type: EVENTS,
    whole: answer::whole,
    model: |name| model(name).to_string(),
    models: |names| {
        let data: Vec<Value> = names.iter().map(|name| model(name)).collect();
        let (first, last) = (names.first(), names.last());
        json!({ "data": data, "first_id": first, "has_more": false, "last_id": last }).to_string()
    },
    refuse: answer::refuse,
    error: answer::break_off,
};

fn recognise(request: &Request) -> Option<Topic> {
    let route = request.route();
    match request.method.as_str() {
        "POST" if route.ends_with("/messages") => Some(Topic::Answer(named_in(&request.body))),
        "GET" if request.header("anthropic-version").is_none() => None,
        "GET" if route.ends_with("/models") => Some(Topic::Models),
        "GET" => named_after(route, "/models/").map(Topic::Model),
        _ => None,
    }
}

/// Tools, system text and messages, part by part. A schema and an effort are part of what is
/// compared.
fn prompt(body: &Value) -> Option<Prompt> {
    let before = ["output_config", "thinking", "tools"].iter().filter_map(|it| body.get(it));
    let before = Part { text: before.map(Value::to_string).collect(), is_marked: false };
    let of_messages = fields::objects(body.get("messages")).collect::<Vec<_>>();
    let messages = of_messages.iter().flat_map(|it| parts(text(it, "role"), it.get("content")));
    let parts = [before].into_iter().chain(parts("system", body.get("system"))).chain(messages);
    Some(Prompt::Marked(parts.collect()))
}

fn parts(role: &str, content: Option<&Value>) -> Vec<Part> {
    let part = |text: &str, is_marked| Part { text: format!("{role}: {text}"), is_marked };
    match content {
        Some(Value::String(text)) => vec![part(text, false)],
        Some(Value::Array(blocks)) => {
            let block = |it: &Value| part(it["text"].as_str().unwrap_or_default(), is_marked(it));
            blocks.iter().map(block).collect()
        }
        _ => Vec::new(),
    }
}

fn is_marked(block: &Value) -> bool {
    block.get("cache_control").is_some()
}

/// The most cache marks in a request.
const MOST_MARKS: usize = 4;

fn marks(body: &Map<String, Value>) -> Result<(), Refusal> {
    let blocks = |it: Option<&Value>| it.and_then(Value::as_array).cloned().unwrap_or_default();
    let messages = blocks(body.get("messages"));
    let of_messages = messages.iter().flat_map(|it| blocks(it.get("content")));
    let all = blocks(body.get("system")).into_iter().chain(blocks(body.get("tools"))).chain(of_messages);
    let marked: Vec<Value> = all.filter_map(|it| it.get("cache_control").cloned()).collect();
    if marked.iter().any(|it| it.get("type") != Some(&json!("ephemeral"))) {
        return Err(Refusal::invalid("cache_control.type: Input should be 'ephemeral'"));
    }
    if marked.len() > MOST_MARKS {
        let found = marked.len();
        let wrong = format!("A maximum of 4 blocks with cache_control may be provided. Found {found}.");
        return Err(Refusal::invalid(wrong));
    }
    Ok(())
}

fn model(name: &str) -> Value {
    json!({ "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z" })
}

const FIELDS: Fields = &[
    ("model", Type::Text),
    ("messages", Type::List),
    ("max_tokens", Type::Whole),
    ("system", Type::TextOrList),
    ("stream", Type::Flag),
    ("temperature", Type::Number),
    ("top_p", Type::Number),
    ("top_k", Type::Whole),
    ("stop_sequences", Type::List),
    ("tools", Type::List),
    ("tool_choice", Type::Object),
    ("thinking", Type::Object),
    ("metadata", Type::Object),
    ("output_config", Type::Object),
    ("output_format", Type::Object),
    ("service_tier", Type::Text),
    ("container", Type::TextOrObject),
    ("context_management", Type::Object),
    ("mcp_servers", Type::List),
    ("cache_control", Type::Object),
];

const MESSAGE: Fields = &[("role", Type::Text), ("content", Type::TextOrList)];

const TOOL: Fields = &[
    ("type", Type::Text),
    ("name", Type::Text),
    ("description", Type::Text),
    ("input_schema", Type::Object),
    ("strict", Type::Flag),
    ("cache_control", Type::Object),
];

fn checked(object: &Map<String, Value>, known: Fields, place: &str) -> Result<(), Refusal> {
    let wrong = match fields::odd(object, known) {
        None => return Ok(()),
        Some(Odd::Unknown(name)) => format!("{place}{name}: Extra inputs are not permitted"),
        Some(Odd::IllTyped(name, wanted, _)) => {
            let wanted = match wanted {
                Type::Text | Type::TextOrList | Type::TextOrObject => "string",
                Type::Number => "number",
                Type::Whole => "integer",
                Type::Flag => "boolean",
                Type::Object | Type::Any => "dictionary",
                Type::List => "list",
            };
            format!("{place}{name}: Input should be a valid {wanted}")
        }
    };
    Err(Refusal::invalid(wrong))
}

fn read(request: &Request) -> Result<Asked, Refusal> {
    if request.header("anthropic-version").is_none() {
        return Err(Refusal::invalid("anthropic-version: header is required"));
    }
    let Some(body) = request.body.as_object() else {
        return Err(Refusal::invalid("The request body is not valid JSON"));
    };
    checked(body, FIELDS, "")?;
    for name in ["model", "max_tokens", "messages"] {
        if body.get(name).is_none_or(Value::is_null) {
            return Err(Refusal::invalid(format!("{name}: Field required")));
        }
    }
    numbers(body)?;
    marks(body)?;
    let tools = tools(body)?;
    let (schema, tool) = form(body, &tools)?;
    Ok(Asked {
        model: text(body, "model").to_owned(),
        system: content(body.get("system"), "system")?,
        messages: messages(body)?,
        schema,
        tool,
        offers_discuss: tools.iter().any(|tool| text(tool, "name") == "discuss"),
        is_streamed: body.get("stream") == Some(&json!(true)),
        is_list: false,
        wants_usage: true,
        max_tokens: body.get("max_tokens").and_then(Value::as_u64),
        stop: texts(body.get("stop_sequences")),
    })
}

fn numbers(body: &Map<String, Value>) -> Result<(), Refusal> {
    if body.get("max_tokens").and_then(Value::as_i64).is_some_and(|it| it < 1) {
        return Err(Refusal::invalid("max_tokens: Input should be greater than or equal to 1"));
    }
    if body.get("temperature").and_then(Value::as_f64).is_some_and(|it| !(0.0..=1.0).contains(&it)) {
        return Err(Refusal::invalid("temperature: range: 0..1"));
    }
    if texts(body.get("stop_sequences")).iter().any(|it| it.trim().is_empty()) {
        return Err(Refusal::invalid("stop_sequences: each stop sequence must contain non-whitespace"));
    }
    Ok(())
}

fn messages(body: &Map<String, Value>) -> Result<Vec<(String, String)>, Refusal> {
    let mut read = Vec::new();
    for (at, message) in fields::objects(body.get("messages")).enumerate() {
        checked(&message, MESSAGE, &format!("messages.{at}."))?;
        let role = text(&message, "role");
        if !matches!(role, "user" | "assistant") {
            let wrong = format!(
                "messages: Unexpected role \"{role}\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
            );
            return Err(Refusal::invalid(wrong));
        }
        read.push((role.to_owned(), content(message.get("content"), &format!("messages.{at}"))?));
    }
    match (read.first(), read.last()) {
        (None, _) => Err(Refusal::invalid("messages: at least one message is required")),
        (Some((role, _)), _) if role != "user" => {
            Err(Refusal::invalid("messages: first message must use the \"user\" role"))
        }
        (_, Some((role, said))) if role == "assistant" && said.ends_with(char::is_whitespace) => {
            Err(Refusal::invalid("messages: final assistant content cannot end with trailing whitespace"))
        }
        _ => Ok(read),
    }
}

/// The text of a content, which is a string or a list of blocks.
fn content(value: Option<&Value>, place: &str) -> Result<String, Refusal> {
    let empty = || Refusal::invalid(format!("{place}: text content blocks must be non-empty"));
    match value {
        Some(Value::String(text)) if text.is_empty() && place != "system" => Err(empty()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(blocks)) => {
            let mut whole = String::new();
            for block in blocks {
                match block.get("type").and_then(Value::as_str) {
                    Some("text") => match block.get("text").and_then(Value::as_str) {
                        None => {
                            return Err(Refusal::invalid(format!(
                                "{place}.content.0.text.text: Field required"
                            )));
                        }
                        Some("") => return Err(empty()),
                        Some(text) => whole.push_str(text),
                    },
                    Some("tool_use" | "tool_result" | "thinking" | "image" | "document") => {
                        whole.push_str(&block.to_string());
                    }
                    _ => {
                        return Err(Refusal::invalid(format!(
                            "{place}.content.0: Input tag does not match any of the expected tags"
                        )));
                    }
                }
            }
            Ok(whole)
        }
        _ if place == "system" => Ok(String::new()),
        _ => Err(Refusal::invalid(format!("{place}.content: Field required"))),
    }
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Map<String, Value>>, Refusal> {
    let tools: Vec<_> = fields::objects(body.get("tools")).collect();
    for (at, tool) in tools.iter().enumerate() {
        let place = format!("tools.{at}.custom.");
        checked(tool, TOOL, &place)?;
        for name in ["name", "input_schema"] {
            if !tool.contains_key(name) {
                return Err(Refusal::invalid(format!("{place}{name}: Field required")));
            }
        }
        if tool.get("input_schema").and_then(|it| it.get("type")) != Some(&json!("object")) {
            return Err(Refusal::invalid(format!("{place}input_schema.type: Field required")));
        }
    }
    Ok(tools)
}

/// The schema of the answer, and the forced tool if there is one.
fn form(
    body: &Map<String, Value>,
    tools: &[Map<String, Value>],
) -> Result<(Option<Value>, Option<String>), Refusal> {
    let places = [("output_config", "/output_config/format"), ("output_format", "/output_format")];
    let whole = Value::Object(body.clone());
    for (name, pointer) in places {
        let Some(format) = whole.pointer(pointer) else { continue };
        let place = if name == "output_config" { "output_config.format" } else { "output_format" };
        let is_schema = format.get("type") == Some(&json!("json_schema"));
        let Some(schema) = format.get("schema").filter(|_| is_schema) else {
            return Err(Refusal::invalid(format!("{place}.schema: Field required")));
        };
        return match schema::anthropic_complaint(schema) {
            Some(wrong) => Err(Refusal::invalid(format!("{place}.schema: {wrong}"))),
            None => Ok((Some(schema.clone()), None)),
        };
    }
    let Some(choice) = body.get("tool_choice").filter(|it| it.get("type") == Some(&json!("tool"))) else {
        return Ok((None, None));
    };
    let name = choice.get("name").and_then(Value::as_str).unwrap_or_default();
    match tools.iter().find(|tool| text(tool, "name") == name) {
        Some(tool) => Ok((tool.get("input_schema").cloned(), Some(name.to_owned()))),
        None => Err(Refusal::invalid(format!("tool_choice: Tool '{name}' not found in provided tools"))),
    }
}
