//! The verdict in a result: of all judges, with what contradicts their own marks, or why there is
//! none.

use quorum_core::model::{flips::rounded, lifecycle::Lifecycle, state::State};
use serde::{Deserialize, Serialize};

use crate::debate::{
    Assessment, JudgeChange, JudgeLoss, Rated, Verdict,
    assessment::LEVEL,
    judging::{JUDGE_CHANGE, Judged, is_checked, is_swapped, judged},
    median,
    verdict_reader::VERDICT,
};

/// The verdict in a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictReport {
    /// The verdict; of several judges, combined.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The winner that each of several judges names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub winners: Vec<JudgesWinner>,
    /// Verdicts that contradict the judge's own marks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against_marks: Vec<AgainstMarks>,
}

/// The winner that one judge names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgesWinner {
    /// The judge.
    pub judge: String,
    /// The winner; absent if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
}

/// A verdict for a debater whose marks by the same judge are clearly lower than another's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgainstMarks {
    /// The judge.
    pub judge: String,
    /// The winner that it names.
    pub winner: String,
    /// The winner's mean mark.
    pub marks: f64,
    /// The debater with the best marks.
    pub best: String,
    /// That debater's mean mark.
    pub best_marks: f64,
}

/// The verdict of all judges. If it was asked for in both orders, a winner must win in both.
#[must_use]
pub(crate) fn verdict(state: &State) -> Option<VerdictReport> {
    let given = verdicts(state);
    let by: Vec<(&str, Verdict)> = given.iter().map(|it| (it.judge, it.confirmed())).collect();
    let winners = by.iter().map(|(judge, verdict)| JudgesWinner {
        judge: (*judge).to_owned(),
        winner: winner(verdict).map(str::to_owned),
    });
    let winners = if 1 < by.len() { winners.collect() } else { Vec::new() };
    let judged = judged(state);
    let against_marks = by.iter().filter_map(|(judge, verdict)| against_marks(judge, verdict, &judged));
    let against_marks = against_marks.collect();
    median::verdict(&by).map(|verdict| VerdictReport { verdict, winners, against_marks })
}

/// Whether a judge named one winner in one order and another in the other.
pub(super) fn is_winner_flipped(state: &State) -> bool {
    verdicts(state).iter().any(|it| it.flips() == Some(true))
}

/// Why a debate that is over has no verdict; `None` if it has one, or nobody spoke.
pub(super) fn missing_verdict(state: &State) -> Option<String> {
    let over = matches!(state.lifecycle, Lifecycle::Completing | Lifecycle::Completed);
    if !over || state.turns.is_empty() || !verdicts(state).is_empty() {
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

/// A verdict for a debater that its judge has clearly marked lower than another.
fn against_marks(judge: &str, verdict: &Verdict, judged: &[Judged<'_>]) -> Option<AgainstMarks> {
    let counted: Vec<Assessment> =
        judged.iter().filter(|it| it.judge == judge).filter_map(Judged::counted).collect();
    let mean = |name: &str| {
        let of_one = |it: &&Rated| it.participant == name;
        let marks = counted.iter().flat_map(|it| it.assessments.iter().filter(of_one));
        let marks: Vec<f64> = marks.map(|it| it.score).collect();
        (!marks.is_empty()).then(|| rounded(marks.iter().sum::<f64>() / marks.len() as f64))
    };
    let winner = winner(verdict)?;
    let marks = mean(winner)?;
    let names = counted.iter().flat_map(|it| it.assessments.iter().map(|it| it.participant.as_str()));
    let best =
        names.filter_map(|name| Some((name, mean(name)?))).max_by(|one, other| one.1.total_cmp(&other.1))?;
    (LEVEL <= best.1 - marks).then(|| AgainstMarks {
        judge: judge.to_owned(),
        winner: winner.to_owned(),
        marks,
        best: best.0.to_owned(),
        best_marks: best.1,
    })
}

/// One judge's verdict, in both orders.
pub(super) struct Given<'s> {
    judge: &'s str,
    first: Verdict,
    swapped: Option<Verdict>,
    checked: bool,
}

impl Given<'_> {
    /// The verdict; a winner must win in every order asked for.
    fn confirmed(&self) -> Verdict {
        let agrees = self.swapped.as_ref().is_some_and(|swapped| winner(&self.first) == winner(swapped));
        let winner = self.first.winner.clone().filter(|_| !self.checked || agrees);
        Verdict { winner, ..self.first.clone() }
    }

    /// Two different winners are a contradiction. A winner and none aren't, but then nobody has
    /// won.
    pub(super) fn flips(&self) -> Option<bool> {
        let swapped = self.swapped.as_ref()?;
        let both = winner(&self.first).zip(winner(swapped));
        Some(both.is_some_and(|(one, other)| one != other))
    }
}

/// The verdicts that count, in seating order. A judge that could not be read in the other order has
/// given none.
pub(super) fn verdicts(state: &State) -> Vec<Given<'_>> {
    let lost: Vec<JudgeChange> = state.noted(JUDGE_CHANGE).collect();
    let of = |judge: &str, swapped: bool| {
        let mut read = state.readings.iter().rev().filter(|it| it.participant == judge);
        read.find_map(|it| it.reading.read::<Verdict>(VERDICT).filter(|_| is_swapped(it) == swapped))
    };
    let seats = state.spec.participants.iter().map(|it| it.name.as_str());
    let judges = seats.filter(|name| !lost.iter().any(|it| it.from == *name));
    let given = judges.filter_map(|judge| {
        let (swapped, checked) = (of(judge, true), is_checked(state, judge));
        Some(Given { judge, first: of(judge, false)?, swapped, checked })
    });
    given.collect()
}

fn winner(verdict: &Verdict) -> Option<&str> {
    verdict.winner.as_ref().map(|it| it.participant.as_str())
}
