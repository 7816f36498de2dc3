//! Lanes: a provider's time is granted once, to whatever process asked. A store whose processes
//! count for themselves grants nothing.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use super::{Subject, Whole};

/// Ten grants at the same time don't overlap.
pub async fn the_time_of_a_provider_is_granted_once<S: Whole>(subject: Subject<S>) {
    let Some(grants) = subject.store.grants() else { return };
    let time = Duration::from_secs(5);
    let taken = futures::future::join_all((0..10).map(|_| grants.take("claude", time))).await;
    let ends: BTreeSet<i64> = taken.into_iter().map(|it| it.expect("the store is there").until).collect();
    let ends: Vec<i64> = ends.into_iter().collect();
    assert_eq!(ends.len(), 10);
    assert!(ends.windows(2).all(|it| it[1] - it[0] == 5_000_000), "{ends:?}");
    let other = grants.take("gemini", time).await.expect("the store is there");
    assert_eq!(other.wait, Duration::ZERO, "each provider has its own time");
}

/// Nothing is granted while the provider wants callers to wait.
pub async fn a_closed_lane_is_granted_later<S: Whole>(subject: Subject<S>) {
    let Some(grants) = subject.store.grants() else { return };
    grants.close("claude", Duration::from_secs(300));
    let (began, time) = (Instant::now(), Duration::from_millis(1));
    while grants.take("claude", time).await.expect("the store is there").wait < Duration::from_secs(200) {
        assert!(began.elapsed() < Duration::from_secs(20), "it was not closed");
    }
}
