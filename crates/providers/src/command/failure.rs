//! Classifies a program's error messages and picks the most informative line.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use jiff::Timestamp;
use quorum_core::model::error::{ErrorClass, ProviderError};
use serde_json::{Value, json};

use crate::{clean::cleaned, wire::Refused};

/// The longest message in characters that is quoted from a program.
const MAX_MESSAGE: usize = 300;

/// Phrases in programs' messages, in lower case, and the HTTP statuses that mean the same. The
/// first match counts.
const PHRASES: &[(u16, &[&str])] = &[
    (
        429,
        &[
            "usage limit",
            "rate limit",
            "rate_limit",
            "ratelimit",
            "limit reached",
            "hit your limit",
            "too many requests",
            "quota",
            "resource_exhausted",
            "429",
        ],
    ),
    (
        401,
        &[
            "not logged in",
            "/login",
            "log in",
            "login required",
            "codex login",
            "api key",
            "api_key",
            "auth method",
            "authenticat",
            "unauthorized",
            "oauth token",
            "401",
        ],
    ),
    (
        400,
        &[
            "unknown option",
            "unknown argument",
            "unexpected argument",
            "selected model",
            "model not found",
            "model_not_found",
            "model is not supported",
            "does not exist or you do not have access",
            "is not found for api version",
            "not running in a trusted directory",
            "folder is not trusted",
            "no such file or directory",
            "command not found",
        ],
    ),
];

/// Phrases for the allowance of a subscription.
const ALLOWANCE_PHRASES: &[&str] =
    &["usage limit", "hit your limit", "hour limit", "weekly limit", "daily quota"];

/// The minimum wait until a used-up allowance is renewed.
const ALLOWANCE_MS: u64 = 60 * 60 * 1_000;

/// The error for a message in a program's own output.
pub(super) fn reported(words: &str) -> ProviderError {
    let words = vendor_message(words).unwrap_or_else(|| cleaned(words));
    let words = if words.trim().is_empty() { "it failed without saying why" } else { &words };
    let (status, line) = most_telling_line(words);
    classified(status.unwrap_or(500), line, redacted(line))
}

/// The error for a program that exited with a failure, and its messages.
pub(super) fn exited(name: &str, status: ExitStatus, words: &str, codes: &[(i32, u16)]) -> ProviderError {
    let (reported, line) = most_telling_line(words);
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("{name} exited with code {code}"),
        (None, Some(signal)) => format!("{name} was killed by signal {signal}"),
        (None, None) => format!("{name} ended in an unknown way"),
    };
    let message = if line.is_empty() { how } else { format!("{how}: {}", redacted(line)) };
    let meant = status.code().and_then(|code| codes.iter().find(|it| it.0 == code)).map(|it| it.1);
    match (meant.or(reported), status.code()) {
        (Some(reported), _) => classified(reported, line, message),
        // The exit codes of shells and `env` for a program they can't start.
        (None, Some(126 | 127)) => classified(400, line, message),
        (None, Some(_)) => classified(500, line, message),
        (None, None) => ProviderError::new(ErrorClass::Network, message),
    }
}

/// The message inside a vendor's JSON response that a program passed on unchanged.
fn vendor_message(words: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(words).ok()?;
    let said = answer["error"]["message"].as_str().or(answer["message"].as_str());
    said.map(cleaned)
}

/// Adds how to log in to an authentication error; advice about keys would not help there.
pub(super) fn with_login(mut error: ProviderError, login: &str) -> ProviderError {
    if error.class == ErrorClass::Authentication && !login.is_empty() {
        error.message = format!("{}; log in: {login}", error.message);
    }
    error
}

/// The last line that looks like an error: programs also print notices there.
pub(super) fn complaint(words: &str) -> Option<&str> {
    let is_trouble = |line: &&str| {
        let line = line.to_lowercase();
        ["fail", "error", "retry", "reconnect", "limit", "refused"].iter().any(|it| line.contains(it))
    };
    words.lines().map(str::trim).rfind(is_trouble)
}

