//! The outcome of the judging of a debate: which judgements count, and how often a judgement
//! changed with the order.

use quorum_core::{
    model::{
        event::TalkEnd,
        flips::rounded,
        lifecycle::Lifecycle,
        participant::Participant,
        ruling::RulingAwaited,
        state::{RecordedReading, State},
    },
    registry::Detection,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::debate::{
    Assessment, Cast, DebateSpec, JudgeChange, JudgeLoss, Judging, Verdict, assessment_reader::ASSESSMENT,
    casting::CAST, verdict_reader::VERDICT,
};

/// The kind of a judge change in the record.
pub(crate) const JUDGE_CHANGE: &str = "judge-change";

/// The kind of a detector's finding in the record.
pub(crate) const DETECTION: &str = "detection";

/// The last part of a step that repeats a judgement in the swapped order.
pub(crate) const SWAPPED: &str = "swapped";

/// The last part of the step that draws the order for an assessment.
pub(crate) const ORDER: &str = "order";

/// The last part of the step that draws the order for a verdict.
pub(crate) const VERDICT_ORDER: &str = "verdict-order";

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The cast, if positions were assigned.
pub(crate) fn cast(state: &State) -> Option<Cast> {
    state.noted(CAST).last()
}

/// All findings of the detectors.
pub(crate) fn detections(state: &State) -> Vec<Detection> {
    state.noted(DETECTION).collect()
}

/// The judging of a debate, round by round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgingReport {
    /// The valid assessments.
    pub rounds: Vec<JudgedRound>,
    /// Rounds without one: there was no judge, no readable reply, or the two orders contradicted
    /// each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unassessed_rounds: Vec<u32>,
    /// The number of judgements made in both orders.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub swap_checked: u32,
    /// How many of them contradicted each other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flipped: u32,
    /// Their share, if any were made in both orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flip_rate: Option<f64>,
    /// Every change of the judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judge_changes: Vec<JudgeChange>,
    /// The awaited ruling on the judge's seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaits: Option<RulingAwaited>,
    /// Why the debate ended before its last round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TalkEnd>,
}

/// A valid assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgedRound {
    /// The round's number.
    pub round: u32,
    /// The judge's name.
    pub judge: String,
    /// The assessment.
    #[serde(flatten)]
    pub assessment: Assessment,
}

impl JudgingReport {
    /// The judging of this discussion; `None` if there is nothing to report.
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
            judge_changes: state.noted(JUDGE_CHANGE).collect(),
            awaits: state.ruling.clone(),
            ended: state.ended.clone(),
        };
        (report != JudgingReport::default()).then_some(report)
    }
}

/// The judge's verdict. If it was asked for in both orders, a winner must win in both.
#[must_use]
pub(crate) fn verdict(state: &State) -> Option<Verdict> {
    let verdicts = verdicts(state)?;
    let confirmed = !is_checked(state, verdicts.judge) || verdicts.agree();
    let winner = verdicts.first.winner.clone().filter(|_| confirmed);
    Some(Verdict { winner, ..verdicts.first.clone() })
}

/// One judge's assessments of one round, in both orders.
struct Judged<'s> {
    round: u32,
    judge: &'s str,
    first: Option<Assessment>,
    swapped: Option<Assessment>,
    checked: bool,
}

impl Judged<'_> {
    fn counted(&self) -> Option<JudgedRound> {
        let assessment = match (self.checked, &self.first, &self.swapped) {
            (false, Some(first), _) => first.clone(),
            (true, Some(first), Some(swapped)) => first.confirmed_by(swapped)?,
            (_, None, _) | (true, _, None) => return None,
        };
        Some(JudgedRound { round: self.round, judge: self.judge.to_owned(), assessment })
    }

    fn flips(&self) -> Option<bool> {
        Some(self.first.as_ref()?.contradicts(self.swapped.as_ref()?))
    }
}

