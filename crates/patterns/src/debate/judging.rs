//! What the judging of a debate comes to: which judgements count, and how often a judge changed its mind with the order.

use serde::{Deserialize, Serialize};

use crate::{
    floor::veil::Veil,
    model::{
        assessment::{Assessment, rounded},
        debate::{JudgeChange, Judging, TalkEnd},
        event::Reading,
        id::Step,
        judgement::Verdict,
        participant::Participant,
        state::{Heard, State},
        transcript::Turn,
        vacancy::Vacancy,
    },
};

/// The last part of a step at which a judgement is made again in the swapped order.
pub const SWAPPED: &str = "swapped";

/// The last part of the step at which the order for an assessment is drawn.
pub const ORDER: &str = "order";

/// The last part of the step at which the order for a verdict is drawn.
pub const VERDICT_ORDER: &str = "verdict-order";

/// A debate's judging, round by round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgingReport {
    /// The assessments that count.
    pub rounds: Vec<JudgedRound>,
    /// Rounds without one: nobody judged, nobody could be understood, or the two orders contradicted each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unassessed_rounds: Vec<u32>,
    /// Judgements made in both orders.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub swap_checked: u32,
    /// Those of them that came out the other way round.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub flipped: u32,
    /// Their share, where any were checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flip_rate: Option<f64>,
    /// Every change on the bench.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judge_changes: Vec<JudgeChange>,
    /// The judge's seat, while people are to say what becomes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaits: Option<Vacancy>,
    /// Why it ended before its last round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TalkEnd>,
}

/// An assessment that counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgedRound {
    /// Which round.
    pub round: u32,
    /// Who judged.
    pub judge: String,
    /// What it came to.
    #[serde(flatten)]
    pub assessment: Assessment,
}

impl JudgingReport {
    /// The judging of this discussion; `None` where there is nothing to say of it.
    #[must_use]
    pub fn of(state: &State) -> Option<JudgingReport> {
        let judged = judged(state);
        let rounds: Vec<JudgedRound> = judged.iter().filter_map(Judged::counted).collect();
        let verdicts = verdicts(state);
        let pairs =
            judged.iter().filter_map(Judged::flips).chain(verdicts.as_ref().and_then(Verdicts::flips));
        let pairs: Vec<bool> = pairs.collect();
        let (swap_checked, flipped) = (pairs.len() as u32, pairs.iter().filter(|it| **it).count() as u32);
        let report = JudgingReport {
            unassessed_rounds: unassessed(state, &rounds),
            rounds,
            swap_checked,
            flipped,
            flip_rate: (0 < swap_checked).then(|| rounded(f64::from(flipped) / f64::from(swap_checked))),
            judge_changes: state.debate.judges.clone(),
            awaits: state.debate.vacancy.clone(),
            ended: state.debate.ended.clone(),
        };
        (report != JudgingReport::default()).then_some(report)
    }
}

/// The judge's final word. Where it was asked for in both orders, only a winner of both is one.
#[must_use]
pub fn verdict(state: &State) -> Option<Verdict> {
    let verdicts = verdicts(state)?;
    let confirmed = !is_checked(state, verdicts.judge) || verdicts.agree();
    let winner = verdicts.first.winner.clone().filter(|_| confirmed);
    Some(Verdict { winner, ..verdicts.first.clone() })
}

/// What was said in this turn, with names in the place of the labels a judge was shown.
#[must_use]
pub fn revealed(state: &State, turn: &Turn) -> String {
    let step = turn.step.as_str();
    let base: Vec<&str> = step.split('/').take(3).collect();
    let purposes: Vec<&str> = step.split('/').skip(3).collect();
    let order = if purposes.contains(&"verdict") { VERDICT_ORDER } else { ORDER };
    let drawn = state.orders.get(&Step::from(base.join("/").as_str()).purpose(order));
    let Some(mut places) = drawn.cloned() else { return turn.text.to_string() };
    if purposes.contains(&SWAPPED) {
        places.reverse();
    }
    Veil::of_debate(&state.spec, &places).reveal(&turn.text)
}

