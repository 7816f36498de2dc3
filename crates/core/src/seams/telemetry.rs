//! Telemetry: an interface that receives facts once they are durable.

use futures::future::BoxFuture;

use crate::model::{event::Fact, id::DiscussionId};

/// Reports the discussions that this process runs to another system.
///
/// It receives facts only when they are durable, of each exactly once, by the one process that
/// recorded it. Neither of its parts may wait: a discussion goes on only when they return.
pub trait Telemetry: Send + Sync {
    /// Begins to follow a record, before its first fact. A record is followed once the one above
    /// it is, and for no longer.
    fn follow(&self, id: DiscussionId) -> Box<dyn FactFollower>;

    /// Sends what was reported and not sent yet, within a few seconds, or says why it can't be
    /// sent.
    fn flush(&self) -> BoxFuture<'_, Result<(), String>>;
}

/// Follows the record of one discussion, in the order of its facts. Dropped with the run.
pub trait FactFollower: Send + Sync {
    /// Learns a fact that was durable before this run; another process may have reported it.
    fn learn(&mut self, fact: &Fact);

    /// Reports a fact that this run has recorded.
    fn report(&mut self, fact: &Fact);
}
