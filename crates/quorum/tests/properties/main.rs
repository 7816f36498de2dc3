//! Whatever is asked: a synthesis or an error with a code, or a refusal that names the field; and every text comes back as it
//! was. 300 cases a property, 3,000 with `QUORUM_LONG=1`; a tenth of that where a database is written.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod breaks;
mod hostile;
mod plan;
mod requests;
mod texts;
mod within;

use proptest::test_runner::Config as Trials;
use quorum::{Quorum, Scope, model::id::Tenant};

/// As many cases as wanted, a tenth of them where each takes longer.
fn trials(share: u32) -> Trials {
    let cases = if std::env::var("QUORUM_LONG").is_ok() { 3_000 } else { 300 };
    Trials { cases: cases / share, failure_persistence: None, ..Trials::default() }
}

/// Simulated voices over a store in memory.
fn scope() -> Scope {
    Quorum::builder().simulated().assigning_roles().build().unwrap().scope(Tenant::default(), "ann")
}

fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(test)
}
