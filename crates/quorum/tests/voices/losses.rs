//! One of them is dead, hangs or talks rubbish: the others finish in time, the lost one is not asked again, the result says so.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::future::join_all;
use quorum::model::{event::Event, id::Seq, outcome::Outcome};
use quorum_core::{memory::MemoryStore, model::event::Fact};
use quorum_testkit::server::{At, Break, Fault, Noise, Place, Server, server};
use tokio::time::Instant;

use crate::house::{NAMES, WIRES, door, request, source};

/// Long enough for a second attempt after a pause.
const STEP_MS: u64 = 2_200;

/// Retries and pauses are part of the step's time, and the rest of the talk takes no time here.
const IN_TIME: Duration = Duration::from_millis(STEP_MS + 1_000);

struct Held {
    outcome: Outcome,
    facts: Vec<Fact>,
    took: Duration,
}

/// Holds a discussion with one seat at another address.
async fn hold(pattern: &str, server: &Server, lost: &str, at: &str) -> Held {
    let sources = NAMES.iter().zip(WIRES).map(|(name, on)| {
        let url = if *name == lost { at.to_owned() } else { server.url() };
        source(name, &url, on, "a-key-for-everyone")
    });
    let door = door(Arc::new(MemoryStore::new()), sources.collect());
    let names: Vec<&str> = if pattern == "dialogue" { vec!["ann", lost] } else { NAMES.to_vec() };
    let mut spec = door.check(&request(pattern, &names)).unwrap();
    spec.timing.step_ms = STEP_MS;
    let began = Instant::now();
    let handle = door.begin(spec).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    Held { outcome, took: began.elapsed(), facts: door.facts(handle.id(), Seq::START).await.unwrap() }
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

/// In one step at most: whoever failed in it is not asked in another.
fn steps_of(lost: &str, facts: &[Fact]) -> (usize, u64) {
    let placed =
        facts.iter().filter(|it| matches!(&it.event, Event::CallPlaced(it) if it.participant == lost));
    let steps: Vec<String> = placed.filter_map(|it| it.step.as_ref().map(ToString::to_string)).collect();
    (steps.iter().collect::<BTreeSet<_>>().len(), steps.len() as u64)
}

async fn check(pattern: &str, good: &Server, lost: &str, fault: Option<Fault>) {
    let what = format!("{pattern} without {lost}: {fault:?}");
    // Whoever is dead has no server, whoever goes wrong one of its own, so that its requests can be counted.
    let bad = server().fault("*", fault.clone().unwrap_or(Fault::Html)).start();
    let (url, is_dead) = (bad.url(), fault.is_none());
    let bad = if is_dead {
        bad.stop().await;
        None
    } else {
        Some(bad)
    };
    let Held { outcome, facts, took } = hold(pattern, good, lost, &url).await;
    assert!(took < IN_TIME, "{what}: it took {took:?}");
    if pattern == "dialogue" && is_dead {
        // It never began, for it can't without its partner.
        let problem = outcome.error.unwrap();
        assert!(problem.message.contains(lost), "{what}: {problem}");
        return;
    }
    assert_eq!(outcome.failed_providers, [lost], "{what}");
    assert!(outcome.integrity.degraded, "{what}");
    assert!(outcome.success || pattern == "dialogue", "{what}: {:?}", outcome.error);
    let (steps, placed) = steps_of(lost, &facts);
    assert_eq!(steps, usize::from(!is_dead), "{what}");
    let asked = bad.iter().flat_map(Server::requests).filter(|it| it.asked().is_some()).count();
    assert_eq!(asked as u64, placed, "{what}");
}

/// A server for the others. One discussion is held before the clock runs: what is loaded once is not part of anybody's time.
async fn good() -> Server {
    let good = server().on_thread();
    hold("synthesis", &good, "nobody", "").await;
    good
}

async fn check_all(pattern: &str) {
    let good = good().await;
    let by_fault =
        faults().into_iter().map(Some).chain([None]).map(|fault| check(pattern, &good, "dan", fault));
    join_all(by_fault).await;
}

macro_rules! losses {
    ($($name:ident $pattern:literal)*) => {
        $(#[tokio::test]
        async fn $name() {
            check_all($pattern).await;
        })*

        #[test]
        fn f6_every_pattern_is_looked_at() {
            let patterns: Vec<&str> = quorum::Quorum::patterns().iter().map(|it| it.name).collect();
            assert!(patterns.iter().all(|it| [$($pattern),*].contains(it)), "{patterns:?}");
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
async fn f6_whoever_is_lost_the_others_go_on() {
    let good = good().await;
    let hang = || Some(Fault::Hang(Place::Head));
    let seats = ["ann", "bob", "cyd"].into_iter();
    let each = seats.flat_map(|lost| {
        ["critique", "round-robin", "roundtable", "synthesis", "voting"].map(|pattern| (pattern, lost))
    });
    join_all(each.map(|(pattern, lost)| check(pattern, &good, lost, hang()))).await;
}
