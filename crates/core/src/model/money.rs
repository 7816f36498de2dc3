//! Tokens and their cost.

use std::{
    fmt,
    ops::{Add, AddAssign},
};

use serde::{Deserialize, Serialize};

/// An amount in US dollars, kept in billionths so that sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(u64);

impl Usd {
    /// Zero.
    pub const ZERO: Usd = Usd(0);

    /// More than anything costs.
    pub(crate) const MAX: Usd = Usd(u64::MAX);

    /// From dollars; `None` if negative or absurdly large.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let fits = (0.0..=1e9).contains(&dollars);
        fits.then(|| Usd((dollars * 1e9).round() as u64))
    }

    /// From cents.
    #[must_use]
    pub const fn from_cents(cents: u64) -> Self {
        Usd(cents.saturating_mul(10_000_000))
    }

    /// In dollars, for display.
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This minus `spent`, at least zero.
    #[must_use]
    pub fn less(self, spent: Usd) -> Usd {
        Usd(self.0.saturating_sub(spent.0))
    }

    /// This amount divided into equal parts: one of them, rounded down.
    #[must_use]
    pub fn part(self, parts: u64) -> Usd {
        Usd(self.0 / parts.max(1))
    }

    /// In billionths of a dollar, as stores keep it.
    #[must_use]
    pub fn billionths(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// From billionths of a dollar; a negative amount is none.
    #[must_use]
    pub fn from_billionths(billionths: i64) -> Usd {
        Usd(u64::try_from(billionths).unwrap_or_default())
    }

    /// This times `count`.
    #[must_use]
    pub fn times(self, count: u64) -> Usd {
        Usd(self.0.saturating_mul(count))
    }
}

impl Add for Usd {
    type Output = Usd;
    fn add(self, other: Usd) -> Usd {
        Usd(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Usd) {
        *self = *self + other;
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.dollars())
    }
}

/// A provider's price for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// For a million prompt tokens.
    pub input: Usd,
    /// For a million completion tokens.
    pub output: Usd,
    /// For a million cached prompt tokens; `None` means the same as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Usd>,
    /// For a million prompt tokens that are written to the provider's cache; `None` means the same
    /// as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Usd>,
}

impl Price {
    /// A price at which cached tokens cost what others do.
    #[must_use]
    pub const fn new(input: Usd, output: Usd) -> Self {
        Price { input, output, cached: None, written: None }
    }

    /// The cost of this usage, rounded up so that a reservation is never too small.
    #[must_use]
    pub fn of(self, usage: Usage) -> Usd {
        let cached = usage.cached.min(usage.prompt);
        let written = usage.written.min(usage.prompt - cached);
        let input = u128::from(self.input.0) * u128::from(usage.prompt - cached - written)
            + u128::from(self.cached.unwrap_or(self.input).0) * u128::from(cached)
            + u128::from(self.written.unwrap_or(self.input).0) * u128::from(written);
        let output = u128::from(self.output.0) * u128::from(usage.completion);
        Usd(u64::try_from((input + output).div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    /// The most that this usage can cost, whatever of it the provider caches.
    #[must_use]
    pub fn at_worst(self, usage: Usage) -> Usd {
        let Price { input, cached, written, .. } = self;
        let dearest = [Some(input), cached, written].into_iter().flatten().max().unwrap_or(input);
        Price::new(dearest, self.output).of(usage)
    }
}

/// Tokens read and written by one call, or by many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens the model read.
    pub prompt: u64,
    /// Tokens the model wrote.
    pub completion: u64,
    /// How many of the prompt tokens the provider had cached.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub cached: u64,
    /// How many of the prompt tokens the provider wrote to its cache.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub written: u64,
    /// How many of the completion tokens were hidden reasoning.
    #[serde(default, skip_serializing_if = "crate::model::is_zero")]
    pub reasoning: u64,
}

impl Usage {
    /// Usage of these numbers of prompt and completion tokens.
    #[must_use]
    pub const fn new(prompt: u64, completion: u64) -> Self {
        Usage { prompt, completion, cached: 0, written: 0, reasoning: 0 }
    }

    /// Prompt and completion tokens together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.cached = self.cached.saturating_add(other.cached);
        self.written = self.written.saturating_add(other.written);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// The part of the budgets used by a call, a discussion or a whole tree of discussions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Calls placed.
    pub calls: u32,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Money, where prices are known.
    pub usd: Usd,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.usd += other.usd;
    }
}

impl Spent {
    /// This minus `other`, at least zero: releases a reservation.
    #[must_use]
    pub fn less(self, other: Spent) -> Spent {
        Spent {
            calls: self.calls.saturating_sub(other.calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            usd: self.usd.less(other.usd),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_exact_and_rounds_up() {
        let price = Price::new(Usd::from_dollars(3.0).unwrap(), Usd::from_dollars(15.0).unwrap());
        assert_eq!(price.of(Usage::new(1_000, 200)).dollars(), 0.006);
        let cheap = Price::new(Usd(1), Usd(0));
        assert_eq!(cheap.of(Usage::new(1, 0)), Usd(1));
    }

    #[test]
    fn d10_cached_tokens_cost_their_own_price() {
        let usd = |dollars| Usd::from_dollars(dollars).unwrap();
        let price = Price { cached: Some(usd(0.3)), ..Price::new(usd(3.0), usd(15.0)) };
        let usage = Usage { cached: 900_000, ..Usage::new(1_000_000, 0) };
        assert_eq!(price.of(usage).dollars(), 0.57);
        assert_eq!(Price { cached: None, ..price }.of(usage).dollars(), 3.0);
    }

    #[test]
    fn tokens_written_to_a_cache_cost_their_own_price_and_reservations_are_for_the_dearest() {
        let usd = |dollars| Usd::from_dollars(dollars).unwrap();
        let plain = Price::new(usd(3.0), usd(15.0));
        let price = Price { cached: Some(usd(0.3)), written: Some(usd(3.75)), ..plain };
        let usage = Usage { cached: 600_000, written: 300_000, ..Usage::new(1_000_000, 0) };
        assert_eq!(price.of(usage).dollars(), 0.3 + 0.18 + 1.125);
        assert_eq!(plain.of(usage).dollars(), 3.0);
        assert_eq!((price.at_worst(usage).dollars(), plain.at_worst(usage).dollars()), (3.75, 3.0));
        let absurd = Usage { cached: 900_000, written: 900_000, ..usage };
        assert_eq!(price.of(absurd).dollars(), 0.27 + 0.375, "never more tokens than were read");
    }

    #[test]
    fn absurd_dollars_are_refused() {
        assert_eq!(Usd::from_dollars(-1.0), None);
        assert_eq!(Usd::from_dollars(f64::NAN), None);
        assert_eq!(Usd::from_dollars(0.25).unwrap().to_string(), "$0.2500");
    }
}
