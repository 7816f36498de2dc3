//! Lanes: limits on concurrent calls, calls per minute and tokens per minute to a provider,
//! including its rate-limit waits.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Duration, Instant, sleep, sleep_until},
};

use crate::call::{
    grants::{Grant, Grants},
    retry::LONGEST_WAIT_MS,
};

/// How much of a provider's time is taken at once, at most.
const MOST_TAKEN: Duration = Duration::from_secs(1);

/// How long a store that can't be asked is not asked again.
const AWAY: Duration = Duration::from_millis(250);

/// One provider's lane, shared by all discussions of a process, and with other processes if their
/// store grants the provider's time. First come, first served.
#[derive(Debug)]
pub struct Lane {
    places: Arc<Semaphore>,
    concurrency: usize,
    spacing: Duration,
    tokens_per_minute: Option<u64>,
    times: Mutex<Times>,
    shared: OnceLock<Shared>,
}

/// A lane as one of several processes uses it.
struct Shared {
    name: String,
    grants: Arc<dyn Grants>,
    granted: tokio::sync::Mutex<Granted>,
    /// How many calls wait for a slot.
    waiting: AtomicU32,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The unused part of the last grant.
#[derive(Default)]
struct Granted {
    piece: Option<Piece>,
    /// Slots whose calls were dropped before, by their ends.
    dropped: BTreeMap<Instant, Instant>,
}

struct Piece {
    start: Instant,
    next: Instant,
    end: Instant,
    grant: Grant,
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
            concurrency: width.concurrency.max(1),
            spacing,
            tokens_per_minute: width.tokens_per_minute,
            times: Mutex::default(),
            shared: OnceLock::new(),
        }
    }

    /// Shares the provider with other processes from now on.
    pub fn share(&self, name: &str, grants: Arc<dyn Grants>) {
        self.shared.get_or_init(|| Shared {
            name: name.to_owned(),
            grants,
            granted: tokio::sync::Mutex::default(),
            waiting: AtomicU32::new(0),
        });
    }

    /// How many permits a call takes, so that this process gets its share of the concurrent calls,
    /// and at least one.
    fn permits(&self) -> u32 {
        let sharers = self.shared.get().map_or(1, |it| it.grants.sharers().max(1));
        let share = (self.concurrency / sharers).max(1);
        u32::try_from(self.concurrency / share).unwrap_or(u32::MAX)
    }

    /// Waits for a place for a call of this many tokens. Fails if the lane stays closed for longer
    /// than our limit.
    pub async fn enter(&self, tokens: u64) -> Result<Place, Closed> {
        #[expect(clippy::expect_used, reason = "the semaphore is private and nothing closes it")]
        let permit = self.places.clone().acquire_many_owned(self.permits()).await.expect("never closed");
        loop {
            self.check_closed()?;
            let spacing = self.spacing.max(self.time_of(tokens));
            match self.shared.get() {
                Some(shared) if !spacing.is_zero() => {
                    // Slots that pass meanwhile are lost, and new ones come one after the other.
                    sleep(self.closed_for()).await;
                    shared.wait(spacing).await;
                }
                _ => match self.next_slot(spacing) {
                    Some(slot) => sleep_until(slot).await,
                    None => break,
                },
            }
            // If it was closed meanwhile, take another slot, so that not all calls start at once
            // when it opens.
            if self.closed_for().is_zero() {
                break;
            }
        }
        Ok(Place(permit))
    }

    /// Closes the lane for this long, because the provider asked us to wait.
    pub fn close_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut times = self.times();
        times.closed = times.closed.max(Some(until));
        drop(times);
        if let Some(shared) = self.shared.get() {
            shared.grants.close(&shared.name, wait);
        }
    }

    fn check_closed(&self) -> Result<(), Closed> {
        let wait = self.closed_for();
        if !wait.is_zero() {
            // Another process may have closed it.
            let mut times = self.times();
            times.closed = times.closed.max(Some(Instant::now() + wait));
        }
        if wait > Duration::from_millis(LONGEST_WAIT_MS) { Err(Closed(wait)) } else { Ok(()) }
    }

    fn closed_for(&self) -> Duration {
        let elsewhere = self.shared.get().map_or(Duration::ZERO, |it| it.grants.closed_for(&it.name));
        let closed = self.times().closed;
        let here = closed.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        here.max(elsewhere)
    }

    /// Takes the next free slot; `None` if that is now. The larger the spacing of this call, the
    /// later the slot after it.
    fn next_slot(&self, spacing: Duration) -> Option<Instant> {
        let now = Instant::now();
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

impl Shared {
    /// Waits for a slot. If the call is dropped meanwhile, the slot is free again.
    async fn wait(&self, spacing: Duration) {
        let mut slot = self.slot(spacing).await;
        sleep_until(slot.at).await;
        slot.is_used = true;
    }

    /// The next slot of what was granted, or of a new grant.
    async fn slot(&self, spacing: Duration) -> Slot<'_> {
        let _waiting = Waiting::begin(self);
        let mut granted = self.granted.lock().await;
        loop {
            if let Some(at) = granted.next(spacing) {
                return Slot { shared: self, at, spacing, is_used: false };
            }
            let wanted = spacing * self.waiting.load(Ordering::SeqCst).max(1);
            let time = wanted.min(MOST_TAKEN).max(spacing);
            match self.grants.take(&self.name, time).await {
                Ok(grant) => {
                    let next = Instant::now() + grant.wait;
                    let piece = Some(Piece { start: next, next, end: next + time, grant });
                    *granted = Granted { piece, dropped: BTreeMap::new() };
                }
                // Without the store, nothing could be recorded either.
                Err(_) => sleep(AWAY).await,
            }
        }
    }

    /// Gives the end of the grant back, if nothing waits for it.
    fn drop_slot(&self, at: Instant, spacing: Duration) {
        let Ok(mut granted) = self.granted.try_lock() else { return };
        let Granted { piece: Some(piece), dropped } = &mut *granted else { return };
        // One of an earlier grant has passed to others with its end.
        if at < piece.start {
            return;
        }
        dropped.insert(at + spacing, at);
        while let Some(at) = dropped.remove(&piece.next) {
            piece.next = at;
        }
        let unused = piece.end.saturating_duration_since(piece.next.max(Instant::now()));
        if spacing <= unused && dropped.is_empty() && self.waiting.load(Ordering::SeqCst) == 0 {
            self.grants.give_back(&self.name, piece.grant, unused);
            granted.piece = None;
        }
    }
}

