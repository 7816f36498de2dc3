//! Short answers: a first answer to a question without options, which will be graded.

use quorum_core::{
    floor::reading::{Misread, Reader, Reminder},
    model::reading::Stance,
    vocabulary::{
        form::Form,
        view::{Cell, Column, View},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::readers::{
    Confidence, confidence,
    json::{last_object_with, may_hold, text, value},
};

/// The kind of a short answer in the record.
pub(crate) const ANSWER: &str = "short-answer";

/// A short answer with its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ShortAnswer {
    /// The answer alone.
    pub(crate) answer: String,
    /// The confidence in it.
    pub(crate) confidence: Confidence,
    /// The reasons.
    #[serde(default)]
    pub(crate) reasoning: String,
}

pub(crate) static FORM: Form = Form::new(ANSWER)
    .tell(|value| {
        let ShortAnswer { answer, confidence, .. } = serde_json::from_value(value.clone()).ok()?;
        Some(format!("first answered {answer} (confidence {:.2})", confidence.get()))
    })
    .reason_at("/reasoning")
    .stance(|value| {
        let ShortAnswer { answer, confidence, .. } = serde_json::from_value(value.clone()).ok()?;
        Some(Stance { position: answer, confidence: confidence.get(), chooses: true, joins: true })
    })
    .view(View::Table {
        columns: &[
            Column::text("answer", "/answer"),
            Column::of("confidence", "/confidence", Cell::Share),
            Column::text("why", "/reasoning"),
        ],
    })
    .sample(crate::samples::short_answer::sample)
    .recognises(|text| may_hold(text, "answer"));

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "remind1",
    words: "Send the same answer again as one JSON object and nothing else, with the keys reasoning, answer and \
            confidence, in this order.",
}];

/// Reads short answers.
pub(crate) struct ShortAnswers;

impl Reader for ShortAnswers {
    type Value = ShortAnswer;

    fn form(&self) -> &'static Form {
        &FORM
    }

    fn schema(&self) -> Option<Value> {
        Some(json!({
            "type": "object",
            "properties": {
                "reasoning": { "type": "string", "description": "The reasons" },
                "answer": { "type": "string", "description": "The answer alone, as short as it can be" },
                "confidence": {
                    "type": "number", "minimum": 0, "maximum": 1,
                    "description": "The chance that the answer is right",
                },
            },
            "required": ["reasoning", "answer", "confidence"],
            "additionalProperties": false,
        }))
    }

    fn read(&self, reply: &str) -> Result<ShortAnswer, Misread> {
        let Some(object) = last_object_with(reply, "answer") else {
            let spoken = in_last_lines(reply);
            return spoken.ok_or(Misread::new("there is no JSON object with an answer in it"));
        };
        let number = value(&object, "answer").filter(|it| it.is_number()).map(Value::to_string);
        let answer = text(&object, "answer").or(number).ok_or_else(|| Misread::new("the answer is empty"))?;
        let stated = value(&object, "confidence").and_then(confidence::from_value);
        let reasoning = text(&object, "reasoning").unwrap_or_default();
        Ok(ShortAnswer { answer, confidence: stated.unwrap_or(Confidence::UNSTATED), reasoning })
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }
}

/// A line like `Answer: 42`, with the confidence on a line of its own or not at all.
fn in_last_lines(reply: &str) -> Option<ShortAnswer> {
    let plain = |line: &str| line.replace(['*', '_', '`', '#'], "").trim().to_owned();
    let after = |line: &str| {
        let line = plain(line);
        let rest = line.get(..7).filter(|it| it.eq_ignore_ascii_case("answer:")).map(|_| line[7..].trim());
        rest.filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let answer = reply.lines().rev().find_map(after)?;
    let stated = reply.lines().rev().find_map(confidence::in_last_line);
    let confidence = stated.unwrap_or(Confidence::UNSTATED);
    Some(ShortAnswer { answer, confidence, reasoning: reply.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(reply: &str, expected: Option<(&str, f64)>) {
        let read = ShortAnswers.read(reply).ok();
        let read = read.as_ref().map(|it| (it.answer.as_str(), it.confidence.get()));
        assert_eq!(read, expected, "{reply}");
    }

    #[test]
    fn a_short_answer_is_read_as_json_or_from_its_last_lines() {
        reads(r#"{"reasoning": "6 times 7", "answer": "42", "confidence": 0.9}"#, Some(("42", 0.9)));
        reads(r#"{"answer": 42, "confidence": "80 %"}"#, Some(("42", 0.8)));
        reads(r#"{"answer": "Paris"}"#, Some(("Paris", 0.5)));
        reads("It is 6 times 7.\n**Answer:** 42\nConfidence: 0.7", Some(("42", 0.7)));
        reads("answer: Paris", Some(("Paris", 0.5)));
        reads("Answer:", None);
        reads("I don't know.", None);
        reads(r#"{"answer": " "}"#, None);
    }
}