/// One judge's assessments of one round, in one order and the other.
struct Judged<'s> {
    round: u32,
    judge: &'s str,
    first: Option<&'s Assessment>,
    swapped: Option<&'s Assessment>,
    checked: bool,
}

impl Judged<'_> {
    fn counted(&self) -> Option<JudgedRound> {
        let assessment = match (self.checked, self.first, self.swapped) {
            (false, Some(first), _) => first.clone(),
            (true, Some(first), Some(swapped)) => first.confirmed_by(swapped)?,
            (_, None, _) | (true, _, None) => return None,
        };
        Some(JudgedRound { round: self.round, judge: self.judge.to_owned(), assessment })
    }

    fn flips(&self) -> Option<bool> {
        Some(self.first?.contradicts(self.swapped?))
    }
}

fn judged(state: &State) -> Vec<Judged<'_>> {
    let mut judged: Vec<Judged<'_>> = Vec::new();
    for heard in &state.readings {
        let Reading::Assessment(assessment) = &heard.reading else { continue };
        let (round, judge) = (heard.round, heard.participant.as_str());
        let known = judged.iter().position(|it| (it.round, it.judge) == (round, judge));
        let place = known.unwrap_or(judged.len());
        if known.is_none() {
            let checked = is_checked(state, judge);
            judged.push(Judged { round, judge, first: None, swapped: None, checked });
        }
        let side = if is_swapped(heard) { &mut judged[place].swapped } else { &mut judged[place].first };
        *side = Some(assessment);
    }
    judged
}

/// The rounds that were to be judged and have no assessment that counts.
pub(crate) fn unassessed_rounds(state: &State) -> Vec<u32> {
    let rounds: Vec<JudgedRound> = judged(state).iter().filter_map(Judged::counted).collect();
    unassessed(state, &rounds)
}

fn unassessed(state: &State, rounds: &[JudgedRound]) -> Vec<u32> {
    // Before its second flow a debate was judged at its end alone.
    let judged = state.spec.pattern == "debate" && 2 <= state.flow;
    let judged = judged && state.spec.debate.judging == Judging::EveryRound;
    let over = state.rounds.iter().filter(|span| judged && span.to_ms.is_some()).map(|span| span.round);
    over.filter(|round| !rounds.iter().any(|it| it.round == *round)).collect()
}

/// People read the talk under its names, so there is no order that could sway them, and they are asked once.
fn is_checked(state: &State, judge: &str) -> bool {
    state.spec.debate.swap_check && !state.spec.seat(judge).is_some_and(Participant::is_person)
}

struct Verdicts<'s> {
    judge: &'s str,
    first: &'s Verdict,
    swapped: Option<&'s Verdict>,
}

impl Verdicts<'_> {
    fn agree(&self) -> bool {
        self.swapped.is_some_and(|swapped| winner(self.first) == winner(swapped))
    }

    /// Two winners are a flip; a winner and none are not, but nobody has won then.
    fn flips(&self) -> Option<bool> {
        let swapped = self.swapped?;
        let both = winner(self.first).zip(winner(swapped));
        Some(both.is_some_and(|(one, other)| one != other))
    }
}

fn verdicts(state: &State) -> Option<Verdicts<'_>> {
    let last = |swapped: bool| {
        state.readings.iter().rev().find_map(|it| match &it.reading {
            Reading::Verdict(verdict) if is_swapped(it) == swapped => {
                Some((it.participant.as_str(), verdict))
            }
            _ => None,
        })
    };
    let (judge, first) = last(false)?;
    Some(Verdicts { judge, first, swapped: last(true).map(|it| it.1) })
}

fn winner(verdict: &Verdict) -> Option<&str> {
    verdict.winner.as_ref().map(|it| it.participant.as_str())
}

fn is_swapped(heard: &Heard) -> bool {
    let step = heard.step.as_ref().map(|step| step.as_str()).unwrap_or_default();
    step.split('/').skip(3).any(|purpose| purpose == SWAPPED)
}
