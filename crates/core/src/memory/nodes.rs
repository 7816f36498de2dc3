//! The registry of nodes in memory.

use futures::future::BoxFuture;
use uuid::Uuid;

use crate::{
    memory::{Contents, MemoryStore},
    model::id::{DiscussionId, NodeId},
    seams::{Beat, Duty, Node, NodeStatus, Nodes, Pulse, StoreError},
};

/// A node's row.
pub(super) struct Row {
    node: Node,
    beat: u64,
    duty: Duty,
}

impl Nodes for MemoryStore {
    fn join(&self, node: Node) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let row = Row { node: node.clone(), beat: 0, duty: Duty::Serving };
            self.lock().nodes.entry(node.id).or_insert(row);
            Ok(())
        })
    }

    fn beat(&self, node: NodeId, duty: Duty) -> BoxFuture<'_, Result<Option<Pulse>, StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let Some(row) = contents.nodes.get_mut(&node) else { return Ok(None) };
            (row.beat, row.duty) = (row.beat + 1, duty);
            let beat = |row: &Row| Beat { node: row.node.id, beat: row.beat, lease_ms: row.node.lease_ms };
            Ok(Some(Pulse { beats: contents.nodes.values().map(beat).collect(), at: None }))
        })
    }

    fn reap(&self, node: NodeId, beat: u64) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let stands = contents.nodes.get(&node).is_some_and(|row| row.beat == beat);
            if stands {
                contents.delete_node(node);
            }
            Ok(stands)
        })
    }

    fn deregister(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.lock().delete_node(node);
            Ok(())
        })
    }

    fn attach(&self, id: DiscussionId, client: Uuid, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            contents.check_node(node)?;
            contents.attached.insert((id, client), node);
            Ok(())
        })
    }

    fn detach(&self, id: DiscussionId, client: Uuid) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            contents.attached.remove(&(id, client));
            Ok(contents.attached.keys().all(|it| it.0 != id))
        })
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<NodeStatus>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            let held = |id: NodeId| contents.discussions.values().filter(|it| it.holder == Some(id)).count();
            let status = |row: &Row| {
                let Row { node, beat, duty } = row;
                NodeStatus { node: node.clone(), beat: *beat, duty: *duty, held: held(node.id) as u64 }
            };
            Ok(contents.nodes.values().map(status).collect())
        })
    }
}

impl Contents {
    pub(super) fn check_node(&self, node: NodeId) -> Result<(), StoreError> {
        self.nodes.contains_key(&node).then_some(()).ok_or(StoreError::Gone(node))
    }

    /// The name of a node for people.
    pub(super) fn node_name(&self, node: NodeId) -> String {
        self.nodes.get(&node).map(|row| row.node.name.clone()).unwrap_or_default()
    }

    fn delete_node(&mut self, node: NodeId) {
        self.nodes.remove(&node);
        self.attached.retain(|_, of| *of != node);
        let held = self.discussions.values_mut().filter(|it| it.holder == Some(node));
        held.for_each(|it| it.holder = None);
    }
}
