//! Scores stated probabilities once the right answers are known.

/// The classes of confidence that calibration is judged in.
pub const BINS: usize = 10;

/// The fewest answers for which a calibration error says anything.
pub const LEAST_FOR_ERROR: usize = 30;

/// A stated chance, and whether what it was stated for was so; with the weight it counts with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stated {
    /// The chance that was stated, 0 to 1.
    pub chance: f64,
    /// Whether it was so.
    pub is_right: bool,
    /// How much it counts.
    pub weight: f64,
}

impl Stated {
    /// A statement that counts in full.
    #[must_use]
    pub fn new(chance: f64, is_right: bool) -> Self {
        Stated { chance, is_right, weight: 1.0 }
    }

    fn truth(&self) -> f64 {
        f64::from(u8::from(self.is_right))
    }
}

/// The share that was right; `None` without a statement.
#[must_use]
pub fn accuracy(stated: &[Stated]) -> Option<f64> {
    mean(stated, Stated::truth)
}

/// The Brier score: the mean squared distance of the stated chance from the truth; 0 is best, and
/// .25 is what always saying one half has.
#[must_use]
pub fn brier(stated: &[Stated]) -> Option<f64> {
    mean(stated, |it| (it.chance - it.truth()).powi(2))
}

/// One class of confidence.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bin {
    /// How many statements are in it.
    pub count: usize,
    /// Their mean stated chance.
    pub stated: f64,
    /// The share of them that was right.
    pub right: f64,
    /// Their weight.
    pub weight: f64,
}

/// The statements by class of confidence: 0 to .1, .1 to .2, and so on.
#[must_use]
pub fn bins(stated: &[Stated]) -> [Bin; BINS] {
    let mut bins = [Bin::default(); BINS];
    for it in stated {
        let bin = &mut bins[place(it.chance)];
        bin.count += 1;
        bin.weight += it.weight;
        bin.stated += it.weight * it.chance;
        bin.right += it.weight * it.truth();
    }
    for bin in bins.iter_mut().filter(|it| it.weight > 0.0) {
        bin.stated /= bin.weight;
        bin.right /= bin.weight;
    }
    bins
}

fn place(chance: f64) -> usize {
    ((chance.clamp(0.0, 1.0) * BINS as f64) as usize).min(BINS - 1)
}

/// The expected calibration error: how far stated chances are from the shares that were right, on
/// average over the classes. `None` if there is nothing to average.
#[must_use]
pub fn calibration_error(stated: &[Stated]) -> Option<f64> {
    let all: f64 = stated.iter().map(|it| it.weight).sum();
    let off = bins(stated).iter().map(|it| it.weight * (it.stated - it.right).abs()).sum::<f64>();
    (all > 0.0).then(|| off / all)
}

fn mean(stated: &[Stated], of: impl Fn(&Stated) -> f64) -> Option<f64> {
    let all: f64 = stated.iter().map(|it| it.weight).sum();
    (all > 0.0).then(|| stated.iter().map(|it| it.weight * of(it)).sum::<f64>() / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|it| (it - expected).abs() < 1e-12), "{found:?} is not {expected}");
    }

    #[test]
    fn without_stated_chances_there_is_no_score() {
        assert_eq!((accuracy(&[]), brier(&[]), calibration_error(&[])), (None, None, None));
    }

    #[test]
    fn scores_of_four_statements() {
        let stated = [
            Stated::new(0.9, true),
            Stated::new(0.9, false),
            Stated::new(0.6, true),
            Stated::new(0.1, false),
        ];
        near(accuracy(&stated), 0.5);
        near(brier(&stated), (0.01 + 0.81 + 0.16 + 0.01) / 4.0);
        // .9 was right half the time, .6 always, .1 never.
        near(calibration_error(&stated), (2.0 * 0.4 + 0.4 + 0.1) / 4.0);
        let counts = bins(&stated).map(|it| it.count);
        assert_eq!(counts, [0, 1, 0, 0, 0, 0, 1, 0, 0, 2]);
    }

    #[test]
    fn perfect_and_perfectly_wrong_statements() {
        near(brier(&[Stated::new(1.0, true), Stated::new(0.0, false)]), 0.0);
        near(calibration_error(&[Stated::new(1.0, true), Stated::new(0.0, false)]), 0.0);
        near(brier(&[Stated::new(1.0, false)]), 1.0);
        near(calibration_error(&[Stated::new(0.0, true)]), 1.0);
    }

    #[test]
    fn a_statement_of_half_the_weight_counts_half() {
        let old = Stated { weight: 0.5, ..Stated::new(0.8, false) };
        let stated = [Stated::new(0.8, true), old];
        near(accuracy(&stated), 2.0 / 3.0);
        near(brier(&stated), (0.04 + 0.5 * 0.64) / 1.5);
        near(calibration_error(&stated), (0.8_f64 - 2.0 / 3.0).abs());
    }
}
