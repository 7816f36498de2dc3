//! A clock that follows tokio's virtual time, and whose random numbers count up.

use std::sync::atomic::{AtomicU64, Ordering};

use quorum_core::{model::time::Timestamp, seams::Clock};
use tokio::time::Instant;

/// 2026-01-01T00:00:00Z.
const START: Timestamp = Timestamp(1_767_225_600_000_000);

/// Virtual time that starts at a fixed moment.
#[derive(Debug)]
pub struct VirtualClock {
    began: Instant,
    drawn: AtomicU64,
}

impl VirtualClock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        VirtualClock { began: Instant::now(), drawn: AtomicU64::new(0) }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        START.plus_ms(self.began.elapsed().as_millis() as u64)
    }

    fn draw(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed)
    }
}
