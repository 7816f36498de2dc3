//! Reads the limit that a vendor names when it refuses a request as too long.

use quorum_core::model::window::TooLong;
use serde_json::Value;

/// Smaller numbers are not context windows: status codes, versions, counts of messages.
const SMALLEST: u64 = 512;

/// The limit in this message, and the size of what was sent if that is there too. Vendors name the
/// two in either order, and break the second one down afterwards.
pub(super) fn named(message: &str) -> Option<TooLong> {
    let numbers = numbers(message);
    let (first, second) = match numbers.as_slice() {
        [] => return None,
        [Number { value, .. }] => return Some(TooLong { limit: *value, sent: None }),
        // "190000 + 20000 > 200000"
        [prompt, answer, limit, ..] if prompt.is_added => (prompt.value + answer.value, limit.value),
        [first, second, ..] => (first.value, second.value),
    };
    let sent = (first != second).then_some(first.max(second));
    Some(TooLong { limit: first.min(second), sent })
}

/// The limit in fields of the body, as llama.cpp sends it. Unlike a number in a message, it may be
/// small.
pub(super) fn in_fields(body: &Value) -> Option<TooLong> {
    let error = body.get("error").filter(|it| it.is_object()).unwrap_or(body);
    let field = |name: &str| error.get(name)?.as_u64().filter(|it| 0 < *it);
    let limit = field("n_ctx")?;
    Some(TooLong { limit, sent: field("n_prompt_tokens") })
}

struct Number {
    value: u64,
    /// Whether a `+` follows it.
    is_added: bool,
}

/// The numbers in a text that could be sizes in tokens; digits within names are none.
fn numbers(text: &str) -> Vec<Number> {
    let mut numbers = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
        before = rest[..start].chars().next_back().unwrap_or(before);
        let digits = &rest[start..];
        let is_part = |it: char| it.is_ascii_digit() || it == ',' || it == '_';
        let end = digits.find(|it: char| !is_part(it)).unwrap_or(digits.len());
        let (number, after) = digits.split_at(end);
        let in_name = before.is_alphanumeric()
            || matches!(before, '-' | '_' | '.' | ':')
            || after.starts_with(|it: char| it.is_alphabetic() || it == '-');
        let value: String = number.chars().filter(char::is_ascii_digit).collect();
        let value = value.parse().ok().filter(|it| SMALLEST <= *it && !in_name);
        let is_added = after.trim_start().starts_with('+');
        numbers.extend(value.map(|value| Number { value, is_added }));
        (rest, before) = (after, '0');
    }
    numbers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn d12_vendors_name_their_limits_in_their_own_words() {
        let check = |message: &str, limit: u64, sent: Option<u64>| {
            assert_eq!(named(message), Some(TooLong { limit, sent }), "{message}");
        };
        let openai = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3000 in the messages, \
                      2000 in the completion). Please reduce the length of the messages or completion.";
        check(openai, 4_096, Some(5_000));
        let configured = "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 300,123 tokens.";
        check(configured, 272_000, Some(300_123));
        check("prompt is too long: 210000 tokens > 200000 maximum", 200_000, Some(210_000));
        let both = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length";
        check(both, 200_000, Some(210_000));
        let gemini =
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
        check(gemini, 1_048_576, Some(1_200_000));
        let mistral = "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length";
        check(mistral, 32_768, Some(40_000));
        let grok = "This model's maximum prompt length is 131072 but the request contains 140000 tokens.";
        check(grok, 131_072, Some(140_000));
        check("the request exceeds the available context size (4096 tokens)", 4_096, None);
        check("gpt-4-0613 on 2024-08-06: maximum context length is 8192", 8_192, None);
        assert_eq!(named("too long for claude-3-5-sonnet-20241022 (400)"), None);
    }

    #[test]
    fn the_limit_in_llama_cpps_fields_is_read() {
        let fields = json!({ "code": 400, "type": "exceed_context_size_error", "message": "too long",
                             "n_prompt_tokens": 351, "n_ctx": 256 });
        let expected = Some(TooLong { limit: 256, sent: Some(351) });
        assert_eq!(in_fields(&json!({ "error": fields })), expected);
        assert_eq!(in_fields(&fields), expected);
        assert_eq!(
            in_fields(&json!({ "error": { "n_ctx": 256 } })),
            Some(TooLong { limit: 256, sent: None })
        );
        assert_eq!(in_fields(&json!({ "error": "n_ctx", "n_ctx": 0 })), None);
    }
}
