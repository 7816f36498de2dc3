//! OpenAI's Responses API.

use serde_json::{Map, Value, json};

use super::{
    super::{
        answer::{Ending, Said, Tool, Used},
        request::{Asked, Request},
    },
    EVENTS, Frame, Refusal, Speech, Topic,
    fields::{self, Fields, Type, text},
    named_in,
    openai::{self, CREATED},
    quoted,
};

pub(super) const SPEECH: Speech = Speech {
    name: "openai-responses",
    recognise: |request| {
        let is_ours = request.method == "POST" && request.route().ends_with("/responses");
        is_ours.then(|| Topic::Answer(named_in(&request.body)))
    },
    key: openai::key,
    read,
    prompt: |body| super::plain_prompt(body, &["/text", "/tools", "/instructions", "/input"]),
    stream,
    content_type: EVENTS,
    whole: |_, said| response(said, "completed", &items(said), &usage(&said.used)),
    model: openai::model,
    models: openai::models,
    refuse: openai::refuse,
    error: |_| {
        let message = quoted(openai::TROUBLE);
        event(
            "error",
            &format!(r#""sequence_number":7,"code":"server_error","message":{message},"param":null"#),
        )
    },
};

const FIELDS: Fields = &[
    ("model", Type::Text),
    ("input", Type::TextOrList),
    ("instructions", Type::Text),
    ("stream", Type::Flag),
    ("stream_options", Type::Object),
    ("max_output_tokens", Type::Whole),
    ("temperature", Type::Number),
    ("top_p", Type::Number),
    ("text", Type::Object),
    ("tools", Type::List),
    ("tool_choice", Type::TextOrObject),
    ("parallel_tool_calls", Type::Flag),
    ("max_tool_calls", Type::Whole),
    ("reasoning", Type::Object),
    ("include", Type::List),
    ("store", Type::Flag),
    ("background", Type::Flag),
    ("conversation", Type::TextOrObject),
    ("previous_response_id", Type::Text),
    ("prompt", Type::Object),
    ("prompt_cache_key", Type::Text),
    ("safety_identifier", Type::Text),
    ("metadata", Type::Object),
    ("service_tier", Type::Text),
    ("top_logprobs", Type::Whole),
    ("truncation", Type::Text),
    ("user", Type::Text),
    ("client_metadata", Type::Object),
];

fn read(request: &Request) -> Result<Asked, Refusal> {
    let body = openai::body(request, FIELDS)?;
    openai::some_of(body, "input")?;
    openai::within(body, "temperature", 0.0, 2.0)?;
    if let Some(value) = body.get("max_output_tokens").and_then(Value::as_i64).filter(|it| *it < 16) {
        let message = format!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {value} instead."
        );
        return Err(Refusal::invalid(message).at("max_output_tokens").coded("integer_below_min_value"));
    }
    let (mut system, messages) = messages(body)?;
    system.insert_str(0, text(body, "instructions"));
    Ok(Asked {
        model: text(body, "model").to_owned(),
        system,
        messages,
        schema: form(body)?,
        tool: None,
        offers_discuss: offers_discuss(body)?,
        is_streamed: body.get("stream") == Some(&json!(true)),
        is_list: false,
        wants_usage: true,
        max_tokens: body.get("max_output_tokens").and_then(Value::as_u64),
        stop: Vec::new(),
    })
}

type Messages = Vec<(String, String)>;

fn messages(body: &Map<String, Value>) -> Result<(String, Messages), Refusal> {
    if let Some(text) = body.get("input").and_then(Value::as_str) {
        return Ok((String::new(), vec![("user".to_owned(), text.to_owned())]));
    }
    let (mut system, mut read) = (String::new(), Vec::new());
    for (at, item) in fields::objects(body.get("input")).enumerate() {
        let role = text(&item, "role");
        match (text(&item, "type"), role) {
            ("" | "message", "user" | "assistant") => read.push((role.to_owned(), content(&item, role, at)?)),
            ("" | "message", "system" | "developer") => system.push_str(&content(&item, role, at)?),
            ("function_call" | "function_call_output" | "reasoning", _) => {
                read.push(("tool".to_owned(), Value::Object(item.clone()).to_string()));
            }
            ("" | "message", _) => {
                let message = format!(
                    "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
                );
                return Err(Refusal::invalid(message)
                    .at(&format!("input[{at}].role"))
                    .coded("invalid_value"));
            }
            (other, _) => {
                let message = format!("Invalid value: '{other}'.");
                return Err(Refusal::invalid(message)
                    .at(&format!("input[{at}].type"))
                    .coded("invalid_value"));
            }
        }
    }
    Ok((system, read))
}