/// The error for an answer that stopped before its end.
pub(super) fn cut_off(name: &str) -> ProviderError {
    ProviderError::new(ErrorClass::Network, format!("the answer of {name} broke off before its end"))
}

/// The error for a program that exited with 0 but wrote no answer.
pub(super) fn no_answer(name: &str, words: &str) -> ProviderError {
    let (_, line) = most_telling_line(words);
    let message = if line.is_empty() {
        format!("{name} wrote nothing")
    } else {
        format!("{name} gave no answer; it wrote: {}", redacted(line))
    };
    ProviderError::new(ErrorClass::InvalidResponse, message)
}

/// The error for a program that wrote nothing for too long.
pub(super) fn timed_out(name: &str, waited: Duration, complaint: Option<&str>) -> ProviderError {
    let reported = complaint.map(|it| format!(": {}", redacted(&cleaned(it)))).unwrap_or_default();
    let seconds = waited.as_secs_f64();
    ProviderError::new(ErrorClass::Timeout, format!("{name} said nothing for {seconds:.1} s{reported}"))
}

/// Classifies a message as the HTTP side does, which also recognises requests that are too long and
/// how long to wait.
fn classified(status: u16, line: &str, message: String) -> ProviderError {
    let body = json!({ "message": line }).to_string();
    let refused = Refused { status, header: &|_| None, body: &body, now: Timestamp::now() };
    let mut error = ProviderError { message, ..refused.usual() };
    if error.class == ErrorClass::RateLimit && is_allowance(line) {
        error.retry_after_ms = Some(ALLOWANCE_MS);
    }
    error
}

/// Whether an allowance of hours or days is used up. It is not renewed within a minute, whatever
/// numbers the message contains.
fn is_allowance(line: &str) -> bool {
    let line = line.to_lowercase();
    ALLOWANCE_PHRASES.iter().any(|it| line.contains(it))
}

/// The last line with a known phrase and its status, else the last line.
fn most_telling_line(words: &str) -> (Option<u16>, &str) {
    let lines = || words.lines().rev().map(str::trim).filter(|it| !it.is_empty());
    let known = lines().find_map(|line| Some((Some(status_of(line)?), line)));
    known.unwrap_or_else(|| (None, lines().next().unwrap_or_default()))
}

fn status_of(line: &str) -> Option<u16> {
    let line = line.to_lowercase();
    let numbers = || line.split(|it: char| !it.is_ascii_alphanumeric());
    // A status must be a whole word, not some digits of a larger number.
    let is_said = |phrase: &&str| match phrase.parse::<u16>() {
        Ok(_) => numbers().any(|it| it == *phrase),
        Err(_) => line.contains(phrase),
    };
    let fits = |(_, phrases): &&(u16, &[&str])| phrases.iter().any(is_said);
    PHRASES.iter().find(fits).map(|(status, _)| *status)
}