fn judged(state: &State) -> Vec<Judged<'_>> {
    let mut judged: Vec<Judged<'_>> = Vec::new();
    for heard in &state.readings {
        let Some(assessment) = heard.reading.read::<Assessment>(ASSESSMENT) else { continue };
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

/// What makes a debate incomplete: rounds that should have been judged and have no valid
/// assessment, and a missing verdict.
pub(crate) fn lacks(state: &State) -> Map<String, Value> {
    let rounds = unassessed_rounds(state);
    let unassessed = (!rounds.is_empty()).then(|| ("unassessedRounds".to_owned(), json!(rounds)));
    let unjudged = missing_verdict(state).map(|why| ("missingVerdict".to_owned(), json!(why)));
    unassessed.into_iter().chain(unjudged).collect()
}

/// Why a debate that is over has no verdict; `None` if it has one, or nobody spoke.
pub(crate) fn missing_verdict(state: &State) -> Option<String> {
    let over = matches!(state.lifecycle, Lifecycle::Completing | Lifecycle::Completed);
    if !over || state.turns.is_empty() || verdicts(state).is_some() {
        return None;
    }
    let change: Option<JudgeChange> = state.noted(JUDGE_CHANGE).last();
    Some(match change {
        Some(JudgeChange { from, to: None, why: JudgeLoss::Unread, .. }) => {
            format!("the reply of {from} could not be read")
        }
        Some(JudgeChange { from, to: None, why: JudgeLoss::Failed, .. }) => format!("{from} failed"),
        Some(_) | None => "the debate ended before it".to_owned(),
    })
}

/// What readers should know about the judging, in sentences.
pub(crate) fn remarks(state: &State) -> Vec<String> {
    let unjudged = missing_verdict(state).map(|why| format!("There is no verdict: {why}."));
    unjudged.into_iter().collect()
}

fn unassessed_rounds(state: &State) -> Vec<u32> {
    let rounds: Vec<JudgedRound> = judged(state).iter().filter_map(Judged::counted).collect();
    unassessed(state, &rounds)
}

fn unassessed(state: &State, rounds: &[JudgedRound]) -> Vec<u32> {
    let judged = DebateSpec::of(&state.spec).judging == Judging::EveryRound;
    let over = state.rounds.iter().filter(|span| judged && span.to_ms.is_some()).map(|span| span.round);
    over.filter(|round| !rounds.iter().any(|it| it.round == *round)).collect()
}

/// Whether judgements by this judge are made in both orders. A person sees names, so no order can
/// bias it, and is asked once.
fn is_checked(state: &State, judge: &str) -> bool {
    DebateSpec::of(&state.spec).swap_check && !state.spec.seat(judge).is_some_and(Participant::is_person)
}

struct Verdicts<'s> {
    judge: &'s str,
    first: Verdict,
    swapped: Option<Verdict>,
}

impl Verdicts<'_> {
    fn agree(&self) -> bool {
        self.swapped.as_ref().is_some_and(|swapped| winner(&self.first) == winner(swapped))
    }

    /// Two different winners are a contradiction. A winner and none aren't, but then nobody has
    /// won.
    fn flips(&self) -> Option<bool> {
        let swapped = self.swapped.as_ref()?;
        let both = winner(&self.first).zip(winner(swapped));
        Some(both.is_some_and(|(one, other)| one != other))
    }
}

fn verdicts(state: &State) -> Option<Verdicts<'_>> {
    let lost: Vec<JudgeChange> = state.noted(JUDGE_CHANGE).collect();
    let of = |judge: Option<&str>, swapped: bool| {
        state.readings.iter().rev().filter(|it| is_swapped(it) == swapped).find_map(|it| {
            let name = it.participant.as_str();
            // A judge that could not be read in the other order has given no verdict.
            let counts = judge.is_none_or(|it| it == name) && !lost.iter().any(|it| it.from == name);
            let verdict: Verdict = counts.then(|| it.reading.read(VERDICT)).flatten()?;
            Some((name, verdict))
        })
    };
    let (judge, first) = of(None, false)?;
    Some(Verdicts { judge, first, swapped: of(Some(judge), true).map(|it| it.1) })
}

fn winner(verdict: &Verdict) -> Option<&str> {
    verdict.winner.as_ref().map(|it| it.participant.as_str())
}

fn is_swapped(heard: &RecordedReading) -> bool {
    let step = heard.step.as_ref().map(|step| step.as_str()).unwrap_or_default();
    step.split('/').skip(3).any(|purpose| purpose == SWAPPED)
}
