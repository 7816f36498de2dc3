//! Classifies error responses: the class, the message, and how long to wait.

use jiff::{SignedDuration, Timestamp};
use quorum_core::model::error::{ErrorClass, ProviderError};
use serde_json::Value;

use super::limit;

/// The longest message in characters that is quoted from a vendor.
const MAX_MESSAGE: usize = 300;

/// An error response.
#[derive(Clone, Copy)]
pub struct Refused<'r> {
    /// Its status.
    pub status: u16,
    /// Looks up a header's value by its name in lower case.
    pub header: &'r dyn Fn(&str) -> Option<String>,
    /// Its body, cut at a size limit.
    pub body: &'r str,
    /// When it arrived, for dates in it.
    pub now: Timestamp,
}

impl Refused<'_> {
    /// The error as most vendors mean it. Wires adjust it where they know better.
    #[must_use]
    pub fn usual(&self) -> ProviderError {
        let body: Value = serde_json::from_str(self.body).unwrap_or_default();
        let said = said(&body);
        let class = match self.status {
            _ if is_too_long(&body, said.unwrap_or_default()) => ErrorClass::ContextOverflow,
            401 | 403 => ErrorClass::Authentication,
            408 | 504 => ErrorClass::Timeout,
            413 => ErrorClass::ContextOverflow,
            429 => ErrorClass::RateLimit,
            // A retry would be charged and would not be a stream either.
            200 if said.is_none() => ErrorClass::Validation,
            300..=499 => ErrorClass::Validation,
            _ => ErrorClass::ApiError,
        };
        let message = match said {
            Some(said) => format!("{} ({})", shortened(said), self.status),
            None => format!("the response was {} {}", self.status, meaning(self.status)),
        };
        let retry_after_ms = match class {
            ErrorClass::RateLimit => retry_after_ms(self, &body).or_else(|| reset_ms(self)),
            // Every response says when a limit resets; an error unrelated to limits need not wait
            // for that.
            ErrorClass::ApiError => retry_after_ms(self, &body),
            _ => None,
        };
        let is_overflow = class == ErrorClass::ContextOverflow;
        let limit = || limit::in_fields(&body).or_else(|| said.and_then(limit::named));
        let limit = is_overflow.then(limit).flatten();
        ProviderError { retry_after_ms, limit, ..ProviderError::new(class, message.trim_end()) }
    }
}

/// The vendor's message in the body, wherever it is.
pub(crate) fn said(body: &Value) -> Option<&str> {
    let body = if let Value::Array(list) = body { list.first()? } else { body };
    let places = ["/error/message", "/message", "/error", "/detail", "/detail/0/msg", "/error_msg"];
    places.iter().filter_map(|place| body.pointer(place)?.as_str()).find(|it| !it.trim().is_empty())
}

/// Phrases for a request that is longer than the model's window.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "prompt is too long",
    "too many tokens",
    "input token count",
    "exceeds the maximum number of tokens",
    "maximum context",
    "request_too_large",
    "exceed context limit",
    "exceed_context_size",
];

/// Whether the request was too long, judging by its codes or its message.
pub(crate) fn is_too_long(body: &Value, said: &str) -> bool {
    let code = |place: &str| body.pointer(place).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let words = [said.to_lowercase(), code("/error/code"), code("/error/type"), code("/code"), code("/type")];
    // A message about tokens per minute mentions tokens, too, but that limit resets.
    let of_time = words[0].contains("per minute") || words[0].contains("per day");
    !of_time && TOO_LONG.iter().any(|it| words.iter().any(|word| word.contains(it)))
}

/// The wait the vendor asks for: `retry-after-ms`, `retry-after` as seconds or as a date, or a
/// delay in the body.
#[must_use]
pub fn retry_after_ms(refused: &Refused<'_>, body: &Value) -> Option<u64> {
    let header = |name: &str| (refused.header)(name).map(|it| it.trim().to_owned());
    let number = |name: &str| header(name)?.parse::<f64>().ok().and_then(in_ms);
    let millis = || number("retry-after-ms").map(|it| it / 1_000);
    let seconds = || number("retry-after");
    let date = || until_date(&header("retry-after")?, refused.now);
    millis().or_else(seconds).or_else(date).or_else(|| delay_in(body))
}

