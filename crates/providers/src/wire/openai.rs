//! Shared by both of OpenAI's wires: embeddings, and the classification of errors, as responses and
//! in the middle of an answer.
//!
//! Many servers use these wires and word their errors differently; those differences are handled
//! here, too.

use jiff::Timestamp;
use quorum_core::model::error::{ErrorClass, ProviderError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Embedding, Listing, Model, Outgoing, Refused, Vectors,
    refusal::{said, shortened},
};

/// How a key is sent.
pub(super) const BEARER: super::Auth = super::Auth { header: "authorization", prefix: "Bearer " };

/// How embeddings are requested and read.
pub(super) const EMBEDDING: Embedding = Embedding { encode: encode_texts, decode: decode_vectors };

/// How a server lists its models.
pub(super) const LISTING: Listing = Listing { path: "/models", read: listed };

fn listed(list: &Value) -> Vec<String> {
    let models = list.get("data").and_then(Value::as_array).into_iter().flatten();
    models.filter_map(|it| it.get("id")?.as_str().map(str::to_owned)).collect()
}

fn encode_texts(model: &Model, texts: &[String]) -> Outgoing {
    let body = json!({ "model": model.name, "input": texts, "encoding_format": "float" });
    Outgoing { path: "/embeddings".to_owned(), body }
}

fn decode_vectors(body: &str) -> Option<Vectors> {
    #[derive(Deserialize)]
    struct Answer {
        data: Vec<Entry>,
        usage: Option<Used>,
    }
    #[derive(Deserialize)]
    struct Entry {
        index: Option<usize>,
        embedding: Vec<f32>,
    }
    #[derive(Deserialize)]
    struct Used {
        prompt_tokens: Option<u64>,
    }
    let Answer { mut data, usage } = serde_json::from_str(body).ok()?;
    // The order is not guaranteed, so the index decides; without one, the given order is kept.
    data.sort_by_key(|it| it.index);
    let tokens = usage.and_then(|it| it.prompt_tokens);
    Some(Vectors { vectors: data.into_iter().map(|it| it.embedding).collect(), tokens })
}

/// Phrases for an account without credit. It is reported as 400, 402, 403 or 429, and waiting never
/// helps.
const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "insufficient quota",
    "insufficient balance",
    "insufficient_balance",
    "insufficient credit",
    "exceeded_current_quota",
    "billing_hard_limit",
    "billing_not_active",
    "arrearage",
    "余额不足",
];

/// Codes for malformed tool calls or JSON by the model; a retry may help.
const MALFORMED: &[&str] = &["tool_use_failed", "json_validate_failed"];

/// Classifies an error response of the vendors on these wires.
pub(super) fn refusal(refused: &Refused<'_>) -> ProviderError {
    let error = refused.usual();
    let body: Value = serde_json::from_str(refused.body).unwrap_or_default();
    if refused.status == 200 && body.get("error").is_some_and(|it| !it.is_null()) {
        return fault(refused.body, refusal);
    }
    let words = words(&body);
    let has = |any: &[&str]| any.iter().any(|it| words.contains(it));
    let of = |class| ProviderError::new(class, &error.message);
    match refused.status {
        _ if error.class == ErrorClass::ContextOverflow => error,
        _ if refused.status == 402 || has(NO_CREDIT) => {
            let advice = "the account behind this key has no credit left: add some, or use another key";
            ProviderError::new(ErrorClass::Authentication, format!("{}; {advice}", error.message))
        }
        400 if has(MALFORMED) => of(ErrorClass::InvalidResponse),
        400 if has(&["incorrect api key", "invalid api key", "invalid_api_key"]) => {
            of(ErrorClass::Authentication)
        }
        // Moderation rejected the request; the key is fine.
        403 if body.pointer("/error/metadata/reasons").is_some() => of(ErrorClass::Validation),
        422 => with_field(error, &body),
        // Groq's status for a tier without capacity at the moment.
        498 => of(ErrorClass::RateLimit),
        _ => error,
    }
}

