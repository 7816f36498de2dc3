//! The conclusion of a discussion: whether it succeeded, why it ended, and whether it is degraded.

use std::{collections::BTreeSet, fmt::Display};

use crate::{
    floor::Floor,
    model::{
        error::{Code, ErrorClass, Problem},
        event::{Conclusion, FailedTurn, WindUp},
        flips,
        outcome::{Decision, Dissent, Standing, StoppingReason},
        phase::DECIDING,
        reading::Source,
        state::{RecordedReading, State},
        time::iso,
        transcript::Turn,
    },
    registry::{ErrorOnLoss, Pattern},
};

pub(crate) fn nothing_said(floor: &Floor) -> bool {
    let state = &floor.record.state;
    state.turns.is_empty() && state.unused_findings().next().is_none()
}

/// The best recorded answer, for when no more calls can be made: the beginning of a synthesis that
/// was cut off, otherwise the last speech of the talk that the pattern counts as an answer,
/// otherwise the last turn of any kind. To a speech or turn, findings of sub-discussions are added
/// that no other turn has used.
pub(crate) fn best_answer(floor: &Floor) -> Decision {
    let state = &floor.record.state;
    if let Some(decision) = (floor.pattern.best)(state).or_else(|| beginning_of_answer(floor)) {
        return decision;
    }
    let speaks = |name: &str| state.spec.seat(name).is_some_and(|it| !it.aside);
    let is_talk = |turn: &&std::sync::Arc<Turn>| {
        turn.phase != DECIDING && speaks(&turn.participant) && !turn.text.trim().is_empty()
    };
    let answer = |turn: &std::sync::Arc<Turn>| (floor.pattern.answer_in)(turn, &state.shown(turn));
    let mut talk = state.turns.iter().rev().filter(is_talk);
    let answer = talk.find_map(|turn| Some((turn, answer(turn)?)));
    let last = answer.or_else(|| state.turns.last().map(|turn| (turn, state.shown(turn))));
    let (last, said) = last.unzip();
    let found = state.unused_findings().map(|(topic, text)| format!("{topic}\n\n{text}"));
    Decision {
        synthesis: said.into_iter().chain(found).collect::<Vec<_>>().join("\n\n"),
        stand_in: last.map(|turn| turn.participant.clone()),
        degraded: true,
        ..Decision::default()
    }
}

fn beginning_of_answer(floor: &Floor) -> Option<Decision> {
    let is_beginning = |it: &&RecordedReading| it.is_deciding() && it.source == Source::Begun;
    let begun = floor.record.state.readings.iter().rfind(is_beginning)?;
    Some(Decision {
        synthesis: begun.reading.reason().to_owned(),
        synthesizer: Some(begun.participant.clone()),
        degraded: true,
        ..Decision::default()
    })
}

/// The decision, completed from the record: how far the panel supports it, and who dissents
/// (INV-DISC-201). Votes that a method counted stand as counted.
pub(crate) fn completed(floor: &Floor, mut decision: Decision) -> Decision {
    let state = &floor.record.state;
    if decision.standing != Standing::default() {
        return decision;
    }
    decision.standing = (floor.pattern.standing)(state).unwrap_or_default();
    let last = flips::last_agreement(state);
    let agreement = decision.agreement.or(last.as_ref().map(|it| it.agreement));
    let mut dissent = last.map(|it| flips::dissent(state, &it)).unwrap_or_default();
    let is_new = |view: &Dissent| !dissent.iter().any(|it| it.participant == view.participant);
    let added: Vec<Dissent> = decision.dissent.into_iter().filter(is_new).collect();
    dissent.extend(added);
    Decision { agreement, dissent, ..decision }
}

/// The conclusion of the discussion.
pub(crate) fn conclusion(floor: &Floor, decision: &Decision) -> Conclusion {
    let state = &floor.record.state;
    let problem = problem(state, floor.pattern.error_on_loss, decision);
    let degraded = is_degraded(state, floor.pattern, decision);
    Conclusion { success: problem.is_none(), stopping: stopping(state, decision), degraded, problem }
}

/// Whether it ended because participants were lost, so that it isn't over: they may come back.
pub(crate) fn is_for_want_of_providers(floor: &Floor, end: &Conclusion) -> bool {
    end.problem.as_ref().is_some_and(|it| floor.record.state.is_due_to_losses(it))
}

