//! Positions by round and changes of mind, folded from the record.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{outcome::Dissent, reading::Source, state::State};

/// The reason shown for a change of mind that was not explained.
pub const UNEXPLAINED: &str = "unexplained";

/// The position of one participant in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The round's number.
    pub round: u32,
    /// The participant's name.
    pub participant: String,
    /// The position.
    pub position: String,
}

/// A change of mind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flip {
    /// The participant's name.
    pub participant: String,
    /// The round in which the new position was first seen.
    pub round: u32,
    /// The earlier position.
    pub from: String,
    /// The new position.
    pub to: String,
    /// The participant's reason in its own words, or `unexplained`.
    pub reason: String,
}

/// How far the participants agreed after a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundAgreement {
    /// The round's number.
    pub round: u32,
    /// The position with the most weight; one of them on a tie, empty if no agreement counts.
    pub leading: String,
    /// Its share of the total weight, 0 to 1.
    pub agreement: f64,
}

/// Everyone's positions, by round and seating order.
#[must_use]
pub fn positions_by_round(state: &State) -> Vec<Position> {
    let seat = |name: &str| state.spec.participants.iter().position(|it| it.name == name);
    let mut held: Vec<WeightedPosition<'_>> = positions(state).collect();
    held.sort_by_key(|it| (it.round, seat(it.participant)));
    let position = |it: WeightedPosition<'_>| Position {
        round: it.round,
        participant: it.participant.to_owned(),
        position: it.position,
    };
    held.into_iter().map(position).collect()
}

/// Every change of mind, in the order of the record. A second blind draw doesn't count: nobody
/// has heard anything in between.
#[must_use]
pub fn flips(state: &State) -> Vec<Flip> {
    let mut last: BTreeMap<&str, String> = BTreeMap::new();
    let mut flips = Vec::new();
    for held in positions(state).filter(|it| !it.is_redraw) {
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

/// The agreement after each round in which positions were taken. A position that could not be read
/// is no agreement, so it lowers the share.
#[must_use]
pub fn agreement_by_round(state: &State) -> Vec<RoundAgreement> {
    let mut rounds: BTreeMap<u32, Vec<WeightedPosition<'_>>> = BTreeMap::new();
    for held in positions(state) {
        rounds.entry(held.round).or_default().push(held);
    }
    let unread = unread(state);
    rounds.into_iter().map(|(round, held)| agreement(state, round, &held, &unread)).collect()
}

/// The agreement after the last round in which positions were asked for; `None` if none of that
/// round could be read.
#[must_use]
pub fn last_agreement(state: &State) -> Option<RoundAgreement> {
    let last_unread = unread(state).into_iter().map(|it| it.0).max();
    agreement_by_round(state).pop().filter(|it| last_unread <= Some(it.round))
}

/// The participants whose last position in this round is not the leading one, in seating order;
/// everyone if none leads.
#[must_use]
pub fn dissent(state: &State, after: &RoundAgreement) -> Vec<Dissent> {
    let seat = |name: &str| state.spec.participants.iter().position(|it| it.name == name);
    let of_round = positions(state).filter(|it| it.round == after.round);
    let mut held: BTreeMap<Option<usize>, WeightedPosition<'_>> = BTreeMap::new();
    of_round.for_each(|it| drop(held.insert(seat(it.participant), it)));
    let others = held.into_values().filter(|it| after.leading.is_empty() || it.position != after.leading);
    let view = |it: WeightedPosition<'_>| Dissent::of_position(it.participant, &it.position, it.reason);
    others.map(view).collect()
}

/// A position with its weight and reason.
struct WeightedPosition<'s> {
    participant: &'s str,
    round: u32,
    position: String,
    reason: &'s str,
    weight: f64,
    joins: bool,
    is_redraw: bool,
}

/// The positions taken during the talk. Positions that were only assumed don't count, and neither
/// do first answers before it and the votes of the consensus method, which answer another question.
fn positions(state: &State) -> impl Iterator<Item = WeightedPosition<'_>> {
    let taken = state.readings.iter().filter(|it| it.source != Source::Assumed && it.is_of_talk());
    taken.filter_map(|heard| {
        let stance = heard.reading.stance.as_ref()?;
        let participant = heard.participant.as_str();
        // A voter's confidence counts; whether two partners agree is a plain yes or no.
        let sure = if stance.chooses { stance.confidence } else { 1.0 };
        Some(WeightedPosition {
            participant,
            round: heard.round,
            position: stance.position.clone(),
            reason: heard.reading.reason(),
            weight: state.spec.seat(participant).map_or(1.0, |it| it.weight) * sure,
            joins: stance.joins,
            is_redraw: heard.is_redraw(),
        })
    })
}