/// All parts of an error that may tell its kind, in lower case.
fn words(body: &Value) -> String {
    let places = ["/error/code", "/error/type", "/code", "/type"];
    let codes = places.iter().filter_map(|place| body.pointer(place)?.as_str());
    codes.chain(said(body)).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Names the rejected field. Servers that check every field (Mistral, vLLM) report it in one of
/// three places.
fn with_field(error: ProviderError, body: &Value) -> ProviderError {
    let packed = body.get("message").and_then(Value::as_str).and_then(|it| serde_json::from_str(it).ok());
    let places = [body.get("detail"), body.pointer("/message/detail"), body.get("message")];
    let packed: Value = packed.unwrap_or_default();
    let mut lists = places.into_iter().chain([packed.get("detail")]).flatten();
    let Some(first) = lists.find_map(|list| list.as_array()?.first()) else { return error };
    let Some(problem) = first.get("msg").and_then(Value::as_str) else { return error };
    let names = first.get("loc").and_then(Value::as_array).into_iter().flatten();
    let place: Vec<String> = names.filter(|it| *it != "body").map(plain).collect();
    let message = format!("{}: {} (422)", place.join("."), shortened(problem));
    ProviderError::new(error.class, message.trim_start_matches(": "))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Classifies an error in the middle of an answer like an error response.
pub(super) fn fault(data: &str, refusal: fn(&Refused<'_>) -> ProviderError) -> ProviderError {
    let body: Value = serde_json::from_str(data).unwrap_or_default();
    let places = ["/error", "/response/error", "/choices/0/error", "/x_groq/error"];
    let told =
        places.iter().filter_map(|place| body.pointer(place)).find(|it| !it.is_null()).unwrap_or(&body);
    let status = status_of(told);
    let body = json!({ "error": told });
    let refused = Refused { status, header: &|_| None, body: &body.to_string(), now: Timestamp::UNIX_EPOCH };
    let error = refusal(&refused);
    let message = match said(&body) {
        // Removes the status, since the actual one was 200.
        Some(_) => error.message.replacen(&format!(" ({status})"), "", 1),
        None => "the provider stopped with an unspecified error".to_owned(),
    };
    ProviderError { message, ..error }
}

/// Words in vendors' error codes, and the HTTP statuses that mean the same; the first match counts.
const STATUSES: &[(&str, u16)] = &[
    ("rate_limit", 429),
    ("ratelimit", 429),
    ("too_many", 429),
    ("throttl", 429),
    ("quota", 429),
    ("authentication", 401),
    ("api_key", 401),
    ("apikey", 401),
    ("permission", 403),
    ("timeout", 408),
    ("invalid_request", 400),
    ("invalid_prompt", 400),
    ("bad_request", 400),
    ("badrequest", 400),
    ("invalidparameter", 400),
    ("not_found", 404),
    ("notfound", 404),
];

fn status_of(error: &Value) -> u16 {
    let number = |name: &str| {
        let value = error.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    };
    let told = number("code").or_else(|| number("status")).filter(|it| (400..600).contains(it));
    let words = [error.get("code"), error.get("type")].into_iter().flatten().filter_map(Value::as_str);
    let words = words.collect::<Vec<_>>().join(" ").to_lowercase();
    let meant = || STATUSES.iter().find(|(word, _)| words.contains(word)).map_or(500, |it| it.1);
    told.and_then(|it| u16::try_from(it).ok()).unwrap_or_else(meant)
}

/// The error for a frame that can't be parsed.
pub(super) fn unreadable(error: &serde_json::Error) -> ProviderError {
    let message = format!("a frame of the answer could not be read ({})", shortened(&error.to_string()));
    ProviderError::new(ErrorClass::InvalidResponse, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d08_vectors_are_put_in_order() {
        let check =
            |body: &str, expected: Option<Vectors>| assert_eq!(decode_vectors(body), expected, "{body}");
        let two = r#"{"data":[{"index":1,"embedding":[0.5]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":7}}"#;
        check(two, Some(Vectors { vectors: vec![vec![1.0, 2.0], vec![0.5]], tokens: Some(7) }));
        check(r#"{"data":[]}"#, Some(Vectors { vectors: Vec::new(), tokens: None }));
        check(r#"{"error":"no"}"#, None);
    }
}
