//! What both of OpenAI's wires share: what its errors mean, as a refusal and in the middle of an answer.
//!
//! Many servers speak these wires and word their errors differently; the differences are here, too.

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

/// How texts are made vectors.
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
    // Nobody promises that they come in order; where they have no place, the order is all there is.
    data.sort_by_key(|it| it.index);
    let tokens = usage.and_then(|it| it.prompt_tokens);
    Some(Vectors { vectors: data.into_iter().map(|it| it.embedding).collect(), tokens })
}

/// What vendors call an account without credit. It comes as 400, 402, 403 or 429, and waiting never helps.
const UNPAID: &[&str] = &[
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

/// A model that wrote nonsense where a tool call or JSON was due; the next attempt may do better.
const BADLY_WRITTEN: &[&str] = &["tool_use_failed", "json_validate_failed"];

/// What a refusal means, by the vendors on these wires.
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
        _ if refused.status == 402 || has(UNPAID) => {
            let advice = "the account behind this key has no credit left: add some, or use another key";
            ProviderError::new(ErrorClass::Authentication, format!("{}; {advice}", error.message))
        }
        400 if has(BADLY_WRITTEN) => of(ErrorClass::InvalidResponse),
        400 if has(&["incorrect api key", "invalid api key", "invalid_api_key"]) => {
            of(ErrorClass::Authentication)
        }
        // A model that checks what it is asked first, not a key without rights.
        403 if body.pointer("/error/metadata/reasons").is_some() => of(ErrorClass::Validation),
        422 => detailed(error, &body),
        // Groq's word for a tier that has no room just now.
        498 => of(ErrorClass::RateLimit),
        _ => error,
    }
}

/// Everything in an error that may tell its kind, in small letters.
fn words(body: &Value) -> String {
    let places = ["/error/code", "/error/type", "/code", "/type"];
    let codes = places.iter().filter_map(|place| body.pointer(place)?.as_str());
    codes.chain(said(body)).collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Servers that check every field (Mistral, vLLM) name the field they refuse, in three places.
fn detailed(error: ProviderError, body: &Value) -> ProviderError {
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

/// An error in the middle of an answer, classed as if it had come as a refusal.
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
        // There was no such status: the answer had begun with 200.
        Some(_) => error.message.replacen(&format!(" ({status})"), "", 1),
        None => "the provider broke off with an error and did not say which".to_owned(),
    };
    ProviderError { message, ..error }
}

/// What vendors' words would be as a status; the first that is found counts.
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

/// A frame that is no piece of an answer.
pub(super) fn unreadable(error: &serde_json::Error) -> ProviderError {
    let message = format!("a piece of the answer could not be read ({})", shortened(&error.to_string()));
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
