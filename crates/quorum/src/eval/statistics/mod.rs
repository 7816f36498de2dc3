//! The statistics of an evaluation: intervals, paired comparisons, and how many questions are
//! needed to detect a difference. Pure functions.

mod bootstrap;
mod frontier;
mod mcnemar;
mod power;
mod wilson;

pub use bootstrap::{RESAMPLES, paired_interval};
pub use frontier::{Frontier, Point};
pub use mcnemar::mcnemar;
pub use power::{LEAST_DIFFERENCE, questions_to_tell};
pub use wilson::wilson;

/// The bounds of a 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Interval {
    /// Whether it includes this value.
    #[must_use]
    pub fn includes(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// How often one of two protocols was right where the other was wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Discordant {
    /// Only the first was right.
    pub first: u32,
    /// Only the second was right.
    pub second: u32,
}

/// The difference of two protocols, question by question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The number of questions that both have.
    pub questions: usize,
    /// The accuracy of the first minus that of the second.
    pub difference: f64,
    /// The paired bootstrap interval of the difference.
    pub interval: Interval,
    /// The p value of the exact McNemar test.
    pub p: f64,
    /// The questions on which they differ.
    pub discordant: Discordant,
    /// How many questions are needed to detect a difference as large as the one seen, or as the
    /// smallest one that matters if that is larger; `None` if these questions were enough.
    pub questions_needed: Option<u64>,
}

impl Comparison {
    /// Compares two protocols by their scores on the same questions, each 0 to 1: the mean over
    /// repeats. `None` without a question.
    #[must_use]
    pub fn of(first: &[f64], second: &[f64], seed: u64) -> Option<Comparison> {
        let differences: Vec<f64> = first.iter().zip(second).map(|(one, other)| one - other).collect();
        let questions = differences.len();
        if questions == 0 {
            return None;
        }
        let difference = differences.iter().sum::<f64>() / questions as f64;
        let interval = paired_interval(&differences, seed);
        let count = |is: fn(&f64) -> bool| differences.iter().filter(|it| is(it)).count() as u32;
        let discordant = Discordant { first: count(|it| *it > 0.0), second: count(|it| *it < 0.0) };
        let share = f64::from(discordant.first + discordant.second) / questions as f64;
        let questions_needed =
            interval.includes(0.0).then(|| questions_to_tell(difference, share, questions));
        Some(Comparison {
            questions,
            difference,
            interval,
            p: mcnemar(discordant),
            discordant,
            questions_needed,
        })
    }

    /// Whether the interval of the difference excludes zero.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        !self.interval.includes(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_protocols_that_never_differ_have_an_interval_and_p_1() {
        let same = [1.0, 0.0, 1.0, 1.0];
        let found = Comparison::of(&same, &same, 1).unwrap();
        assert_eq!((found.difference, found.p, found.discordant), (0.0, 1.0, Discordant::default()));
        assert!(found.interval.low < 0.0 && 0.0 < found.interval.high, "{found:?}");
        assert!(found.questions_needed > Some(4), "{found:?}");
    }

    #[test]
    fn one_question_tells_nothing() {
        let found = Comparison::of(&[1.0], &[0.0], 1).unwrap();
        assert_eq!((found.difference, found.p), (1.0, 1.0));
        assert!(!found.is_significant(), "{found:?}");
        assert_eq!(Comparison::of(&[], &[], 1), None);
    }

    #[test]
    fn a_large_difference_is_detected() {
        let first = vec![1.0; 200];
        let second: Vec<f64> = (0..200).map(|it| f64::from(u8::from(it % 5 != 0))).collect();
        let found = Comparison::of(&first, &second, 1).unwrap();
        assert_eq!((found.questions, found.discordant), (200, Discordant { first: 40, second: 0 }));
        assert!((found.difference - 0.2).abs() < 1e-12 && found.is_significant(), "{found:?}");
        assert_eq!(found.questions_needed, None);
        assert!(found.p < 1e-9);
    }
}