/// Headers with the rest of a limit, and with the time of its reset.
const LIMIT_HEADERS: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
];

/// The wait until the reached limits reset: those with nothing left, else the first whose rest
/// is unknown.
fn reset_ms(refused: &Refused<'_>) -> Option<u64> {
    let header = |name: &str| (refused.header)(name).map(|it| it.trim().to_owned());
    let left = |name: &str| header(name)?.parse::<f64>().ok();
    let renewed = |name: &str| until_reset(&header(name)?, refused.now);
    let spent = LIMIT_HEADERS.iter().filter(|(remaining, _)| left(remaining) == Some(0.0));
    let spent = spent.filter_map(|(_, reset)| renewed(reset)).max();
    let unknown = || LIMIT_HEADERS.iter().filter(|(remaining, _)| left(remaining).is_none());
    spent.or_else(|| unknown().find_map(|(_, reset)| renewed(reset)))
}

fn until_reset(text: &str, now: Timestamp) -> Option<u64> {
    duration_ms(text).or_else(|| until_date(text, now))
}

/// Seconds as whole milliseconds; `None` if out of range.
fn in_ms(seconds: f64) -> Option<u64> {
    (0.0..=1e9).contains(&seconds).then(|| (seconds * 1_000.0).ceil() as u64)
}

/// The wait until a date in HTTP or ISO 8601 format; 0 if it has passed.
fn until_date(text: &str, now: Timestamp) -> Option<u64> {
    let http = || jiff::fmt::rfc2822::parse(text).ok().map(|it| it.timestamp());
    let at = text.parse::<Timestamp>().ok().or_else(http)?;
    let left = at.duration_since(now).max(SignedDuration::ZERO);
    u64::try_from(left.as_millis()).ok()
}

/// A duration such as `12`, `1.5s`, `6m0s`, `250ms` or `1h2m`.
fn duration_ms(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse::<f64>() {
        // A large number is a Unix timestamp, not a duration.
        return (seconds < 1e8).then(|| in_ms(seconds)).flatten();
    }
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let number = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let (value, after) = (rest[..number].parse::<f64>().ok()?, &rest[number..]);
        let (factor, unit) = UNITS.iter().find(|(_, unit)| after.starts_with(unit))?;
        total += value * factor;
        rest = &after[unit.len()..];
    }
    in_ms(total)
}

/// Units in seconds; the longer names first, so that `ms` is not read as minutes.
const UNITS: &[(f64, &str)] = &[(0.001, "ms"), (60.0, "m"), (1.0, "s"), (3_600.0, "h")];

/// The delay in a body. Google sends it as `error.details[].retryDelay`, others in a sentence: "try
/// again in 7.66s".
fn delay_in(body: &Value) -> Option<u64> {
    let error = if let Value::Array(list) = body { list.first()? } else { body };
    let details = error.pointer("/error/details").and_then(Value::as_array).into_iter().flatten();
    let told = details.filter_map(|it| it.get("retryDelay")?.as_str()).find_map(duration_ms);
    told.or_else(|| {
        let said = said(body)?;
        let after = &said[said.find("try again in ")? + "try again in ".len()..];
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        duration_ms(after[..end].trim_end_matches('.'))
    })
}

