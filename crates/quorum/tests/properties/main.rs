//! Every request leads to a synthesis, an error with a code, or a refusal that names the field; and
//! every text comes back unchanged. 300 cases per property, 3,000 with `QUORUM_LONG=1`; a tenth of
//! that for tests that write a database.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod breaks;
mod expressions;
mod hostile;
mod plan;
mod requests;
mod texts;
mod within;

use proptest::test_runner::Config as Trials;
use quorum::{Quorum, Scope, model::id::Tenant};

/// The number of cases; a fraction of it for slow tests.
fn trials(share: u32) -> Trials {
    let cases = if std::env::var("QUORUM_LONG").is_ok() { 3_000 } else { 300 };
    Trials { cases: cases / share, failure_persistence: None, ..Trials::default() }
}

/// Simulated voices with an in-memory store.
fn scope() -> Scope {
    Quorum::builder().simulated().assigning_roles().build().unwrap().scope(Tenant::default(), "ann")
}

fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(test)
}
