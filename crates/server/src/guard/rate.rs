//! Rate limits per caller: a token bucket with a burst and a steady rate.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use tokio::time::Instant;

use crate::settings::Limits;

/// One bucket per caller. If tokens are configured, callers with no token or a wrong one share one
/// small bucket, which slows down guessing.
pub(crate) struct Buckets {
    per_second: f64,
    burst: f64,
    levels: Mutex<HashMap<String, Level>>,
}

struct Level {
    left: f64,
    at: Instant,
}

impl Buckets {
    pub(crate) fn new(limits: Limits) -> Self {
        let (per_second, burst) = (f64::from(limits.requests_per_second), f64::from(limits.burst));
        Buckets { per_second, burst, levels: Mutex::default() }
    }

    /// Takes one request from the bucket, or returns after how many seconds there will be one. Each
    /// of `nodes` servers behind a proxy allows its share, and at least one request at a time.
    /// There are as many callers as tokens, so the map is bounded.
    pub(crate) fn take_request(&self, caller: &str, nodes: usize) -> Result<(), u64> {
        let nodes = nodes.max(1) as f64;
        let (per_second, burst) = (self.per_second / nodes, (self.burst / nodes).max(1.0));
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let level = levels.entry(caller.to_owned()).or_insert(Level { left: burst, at: now });
        let since = now.duration_since(level.at).as_secs_f64();
        *level = Level { left: (level.left + since * per_second).min(burst), at: now };
        if level.left >= 1.0 {
            level.left -= 1.0;
            return Ok(());
        }
        Err(((1.0 - level.left) / per_second).ceil().max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn s10_a_flood_is_slowed_and_others_are_not() {
        let limits = Limits { requests_per_second: 2, burst: 3, ..Limits::default() };
        let buckets = Buckets::new(limits);
        let taken: Vec<_> = (0..5).map(|_| buckets.take_request("ann", 1)).collect();
        assert_eq!(taken, [Ok(()), Ok(()), Ok(()), Err(1), Err(1)]);
        assert_eq!(buckets.take_request("bob", 1), Ok(()));
        tokio::time::advance(std::time::Duration::from_millis(500)).await;
        assert_eq!([buckets.take_request("ann", 1), buckets.take_request("ann", 1)], [Ok(()), Err(1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn servers_that_share_a_store_share_the_rate() {
        let limits = Limits { requests_per_second: 6, burst: 6, ..Limits::default() };
        let nodes = [Buckets::new(limits), Buckets::new(limits), Buckets::new(limits)];
        let taken = || -> usize {
            nodes.iter().map(|node| (0..9).filter(|_| node.take_request("ann", 3).is_ok()).count()).sum()
        };
        assert_eq!(taken(), 6, "the burst");
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        assert_eq!(taken(), 6, "the rate");
    }
}
