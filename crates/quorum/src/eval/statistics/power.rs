//! The number of questions that are needed to detect a difference.

/// The smallest difference that matters: three points.
pub const LEAST_DIFFERENCE: f64 = 0.03;

/// A difference is detected in 80 % of all evaluations, at a level of 5 %.
const Z_LEVEL: f64 = 1.96;
const Z_POWER: f64 = 0.84;

/// How many questions detect a difference of this size where this share of the answers differs,
/// if `tried` questions did not. A difference below the smallest one that matters counts as that.
#[must_use]
pub fn questions_to_tell(difference: f64, discordant: f64, tried: usize) -> u64 {
    let difference = difference.abs().max(LEAST_DIFFERENCE);
    // Two protocols differ on at least as many questions as their difference says. Where hardly any
    // differed, a few more may.
    let share = discordant.max(difference).max(1.0 / (tried as f64 + 1.0));
    let needed = needed(difference, share);
    needed.max(tried as u64 + 1)
}

fn needed(difference: f64, share: f64) -> u64 {
    let spread = (share - difference * difference).max(0.0);
    let root = Z_LEVEL * share.sqrt() + Z_POWER * spread.sqrt();
    ((root / difference).powi(2)).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_two_and_five_points_at_ten_per_cent_discordant() {
        let found = [0.03, 0.02, 0.05].map(|difference| needed(difference, 0.1));
        assert_eq!(found, [869, 1_958, 312]);
    }

    #[test]
    fn more_questions_than_were_tried_are_needed() {
        assert_eq!(questions_to_tell(0.05, 0.1, 50), 312);
        assert_eq!(questions_to_tell(-0.05, 0.1, 50), 312);
        assert_eq!(questions_to_tell(0.0, 0.1, 50), 869);
        assert_eq!(questions_to_tell(0.2, 0.2, 2_000), 2_001);
        assert_eq!(questions_to_tell(0.0, 0.0, 10_000), 10_001);
    }
}