/// The positions of the talk that could not be read, as round and participant.
fn unread(state: &State) -> BTreeSet<(u32, &str)> {
    let asked = || state.readings.iter().filter(|it| it.is_of_talk() && it.reading.stance.is_some());
    let assumed = asked().filter(|it| it.source == Source::Assumed);
    let assumed = assumed.map(|it| (it.round, it.participant.as_str()));
    // Only forms that state a position: an assessment that can't be read is none.
    let states_position = |kind: &str| asked().any(|it| it.reading.kind == kind);
    let unread = state.unread.iter().filter(|it| it.round > 0 && states_position(&it.kind));
    assumed.chain(unread.map(|it| (it.round, it.participant.as_str()))).collect()
}

fn agreement(
    state: &State,
    round: u32,
    held: &[WeightedPosition<'_>],
    unread: &BTreeSet<(u32, &str)>,
) -> RoundAgreement {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for it in held {
        *weights.entry(&it.position).or_default() += it.weight;
    }
    // An unread position weighs as much as the others, for its seat.
    let seat_weight = |name: &str| state.spec.seat(name).map_or(1.0, |it| it.weight);
    let read: f64 = held.iter().map(|it| it.weight).sum();
    let seats: f64 = held.iter().map(|it| seat_weight(it.participant)).sum();
    let is_missing = |name: &str| !held.iter().any(|it| it.participant == name);
    let missing = unread.iter().filter(|(at, name)| *at == round && is_missing(name));
    let missing: f64 = missing.map(|(_, name)| seat_weight(name)).sum();
    let all = if seats > 0.0 { read + missing * read / seats } else { read };
    let joining =
        weights.iter().filter(|(position, _)| held.iter().any(|it| it.joins && it.position == **position));
    let leading =
        joining.fold(("", 0.0), |most, (it, weight)| if most.1 < *weight { (*it, *weight) } else { most });
    let share = if all > 0.0 { leading.1 / all } else { 0.0 };
    RoundAgreement { round, leading: leading.0.to_owned(), agreement: rounded(share) }
}

/// Rounds to three decimals, so that a sum of floats is the number a person would write.
#[must_use]
pub fn rounded(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{
        event::{Event, UnreadReply},
        id::Step,
        phase::{DECIDING, REDRAW},
        reading::{Reading, Stance},
        spec::{Spec, tests::order},
        state::tests::after,
    };

    /// A reading of a form that this crate doesn't know.
    fn held(who: &str, round: u32, stance: Stance, reason: &str) -> (Option<Step>, Event) {
        let reading = Reading {
            kind: "estimate".to_owned(),
            version: 3,
            value: json!({ "why": { "in_short": reason } }),
            told: None,
            reason_at: Some("/why/in_short".to_owned()),
            stance: Some(stance),
        };
        let step = Step::new(round, "estimating", who).purpose("read");
        (Some(step), Event::ReplyRead { participant: who.to_owned(), round, source: Source::Stated, reading })
    }

    fn chosen(position: &str, confidence: f64) -> Stance {
        Stance { position: position.to_owned(), confidence, chooses: true, joins: true }
    }

    fn found(position: &str, joins: bool) -> Stance {
        Stance { position: position.to_owned(), confidence: 0.1, chooses: false, joins }
    }

    fn agreed(round: u32, leading: &str, agreement: f64) -> RoundAgreement {
        RoundAgreement { round, leading: leading.to_owned(), agreement }
    }

    #[test]
    fn positions_of_any_form_are_told_by_round_and_seat() {
        let events = vec![
            held("bob", 1, chosen("1989", 0.5), ""),
            held("ann", 1, chosen("1990", 0.5), ""),
            held("ann", 2, chosen("1989", 0.5), "  bob has the deed "),
            held("bob", 2, chosen("1988", 0.5), " "),
        ];
        let state = after(order(), events);
        let told = positions_by_round(&state);
        let told = told.iter().map(|it| format!("{} {} {}", it.round, it.participant, it.position));
        assert_eq!(told.collect::<Vec<_>>(), ["1 ann 1990", "1 bob 1989", "2 ann 1989", "2 bob 1988"]);
        let flip = |who: &str, from: &str, to: &str, reason: &str| Flip {
            participant: who.to_owned(),
            round: 2,
            from: from.to_owned(),
            to: to.to_owned(),
            reason: reason.to_owned(),
        };
        let expected =
            [flip("ann", "1990", "1989", "bob has the deed"), flip("bob", "1989", "1988", UNEXPLAINED)];
        assert_eq!(flips(&state), expected);
    }

    #[test]
    fn a_redraw_counted_as_a_change_of_mind() {
        let redrawn = |who: &str, position: &str| {
            let (_, event) = held(who, 2, chosen(position, 0.5), "");
            (Some(Step::new(2, REDRAW.0, who).purpose("read")), event)
        };
        let events = vec![
            held("ann", 1, chosen("1990", 0.5), ""),
            redrawn("ann", "1989"),
            held("ann", 3, chosen("1988", 0.5), ""),
        ];
        let state = after(order(), events);
        let found = flips(&state);
        let found: Vec<_> = found.iter().map(|it| (it.round, it.from.as_str(), it.to.as_str())).collect();
        assert_eq!(found, [(3, "1990", "1988")]);
        assert_eq!(positions_by_round(&state).len(), 3, "it is a position all the same");
    }

    #[test]
    fn a_choice_weighs_by_confidence_and_seat_and_a_finding_by_seat_alone() {
        let mut spec = order();
        spec.participants[2].weight = 2.0;
        let choices = vec![
            held("ann", 1, chosen("tabs", 0.9), ""),
            held("bob", 1, chosen("tabs", 0.3), ""),
            held("cyd", 1, chosen("spaces", 0.9), ""),
        ];
        assert_eq!(agreement_by_round(&after(spec.clone(), choices)), [agreed(1, "spaces", 0.6)]);
        let findings = vec![
            held("ann", 1, found("there is one", true), ""),
            held("bob", 1, found("there is none", false), ""),
            held("cyd", 1, found("there is one", true), ""),
        ];
        assert_eq!(agreement_by_round(&after(spec, findings)), [agreed(1, "there is one", 0.75)]);
    }

    #[test]
    fn a_position_that_joins_nobody_never_leads() {
        let events = vec![
            held("ann", 1, found("none", false), ""),
            held("bob", 1, found("none", false), ""),
            held("ann", 2, found("none", false), ""),
            held("bob", 2, found("one", true), ""),
        ];
        let expected = [agreed(1, "", 0.0), agreed(2, "one", 0.5)];
        assert_eq!(agreement_by_round(&after(order(), events)), expected);
    }

    #[test]
    fn a_position_that_could_not_be_read_counted_as_agreement() {
        let unread = |who: &str, round: u32| {
            let (step, event) = held(who, round, found("none", false), "");
            let Event::ReplyRead { participant, round, reading, .. } = event else {
                unreachable!("a reading was made")
            };
            (step, Event::ReplyRead { participant, round, source: Source::Assumed, reading })
        };
        let events = vec![held("ann", 1, found("one", true), ""), unread("bob", 1)];
        let state = after(order(), events.clone());
        assert_eq!(agreement_by_round(&state), [agreed(1, "one", 0.5)]);
        assert_eq!(last_agreement(&state), Some(agreed(1, "one", 0.5)));
        let later = [unread("ann", 2), unread("bob", 2)];
        let state = after(order(), events.into_iter().chain(later).collect());
        assert_eq!(agreement_by_round(&state), [agreed(1, "one", 0.5)]);
        assert_eq!(last_agreement(&state), None, "the last round has no figure, and no other's is used");
    }

    #[test]
    fn an_unread_choice_weighs_as_much_as_the_others() {
        let reply = |kind: &str| {
            let (participant, kind, wrong) = ("cyd".to_owned(), kind.to_owned(), "no year".to_owned());
            (None, Event::ReplyUnread(UnreadReply { participant, round: 1, kind, wrong }))
        };
        let choices =
            || vec![held("ann", 1, chosen("tabs", 0.9), ""), held("bob", 1, chosen("tabs", 0.3), "")];
        let with = |kind| choices().into_iter().chain([reply(kind)]).collect();
        assert_eq!(agreement_by_round(&after(order(), with("estimate"))), [agreed(1, "tabs", 0.667)]);
        let other = after(order(), with("assessment"));
        assert_eq!(agreement_by_round(&other), [agreed(1, "tabs", 1.0)], "it states no position");
    }

    #[test]
    fn no_confidence_at_all_is_no_agreement() {
        let events = vec![held("ann", 1, chosen("tabs", 0.0), "")];
        assert_eq!(agreement_by_round(&after(order(), events)), [agreed(1, "", 0.0)]);
    }

    #[test]
    fn assumed_readings_decisions_and_readings_without_a_stance_are_not_positions() {
        let change = |(step, event): (Option<Step>, Event), how: fn(&mut Source, &mut Reading)| {
            let Event::ReplyRead { participant, round, mut source, mut reading } = event else {
                unreachable!("a reading was made")
            };
            how(&mut source, &mut reading);
            (step, Event::ReplyRead { participant, round, source, reading })
        };
        let tabs = || held("ann", 1, chosen("tabs", 0.5), "");
        let decided = (Some(Step::new(1, DECIDING, "ann").purpose("read")), tabs().1);
        let events = vec![
            change(tabs(), |source, _| *source = Source::Assumed),
            change(tabs(), |_, reading| reading.stance = None),
            decided,
        ];
        let state = after(Spec { rounds: 1, ..order() }, events);
        assert_eq!(
            (positions_by_round(&state), flips(&state), agreement_by_round(&state)),
            (vec![], vec![], vec![])
        );
        let guessed = vec![change(tabs(), |source, _| *source = Source::Inferred)];
        assert_eq!(positions_by_round(&after(order(), guessed)).len(), 1, "an inferred position counts");
    }
}