pub(crate) fn aborted() -> Conclusion {
    let problem = Some(Problem::new(Code::Aborted, "a person aborted the discussion"));
    Conclusion { success: false, stopping: StoppingReason::USER_ABORT, degraded: true, problem }
}

fn problem(state: &State, error_on_loss: ErrorOnLoss, decision: &Decision) -> Option<Problem> {
    let of_wind_up = state.wound_up.as_ref().and_then(|reason| wind_up_problem(state, error_on_loss, reason));
    let problem = of_wind_up
        .or_else(|| no_answer_problem(state))
        .or_else(|| too_few_at_the_end(state))
        .or_else(|| too_few_spoke(state))
        .or_else(|| decision.problem.clone())
        .or_else(|| {
            let message =
                "no participant could write the synthesis; the best recorded answer is used instead";
            (decision.degraded && decision.problem.is_none())
                .then(|| Problem::new(Code::SynthesisFailed, message))
        })?;
    Some(state.weighed(&problem))
}

fn too_few_at_the_end(state: &State) -> Option<Problem> {
    let ended = state.lost_its_sides()?;
    let names: Vec<&str> = state.failures.iter().map(|it| it.participant.as_str()).collect();
    let message = format!("the talk ended after round {}, because it lost {}", ended.round, names.join(", "));
    Some(Problem::new(Code::InsufficientProviders, message))
}

fn wind_up_problem(state: &State, error_on_loss: ErrorOnLoss, reason: &WindUp) -> Option<Problem> {
    let limits = state.spec.limits;
    let problem = match reason {
        WindUp::Stopped => return None,
        WindUp::CallBudget { needed, left } => {
            let budget = counted(limits.calls.unwrap_or_default().into(), "call");
            Problem::new(Code::CallBudgetExceeded, used_up(&budget, needed, left))
        }
        WindUp::TokenBudget { needed, left } => {
            let budget = counted(limits.tokens.unwrap_or_default(), "token");
            Problem::new(Code::TokenBudgetExceeded, used_up(&budget, needed, left))
        }
        WindUp::CostBudget { needed, left } => {
            let budget = limits.usd.unwrap_or_default().to_string();
            Problem::new(Code::CostBudgetExceeded, used_up(&budget, needed, left))
        }
        WindUp::SpendingCap { needed, left, cap, period, renews_at } => {
            let short = short_of(needed, left);
            let (period, renews_at) = (period.name(), iso(*renews_at));
            let message =
                format!("the spending cap of {cap} a {period} is reached: {short}; it renews at {renews_at}");
            Problem::new(Code::CostBudgetExceeded, message)
        }
        WindUp::Deadline => {
            let message = format!("the time limit of {} ms is reached", state.spec.timing.total_ms);
            Problem::new(Code::DiscussionTimeout, message)
        }
        WindUp::TooFew { left: 0, .. } => return no_answer_problem(state),
        WindUp::TooFew { left, needed } => too_few_left(state, error_on_loss, *left, *needed),
        WindUp::ProviderFailed { participant, class } => {
            let code =
                if *class == ErrorClass::Timeout { Code::ProviderTimeout } else { Code::ProviderFailed };
            let message = format!(
                "{participant} failed ({}), and the discussion was set to stop on a failure",
                class.name()
            );
            Problem { participant: Some(participant.clone()), ..Problem::new(code, message) }
        }
        // A person wanted it to end here.
        WindUp::WindowFull { .. } if state.is_ended_by_ruling() => return None,
        WindUp::WindowFull { participant } => {
            let message = format!(
                "the talk no longer fits {participant}'s window, and the discussion was set to end then"
            );
            let overflow = [ErrorClass::ContextOverflow];
            let problem = Problem::of_losses(Code::ProviderFailed, message, overflow);
            Problem { participant: Some(participant.clone()), ..problem }
        }
    };
    Some(problem)
}

/// The shortage of a budget. `left` excludes the part kept for the decision.
fn used_up(budget: &str, needed: &dyn Display, left: &dyn Display) -> String {
    format!("the budget of {budget} is used up: {}", short_of(needed, left))
}

fn short_of(needed: &dyn Display, left: &dyn Display) -> String {
    format!("the next step would have needed up to {needed}, and {left} was left for it")
}

