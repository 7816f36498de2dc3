//! Google's Gemini.

use serde_json::{Map, Value, json};

use super::{
    super::{
        answer::{Ending, Said},
        request::{Asked, Request},
    },
    Frame, Refusal, Speech, Topic, Why, decoded,
    fields::{self, Fields, Odd, Type, text, texts},
    named_after, quoted, schema,
};

pub(super) const SPEECH: Speech = Speech {
    name: "gemini",
    hears,
    key: |request| request.header("x-goog-api-key").or_else(|| request.query("key")),
    read,
    stream,
    content_type: "text/event-stream",
    whole: |_, said| response(said, &parts(said), true),
    model: |name| model(name).to_string(),
    models: |names| {
        let models: Vec<Value> = names.iter().map(|name| model(name)).collect();
        json!({ "models": models }).to_string()
    },
    refuse,
    // In a stream, everything is on one line.
    error: |refusal| {
        let body: String = refuse(refusal).1.lines().map(str::trim_start).collect();
        format!("data: {body}\r\n\r\n")
    },
};

fn hears(request: &Request) -> Option<Topic> {
    let route = request.route();
    match request.method.as_str() {
        "POST" => {
            let (before, verb) = route.rsplit_once(':')?;
            let is_ours = matches!(verb, "streamGenerateContent" | "generateContent");
            let (_, name) = before.rsplit_once("/models/").filter(|_| is_ours)?;
            Some(Topic::Answer(decoded(name)))
        }
        "GET" if !route.contains("/v1beta/") && (SPEECH.key)(request).is_none() => None,
        "GET" if route.ends_with("/models") => Some(Topic::Models),
        "GET" => named_after(route, "/models/").map(Topic::Model),
        _ => None,
    }
}

