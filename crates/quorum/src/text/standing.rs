//! What a result is, in one line for people.

use quorum_core::model::outcome::{Outcome, ResultKind, Standing};

use super::count;

/// One line that says what the result is; `None` for a plain answer that lacks nothing.
#[must_use]
pub fn standing(outcome: &Outcome) -> Option<String> {
    let report = outcome.outcome?;
    let sentences = [
        voted(report.standing),
        report.degraded.then(|| format!("Degraded: {}.", shortfalls(outcome).join(", "))),
        report.simulated.then(|| "Simulated: no model was asked, and the text is made up.".to_owned()),
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

/// What is missing from the result, most important first.
fn shortfalls(outcome: &Outcome) -> Vec<String> {
    let it = &outcome.integrity;
    let mut missing: Vec<&str> = it.missing.iter().map(|missing| missing.provider.as_str()).collect();
    missing.dedup();
    let parts = [
        outcome.stopping_reason.as_ref().and_then(|reason| ended_early(reason.name())).map(str::to_owned),
        (!missing.is_empty()).then(|| format!("without {}", missing.join(" and "))),
        replies(it.unread_replies, "unread"),
        replies(it.inferred_readings, "guessed from the wording"),
        replies(it.cut_short, "cut off"),
        (0 < it.truncations)
            .then(|| format!("{} left out of a context window", count(it.truncations.into(), "turn"))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { vec!["less went into it than was planned".to_owned()] } else { parts }
}

fn replies(number: u32, then: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("1 reply {then}")),
        number => Some(format!("{number} replies {then}")),
    }
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
