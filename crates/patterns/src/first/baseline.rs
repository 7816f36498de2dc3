//! Baselines: what a single voice, the majority of the first answers, or several answers of the
//! best voice would have decided.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    choices,
    floor::{Floor, halt::Halt, notes::Note},
    model::{
        money::Usd,
        participant::Participant,
        spec::Spec,
        state::{RecordedReading, State},
        transcript::Turn,
    },
    vocabulary::option::{Opt, Picked},
};
use serde_json::{Value, json};

use super::{FirstAnswer, answers, is_same, key, report};
use crate::{
    consensus::poll::votes_itself,
    prompts::deciding,
    ranking,
    readers::{ballot::Ballots, short_answer::ShortAnswers},
    weighing,
};

choices! {
    /// What a result is compared with.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Baseline {
        Majority = "majority": "the first answers, one vote each",
        Single = "single": "the first answer of the best voice",
        SelfConsistency = "self-consistency": "several blind answers of the best voice, for no more than the discussion cost",
    }
}

/// What the result is compared with.
pub(crate) const BASELINE: Opt<Option<Picked<Baseline>>> =
    Opt::choice_or_none("baseline", "What to compare the result with, where there are first answers");

/// The draws of the best voice, by their purposes. More would cost more than they tell.
const DRAWS: [&str; 8] = ["draw1", "draw2", "draw3", "draw4", "draw5", "draw6", "draw7", "draw8"];

/// The kind of note that says how many draws there are.
const DRAWN: &str = "baseline-draws";

/// The calls that a baseline takes at most.
pub(crate) fn calls(spec: &Spec) -> u32 {
    if draws(spec) { DRAWS.len() as u32 } else { 0 }
}

/// Whether the best voice is asked again for the baseline.
fn draws(spec: &Spec) -> bool {
    let asked = super::are_asked(spec) || votes_itself(spec);
    asked && kind(spec) == Some(Baseline::SelfConsistency)
}

fn kind(spec: &Spec) -> Option<Baseline> {
    spec.option(&BASELINE).map(|it| it.0)
}

/// Draws what the baseline needs, after the decision: for no more than the discussion has cost so
/// far, and in no more calls.
pub(crate) async fn draw(floor: &mut Floor) -> Result<(), Halt> {
    let spec = floor.spec();
    let best = best(&spec, &floor.present(&models(&spec)));
    let Some(best) = best.filter(|_| draws(&spec)) else { return Ok(()) };
    let count = match floor.noted(DRAWN) {
        Some(count) => count,
        None => {
            let count = affordable(floor, &best);
            floor.note(Note { kind: DRAWN, key: "", round: floor.round(), value: &count, told: None })?;
            count
        }
    };
    for purpose in DRAWS.into_iter().take(count) {
        let ask = deciding::draw(&spec, &best).purpose(purpose);
        let drawn = match spec.options.is_empty() {
            true => floor.ask_for(&best, ask, &ShortAnswers).await?.is_some(),
            false => floor.ask_for(&best, ask, &Ballots::on(&spec.options)).await?.is_some(),
        };
        if !drawn && floor.has_failed(&best.name) {
            break;
        }
    }
    Ok(())
}

/// How many draws of this voice cost no more than the discussion did, in dollars and in calls, and
/// fit what is left of the budget.
fn affordable(floor: &Floor, best: &Participant) -> usize {
    let spent = floor.spent();
    let of_best = |turn: &&Arc<Turn>| turn.step.is_first() && turn.participant == best.name;
    let one = floor.turns().iter().find(of_best).and_then(|turn| turn.bill.cost).unwrap_or_default();
    let by_cost = if one == Usd::ZERO { DRAWS.len() } else { (spent.usd.dollars() / one.dollars()) as usize };
    let most = by_cost.min(spent.calls as usize).min(DRAWS.len());
    let longest = floor.spec().manner.max_tokens;
    (0..=most).rev().find(|count| floor.has_room(*count as u32, longest)).unwrap_or_default()
}

fn models(spec: &Spec) -> Vec<Participant> {
    crate::roles::voters(spec).into_iter().filter(|it| !it.is_person()).collect()
}

