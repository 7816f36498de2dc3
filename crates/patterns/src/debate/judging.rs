//! The outcome of the judging of a debate: which judgements count, and how often a judgement
//! changed with the order.

use quorum_core::{
    model::{
        event::TalkEnd,
        flips::rounded,
        participant::Participant,
        ruling::RulingAwaited,
        state::{RecordedReading, State},
    },
    registry::Detection,
    vocabulary::view::Cell,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::debate::{
    Assessment, Cast, DebateSpec, JudgeChange, Judging, Rated, assessment_reader::ASSESSMENT, casting::CAST,
    median, verdict_report,
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
    /// The valid assessments; of several judges, their median.
    pub rounds: Vec<JudgedRound>,
    /// Rounds without one: there was no judge, no readable reply, or the two orders contradicted
    /// each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unassessed_rounds: Vec<u32>,
    /// Rounds in which the marks of a judge changed with the order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flipped_rounds: Vec<u32>,
    /// The number of judgements made in both orders.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub swap_checked: u32,
    /// How many of them contradicted each other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flipped: u32,
    /// Their share, if any were made in both orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flip_rate: Option<f64>,
    /// The marks of each judge, where several judged a round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub panel: Vec<PanelMark>,
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
    /// The judge's name; several are listed.
    pub judge: String,
    /// The assessment.
    #[serde(flatten)]
    pub assessment: Assessment,
}

/// What several judges gave one debater for one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelMark {
    /// The round's number.
    pub round: u32,
    /// The debater.
    pub participant: String,
    /// The mark of each judge, in words: `cyd 8, dan 7`.
    pub marks: String,
    /// The median, which counts.
    pub median: f64,
    /// The difference between the best and the worst.
    pub spread: f64,
}

impl JudgingReport {
    /// The judging of this discussion; `None` if there is nothing to report.
    #[must_use]
    pub fn of(state: &State) -> Option<JudgingReport> {
        let judged = judged(state);
        let rounds = judged_rounds(&judged);
        let verdicts = verdict_report::verdicts(state);
        let pairs = judged
            .iter()
            .filter_map(Judged::flips)
            .chain(verdicts.iter().filter_map(verdict_report::Given::flips));
        let pairs: Vec<bool> = pairs.collect();
        let (swap_checked, flipped) = (pairs.len() as u32, pairs.iter().filter(|it| **it).count() as u32);
        let mut flipped_rounds: Vec<u32> = flipped_marks(state).into_iter().map(|it| it.1).collect();
        flipped_rounds.dedup();
        let report = JudgingReport {
            unassessed_rounds: unassessed(state, &rounds),
            rounds,
            flipped_rounds,
            swap_checked,
            flipped,
            flip_rate: (0 < swap_checked).then(|| rounded(f64::from(flipped) / f64::from(swap_checked))),
            panel: panel(&judged),
            judge_changes: state.noted(JUDGE_CHANGE).collect(),
            awaits: state.ruling.clone(),
            ended: state.ended.clone(),
        };
        (report != JudgingReport::default()).then_some(report)
    }
}

/// The judge and the round of every assessment whose marks changed with the order, by round.
pub(super) fn flipped_marks(state: &State) -> Vec<(String, u32)> {
    let flipped = judged(state).into_iter().filter(|it| it.flips() == Some(true));
    let mut flipped: Vec<(String, u32)> = flipped.map(|it| (it.judge.to_owned(), it.round)).collect();
    flipped.sort_by_key(|it| it.1);
    flipped
}

/// One judge's assessments of one round, in both orders.
pub(super) struct Judged<'s> {
    round: u32,
    pub(super) judge: &'s str,
    first: Option<Assessment>,
    swapped: Option<Assessment>,
    checked: bool,
}

impl Judged<'_> {
    /// The assessment with its marks, unless they changed with the order.
    pub(super) fn counted(&self) -> Option<Assessment> {
        match (self.checked, &self.first, &self.swapped) {
            (false, Some(first), _) => Some(first.clone()),
            (true, Some(first), Some(swapped)) => {
                (!first.contradicts(swapped)).then(|| first.in_both_orders(swapped))
            }
            (_, None, _) | (true, _, None) => None,
        }
    }

    fn flips(&self) -> Option<bool> {
        Some(self.first.as_ref()?.contradicts(self.swapped.as_ref()?))
    }
}

