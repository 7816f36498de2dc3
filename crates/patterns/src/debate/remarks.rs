//! What readers of a result should know about the judging, in sentences.

use quorum_core::model::state::State;

use crate::{
    debate::{
        AgainstMarks, JudgingReport, VerdictReport,
        judging::{decimal, flipped_marks},
        verdict_report::{self, is_winner_flipped, missing_verdict},
    },
    prompts::listed,
    roles,
};

/// All remarks, the most important first.
pub(crate) fn remarks(state: &State) -> Vec<String> {
    let verdict = verdict_report::verdict(state);
    let unjudged = missing_verdict(state).map(|why| format!("There is no verdict: {why}."));
    let against = verdict.iter().flat_map(|it| it.against_marks.iter().map(against_marks));
    let flipped = is_winner_flipped(state).then(|| {
        "The winner changed with the order in which the debaters were shown, so there is none.".to_owned()
    });
    let report = JudgingReport::of(state);
    let sided = report.iter().flat_map(|it| judged_with_a_side(state, it));
    let disagreement = report.as_ref().and_then(disagreement);
    let winners = verdict.as_ref().and_then(winners);
    unjudged
        .into_iter()
        .chain(against)
        .chain(flips(state))
        .chain(flipped)
        .chain(sided)
        .chain(disagreement)
        .chain(winners)
        .collect()
}

/// The debaters that judged because no participant without a side was left.
fn judged_with_a_side(state: &State, report: &JudgingReport) -> Vec<String> {
    let is_debater = |name: &str| state.spec.seat(name).is_some_and(roles::is_debater);
    let changes = report.judge_changes.iter();
    let changes = changes.filter_map(|it| Some((it, it.to.as_deref().filter(|to| is_debater(to))?)));
    let told = changes.map(|(change, to)| {
        format!(
            "From round {} on, {to} judged in place of {}, although it argues for a side; whose speeches were whose was \
             hidden from it.",
            change.round, change.from
        )
    });
    told.collect()
}

fn against_marks(found: &AgainstMarks) -> String {
    let AgainstMarks { judge, winner, marks, best, best_marks } = found;
    let (marks, best_marks) = (decimal(*marks), decimal(*best_marks));
    format!(
        "The verdict of {judge} is for {winner}, but its own marks are on average {best_marks} for {best} and {marks} \
         for {winner}."
    )
}

/// The rounds whose marks changed with the order, for each judge.
fn flips(state: &State) -> Vec<String> {
    let flipped = flipped_marks(state);
    let mut judges: Vec<&str> = flipped.iter().map(|it| it.0.as_str()).collect();
    judges.sort_unstable();
    judges.dedup();
    let several = 1 < state.spec.participants.iter().filter(|it| it.role == crate::roles::JUDGE).count();
    let told = judges.into_iter().map(|judge| {
        let rounds: Vec<String> =
            flipped.iter().filter(|it| it.0 == judge).map(|it| it.1.to_string()).collect();
        let by = if several { format!(" by {judge}") } else { String::new() };
        let rounds = format!("{} {}", if rounds.len() == 1 { "round" } else { "rounds" }, listed(&rounds));
        format!(
            "The marks{by} of {rounds} changed with the order in which the debaters were shown, so they do not count."
        )
    });
    told.collect()
}

fn disagreement(report: &JudgingReport) -> Option<String> {
    let widest = report.panel.iter().map(|it| it.spread).reduce(f64::max).filter(|it| 0.0 < *it)?;
    Some(format!("The judges disagree by up to {} of 10 points.", decimal(widest)))
}

fn winners(report: &VerdictReport) -> Option<String> {
    let mut named: Vec<Option<&str>> = Vec::new();
    for winner in report.winners.iter().map(|it| it.winner.as_deref()) {
        if !named.contains(&winner) {
            named.push(winner);
        }
    }
    let told = named.iter().map(|name| {
        let by = report.winners.iter().filter(|it| it.winner.as_deref() == *name);
        let by: Vec<&str> = by.map(|it| it.judge.as_str()).collect();
        format!("{} by {}", name.unwrap_or("nobody"), listed(&by))
    });
    let told: Vec<String> = told.collect();
    (1 < told.len()).then(|| format!("The judges name different winners: {}.", told.join(", ")))
}
