//! The lists of a result: who took part, who failed, who was left out. Every provider is in exactly
//! one of them once the discussion is over.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    outcome::EarlyExit,
    participant::Participant,
    phase::DECIDING,
    state::{ClosedEarly, State},
};

/// The providers of a result, each list in seating order.
pub(super) struct Lists {
    pub(super) participating: Vec<String>,
    pub(super) failed: Vec<String>,
    pub(super) dropped: Vec<String>,
    pub(super) seats: BTreeMap<String, Vec<String>>,
}

impl Lists {
    pub(super) fn of(state: &State) -> Lists {
        let spoke: BTreeSet<&str> = state.turns.iter().map(|turn| turn.participant.as_str()).collect();
        let failed = failed(state, &spoke);
        let is_over = state.conclusion.is_some() || state.failed.is_some();
        let mut lists = Lists {
            participating: Vec::new(),
            failed: Vec::new(),
            dropped: Vec::new(),
            seats: BTreeMap::new(),
        };
        for (name, seats) in by_provider(&state.spec.participants) {
            // A provider that speaks from one seat takes part, even if another of its seats failed.
            let list = if seats.iter().any(|it| spoke.contains(it) && !failed.contains(it)) {
                &mut lists.participating
            } else if seats.iter().any(|it| failed.contains(it)) {
                &mut lists.failed
            } else if is_over {
                &mut lists.dropped
            } else {
                continue;
            };
            list.push(name.to_owned());
            if seats.len() > 1 {
                lists.seats.insert(name.to_owned(), seats.into_iter().map(str::to_owned).collect());
            }
        }
        lists
    }
}

/// The seats that were absent or failed in the talk. One that only failed to decide took part, if
/// it spoke; one that takes no turns in the talk and could not be read has failed.
fn failed<'s>(state: &'s State, spoke: &BTreeSet<&str>) -> BTreeSet<&'s str> {
    let absent = state.absent.iter().map(|it| it.participant.as_str());
    let lost =
        state.failures.iter().filter(|it| it.phase != DECIDING || !spoke.contains(it.participant.as_str()));
    let is_aside = |name: &str| state.spec.seat(name).is_some_and(|it| it.aside);
    let unread = state.unread.iter().map(|it| it.participant.as_str()).filter(|it| is_aside(it));
    absent.chain(lost.map(|it| it.participant.as_str())).chain(unread).collect()
}

/// The seats of each provider in seating order, under the provider's name if it has several.
fn by_provider(participants: &[Participant]) -> Vec<(&str, Vec<&str>)> {
    let mut listed: Vec<(&Participant, Vec<&str>)> = Vec::new();
    for seat in participants {
        let first = listed.iter_mut().find(|(first, _)| is_further_seat(first, seat));
        match first {
            Some((_, seats)) => seats.push(&seat.name),
            None => listed.push((seat, vec![&seat.name])),
        }
    }
    listed.into_iter().map(|(first, seats)| (listed_name(first, seats.len()), seats)).collect()
}

fn listed_name(first: &Participant, seats: usize) -> &str {
    if seats > 1 && is_named_after_provider(first) { &first.provider } else { &first.name }
}

/// Whether this is another seat of the same provider: another model of it, `claude/opus`, or the
/// same one again, `claude-2` or `claude-judge`.
fn is_further_seat(first: &Participant, seat: &Participant) -> bool {
    if first.is_person() || seat.is_person() || first.provider != seat.provider {
        return false;
    }
    if first.agent.is_some() || seat.agent.is_some() {
        let id = |it: &Participant| it.agent.as_ref().map(|agent| agent.id.clone());
        return id(first) == id(seat);
    }
    let is_again = seat.name.strip_prefix(first.name.as_str()).is_some_and(|it| it.starts_with('-'));
    is_again && first.model == seat.model || is_named_after_provider(first) && is_named_after_provider(seat)
}

/// Whether a seat has its provider's name, or another name of it, and not one of its own.
fn is_named_after_provider(seat: &Participant) -> bool {
    let mut names = std::iter::once(&seat.provider).chain(&seat.aliases);
    names.any(|name| {
        let rest = seat.name.strip_prefix(name.as_str());
        rest.is_some_and(|it| it.is_empty() || it.starts_with(['/', '-']))
    })
}

/// The first early exit.
pub(super) fn early_exit(state: &State) -> Option<EarlyExit> {
    let ClosedEarly { round, taken, dropped } = state.closed_early.first()?;
    let of_group = |name: &str, at: u32| at == *round && taken.iter().any(|it| it == name);
    let votes = state.readings.iter().filter(|it| of_group(&it.participant, it.round));
    let confidence = votes.filter_map(|it| it.reading.stance.as_ref()).map(|it| it.confidence);
    let answers = if taken.len() == 1 { "answer was" } else { "answers were" };
    Some(EarlyExit {
        triggered: true,
        reason: format!("{} {answers} enough; not waited for: {}", taken.len(), dropped.join(", ")),
        at_provider_count: taken.len() as u32,
        confidence_score: confidence.reduce(f64::max),
        left_out: dropped.clone(),
        round: *round,
    })
}
