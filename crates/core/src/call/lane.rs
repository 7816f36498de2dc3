//! Waiting for a turn at a provider: so many calls at once, so many a minute, none while it told us to wait.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Duration, Instant, sleep_until},
};

/// One provider's lane, shared by all discussions of a process. First come, first served.
#[derive(Debug)]
pub struct Lane {
    places: Arc<Semaphore>,
    spacing: Duration,
    opens: Mutex<Option<Instant>>,
}

/// How wide a lane is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    /// Calls at once.
    pub concurrency: usize,
    /// Calls a minute; `None` is without limit.
    pub per_minute: Option<u32>,
}

/// A place in a lane; dropping it frees it.
#[derive(Debug)]
pub struct Place(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Lane {
    /// A lane of this width.
    #[must_use]
    pub fn new(width: Width) -> Self {
        let spacing = width.per_minute.map_or(Duration::ZERO, |calls| Duration::from_secs(60) / calls.max(1));
        Lane { places: Arc::new(Semaphore::new(width.concurrency.max(1))), spacing, opens: Mutex::new(None) }
    }

    /// Waits for a place.
    pub async fn enter(&self) -> Place {
        #[expect(clippy::expect_used, reason = "the semaphore is private and nothing closes it")]
        let permit = self.places.clone().acquire_owned().await.expect("never closed");
        if let Some(opens) = self.next_slot() {
            sleep_until(opens).await;
        }
        Place(permit)
    }

    /// Keeps everyone out for so long: a provider asked us to wait.
    pub fn close_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut opens = self.opens.lock().unwrap_or_else(PoisonError::into_inner);
        *opens = Some(opens.map_or(until, |already| already.max(until)));
    }

    /// Takes the next free slot; `None` when it is now.
    fn next_slot(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut opens = self.opens.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = opens.map_or(now, |opens| opens.max(now));
        *opens = (slot + self.spacing > now).then_some(slot + self.spacing);
        (slot > now).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_lane_spaces_its_calls_and_closes_when_told() {
        let lane = Lane::new(Width { concurrency: 9, per_minute: Some(60) });
        let began = Instant::now();
        let mut entered = Vec::new();
        for _ in 0..3 {
            let _place = lane.enter().await;
            entered.push(began.elapsed().as_secs());
        }
        lane.close_for(Duration::from_secs(30));
        let _place = lane.enter().await;
        entered.push(began.elapsed().as_secs());
        assert_eq!(entered, [0, 1, 2, 32]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_at_once() {
        let lane = Lane::new(Width { concurrency: 1, per_minute: None });
        let place = lane.enter().await;
        let second = tokio::time::timeout(Duration::from_secs(1), lane.enter());
        assert!(second.await.is_err());
        drop(place);
        lane.enter().await;
    }
}
