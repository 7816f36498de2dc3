//! OpenAI's Chat Completions API, which most other vendors offer as well.

use serde_json::{Map, Value, json};

use super::{
    super::{
        answer::{Ending, Said, Used},
        request::{Asked, Request},
    },
    EVENTS, Frame, Refusal, Speech, Topic,
    fields::{self, Fields, Type, text, texts},
    named_in,
    openai::{self, CREATED},
    quoted,
};

pub(super) const SPEECH: Speech = Speech {
    name: "openai-chat",
    recognise: |request| match request.method.as_str() {
        "POST" if request.route().ends_with("/chat/completions") => {
            Some(Topic::Answer(named_in(&request.body)))
        }
        _ => openai::models_asked(request),
    },
    key: openai::key,
    read,
    prompt: |body| super::plain_prompt(body, &["/response_format", "/tools", "/messages"]),
    stream,
    content_type: EVENTS,
    whole,
    model: openai::model,
    models: openai::models,
    refuse: openai::refuse,
    error: |_| {
        let message = quoted(openai::TROUBLE);
        data(&format!(
            r#"{{"error":{{"message":{message},"type":"server_error","param":null,"code":null}}}}"#
        ))
    },
};

const FIELDS: Fields = &[
    ("model", Type::Text),
    ("messages", Type::List),
    ("stream", Type::Flag),
    ("stream_options", Type::Object),
    ("max_tokens", Type::Whole),
    ("max_completion_tokens", Type::Whole),
    ("temperature", Type::Number),
    ("top_p", Type::Number),
    ("n", Type::Whole),
    ("stop", Type::TextOrList),
    ("seed", Type::Whole),
    ("presence_penalty", Type::Number),
    ("frequency_penalty", Type::Number),
    ("logit_bias", Type::Object),
    ("logprobs", Type::Flag),
    ("top_logprobs", Type::Whole),
    ("response_format", Type::Object),
    ("tools", Type::List),
    ("tool_choice", Type::TextOrObject),
    ("parallel_tool_calls", Type::Flag),
    ("reasoning_effort", Type::Text),
    ("verbosity", Type::Text),
    ("modalities", Type::List),
    ("metadata", Type::Object),
    ("store", Type::Flag),
    ("service_tier", Type::Text),
    ("prompt_cache_key", Type::Text),
    ("safety_identifier", Type::Text),
    ("user", Type::Text),
];

const MESSAGE: Fields = &[
    ("role", Type::Text),
    ("content", Type::TextOrList),
    ("name", Type::Text),
    ("refusal", Type::Text),
    ("tool_calls", Type::List),
    ("tool_call_id", Type::Text),
];

fn read(request: &Request) -> Result<Asked, Refusal> {
    let body = openai::body(request, FIELDS)?;
    openai::some_of(body, "messages")?;
    openai::within(body, "temperature", 0.0, 2.0)?;
    let stop = stop(body)?;
    let options = body.get("stream_options").and_then(Value::as_object);
    let is_streamed = body.get("stream") == Some(&json!(true));
    if options.is_some() && !is_streamed {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Refusal::invalid(message).at("stream_options"));
    }
    if body.contains_key("max_tokens") && body.contains_key("max_completion_tokens") {
        let message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        return Err(Refusal::invalid(message).at("max_tokens"));
    }
    let (system, messages) = messages(body)?;
    let max_tokens = body.get("max_completion_tokens").or(body.get("max_tokens"));
    Ok(Asked {
        model: text(body, "model").to_owned(),
        schema: form(body, &messages)?,
        tool: None,
        offers_discuss: offers_discuss(body)?,
        is_streamed,
        is_list: false,
        wants_usage: options.is_some_and(|it| it.get("include_usage") == Some(&json!(true))),
        max_tokens: max_tokens.and_then(Value::as_u64),
        stop,
        system,
        messages,
    })
}