/// The model's own text is `output_text`, all other text is `input_text`.
fn content(item: &Map<String, Value>, role: &str, at: usize) -> Result<String, Refusal> {
    let wanted = if role == "assistant" { "output_text" } else { "input_text" };
    match item.get("content") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let mut whole = String::new();
            for (part_at, part) in parts.iter().enumerate() {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
                if kind != wanted {
                    let supported = match role {
                        "assistant" => "'output_text' and 'refusal'",
                        _ => "'input_text', 'input_image', and 'input_file'",
                    };
                    let message = format!("Invalid value: '{kind}'. Supported values are: {supported}.");
                    let place = format!("input[{at}].content[{part_at}]");
                    return Err(Refusal::invalid(message).at(&place).coded("invalid_value"));
                }
                whole.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
            }
            Ok(whole)
        }
        _ => {
            let place = format!("input[{at}].content");
            let message = format!("Missing required parameter: '{place}'.");
            Err(Refusal::invalid(message).at(&place).coded("missing_required_parameter"))
        }
    }
}

fn form(body: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let format = body.get("text").and_then(|it| it.get("format")).and_then(Value::as_object);
    match format.map(|format| (format, text(format, "type"))) {
        Some((format, "json_schema")) => openai::form(format, "text.format").map(Some),
        Some((_, "text" | "json_object")) | None => Ok(None),
        Some((_, other)) => {
            let message = format!(
                "Invalid value: '{other}'. Supported values are: 'json_object', 'json_schema', and 'text'."
            );
            Err(Refusal::invalid(message).at("text.format.type").coded("invalid_value"))
        }
    }
}

fn offers_discuss(body: &Map<String, Value>) -> Result<bool, Refusal> {
    let mut offers = false;
    for (at, tool) in fields::objects(body.get("tools")).enumerate() {
        openai::tool(&tool, &format!("tools[{at}]"))?;
        offers |= text(&tool, "name") == "discuss";
    }
    Ok(offers)
}

fn event(name: &str, rest: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{rest}}}\n\n")
}

fn usage(used: &Used) -> String {
    let Used { prompt, completion, cached, reasoning, .. } = used;
    let total = prompt + completion;
    format!(
        r#"{{"input_tokens":{prompt},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":{completion},"output_tokens_details":{{"reasoning_tokens":{reasoning}}},"total_tokens":{total}}}"#
    )
}

