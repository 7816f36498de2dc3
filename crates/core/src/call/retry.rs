//! Retries: whether a failed attempt is repeated, and after how long (D12, A13).

use std::{collections::BTreeMap, sync::Arc};

use crate::model::{
    error::{ErrorClass, ProviderError},
    retry_policy::RetryPolicy,
};

const FIRST_WAIT_MS: u64 = 1_000;
/// The longest wait for a provider.
pub(crate) const LONGEST_WAIT_MS: u64 = 60_000;
const JITTER_MS: u64 = 1_000;

/// How often a step is retried.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Retries {
    /// According to the error class.
    #[default]
    ByClass,
    /// According to the error class, but at most so often: 2 for a dialogue's turn, 1 for its
    /// votes.
    AtMost(u32),
    /// As the order says, whatever the class.
    Policy(Arc<RetryPolicy>),
}

/// The failures of one step so far. Folded from the record, so a restart doesn't reset the retries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    by_class: BTreeMap<ErrorClass, u32>,
    /// How many attempts spent all their tokens on thinking.
    only_thoughts: u32,
}

impl Failures {
    pub(crate) fn count(&mut self, class: ErrorClass) {
        *self.by_class.entry(class).or_default() += 1;
    }

    /// Counts an attempt that spent all its tokens on thinking, besides its class.
    pub(crate) fn count_only_thoughts(&mut self) {
        self.only_thoughts += 1;
    }

    /// Whether an attempt spent all its tokens on thinking, so that the next needs more room.
    pub(crate) fn needs_room_to_think(&self) -> bool {
        self.only_thoughts > 0
    }

    /// Whether that was the case for the first time just now, so more room is worth an attempt.
    pub(crate) fn may_think_more(&self) -> bool {
        self.only_thoughts == 1
    }

    /// Whether any attempt was too long for the provider.
    pub(crate) fn overflowed(&self) -> bool {
        self.by_class.contains_key(&ErrorClass::ContextOverflow)
    }

    /// Whether the request was too long for the first time just now, so a smaller one is worth an
    /// attempt.
    pub(crate) fn may_shrink(&self) -> bool {
        self.by_class.get(&ErrorClass::ContextOverflow) == Some(&1)
    }

    /// The wait before the next attempt after `error`, which is already counted; `None` if there is
    /// no further attempt.
    pub(crate) fn wait_ms(&self, error: &ProviderError, retries: &Retries, draw: u64) -> Option<u64> {
        let of_class = self.by_class.get(&error.class).copied().unwrap_or_default();
        let in_all: u32 = self.by_class.values().sum();
        let allowed = match retries {
            Retries::Policy(policy) => {
                let wait = policy.wait_ms(in_all).filter(|_| policy.covers(error.class))?;
                return Some(error.retry_after_ms.unwrap_or_default().max(wait));
            }
            Retries::ByClass => of_class <= error.class.retries(),
            Retries::AtMost(most) => of_class <= error.class.retries() && in_all <= *most,
        };
        match error.retry_after_ms {
            _ if !allowed => None,
            // Never retry earlier than the provider asked, and never wait longer than the limit.
            Some(told) if told > LONGEST_WAIT_MS => None,
            Some(told) => Some(told),
            None => Some(back_off(of_class, draw)),
        }
    }

    /// The back-off after the failures of this class so far.
    pub(crate) fn back_off_ms(&self, class: ErrorClass, draw: u64) -> u64 {
        back_off(self.by_class.get(&class).copied().unwrap_or_default(), draw)
    }
}

/// Exponential back-off from one second to a minute, with up to a second of jitter so that clients
/// don't retry in step.
fn back_off(failures: u32, draw: u64) -> u64 {
    let doubled =
        FIRST_WAIT_MS.saturating_mul(1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX));
    doubled.saturating_add(draw % JITTER_MS).min(LONGEST_WAIT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(class: ErrorClass, count: u32) -> Failures {
        let mut failures = Failures::default();
        (0..count).for_each(|_| failures.count(class));
        failures
    }

    fn waits(class: ErrorClass, retries: &Retries) -> Vec<u64> {
        let error = ProviderError::new(class, "no");
        (1..).map_while(|count| failures(class, count).wait_ms(&error, retries, 0)).collect()
    }

    #[test]
    fn d12_back_off_doubles_and_ends_by_class() {
        assert_eq!(waits(ErrorClass::Network, &Retries::ByClass), [1_000, 2_000, 4_000]);
        assert_eq!(waits(ErrorClass::ApiError, &Retries::ByClass), [1_000, 2_000]);
        assert_eq!(waits(ErrorClass::RateLimit, &Retries::ByClass), [1_000, 2_000, 4_000, 8_000, 16_000]);
        assert_eq!(waits(ErrorClass::Authentication, &Retries::ByClass), [0; 0]);
    }

    #[test]
    fn a13_a_vote_is_retried_once_and_a_turn_twice() {
        assert_eq!(waits(ErrorClass::Network, &Retries::AtMost(1)).len(), 1);
        assert_eq!(waits(ErrorClass::Network, &Retries::AtMost(2)).len(), 2);
    }

    #[test]
    fn retry_after_is_obeyed_in_full_or_the_step_is_given_up() {
        let told =
            |ms| ProviderError { retry_after_ms: Some(ms), ..ProviderError::new(ErrorClass::RateLimit, "") };
        let failures = failures(ErrorClass::RateLimit, 1);
        assert_eq!(failures.wait_ms(&told(7_000), &Retries::ByClass, 999), Some(7_000));
        assert_eq!(failures.wait_ms(&told(61_000), &Retries::ByClass, 0), None);
    }

    #[test]
    fn jitter_stays_under_a_minute() {
        assert_eq!(back_off(40, u64::MAX), 60_000);
        assert_eq!(back_off(1, 1_999), 1_999);
    }
}
