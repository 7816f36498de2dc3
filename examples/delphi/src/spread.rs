//! The spread of estimates: median, quartiles, and the reasons behind them.

use crate::estimate::Estimate;

/// The spread of one round's estimates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    /// The lower quartile.
    pub(crate) low: f64,
    /// The upper quartile.
    pub(crate) high: f64,
    pub(crate) unit: String,
    /// Values and reasons without names, in ascending order.
    pub(crate) reasons: Vec<(f64, String)>,
}

impl Spread {
    /// The spread of these estimates; `None` if there are none.
    pub(crate) fn of(estimates: impl Iterator<Item = Estimate>) -> Option<Spread> {
        let mut estimates: Vec<Estimate> = estimates.collect();
        estimates.sort_by(|one, other| one.estimate.total_cmp(&other.estimate));
        let values: Vec<f64> = estimates.iter().map(|it| it.estimate).collect();
        let unit = estimates.first()?.unit.clone();
        Some(Spread {
            median: quantile(&values, 0.5),
            low: quantile(&values, 0.25),
            high: quantile(&values, 0.75),
            unit,
            reasons: estimates.into_iter().map(|it| (it.estimate, it.reasoning)).collect(),
        })
    }

    /// How far the median and the width moved since the last round, as a share of the width.
    pub(crate) fn moved_from(&self, last: &Spread) -> f64 {
        let width = |it: &Spread| it.high - it.low;
        let scale = width(last).max(last.median.abs() * 0.01).max(f64::MIN_POSITIVE);
        let moved = (self.median - last.median).abs().max((width(self) - width(last)).abs());
        moved / scale
    }
}

/// The quantile, interpolated linearly between the two nearest values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    let value = |at: usize| sorted.get(at).copied().unwrap_or_default();
    value(below) + (value(above) - value(below)) * (place - place.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        let estimate = |it: &f64| Estimate { reasoning: String::new(), estimate: *it, unit: "days".into() };
        Spread::of(values.iter().map(estimate)).unwrap()
    }

    #[test]
    fn a_spread_has_a_median_and_quartiles() {
        let Spread { median, low, high, .. } = spread(&[40.0, 10.0, 20.0, 30.0, 50.0]);
        assert_eq!((low, median, high), (20.0, 30.0, 40.0));
        assert_eq!(Spread::of(std::iter::empty()), None);
    }

    #[test]
    fn a_spread_that_does_not_move_is_stable() {
        assert_eq!(spread(&[10.0, 20.0, 30.0]).moved_from(&spread(&[10.0, 20.0, 30.0])), 0.0);
        assert!(spread(&[15.0, 20.0, 25.0]).moved_from(&spread(&[10.0, 20.0, 30.0])) > 0.4);
    }
}
