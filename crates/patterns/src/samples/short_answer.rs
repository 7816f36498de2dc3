//! A short answer: the position that the voice holds.

use quorum_core::vocabulary::sample::Mind;
use serde_json::Value;

use super::json;
use crate::readers::{Confidence, short_answer::ShortAnswer};

pub(crate) fn sample(mind: &dyn Mind, _schema: Option<&Value>) -> String {
    let held = mind.answers().get(mind.holds()).map(|it| it.position.clone()).unwrap_or_default();
    let answer = if held.trim().is_empty() { "unknown".to_owned() } else { held };
    let confidence = Confidence::clamped(mind.confidence());
    json(&ShortAnswer { answer, confidence, reasoning: mind.argument() })
}