fn stop(body: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let stop = texts(body.get("stop"));
    if stop.len() > 4 {
        let count = stop.len();
        let message = format!(
            "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length {count} instead."
        );
        return Err(Refusal::invalid(message).at("stop").coded("array_above_max_length"));
    }
    Ok(stop)
}

const ROLES: [&str; 5] = ["system", "assistant", "user", "tool", "developer"];

type Messages = Vec<(String, String)>;

fn messages(body: &Map<String, Value>) -> Result<(String, Messages), Refusal> {
    let (mut system, mut read) = (String::new(), Vec::new());
    for (at, message) in fields::objects(body.get("messages")).enumerate() {
        openai::checked(&message, MESSAGE, &format!("messages[{at}]."))?;
        let role = text(&message, "role");
        let place = format!("messages[{at}].role");
        if !ROLES.contains(&role) {
            let known = "'system', 'assistant', 'user', 'function', 'tool', and 'developer'";
            let message = format!("Invalid value: '{role}'. Supported values are: {known}.");
            return Err(Refusal::invalid(message).at(&place).coded("invalid_value"));
        }
        let content = content(&message, at)?;
        match role {
            "system" | "developer" => system.push_str(&content),
            _ => read.push((role.to_owned(), content)),
        }
    }
    Ok((system, read))
}

fn content(message: &Map<String, Value>, at: usize) -> Result<String, Refusal> {
    match message.get("content") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => Ok(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()),
        _ if message.contains_key("tool_calls") => Ok(String::new()),
        _ => {
            let message = "Invalid value for 'content': expected a string, got null.";
            Err(Refusal::invalid(message).at(&format!("messages.[{at}].content")))
        }
    }
}

fn form(body: &Map<String, Value>, messages: &Messages) -> Result<Option<Value>, Refusal> {
    let Some(format) = body.get("response_format").and_then(Value::as_object) else { return Ok(None) };
    match text(format, "type") {
        "text" => Ok(None),
        "json_schema" => {
            let inner = format.get("json_schema").and_then(Value::as_object).cloned().unwrap_or_default();
            openai::form(&inner, "response_format.json_schema").map(Some)
        }
        "json_object" => {
            let whole = Value::Object(body.clone()).pointer("/messages").map(Value::to_string);
            let is_said = whole.is_some_and(|it| it.to_lowercase().contains("json"));
            let message = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
            let known = messages.last().and_then(|(_, text)| super::super::forms::schema(text));
            let any = || json!({ "type": "object", "properties": { "answer": { "type": "string" } } });
            is_said.then(|| Some(known.unwrap_or_else(any))).ok_or(Refusal::invalid(message).at("messages"))
        }
        other => {
            let message = format!(
                "Invalid value: '{other}'. Supported values are: 'json_object', 'json_schema', and 'text'."
            );
            Err(Refusal::invalid(message).at("response_format.type").coded("invalid_value"))
        }
    }
}

fn offers_discuss(body: &Map<String, Value>) -> Result<bool, Refusal> {
    let mut offers = false;
    for (at, tool) in fields::objects(body.get("tools")).enumerate() {
        let place = format!("tools[{at}].function");
        let Some(function) = tool.get("function").and_then(Value::as_object) else {
            let message = format!("Missing required parameter: '{place}'.");
            return Err(Refusal::invalid(message).at(&place).coded("missing_required_parameter"));
        };
        openai::tool(function, &place)?;
        offers |= text(function, "name") == "discuss";
    }
    Ok(offers)
}

fn data(data: &str) -> String {
    format!("data: {data}\n\n")
}

fn finish_reason(said: &Said) -> &'static str {
    match said.ending {
        Ending::Stop | Ending::StopSequence => "stop",
        Ending::Length => "length",
        Ending::Refused => "content_filter",
        Ending::Tool => "tool_calls",
    }
}

