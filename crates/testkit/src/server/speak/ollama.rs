//! Ollama's API: one JSON document per line, and no key.

use serde_json::{Map, Value, json};

use super::{
    super::{
        answer::{Ending, Said},
        request::{Asked, Request},
        script::hash_of,
    },
    Frame, Refusal, Speech, Topic, Why,
    fields::{self, Fields, Odd, Type, kind_of, text, texts},
    named_in, quoted,
};

pub(super) const SPEECH: Speech = Speech {
    name: "ollama",
    recognise: |request| match (request.method.as_str(), request.route()) {
        ("POST", route) if route.ends_with("/api/chat") => Some(Topic::Answer(named_in(&request.body))),
        ("POST", route) if route.ends_with("/api/show") => Some(Topic::Model(named_in(&request.body))),
        ("GET", route) if route.ends_with("/api/tags") => Some(Topic::Models),
        _ => None,
    },
    key: |request| request.header("authorization")?.strip_prefix("Bearer "),
    read,
    prompt: |_| None,
    stream,
    content_type: "application/x-ndjson",
    whole: |_, said| line(said, &message(said, &said.text(), true), true),
    model: |_| {
        json!({
            "modelfile": "# Modelfile", "parameters": "", "template": "{{ .Prompt }}", "details": details(),
            "model_info": { "general.architecture": "llama", "llama.context_length": 131_072 },
            "capabilities": ["completion", "tools"], "modified_at": MOMENT,
        })
        .to_string()
    },
    models: |names| {
        let models: Vec<Value> = names.iter().map(|name| tag(name)).collect();
        json!({ "models": models }).to_string()
    },
    refuse,
    error: |refusal| format!("{}\n", refuse(refusal).1),
};

const MOMENT: &str = "2026-01-01T00:00:00.000000001Z";

fn details() -> Value {
    json!({
        "parent_model": "", "format": "gguf", "family": "llama", "families": ["llama"], "parameter_size": "3.2B",
        "quantization_level": "Q4_K_M",
    })
}

/// Two names of one model would have one digest.
fn tag(name: &str) -> Value {
    let digest = format!("{:016x}{}", hash_of(name), "ac".repeat(24));
    json!({
        "name": name, "model": name, "modified_at": MOMENT, "size": 2_019_393_189_u64,
        "digest": digest, "details": details(),
    })
}

const FIELDS: Fields = &[
    ("model", Type::Text),
    ("messages", Type::List),
    ("stream", Type::Flag),
    ("format", Type::TextOrObject),
    ("options", Type::Object),
    ("tools", Type::List),
    ("think", Type::Any),
    ("keep_alive", Type::Any),
];

const MESSAGE: Fields = &[
    ("role", Type::Text),
    ("content", Type::Text),
    ("thinking", Type::Text),
    ("tool_calls", Type::List),
    ("tool_name", Type::Text),
    ("images", Type::List),
];

