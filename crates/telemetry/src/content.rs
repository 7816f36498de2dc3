//! Messages as the conventions write them: JSON in an attribute.

use opentelemetry::KeyValue;
use serde_json::json;

use crate::names;

/// What the user asked.
pub(crate) fn asked(text: &str) -> KeyValue {
    let messages = json!([{ "role": "user", "parts": [{ "type": "text", "content": text }] }]);
    KeyValue::new(names::INPUT_MESSAGES, messages.to_string())
}

/// What was answered, and why it ended there.
pub(crate) fn answered(text: &str, finish: &str) -> KeyValue {
    let parts = json!([{ "type": "text", "content": text }]);
    let messages = json!([{ "role": "assistant", "parts": parts, "finish_reason": finish }]);
    KeyValue::new(names::OUTPUT_MESSAGES, messages.to_string())
}