fn too_few_left(state: &State, error_on_loss: ErrorOnLoss, left: u32, needed: u32) -> Problem {
    let last: Option<&FailedTurn> = state.failures.last();
    let participant = last.map(|it| it.participant.clone());
    let round = last.map(|it| it.round);
    let problem = match (error_on_loss, last) {
        (ErrorOnLoss::TurnFailed, Some(failed)) => {
            let message = format!("{}'s turn failed: {}", failed.participant, failed.message);
            Problem::new(turn_code(failed.class), message)
        }
        (ErrorOnLoss::TooFewProviders, Some(failed)) if failed.class == ErrorClass::Timeout => {
            let name = &failed.participant;
            let message = format!("{name} timed out; {}", only_left(left, needed));
            Problem::new(Code::ProviderTimeout, message)
        }
        (ErrorOnLoss::TurnFailed | ErrorOnLoss::TooFewProviders, _) => {
            Problem::new(Code::InsufficientProviders, only_left(left, needed))
        }
    };
    Problem { participant, round, ..problem }
}

fn only_left(left: u32, needed: u32) -> String {
    let are = |number: u32| if number == 1 { "is" } else { "are" };
    let left = format!("only {} {} left", counted(left.into(), "provider"), are(left));
    format!("{left}, and {needed} {} needed", are(needed))
}

/// The number with its noun: `1 call`, `2 calls`.
fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// The code for a failed turn, by the class of its error.
fn turn_code(class: ErrorClass) -> Code {
    match class {
        ErrorClass::Timeout => Code::TurnTimeout,
        ErrorClass::Authentication | ErrorClass::Validation => Code::ProviderError,
        ErrorClass::Network
        | ErrorClass::RateLimit
        | ErrorClass::ApiError
        | ErrorClass::ContextOverflow
        | ErrorClass::InvalidResponse => Code::TurnFailed,
    }
}

fn no_answer_problem(state: &State) -> Option<Problem> {
    let message = || {
        let reasons: Vec<String> =
            state.failures.iter().map(|it| format!("{}: {}", it.participant, it.message)).collect();
        format!("no participant answered. {}", reasons.join("; "))
    };
    let all_failed = state.turns.is_empty() && !state.failures.is_empty();
    all_failed.then(|| Problem::new(Code::AllProvidersFailed, message()))
}

/// INV-DISC-010: enough participants must have taken part, however it ended.
fn too_few_spoke(state: &State) -> Option<Problem> {
    let spoke: BTreeSet<&str> = state.turns.iter().map(|turn| turn.participant.as_str()).collect();
    let (spoke, needed) = (spoke.len() as u32, state.spec.tolerance.min_providers);
    let stopped = state.wound_up.is_some();
    let message = format!("only {spoke} of the {needed} required providers took part");
    (spoke < needed && !stopped).then(|| Problem::new(Code::InsufficientProviders, message))
}

fn stopping(state: &State, decision: &Decision) -> StoppingReason {
    match &state.wound_up {
        Some(WindUp::Stopped) => StoppingReason::USER_STOP,
        Some(
            WindUp::CallBudget { .. }
            | WindUp::TokenBudget { .. }
            | WindUp::CostBudget { .. }
            | WindUp::SpendingCap { .. },
        ) => StoppingReason::BUDGET,
        Some(WindUp::Deadline) => StoppingReason::TIMEOUT,
        Some(WindUp::WindowFull { .. }) if state.is_ended_by_ruling() => StoppingReason::USER_STOP,
        Some(WindUp::TooFew { .. }) => StoppingReason::MODEL_UNAVAILABLE,
        Some(WindUp::ProviderFailed { .. } | WindUp::WindowFull { .. }) => StoppingReason::ERROR,
        None => ended(state, decision),
    }
}

/// The pattern's own ending is the stopping reason, unless the decision it was to lead to failed.
fn ended(state: &State, decision: &Decision) -> StoppingReason {
    match &state.ended {
        Some(end) if end.stopping != StoppingReason::COMPLETED && decision.problem.is_some() => {
            StoppingReason::ERROR
        }
        Some(end) => end.stopping.clone(),
        None => StoppingReason::COMPLETED,
    }
}

fn is_degraded(state: &State, pattern: &Pattern, decision: &Decision) -> bool {
    decision.degraded
        || state.wound_up.is_some()
        || !state.absent.is_empty()
        || !state.failures.is_empty()
        || !state.cut_views.is_empty()
        || !(pattern.lacks)(state).is_empty()
        || !state.unread.is_empty()
        || state.readings.iter().any(|it| matches!(it.source, Source::Inferred | Source::Assumed))
        || state.cut_short() > 0
}
