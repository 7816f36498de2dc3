//! Reads the body of a request under `/v1`: one JSON object of any fields.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};
use serde_json::{Map, Value};

use crate::{app::App, v1::fault::Fault};

/// The header that tells a panel behind a panel.
pub(crate) const DEPTH: &str = "x-quorum-depth";

/// The fields of a body.
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl FromRequest<App> for Fields {
    type Rejection = Fault;

    async fn from_request(request: Request, app: &App) -> Result<Self, Fault> {
        refuse_recursion(request.headers())?;
        if !request.headers().contains_key(header::CONTENT_TYPE) {
            let message = "send Content-Type: application/json";
            return Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message));
        }
        let reading = tokio::time::timeout(app.limits().body_time, Bytes::from_request(request, app));
        match reading.await {
            Ok(Ok(bytes)) => read(&bytes).map(Fields),
            Ok(Err(error)) => Err(not_received(error.status(), app.limits().body_bytes)),
            Err(_) => {
                let message = "the body did not arrive in time; send it at once";
                Err(Fault::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", message))
            }
        }
    }
}

fn not_received(status: StatusCode, most: usize) -> Fault {
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        let message = format!("the body is too large; at most {} KiB are accepted", most >> 10);
        return Fault::new(status, "request_too_large", message);
    }
    Fault::new(StatusCode::BAD_REQUEST, "invalid_json", "the body ended early")
}

/// Refuses a request by a panel: a panel whose members are panels would multiply calls without end.
pub(crate) fn refuse_recursion(headers: &HeaderMap) -> Result<(), Fault> {
    let depth = headers.get_all(DEPTH).iter().map(|it| it.to_str().unwrap_or_default().trim());
    if depth.into_iter().all(|it| it == "0") {
        return Ok(());
    }
    let message = "this request comes from a panel, and a panel can't be a member of a panel";
    Err(Fault::new(StatusCode::BAD_REQUEST, "recursion_refused", message).not_to_be_repeated())
}

fn read(bytes: &[u8]) -> Result<Map<String, Value>, Fault> {
    let invalid = |message: String| Fault::new(StatusCode::BAD_REQUEST, "invalid_json", message);
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("the body is not UTF-8".to_owned()))?;
    let text = without_lone_surrogates(text);
    match serde_json::from_str(&text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(invalid("the body must be one JSON object".to_owned())),
        Err(error) => Err(invalid(format!("the body is not JSON: {error}"))),
    }
}

/// Replaces escapes of half a character: some clients cut texts between the two halves.
fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        let length = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                out.push_str(&rest[..at]);
                out.push_str("\\ufffd");
                rest = &rest[at + 6..];
                continue;
            }
            // The character after a backslash belongs to it.
            (None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..at + length]);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

#[derive(PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Which half of a character this escape is, if it is one.
fn surrogate(escape: &str) -> Option<Half> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_are_replaced_and_whole_ones_are_kept() {
        let check = |body: &str, expected: &str| {
            let read = read(format!("{{\"a\": \"{body}\"}}").as_bytes()).unwrap();
            assert_eq!(read["a"], expected, "{body}");
        };
        check(r"\ud83d\ude00", "😀");
        check(r"a\ud83d", "a\u{fffd}");
        check(r"\ude00b", "\u{fffd}b");
        check(r"\ud83d\ud83d\ude00", "\u{fffd}😀");
        check(r"\\ud83d \u00e4", "\\ud83d ä");
        check(r"\ud83dä", "\u{fffd}ä");
    }
}
