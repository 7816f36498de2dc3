//! How many tokens a text has, roughly, for windows, budgets and providers that don't say.

/// A fair guess: four bytes a token in Latin scripts, fewer elsewhere.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// A cautious guess, for what may be spent at the worst.
#[must_use]
pub fn at_worst(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}
