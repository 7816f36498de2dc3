//! Wilson's interval of a share.

use super::Interval;

/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.959_963_985;

/// The 95 % interval of a share of `count` trials; everything is possible if there was none.
#[must_use]
pub fn wilson(share: f64, count: usize) -> Interval {
    if count == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let n = count as f64;
    let spread = 1.0 + Z * Z / n;
    let middle = (share + Z * Z / (2.0 * n)) / spread;
    let half = Z / spread * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    Interval { low: (middle - half).max(0.0), high: (middle + half).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(share: f64, count: usize, low: f64, high: f64) {
        let found = wilson(share, count);
        assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5, "{found:?}");
    }

    #[test]
    fn known_intervals() {
        check(0.8, 100, 0.7112, 0.8666);
        check(0.8, 1_000, 0.7741, 0.8236);
        check(0.5, 10, 0.2366, 0.7634);
        check(1.0, 20, 0.8389, 1.0);
        check(0.0, 20, 0.0, 0.1611);
        check(1.0, 1, 0.2065, 1.0);
        check(0.0, 0, 0.0, 1.0);
    }
}
