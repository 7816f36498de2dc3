//! The sections on the course of the discussion: positions by round, agreement, changes of mind.

use quorum_core::model::outcome::Outcome;

use super::{Block, Part, Table};

pub(super) fn course(outcome: &Outcome) -> Vec<Part> {
    let parts = [held(outcome), agreement(outcome), flips(outcome)];
    parts.into_iter().flatten().collect()
}

fn held(outcome: &Outcome) -> Option<Part> {
    let row = |it: &quorum_core::model::flips::Position| {
        vec![it.round.to_string(), it.participant.clone(), it.position.clone()]
    };
    let rows: Vec<Vec<String>> = outcome.positions_by_round.iter().map(row).collect();
    listed("Positions by round", &["round", "participant", "position"], &rows)
}

fn agreement(outcome: &Outcome) -> Option<Part> {
    let rows = outcome.agreement_by_round.iter();
    let rows: Vec<Vec<String>> = rows
        .map(|it| vec![it.round.to_string(), it.leading.clone(), format!("{:.2}", it.agreement)])
        .collect();
    listed("Agreement by round", &["round", "leading", "agreement"], &rows)
}

fn flips(outcome: &Outcome) -> Option<Part> {
    let row = |it: &quorum_core::model::flips::Flip| {
        vec![it.round.to_string(), it.participant.clone(), it.from.clone(), it.to.clone(), it.reason.clone()]
    };
    let rows: Vec<Vec<String>> = outcome.flips.iter().map(row).collect();
    listed("Changes of mind", &["round", "participant", "from", "to", "why"], &rows)
}

fn listed(title: &str, head: &[&str], rows: &[Vec<String>]) -> Option<Part> {
    (!rows.is_empty()).then(|| Part::new(title, vec![Block::Table(Table::new(head, rows))]))
}
