//! What happens, as lines for stderr while it happens. Append-only; nothing moves.

use quorum::{
    Signal,
    model::{
        command::Command,
        debate::{CastOrigin, Detection, EndedBy, JudgeChange, TalkEnd},
        error::ErrorClass,
        event::{Abandoned, Absent, Check, Event, Fact, FailedTurn, Placed, SubConcluded, WindUp},
        id::DiscussionId,
        lifecycle::Lifecycle,
        transcript::Turn,
    },
    text::{count, line, time},
};

use crate::render::wording::advice;

/// How much of a sub-discussion's topic is shown.
const TOPIC: usize = 80;

/// The line for a signal of this discussion, if it is worth one.
pub(crate) fn of_signal(root: DiscussionId, signal: &Signal) -> Option<String> {
    match signal {
        Signal::Fact { discussion, fact } => {
            let line = of_fact(*discussion, fact)?;
            let below = || format!("    {}: {}", short(*discussion), line.trim_start());
            Some(if *discussion == root { line.clone() } else { below() })
        }
        Signal::Piece(_) => None,
        Signal::Trouble(message) => Some(format!(
            "The record can't be written at the moment: {message}. Nothing is lost; trying again."
        )),
    }
}

/// Enough of an id to tell sub-discussions apart.
fn short(id: DiscussionId) -> String {
    let id = id.to_string();
    id[id.len() - 4..].to_owned()
}

fn of_fact(discussion: DiscussionId, fact: &Fact) -> Option<String> {
    match &fact.event {
        Event::PanelSeated { absent, .. } => away(absent),
        Event::PhaseEntered { phase, round } => Some(format!("Round {round}, {}", phase.replace('-', " "))),
        Event::CallPlaced(placed) => Some(asked(placed)),
        Event::CallFailed { participant, class, message, retry_in_ms, .. } => {
            retry_in_ms.map(|wait| stumbled(participant, *class, message, wait))
        }
        Event::CallAbandoned { participant, why, .. } => Some(left(participant, *why)),
        Event::TurnCompleted { turn } => Some(answered(turn)),
        Event::TurnFailed(failed) => Some(dropped_out(failed)),
        Event::SubRequested { turn, topic } => {
            let step = fact.step.as_ref().unwrap_or(&turn.step);
            let child = short(discussion.derived(step.as_str()));
            Some(format!("  {} convenes a sub-discussion, {child}: {}", turn.participant, line(topic, TOPIC)))
        }
        Event::WindowTight(tight) => {
            Some(format!("  what was said takes {} % of {}'s window", tight.percent, tight.participant))
        }
        Event::Summarised(summary) => Some(format!("  the first {} turns are summed up", summary.covers)),
        Event::SubConcluded(end) => Some(came_back(end)),
        Event::ConsensusChecked(check) => Some(checked(check)),
        Event::PartsCast(cast) => Some(cast_by(cast.origin, cast.by.as_deref())),
        Event::Compared(comparison) => comparison
            .problem
            .as_ref()
            .map(|it| format!("  {} did not compare, so words have to do: {it}", comparison.model)),
        Event::Detected(found) => Some(noticed(found)),
        Event::JudgeAwaited(vacancy) => {
            Some(format!("  {} can't judge: {}", vacancy.lost, line(&vacancy.reason, TOPIC)))
        }
        Event::JudgeChanged(change) => Some(judge_changed(change)),
        Event::TalkEnded(end) => Some(talk_ended(end)),
        Event::CommandTaken { command: Command::Say(_) | Command::Judge(_), .. } => None,
        Event::CommandTaken { command, .. } => Some(format!("Asked to {command}.")),
        Event::WoundUp { reason } => Some(wound_up(reason)),
        Event::LifecycleChanged { to: Lifecycle::Completing, .. } => Some("Deciding".to_owned()),
        Event::Retried => Some("Trying again after an error.".to_owned()),
        Event::Opened { .. }
        | Event::LifecycleChanged { .. }
        | Event::RoundOpened { .. }
        | Event::RoundClosed { .. }
        | Event::GroupClosed { .. }
        | Event::ReplyRead { .. }
        | Event::OrderDrawn { .. }
        | Event::PersonAwaited(_)
        | Event::Decided { .. }
        | Event::Concluded(_)
        | Event::Failed { .. }
        | Event::Unknown => None,
    }
}

