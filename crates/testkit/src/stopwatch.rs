//! Real time, and how much of it was the test's own. A promise such as "noticed within 250 ms" is
//! about the program; on a loaded machine its threads are ready to run long before they do.

use std::{collections::BTreeMap, ffi::OsString, fs, time::Duration};

use tokio::time::Instant;

/// Measures from its start on.
#[derive(Debug)]
pub struct Stopwatch {
    began: Instant,
    waited: Waits,
}

/// How long each thread of this process has waited for a core so far.
type Waits = BTreeMap<OsString, Duration>;

/// How long something took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Took {
    /// By the clock.
    pub all: Duration,
    /// Without the time for which threads of this process were ready to run and had no core. Where
    /// the system does not count that, it is all the time.
    pub own: Duration,
}

impl Stopwatch {
    /// Starts one.
    #[must_use]
    pub fn start() -> Self {
        Stopwatch { waited: waits(), began: Instant::now() }
    }

    /// Reads it.
    #[must_use]
    pub fn took(&self) -> Took {
        let all = self.began.elapsed();
        let before = |thread| self.waited.get(thread).copied().unwrap_or_default();
        let waited = waits().iter().map(|(thread, waited)| waited.saturating_sub(before(thread))).sum();
        Took { all, own: all.saturating_sub(waited) }
    }
}

/// As Linux counts it, in nanoseconds, in the second field of `schedstat`.
fn waits() -> Waits {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Waits::new() };
    let waited = threads.flatten().filter_map(|thread| {
        let counted = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let waited = counted.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name(), Duration::from_nanos(waited)))
    });
    waited.collect()
}
