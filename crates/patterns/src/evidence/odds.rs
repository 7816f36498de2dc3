//! Chances as log-odds, and what a vote by a voice with a known chance weighs.

/// Chances are kept this far from 0 and 1, so that one stated certainty can't outweigh everything.
const LEAST_CHANCE: f64 = 0.01;

/// A chance within the range that is reckoned with.
#[must_use]
pub fn bounded(chance: f64) -> f64 {
    if chance.is_nan() { 0.5 } else { chance.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE) }
}

/// The log-odds of a chance: ln(p / (1 - p)).
#[must_use]
pub fn logit(chance: f64) -> f64 {
    let chance = bounded(chance);
    (chance / (1.0 - chance)).ln()
}

/// The chance with these log-odds.
#[must_use]
pub fn expit(odds: f64) -> f64 {
    if odds >= 0.0 { 1.0 / (1.0 + (-odds).exp()) } else { odds.exp() / (1.0 + odds.exp()) }
}

/// The weight of a vote among `options` by a voice that is right with this chance:
/// ln(q (K - 1) / (1 - q)), never negative. Votes with these weights decide as Bayes' rule does,
/// if the voices err independently and wrong options are equally likely.
#[must_use]
pub fn weight(chance: f64, options: usize) -> f64 {
    let others = options.saturating_sub(1).max(1) as f64;
    (logit(chance) + others.ln()).max(0.0)
}

/// The chance of each option to be right, given the weights that were summed for each.
#[must_use]
pub fn posterior(weights: &[f64]) -> Vec<f64> {
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = weights.iter().map(|it| (it - most).exp()).collect();
    let all: f64 = shares.iter().sum();
    shares.into_iter().map(|it| it / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn log_odds_and_chances_are_each_others_inverse() {
        for chance in [0.01, 0.05, 0.25, 0.5, 0.6, 0.99] {
            near(expit(logit(chance)), chance);
        }
        near(logit(0.75), 3.0_f64.ln());
        near(expit(0.0), 0.5);
        near(expit(-800.0), 0.0);
        near(expit(800.0), 1.0);
    }

    #[test]
    fn certainty_is_bounded_and_no_number_is_an_even_chance() {
        near(logit(1.0), 99.0_f64.ln());
        near(logit(0.0), -(99.0_f64.ln()));
        near(logit(f64::NAN), 0.0);
    }

    #[test]
    fn a_vote_weighs_its_log_odds_against_one_wrong_option_and_never_less_than_nothing() {
        near(weight(0.5, 2), 0.0);
        near(weight(0.75, 2), 3.0_f64.ln());
        near(weight(0.5, 4), 3.0_f64.ln());
        near(weight(0.25, 4), 0.0);
        near(weight(0.1, 4), 0.0);
        near(weight(0.9, 4), 27.0_f64.ln());
    }

    #[test]
    fn the_posterior_of_weights_is_bayes_rule() {
        // One voice that is right with .75, of two options.
        let found = posterior(&[weight(0.75, 2), 0.0]);
        near(found[0], 0.75);
        near(found[1], 0.25);
        // Two voices of .75 and .6 that differ, of four options: odds 9 and 4.5 against 1 and 1.
        let found = posterior(&[weight(0.75, 4), weight(0.6, 4), 0.0, 0.0]);
        near(found[0], 9.0 / 15.5);
        near(found[1], 4.5 / 15.5);
        near(found[2], 1.0 / 15.5);
    }

    #[test]
    fn a_weight_is_the_same_however_large_the_sums_are() {
        let found = posterior(&[2_000.0, 2_000.0]);
        near(found[0], 0.5);
    }
}
