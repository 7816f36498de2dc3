//! Small hand-made discussions for the suite.

use std::sync::Arc;

use quorum_core::{
    model::{
        event::{Ancestor, Conclusion, Event, Fact, Lineage},
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
        outcome::{Decision, StoppingReason},
        spec::Spec,
        time::Timestamp,
        transcript::Turn,
    },
    seams::{Append, Claim, Store, StoreError, Then},
};

use crate::{call::turn, spec::spec};

/// A lease that is long enough for any test.
pub const LEASE_MS: u64 = 30_000;

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
    let opened = Event::Opened { spec: Arc::new(spec), flow: 1, lineage, fork: None };
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
        let claim = store.claim(id, owner, LEASE_MS).await.expect("nobody has it");
        Writer { store, claim, id, last: Seq(3) }
    }

    /// Appends events and updates the sequence number.
    pub async fn write(&mut self, at: Timestamp, events: Vec<Event>, then: Then) -> Result<Seq, StoreError> {
        let facts = numbered(self.last, at, events);
        let append =
            Append { claim: self.claim.clone(), id: self.id, expected: self.last, facts: facts.into(), then };
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
