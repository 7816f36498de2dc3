//! What was tried at a seat's step: attempts, failures, waits, the time they take and the money
//! held for them.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    call::retry::{Failures, LONGEST_WAIT_MS, Retries},
    model::{
        error::{ErrorClass, ProviderError},
        money::Spent,
        time::Timestamp,
    },
    record::Past,
};

#[derive(Debug, Default)]
pub(crate) struct Tried {
    pub(crate) attempts: u32,
    pub(crate) failures: Failures,
    /// Whether the last attempt was under way when the process ended.
    pub(crate) cut_off: bool,
    /// When the next attempt may be made, where the record says so.
    not_before: Option<Timestamp>,
    /// Whether that is because of the provider's rate limit, which holds for every discussion.
    limited: bool,
    /// `None` until the first call is placed.
    time: Option<Time>,
    /// When the latest call was placed, and its size in tokens as we count them.
    pub(crate) placed_at: Timestamp,
    pub(crate) counted: u64,
    /// What the ledger holds for the next call, or for the one under way.
    pub(crate) reserved: Option<Spent>,
}

/// The time of a step: all attempts share it.
#[derive(Debug, Clone, Copy)]
struct Time {
    began: Instant,
    deadline: Instant,
}

/// What is left of a wait that was under way when the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owed {
    pub(crate) wait: Duration,
    /// Whether everyone has to wait for this provider.
    pub(crate) closes_lane: bool,
}

impl Tried {
    /// What the record knows.
    pub(crate) fn of(past: Past) -> Self {
        let Past { attempts, failures, cut_off, not_before, limited } = past;
        Tried { attempts, failures, cut_off, not_before, limited, ..Tried::default() }
    }

    /// Nobody comes back earlier than the provider said (F5). Between two processes there is only
    /// the wall clock, so whatever it says, the wait is no longer than for a provider in this
    /// process.
    pub(crate) fn owed(&mut self, now: Timestamp) -> Owed {
        let owed_ms = self.not_before.take().map_or(0, |at| at.ms_after(now).min(LONGEST_WAIT_MS));
        Owed { wait: Duration::from_millis(owed_ms), closes_lane: self.limited && owed_ms > 0 }
    }

    /// Begins an attempt. Returns whether it repeats one that was cut off.
    pub(crate) fn begin(&mut self, at: Timestamp, counted: u64) -> bool {
        self.attempts += 1;
        (self.placed_at, self.counted) = (at, counted);
        std::mem::take(&mut self.cut_off)
    }

    /// The deadline of the step, which begins with its first attempt.
    pub(crate) fn deadline_from(&mut self, now: Instant, step: Duration) -> Instant {
        self.time.get_or_insert(Time { began: now, deadline: now + step }).deadline
    }

    /// `None` before the first attempt.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.time.map(|time| time.deadline)
    }

    pub(crate) fn elapsed_ms(&self, now: Instant) -> u64 {
        self.time.map_or(0, |time| now.saturating_duration_since(time.began).as_millis() as u64)
    }

    /// How long to wait before the next attempt after `error`, which is already counted; `None`
    /// when there is none.
    pub(crate) fn retry_ms(&self, error: &ProviderError, rules: Rules, now: Instant) -> Option<u64> {
        let wait_ms = if error.class == ErrorClass::ContextOverflow && rules.may_shrink {
            0
        } else {
            self.failures.wait_ms(error, rules.retries, rules.draw)?
        };
        (now + Duration::from_millis(wait_ms) < self.deadline()?).then_some(wait_ms)
    }
}

/// What decides about another attempt besides the failures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) retries: Retries,
    /// Whether a smaller request is worth a try.
    pub(crate) may_shrink: bool,
    /// Chance, for the jitter.
    pub(crate) draw: u64,
}
