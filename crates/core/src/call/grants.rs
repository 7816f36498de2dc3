//! The time of a provider, granted in pieces to the lanes of several processes.

use std::time::Duration;

use futures::future::BoxFuture;

/// Grants the time of providers to the processes that share a store.
///
/// A lane's time is handed out once: no two grants overlap, whatever process asked. A process uses
/// its piece at the provider's pace, so all of them together keep to it.
pub trait Grants: Send + Sync {
    /// How many processes share the providers, with this one.
    fn sharers(&self) -> usize;

    /// How long a provider asked any process to wait.
    fn closed_for(&self, lane: &str) -> Duration;

    /// Closes a lane for all processes, soon.
    fn close(&self, lane: &str, wait: Duration);

    /// Takes this much of a lane's time, as soon as it is free and the lane is open.
    fn take(&self, lane: &str, time: Duration) -> BoxFuture<'_, Result<Grant, Away>>;

    /// Gives back the end of a grant that isn't needed, soon, unless more was granted after it.
    fn give_back(&self, lane: &str, grant: Grant, unused: Duration);
}

/// A piece of a provider's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// When it begins, from now on.
    pub wait: Duration,
    /// When it ends, in microseconds by the clock of the store.
    pub until: i64,
}

/// The store can't be asked now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Away;
