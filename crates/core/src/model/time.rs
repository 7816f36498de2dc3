//! Timestamps of the record.

use serde::{Deserialize, Serialize};

/// A wall-clock time in microseconds since 1970, UTC, only for people to read: facts are ordered by
/// sequence number, and durations come from the monotonic clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds since 1970, the unit of requirement A's events.
    #[must_use]
    pub fn epoch_ms(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// This time plus a number of milliseconds.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Timestamp(self.0.saturating_add_unsigned(ms.saturating_mul(1_000)))
    }

    /// How many milliseconds this is after `earlier`; 0 if it is before.
    #[must_use]
    pub fn ms_after(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default().div_ceil(1_000)
    }

    /// This time minus a number of milliseconds.
    #[must_use]
    pub fn minus_ms(self, ms: u64) -> Self {
        Timestamp(self.0.saturating_sub_unsigned(ms.saturating_mul(1_000)))
    }
}

/// The time as results show it: ISO 8601, UTC, with a Z.
#[must_use]
pub fn iso(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.0).map(|it| it.to_string()).unwrap_or_default()
}
