//! Who held what in which round, and who changed its mind when and why: folded from the positions on
//! record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{
    phase::DECIDING,
    reading::Source,
    state::{Heard, State},
};

/// What stands for a reason that was not given.
pub const UNEXPLAINED: &str = "unexplained";

/// What one participant held in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Which round.
    pub round: u32,
    /// Who.
    pub participant: String,
    /// What it held.
    pub position: String,
}

/// A change of mind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flip {
    /// Who.
    pub participant: String,
    /// In which round it was first seen.
    pub round: u32,
    /// What it held before.
    pub from: String,
    /// What it holds now.
    pub to: String,
    /// Why, in its own words, or `unexplained`.
    pub reason: String,
}

/// How far they agreed after a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundAgreement {
    /// Which round.
    pub round: u32,
    /// What most hold; one of the most where several have it, empty where nobody agrees on anything.
    pub leading: String,
    /// The share of the weight behind it, 0 to 1.
    pub agreement: f64,
}

/// What everyone held, round by round and in seating order.
#[must_use]
pub fn positions_by_round(state: &State) -> Vec<Position> {
    let seat = |name: &str| state.spec.participants.iter().position(|it| it.name == name);
    let mut held: Vec<Held<'_>> = positions(state).collect();
    held.sort_by_key(|it| (it.round, seat(it.participant)));
    let position = |it: Held<'_>| Position {
        round: it.round,
        participant: it.participant.to_owned(),
        position: it.position,
    };
    held.into_iter().map(position).collect()
}

/// Every change of mind, in the order it was recorded.
#[must_use]
pub fn flips(state: &State) -> Vec<Flip> {
    let mut last: BTreeMap<&str, String> = BTreeMap::new();
    let mut flips = Vec::new();
    for held in positions(state) {
        let before = last.insert(held.participant, held.position.clone());
        let Some(from) = before.filter(|it| *it != held.position) else { continue };
        let reason = if held.reason.trim().is_empty() { UNEXPLAINED } else { held.reason.trim() };
        flips.push(Flip {
            participant: held.participant.to_owned(),
            round: held.round,
            from,
            to: held.position,
            reason: reason.to_owned(),
        });
    }
    flips
}

/// How far they agreed after each round in which positions were taken.
#[must_use]
pub fn agreement_by_round(state: &State) -> Vec<RoundAgreement> {
    let mut rounds: BTreeMap<u32, Vec<Held<'_>>> = BTreeMap::new();
    for held in positions(state) {
        rounds.entry(held.round).or_default().push(held);
    }
    rounds.into_iter().map(|(round, held)| agreement(round, &held)).collect()
}

/// What one participant held in one round.
struct Held<'s> {
    participant: &'s str,
    round: u32,
    position: String,
    reason: &'s str,
    weight: f64,
    joins: bool,
}

/// The positions taken in the talk. What was only assumed of a participant is no position, and the
/// method's vote is another question.
fn positions(state: &State) -> impl Iterator<Item = Held<'_>> {
    let taken = state.readings.iter().filter(|it| it.source != Source::Assumed && !is_deciding(it));
    taken.filter_map(|heard| {
        let stance = heard.reading.stance.as_ref()?;
        let participant = heard.participant.as_str();
        // How sure a voter is counts; whether two partners agree is a plain yes or no.
        let sure = if stance.chooses { stance.confidence } else { 1.0 };
        Some(Held {
            participant,
            round: heard.round,
            position: stance.position.clone(),
            reason: heard.reading.reason(),
            weight: state.spec.seat(participant).map_or(1.0, |it| it.weight) * sure,
            joins: stance.joins,
        })
    })
}

fn is_deciding(heard: &Heard) -> bool {
    heard.step.as_ref().is_some_and(|step| step.as_str().split('/').nth(1) == Some(DECIDING))
}

fn agreement(round: u32, held: &[Held<'_>]) -> RoundAgreement {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for it in held {
        *weights.entry(&it.position).or_default() += it.weight;
    }
    let all: f64 = held.iter().map(|it| it.weight).sum();
    let joining =
        weights.iter().filter(|(position, _)| held.iter().any(|it| it.joins && it.position == **position));
    let leading =
        joining.fold(("", 0.0), |most, (it, weight)| if most.1 < *weight { (*it, *weight) } else { most });
    let share = if all > 0.0 { leading.1 / all } else { 0.0 };
    RoundAgreement { round, leading: leading.0.to_owned(), agreement: rounded(share) }
}

/// To three decimals, so that a sum of floats is the number a person would write.
#[must_use]
pub fn rounded(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}