/// The voice that earlier outcomes call the best; without them, the strongest for the topic.
fn best(spec: &Spec, among: &[Participant]) -> Option<Participant> {
    let known = weighing::known(spec);
    let offset = |it: &Participant| known.and_then(|known| known.offsets.get(&it.name).copied());
    let by_outcomes = among.iter().filter(|it| offset(it).is_some());
    let by_outcomes = by_outcomes
        .rev()
        .max_by(|one, other| offset(one).unwrap_or_default().total_cmp(&offset(other).unwrap_or_default()));
    by_outcomes.cloned().or_else(|| ranking::strongest_first(among.to_vec(), &spec.topic).into_iter().next())
}

/// The baseline of a result.
pub(super) fn report(state: &State) -> Option<Value> {
    let kind = kind(&state.spec)?;
    state.decision.as_ref()?;
    let first = answers(state);
    let voice = best_that_answered(state, &first);
    let (answer, cost) = match kind {
        Baseline::Majority => (report::First::of(state)?.leader().map(str::to_owned), Usd::ZERO),
        Baseline::Single => (voice.map(|it| it.choice.clone()), Usd::ZERO),
        Baseline::SelfConsistency => (most_drawn(state, voice), cost_of_draws(state)),
    };
    let last = report::final_answer(state);
    let same = last.zip(answer.as_deref()).map(|(last, answer)| is_same(&state.spec, &last, answer));
    let name = quorum_core::vocabulary::option::Named::name(kind);
    Some(json!({
        "kind": name, "answer": answer, "same": same, "cost": cost.dollars(),
        "told": told(kind, answer.as_deref(), same, cost),
    }))
}

fn told(kind: Baseline, answer: Option<&str>, same: Option<bool>, cost: Usd) -> String {
    let what = match kind {
        Baseline::Majority => "A plain vote on the first answers",
        Baseline::Single => "The first answer of the best voice alone",
        Baseline::SelfConsistency => "Several blind answers of the best voice",
    };
    let cost = if cost == Usd::ZERO { String::new() } else { format!(", for {cost}") };
    match (answer, same) {
        (None, _) => format!("{what} would have been a tie{cost}."),
        (Some(answer), Some(true)) => format!("{what} would have decided the same, {answer}{cost}."),
        (Some(answer), Some(false)) => format!("{what} would have decided {answer} instead{cost}."),
        (Some(answer), None) => format!("{what} would have decided {answer}{cost}."),
    }
}

fn best_that_answered<'f>(state: &State, first: &'f [FirstAnswer]) -> Option<&'f FirstAnswer> {
    let answered =
        models(&state.spec).into_iter().filter(|it| first.iter().any(|a| a.participant == it.name));
    let best = best(&state.spec, &answered.collect::<Vec<_>>())?;
    first.iter().find(|it| it.participant == best.name)
}

/// The answer that the best voice gave most often, its first answer included; that one on a tie.
fn most_drawn(state: &State, first: Option<&FirstAnswer>) -> Option<String> {
    let drawn = state.readings.iter().filter(|it| is_draw(it));
    let drawn = drawn.filter_map(|it| Some(it.reading.stance.as_ref()?.position.clone()));
    let all: Vec<String> = first.map(|it| it.choice.clone()).into_iter().chain(drawn).collect();
    let mut heads: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().for_each(|it| *heads.entry(key(&state.spec, it)).or_default() += 1);
    let most = heads.values().copied().max()?;
    all.into_iter().find(|it| heads.get(&key(&state.spec, it)) == Some(&most))
}

fn is_draw(heard: &RecordedReading) -> bool {
    heard.step.as_ref().is_some_and(|it| it.is_deciding() && is_draw_step(it.as_str()))
}

fn is_draw_step(step: &str) -> bool {
    step.split('/').skip(3).any(|part| DRAWS.contains(&part))
}

fn cost_of_draws(state: &State) -> Usd {
    let is_draw = |it: &&Arc<Turn>| it.step.is_deciding() && is_draw_step(it.step.as_str());
    let turns = state.turns.iter().filter(is_draw);
    turns.fold(Usd::ZERO, |sum, turn| sum + turn.bill.cost.unwrap_or_default())
}
