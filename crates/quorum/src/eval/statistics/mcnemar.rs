//! The exact McNemar test: a sign test on the questions where only one of two was right.

use super::Discordant;

/// The two-sided p value; 1 if they never differ.
#[must_use]
pub fn mcnemar(discordant: Discordant) -> f64 {
    let trials = discordant.first + discordant.second;
    let fewer = discordant.first.min(discordant.second);
    (2.0 * binomial_up_to(trials, fewer)).min(1.0)
}

/// The chance of at most `most` heads in `throws` throws of a coin. The terms are computed as
/// logarithms, because with a thousand throws the first ones are too small for a number.
fn binomial_up_to(throws: u32, most: u32) -> f64 {
    let mut log = -f64::from(throws) * std::f64::consts::LN_2;
    let mut sum = log.exp();
    for heads in 1..=most {
        log += (f64::from(throws - heads + 1) / f64::from(heads)).ln();
        sum += log.exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: u32, second: u32, expected: f64) {
        let found = mcnemar(Discordant { first, second });
        assert!((found - expected).abs() < 1e-6, "{first}, {second}: {found} is not {expected}");
    }

    #[test]
    fn known_values() {
        check(0, 0, 1.0);
        check(1, 0, 1.0);
        check(5, 5, 1.0);
        check(6, 0, 2.0 / 64.0);
        check(0, 6, 2.0 / 64.0);
        check(9, 1, 22.0 / 1024.0);
        check(15, 5, 0.041_389);
        check(600, 400, 2.0 * 1.364_232_1e-10);
    }
}