pub(super) fn judged(state: &State) -> Vec<Judged<'_>> {
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
    let seat = |name: &str| state.spec.participants.iter().position(|it| it.name == name);
    judged.sort_by_key(|it| (it.round, seat(it.judge)));
    judged
}

/// The rounds with valid marks.
fn judged_rounds(judged: &[Judged<'_>]) -> Vec<JudgedRound> {
    let by_round = judged.chunk_by(|one, other| one.round == other.round);
    let rounds = by_round.filter_map(|of_round| {
        let counted: Vec<(&str, Assessment)> =
            of_round.iter().filter_map(|it| Some((it.judge, it.counted()?))).collect();
        let all: Vec<(&str, &Assessment)> = counted.iter().map(|(judge, it)| (*judge, it)).collect();
        let judge = all.iter().map(|it| it.0).collect::<Vec<_>>().join(", ");
        Some(JudgedRound { round: of_round[0].round, judge, assessment: median::assessment(&all)? })
    });
    rounds.collect()
}

/// The marks of each judge, where several judged a round.
fn panel(judged: &[Judged<'_>]) -> Vec<PanelMark> {
    let by_round = judged.chunk_by(|one, other| one.round == other.round);
    let rounds = by_round.flat_map(|of_round| {
        let counted: Vec<(&str, Assessment)> =
            of_round.iter().filter_map(|it| Some((it.judge, it.counted()?))).collect();
        let mut names: Vec<String> = Vec::new();
        for rated in counted.iter().flat_map(|it| &it.1.assessments) {
            if !names.contains(&rated.participant) {
                names.push(rated.participant.clone());
            }
        }
        let several = 1 < counted.len();
        let rows = names.into_iter().filter(|_| several);
        rows.filter_map(|name| panel_mark(of_round[0].round, name, &counted)).collect::<Vec<_>>()
    });
    rounds.collect()
}

fn panel_mark(round: u32, participant: String, counted: &[(&str, Assessment)]) -> Option<PanelMark> {
    let of_one = |it: &Rated| (it.participant == participant).then_some(it.score);
    let marks: Vec<(&str, f64)> = counted
        .iter()
        .filter_map(|(judge, it)| Some((*judge, it.assessments.iter().find_map(of_one)?)))
        .collect();
    let scores = || marks.iter().map(|it| it.1);
    let spread = scores().reduce(f64::max)? - scores().reduce(f64::min)?;
    let median = median::median(scores())?;
    let told = marks.iter().map(|(judge, score)| format!("{judge} {}", decimal(*score)));
    let marks = told.collect::<Vec<_>>().join(", ");
    Some(PanelMark { round, participant, marks, median, spread: rounded(spread) })
}

/// A number for people, with at most two decimals.
pub(super) fn decimal(number: f64) -> String {
    Cell::Number.write(Some(&number.into()))
}

/// What makes a debate incomplete: rounds that should have been judged and have no valid
/// assessment, and a missing verdict.
pub(crate) fn lacks(state: &State) -> Map<String, Value> {
    let rounds = unassessed(state, &judged_rounds(&judged(state)));
    let unassessed = (!rounds.is_empty()).then(|| ("unassessedRounds".to_owned(), json!(rounds)));
    let unjudged =
        verdict_report::missing_verdict(state).map(|why| ("missingVerdict".to_owned(), json!(why)));
    unassessed.into_iter().chain(unjudged).collect()
}

fn unassessed(state: &State, rounds: &[JudgedRound]) -> Vec<u32> {
    let judged = DebateSpec::of(&state.spec).judging == Judging::EveryRound;
    let over = state.rounds.iter().filter(|span| judged && span.to_ms.is_some()).map(|span| span.round);
    over.filter(|round| !rounds.iter().any(|it| it.round == *round)).collect()
}

/// Whether judgements by this judge are made in both orders. A person sees names, so the order
/// makes no difference, and is asked only once.
pub(super) fn is_checked(state: &State, judge: &str) -> bool {
    DebateSpec::of(&state.spec).swap_check && !state.spec.seat(judge).is_some_and(Participant::is_person)
}

pub(super) fn is_swapped(heard: &RecordedReading) -> bool {
    let step = heard.step.as_ref().map(|step| step.as_str()).unwrap_or_default();
    step.split('/').skip(3).any(|purpose| purpose == SWAPPED)
}