fn model(name: &str) -> Value {
    json!({
        "name": format!("models/{name}"), "version": "001", "displayName": name, "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}

const FIELDS: Fields = &[
    ("contents", Type::List),
    ("systemInstruction", Type::Object),
    ("generationConfig", Type::Object),
    ("safetySettings", Type::List),
    ("tools", Type::List),
    ("toolConfig", Type::Object),
    ("cachedContent", Type::Text),
    ("labels", Type::Object),
    ("model", Type::Text),
];

const CONFIG: Fields = &[
    ("temperature", Type::Number),
    ("topP", Type::Number),
    ("topK", Type::Number),
    ("candidateCount", Type::Whole),
    ("maxOutputTokens", Type::Whole),
    ("stopSequences", Type::List),
    ("responseMimeType", Type::Text),
    ("responseSchema", Type::Object),
    ("responseJsonSchema", Type::Object),
    ("presencePenalty", Type::Number),
    ("frequencyPenalty", Type::Number),
    ("seed", Type::Whole),
    ("responseLogprobs", Type::Flag),
    ("logprobs", Type::Whole),
    ("responseModalities", Type::List),
    ("thinkingConfig", Type::Object),
    ("mediaResolution", Type::Text),
];

const CONTENT: Fields = &[("role", Type::Text), ("parts", Type::List)];

const PART: Fields = &[
    ("text", Type::Text),
    ("thought", Type::Flag),
    ("thoughtSignature", Type::Text),
    ("functionCall", Type::Object),
    ("functionResponse", Type::Object),
    ("inlineData", Type::Object),
];

const TOOL: Fields = &[("functionDeclarations", Type::List), ("googleSearch", Type::Object)];

const FUNCTION: Fields = &[
    ("name", Type::Text),
    ("description", Type::Text),
    ("parameters", Type::Object),
    ("parametersJsonSchema", Type::Object),
    ("behavior", Type::Text),
];

/// The object with its names in camel case, if it has only these fields. Google takes both spellings.
fn checked(object: &Map<String, Value>, known: Fields, place: &str) -> Result<Map<String, Value>, Refusal> {
    let object: Map<String, Value> =
        object.iter().map(|(name, value)| (fields::in_camel_case(name), value.clone())).collect();
    let inside = if place.is_empty() { String::new() } else { format!(" at '{place}'") };
    match fields::odd(&object, known) {
        None => Ok(object),
        Some(Odd::Unknown(name)) => Err(Refusal::invalid(format!(
            "Invalid JSON payload received. Unknown name \"{name}\"{inside}: Cannot find field."
        ))),
        Some(Odd::IllTyped(name, wanted, found)) => {
            let wanted = match wanted {
                Type::Number => "TYPE_FLOAT",
                Type::Whole => "TYPE_INT32",
                Type::Flag => "TYPE_BOOL",
                _ => "TYPE_STRING",
            };
            let dot = if place.is_empty() { "" } else { "." };
            Err(Refusal::invalid(format!("Invalid value at '{place}{dot}{name}' ({wanted}), {found}")))
        }
    }
}

fn part_of(object: &Map<String, Value>, name: &str) -> Map<String, Value> {
    object.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn read(request: &Request) -> Result<Asked, Refusal> {
    let Some(body) = request.body.as_object() else {
        return Err(Refusal::invalid("Invalid JSON payload received. Unexpected end of string."));
    };
    let body = checked(body, FIELDS, "")?;
    let config = checked(&part_of(&body, "generationConfig"), CONFIG, "generation_config")?;
    if config.get("temperature").and_then(Value::as_f64).is_some_and(|it| !(0.0..=2.0).contains(&it)) {
        let message = "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n";
        return Err(Refusal::invalid(message));
    }
    let stop = texts(config.get("stopSequences"));
    if stop.len() > 5 {
        let message = "The number of stop sequences must be less than or equal to 5.";
        return Err(Refusal::invalid(message));
    }
    let is_streamed = request.route().ends_with(":streamGenerateContent");
    let system = checked(&part_of(&body, "systemInstruction"), CONTENT, "system_instruction")?;
    let Some(Topic::Answer(model)) = hears(request) else { return Err(Refusal::of(Why::Status(404))) };
    Ok(Asked {
        model,
        system: said_in(&system, "system_instruction.parts")?,
        messages: messages(&body)?,
        schema: form(&config)?,
        tool: None,
        offers_discuss: offers_discuss(&body)?,
        is_streamed,
        is_list: is_streamed && request.query("alt") != Some("sse"),
        wants_usage: true,
        max_tokens: config.get("maxOutputTokens").and_then(Value::as_u64),
        stop,
    })
}

fn messages(body: &Map<String, Value>) -> Result<Vec<(String, String)>, Refusal> {
    let mut read = Vec::new();
    for (at, content) in fields::objects(body.get("contents")).enumerate() {
        let content = checked(&content, CONTENT, &format!("contents[{at}]"))?;
        let role = text(&content, "role");
        if !matches!(role, "" | "user" | "model" | "function") {
            return Err(Refusal::invalid("Please use a valid role: user, model."));
        }
        let said = said_in(&content, &format!("contents[{at}].parts"))?;
        if content.get("parts").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            let message =
                format!("* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.\n");
            return Err(Refusal::invalid(message));
        }
        read.push((role.to_owned(), said));
    }
    match read.first() {
        None => Err(Refusal::invalid("* GenerateContentRequest.contents: contents is not specified\n")),
        Some((role, _)) if role == "model" => {
            Err(Refusal::invalid("Please ensure that multiturn requests begin with a user turn."))
        }
        Some(_) => Ok(read),
    }
}

fn said_in(content: &Map<String, Value>, place: &str) -> Result<String, Refusal> {
    let mut whole = String::new();
    for (at, part) in fields::objects(content.get("parts")).enumerate() {
        let part = checked(&part, PART, &format!("{place}[{at}]"))?;
        match part.get("text") {
            Some(Value::String(text)) if !text.is_empty() => whole.push_str(text),
            None if !part.is_empty() => whole.push_str(&Value::Object(part).to_string()),
            _ => {
                let message = "Unable to submit request because it must have a text parameter.";
                return Err(Refusal::invalid(message));
            }
        }
    }
    Ok(whole)
}

fn form(config: &Map<String, Value>) -> Result<Option<Value>, Refusal> {
    let is_json = config.get("responseMimeType") == Some(&json!("application/json"));
    let (own, json) = (config.get("responseSchema"), config.get("responseJsonSchema"));
    if (own.is_some() || json.is_some()) && !is_json {
        let message = "Function calling with a response mime type: 'text/plain' is unsupported; response_schema needs response_mime_type 'application/json'.";
        return Err(Refusal::invalid(message));
    }
    if own.is_some() && json.is_some() {
        let message = "Only one of response_schema and response_json_schema may be set.";
        return Err(Refusal::invalid(message));
    }
    match own.and_then(|own| schema::google_complaint(own, "generation_config.response_schema")) {
        Some(wrong) => Err(Refusal::invalid(wrong)),
        None => Ok(own.or(json).cloned()),
    }
}

fn offers_discuss(body: &Map<String, Value>) -> Result<bool, Refusal> {
    let mut offers = false;
    for (at, tool) in fields::objects(body.get("tools")).enumerate() {
        let tool = checked(&tool, TOOL, &format!("tools[{at}]"))?;
        for (function_at, function) in fields::objects(tool.get("functionDeclarations")).enumerate() {
            let place = format!("tools[{at}].function_declarations[{function_at}]");
            let function = checked(&function, FUNCTION, &place)?;
            let own = function.get("parameters");
            let wrong = own.and_then(|own| schema::google_complaint(own, &format!("{place}.parameters")));
            if let Some(wrong) = wrong {
                return Err(Refusal::invalid(wrong));
            }
            offers |= text(&function, "name") == "discuss";
        }
    }
    Ok(offers)
}

fn finish_reason(said: &Said) -> &'static str {
    match said.ending {
        Ending::Stop | Ending::StopSequence | Ending::Tool => "STOP",
        Ending::Length => "MAX_TOKENS",
        Ending::Refused => "SAFETY",
    }
}

fn text_part(text: &str) -> String {
    format!(r#"{{"text": {}}}"#, quoted(text))
}

fn thought_part(said: &Said) -> Option<String> {
    let thoughts = quoted(&said.thoughts);
    (!said.thoughts.is_empty()).then(|| format!(r#"{{"text": {thoughts},"thought": true}}"#))
}

fn tool_part(said: &Said) -> Option<String> {
    let tool = said.tool.as_ref()?;
    let (name, arguments) = (quoted(&tool.name), &tool.arguments);
    Some(format!(r#"{{"functionCall": {{"name": {name},"args": {arguments}}},"thoughtSignature": "CiQB"}}"#))
}

fn parts(said: &Said) -> String {
    let text = (!said.pieces.is_empty()).then(|| text_part(&said.text()));
    let parts: Vec<String> = [thought_part(said), text, tool_part(said)].into_iter().flatten().collect();
    parts.join(",")
}

/// One response, whole or a piece of one; only the last says why it ended. Counts are of everything so far.
fn response(said: &Said, parts: &str, is_last: bool) -> String {
    let (model, id) = (quoted(&said.model), quoted(&said.id));
    let finish = match is_last {
        true => format!(r#""finishReason": "{}","#, finish_reason(said)),
        false => String::new(),
    };
    let used = &said.used;
    let (prompt, thoughts) = (used.prompt, used.reasoning);
    let candidates = if is_last { used.completion.saturating_sub(thoughts) } else { 0 };
    let total = prompt + candidates + thoughts;
    let cached = match used.cached {
        0 => String::new(),
        cached => format!(r#""cachedContentTokenCount": {cached},"#),
    };
    let thoughts = match thoughts {
        0 => String::new(),
        thoughts => format!(r#","thoughtsTokenCount": {thoughts}"#),
    };
    format!(
        r#"{{"candidates": [{{"content": {{"parts": [{parts}],"role": "model"}},{finish}"index": 0}}],"usageMetadata": {{"promptTokenCount": {prompt},"candidatesTokenCount": {candidates},"totalTokenCount": {total},{cached}"promptTokensDetails": [{{"modality": "TEXT","tokenCount": {prompt}}}]{thoughts}}},"modelVersion": {model},"responseId": {id}}}"#
    )
}

/// The last piece of the text comes with the reason why it ended: there is no other end marker.
fn stream(asked: &Asked, said: &Said) -> Vec<Frame> {
    let mut parts: Vec<(String, bool)> = thought_part(said).into_iter().map(|part| (part, false)).collect();
    parts.extend(said.pieces.iter().map(|piece| (text_part(piece), true)));
    parts.extend(tool_part(said).map(|part| (part, false)));
    let count = parts.len();
    let pieces = parts.iter().enumerate().map(|(at, (part, is_piece))| {
        let response = response(said, part, at + 1 == count);
        let text = match (asked.is_list, at) {
            (false, _) => format!("data: {response}\r\n\r\n"),
            (true, 0) => format!("[{response}"),
            (true, _) => format!(",\r\n{response}"),
        };
        Frame { bytes: text.into_bytes(), is_piece: *is_piece }
    });
    pieces.chain(asked.is_list.then(|| Frame::other("]".to_owned()))).collect()
}

fn refuse(refusal: &Refusal) -> (u16, String) {
    let (status, name, message) = error(refusal);
    let details = match (refusal.why, refusal.retry_in_ms) {
        (Why::WrongKey | Why::EchoedKey, _) => json!([
            { "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
              "domain": "googleapis.com", "metadata": { "service": "generativelanguage.googleapis.com" } },
            { "@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": message },
        ]),
        (_, Some(ms)) => json!([
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{}s", ms as f64 / 1_000.0) },
        ]),
        _ => Value::Null,
    };
    let details = match details {
        Value::Null => String::new(),
        details => format!(",\n    \"details\": {details}"),
    };
    let message = quoted(&message);
    let body = format!(
        "{{\n  \"error\": {{\n    \"code\": {status},\n    \"message\": {message},\n    \"status\": \"{name}\"{details}\n  }}\n}}\n"
    );
    (status, body)
}

fn error(refusal: &Refusal) -> (u16, &'static str, String) {
    let message = refusal.message.clone();
    match refusal.why {
        Why::Invalid => (400, "INVALID_ARGUMENT", message),
        Why::NoKey => {
            let message = "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";
            (403, "PERMISSION_DENIED", message.to_owned())
        }
        Why::WrongKey => {
            (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.".to_owned())
        }
        Why::EchoedKey => (400, "INVALID_ARGUMENT", message),
        Why::UnknownModel => {
            let message = format!(
                "models/{message} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."
            );
            (404, "NOT_FOUND", message)
        }
        Why::TooLong => {
            let message =
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
            (400, "INVALID_ARGUMENT", message.to_owned())
        }
        Why::RateLimited => {
            let message = "You exceeded your current quota, please check your plan and billing details.";
            (429, "RESOURCE_EXHAUSTED", message.to_owned())
        }
        Why::Status(404) => (404, "NOT_FOUND", "Requested entity was not found.".to_owned()),
        Why::Status(503) => {
            (503, "UNAVAILABLE", "The model is overloaded. Please try again later.".to_owned())
        }
        Why::Status(status) => (status, "INTERNAL", "An internal error has occurred.".to_owned()),
    }
}