fn away(absent: &[Absent]) -> Option<String> {
    let lines: Vec<String> = absent
        .iter()
        .map(|it| format!("{} is not available: {} ({})", it.participant, it.message, advice(it.class)))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn asked(placed: &Placed) -> String {
    match placed {
        Placed { participant, repeats: true, .. } => {
            format!("  {participant} is asked again; the earlier call was cut off")
        }
        Placed { participant, attempt: 1, .. } => format!("  {participant} is asked"),
        Placed { participant, attempt, .. } => format!("  {participant} is asked again (attempt {attempt})"),
    }
}

fn answered(turn: &Turn) -> String {
    if turn.reused {
        return format!("  {} said the same before; nobody is asked", turn.participant);
    }
    // People are not counted in tokens.
    if turn.bill.usage.completion == 0 {
        return format!("  {} spoke", turn.participant);
    }
    let tokens = count(turn.bill.usage.completion, "token");
    format!("  {} answered in {}, {tokens}", turn.participant, time(turn.duration_ms))
}

fn stumbled(participant: &str, class: ErrorClass, message: &str, wait: u64) -> String {
    format!("  {participant} failed ({}): {message}; again in {}", class.name(), time(wait))
}

fn dropped_out(failed: &FailedTurn) -> String {
    let FailedTurn { participant, message, class, attempts, .. } = failed;
    let attempts = count(u64::from(*attempts), "attempt");
    format!("  {participant} failed for good after {attempts}: {message} ({})", advice(*class))
}

fn left(participant: &str, why: Abandoned) -> String {
    let why = match why {
        Abandoned::Enough => "there was enough without it",
        Abandoned::Deadline => "the time was up",
        Abandoned::Aborted => "the discussion was aborted",
        Abandoned::Crashed => "the process had ended",
    };
    format!("  {participant} is not waited for: {why}")
}

fn came_back(end: &SubConcluded) -> String {
    let how = end.problem.as_ref().map_or("has its answer".to_owned(), |it| format!("ended: {}", it.message));
    let which = end.child.map(|id| format!(" {}", short(id))).unwrap_or_default();
    format!("  the sub-discussion{which} for {} {how}", end.participant)
}

fn checked(check: &Check) -> String {
    if check.skipped {
        return "  Too early to ask for consensus".to_owned();
    }
    let votes: Vec<String> = check
        .votes
        .iter()
        .map(|(who, vote)| format!("{who} {}", if vote.agrees { "yes" } else { "no" }))
        .collect();
    let result = if check.agreed { "reached" } else { "not yet" };
    format!("  Consensus: {result} ({})", votes.join(", "))
}

fn cast_by(origin: CastOrigin, by: Option<&str>) -> String {
    match (origin, by) {
        (CastOrigin::Given, _) => "  Everyone argues what was given to them".to_owned(),
        (CastOrigin::Assigned, Some(by)) => format!("  {by} gave out the positions"),
        (CastOrigin::Assigned, None) => "  The positions are given out".to_owned(),
        (CastOrigin::Fallback, _) => "  No model could give out positions, so they are plain ones".to_owned(),
    }
}

fn noticed(found: &Detection) -> String {
    let Detection { detector, measure, value, participant, .. } = found;
    let who = participant.as_ref().map(|it| format!(" of {it}")).unwrap_or_default();
    format!("  Noticed {}{who} ({measure} {value:.2})", detector.replace('-', " "))
}

fn judge_changed(change: &JudgeChange) -> String {
    match &change.to {
        Some(to) => format!("  {} can't judge; {to} judges from now on", change.from),
        None => format!("  {} can't judge; nobody judges from now on", change.from),
    }
}

fn talk_ended(end: &TalkEnd) -> String {
    let why = match (end.why, &end.detector) {
        (EndedBy::Judge, _) => "the judge has heard enough".to_owned(),
        (EndedBy::Convergence, _) => "the judge finds that they have met".to_owned(),
        (EndedBy::DiminishingReturns, _) => "the judge finds that nothing new comes".to_owned(),
        (EndedBy::Detector, Some(detector)) => format!("{} was noticed", detector.replace('-', " ")),
        (EndedBy::Detector, None) => "a detector noticed enough".to_owned(),
        (EndedBy::JudgeLost, _) => "the judge failed".to_owned(),
        (EndedBy::TooFewDebaters, _) => "fewer than two debaters are left".to_owned(),
    };
    format!("The debate ends after round {}: {why}.", end.round)
}

fn wound_up(reason: &WindUp) -> String {
    let why = match reason {
        WindUp::Stopped => "someone asked for the conclusion".to_owned(),
        WindUp::CallBudget => "the budget of calls is used up".to_owned(),
        WindUp::TokenBudget => "the budget of tokens is used up".to_owned(),
        WindUp::CostBudget => "the budget of money is used up".to_owned(),
        WindUp::Deadline => "the time is used up".to_owned(),
        WindUp::TooFew { left, needed } => format!("{left} of the {needed} providers needed are left"),
        WindUp::ProviderFailed { participant, .. } => format!("{participant} failed, and nobody may"),
        WindUp::WindowFull { participant } => format!("it no longer fits {participant}'s window"),
    };
    format!("The talk ends here: {why}.")
}
