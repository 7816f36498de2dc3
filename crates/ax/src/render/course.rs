//! How a discussion went, in a few lines: positions, the judge's marks, agreement, and who changed their mind.

use std::collections::BTreeSet;

use quorum::model::{
    debate::Cast,
    flips::{Flip, Position, RoundAgreement},
    judging::{JudgedRound, JudgingReport},
    outcome::Outcome,
};

/// The parts there is something to say of.
pub(crate) fn parts(outcome: &Outcome) -> Vec<String> {
    let parts = [
        outcome.positions.as_ref().map(positions),
        outcome.judging.as_ref().and_then(judging),
        held(&outcome.positions_by_round),
        listed("Agreement by round", &outcome.agreement_by_round, agreement),
        listed("Changes of mind", &outcome.flips, flip),
    ];
    parts.into_iter().flatten().collect()
}

/// A line for each round, with what everyone held.
fn held(positions: &[Position]) -> Option<String> {
    let rounds: BTreeSet<u32> = positions.iter().map(|it| it.round).collect();
    let line = |round: &u32| {
        let held = positions.iter().filter(|it| it.round == *round);
        let held: Vec<String> = held.map(|it| format!("{}: {}", it.participant, it.position)).collect();
        format!("- Round {round}: {}", held.join("; "))
    };
    listed("Positions by round", &rounds.into_iter().collect::<Vec<_>>(), line)
}

fn listed<T>(heading: &str, items: &[T], line: impl Fn(&T) -> String) -> Option<String> {
    let lines: Vec<String> = items.iter().map(line).collect();
    (!lines.is_empty()).then(|| format!("## {heading}\n\n{}", lines.join("\n")))
}

fn positions(cast: &Cast) -> String {
    let line = |part: &quorum::model::debate::Part| {
        let persona = if part.persona.is_empty() { String::new() } else { format!(" ({})", part.persona) };
        format!("- {}: {}{persona}", part.participant, part.position)
    };
    let lines: Vec<String> = cast.parts.iter().map(line).collect();
    format!("## Positions\n\n{}", lines.join("\n"))
}

fn judging(report: &JudgingReport) -> Option<String> {
    let mut lines: Vec<String> = report.rounds.iter().map(judged).collect();
    lines.extend(report.unassessed_rounds.iter().map(|round| format!("- Round {round}: not judged")));
    let checked = report.flip_rate.map(|rate| {
        let (flipped, all) = (report.flipped, report.swap_checked);
        format!(
            "- In both orders: {flipped} of {all} judgements came out the other way round (flip rate {rate:.2})"
        )
    });
    lines.extend(checked);
    (!lines.is_empty()).then(|| format!("## Judging\n\n{}", lines.join("\n")))
}

fn judged(round: &JudgedRound) -> String {
    let scores = round.assessment.assessments.iter();
    let scores: Vec<String> = scores.map(|it| format!("{} {:.1}", it.participant, it.score)).collect();
    let quality = round.assessment.quality_score;
    format!("- Round {}, by {}: {}; as a whole {quality:.1}", round.round, round.judge, scores.join(", "))
}

fn agreement(after: &RoundAgreement) -> String {
    format!("- Round {}: {:.2} for {}", after.round, after.agreement, after.leading)
}

fn flip(flip: &Flip) -> String {
    let Flip { participant, round, from, to, reason } = flip;
    format!("- Round {round}, {participant}: from {from} to {to}: {reason}")
}
