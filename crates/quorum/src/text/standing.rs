//! What a result is, in one line for people.

use quorum_core::{
    model::outcome::{Integrity, Outcome, ResultKind, Standing},
    vocabulary::view::Cell,
};
use serde_json::Value;

/// One line that says what the result is; `None` for a plain answer that lacks nothing.
#[must_use]
pub fn standing(outcome: &Outcome) -> Option<String> {
    let report = outcome.outcome?;
    let sentences = [
        report.simulated.then(|| "Simulated: no model was asked, and what follows is made up.".to_owned()),
        voted(report.standing),
        report.degraded.then(|| format!("Degraded: {}.", in_short(outcome))),
    ];
    let line = sentences.into_iter().flatten().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

/// The heading above the result's text.
#[must_use]
pub fn heading(outcome: &Outcome) -> &'static str {
    match outcome.outcome.map_or(ResultKind::Answered, |it| it.standing.kind) {
        ResultKind::Answered | ResultKind::Adopted => "Synthesis",
        ResultKind::NotAdopted => "Proposal that was not adopted",
        ResultKind::Tie => "Votes without a winner",
        ResultKind::NoConsensus => "Summary without consensus",
    }
}

fn voted(standing: Standing) -> Option<String> {
    let share = standing.in_favour.zip(standing.of).map(|(votes, of)| format!("{votes} of {of}"));
    let sentence = match (standing.kind, share) {
        (ResultKind::Answered, _) => return None,
        (ResultKind::Adopted, Some(share)) => format!("Adopted by {share}."),
        (ResultKind::Adopted, None) => "Adopted.".to_owned(),
        (ResultKind::NotAdopted, Some(share)) => format!("Not adopted: only {share} agreed."),
        (ResultKind::NotAdopted, None) => "Not adopted.".to_owned(),
        (ResultKind::Tie, _) => "Tie: no option won the vote.".to_owned(),
        (ResultKind::NoConsensus, Some(share)) => format!("No consensus: {share} agreed."),
        (ResultKind::NoConsensus, None) => "No consensus.".to_owned(),
    };
    Some(sentence)
}

/// What is missing from the result, for its one line: names without reasons.
fn in_short(outcome: &Outcome) -> String {
    let mut missing: Vec<&str> = outcome.integrity.missing.iter().map(|it| it.provider.as_str()).collect();
    missing.dedup();
    let without = (!missing.is_empty()).then(|| format!("without {}", missing.join(" and ")));
    let parts: Vec<String> = without.into_iter().chain(shortfalls(outcome)).collect();
    if parts.is_empty() { "less went into it than was planned".to_owned() } else { parts.join("; ") }
}

/// What is missing from the result besides participants.
#[must_use]
pub fn shortfalls(outcome: &Outcome) -> Vec<String> {
    let Integrity { inferred_readings, unread_replies, truncations, cut_short, lacks, .. } =
        &outcome.integrity;
    let early = outcome.stopping_reason.as_ref().and_then(|reason| ended_early(reason.name()));
    let counted = [
        (inferred_readings, "reply guessed from its words", "replies guessed from their words"),
        (unread_replies, "reply that could not be read", "replies that could not be read"),
        (
            truncations,
            "earlier turn left out to fit a model's window",
            "earlier turns left out to fit a model's window",
        ),
        (cut_short, "answer cut off at its token limit", "answers cut off at their token limit"),
    ];
    let counted = counted.into_iter().filter_map(|(number, one, many)| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{number} {many}")),
    });
    early.map(str::to_owned).into_iter().chain(counted).chain(lacks.iter().map(lack)).collect()
}

/// What the pattern reports as missing, under the field's name: `unassessed rounds: 1, 2`.
fn lack((name, value): (&String, &Value)) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    format!("{words}: {}", Cell::Text.write(Some(value)))
}

fn ended_early(reason: &str) -> Option<&'static str> {
    match reason {
        "budget" => Some("the budget was used up"),
        "timeout" => Some("the time was used up"),
        "user_stop" => Some("it was stopped early"),
        "user_abort" => Some("it was aborted"),
        "model_unavailable" => Some("too few participants were left"),
        _ => None,
    }
}
