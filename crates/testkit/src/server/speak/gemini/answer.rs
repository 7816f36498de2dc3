//! Gemini's responses: a stream, a whole response, an error.

use serde_json::{Value, json};

use super::super::{
    super::{
        answer::{Ending, Said},
        request::Asked,
    },
    Frame, Refusal, Why, quoted,
};

/// The stream. The last piece of the text comes with the finish reason; there is no other end
/// marker.
pub(super) fn stream(asked: &Asked, said: &Said) -> Vec<Frame> {
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

pub(super) fn whole(_asked: &Asked, said: &Said) -> String {
    response(said, &parts(said), true)
}

/// A whole or partial response; only the last one has a finish reason. Usage covers everything so
/// far.
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

pub(super) fn refuse(refusal: &Refusal) -> (u16, String) {
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

/// The error in a stream, where everything is on one line.
pub(super) fn break_off(refusal: &Refusal) -> String {
    let body: String = refuse(refusal).1.lines().map(str::trim_start).collect();
    format!("data: {body}\r\n\r\n")
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