impl Granted {
    /// The next slot. One that passed unused is lost, because it is another process's time now.
    fn next(&mut self, spacing: Duration) -> Option<Instant> {
        let piece = self.piece.as_mut()?;
        let now = Instant::now();
        while piece.next + spacing < now {
            piece.next += spacing;
        }
        let slot = piece.next;
        let is_inside = slot + spacing <= piece.end;
        piece.next = if is_inside { slot + spacing } else { piece.next };
        is_inside.then_some(slot)
    }
}

/// A slot of a call.
struct Slot<'a> {
    shared: &'a Shared,
    at: Instant,
    spacing: Duration,
    is_used: bool,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if !self.is_used {
            self.shared.drop_slot(self.at, self.spacing);
        }
    }
}

/// A call that waits for a slot.
struct Waiting<'a>(&'a Shared);

impl<'a> Waiting<'a> {
    fn begin(shared: &'a Shared) -> Self {
        shared.waiting.fetch_add(1, Ordering::SeqCst);
        Waiting(shared)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::grants::Away;
    use futures::future::BoxFuture;

    /// A store in which two other processes take part.
    #[derive(Default)]
    struct Store {
        free: Mutex<Option<Instant>>,
        log: Mutex<Vec<String>>,
        closed: Mutex<Option<Instant>>,
    }

    impl Grants for Store {
        fn sharers(&self) -> usize {
            3
        }

        fn closed_for(&self, _: &str) -> Duration {
            let closed = *self.closed.lock().unwrap();
            closed.map_or(Duration::ZERO, |it| it.saturating_duration_since(Instant::now()))
        }

        fn close(&self, lane: &str, wait: Duration) {
            self.log.lock().unwrap().push(format!("close {lane} {wait:?}"));
        }

        fn take(&self, lane: &str, time: Duration) -> BoxFuture<'_, Result<Grant, Away>> {
            self.log.lock().unwrap().push(format!("take {lane} {time:?}"));
            let (mut free, now) = (self.free.lock().unwrap(), Instant::now());
            let start = free.map_or(now, |it| it.max(now));
            *free = Some(start + time);
            Box::pin(async move {
                tokio::task::yield_now().await;
                Ok(Grant { wait: start - now, until: 7 })
            })
        }

        fn give_back(&self, lane: &str, grant: Grant, unused: Duration) {
            self.log.lock().unwrap().push(format!("back {lane} {} {unused:?}", grant.until));
        }
    }

