//! Anthropic's Messages.

use serde_json::{Map, Value, json};

use super::{
    super::{
        answer::{Ending, Said, Used},
        request::{Asked, Request},
    },
    EVENTS, Frame, Refusal, Speech, Topic, Why,
    fields::{self, Fields, Odd, Type, text, texts},
    named_after, named_in, quoted, schema,
};

pub(super) const SPEECH: Speech = Speech {
    name: "anthropic",
    hears,
    key: |request| request.header("x-api-key"),
    read,
    stream,
    content_type: EVENTS,
    whole,
    model: |name| model(name).to_string(),
    models: |names| {
        let data: Vec<Value> = names.iter().map(|name| model(name)).collect();
        let (first, last) = (names.first(), names.last());
        json!({ "data": data, "first_id": first, "has_more": false, "last_id": last }).to_string()
    },
    refuse: |refusal| {
        let (status, kind, message) = error(refusal);
        let (kind, message) = (quoted(kind), quoted(&message));
        let error = format!(r#"{{"type":{kind},"message":{message}}}"#);
        (status, format!(r#"{{"type":"error","error":{error},"request_id":"req_011CQuorum"}}"#))
    },
    error: |_| {
        event(
            "error",
            r#"{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}"#,
        )
    },
};

fn hears(request: &Request) -> Option<Topic> {
    let route = request.route();
    match request.method.as_str() {
        "POST" if route.ends_with("/messages") => Some(Topic::Answer(named_in(&request.body))),
        "GET" if request.header("anthropic-version").is_none() => None,
        "GET" if route.ends_with("/models") => Some(Topic::Models),
        "GET" => named_after(route, "/models/").map(Topic::Model),
        _ => None,
    }
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

/// The text of a content, which is one string or several blocks.
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

/// The schema an answer is held to, and the tool by which it comes, if it does.
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

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn other(name: &str, data: &str) -> Frame {
    Frame::other(event(name, data))
}

fn usage(used: &Used, output: u64) -> String {
    let fresh = used.prompt.saturating_sub(used.cached);
    let cached = used.cached;
    format!(
        r#"{{"input_tokens":{fresh},"cache_creation_input_tokens":0,"cache_read_input_tokens":{cached},"output_tokens":{output}}}"#
    )
}

fn stop_reason(said: &Said) -> &'static str {
    match said.ending {
        Ending::Stop => "end_turn",
        Ending::StopSequence => "stop_sequence",
        Ending::Length => "max_tokens",
        Ending::Refused => "refusal",
        Ending::Tool => "tool_use",
    }
}

fn stream(_asked: &Asked, said: &Said) -> Vec<Frame> {
    let (id, model) = (quoted(&format!("msg_01{}", said.id)), quoted(&said.model));
    let beginning = usage(&said.used, 1);
    let mut frames = vec![other(
        "message_start",
        &format!(
            r#"{{"type":"message_start","message":{{"model":{model},"id":{id},"type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{beginning}}}}}"#
        ),
    )];
    let mut index = 0;
    if !said.thoughts.is_empty() {
        frames.extend(thinking(index, &said.thoughts));
        index += 1;
    }
    if !said.pieces.is_empty() {
        let empty = r#"{"type":"text","text":""}"#;
        let pieces = said.pieces.iter().map(|piece| {
            Frame::piece(delta(index, &format!(r#"{{"type":"text_delta","text":{}}}"#, quoted(piece))))
        });
        frames.extend(block(index, empty, pieces.collect()));
        index += 1;
    }
    frames.insert(2.min(frames.len()), other("ping", r#"{"type": "ping"}"#));
    if let Some(tool) = &said.tool {
        let (id, name) = (quoted(&format!("toolu_01{}", said.id)), quoted(&tool.name));
        let empty = format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{{}}}}"#);
        let halves = tool.arguments.split_at(tool.arguments.floor_char_boundary(tool.arguments.len() / 2));
        let parts = ["", halves.0, halves.1].map(|part| {
            Frame::other(delta(
                index,
                &format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, quoted(part)),
            ))
        });
        frames.extend(block(index, &empty, parts.into()));
    }
    let (reason, at) = (stop_reason(said), said.stopped_at.as_deref().map_or("null".to_owned(), quoted));
    let ending = usage(&said.used, said.used.completion);
    let last = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":{at}}},"usage":{ending}}}"#
    );
    frames.extend([other("message_delta", &last), other("message_stop", r#"{"type":"message_stop"}"#)]);
    frames
}

fn thinking(index: usize, thoughts: &str) -> Vec<Frame> {
    let thought = format!(r#"{{"type":"thinking_delta","thinking":{}}}"#, quoted(thoughts));
    let signature = r#"{"type":"signature_delta","signature":"EqQBCgIYAhIM"}"#;
    let parts = [thought.as_str(), signature].map(|it| Frame::other(delta(index, it)));
    block(index, r#"{"type":"thinking","thinking":"","signature":""}"#, parts.into())
}

fn block(index: usize, empty: &str, parts: Vec<Frame>) -> Vec<Frame> {
    let start = format!(r#"{{"type":"content_block_start","index":{index},"content_block":{empty}}}"#);
    let stop = format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    let start = other("content_block_start", &start);
    [start].into_iter().chain(parts).chain([other("content_block_stop", &stop)]).collect()
}

fn delta(index: usize, delta: &str) -> String {
    event(
        "content_block_delta",
        &format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
    )
}

fn whole(_asked: &Asked, said: &Said) -> String {
    let (id, model) = (quoted(&format!("msg_01{}", said.id)), quoted(&said.model));
    let mut content = Vec::new();
    if !said.thoughts.is_empty() {
        let thoughts = quoted(&said.thoughts);
        content.push(format!(r#"{{"type":"thinking","thinking":{thoughts},"signature":"EqQBCgIYAhIM"}}"#));
    }
    if !said.pieces.is_empty() {
        content.push(format!(r#"{{"type":"text","text":{}}}"#, quoted(&said.text())));
    }
    if let Some(tool) = &said.tool {
        let (id, name, input) =
            (quoted(&format!("toolu_01{}", said.id)), quoted(&tool.name), &tool.arguments);
        content.push(format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#));
    }
    let (content, reason) = (content.join(","), stop_reason(said));
    let at = said.stopped_at.as_deref().map_or("null".to_owned(), quoted);
    let usage = usage(&said.used, said.used.completion);
    format!(
        r#"{{"model":{model},"id":{id},"type":"message","role":"assistant","content":[{content}],"stop_reason":"{reason}","stop_sequence":{at},"usage":{usage}}}"#
    )
}

fn error(refusal: &Refusal) -> (u16, &'static str, String) {
    let message = refusal.message.clone();
    match refusal.why {
        Why::Invalid => (400, "invalid_request_error", message),
        Why::NoKey => (401, "authentication_error", "x-api-key header is required".to_owned()),
        Why::WrongKey => (401, "authentication_error", "invalid x-api-key".to_owned()),
        Why::EchoedKey => (401, "authentication_error", message),
        Why::UnknownModel => (404, "not_found_error", format!("model: {message}")),
        Why::TooLong => {
            let message = "prompt is too long: 210000 tokens > 200000 maximum".to_owned();
            (400, "invalid_request_error", message)
        }
        Why::RateLimited => {
            let message = "This request would exceed your account's rate limit. Please try again later.";
            (429, "rate_limit_error", format!("{message}{}", refusal.delay()))
        }
        Why::Status(529) => (529, "overloaded_error", "Overloaded".to_owned()),
        Why::Status(404) => (404, "not_found_error", "Not Found".to_owned()),
        Why::Status(status) => (status, "api_error", "Internal server error".to_owned()),
    }
}