fn usage(used: &Used) -> String {
    let Used { prompt, completion, cached, reasoning, .. } = used;
    let total = prompt + completion;
    format!(
        r#"{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{total},"prompt_tokens_details":{{"cached_tokens":{cached},"audio_tokens":0}},"completion_tokens_details":{{"reasoning_tokens":{reasoning},"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}}"#
    )
}

fn stream(asked: &Asked, said: &Said) -> Vec<Frame> {
    let (id, model) = (quoted(&format!("chatcmpl-{}", said.id)), quoted(&said.model));
    let chunk = |choices: &str, usage: &str| {
        data(&format!(
            r#"{{"id":{id},"object":"chat.completion.chunk","created":{CREATED},"model":{model},"service_tier":"default","system_fingerprint":"fp_quorum","choices":[{choices}]{usage}}}"#
        ))
    };
    let without = if asked.wants_usage { r#","usage":null"# } else { "" };
    let delta = |delta: &str, finish: &str| {
        let choice = format!(r#"{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}"#);
        chunk(&choice, without)
    };
    let first = if said.pieces.is_empty() { "null" } else { r#""""# };
    let mut frames = vec![Frame::other(delta(
        &format!(r#"{{"role":"assistant","content":{first},"refusal":null}}"#),
        "null",
    ))];
    if !said.thoughts.is_empty() {
        let thoughts = quoted(&said.thoughts);
        frames.push(Frame::other(delta(&format!(r#"{{"reasoning_content":{thoughts}}}"#), "null")));
    }
    let piece = |text: &String| Frame::piece(delta(&format!(r#"{{"content":{}}}"#, quoted(text)), "null"));
    frames.extend(said.pieces.iter().map(piece));
    frames.extend(tool_deltas(said).iter().map(|it| Frame::other(delta(it, "null"))));
    frames.push(Frame::other(delta("{}", &quoted(finish_reason(said)))));
    if asked.wants_usage {
        frames.push(Frame::other(chunk("", &format!(r#","usage":{}"#, usage(&said.used)))));
    }
    frames.push(Frame::other(data("[DONE]")));
    frames
}

fn tool_deltas(said: &Said) -> Vec<String> {
    let Some(tool) = &said.tool else { return Vec::new() };
    let (id, name) = (quoted(&format!("call_{}", said.id)), quoted(&tool.name));
    let halves = tool.arguments.split_at(tool.arguments.floor_char_boundary(tool.arguments.len() / 2));
    let part = |part: &str| {
        format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{}}}}}]}}"#, quoted(part))
    };
    let first = format!(
        r#"{{"tool_calls":[{{"index":0,"id":{id},"type":"function","function":{{"name":{name},"arguments":""}}}}]}}"#
    );
    vec![first, part(halves.0), part(halves.1)]
}

fn whole(_asked: &Asked, said: &Said) -> String {
    let (id, model) = (quoted(&format!("chatcmpl-{}", said.id)), quoted(&said.model));
    let (text, finish, usage) = (quoted(&said.text()), finish_reason(said), usage(&said.used));
    let tools = said.tool.as_ref().map(|tool| {
        let (id, name) = (quoted(&format!("call_{}", said.id)), quoted(&tool.name));
        let arguments = quoted(&tool.arguments);
        format!(
            r#","tool_calls":[{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}]"#
        )
    });
    let tools = tools.unwrap_or_default();
    let thoughts = match said.thoughts.as_str() {
        "" => String::new(),
        thoughts => format!(r#","reasoning_content":{}"#, quoted(thoughts)),
    };
    format!(
        r#"{{"id":{id},"object":"chat.completion","created":{CREATED},"model":{model},"choices":[{{"index":0,"message":{{"role":"assistant","content":{text}{thoughts}{tools},"refusal":null,"annotations":[]}},"logprobs":null,"finish_reason":"{finish}"}}],"usage":{usage},"service_tier":"default","system_fingerprint":"fp_quorum"}}"#
    )
}