/// The beginning of a message, on one line.
pub(crate) fn shortened(said: &str) -> String {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn meaning(status: u16) -> &'static str {
    match status {
        200 => {
            "(not a stream; a stream was asked for: let the server, or the proxy in front of it, stream its responses)"
        }
        300..=399 => "(a redirect; set base_url to the address it points to)",
        404 => "(not found; check base_url and the model's name)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use quorum_core::model::window::TooLong;

    use super::*;

    fn refused(status: u16, headers: &[(&str, &str)], body: &str) -> ProviderError {
        let header = |name: &str| headers.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        Refused { status, header: &header, body, now }.usual()
    }

    #[test]
    fn f5_retry_after_in_all_its_forms() {
        let check = |headers: &[(&str, &str)], body: &str, expected: Option<u64>| {
            assert_eq!(refused(429, headers, body).retry_after_ms, expected, "{headers:?} {body}");
        };
        check(&[("retry-after", "7")], "", Some(7_000));
        check(&[("retry-after", "0.25")], "", Some(250));
        check(&[("retry-after-ms", "300"), ("retry-after", "1")], "", Some(300));
        check(&[("retry-after", "Sun, 15 Nov 2026 12:00:30 GMT")], "", Some(30_000));
        check(&[("retry-after", "Sun, 15 Nov 2026 11:00:00 GMT")], "", Some(0));
        check(&[("retry-after", "soon")], "", None);
        check(&[("retry-after", "-5")], "", None);
        check(&[("x-ratelimit-reset-requests", "6m0s")], "", Some(360_000));
        check(&[("x-ratelimit-reset-tokens", "120ms")], "", Some(120));
        check(&[("anthropic-ratelimit-requests-reset", "2026-11-15T12:00:10Z")], "", Some(10_000));
        let left = |tokens: &'static str| {
            [
                ("x-ratelimit-remaining-requests", "99"),
                ("x-ratelimit-reset-requests", "1s"),
                ("x-ratelimit-remaining-tokens", tokens),
                ("x-ratelimit-reset-tokens", "30s"),
            ]
        };
        check(&left("0"), "", Some(30_000));
        check(&left("5"), "", None);
        check(&[], r#"{"error":{"details":[{"@type":"x"},{"retryDelay":"34s"}]}}"#, Some(34_000));
        check(&[], r#"{"error":{"message":"Please try again in 7.66s. Visit us"}}"#, Some(7_660));
        check(&[], "", None);
    }

    #[test]
    fn d12_a_500_is_tried_again_whenever_limits_are_renewed() {
        let check = |headers: &[(&str, &str)], expected: Option<u64>| {
            let error = refused(500, headers, "");
            assert_eq!((error.class, error.retry_after_ms), (ErrorClass::ApiError, expected), "{headers:?}");
        };
        check(&[("x-ratelimit-reset-tokens", "6m0s")], None);
        check(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")], None);
        check(&[("retry-after", "3"), ("x-ratelimit-reset-tokens", "6m0s")], Some(3_000));
    }

    #[test]
    fn d12_refusals_are_classed_by_status_and_words() {
        let check = |status: u16, body: &str, class: ErrorClass, message: &str| {
            let error = refused(status, &[], body);
            assert_eq!((error.class, error.message.as_str()), (class, message), "{status} {body}");
        };
        check(401, r#"{"error":{"message":"bad key"}}"#, ErrorClass::Authentication, "bad key (401)");
        check(403, "", ErrorClass::Authentication, "the response was 403");
        check(429, r#"{"message":"slow down"}"#, ErrorClass::RateLimit, "slow down (429)");
        check(500, "<html>oops</html>", ErrorClass::ApiError, "the response was 500");
        check(
            529,
            r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ErrorClass::ApiError,
            "Overloaded (529)",
        );
        let whole = "the response was 200 (not a stream; a stream was asked for: let the server, or the proxy in front \
                     of it, stream its responses)";
        check(200, r#"{"object":"chat.completion","choices":[]}"#, ErrorClass::Validation, whole);
        check(504, "", ErrorClass::Timeout, "the response was 504");
        check(400, r#"{"error":"no such field"}"#, ErrorClass::Validation, "no such field (400)");
        check(
            400,
            r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#,
            ErrorClass::ContextOverflow,
            "m (400)",
        );
        let per_minute = r#"{"error":{"message":"too many tokens per minute"}}"#;
        check(429, per_minute, ErrorClass::RateLimit, "too many tokens per minute (429)");
        check(
            307,
            "",
            ErrorClass::Validation,
            "the response was 307 (a redirect; set base_url to the address it points to)",
        );
    }

    #[test]
    fn d12_llama_cpps_overflow_names_its_limit_in_fields() {
        let body = r#"{"error":{"code":400,"message":"the request exceeds the available context size",
            "type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}}"#;
        let error = refused(400, &[], body);
        let limit = TooLong { limit: 256, sent: Some(351) };
        assert_eq!((error.class, error.limit), (ErrorClass::ContextOverflow, Some(limit)));
    }

    #[test]
    fn a_vendors_words_are_cut_short() {
        let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "x ".repeat(1_000));
        assert!(refused(500, &[], &long).message.chars().count() < MAX_MESSAGE + 10);
    }
}
