//! Points in time as the record keeps them.

use serde::{Deserialize, Serialize};

/// A moment of the wall clock in microseconds since 1970, UTC. Order comes from sequence numbers and durations from
/// the monotonic clock; this is only for people to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Milliseconds since 1970, as requirement A's events carry them.
    #[must_use]
    pub fn epoch_ms(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// This moment and that many milliseconds more.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Timestamp(self.0.saturating_add_unsigned(ms.saturating_mul(1_000)))
    }

    /// How many milliseconds after that moment this one is; none where it is earlier.
    #[must_use]
    pub fn ms_after(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default().div_ceil(1_000)
    }

    /// That many milliseconds earlier.
    #[must_use]
    pub fn minus_ms(self, ms: u64) -> Self {
        Timestamp(self.0.saturating_sub_unsigned(ms.saturating_mul(1_000)))
    }
}

/// A moment as results show it: ISO 8601, UTC, with a Z.
#[must_use]
pub fn iso(at: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(at.0).map(|it| it.to_string()).unwrap_or_default()
}
