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
    server::{At, Break, Fault, Noise, Place, Server, server},
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

/// The number of steps and calls of the failing participant: one step at most, as it is not asked
/// again.
fn steps_of(lost: &str, facts: &[Fact]) -> (usize, u64) {
    let placed =
        facts.iter().filter(|it| matches!(&it.event, Event::CallPlaced(it) if it.participant == lost));
    let steps: Vec<String> = placed.filter_map(|it| it.step.as_ref().map(ToString::to_string)).collect();
    (steps.iter().collect::<BTreeSet<_>>().len(), steps.len() as u64)
}

fn ran_out_of_time(lost: &str, facts: &[Fact]) -> bool {
    facts.iter().any(|it| {
        matches!(&it.event, Event::TurnFailed(it) if it.participant == lost && it.class == ErrorClass::Timeout)
    })
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

/// The seats with the failing participant at this index.
fn seats(lost: &str, place: usize) -> Vec<&str> {
    let mut seats = vec!["ann", "bob", "cyd"];
    seats.insert(place, lost);
    seats
}

async fn check(scope: &Scope, pattern: &str, lost: &Lost, place: usize) {
    let what = format!("{pattern} without seat {place}: {:?}", lost.fault);
    let (outcome, facts, took) = hold(scope, pattern, &seats(&lost.name, place)).await;
    assert!(took.own < IN_TIME, "{what}: it took {took:?}");
    if pattern == "dialogue" && lost.server.is_none() {
        // It never started, because it needs both participants.
        let problem = outcome.error.unwrap();
        assert!(problem.message.contains(&lost.name), "{what}: {problem}");
        return;
    }
    assert_eq!(outcome.failed_providers, [lost.name.as_str()], "{what}");
    assert!(outcome.integrity.degraded, "{what}");
    assert!(outcome.success || pattern == "dialogue", "{what}: {:?}", outcome.error);
    let (steps, placed) = steps_of(&lost.name, &facts);
    assert_eq!(steps, usize::from(lost.server.is_some()), "{what}");
    let asked = lost.server.iter().flat_map(Server::requests).filter(|it| it.asked().is_some()).count();
    // A call that was placed just before its step ran out of time may not have reached the server.
    let unsent = u64::from(ran_out_of_time(&lost.name, &facts) && asked as u64 != placed);
    assert_eq!(asked as u64 + unsent, placed, "{what}");
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
        async fn f6_any_other_pattern_bears_a_loss() {
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
    let (outcome, _, took) = hold(&scope, "synthesis", &seats("lost", 3)).await;
    assert!(outcome.success && took.own < IN_TIME, "it took {took:?}: {:?}", outcome.error);
    assert_eq!(outcome.failed_providers, ["lost"]);
}
