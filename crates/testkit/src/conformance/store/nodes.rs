//! Nodes: a claim holds as long as its node's row, and a node is dead when its beat is unchanged
//! for its lease.

use quorum_core::{
    model::id::{DiscussionId, NodeId},
    seams::{Duty, Node, StoreError, Then},
};
use uuid::Uuid;

use super::{
    Subject, Whole,
    fixture::{Writer, about, below, claim, claim_any, node, open, opening, reap, said, second},
};

/// Every beat adds 1, is seen by the others, and carries the lease.
pub async fn beats_are_counted_and_seen_by_all<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (one, two) = (node(store, "one").await, node(store, "two").await);
    for expected in 1..=3 {
        let pulse = store.beat(one, Duty::Serving).await.expect("the store is there").expect("it lives");
        let beat = |id: NodeId| pulse.beats.iter().find(|it| it.node == id).map(|it| (it.beat, it.lease_ms));
        assert_eq!(beat(one), Some((expected, Node::LEASE_MS)));
        assert_eq!(beat(two), Some((0, Node::LEASE_MS)));
    }
    // Joining again changes nothing.
    node(store, "one").await;
    store.beat(two, Duty::Draining).await.expect("the store is there");
    let all = store.nodes().await.expect("the store is there");
    let mut shown: Vec<_> = all.iter().map(|it| (it.node.name.as_str(), it.beat, it.duty, it.held)).collect();
    shown.sort_unstable_by_key(|it| it.0);
    assert_eq!(shown, [("one", 3, Duty::Serving, 0), ("two", 1, Duty::Draining, 0)]);
}

/// A node is reaped only if its beat is still the one that was seen; a node that has beaten
/// meanwhile lives.
pub async fn a_node_is_reaped_with_the_beat_that_was_seen<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let one = node(store, "one").await;
    store.beat(one, Duty::Serving).await.expect("the store is there");
    assert_eq!(store.reap(one, 0).await, Ok(false));
    assert_eq!(store.reap(one, 1).await, Ok(true));
    assert_eq!(store.reap(one, 1).await, Ok(false));
    assert_eq!(store.beat(one, Duty::Serving).await, Ok(None));
}

/// The discussions of a dead node can be claimed at once. The dead node can no longer write to them
/// or to their sub-discussions.
pub async fn the_claims_of_a_dead_node_end<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut first = Writer::claiming(store, id, "one").await;
    let child = id.derived("sub1");
    store.create(child, opening(about("below"), second(1), below(id))).await.expect("its root is there");
    assert!(claim(store, id, "two").await.is_err());
    assert!(reap(store, "one").await);
    let refused = first.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Fenced(id)));
    let taken = claim_any(store, 9, "two").await.expect("the store is there");
    assert_eq!(taken.iter().map(|it| (it.id, it.fence)).collect::<Vec<_>>(), [(id, 2)]);
    let mut late = Writer { id: child, ..first };
    let refused = late.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Fenced(child)), "two owners would be fenced by each other");
    let mut heir = Writer { claim: taken[0].clone(), ..late };
    assert!(heir.write(second(3), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
}

/// A node without a row can neither claim a discussion nor begin one, and it leaves nothing behind.
pub async fn a_node_without_a_row_claims_nothing<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (ghost, id) = (NodeId::named("ghost"), open(store, "tabs or spaces?", second(1)).await);
    let gone = StoreError::Gone(ghost);
    assert_eq!(store.claim(id, ghost).await, Err(gone.clone()));
    let any = quorum_core::seams::ClaimRequest::any(ghost, 9);
    assert_eq!(store.claim_any(any).await, Err(gone.clone()));
    let (new, facts) = (DiscussionId::fresh(), opening(about("new"), second(1), None));
    assert_eq!(store.begin(new, facts.clone(), ghost.into()).await, Err(gone));
    assert_eq!(store.read(new, Default::default(), 9).await, Err(StoreError::Unknown(new)));
    assert_eq!(claim_any(store, 9, "one").await.map(|it| it.len()), Ok(1));
}

/// A claim that races with the death of its node either ends with it or fails.
pub async fn no_claim_survives_a_race_with_the_reaper<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    for round in 0..20 {
        let id = open(store, "tabs or spaces?", second(1)).await;
        let name = format!("one {round}");
        let one = node(store, &name).await;
        let (claimed, reaped) = futures::future::join(store.claim(id, one), store.reap(one, 0)).await;
        assert_eq!(reaped, Ok(true));
        assert!(claimed.is_ok() || claimed == Err(StoreError::Gone(one)), "{claimed:?}");
        assert!(claim(store, id, "two").await.is_ok(), "no ghost holds it");
    }
}

/// When a node ends, other nodes can claim its discussions at once.
pub async fn a_node_that_parts_holds_nothing<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let held = claim(store, id, "one").await.expect("nobody has it");
    assert_eq!(store.deregister(held.node).await, Ok(()));
    assert_eq!(store.beat(held.node, Duty::Serving).await, Ok(None));
    assert!(claim(store, id, "two").await.is_ok());
}

/// Clients of all nodes count, but not those of a dead one; if several leave at the same time,
/// exactly one is the last.
pub async fn the_last_client_to_leave_is_told_so<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (one, two) = (node(store, "one").await, node(store, "two").await);
    let [id, other] = [DiscussionId::fresh(), DiscussionId::fresh()];
    let [ann, bob, eve] = [1, 2, 3].map(Uuid::from_u128);
    for (id, client, node) in [(id, ann, one), (id, bob, two), (other, ann, one)] {
        assert_eq!(store.attach(id, client, node).await, Ok(()));
        assert_eq!(store.attach(id, client, node).await, Ok(()), "twice is as good as once");
    }
    assert_eq!(store.detach(id, ann).await, Ok(false));
    assert_eq!(store.detach(id, bob).await, Ok(true));
    assert_eq!(store.detach(id, bob).await, Ok(true), "an answer may be lost");
    for _ in 0..10 {
        assert_eq!(store.attach(id, ann, one).await, Ok(()));
        assert_eq!(store.attach(id, bob, two).await, Ok(()));
        let left = futures::future::join(store.detach(id, ann), store.detach(id, bob)).await;
        assert!(matches!(left, (Ok(true), Ok(false)) | (Ok(false), Ok(true))), "{left:?}");
    }
    assert_eq!(store.attach(id, ann, one).await, Ok(()));
    assert_eq!(store.attach(id, eve, two).await, Ok(()));
    assert!(reap(store, "two").await);
    assert_eq!(store.detach(id, ann).await, Ok(true));
    assert_eq!(store.attach(id, eve, two).await, Err(StoreError::Gone(two)));
}
