//! What results say about first answers: what they alone would have decided and at what cost,
//! whether the talk overturned them, and how likely the answer is right.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    model::{flips::rounded, known_voices::Independence, money::Usd, state::State, transcript::Turn},
    vocabulary::{
        result::ResultField,
        view::{Cell, Column, Section, View},
    },
};
use serde_json::{Value, json};

use super::{FirstAnswer, answers, baseline, is_same, key};
use crate::{
    consensus::{poll::votes_itself, tally},
    evidence::{calibration::Correction, odds},
    prompts::{counted, listed},
    weighing,
};

pub(crate) const FIRST_ANSWERS: ResultField = ResultField {
    name: "firstAnswers",
    title: "First answers",
    view: View::Table {
        columns: &[
            Column::text("participant", "/provider"),
            Column::text("answer", "/choice"),
            Column::of("confidence", "/confidence", Cell::Share),
        ],
    },
    of: first_answers,
};

pub(crate) const FIRST_AGREEMENT: ResultField = ResultField {
    name: "firstAgreement",
    title: "First agreement",
    // The sentence on what they would have decided says it in words: 3 of 4.
    view: View::Hidden,
    of: |state| Some(json!(rounded(First::of(state)?.agreement()))),
};

pub(crate) const OVERTURNED: ResultField = ResultField {
    name: "overturned",
    title: "Overturned",
    view: View::Hidden,
    of: |state| First::of(state)?.is_overturned(state).map(|it| json!(it)),
};

pub(crate) const FIRST_DECISION: ResultField = ResultField {
    name: "firstDecision",
    title: "First answers alone",
    view: View::Sections { sections: &[Section::new("", "/told", &View::Text)] },
    of: first_decision,
};

pub(crate) const PROBABILITY: ResultField = ResultField {
    name: "probability",
    title: "Probability",
    view: View::Line { label: "Probability by earlier outcomes", cell: Cell::Share },
    of: |state| Some(json!(rounded(probability(state)?))),
};

pub(crate) const INDEPENDENT_VOICES: ResultField = ResultField {
    name: "nEff",
    title: "Independent voices",
    view: View::Sections { sections: &[Section::new("", "/told", &View::Text)] },
    of: independent_voices,
};

pub(crate) const BASELINE: ResultField = ResultField {
    name: "baseline",
    title: "Baseline",
    view: View::Sections { sections: &[Section::new("", "/told", &View::Text)] },
    of: baseline::report,
};

/// Where the pattern itself votes, its first round has them.
fn first_answers(state: &State) -> Option<Value> {
    let answers = answers(state);
    let row = |it: &FirstAnswer| json!({ "provider": it.participant, "choice": it.choice, "confidence": it.confidence });
    let is_told = !answers.is_empty() && !votes_itself(&state.spec);
    is_told.then(|| answers.iter().map(row).collect())
}

/// The first answers and which of them lead.
pub(super) struct First {
    count: usize,
    /// The answers that were given most often.
    leading: Vec<String>,
    heads: usize,
}

impl First {
    /// Those of a discussion; `None` if it has none.
    pub(super) fn of(state: &State) -> Option<Self> {
        let answers = answers(state);
        let mut heads: BTreeMap<String, (usize, &str)> = BTreeMap::new();
        for it in &answers {
            heads.entry(key(&state.spec, &it.choice)).or_insert((0, &it.choice)).0 += 1;
        }
        let most = heads.values().map(|it| it.0).max()?;
        let leading = heads.values().filter(|it| it.0 == most).map(|it| it.1.to_owned()).collect();
        Some(First { count: answers.len(), leading, heads: most })
    }

    /// The answer that leads alone.
    pub(super) fn leader(&self) -> Option<&str> {
        let [leader] = &self.leading[..] else { return None };
        Some(leader)
    }

    /// The share of the answer that leads.
    fn agreement(&self) -> f64 {
        self.heads as f64 / self.count.max(1) as f64
    }

    fn is_unanimous(&self) -> bool {
        self.heads == self.count
    }

    /// Whether the final answer is another one; `None` if that can't be told, as on a tie.
    fn is_overturned(&self, state: &State) -> Option<bool> {
        Some(!is_same(&state.spec, self.leader()?, &final_answer(state)?))
    }
}