/// A line that is safe to show: short, without addresses and without anything that may be a key.
fn redacted(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().map(redacted_word).collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn redacted_word(word: &str) -> &str {
    let run = |it: &str| it.len() >= 16 && it.contains(|it: char| it.is_ascii_digit());
    let may_be_key = word.split(|it: char| !it.is_ascii_alphanumeric() && it != '-' && it != '_').any(run);
    match word {
        _ if word.contains("://") => "(an address)",
        _ if may_be_key || word.starts_with("sk-") => "(hidden)",
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_complaints_are_classed_by_their_words() {
        let check = |words: &str, class: ErrorClass, message: &str| {
            let error = reported(words);
            assert_eq!((error.class, error.message.as_str()), (class, message), "{words}");
        };
        check(
            "Not logged in · Please run /login",
            ErrorClass::Authentication,
            "Not logged in · Please run /login",
        );
        let access = "The model `x` does not exist or you do not have access to it.";
        check(access, ErrorClass::Validation, access);
        let version = "models/x is not found for API version v1beta";
        check(version, ErrorClass::Validation, version);
        check("Invalid API key", ErrorClass::Authentication, "Invalid API key");
        check("Claude AI usage limit reached", ErrorClass::RateLimit, "Claude AI usage limit reached");
        check("You've hit your usage limit.", ErrorClass::RateLimit, "You've hit your usage limit.");
        check("Prompt is too long", ErrorClass::ContextOverflow, "Prompt is too long");
        check("error: unknown option '--tools'", ErrorClass::Validation, "error: unknown option '--tools'");
        check("API Error: 500 Internal", ErrorClass::ApiError, "API Error: 500 Internal");
        check("429 from upstream", ErrorClass::RateLimit, "429 from upstream");
        check("at byte 14290", ErrorClass::ApiError, "at byte 14290");
        let repeated = "{\n  \"error\": {\n    \"message\": \"The model does not exist or you do not have access.\"\n  }\n}";
        check(repeated, ErrorClass::Validation, "The model does not exist or you do not have access.");
        check("", ErrorClass::ApiError, "it failed without saying why");
        check("\u{1b}[31mBad\u{1b}[0m\n  at file.js", ErrorClass::ApiError, "at file.js");
        check("Error: please log in\n  at file.js", ErrorClass::Authentication, "Error: please log in");
    }

    #[test]
    fn f5_a_limit_tells_how_long_to_wait() {
        assert_eq!(reported("Rate limit reached. Please try again in 7.66s.").retry_after_ms, Some(7_660));
        assert_eq!(reported("Rate limit reached.").retry_after_ms, None);
        let used_up = "You've hit your usage limit. Try again in 3 days.";
        assert_eq!(reported(&used_up.to_lowercase()).retry_after_ms, Some(ALLOWANCE_MS));
    }

    #[test]
    fn d12_a_bad_end_is_told_with_its_last_words() {
        let check = |code: i32, words: &str, class: ErrorClass, message: &str| {
            let error = exited("claude", ExitStatus::from_raw(code), words, &[(55, 400)]);
            assert_eq!((error.class, error.message.as_str()), (class, message), "{words}");
        };
        let exit = |code: i32| code << 8;
        check(exit(1), "one\ntwo\n\n", ErrorClass::ApiError, "claude exited with code 1: two");
        check(exit(3), "", ErrorClass::ApiError, "claude exited with code 3");
        check(
            exit(127),
            "env: node: No such file",
            ErrorClass::Validation,
            "claude exited with code 127: env: node: No such file",
        );
        check(exit(55), "", ErrorClass::Validation, "claude exited with code 55");
        check(9, "", ErrorClass::Network, "claude was killed by signal 9");
    }

    #[test]
    fn a_login_is_advised_only_where_it_is_missing() {
        let check = |class, expected: &str| {
            let error = with_login(ProviderError::new(class, "It failed"), "run `codex login`");
            assert_eq!(error.message, expected);
        };
        check(ErrorClass::Authentication, "It failed; log in: run `codex login`");
        check(ErrorClass::ApiError, "It failed");
        let keyed = with_login(ProviderError::new(ErrorClass::Authentication, "It failed"), "");
        assert_eq!(keyed.message, "It failed");
    }

    #[test]
    fn f2_a_complaint_is_told_from_a_notice() {
        let check = |words: &str, expected: Option<&str>| assert_eq!(complaint(words), expected);
        check(
            "Attempt 1 failed with status 500\nLoaded credentials.\n",
            Some("Attempt 1 failed with status 500"),
        );
        check("Loaded credentials.", None);
        check("", None);
    }

    #[test]
    fn s1_neither_keys_nor_addresses_are_shown() {
        let check = |line: &str, expected: &str| assert_eq!(redacted(line), expected);
        check("bad key sk-ant-api03-abcdef0123456789abcdef", "bad key (hidden)");
        check("key=AIzaSyA1234567890abcdefgh, see https://x.example/y", "(hidden) see (an address)");
        check("sk-short and a-very-long-hyphenated-word", "(hidden) and a-very-long-hyphenated-word");
        assert_eq!(redacted(&"x ".repeat(1_000)).chars().count(), MAX_MESSAGE + 1);
    }
}
