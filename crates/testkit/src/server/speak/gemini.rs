//! Google's Gemini API.

mod answer;
mod ordering;

use serde_json::{Map, Value, json};

use super::{
    super::request::{Asked, Request},
    Refusal, Speech, Topic, Why, decoded,
    fields::{self, Fields, Odd, Type, text, texts},
    named_after, schema,
};

pub(super) const SPEECH: Speech = Speech {
    name: "gemini",
    recognise,
    key: |request| request.header("x-goog-api-key").or_else(|| request.query("key")),
    read,
    prompt: |body| super::plain_prompt(body, &["/tools", "/systemInstruction", "/contents"]),
    stream: answer::stream,
    content_type: "text/event-stream",
    whole: answer::whole,
    model: |name| model(name).to_string(),
    models: |names| {
        let models: Vec<Value> = names.iter().map(|name| model(name)).collect();
        json!({ "models": models }).to_string()
    },
    refuse: answer::refuse,
    error: answer::break_off,
};

fn recognise(request: &Request) -> Option<Topic> {
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

/// The object with its names in camel case, if all fields are known. Google accepts both spellings.
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
    let Some(Topic::Answer(model)) = recognise(request) else { return Err(Refusal::of(Why::Status(404))) };
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
    let wrong = own.and_then(|own| schema::google_complaint(own, "generation_config.response_schema"));
    let given = own.or(json);
    let misordered = || ordering::complaint(given?, "generation_config.response_schema");
    match wrong.or_else(misordered) {
        Some(wrong) => Err(Refusal::invalid(wrong)),
        None => Ok(given.map(ordering::ordered)),
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
