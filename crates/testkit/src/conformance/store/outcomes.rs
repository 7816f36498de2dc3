//! Outcomes: recorded right answers, beside the record.

use quorum_core::{
    model::{
        id::{DiscussionId, Tenant},
        time::Timestamp,
    },
    seams::{KnownOutcome, OutcomesWanted, Scored, ScoredAnswer, StoreError},
};

use super::{
    Subject, Whole,
    fixture::{finish, second},
};

fn outcome(discussion: DiscussionId, tenant: &str, answer: &str, at: Timestamp) -> KnownOutcome {
    let said = ScoredAnswer {
        voice: "claude/opus".to_owned(),
        choice: "tabs".to_owned(),
        confidence: 0.9,
        is_right: answer == "tabs",
    };
    let scored = Scored { was_right: Some(true), probability: Some(0.75), options: 2, answers: vec![said] };
    let (tenant, by) = (Tenant::named(tenant), "ann".to_owned());
    KnownOutcome { discussion, tenant, simulated: false, answer: answer.to_owned(), by, at, scored }
}

fn wanted(tenant: &str, simulated: bool, limit: usize) -> OutcomesWanted {
    OutcomesWanted { tenant: Tenant::named(tenant), simulated, limit }
}

/// A correction is a further row: the newest counts, and both stay.
pub async fn an_outcome_is_corrected_by_another_and_both_stay<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (one, two) =
        (finish(store, "one", "tabs", second(1)).await, finish(store, "two", "tabs", second(2)).await);
    let first = outcome(one, "", "tabs", second(3));
    let other = outcome(two, "", "tabs", second(4));
    let corrected = outcome(one, "", "spaces", second(5));
    for it in [&first, &other, &corrected] {
        store.resolve(it.clone()).await.expect("the store is there");
    }
    assert_eq!(store.outcomes(wanted("", false, 9)).await, Ok(vec![corrected.clone(), other]));
    assert_eq!(store.outcomes(wanted("", false, 1)).await, Ok(vec![corrected.clone()]));
    assert_eq!(store.outcomes_of(one).await, Ok(vec![first, corrected]));
}

/// Tenants see their own, and simulated outcomes are never mixed with real ones.
pub async fn outcomes_are_kept_apart_by_tenant_and_simulation<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (one, two) =
        (finish(store, "one", "tabs", second(1)).await, finish(store, "two", "tabs", second(2)).await);
    let own = outcome(one, "ann", "tabs", second(3));
    let simulated = KnownOutcome { simulated: true, ..outcome(two, "ann", "tabs", second(4)) };
    for it in [&own, &simulated] {
        store.resolve(it.clone()).await.expect("the store is there");
    }
    assert_eq!(store.outcomes(wanted("ann", false, 9)).await, Ok(vec![own]));
    assert_eq!(store.outcomes(wanted("ann", true, 9)).await, Ok(vec![simulated]));
    assert_eq!(store.outcomes(wanted("bob", false, 9)).await, Ok(Vec::new()));
}

/// An outcome belongs to its discussion.
pub async fn an_outcome_goes_with_its_discussion<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let unknown = DiscussionId::fresh();
    let refused = store.resolve(outcome(unknown, "", "tabs", second(1))).await;
    assert_eq!(refused, Err(StoreError::Unknown(unknown)));
    let one = finish(store, "one", "tabs", second(1)).await;
    store.resolve(outcome(one, "", "tabs", second(2))).await.expect("the store is there");
    store.remove(one).await.expect("nobody runs it");
    assert_eq!(store.outcomes(wanted("", false, 9)).await, Ok(Vec::new()));
}
