//! The two sides of a debate: whether each still has a debater, and who could answer whom.

use quorum_core::{
    floor::Floor,
    model::{mention::mention, participant::Role, spec::Spec},
};

use crate::{
    debate::{concession::Concession, formats},
    prompts::listed,
    roles::{self, OPPONENT, PROPONENT},
};

/// The most rounds, counted from the last, of which a judge is told who could answer whom.
const ROUNDS_TOLD: usize = 10;

/// Whether a side has lost all its debaters. Participants without a side don't count.
pub(crate) fn is_side_empty(floor: &Floor) -> bool {
    let spec = floor.spec();
    [PROPONENT, OPPONENT].iter().any(|side| floor.present(&spec.playing(side)).is_empty())
}

/// The debaters of a side that has conceded completely: all that have not failed.
pub(crate) fn conceded_side(floor: &Floor, conceded: &[Concession]) -> Option<Vec<String>> {
    let spec = floor.spec();
    let has_conceded = |name: &str| conceded.iter().any(|it| it.participant == name);
    let given_up = |side: &Role| {
        let seats = spec.playing(side);
        let left = floor.present(&seats).iter().any(|it| !has_conceded(&it.name));
        let names = seats.into_iter().map(|it| it.name).filter(|it| has_conceded(it));
        let names: Vec<String> = names.collect();
        (!left && !names.is_empty()).then_some(names)
    };
    [PROPONENT, OPPONENT].iter().find_map(given_up)
}

/// Who could answer whom in the latest rounds, in a sentence with mentions. The speeches of a round
/// are shown in the order of labels, which says nothing about it.
pub(crate) fn who_could_answer(floor: &Floor) -> String {
    let spec = floor.spec();
    let rounds = spoken(floor, &spec);
    let told = rounds.iter().filter(|(_, speakers)| 1 < speakers.len()).map(|(round, speakers)| {
        if formats::at_once(&spec, *round) {
            return format!("in round {round} nobody could answer anyone");
        }
        let had_read = (1..speakers.len())
            .map(|place| format!("{} had read {}", speakers[place], listed(&speakers[..place])));
        format!("in round {round} {}", had_read.collect::<Vec<_>>().join(", "))
    });
    match told.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => none,
        told => format!("I{}.", &told[1..]),
    }
}

/// The latest rounds, each with mentions of its speakers in the order in which they spoke.
fn spoken(floor: &Floor, spec: &Spec) -> Vec<(u32, Vec<String>)> {
    let mut rounds: Vec<(u32, Vec<String>)> = Vec::new();
    for turn in floor.transcript().iter().filter(|it| is_judged(spec, &it.participant)) {
        let speaker = mention(&turn.participant);
        match rounds.last_mut().filter(|it| it.0 == turn.round) {
            Some((_, speakers)) => speakers.push(speaker),
            None => rounds.push((turn.round, vec![speaker])),
        }
    }
    rounds.split_off(rounds.len().saturating_sub(ROUNDS_TOLD))
}

fn is_judged(spec: &Spec, name: &str) -> bool {
    spec.seat(name).is_some_and(roles::is_judged)
}
