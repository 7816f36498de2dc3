//! Lanes: limits on concurrent calls, calls per minute and tokens per minute to a provider,
//! including its rate-limit waits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Duration, Instant, sleep_until},
};

use crate::call::retry::LONGEST_WAIT_MS;

/// One provider's lane, shared by all discussions of a process. First come, first served.
#[derive(Debug)]
pub struct Lane {
    places: Arc<Semaphore>,
    spacing: Duration,
    tokens_per_minute: Option<u64>,
    times: Mutex<Times>,
}

#[derive(Debug, Default)]
struct Times {
    /// When the next slot is free.
    free: Option<Instant>,
    /// Until when the provider asked us to wait.
    closed: Option<Instant>,
}

/// The limits of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    /// Concurrent calls.
    pub concurrency: usize,
    /// Calls per minute; `None` means no limit.
    pub per_minute: Option<u32>,
    /// Tokens per minute, prompt and completion; `None` means no limit.
    pub tokens_per_minute: Option<u64>,
}

impl Width {
    /// A limit on concurrent calls and no other limit.
    #[must_use]
    pub const fn at_once(concurrency: usize) -> Self {
        Width { concurrency, per_minute: None, tokens_per_minute: None }
    }
}

/// A place in a lane; freed when dropped.
#[derive(Debug)]
pub struct Place(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

/// The provider asked us to wait longer than our limit; the value is the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed(pub Duration);

impl Lane {
    /// A lane with these limits.
    #[must_use]
    pub fn new(width: Width) -> Self {
        let spacing = width.per_minute.map_or(Duration::ZERO, |calls| Duration::from_secs(60) / calls.max(1));
        Lane {
            places: Arc::new(Semaphore::new(width.concurrency.max(1))),
            spacing,
            tokens_per_minute: width.tokens_per_minute,
            times: Mutex::default(),
        }
    }

    /// Waits for a place for a call of this many tokens. Fails if the lane stays closed for longer
    /// than our limit.
    pub async fn enter(&self, tokens: u64) -> Result<Place, Closed> {
        #[expect(clippy::expect_used, reason = "the semaphore is private and nothing closes it")]
        let permit = self.places.clone().acquire_owned().await.expect("never closed");
        loop {
            self.check_closed()?;
            let Some(slot) = self.next_slot(tokens) else { break };
            sleep_until(slot).await;
            // If it was closed meanwhile, take another slot, so that not all calls start at once
            // when it opens.
            if self.closed_for().is_zero() {
                break;
            }
        }
        Ok(Place(permit))
    }

    /// Closes the lane for so long, because the provider asked us to wait.
    pub fn close_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut times = self.times();
        times.closed = times.closed.max(Some(until));
    }

    fn check_closed(&self) -> Result<(), Closed> {
        let wait = self.closed_for();
        if wait > Duration::from_millis(LONGEST_WAIT_MS) { Err(Closed(wait)) } else { Ok(()) }
    }

    fn closed_for(&self) -> Duration {
        self.times().closed.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Takes the next free slot; `None` if that is now. The larger this call, the later the slot
    /// after it.
    fn next_slot(&self, tokens: u64) -> Option<Instant> {
        let now = Instant::now();
        let spacing = self.spacing.max(self.time_of(tokens));
        let mut times = self.times();
        let slot = times.free.max(times.closed).map_or(now, |free| free.max(now));
        times.free = (slot + spacing > now).then_some(slot + spacing);
        (slot > now).then_some(slot)
    }

    /// How long the provider's allowance takes to refill by this many tokens.
    fn time_of(&self, tokens: u64) -> Duration {
        let Some(per_minute) = self.tokens_per_minute else { return Duration::ZERO };
        Duration::from_secs(60).mul_f64((tokens as f64 / per_minute.max(1) as f64).min(1.0))
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_lane_spaces_its_calls_and_closes_when_told() {
        let lane = Lane::new(Width { per_minute: Some(60), ..Width::at_once(9) });
        let began = Instant::now();
        let mut entered = Vec::new();
        for _ in 0..3 {
            let _place = lane.enter(0).await;
            entered.push(began.elapsed().as_secs());
        }
        lane.close_for(Duration::from_secs(30));
        let _place = lane.enter(0).await;
        entered.push(began.elapsed().as_secs());
        assert_eq!(entered, [0, 1, 2, 32]);
    }

    #[tokio::test(start_paused = true)]
    async fn d14_large_calls_leave_room_after_them() {
        let lane = Lane::new(Width { tokens_per_minute: Some(60_000), ..Width::at_once(9) });
        let began = Instant::now();
        let mut entered = Vec::new();
        for tokens in [10_000, 500, 500_000, 0] {
            let _place = lane.enter(tokens).await;
            entered.push(began.elapsed().as_millis());
        }
        assert_eq!(entered, [0, 10_000, 10_500, 70_500]);
    }

    #[tokio::test(start_paused = true)]
    async fn concurrency_is_limited() {
        let lane = Lane::new(Width::at_once(1));
        let place = lane.enter(0).await;
        let second = tokio::time::timeout(Duration::from_secs(1), lane.enter(0));
        assert!(second.await.is_err());
        drop(place);
        assert!(lane.enter(0).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn f5_a_lane_that_closes_also_delays_calls_already_waiting_for_a_slot() {
        let lane = Lane::new(Width { per_minute: Some(60), ..Width::at_once(9) });
        let _place = lane.enter(0).await;
        let began = Instant::now();
        let (_second, ()) = tokio::join!(lane.enter(0), async { lane.close_for(Duration::from_secs(30)) });
        assert_eq!(began.elapsed().as_secs(), 30);
    }
}
