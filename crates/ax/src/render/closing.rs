//! The closing lines on stderr: duration, participants, cost, and whether the result is complete.

use quorum::{
    model::{
        error::Problem,
        lifecycle::Lifecycle,
        outcome::{Missing, Outcome},
        state::State,
    },
    text::{cost, count, early_exit, shortfalls, time, total_cost},
};

/// The closing lines of a finished discussion.
pub(crate) fn lines(outcome: &Outcome) -> Vec<String> {
    let mut lines = vec![sum(outcome)];
    let missing = outcome.integrity.missing.iter().filter(|it| !is_told(outcome, it));
    let missing = missing.map(|it| format!("{} {}", it.provider, it.reason));
    let short: Vec<String> = missing.chain(shortfalls(outcome)).collect();
    lines.extend(outcome.metadata.early_exit.as_ref().map(|it| format!("{}.", early_exit(it))));
    if outcome.integrity.degraded && !short.is_empty() {
        lines.push(format!("Incomplete: {}.", short.join("; ")));
    }
    if let Some(problem) = &outcome.error {
        lines.push(failure(problem));
    }
    lines.extend(next(outcome));
    lines
}

/// Whether the error below already says why this participant is missing.
fn is_told(outcome: &Outcome, missing: &Missing) -> bool {
    let cause = missing.reason.split_once(": ").map_or(&*missing.reason, |(_, cause)| cause);
    let message = outcome.error.as_ref().map(|it| &*it.message).unwrap_or_default();
    message.contains(&missing.provider) && message.contains(cause)
}

/// Why it failed, in words; documents for programs have the code.
pub(crate) fn failure(problem: &Problem) -> String {
    let mut letters = problem.message.trim_end_matches('.').chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// What to type after an error.
fn next(outcome: &Outcome) -> Option<String> {
    let id = outcome.discussion_id;
    let is_retryable = outcome.error.as_ref().is_some_and(|it| it.retryable);
    match outcome.status {
        Lifecycle::Error if is_retryable => {
            Some(format!("`ax resume {id}` retries it and keeps every answer."))
        }
        Lifecycle::Error => Some(format!("`ax discuss --again {id}` starts over.")),
        _ => None,
    }
}

/// How much of a fork was newly asked.
pub(crate) fn of_fork(state: &State) -> Option<String> {
    let from = state.fork.as_ref()?;
    let (reused, asked): (Vec<_>, Vec<_>) = state.turns.iter().partition(|turn| turn.reused);
    let reused = count(reused.len() as u64, "answer");
    Some(format!("{reused} reused from {}, {} new.", from.of, asked.len()))
}

/// Those that said something, where no provider took part to the end.
fn heard(outcome: &Outcome) -> Vec<&str> {
    let said = outcome.rounds.iter().flat_map(|it| &it.responses).filter(|it| it.error.is_none());
    let mut names: Vec<&str> = Vec::new();
    for response in said {
        if !names.contains(&response.provider.as_str()) {
            names.push(&response.provider);
        }
    }
    names
}

/// The providers that took part; for a provider with several seats, the seats that spoke.
fn speakers<'o>(outcome: &'o Outcome) -> Vec<&'o str> {
    let spoke = |seat: &&str| outcome.integrity.spoke.iter().any(|it| it == seat);
    let of_provider = |name: &'o String| match outcome.seats.get(name) {
        Some(seats) => seats.iter().map(String::as_str).filter(spoke).collect(),
        None => vec![name.as_str()],
    };
    outcome.participating_providers.iter().flat_map(of_provider).collect()
}

fn sum(outcome: &Outcome) -> String {
    let costs = &outcome.metadata.cost_summary;
    let price = match cost(&total_cost(costs)) {
        _ if outcome.simulated => "simulated".to_owned(),
        price if costs.unpriced.len() < costs.by_provider.len() && !costs.unpriced.is_empty() => {
            format!("{price}: {}", costs.unpriced.join(", "))
        }
        price => price,
    };
    let verb = match outcome.status {
        Lifecycle::Completed => "Done",
        Lifecycle::Aborted => "Aborted",
        _ => "Failed",
    };
    let spoke = Some(speakers(outcome)).filter(|it| !it.is_empty()).unwrap_or_else(|| heard(outcome));
    let steps = outcome.fields.get("stepResults").and_then(|it| it.as_array());
    let who = match steps {
        Some(steps) => {
            let done = steps.iter().filter(|it| it["success"] == true).count();
            format!("{done} of {} succeeded", count(steps.len() as u64, "step"))
        }
        None if spoke.is_empty() => "nobody spoke".to_owned(),
        None => spoke.join(", "),
    };
    let (calls, tokens) =
        (count(u64::from(costs.total_calls), "call"), count(outcome.metadata.total_tokens, "token"));
    let took = time(outcome.total_duration_ms);
    format!("{verb} in {took}: {who}; {calls}, {tokens}, {price}.")
}
