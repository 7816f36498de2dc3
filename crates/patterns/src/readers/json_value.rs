//! Reads an answer that must be a JSON value and satisfy a schema.

use quorum_core::{
    floor::reading::{Misread, Reader, Reminder},
    model::spec::Spec,
    vocabulary::{form::Form, json_schema::mismatch},
};
use serde_json::Value;

/// The kind of such an answer in the record, where it was asked for alone.
pub(crate) const ANSWER_VALUE: &str = "answer-value";

pub(crate) static FORM: Form = Form::new(ANSWER_VALUE)
    .tell(|_| Some("gave the answer as JSON".to_owned()))
    .sample(crate::samples::synthesis::value_sample);

/// The one stricter repetition.
pub(crate) const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Send it again. Begin with the JSON value itself, without a heading, a comment or a code fence; give every \
            required key and no other.",
}];

/// The text of the value, if it is one and satisfies the schema.
pub(crate) fn fitting(schema: &Value, text: &str) -> Result<String, Misread> {
    let text = unfenced(text);
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Misread::new(format!("it is not a JSON value: {error}")))?;
    match mismatch(schema, &value) {
        None => Ok(text.to_owned()),
        Some(wrong) => Err(Misread::new(format!("by the schema, {wrong}"))),
    }
}

/// The text without a code fence around it.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|it| it.strip_suffix("```"));
    inside.and_then(|it| it.split_once('\n')).map_or(text, |(_, inside)| inside.trim())
}

/// Reads the answer of a discussion as a JSON value.
pub(crate) struct AnswerValues(Value);

impl AnswerValues {
    /// `None` if the answer need not be one.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        spec.answer_schema().cloned().map(AnswerValues)
    }

    pub(crate) fn schema(&self) -> &Value {
        &self.0
    }
}

impl Reader for AnswerValues {
    type Value = String;

    fn form(&self) -> &'static Form {
        &FORM
    }

    /// In the prompt: schemas of users go beyond what vendors take.
    fn schema(&self) -> Option<Value> {
        None
    }

    fn read(&self, reply: &str) -> Result<String, Misread> {
        fitting(&self.0, reply)
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_read_with_and_without_a_fence_and_checked() {
        let schema =
            json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
        for text in ["{\"n\": 1}", " {\"n\": 1}\n", "```json\n{\"n\": 1}\n```", "```\n{\"n\": 1}\n```"] {
            assert_eq!(fitting(&schema, text).as_deref(), Ok("{\"n\": 1}"), "{text}");
        }
        for text in ["", "one", "{\"n\": 1", "{}", "{\"n\": \"1\"}", "Sure: {\"n\": 1}"] {
            assert!(fitting(&schema, text).is_err(), "{text}");
        }
    }
}
