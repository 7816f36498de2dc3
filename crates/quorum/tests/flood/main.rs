//! Six concurrent answers of a GiB: each is truncated at its cap, and the process stays small. A
//! separate binary, because it measures its own memory.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

#[path = "../voices/providers.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod providers;

use std::{sync::Arc, time::Instant};

use quorum::model::{id::Seq, transcript::Finish};
use quorum_core::memory::MemoryStore;
use quorum_testkit::server::{Fault, server};

use providers::{WIRES, request, scope, source};

const MIB: u64 = 1 << 20;
const SIX: [&str; 6] = ["ann", "bob", "cyd", "dan", "eve", "fay"];

/// The peak memory of this process, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1_024
}

/// Asserts the memory that six answers of this kind take, including the server's part.
async fn flood(fault: Fault) {
    let server = server().fault("*", fault.clone()).forgetful().on_thread();
    let sources = SIX.iter().zip(WIRES.iter().cycle());
    let sources = sources.map(|(name, on)| source(name, &server.url(), *on, "a-key")).collect();
    let scope = scope(Arc::new(MemoryStore::new()), sources);
    let mut spec = scope.check(&request("synthesis", &SIX)).unwrap();
    spec.rounds = 1;
    let began = Instant::now();
    let (discussion, handle) = scope.start(spec).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    let facts = discussion.facts(Seq::START).await.unwrap();
    println!("{fault:?}: {:?}, at most {} MiB so far", began.elapsed(), peak() / MIB);
    for fact in &facts {
        if let quorum::model::event::Event::TurnCompleted { turn } = &fact.event {
            assert!(turn.text.len() as u64 <= MIB && turn.finish == Finish::Truncated, "{}", turn.text.len());
        }
    }
    assert!(!outcome.rounds.is_empty() || outcome.error.is_some());
    assert!(peak() < 150 * MIB, "{} MiB", peak() / MIB);
}

#[tokio::test]
async fn f7_six_answers_of_a_gib_fit_into_150_mib() {
    flood(Fault::OneLine(Fault::GIB)).await;
    flood(Fault::Endless(Fault::GIB)).await;
}
