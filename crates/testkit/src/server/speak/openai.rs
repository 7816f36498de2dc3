//! Shared by all of OpenAI's APIs: keys, models, errors, and the checks of fields.

use serde_json::{Map, Value, json};

use super::{
    super::request::Request,
    Refusal, Topic, Why,
    fields::{self, Fields, Odd, Type, kind_of, text},
    named_after, quoted, schema,
};

/// 2026-01-01.
pub(super) const CREATED: u64 = 1_767_225_600;

pub(super) fn key(request: &Request) -> Option<&str> {
    request.header("authorization")?.strip_prefix("Bearer ")
}

/// The topic of a request for one model or all of them.
pub(super) fn models_asked(request: &Request) -> Option<Topic> {
    match request.method.as_str() {
        "GET" if request.route().ends_with("/models") => Some(Topic::Models),
        "GET" => named_after(request.route(), "/models/").map(Topic::Model),
        _ => None,
    }
}

pub(super) fn model(name: &str) -> String {
    let name = quoted(name);
    format!(r#"{{"id":{name},"object":"model","created":{CREATED},"owned_by":"system"}}"#)
}

pub(super) fn models(names: &[String]) -> String {
    let models: Vec<String> = names.iter().map(|name| model(name)).collect();
    format!(r#"{{"object":"list","data":[{}]}}"#, models.join(","))
}

pub(super) fn refuse(refusal: &Refusal) -> (u16, String) {
    let (status, kind, code, message) = error(refusal);
    let or_null = |it: Option<&str>| it.map_or("null".to_owned(), quoted);
    let (message, field, code) = (quoted(&message), or_null(refusal.field.as_deref()), or_null(code));
    let body = format!(
        "{{\n  \"error\": {{\n    \"message\": {message},\n    \"type\": \"{kind}\",\n    \"param\": {field},\n    \"code\": {code}\n  }}\n}}"
    );
    (status, body)
}

fn error(refusal: &Refusal) -> (u16, &'static str, Option<&'static str>, String) {
    let message = refusal.message.clone();
    let invalid = "invalid_request_error";
    match refusal.why {
        Why::Invalid => (400, invalid, refusal.code, message),
        Why::NoKey => {
            let message = "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
            (401, invalid, None, message.to_owned())
        }
        Why::WrongKey => {
            let message = "Incorrect API key provided: sk-ca****************nary. You can find your API key at https://platform.openai.com/account/api-keys.";
            (401, invalid, Some("invalid_api_key"), message.to_owned())
        }
        Why::EchoedKey => (401, invalid, Some("invalid_api_key"), message),
        Why::UnknownModel => {
            let message = format!("The model `{message}` does not exist or you do not have access to it.");
            (404, invalid, Some("model_not_found"), message)
        }
        Why::TooLong => {
            let message = "This model's maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens. Please reduce the length of the messages.";
            (400, invalid, Some("context_length_exceeded"), message.to_owned())
        }
        Why::RateLimited => {
            let message = format!("Rate limit reached for requests.{}", refusal.delay());
            (429, "requests", Some("rate_limit_exceeded"), message)
        }
        Why::Status(404) => (404, invalid, None, "Invalid URL (GET /v1/models)".to_owned()),
        Why::Status(503) => {
            let message = "The engine is currently overloaded, please try again later.";
            (503, "service_unavailable_error", None, message.to_owned())
        }
        Why::Status(status) => (status, "server_error", None, TROUBLE.to_owned()),
    }
}

pub(super) const TROUBLE: &str = "The server had an error while processing your request. Sorry about that!";

/// The body, if it has a model and no unknown fields.
pub(super) fn body(request: &Request, known: Fields) -> Result<&Map<String, Value>, Refusal> {
    let Some(body) = request.body.as_object() else {
        let message = "We could not parse the JSON body of your request.";
        return Err(Refusal::invalid(message));
    };
    checked(body, known, "")?;
    if text(body, "model").is_empty() {
        return Err(Refusal::invalid("you must provide a model parameter"));
    }
    Ok(body)
}

pub(super) fn checked(object: &Map<String, Value>, known: Fields, place: &str) -> Result<(), Refusal> {
    match fields::odd(object, known) {
        None => Ok(()),
        Some(Odd::Unknown(name)) => {
            let name = format!("{place}{name}");
            let refusal = Refusal::invalid(format!("Unknown parameter: '{name}'."));
            Err(refusal.at(&name).coded("unknown_parameter"))
        }
        Some(Odd::IllTyped(name, wanted, found)) => {
            let wanted = match wanted {
                Type::Text => "a string",
                Type::Number => "a decimal",
                Type::Whole => "an integer",
                Type::Flag => "a boolean",
                Type::Object | Type::Any => "an object",
                Type::List => "an array",
                Type::TextOrList => "a string or an array",
                Type::TextOrObject => "a string or an object",
            };
            let (name, found) = (format!("{place}{name}"), with_article(kind_of(found)));
            let message = format!("Invalid type for '{name}': expected {wanted}, but got {found} instead.");
            Err(Refusal::invalid(message).at(&name).coded("invalid_type"))
        }
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "number" => "a decimal".to_owned(),
        "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

pub(super) fn within(body: &Map<String, Value>, name: &str, least: f64, most: f64) -> Result<(), Refusal> {
    match body.get(name).and_then(Value::as_f64) {
        Some(value) if value < least => {
            let message = format!(
                "Invalid '{name}': decimal below minimum value. Expected a value >= {least}, but got {value} instead."
            );
            Err(Refusal::invalid(message).at(name).coded("decimal_below_min_value"))
        }
        Some(value) if value > most => {
            let message = format!(
                "Invalid '{name}': decimal above maximum value. Expected a value <= {most}, but got {value} instead."
            );
            Err(Refusal::invalid(message).at(name).coded("decimal_above_max_value"))
        }
        _ => Ok(()),
    }
}

/// The schema of a `json_schema` format; this object has its name, schema and strictness.
pub(super) fn form(format: &Map<String, Value>, place: &str) -> Result<Value, Refusal> {
    let name = text(format, "name");
    let is_fit = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if name.is_empty() {
        let field = format!("{place}.name");
        let message = format!("Missing required parameter: '{field}'.");
        return Err(Refusal::invalid(message).at(&field).coded("missing_required_parameter"));
    }
    if !name.chars().all(is_fit) {
        let field = format!("{place}.name");
        let message = format!(
            "Invalid '{field}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        );
        return Err(Refusal::invalid(message).at(&field).coded("invalid_value"));
    }
    let Some(schema) = format.get("schema").filter(|it| it.is_object()) else {
        let field = format!("{place}.schema");
        let message = format!("Missing required parameter: '{field}'.");
        return Err(Refusal::invalid(message).at(&field).coded("missing_required_parameter"));
    };
    let is_strict = format.get("strict") == Some(&json!(true));
    match schema::openai_complaint(schema).filter(|_| is_strict) {
        Some(wrong) => {
            let message = format!("Invalid schema for response_format '{name}': {wrong}");
            Err(Refusal::invalid(message).at("response_format").coded("invalid_json_schema"))
        }
        None => Ok(schema.clone()),
    }
}

/// Checks a tool; its fields are in `function` or in the tool itself.
pub(super) fn tool(tool: &Map<String, Value>, place: &str) -> Result<(), Refusal> {
    const FIELDS: Fields = &[
        ("type", Type::Text),
        ("name", Type::Text),
        ("description", Type::Text),
        ("parameters", Type::Object),
        ("strict", Type::Flag),
    ];
    checked(tool, FIELDS, &format!("{place}."))?;
    let name = text(tool, "name");
    if name.is_empty() {
        let field = format!("{place}.name");
        let message = format!("Missing required parameter: '{field}'.");
        return Err(Refusal::invalid(message).at(&field).coded("missing_required_parameter"));
    }
    let parameters = tool.get("parameters").filter(|_| tool.get("strict") == Some(&json!(true)));
    match parameters.and_then(schema::openai_complaint) {
        Some(wrong) => {
            let message = format!("Invalid schema for function '{name}': {wrong}");
            Err(Refusal::invalid(message)
                .at(&format!("{place}.parameters"))
                .coded("invalid_function_parameters"))
        }
        None => Ok(()),
    }
}

/// Refuses an empty or missing list.
pub(super) fn some_of(body: &Map<String, Value>, name: &str) -> Result<(), Refusal> {
    match body.get(name) {
        None | Some(Value::Null) => {
            let message = format!("Missing required parameter: '{name}'.");
            Err(Refusal::invalid(message).at(name).coded("missing_required_parameter"))
        }
        Some(Value::Array(list)) if list.is_empty() => {
            let message = format!(
                "Invalid '{name}': empty array. Expected an array with minimum length 1, but got an empty array instead."
            );
            Err(Refusal::invalid(message).at(name).coded("empty_array"))
        }
        Some(_) => Ok(()),
    }
}