/// The response object with this status; a cut or refused answer is incomplete.
fn response(said: &Said, status: &str, output: &str, usage: &str) -> String {
    let (id, model) = (quoted(&format!("resp_{}", said.id)), quoted(&said.model));
    let (status, details) = match (status, said.ending) {
        ("completed", Ending::Length) => ("incomplete", r#"{"reason":"max_output_tokens"}"#),
        ("completed", Ending::Refused) => ("incomplete", r#"{"reason":"content_filter"}"#),
        _ => (status, "null"),
    };
    format!(
        r#"{{"id":{id},"object":"response","created_at":{CREATED},"status":"{status}","background":false,"error":null,"incomplete_details":{details},"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":{model},"output":[{output}],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{{"effort":null,"summary":null}},"safety_identifier":null,"service_tier":"default","store":true,"temperature":1.0,"text":{{"format":{{"type":"text"}},"verbosity":"medium"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1.0,"truncation":"disabled","usage":{usage},"user":null,"metadata":{{}}}}"#
    )
}

/// All output items.
fn items(said: &Said) -> String {
    let thoughts = (!said.thoughts.is_empty()).then(|| thought(said));
    let message = (!said.pieces.is_empty()).then(|| message(said, "completed", &part(&said.text())));
    let tool = said.tool.as_ref().map(|tool| function_call(said, tool, "completed", &tool.arguments));
    let items: Vec<String> = [thoughts, message, tool].into_iter().flatten().collect();
    items.join(",")
}

fn thought(said: &Said) -> String {
    let (id, thoughts) = (quoted(&format!("rs_{}", said.id)), quoted(&said.thoughts));
    format!(r#"{{"id":{id},"type":"reasoning","summary":[{{"type":"summary_text","text":{thoughts}}}]}}"#)
}

fn message(said: &Said, status: &str, content: &str) -> String {
    let id = quoted(&format!("msg_{}", said.id));
    format!(r#"{{"id":{id},"type":"message","status":"{status}","content":[{content}],"role":"assistant"}}"#)
}

fn part(text: &str) -> String {
    format!(r#"{{"type":"output_text","annotations":[],"logprobs":[],"text":{}}}"#, quoted(text))
}

fn function_call(said: &Said, tool: &Tool, status: &str, arguments: &str) -> String {
    let (id, call) = (quoted(&format!("fc_{}", said.id)), quoted(&format!("call_{}", said.id)));
    let (arguments, name) = (quoted(arguments), quoted(&tool.name));
    format!(
        r#"{{"id":{id},"type":"function_call","status":"{status}","arguments":{arguments},"call_id":{call},"name":{name}}}"#
    )
}

/// The events of a stream, numbered as they are added.
struct Events {
    frames: Vec<Frame>,
    /// The index of the current output item.
    output: usize,
}

impl Events {
    fn add(&mut self, name: &str, rest: &str) -> &mut Frame {
        let number = self.frames.len();
        self.frames.push(Frame::other(event(name, &format!(r#""sequence_number":{number},{rest}"#))));
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn item(&mut self, name: &str, item: &str) {
        let output = self.output;
        self.add(name, &format!(r#""output_index":{output},"item":{item}"#));
    }

    fn message(&mut self, said: &Said) {
        let (output, text) = (self.output, said.text());
        let id = quoted(&format!("msg_{}", said.id));
        let at = format!(r#""item_id":{id},"output_index":{output},"content_index":0"#);
        self.item("response.output_item.added", &message(said, "in_progress", ""));
        self.add("response.content_part.added", &format!(r#"{at},"part":{}"#, part("")));
        for piece in &said.pieces {
            let delta = format!(r#"{at},"delta":{},"logprobs":[]"#, quoted(piece));
            self.add("response.output_text.delta", &delta).is_piece = true;
        }
        self.add("response.output_text.done", &format!(r#"{at},"text":{},"logprobs":[]"#, quoted(&text)));
        self.add("response.content_part.done", &format!(r#"{at},"part":{}"#, part(&text)));
        self.item("response.output_item.done", &message(said, "completed", &part(&text)));
        self.output += 1;
    }

    fn function_call(&mut self, said: &Said, tool: &Tool) {
        let output = self.output;
        let at = format!(r#""item_id":{},"output_index":{output}"#, quoted(&format!("fc_{}", said.id)));
        self.item("response.output_item.added", &function_call(said, tool, "in_progress", ""));
        let arguments = quoted(&tool.arguments);
        self.add("response.function_call_arguments.delta", &format!(r#"{at},"delta":{arguments}"#));
        self.add("response.function_call_arguments.done", &format!(r#"{at},"arguments":{arguments}"#));
        self.item("response.output_item.done", &function_call(said, tool, "completed", &tool.arguments));
        self.output += 1;
    }
}

fn stream(_asked: &Asked, said: &Said) -> Vec<Frame> {
    let mut events = Events { frames: Vec::new(), output: 0 };
    let begun = format!(r#""response":{}"#, response(said, "in_progress", "", "null"));
    events.add("response.created", &begun);
    events.add("response.in_progress", &begun);
    if !said.thoughts.is_empty() {
        events.item("response.output_item.added", &thought(said));
        events.item("response.output_item.done", &thought(said));
        events.output += 1;
    }
    if !said.pieces.is_empty() {
        events.message(said);
    }
    if let Some(tool) = &said.tool {
        events.function_call(said, tool);
    }
    let last = match said.ending {
        Ending::Length | Ending::Refused => "response.incomplete",
        Ending::Stop | Ending::StopSequence | Ending::Tool => "response.completed",
    };
    let done = response(said, "completed", &items(said), &usage(&said.used));
    events.add(last, &format!(r#""response":{done}"#));
    events.frames
}
