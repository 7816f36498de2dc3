//! Errors of the HTTP client, worded without addresses and without keys (S1).

use std::error::Error;

use quorum_core::model::error::{ErrorClass, ProviderError};
use secrecy::{ExposeSecret, SecretString};

use crate::guard;

/// The number of consecutive characters of a key that are taken for a part of it.
const MIN_KEY_PART: usize = 8;

/// Prefixes of the vendors' keys.
const KEY_PREFIXES: &[&str] = &["sk-", "sk_", "gsk_", "xai-", "AIza", "pplx-", "key-"];

/// The error for a failure of the HTTP client.
pub(super) fn from_client(error: reqwest::Error, key: Option<&SecretString>) -> ProviderError {
    if let Some(forbidden) = guard::forbidden_in(&error) {
        return ProviderError::new(ErrorClass::Validation, forbidden.to_string());
    }
    // The address may contain private data.
    let error = error.without_url();
    let class = if error.is_timeout() { ErrorClass::Timeout } else { ErrorClass::Network };
    let reason = root_cause(&error);
    let message = if error.is_connect() {
        format!("it can't be reached: {reason}")
    } else if error.is_timeout() {
        "it did not answer in time".to_owned()
    } else {
        format!("the connection broke: {reason}")
    };
    scrubbed(ProviderError::new(class, message), key)
}

/// The message of the root cause; the errors around it add nothing.
fn root_cause(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// The error without the key, a part of it, or anything that looks like a key.
pub(super) fn scrubbed(mut error: ProviderError, key: Option<&SecretString>) -> ProviderError {
    let word_ends = |it: char| it.is_whitespace() || "\"'`,;()<>{}[]".contains(it);
    let words = error.message.split_inclusive(word_ends).map(|word| {
        let bare = word.trim_end_matches(word_ends);
        let value = bare.rsplit(['=', ':']).next().unwrap_or(bare);
        let is_key = value.len() > MIN_KEY_PART && KEY_PREFIXES.iter().any(|it| value.starts_with(it));
        if is_key { word.replace(value, HIDDEN) } else { word.to_owned() }
    });
    let words: String = words.collect();
    error.message = without_parts_of(&words, key.map_or("", |key| key.expose_secret()));
    error
}

const HIDDEN: &str = "[key]";

fn without_parts_of(message: &str, key: &str) -> String {
    let mut clean = message.replace(key, if key.is_empty() { "" } else { HIDDEN });
    if key.len() < MIN_KEY_PART || !key.is_ascii() {
        return clean;
    }
    for start in 0..=key.len() - MIN_KEY_PART {
        let part = &key[start..start + MIN_KEY_PART];
        while let Some(at) = clean.find(part) {
            // Extends the match as far as the text equals the key.
            let alike = clean[at..].bytes().zip(key[start..].bytes()).take_while(|(one, other)| one == other);
            let end = at + alike.count();
            clean.replace_range(at..end, HIDDEN);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_no_part_of_a_key_stays_in_an_error() {
        let check = |message: &str, expected: &str| {
            let key = SecretString::from("canary-1234567890-abcdef");
            let error = ProviderError::new(ErrorClass::Authentication, message);
            assert_eq!(scrubbed(error, Some(&key)).message, expected);
        };
        check("key canary-1234567890-abcdef refused", "key [key] refused");
        check("key canary-1234 refused", "key [key] refused");
        check("key ...7890-abcdef refused", "key ...[key] refused");
        check("Incorrect API key provided: sk-proj-****wxyz.", "Incorrect API key provided: [key]");
        check("url?key=AIzaSyD-123456789 failed", "url?key=[key] failed");
        check("the task-list is long", "the task-list is long");
        check("", "");
    }

    #[test]
    fn s1_an_empty_key_hides_nothing() {
        let error = ProviderError::new(ErrorClass::Network, "it can't be reached");
        assert_eq!(scrubbed(error.clone(), Some(&SecretString::from(""))), error);
        assert_eq!(scrubbed(error.clone(), None), error);
    }
}