/// The answer that was decided, if the record says which: by votes, or as the only option that the
/// text names.
#[must_use]
pub fn final_answer(state: &State) -> Option<String> {
    let decision = state.decision.as_ref()?;
    if let Some(winner) = tally::winner(state).filter(|it| state.spec.options.contains(it)) {
        return Some(winner);
    }
    if tally::has_tally(state) {
        return None;
    }
    let text = format!(" {} ", spaced(&decision.synthesis));
    let is_named = |option: &&String| text.contains(&format!(" {} ", spaced(option)));
    let mut named = state.spec.options.iter().filter(is_named);
    let only = named.next();
    only.filter(|_| named.next().is_none()).cloned()
}

/// The words of a text in lower case, with a space between them.
fn spaced(text: &str) -> String {
    let folded: String = text.to_lowercase();
    let words = folded.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn first_decision(state: &State) -> Option<Value> {
    let first = First::of(state)?;
    state.decision.as_ref()?;
    let cost = first_cost(state);
    let told = told(state, &first, cost);
    Some(match first.leader() {
        Some(leader) => json!({ "answer": leader, "costUsd": cost.dollars(), "told": told }),
        None => json!({ "tie": first.leading, "costUsd": cost.dollars(), "told": told }),
    })
}

/// What the first answers cost.
fn first_cost(state: &State) -> Usd {
    let is_first = |it: &&Arc<Turn>| it.step.is_first() || (votes_itself(&state.spec) && it.round == 1);
    let turns = state.turns.iter().filter(is_first);
    turns.fold(Usd::ZERO, |sum, turn| sum + turn.bill.cost.unwrap_or_default())
}

fn told(state: &State, first: &First, cost: Usd) -> String {
    let spent = state.spent.usd;
    let at_cost = match spent == Usd::ZERO {
        true => String::new(),
        false => format!(", at {cost} of {spent}"),
    };
    let support = format!("{} of {}", first.heads, counted(first.count, "first answer"));
    let last = final_answer(state);
    match (first.leader(), &last) {
        (None, _) => format!(
            "The first answers alone would have been a tie between {}{at_cost}.",
            listed(&first.leading)
        ),
        (Some(leader), None) => {
            format!("The first answers alone would have decided {leader} ({support}){at_cost}.")
        }
        (Some(leader), Some(last)) if is_same(&state.spec, last, leader) => {
            format!(
                "The first answers alone would have decided the same, {leader} ({support}){at_cost}.{}",
                by_talk(state, first)
            )
        }
        (Some(leader), Some(last)) => format!(
            "The talk overturned the first answers: they would have decided {leader} ({support}){at_cost}, not {last}. \
             A first majority that talk overturns is often right: check the reasons for the change."
        ),
    }
}

/// The sentence on unanimity that was not there before the talk.
fn by_talk(state: &State, first: &First) -> &'static str {
    match tally::is_unanimous(state) && !first.is_unanimous() {
        true => {
            " They were not unanimous; unanimity that only talk brings is weaker evidence than the votes suggest."
        }
        false => "",
    }
}

/// The chance that the final answer is right, by what earlier outcomes say about the first answers.
#[must_use]
pub fn probability(state: &State) -> Option<f64> {
    let known = weighing::known(&state.spec)?;
    let last = final_answer(state)?;
    let answers = answers(state);
    if answers.is_empty() {
        return None;
    }
    let weighing = weighing::Weighing::Learned(known);
    let sum = |option: &String| -> f64 {
        let voters = answers.iter().filter(|it| it.choice == *option);
        voters.map(|it| weighing.weight(&state.spec, &it.participant, it.confidence)).sum()
    };
    let sums: Vec<f64> = state.spec.options.iter().map(sum).collect();
    let place = state.spec.options.iter().position(|it| *it == last)?;
    let correction = Correction { slope: known.correction.slope, offset: known.correction.offset };
    odds::posterior(&sums).get(place).map(|it| correction.of(*it))
}

fn independent_voices(state: &State) -> Option<Value> {
    let Independence { voices, effective, low, high, outcomes } =
        state.spec.known_voices.as_ref()?.independence?;
    let told = format!(
        "{}, about {effective:.1} independent ones ({low:.1}-{high:.1}, {outcomes} outcomes)",
        counted(voices as usize, "voice")
    );
    let round = |it: f64| (it * 100.0).round() / 100.0;
    Some(json!({
        "voices": voices, "effective": round(effective), "low": round(low), "high": round(high),
        "outcomes": outcomes, "told": told,
    }))
}