/// Checks types only; unknown fields are ignored.
fn checked(object: &Map<String, Value>, known: Fields, place: &str) -> Result<(), Refusal> {
    let known_ones: Map<String, Value> = object
        .iter()
        .filter(|(name, _)| known.iter().any(|field| field.0 == *name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let Some(Odd::IllTyped(name, wanted, found)) = fields::odd(&known_ones, known) else { return Ok(()) };
    let wanted = match wanted {
        Type::Flag => "bool",
        Type::Object => "map[string]interface {}",
        Type::List => "[]api.Message",
        _ => "string",
    };
    let found = kind_of(found);
    Err(Refusal::invalid(format!(
        "json: cannot unmarshal {found} into Go struct field {place}.{name} of type {wanted}"
    )))
}

fn read(request: &Request) -> Result<Asked, Refusal> {
    let Some(body) = request.body.as_object() else { return Err(Refusal::invalid("missing request body")) };
    checked(body, FIELDS, "ChatRequest")?;
    if text(body, "model").is_empty() {
        return Err(Refusal::invalid("model is required"));
    }
    let (mut system, mut messages) = (String::new(), Vec::new());
    for message in fields::objects(body.get("messages")) {
        checked(&message, MESSAGE, "ChatRequest.messages")?;
        let (role, content) = (text(&message, "role"), text(&message, "content"));
        match role {
            "system" => system.push_str(content),
            "user" | "assistant" | "tool" => messages.push((role.to_owned(), content.to_owned())),
            other => {
                let message = format!("invalid role: \"{other}\"");
                return Err(Refusal::invalid(message));
            }
        }
    }
    let options = body.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut tools = fields::objects(body.get("tools"));
    Ok(Asked {
        model: text(body, "model").to_owned(),
        system,
        messages,
        schema: body.get("format").filter(|it| it.is_object()).cloned(),
        tool: None,
        offers_discuss: tools
            .any(|tool| tool.get("function").and_then(|it| it.get("name")) == Some(&json!("discuss"))),
        is_streamed: body.get("stream") != Some(&json!(false)),
        is_list: false,
        wants_usage: true,
        max_tokens: options.get("num_predict").and_then(Value::as_u64),
        stop: texts(options.get("stop")),
    })
}

fn message(said: &Said, content: &str, has_all: bool) -> String {
    let thinking = match said.thoughts.as_str() {
        thoughts if has_all && !thoughts.is_empty() => format!(r#","thinking":{}"#, quoted(thoughts)),
        _ => String::new(),
    };
    let tools = said.tool.as_ref().filter(|_| has_all).map(tool_call).unwrap_or_default();
    format!(r#"{{"role":"assistant","content":{}{thinking}{tools}}}"#, quoted(content))
}

fn tool_call(tool: &super::super::answer::Tool) -> String {
    let (name, arguments) = (quoted(&tool.name), &tool.arguments);
    format!(r#","tool_calls":[{{"function":{{"name":{name},"arguments":{arguments}}}}}]"#)
}

fn line(said: &Said, message: &str, is_last: bool) -> String {
    let model = quoted(&said.model);
    let begun = format!(r#"{{"model":{model},"created_at":"{MOMENT}","message":{message}"#);
    if !is_last {
        return format!("{begun},\"done\":false}}\n");
    }
    let reason = match said.ending {
        Ending::Length => "length",
        Ending::Stop | Ending::StopSequence | Ending::Refused | Ending::Tool => "stop",
    };
    let (prompt, completion) = (said.used.prompt, said.used.completion);
    format!(
        r#"{begun},"done_reason":"{reason}","done":true,"total_duration":4883583458,"load_duration":1334875,"prompt_eval_count":{prompt},"prompt_eval_duration":342546000,"eval_count":{completion},"eval_duration":4535599000}}"#
    ) + "\n"
}

fn stream(_asked: &Asked, said: &Said) -> Vec<Frame> {
    let mut frames = Vec::new();
    if !said.thoughts.is_empty() {
        let thoughts = quoted(&said.thoughts);
        let thought = format!(r#"{{"role":"assistant","content":"","thinking":{thoughts}}}"#);
        frames.push(Frame::other(line(said, &thought, false)));
    }
    let pieces =
        said.pieces.iter().map(|piece| Frame::piece(line(said, &message(said, piece, false), false)));
    frames.extend(pieces);
    if let Some(tool) = &said.tool {
        let call = format!(r#"{{"role":"assistant","content":""{}}}"#, tool_call(tool));
        frames.push(Frame::other(line(said, &call, false)));
    }
    frames.push(Frame::other(line(said, r#"{"role":"assistant","content":""}"#, true)));
    frames
}

fn refuse(refusal: &Refusal) -> (u16, String) {
    let message = refusal.message.clone();
    let (status, message) = match refusal.why {
        Why::Invalid => (400, message),
        Why::NoKey | Why::WrongKey => (401, "unauthorized".to_owned()),
        Why::EchoedKey => (401, message),
        Why::UnknownModel => (404, format!("model '{message}' not found")),
        Why::TooLong => (400, "the input length exceeds the context length".to_owned()),
        Why::RateLimited => (429, format!("too many requests.{}", refusal.delay())),
        Why::Status(404) => (404, "not found".to_owned()),
        Why::Status(503) => {
            (503, "server busy, please try again. maximum pending requests exceeded".to_owned())
        }
        Why::Status(status) => (status, "an error was encountered while running the model".to_owned()),
    };
    (status, format!(r#"{{"error":{}}}"#, quoted(&message)))
}
