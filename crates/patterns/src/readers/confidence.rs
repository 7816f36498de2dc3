//! Reads a speaker's confidence from the last line of its answer, and decides when it is enough for
//! an early exit.

use std::sync::Arc;

use quorum_core::model::{spec::Spec, transcript::Turn};

use crate::readers::Confidence;

/// Whether the remaining calls can be given up: enough participants have answered, and one of them
/// is confident enough (INV-DISC-622).
///
/// Answers come in seating order, not in order of arrival, so any of them may be the confident one.
pub(crate) fn is_enough(spec: &Spec, stated: &[Option<Confidence>]) -> bool {
    let Some(threshold) = spec.early_exit else { return false };
    let sure = stated.iter().flatten().any(|it| threshold <= it.get());
    spec.tolerance.min_providers as usize <= stated.len() && sure
}

/// The confidence stated in each of these answers.
pub(crate) fn stated(turns: &[Arc<Turn>]) -> Vec<Option<Confidence>> {
    turns.iter().map(|turn| in_last_line(&turn.text)).collect()
}

/// The confidence in the last line, `Confidence: 0.85`, whatever its Markdown.
pub(crate) fn in_last_line(text: &str) -> Option<Confidence> {
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let plain = last.replace(['*', '_', '`', '#'], "").trim().to_lowercase();
    let number = plain.strip_prefix("confidence")?.trim_start().strip_prefix([':', '='])?;
    from_text(number)
}

/// The answer as others are shown it: without lines that state a confidence and nothing else.
pub(crate) fn without_statement(answer: &str) -> String {
    let kept = answer.lines().filter(|line| in_last_line(line).is_none());
    let kept = kept.collect::<Vec<_>>().join("\n");
    // Some vendors refuse empty messages.
    if kept.trim().is_empty() { "…".to_owned() } else { kept.trim_end().to_owned() }
}

/// Parses text like `0.85`, `85 %` or `8/10`.
pub(crate) fn from_text(text: &str) -> Option<Confidence> {
    let text = text.trim();
    let end = text.find(|it: char| !(it.is_ascii_digit() || it == '.' || it == ',')).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let number: f64 = number.trim_end_matches(['.', ',']).replace(',', ".").parse().ok()?;
    let rest = rest.trim_start();
    let whole = rest.strip_prefix('/').map(|it| it.trim_start().trim_end_matches(['.', ')']));
    match whole.and_then(|it| it.parse::<f64>().ok()).filter(|it| 0.0 < *it) {
        Some(whole) => Some(Confidence::clamped(number / whole)),
        None if rest.starts_with('%') => Some(Confidence::clamped(number / 100.0)),
        None => Some(from_number(number)),
    }
}

/// From a JSON value: a number, or text like `85 %`.
pub(crate) fn from_value(value: &serde_json::Value) -> Option<Confidence> {
    let stated = value.as_str().and_then(from_text);
    stated.or_else(|| value.as_f64().map(from_number))
}

/// From a fraction, or from a percentage if it is above 1.
pub(crate) fn from_number(number: f64) -> Confidence {
    Confidence::clamped(if 1.0 < number { number / 100.0 } else { number })
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<f64>) {
        assert_eq!(in_last_line(text).map(Confidence::get), expected, "{text}");
    }

    #[test]
    fn inv_disc_622_the_last_line_states_the_confidence() {
        check("So it is.\nConfidence: 0.85", Some(0.85));
        check("So it is.\n\n**Confidence:** 0.9\n\n", Some(0.9));
        check("confidence = 85%", Some(0.85));
        check("Confidence: 85", Some(0.85));
        check("Confidence: 8/10.", Some(0.8));
        check("Confidence: 0,85", Some(0.85));
        check("Confidence: 1", Some(1.0));
        check("Confidence: 1 %", Some(0.01));
        check("Confidence: 0.7 (fairly sure).", Some(0.7));
        check("Confidence: 900", Some(1.0));
        check("`Confidence: .5.`", Some(0.5));
    }

    #[test]
    fn others_are_not_shown_a_stated_confidence() {
        let check = |answer: &str, expected: &str| assert_eq!(without_statement(answer), expected);
        check("So it is.\nConfidence: 0.85", "So it is.");
        check(
            "So it is.\n\n**Confidence:** 0.9 (fairly sure)\n\nThat is all.\n",
            "So it is.\n\n\nThat is all.",
        );
        check("My confidence: 0.9 is low.", "My confidence: 0.9 is low.");
        check("As bob says:\n> Confidence: 0.95", "As bob says:\n> Confidence: 0.95");
        check("Confidence: 0.7", "…");
    }

    #[test]
    fn nothing_else_is_a_confidence() {
        check("", None);
        check("Confidence: high", None);
        check("Confidence: -0.5", None);
        check("Confidence: 0.95\nThat was bob's line.", None);
        check("As bob says:\n> Confidence: 0.95", None);
        check("My confidence: 0.9", None);
        check("Confidence: ...", None);
    }

    #[test]
    fn inv_disc_643_never_before_the_minimum() {
        let spec = Spec { early_exit: Some(0.9), ..spec("synthesis") };
        let sure = Some(Confidence::clamped(0.95));
        let unsure = Some(Confidence::clamped(0.5));
        assert!(!is_enough(&spec, &[sure]));
        assert!(is_enough(&spec, &[sure, None]));
        assert!(is_enough(&spec, &[unsure, sure]));
        assert!(!is_enough(&spec, &[unsure, unsure, None]));
        let never = Spec { early_exit: None, ..spec };
        assert!(!is_enough(&never, &[sure, sure, sure]));
    }
}
