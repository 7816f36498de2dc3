//! Claims: one owner at a time, and an owner that lost its claim can't write.

use std::time::Duration;

use quorum_core::{
    model::{
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
    },
    seams::{Claim, StoreError, Then},
};

use super::{
    Subject, Whole,
    fixture::{LEASE_MS, Writer, about, below, finish, moved, open, opening, said, second},
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
    let claim = Claim { id, owner: "one".to_owned(), fence: 1 };
    assert_eq!(store.begin(id, facts.clone(), "one", LEASE_MS).await, Ok(Some(claim.clone())));
    let held = StoreError::Held { id, owner: "one".to_owned() };
    assert_eq!(store.claim(id, "two", LEASE_MS).await, Err(held));
    let mut writer = Writer { store, claim, id, last: Seq(3) };
    assert!(writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
    assert_eq!(store.read(id, Seq::START, 3).await, Ok(facts));
    let opened = open(store, "vi or emacs?", second(1)).await;
    let anew = opening(about("vi or emacs?"), second(2), None);
    assert_eq!(store.begin(opened, anew, "one", LEASE_MS).await, Ok(None));
    assert!(store.claim(opened, "two", LEASE_MS).await.is_ok());
}

/// The error names the holder.
pub async fn a_held_discussion_names_its_holder<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let claim = store.claim(id, "one", LEASE_MS).await;
    assert_eq!(claim, Ok(Claim { id, owner: "one".to_owned(), fence: 1 }));
    let held = StoreError::Held { id, owner: "one".to_owned() };
    assert_eq!(store.claim(id, "two", LEASE_MS).await, Err(held));
    assert_eq!(store.claim_any(1, "two", LEASE_MS).await, Ok(Vec::new()));
}

/// The second claim has a new fence.
pub async fn the_same_owner_may_claim_again<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut fences = Vec::new();
    for _ in 0..3 {
        fences.push(store.claim(id, "one", LEASE_MS).await.map(|claim| claim.fence));
    }
    assert_eq!(fences, [Ok(1), Ok(2), Ok(3)]);
}

/// A released claim can't write, others may claim, and a second release does not affect them.
pub async fn a_released_claim_is_gone<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut first = Writer::claiming(store, id, "one").await;
    assert_eq!(store.release(first.claim.clone()).await, Ok(()));
    let refused = first.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Fenced(id)));
    let mut other = Writer::claiming(store, id, "two").await;
    assert_eq!(store.release(first.claim).await, Ok(()));
    assert!(other.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
}

/// After that, another owner may claim it; until then, the old owner may go on.
pub async fn a_lease_runs_out<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut first = Writer::claiming(store, id, "one").await;
    if !subject.time.pass(Duration::from_millis(LEASE_MS - 1_000)).await {
        return;
    }
    assert!(store.claim(id, "two", LEASE_MS).await.is_err());
    subject.time.pass(Duration::from_secs(2)).await;
    assert!(first.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
    let taken = store.claim(id, "two", LEASE_MS).await.expect("its lease ran out");
    assert!(taken.fence > first.claim.fence);
    let refused = first.write(second(3), vec![said("ann", 1, "tabs!")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Fenced(id)));
}

/// Claims that were taken over or released are returned as lost.
pub async fn extending_holds_and_tells_what_is_lost<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let mut claims = Vec::new();
    for topic in ["kept", "taken over", "given back"] {
        let id = open(store, topic, second(1)).await;
        claims.push(store.claim(id, "one", LEASE_MS).await.expect("nobody has it"));
    }
    store.claim(claims[1].id, "one", LEASE_MS).await.expect("its owner may");
    store.release(claims[2].clone()).await.expect("the store is there");
    subject.time.pass(Duration::from_millis(LEASE_MS - 1_000)).await;
    assert_eq!(store.extend(claims.clone(), LEASE_MS).await, Ok(claims[1..].to_vec()));
    subject.time.pass(Duration::from_secs(2)).await;
    let held = StoreError::Held { id: claims[0].id, owner: "one".to_owned() };
    assert_eq!(store.claim(claims[0].id, "two", LEASE_MS).await, Err(held));
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
    store.claim(held, "one", LEASE_MS).await.expect("nobody has it");
    let second_oldest = open(store, "second", second(20)).await;
    let child = opening(about("child"), second(1), below(first));
    store.create(first.derived("sub1"), child).await.expect("its root is there");

    let claimed = store.claim_any(2, "two", LEASE_MS).await.expect("the store is there");
    let ids: Vec<DiscussionId> = claimed.iter().map(|claim| claim.id).collect();
    assert_eq!(ids, [first, second_oldest]);
    let mut writer = Writer { claim: claimed[0].clone(), ..Writer { id: first, ..writer } };
    writer.last = quorum_core::model::id::Seq(3);
    assert!(writer.write(second(31), vec![said("ann", 1, "tabs")], Then::Continue).await.is_ok());
    let rest = store.claim_any(9, "two", LEASE_MS).await.expect("the store is there");
    assert_eq!(rest.iter().map(|claim| claim.id).collect::<Vec<_>>(), [third]);
}

/// A sub-discussion belongs to its root's claim.
pub async fn a_child_is_never_claimed<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let root = open(store, "tabs or spaces?", second(1)).await;
    let child = root.derived("sub1");
    let first = opening(about("how wide is a tab?"), second(2), below(root));
    store.create(child, first).await.expect("its root is there");
    assert_eq!(store.claim(child, "one", LEASE_MS).await, Err(StoreError::Unknown(child)));
}

/// Exactly one of many concurrent claims succeeds.
pub async fn of_many_claimants_one_wins<S: Whole>(subject: Subject<S>) {
    let id = open(&*subject.store, "tabs or spaces?", second(1)).await;
    let names: Vec<String> = (0..16).map(|number| format!("runner {number}")).collect();
    let tries = names.iter().map(|name| subject.store.claim(id, name, LEASE_MS));
    let results = futures::future::join_all(tries).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
}
