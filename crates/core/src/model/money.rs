//! Tokens and what they cost.

use std::{
    fmt,
    ops::{Add, AddAssign},
};

use serde::{Deserialize, Serialize};

/// An amount of US dollars in billionths, so that sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Usd(u64);

impl Usd {
    /// Nothing.
    pub const ZERO: Usd = Usd(0);

    /// From dollars; a negative or absurd amount is `None`.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let fits = (0.0..=1e9).contains(&dollars);
        fits.then(|| Usd((dollars * 1e9).round() as u64))
    }

    /// In dollars, for showing.
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// What is left of this after `spent`, never less than nothing.
    #[must_use]
    pub fn less(self, spent: Usd) -> Usd {
        Usd(self.0.saturating_sub(spent.0))
    }

    /// So many times this.
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

/// What a provider asks for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// For a million prompt tokens.
    pub input: Usd,
    /// For a million completion tokens.
    pub output: Usd,
}

impl Price {
    /// What so many tokens cost, rounded up so that a reservation is never too small.
    #[must_use]
    pub fn of(self, usage: Usage) -> Usd {
        let input = u128::from(self.input.0) * u128::from(usage.prompt);
        let output = u128::from(self.output.0) * u128::from(usage.completion);
        Usd(u64::try_from((input + output).div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

/// Tokens read and written by one call, or by many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens the model read.
    pub prompt: u64,
    /// Tokens the model wrote.
    pub completion: u64,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
    }
}

/// What was taken from the budgets: by a call, a discussion, a whole tree of them.
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
    /// This much less, never below nothing: gives a reservation back.
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
        let price =
            Price { input: Usd::from_dollars(3.0).unwrap(), output: Usd::from_dollars(15.0).unwrap() };
        assert_eq!(price.of(Usage { prompt: 1_000, completion: 200 }).dollars(), 0.006);
        let cheap = Price { input: Usd(1), output: Usd(0) };
        assert_eq!(cheap.of(Usage { prompt: 1, completion: 0 }), Usd(1));
    }

    #[test]
    fn absurd_dollars_are_refused() {
        assert_eq!(Usd::from_dollars(-1.0), None);
        assert_eq!(Usd::from_dollars(f64::NAN), None);
        assert_eq!(Usd::from_dollars(0.25).unwrap().to_string(), "$0.2500");
    }
}
