//! Judgements and positions as lines, which small models write more reliably than JSON:
//! `logic: 5`, a criterion a line. They become the objects of the usual forms, so they are read and
//! checked like those.

use quorum_core::floor::reading::Misread;
use serde_json::{Map, Value, json};

use crate::{
    debate::rubric::Rubric,
    readers::{
        json::Object,
        lines::{self, WrittenLine, first_word, is_nothing, lines, only},
    },
};

/// The line that every assessment has.
const CONTINUE: &str = "continue";

/// The line that every part in a casting has.
const OUTLOOK: &str = "outlook";

/// The line that every verdict has.
const WINNER: &str = "winner";

/// The assessment that a reply contains as lines. `is_debater` recognises the lines that begin with
/// a debater.
pub(super) fn assessment(reply: &str, rubric: &Rubric, is_debater: impl Fn(&str) -> bool) -> Option<Object> {
    let lines = lines(reply);
    let goes_on = only(&lines, CONTINUE)?;
    let stated = |key: &str| only(&lines, key).unwrap_or_default();
    let assessment = json!({
        "assessments": entries(&lines, rubric, is_debater),
        "reasoning": stated("reason"),
        "flags": {
            "repetitive": first_word(stated("repeats")), "drifting": false, "diminishingReturns": false,
            "convergenceReached": first_word(stated("met")),
        },
        "qualityScore": figure(stated("quality")),
        "recommendations": stated("next"),
        "shouldContinue": first_word(goes_on),
    });
    assessment.as_object().cloned()
}

/// What is wrong with an assessment that was asked for as lines, by their words.
pub(super) fn wrong_with_assessment(reply: &str) -> Option<Misread> {
    let undecided = || lines::undecided(reply, &["Repeats", "Met", "Continue"]);
    lines::missing(reply, &["Continue", "Quality", "Repeats", "Met"]).or_else(undecided)
}

/// What is wrong with positions that were asked for as lines, by their words.
pub(super) fn wrong_with_casting(reply: &str) -> Option<Misread> {
    let is_missing = casting(reply).is_none();
    is_missing.then(|| Misread::new("there is no line `Debater: …` before the others"))
}

/// What is wrong with a verdict that was asked for as lines, by their words.
pub(super) fn wrong_with_verdict(reply: &str) -> Option<Misread> {
    lines::missing(reply, &["Summary", "Quality", "Winner"])
}

/// The lines of each debater: from its label to the next one's.
fn entries(lines: &[WrittenLine], rubric: &Rubric, is_debater: impl Fn(&str) -> bool) -> Vec<Value> {
    let mut entries: Vec<Map<String, Value>> = Vec::new();
    for line in lines {
        let is_label = line.key == "debater" || (line.key.is_empty() && is_debater(&line.text));
        if is_label {
            entries.push([("participant".to_owned(), line.value.clone().into())].into_iter().collect());
        } else if let Some(entry) = entries.last_mut() {
            note(entry, line, rubric);
        }
    }
    entries.into_iter().map(Value::Object).collect()
}

/// Adds a line to the entry of a debater.
fn note(entry: &mut Map<String, Value>, line: &WrittenLine, rubric: &Rubric) {
    match (line.key.as_str(), rubric.marked_in(&line.text)) {
        ("strength", _) => drop(entry.insert("strengths".to_owned(), texts(&line.value))),
        ("weakness", _) => drop(entry.insert("weaknesses".to_owned(), texts(&line.value))),
        (_, Some((name, mark))) => {
            let marks = entry.entry("criteria").or_insert_with(|| json!({}));
            marks[name] = figure(mark).into();
        }
        (_, None) => {}
    }
}

/// The positions that a reply contains as lines: each debater's from its name to the next one's.
pub(super) fn casting(reply: &str) -> Option<Object> {
    let mut parts: Vec<Map<String, Value>> = Vec::new();
    for WrittenLine { key, value, .. } in lines(reply) {
        let field = match key.as_str() {
            "debater" => {
                parts.push([("participant".to_owned(), value.into())].into_iter().collect());
                continue;
            }
            "position" => ("position", value.into()),
            OUTLOOK => ("persona", value.into()),
            "argument" => ("keyArguments", texts(&value)),
            _ => continue,
        };
        parts.last_mut()?.insert(field.0.to_owned(), field.1);
    }
    let casting = json!({ "positions": parts });
    casting.as_object().filter(|_| !parts.is_empty()).cloned()
}

/// Whether the text could contain positions as lines.
pub(super) fn may_hold_casting(text: &str) -> bool {
    crate::readers::lines::may_hold(text, OUTLOOK)
}

/// The verdict that a reply contains as lines.
pub(super) fn verdict(reply: &str) -> Option<Object> {
    let lines = lines(reply);
    let winner = only(&lines, WINNER)?;
    let stated = |key: &str| only(&lines, key).unwrap_or_default();
    let verdict = json!({
        "summary": stated("summary"),
        "keyPoints": [],
        "areasOfAgreement": texts(stated("agreed")),
        "areasOfDisagreement": texts(stated("disputed")),
        "insights": [],
        "qualityScore": figure(stated("quality")),
        "winner": { "reasoning": stated("reason"), "participant": winner },
    });
    verdict.as_object().cloned()
}

/// Whether the text could contain an assessment as lines.
pub(super) fn may_hold_assessment(text: &str) -> bool {
    crate::readers::lines::may_hold(text, CONTINUE)
}

/// Whether the text could contain a verdict as lines.
pub(super) fn may_hold_verdict(text: &str) -> bool {
    crate::readers::lines::may_hold(text, WINNER)
}

/// The text as a list of one, or of none.
fn texts(value: &str) -> Value {
    if is_nothing(value) { json!([]) } else { json!([value]) }
}

/// `7,5` of `7,5 (good)`, and `7/10` of `7/10, because …`.
fn figure(value: &str) -> &str {
    let end = value.find(|it: char| !(it.is_ascii_digit() || ".,/%".contains(it)));
    value[..end.unwrap_or(value.len())].trim_end_matches(['.', ',', '/'])
}
