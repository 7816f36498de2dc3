//! The paired bootstrap: the variation of the mean difference of two protocols when questions are
//! drawn again.

use super::Interval;
use crate::eval::lots::Lots;

/// The number of resamples.
pub const RESAMPLES: usize = 2_000;

/// The 95 % interval of the mean of these differences, each from -1 to 1.
///
/// Half a question that only the first got right, half a question that only the second got right,
/// and one on which they agree are added (Agresti and Min 2005): with few questions that differ,
/// the plain bootstrap is too narrow, and with none it is a point.
#[must_use]
pub fn paired_interval(differences: &[f64], seed: u64) -> Interval {
    let count = differences.len();
    if count == 0 {
        return Interval { low: -1.0, high: 1.0 };
    }
    let mut lots = Lots::of(seed, &["bootstrap"]);
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled(differences, &mut lots)).collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[((share * RESAMPLES as f64) as usize).min(RESAMPLES - 1)];
    Interval { low: at(0.025).max(-1.0), high: at(0.975).min(1.0) }
}

/// The mean of as many draws, two of them on average among what was added.
fn resampled(differences: &[f64], lots: &mut Lots) -> f64 {
    let count = differences.len();
    // In half questions, so that the added halves are whole numbers.
    let (halves, draws) = (2 * count + 4, count + 2);
    let drawn = |place: usize| match place.checked_sub(2 * count) {
        None => differences[place / 2],
        Some(0) => 1.0,
        Some(1) => -1.0,
        Some(_) => 0.0,
    };
    (0..draws).map(|_| drawn(lots.below(halves))).sum::<f64>() / draws as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(first: usize, second: usize, same: usize) -> Vec<f64> {
        [vec![1.0; first], vec![-1.0; second], vec![0.0; same]].concat()
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let found: Vec<f64> = (0..97).map(|it| f64::from(it % 7) / 7.0 - 0.3).collect();
        assert_eq!(paired_interval(&found, 7), paired_interval(&found, 7));
        assert_ne!(paired_interval(&found, 7), paired_interval(&found, 8));
    }

    #[test]
    fn the_interval_is_near_the_one_of_the_normal_distribution() {
        let found = paired_interval(&differences(120, 60, 820), 1);
        // 0.06 ± 1.96 · sqrt(0.18 - 0.06²) / sqrt(1000)
        assert!((found.low - 0.034).abs() < 0.004 && (found.high - 0.086).abs() < 0.004, "{found:?}");
    }

    #[test]
    fn without_a_difference_the_interval_is_no_point() {
        let few = paired_interval(&differences(0, 0, 10), 1);
        let many = paired_interval(&differences(0, 0, 1_000), 1);
        assert!(few.low < 0.0 && 0.0 < few.high && few.high < 0.4, "{few:?}");
        assert!(many.low <= 0.0 && 0.0 <= many.high && many.high < 0.01, "{many:?}");
        assert_eq!(paired_interval(&[], 1), Interval { low: -1.0, high: 1.0 });
    }
}
