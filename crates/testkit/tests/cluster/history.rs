//! The history of the cluster, as the store and the provider saw it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use quorum_core::{
    model::{
        command::CommandId,
        event::{Event, Fact},
        id::DiscussionId,
    },
    seams::Claim,
};
use tokio::time::Instant;

/// An action of the store. The history lists them in order.
#[derive(Debug, Clone)]
pub(crate) enum Deed {
    /// It gave a claim, at this moment.
    Claimed { claim: Claim, at: Instant },
    /// It appended facts, written under this fence of the root.
    Appended { root: DiscussionId, id: DiscussionId, fence: u64, facts: Arc<[Fact]>, is_done: bool },
}

/// Everything that is checked in the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) deeds: Vec<Deed>,
    /// Facts whose append was acknowledged to a node.
    pub(crate) acknowledged: Vec<(DiscussionId, Arc<[Fact]>)>,
    /// Commands whose acceptance was acknowledged.
    pub(crate) sent: BTreeMap<DiscussionId, Vec<CommandId>>,
    /// How often each step was answered by the provider.
    pub(crate) answered: BTreeMap<(DiscussionId, String), u64>,
    /// How many answers the faults may have cost.
    pub(crate) allowed: u64,
    /// The records in the end.
    pub(crate) records: BTreeMap<DiscussionId, Vec<Fact>>,
    /// The discussions that are over in the end.
    pub(crate) over: BTreeSet<DiscussionId>,
    /// How many claims were held in the end by nodes that are gone.
    pub(crate) ghosts: u64,
}

/// The history while it is written, shared by all nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chronicle(Arc<Mutex<Written>>);

#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) history: History,
    /// Calls that a node has placed and whose answers it has not recorded.
    pub(crate) unsettled: BTreeMap<u64, BTreeSet<(DiscussionId, String)>>,
}

impl Chronicle {
    pub(crate) fn write(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an append of this node was acknowledged.
    pub(crate) fn acknowledge(&self, node: u64, id: DiscussionId, facts: &Arc<[Fact]>) {
        let mut written = self.write();
        written.history.acknowledged.push((id, facts.clone()));
        for fact in facts.iter() {
            if let (Event::TurnCompleted { .. }, Some(step)) = (&fact.event, &fact.step) {
                let unsettled = written.unsettled.entry(node).or_default();
                unsettled.remove(&(id, step.as_str().to_owned()));
            }
        }
    }

    /// Allows repeating the answers that this node waits for or has not recorded yet.
    pub(crate) fn allow(&self, node: u64) {
        let mut written = self.write();
        let count = written.unsettled.get(&node).map_or(0, BTreeSet::len) as u64;
        written.history.allowed += count;
    }
}
