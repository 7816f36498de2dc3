//! Claims: one node at a time, and a node that lost its claim can't write.

use quorum_core::{
    model::{
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
    },
    seams::{Claim, Release, StoreError, Then},
};

use super::{
    Subject, Whole,
    fixture::{
        Writer, about, below, claim, claim_any, ending, finish, moved, node, open, opening, said, second,
    },
};

/// The later claim can write; the earlier one can't.
pub async fn an_older_claim_is_fenced<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut older = Writer::claiming(store, id, "one").await;
    let mut newer = Writer::claiming(store, id, "one").await;
    assert!(newer.claim.fence > older.claim.fence);
    let turn = || vec![said("ann", 1, "tabs")];
    assert_eq!(older.write(second(2), turn(), Then::Continue).await, Err(StoreError::Fenced(id)));
    assert!(newer.write(second(2), turn(), Then::Continue).await.is_ok());
}

/// Creation and claim are one step; an existing discussion stays unchanged and unclaimed.
pub async fn what_is_begun_is_claimed_from_the_start<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (id, facts) = (DiscussionId::fresh(), opening(about("tabs or spaces?"), second(1), None));
    let one = node(store, "one").await;
    let new = Claim { id, node: one, fence: 1 };
    assert_eq!(store.begin(id, facts.clone(), one.into()).await, Ok(Some(new.clone())));
    let held = StoreError::Held { id, owner: "one".to_owned() };
    assert_eq!(claim(store, id, "two").await, Err(held));
    let mut writer = Writer { store, claim: new, id, last: Seq(3) };
    assert!(writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
    assert_eq!(store.read(id, Seq::START, 3).await, Ok(facts));
    let opened = open(store, "vi or emacs?", second(1)).await;
    let anew = opening(about("vi or emacs?"), second(2), None);
    assert_eq!(store.begin(opened, anew, one.into()).await, Ok(None));
    assert!(claim(store, opened, "two").await.is_ok());
}

/// The error names the holder.
pub async fn a_held_discussion_names_its_holder<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let expected = Claim { id, node: node(store, "one").await, fence: 1 };
    assert_eq!(claim(store, id, "one").await, Ok(expected));
    let held = StoreError::Held { id, owner: "one".to_owned() };
    assert_eq!(claim(store, id, "two").await, Err(held));
    assert_eq!(claim_any(store, 1, "two").await, Ok(Vec::new()));
}

/// The second claim has a new fence.
pub async fn the_same_node_may_claim_again<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut fences = Vec::new();
    for _ in 0..3 {
        fences.push(claim(store, id, "one").await.map(|claim| claim.fence));
    }
    assert_eq!(fences, [Ok(1), Ok(2), Ok(3)]);
}

/// A released claim can't write, others may claim, and a second release does not affect them.
pub async fn a_released_claim_is_gone<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut first = Writer::claiming(store, id, "one").await;
    assert_eq!(store.release(first.claim.clone(), Release::Now).await, Ok(()));
    let refused = first.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Fenced(id)));
    let mut other = Writer::claiming(store, id, "two").await;
    assert_eq!(store.release(first.claim, Release::Now).await, Ok(()));
    assert!(other.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
}

/// What is held is told to the node: without what was taken over, given back or finished.
pub async fn a_node_learns_what_it_holds<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let mut claims = Vec::new();
    for topic in ["kept", "taken again", "given back", "finished"] {
        let id = open(store, topic, second(1)).await;
        claims.push(claim(store, id, "one").await.expect("nobody has it"));
    }
    let again = claim(store, claims[1].id, "one").await.expect("it is ours");
    store.release(claims[2].clone(), Release::Now).await.expect("the store is there");
    let mut writer = Writer { store, claim: claims[3].clone(), id: claims[3].id, last: Seq(3) };
    writer.write(second(2), ending("so it is"), Then::Done).await.expect("the claim is ours");
    let by_id = |it: &Claim| it.id;
    let mut held = store.held(node(store, "one").await).await.expect("the store is there");
    held.sort_by_key(by_id);
    let mut expected = vec![claims[0].clone(), again];
    expected.sort_by_key(by_id);
    assert_eq!(held, expected);
    assert_eq!(store.held(node(store, "two").await).await, Ok(Vec::new()));
}

/// Skips discussions that are paused, finished, claimed or sub-discussions.
pub async fn claim_any_takes_the_oldest_that_could_go_on<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let third = open(store, "third", second(30)).await;
    let first = open(store, "first", second(10)).await;
    let paused = open(store, "paused", second(1)).await;
    let mut writer = Writer::claiming(store, paused, "one").await;
    let pause = vec![moved(Lifecycle::Running, Lifecycle::Paused)];
    let park = Then::Park { seen: Default::default() };
    writer.write(second(2), pause, park).await.expect("the claim is ours");
    finish(store, "finished", "so it is", second(1)).await;
    let held = open(store, "held", second(1)).await;
    claim(store, held, "one").await.expect("nobody has it");
    let second_oldest = open(store, "second", second(20)).await;
    let child = opening(about("child"), second(1), below(first));
    store.create(first.derived("sub1"), child).await.expect("its root is there");

    let claimed = claim_any(store, 2, "two").await.expect("the store is there");
    let ids: Vec<DiscussionId> = claimed.iter().map(|claim| claim.id).collect();
    assert_eq!(ids, [first, second_oldest]);
    let mut writer = Writer { store, claim: claimed[0].clone(), id: first, last: Seq(3) };
    assert!(writer.write(second(31), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
    let rest = claim_any(store, 9, "two").await.expect("the store is there");
    assert_eq!(rest.iter().map(|claim| claim.id).collect::<Vec<_>>(), [third]);
}

/// A sub-discussion belongs to its root's claim.
pub async fn a_child_is_never_claimed<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let root = open(store, "tabs or spaces?", second(1)).await;
    let child = root.derived("sub1");
    let first = opening(about("how wide is a tab?"), second(2), below(root));
    store.create(child, first).await.expect("its root is there");
    assert_eq!(claim(store, child, "one").await, Err(StoreError::Unknown(child)));
}

/// Exactly one of many concurrent claims succeeds.
pub async fn of_many_claimants_one_wins<S: Whole>(subject: Subject<S>) {
    let id = open(&*subject.store, "tabs or spaces?", second(1)).await;
    let names: Vec<String> = (0..16).map(|number| format!("runner {number}")).collect();
    let tries = names.iter().map(|name| claim(&*subject.store, id, name));
    let results = futures::future::join_all(tries).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
}
