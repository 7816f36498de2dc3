//! The nodes that share a store: processes that run discussions.

use futures::future::BoxFuture;

use uuid::Uuid;

use super::StoreError;
use crate::model::{
    id::{DiscussionId, NodeId},
    time::Timestamp,
};

/// The registry of nodes in a store.
///
/// - A node's row has a counter, its beat. Every node adds 1 to its own at an interval, and watches
///   those of the others. No clock of another machine decides anything: a node that can look all
///   the time and sees a beat unchanged for a lease, by its own monotonic clock, reaps that node.
/// - A claim holds exactly as long as its node's row exists, and it is not released or taken again.
///   When the row is deleted, all its claims end in the same transaction, and no claim can be made
///   under an id without a row: a claim that races with the deletion either comes first and ends
///   with it, or fails with [`StoreError::Gone`].
/// - A store that knows of the death of a process in another way (a lock that the operating system
///   frees) may delete its row at once.
pub trait Nodes: Send + Sync {
    /// Adds a node. Does nothing if the id has a row already; an id is never used again after its
    /// row was deleted.
    fn join(&self, node: Node) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Adds 1 to the node's beat and returns everyone's; `None` if the node has no row any more: it
    /// must stop everything it runs, calls included, and go on under a new id.
    fn beat(&self, node: NodeId, duty: Duty) -> BoxFuture<'_, Result<Option<Pulse>, StoreError>>;

    /// Deletes a node's row if its beat is still this one, and ends its claims. Returns whether it
    /// did.
    fn reap(&self, node: NodeId, beat: u64) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Deletes the row of a node that ends, and ends its claims.
    fn deregister(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Notes that a client of this node waits for a discussion, which is aborted when the last of
    /// its clients leaves. The note ends with the node's row; without one, this returns
    /// [`StoreError::Gone`].
    fn attach(&self, id: DiscussionId, client: Uuid, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Ends the note of this client. Returns whether no other client of any node waits: of those
    /// that leave at the same time, one is the last.
    fn detach(&self, id: DiscussionId, client: Uuid) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Fails if nothing can be written at the moment, although heartbeats may: a full disk has room
    /// for a counter. Changes nothing. Only called after a write has failed. A store whose
    /// heartbeats fail whenever other writes do has nothing to check.
    fn try_writing(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// The time by the store's clock; `None` if it has none of its own.
    fn clock(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// All nodes, in the order of their ids.
    fn nodes(&self) -> BoxFuture<'_, Result<Vec<NodeStatus>, StoreError>>;
}

/// A node as it introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its name for people: `ax (process 12 on host)`.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// A digest of its configuration, to notice nodes that are configured differently.
    pub config: String,
    /// How long its beat may stay unchanged before others consider it dead. It beats three times as
    /// often.
    pub lease_ms: u64,
}

impl Node {
    /// The usual lease.
    pub const LEASE_MS: u64 = 15_000;

    /// A node with a new id, this name and the usual lease.
    #[must_use]
    pub fn fresh(name: &str) -> Self {
        Node {
            id: NodeId::fresh(),
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: String::new(),
            lease_ms: Node::LEASE_MS,
        }
    }
}

/// Whether a node takes on more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duty {
    /// It does.
    #[default]
    Serving,
    /// It finishes the calls under way and ends.
    Draining,
}

/// The beats of all nodes, as one look at the store found them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulse {
    /// The beats, with that of the node itself.
    pub beats: Vec<Beat>,
    /// The time by the store's clock, if it has one, to notice a node whose own is wrong.
    pub at: Option<Timestamp>,
}

/// The beat of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    /// The node.
    pub node: NodeId,
    /// The counter.
    pub beat: u64,
    /// Its lease.
    pub lease_ms: u64,
}

/// A node in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// The node.
    pub node: Node,
    /// Its beat.
    pub beat: u64,
    /// Whether it takes on more.
    pub duty: Duty,
    /// How many discussions it holds.
    pub held: u64,
}
