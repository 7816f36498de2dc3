//! Small hand-made discussions for the suite.

use std::sync::Arc;

use quorum_core::{
    model::{
        event::{Ancestor, Conclusion, Event, Fact, Lineage},
        id::{DiscussionId, NodeId, Seq},
        lifecycle::Lifecycle,
        outcome::{Decision, StoppingReason},
        spec::Spec,
        time::Timestamp,
        transcript::Turn,
    },
    seams::{Append, Claim, ClaimRequest, Node, Store, StoreError, Then},
};

use crate::{call::turn, spec::spec};

/// The node of this name, which has joined.
pub async fn node(store: &impl Store, name: &str) -> NodeId {
    let id = NodeId::named(name);
    let node = Node { id, ..Node::fresh(name) };
    store.join(node).await.expect("the store is there");
    id
}

/// Claims a discussion for the node of this name.
pub async fn claim(store: &impl Store, id: DiscussionId, name: &str) -> Result<Claim, StoreError> {
    let node = node(store, name).await;
    store.claim(id, node).await
}

/// Claims up to `max` discussions for the node of this name.
pub async fn claim_any(store: &impl Store, max: usize, name: &str) -> Result<Vec<Claim>, StoreError> {
    let node = node(store, name).await;
    let taken = store.claim_any(ClaimRequest::any(node, max)).await?;
    Ok(taken.into_iter().map(|it| it.claim).collect())
}

/// Declares a node dead, as an observer of its beat would.
pub async fn reap(store: &impl Store, name: &str) -> bool {
    let id = NodeId::named(name);
    let all = store.nodes().await.expect("the store is there");
    match all.iter().find(|it| it.node.id == id) {
        Some(it) => store.reap(id, it.beat).await.expect("the store is there"),
        None => false,
    }
}

/// A spec for a discussion of this topic.
#[must_use]
pub fn about(topic: &str) -> Spec {
    Spec { topic: topic.to_owned(), ..spec("round-robin") }
}

/// This many seconds after the beginning of 2026.
#[must_use]
pub fn second(count: i64) -> Timestamp {
    Timestamp(1_767_225_600_000_000 + count * 1_000_000)
}

/// Facts numbered from `last` on.
#[must_use]
pub fn numbered(last: Seq, at: Timestamp, events: Vec<Event>) -> Vec<Fact> {
    let place = |(event, number)| Fact { seq: Seq(number), at, active_ms: number, step: None, event };
    events.into_iter().zip(last.0 + 1..).map(place).collect()
}

/// A lifecycle transition.
#[must_use]
pub fn moved(from: Lifecycle, to: Lifecycle) -> Event {
    Event::LifecycleChanged { from, to }
}

/// The first facts of a discussion.
#[must_use]
pub fn opening(spec: Spec, at: Timestamp, lineage: Option<Lineage>) -> Vec<Fact> {
    let opened = Event::Opened { spec: Arc::new(spec), flow: 1, lineage, fork: None, caller: None };
    let checked = moved(Lifecycle::Configuring, Lifecycle::Validating);
    numbered(Seq::START, at, vec![opened, checked, moved(Lifecycle::Validating, Lifecycle::Ready)])
}

/// The lineage of a sub-discussion of this one.
#[must_use]
pub fn below(root: DiscussionId) -> Option<Lineage> {
    let chain = vec![Ancestor { id: root, topic: "tabs or spaces?".to_owned() }];
    Some(Lineage { root, parent: root, depth: 1, chain, level_ms: 60_000 })
}

/// A completed turn.
#[must_use]
pub fn said(who: &str, round: u32, text: &str) -> Event {
    let turn = Turn { started_at: second(0), duration_ms: 20, ..turn(round, "speaking", who, text) };
    Event::TurnCompleted { turn: Arc::new(turn) }
}

/// The last facts of a successful discussion.
#[must_use]
pub fn ending(synthesis: &str) -> Vec<Event> {
    let decision = Decision { synthesis: synthesis.to_owned(), ..Decision::default() };
    let stopping = StoppingReason::COMPLETED;
    vec![
        Event::Decided { decision: Arc::new(decision) },
        Event::Concluded(Conclusion { success: true, stopping, degraded: false, problem: None }),
        moved(Lifecycle::Completing, Lifecycle::Completed),
    ]
}

/// Opens a discussion of this topic.
pub async fn open(store: &impl Store, topic: &str, at: Timestamp) -> DiscussionId {
    open_as_ordered(store, about(topic), at).await
}

/// Opens a discussion with this spec.
pub async fn open_as_ordered(store: &impl Store, spec: Spec, at: Timestamp) -> DiscussionId {
    let id = DiscussionId::fresh();
    store.create(id, opening(spec, at, None)).await.expect("a new discussion is welcome");
    id
}

/// Writes to a discussion and tracks its last sequence number.
pub struct Writer<'s, S> {
    /// The store.
    pub store: &'s S,
    /// The claim.
    pub claim: Claim,
    /// The discussion.
    pub id: DiscussionId,
    /// The last sequence number.
    pub last: Seq,
}

impl<'s, S: Store> Writer<'s, S> {
    /// Claims a discussion that was just opened.
    pub async fn claiming(store: &'s S, id: DiscussionId, owner: &str) -> Self {
        let claim = claim(store, id, owner).await.expect("nobody has it");
        Writer { store, claim, id, last: Seq(3) }
    }

    /// Appends events and updates the sequence number.
    pub async fn write(&mut self, at: Timestamp, events: Vec<Event>, then: Then) -> Result<Seq, StoreError> {
        let facts = numbered(self.last, at, events);
        let (claim, id, expected) = (self.claim.clone(), self.id, self.last);
        let append = Append { claim, id, expected, facts: facts.into(), then, digest: None };
        self.last = self.store.append(append).await?;
        Ok(self.last)
    }
}

/// Opens and finishes a discussion with this synthesis.
pub async fn finish(store: &impl Store, topic: &str, synthesis: &str, at: Timestamp) -> DiscussionId {
    let id = open(store, topic, at).await;
    let mut writer = Writer::claiming(store, id, "one").await;
    writer.write(at, ending(synthesis), Then::Done).await.expect("the claim is ours");
    id
}
