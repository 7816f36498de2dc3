//! Retries as an order asks for them, in place of the table by error class.

use serde::{Deserialize, Serialize};

use crate::model::error::ErrorClass;

/// The longest wait between two attempts.
const LONGEST_WAIT_MS: u64 = 600_000;

/// How often a failed call or tool is tried, and how long to wait in between.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// How many attempts there are in all.
    pub max_attempts: u32,
    /// The wait after the first failure.
    pub backoff_ms: u64,
    /// By how much each further wait is longer.
    pub multiplier: f64,
    /// The error classes that are retried; empty for all that may pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<ErrorClass>,
}

impl RetryPolicy {
    /// The wait after this many failures; `None` if there is no further attempt.
    #[must_use]
    pub fn wait_ms(&self, failures: u32) -> Option<u64> {
        if failures >= self.max_attempts {
            return None;
        }
        let power = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let wait = self.backoff_ms as f64 * self.multiplier.powi(power);
        Some((wait as u64).min(LONGEST_WAIT_MS))
    }

    /// Whether an error of this class is retried.
    #[must_use]
    pub fn covers(&self, class: ErrorClass) -> bool {
        if self.on.is_empty() { class.is_transient() } else { self.on.contains(&class) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b11_waits_grow_by_the_multiplier_and_end_with_the_attempts() {
        let policy = RetryPolicy { max_attempts: 4, backoff_ms: 100, multiplier: 3.0, on: Vec::new() };
        let waits: Vec<Option<u64>> = (1..=4).map(|failures| policy.wait_ms(failures)).collect();
        assert_eq!(waits, [Some(100), Some(300), Some(900), None]);
    }

    #[test]
    fn b11_only_the_classes_named_are_retried() {
        let policy = RetryPolicy { max_attempts: 2, backoff_ms: 100, multiplier: 2.0, on: Vec::new() };
        assert!(policy.covers(ErrorClass::Network) && !policy.covers(ErrorClass::Authentication));
        let policy = RetryPolicy { on: vec![ErrorClass::RateLimit], ..policy };
        assert!(policy.covers(ErrorClass::RateLimit) && !policy.covers(ErrorClass::Network));
    }
}