    fn shared(width: Width) -> (Lane, Arc<Store>) {
        let (lane, store) = (Lane::new(width), Arc::new(Store::default()));
        lane.share("claude", store.clone());
        (lane, store)
    }

    #[tokio::test(start_paused = true)]
    async fn a_shared_lane_takes_what_its_calls_need_at_once_and_keeps_the_pace() {
        let (lane, store) = shared(Width { per_minute: Some(600), ..Width::at_once(90) });
        *store.free.lock().unwrap() = Some(Instant::now() + Duration::from_secs(2));
        let began = Instant::now();
        let enter = || async {
            let _place = lane.enter(0).await;
            began.elapsed().as_millis()
        };
        let entered = futures::future::join_all((0..15).map(|_| enter())).await;
        let expected: Vec<u128> = (0..15).map(|it| 2_000 + it * 100).collect();
        assert_eq!(entered, expected);
        // The first call asks when it is still alone; then all that wait are counted, up to a
        // second.
        assert_eq!(*store.log.lock().unwrap(), ["take claude 100ms", "take claude 1s", "take claude 400ms"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shared_lane_has_its_share_of_the_concurrent_calls() {
        let (lane, _) = shared(Width::at_once(7));
        let places = [lane.enter(0).await.unwrap(), lane.enter(0).await.unwrap()];
        let third = tokio::time::timeout(Duration::from_secs(1), lane.enter(0));
        assert!(third.await.is_err(), "7 calls for 3 processes are 2 for each");
        drop(places);
        let (narrow, _) = shared(Width::at_once(2));
        assert!(narrow.enter(0).await.is_ok(), "each process may make one call at least");
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_limit_anywhere_closes_the_lane_here() {
        let (lane, store) = shared(Width::at_once(9));
        lane.close_for(Duration::from_secs(3));
        *store.closed.lock().unwrap() = Some(Instant::now() + Duration::from_secs(5));
        let began = Instant::now();
        let _place = lane.enter(0).await.unwrap();
        assert_eq!(
            (began.elapsed().as_secs(), store.log.lock().unwrap().join("")),
            (5, "close claude 3s".to_owned())
        );
    }

    #[tokio::test(start_paused = true)]
    async fn unused_lane_time_is_given_back() {
        let (lane, store) = shared(Width { per_minute: Some(600), ..Width::at_once(90) });
        *store.free.lock().unwrap() = Some(Instant::now() + Duration::from_secs(2));
        let calls = futures::future::join_all((0..9).map(|_| lane.enter(0)));
        // All are dropped while they wait, as at the end of a process.
        assert!(tokio::time::timeout(Duration::from_secs(1), calls).await.is_err());
        let expected = ["take claude 100ms", "take claude 800ms", "back claude 7 800ms"];
        assert_eq!(*store.log.lock().unwrap(), expected);
    }

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
