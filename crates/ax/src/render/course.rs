//! Summarizes a discussion in a few lines: positions, agreement, and changes of mind.

use std::collections::BTreeSet;

use quorum::model::{
    flips::{Flip, Position, RoundAgreement},
    outcome::Outcome,
};

/// The parts that are not empty.
pub(crate) fn parts(outcome: &Outcome) -> Vec<String> {
    let parts = [
        held(&outcome.positions_by_round),
        listed("Agreement by round", &outcome.agreement_by_round, agreement),
        listed("Changes of mind", &outcome.flips, flip),
    ];
    parts.into_iter().flatten().collect()
}

/// A line for each round, with every participant's position.
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

fn agreement(after: &RoundAgreement) -> String {
    let leading = match after.leading.as_str() {
        "" => ", nobody agreed".to_owned(),
        leading => format!(" for {leading}"),
    };
    format!("- Round {}: {:.2}{leading}", after.round, after.agreement)
}

fn flip(flip: &Flip) -> String {
    let Flip { participant, round, from, to, reason } = flip;
    format!("- Round {round}, {participant}: from {from} to {to}: {reason}")
}
