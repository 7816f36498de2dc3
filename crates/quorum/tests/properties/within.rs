//! A valid request leads to a synthesis or an error with a code, never to a panic or a hang.

use std::{sync::mpsc, thread, time::Duration};

use proptest::prelude::*;
use quorum::{
    Error, Finished, Request, Scope, Steered,
    model::{
        error::Code,
        outcome::Outcome,
        ruling::{Ruling, RulingAwaited},
    },
};
use tokio::time::timeout;

use crate::{in_virtual_time, requests::request, scope, trials};

/// In virtual time, later than every deadline.
const FOREVER: Duration = Duration::from_secs(30 * 86_400);

/// In real time, for a whole discussion in which nothing takes time.
const TIMEOUT: Duration = Duration::from_secs(60);

proptest! {
    #![proptest_config(trials(1))]

    #[test]
    fn a_request_within_bounds_yields_a_synthesis_or_an_error_with_a_code(request in request()) {
        let outcome = held_in_time(&request).map_err(TestCaseError::fail)?;
        prop_assert!(outcome.simulated && outcome.status.is_terminal(), "{:?}", outcome.status);
        match &outcome.error {
            None => prop_assert!(outcome.success && !outcome.synthesis.trim().is_empty(), "{outcome:?}"),
            Some(problem) => {
                let faults = [Code::Unknown, Code::StateInvalid, Code::RecordDiverged];
                prop_assert!(!faults.contains(&problem.code), "{problem}");
                prop_assert!(!problem.message.is_empty());
            }
        }
        let written = serde_json::to_string(&outcome).unwrap();
        prop_assert_eq!(serde_json::from_str::<Outcome>(&written).unwrap(), outcome);
    }
}

/// Runs the discussion on its own thread, so that an endless loop is noticed, too.
fn held_in_time(request: &Request) -> Result<Outcome, String> {
    let (done, waiting) = mpsc::channel();
    let request = request.clone();
    thread::spawn(move || drop(done.send(in_virtual_time(held(&scope(), &request)))));
    waiting.recv_timeout(TIMEOUT).map_err(|error| format!("it panicked, or is not over: {error}"))?
}

/// The first possible choice, with the first candidate if it names one.
fn first_possible(awaited: &RulingAwaited) -> Ruling {
    let candidate = awaited.candidates.first();
    let mut choices = awaited.choices.iter();
    let choice = choices.find(|it| !it.takes_candidate || candidate.is_some()).unwrap();
    let candidate = candidate.filter(|_| choice.takes_candidate).cloned();
    Ruling { kind: awaited.kind.clone(), choice: choice.name.clone(), candidate }
}

/// Runs a discussion to its end.
pub(crate) async fn held(scope: &Scope, request: &Request) -> Result<Outcome, String> {
    let told = |error: Error| error.to_string();
    let (discussion, mut handle) = scope.start(scope.check(request).map_err(told)?).await.map_err(told)?;
    loop {
        let state = match timeout(FOREVER, handle.finished()).await.map_err(|_| "it hangs".to_owned())? {
            Ok(Finished::Over(state)) => return Ok(state.outcome()),
            Ok(Finished::Waiting(state)) => state,
            Err(error) => return Err(error.to_string()),
        };
        if let Some(awaited) = &state.ruling {
            match discussion.rule(first_possible(awaited)).await {
                Ok(Steered::Here(next)) => handle = next,
                Ok(_) => return Err("somebody else runs it".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
            continue;
        }
        // Only a roundtable pauses, after some turns.
        if state.spec.pattern != "roundtable" {
            return Err(format!("it waits: {}", state.lifecycle));
        }
        handle = discussion.resume_here().await.map_err(told)?;
    }
}
