//! The history of a seat's step: attempts, failures, waits, the time they take and the money
//! reserved for them.

use std::time::Duration;

use tokio::time::Instant;

use crate::{
    call::retry::{Failures, Retries},
    floor::{answer_text::Arrived, request::Failed},
    model::{error::ErrorClass, money::Spent, time::Timestamp},
    record::Past,
};

#[derive(Debug, Default)]
pub(crate) struct Tried {
    pub(crate) attempts: u32,
    pub(crate) failures: Failures,
    /// Whether the last attempt was under way when the process ended.
    pub(crate) cut_off: bool,
    /// The active time of the next attempt, if the record has one, and the wait before it.
    not_before: Option<(u64, u64)>,
    /// Whether that wait is due to the provider's rate limit, which applies to every discussion.
    limited: bool,
    /// The rate limit that is waited for beyond the time of the step.
    limit: Option<Box<Failed>>,
    /// `None` until the first call is placed.
    time: Option<Time>,
    /// When the latest call was placed, and its size in tokens by our count.
    pub(crate) placed_at: Timestamp,
    pub(crate) counted: u64,
    /// The part of the answer to the latest call that has arrived.
    pub(crate) arrived: Arrived,
    /// The ledger's reservation for the next call, or for the one under way.
    pub(crate) reserved: Option<Spent>,
}

/// The time of a step, shared by all its attempts.
#[derive(Debug, Clone, Copy)]
struct Time {
    began: Instant,
    deadline: Instant,
}

/// The rest of a wait that was under way when the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owed {
    pub(crate) wait: Duration,
    /// Whether all requests to this provider have to wait.
    pub(crate) closes_lane: bool,
}

impl Tried {
    /// The history that the record has.
    pub(crate) fn of(past: Past) -> Self {
        let Past { attempts, failures, cut_off, not_before, limited } = past;
        Tried { attempts, failures, cut_off, not_before, limited, ..Tried::default() }
    }

    /// The rest of the wait before the next attempt: no request is sent earlier than the provider
    /// said (F5). Only active time counts, because the clocks of two processes may differ.
    pub(crate) fn owed(&mut self, active_ms: u64) -> Owed {
        let owed_ms =
            self.not_before.take().map_or(0, |(at, told_ms)| at.saturating_sub(active_ms).min(told_ms));
        Owed { wait: Duration::from_millis(owed_ms), closes_lane: self.limited && owed_ms > 0 }
    }

    /// Waits for a rate limit beyond the time of the step, which starts over afterwards.
    pub(crate) fn wait_for_limit(&mut self, failed: Box<Failed>) {
        (self.limit, self.time) = (Some(failed), None);
    }

    /// The rate limit that is waited for beyond the time of the step.
    pub(crate) fn awaited_limit(&self) -> Option<&Failed> {
        self.limit.as_deref()
    }

    /// Begins an attempt. Returns whether it repeats one that was cut off.
    pub(crate) fn begin(&mut self, at: Timestamp, counted: u64) -> bool {
        self.attempts += 1;
        (self.placed_at, self.counted, self.limit) = (at, counted, None);
        self.arrived = Arrived::default();
        std::mem::take(&mut self.cut_off)
    }

    /// The deadline of the step, whose time starts with its first attempt.
    pub(crate) fn deadline_from(&mut self, now: Instant, step: Duration) -> Instant {
        self.time.get_or_insert(Time { began: now, deadline: now + step }).deadline
    }

    /// The deadline of the step; `None` before the first attempt.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.time.map(|time| time.deadline)
    }

    pub(crate) fn elapsed_ms(&self, now: Instant) -> u64 {
        self.time.map_or(0, |time| now.saturating_duration_since(time.began).as_millis() as u64)
    }

    /// How long to wait before the next attempt after this failure, which is already counted;
    /// `None` if there is no next attempt.
    pub(crate) fn retry_ms(&self, failed: &Failed, rules: &Rules, now: Instant) -> Option<u64> {
        let error = &failed.error;
        let shrinks = error.class == ErrorClass::ContextOverflow && rules.may_shrink;
        let thinks_more = failed.only_thoughts && self.failures.may_think_more();
        // Another request than the one that failed need not wait.
        let wait_ms = if shrinks || thinks_more {
            0
        } else {
            self.failures.wait_ms(error, &rules.retries, rules.draw)?
        };
        (now + Duration::from_millis(wait_ms) < self.deadline()?).then_some(wait_ms)
    }
}

/// The conditions, apart from the failures, that decide whether there is another attempt.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) retries: Retries,
    /// Whether a smaller request is worth trying.
    pub(crate) may_shrink: bool,
    /// A random number, for the jitter.
    pub(crate) draw: u64,
}
