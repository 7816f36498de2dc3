//! The system clock and random number source.

use std::time::{SystemTime, UNIX_EPOCH};

use quorum_core::{model::time::Timestamp, seams::Clock};
use uuid::Uuid;

/// The system clock and random number generator.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock set before 1970 is wrong anyway; order and durations never come from here.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    fn draw(&self) -> u64 {
        // Six of a random UUID's 128 bits are fixed; folding its halves together leaves none fixed.
        let (high, low) = Uuid::new_v4().as_u64_pair();
        high ^ low.rotate_left(32)
    }
}

/// The machine's host name, for people to read.
pub(crate) fn machine() -> String {
    let from_kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = from_kernel.or_else(|| std::env::var("HOSTNAME").ok());
    name.map(|it| it.trim().to_owned())
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| "this machine".to_owned())
}
