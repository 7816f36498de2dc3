//! The arithmetic of evidence: how much a voice's answer is worth, how independent voices are, and
//! when enough have answered. Pure functions of known outcomes, without a floor.
//!
//! What they rest on is in docs/decisions/evidence.md.

pub mod calibration;
pub mod independence;
mod linear;
pub mod odds;
pub mod score;
pub mod stopping;

/// The fewest known outcomes with which answers are weighed by what was learned from them.
pub const LEAST_TO_LEARN: usize = 30;

/// The fewest known outcomes with which weights are also reduced by how alike the voices err.
pub const LEAST_FOR_INDEPENDENCE: usize = 100;

/// One question whose right answer is known, with what the voices of a panel answered blind.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownQuestion {
    /// How much it counts: 1 for a new one, less for an old one.
    pub weight: f64,
    /// How many options it had; 0 if the answers were free.
    pub options: usize,
    /// The answers, at most one for a voice.
    pub answers: Vec<KnownAnswer>,
}

/// A voice's answer to a question whose right answer is known.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownAnswer {
    /// The voice: provider and model.
    pub voice: String,
    /// The answer: equal answers have equal text.
    pub choice: String,
    /// The confidence it stated, 0 to 1.
    pub confidence: f64,
    /// Whether the answer was right.
    pub is_right: bool,
}

/// How much an outcome of this age counts, in days: half after each half-life.
#[must_use]
pub fn weight_at_age(days: f64, half_life_days: f64) -> f64 {
    0.5_f64.powf(days.max(0.0) / half_life_days)
}

#[cfg(test)]
pub(crate) mod worlds;

#[cfg(test)]
mod goals;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_counts_half_after_each_half_life_and_never_more_than_a_new_one() {
        let weights = [-5.0, 0.0, 180.0, 360.0].map(|days| weight_at_age(days, 180.0));
        assert_eq!(weights, [1.0, 1.0, 0.5, 0.25]);
    }
}
