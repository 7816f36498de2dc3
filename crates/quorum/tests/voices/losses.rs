//! One participant is dead, hangs or sends rubbish: the others finish in time, it is not asked
//! again, and the result says so.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::future::join_all;
use quorum::{
    Scope,
    model::{event::Event, id::Seq, outcome::Outcome},
};
use quorum_core::{
    memory::MemoryStore,
    model::{error::ErrorClass, event::Fact},
};
use quorum_testkit::{
    server::{At, Break, End, Fault, Noise, Place, Server, server},
    stopwatch::{Stopwatch, Took},
};

use crate::providers::{NAMES, WIRES, request, scope, source};

/// Long enough for a retry after a pause, and for the others to answer on a busy machine.
const STEP_MS: u64 = 6_000;

/// Retries and pauses are part of the step's time, and the rest takes no time here.
const IN_TIME: Duration = Duration::from_millis(STEP_MS + 1_000);

/// Runs a discussion with one failing participant.
async fn hold(scope: &Scope, pattern: &str, seats: &[&str]) -> (Outcome, Vec<Fact>, Took) {
    let mut spec = scope.check(&request(pattern, seats)).unwrap();
    spec.timing.step_ms = STEP_MS;
    let watch = Stopwatch::start();
    let (discussion, handle) = scope.start(spec).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    let took = watch.took();
    (outcome, discussion.facts(Seq::START).await.unwrap(), took)
}

fn faults() -> Vec<Fault> {
    vec![
        Fault::Hang(Place::Head),
        Fault::Hang(Place::FirstChunk),
        Fault::Hang(Place::Between),
        Fault::Trickle(100),
        Fault::Status(500),
        Fault::Status(401),
        Fault::Html,
        Fault::ErrorBody,
        Fault::ErrorEvent,
        Fault::Noise(Noise::BrokenFrame),
        Fault::Cut(At::EndMarker, Break::Clean),
        Fault::Cut(At::Byte(40), Break::Reset),
        Fault::Redirect(307, "http://169.254.169.254/latest".to_owned()),
        Fault::OneLine(Fault::GIB),
    ]
}

/// The calls of the failing participant, by the record.
#[derive(Debug)]
struct Calls {
    /// The number of steps: one at most, as it is not asked again.
    steps: usize,
    placed: usize,
    /// Those that failed by what the server did, and not because the step's time was over.
    answered: usize,
    /// The last one, if it ran out of time and was placed so late that it may not have been sent.
    cut: usize,
}

/// A call that is placed earlier than this before its step's deadline is sent before it.
const TIME_TO_SEND_MS: u64 = 1_000;

fn calls_of(lost: &str, facts: &[Fact]) -> Calls {
    let placed: Vec<&Fact> = facts
        .iter()
        .filter(|it| matches!(&it.event, Event::CallPlaced(it) if it.participant == lost))
        .collect();
    let failures = facts.iter().filter_map(|it| match &it.event {
        Event::CallFailed { participant, class, .. } if participant == lost => Some(*class),
        Event::TurnFailed(failed) if failed.participant == lost => Some(failed.class),
        _ => None,
    });
    let failures: Vec<ErrorClass> = failures.collect();
    assert!(placed.is_empty() || failures.len() == placed.len(), "every call ends once: {failures:?}");
    let ran_out_of_time = failures.last() == Some(&ErrorClass::Timeout);
    let within = |first: &Fact, last: &Fact| last.at.ms_after(first.at) + TIME_TO_SEND_MS < STEP_MS;
    let is_late = placed.first().zip(placed.last()).is_some_and(|(first, last)| !within(first, last));
    Calls {
        steps: placed.iter().map(|it| &it.step).collect::<BTreeSet<_>>().len(),
        placed: placed.len(),
        answered: failures.iter().filter(|it| **it != ErrorClass::Timeout).count(),
        cut: usize::from(ran_out_of_time && is_late),
    }
}

/// A failing participant, with its own server if it has one, so that its requests can be counted.
struct Lost {
    name: String,
    fault: Option<Fault>,
    server: Option<Server>,
    url: String,
}

async fn lose((index, fault): (usize, Option<Fault>)) -> Lost {
    let server = server().fault("*", fault.clone().unwrap_or(Fault::Html)).start();
    let url = server.url();
    let server = match fault {
        Some(_) => Some(server),
        None => {
            server.stop().await;
            None
        }
    };
    Lost { name: format!("lost{index}"), fault, server, url }
}

/// A scope with all of them. One discussion is run before measuring: one-time loading is not part
/// of the measured time.
async fn opened(good: &Server, lost: &[Lost]) -> Scope {
    let others = NAMES.iter().zip(WIRES).map(|(name, on)| source(name, &good.url(), on, "a-key"));
    let lost = lost.iter().zip(WIRES.iter().cycle()).map(|(it, on)| source(&it.name, &it.url, *on, "a-key"));
    let scope = scope(Arc::new(MemoryStore::new()), others.chain(lost).collect());
    assert!(hold(&scope, "synthesis", &NAMES).await.0.success);
    scope
}

