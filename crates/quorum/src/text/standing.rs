//! The outcome of a discussion, in one line for people.

use std::borrow::Cow;

use quorum_core::{
    model::{
        outcome::{Integrity, Outcome, ResultKind, Standing},
        window::CutView,
    },
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
pub fn heading(outcome: &Outcome) -> Cow<'static, str> {
    if let Some(name) = &outcome.integrity.stand_in {
        return format!("Last words of {name}, not a synthesis").into();
    }
    let heading = match outcome.outcome.map_or(ResultKind::Answered, |it| it.standing.kind) {
        ResultKind::Answered | ResultKind::Adopted => "Synthesis",
        ResultKind::NotAdopted => "Proposal that was not adopted",
        ResultKind::Tie => "Votes without a winner",
        ResultKind::NoConsensus => "Summary without consensus",
    };
    heading.into()
}

/// The heading above the positions that did not prevail. On a tie nobody dissents from an answer,
/// so they are positions.
#[must_use]
pub fn dissent_heading(outcome: &Outcome) -> &'static str {
    match outcome.outcome.map(|it| it.standing.kind) {
        Some(ResultKind::Tie) => "Positions",
        Some(
            ResultKind::Answered | ResultKind::Adopted | ResultKind::NotAdopted | ResultKind::NoConsensus,
        )
        | None => "Dissent",
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
    let named = |deciding: bool| {
        let missing = outcome.integrity.missing.iter().filter(|it| it.deciding == deciding);
        let mut names: Vec<&str> = missing.map(|it| it.provider.as_str()).collect();
        names.dedup();
        (!names.is_empty()).then(|| names.join(" and "))
    };
    let without = named(false).map(|it| format!("without {it}"));
    let undecided = named(true).map(|it| format!("{it} took part, but failed to decide"));
    let parts: Vec<String> = without.into_iter().chain(undecided).chain(shortfalls(outcome)).collect();
    if parts.is_empty() { "less went into it than was planned".to_owned() } else { parts.join("; ") }
}

/// What is missing from the result besides participants.
#[must_use]
pub fn shortfalls(outcome: &Outcome) -> Vec<String> {
    let Integrity { inferred_readings, unread_replies, cut_views, cut_short, stand_in, lacks, .. } =
        &outcome.integrity;
    let early = outcome.stopping_reason.as_ref().and_then(|reason| ended_early(reason.name()));
    let counted = [
        (inferred_readings, "reply guessed from its words", "replies guessed from their words"),
        (unread_replies, "reply that could not be read", "replies that could not be read"),
        (cut_short, "answer cut off at its token limit", "answers cut off at their token limit"),
    ];
    let counted = counted.into_iter().filter_map(|(number, one, many)| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{number} {many}")),
    });
    let stand_in = stand_in.as_ref().map(|it| {
        format!("no synthesis was written, and the text is what {it} said last, not the panel's answer")
    });
    let parts = early.map(str::to_owned).into_iter().chain(stand_in).chain(counted).chain(cut(cut_views));
    parts.chain(lacks.iter().map(lack)).collect()
}

/// How many participants are named one by one.
const MOST_NAMED: usize = 2;

/// Who was not shown all of the talk, when, and how much of it was missing.
fn cut(views: &[CutView]) -> Vec<String> {
    if views.len() > MOST_NAMED {
        let names: Vec<&str> = views.iter().map(|it| it.participant.as_str()).collect();
        let most = |of: fn(&CutView) -> u32| views.iter().map(of).max().unwrap_or_default();
        let lost = lost(most(|it| it.shortened), most(|it| it.left_out));
        return vec![format!("{} did not see the whole talk, for lack of room ({lost})", names.join(", "))];
    }
    let one = |view: &CutView| {
        let CutView { participant, rounds, phases, shortened, left_out } = view;
        let rounds = match rounds.as_slice() {
            [only] => format!("round {only}"),
            [first, .., last] => format!("rounds {first} to {last}"),
            [] => "the beginning".to_owned(),
        };
        let (phases, lost) = (phases.join(", "), lost(*shortened, *left_out));
        format!("{participant} did not see the whole talk in {rounds} ({phases}), for lack of room ({lost})")
    };
    views.iter().map(one).collect()
}

fn lost(shortened: u32, left_out: u32) -> String {
    let turns = |count: u32| if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") };
    let shortened_turns = (shortened > 0).then(|| format!("{} shortened", turns(shortened)));
    let turns_left_out = (left_out > 0).then(|| format!("{} left out", turns(left_out)));
    shortened_turns.into_iter().chain(turns_left_out).collect::<Vec<_>>().join(", ")
}

/// The field of the rounds that no judge could be heard on.
const UNASSESSED: &str = "unassessedRounds";

/// What the pattern reports as missing: `rounds 1 and 2 were not assessed`, or under the field's
/// name: `missing verdict: cyd failed`.
fn lack((name, value): (&String, &Value)) -> String {
    if let (UNASSESSED, Some(rounds)) = (name.as_str(), value.as_array()) {
        let rounds: Vec<String> = rounds.iter().map(Value::to_string).collect();
        return match rounds.as_slice() {
            [only] => format!("round {only} was not assessed"),
            several => format!("rounds {} were not assessed", listed(several)),
        };
    }
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    format!("{words}: {}", Cell::Text.write(Some(value)))
}

/// A list in a sentence: `1, 2 and 3`.
fn listed(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.join(", "),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rounds_without_a_judgement_are_named_in_plain_words() {
        let check = |name: &str, value: Value, expected: &str| {
            assert_eq!(lack((&name.to_owned(), &value)), expected);
        };
        check("unassessedRounds", json!([3]), "round 3 was not assessed");
        check("unassessedRounds", json!([1, 3]), "rounds 1 and 3 were not assessed");
        check("unassessedRounds", json!([1, 2, 3]), "rounds 1, 2 and 3 were not assessed");
        check("missingVerdict", json!("cyd failed"), "missing verdict: cyd failed");
    }

    #[test]
    fn f18_a_result_names_those_that_saw_less() {
        let view = |participant: &str, rounds: &[u32], shortened, left_out| CutView {
            participant: participant.to_owned(),
            rounds: rounds.to_vec(),
            phases: vec!["judging".to_owned()],
            shortened,
            left_out,
        };
        let one = "cyd did not see the whole talk in round 3 (judging), for lack of room (1 turn shortened)";
        assert_eq!(cut(&[view("cyd", &[3], 1, 0)]), [one]);
        let many = [view("ann", &[1, 3], 4, 0), view("bob", &[2], 0, 2), view("cyd", &[3], 1, 7)];
        let two =
            "ann did not see the whole talk in rounds 1 to 3 (judging), for lack of room (4 turns shortened)";
        assert_eq!(cut(&many[..2])[0], two);
        let all = "ann, bob, cyd did not see the whole talk, for lack of room (4 turns shortened, 7 turns left out)";
        assert_eq!(cut(&many), [all]);
    }
}