/// The seats with the failing participant at this index. A debate goes on only if its side has
/// another debater.
fn seats<'n>(pattern: &str, lost: &'n str, place: usize) -> Vec<&'n str> {
    let mut seats = vec!["ann", "bob", "cyd"];
    seats.insert(place, lost);
    if pattern == "debate" {
        seats.push("ann");
    }
    seats
}

async fn check(scope: &Scope, pattern: &str, lost: &Lost, place: usize) {
    let what = format!("{pattern} without seat {place}: {:?}", lost.fault);
    let (outcome, facts, took) = hold(scope, pattern, &seats(pattern, &lost.name, place)).await;
    assert!(took.own < IN_TIME, "{what}: it took {took:?}");
    if pattern == "dialogue" && lost.server.is_none() {
        // It never started, because it needs both participants.
        let problem = outcome.error.unwrap();
        assert!(problem.message.contains(&lost.name), "{what}: {problem}");
        return;
    }
    if pattern == "settle" && lost.server.is_some() && calls_of(&lost.name, &facts).placed == 0 {
        // The others agreed before it was its turn.
        assert!(outcome.success && place > 1, "{what}: {:?}", outcome.error);
        return;
    }
    assert_eq!(outcome.failed_providers, [lost.name.as_str()], "{what}");
    assert!(outcome.integrity.degraded, "{what}");
    assert!(outcome.success || pattern == "dialogue", "{what}: {:?}", outcome.error);
    let calls = calls_of(&lost.name, &facts);
    assert_eq!(calls.steps, usize::from(lost.server.is_some()), "{what}");
    let requests = lost.server.iter().flat_map(Server::requests).filter(|it| it.asked().is_some());
    let ends: Vec<End> = requests.map(|it| it.end()).collect();
    let finished = ends.iter().filter(|it| matches!(it, End::Complete | End::Broken)).count();
    // Every recorded call reached the server, and every answer that the server finished is in the
    // record.
    assert!(
        (calls.placed - calls.cut..=calls.placed).contains(&ends.len()),
        "{what}: {calls:?} and {ends:?}"
    );
    assert!(finished <= calls.answered + calls.cut, "{what}: {calls:?} and {ends:?}");
}

async fn check_all(pattern: &str) {
    let good = server().on_thread();
    let lost = join_all(faults().into_iter().map(Some).chain([None]).enumerate().map(lose)).await;
    let scope = opened(&good, &lost).await;
    let place = if pattern == "dialogue" { 1 } else { 3 };
    join_all(lost.iter().map(|lost| check(&scope, pattern, lost, place))).await;
}

macro_rules! losses {
    ($($name:ident $pattern:literal)*) => {
        $(#[tokio::test]
        async fn $name() {
            check_all($pattern).await;
        })*

        #[tokio::test]
        async fn f6_any_other_pattern_survives_the_loss_of_a_participant() {
            for pattern in quorum::built_in().patterns().iter().map(|it| it.name) {
                if ![$($pattern),*].contains(&pattern) {
                    check_all(pattern).await;
                }
            }
        }
    };
}

losses! {
    f6_a_critique_bears_a_loss "critique"
    f6_a_debate_bears_a_loss "debate"
    f6_a_dialogue_says_whom_it_lost "dialogue"
    f6_round_robin_bears_a_loss "round-robin"
    f6_a_roundtable_bears_a_loss "roundtable"
    f6_a_synthesis_bears_a_loss "synthesis"
    f6_a_vote_bears_a_loss "voting"
}

#[tokio::test]
async fn f6_the_others_continue_when_one_participant_is_lost() {
    let good = server().on_thread();
    let patterns = ["critique", "round-robin", "roundtable", "synthesis", "voting"];
    let places = patterns.iter().flat_map(|pattern| (0..3).map(move |place| (*pattern, place)));
    let lost = join_all(places.clone().map(|_| Some(Fault::Status(401))).enumerate().map(lose)).await;
    let scope = opened(&good, &lost).await;
    join_all(places.zip(&lost).map(|((pattern, place), lost)| check(&scope, pattern, lost, place))).await;
}

#[tokio::test]
async fn f6_a_participant_that_hangs_from_the_start_is_dropped_in_time() {
    let good = server().on_thread();
    let hung = server().fault_probe("*", Fault::Hang(Place::Head)).start();
    let lost = Lost { name: "lost".to_owned(), fault: None, url: hung.url(), server: Some(hung) };
    let lost = [lost];
    let scope = opened(&good, &lost).await;
    let (outcome, _, took) = hold(&scope, "synthesis", &seats("synthesis", "lost", 3)).await;
    assert!(outcome.success && took.own < IN_TIME, "it took {took:?}: {:?}", outcome.error);
    assert_eq!(outcome.failed_providers, ["lost"]);
}
