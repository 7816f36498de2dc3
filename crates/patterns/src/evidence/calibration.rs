//! What known outcomes say about the chance that an answer is right: a logistic curve with one
//! slope for all voices and an offset for each, logit P = s · logit(c) + b.
//!
//! Both are held back by a ridge, so that ten outcomes can't make a voice look certain: the slope
//! towards zero (a stated confidence says nothing until it has shown that it does), the offset of a
//! voice towards that of all.

use std::collections::BTreeMap;

use super::{
    KnownQuestion,
    linear::solve,
    odds::{expit, logit},
    score::Stated,
};

/// The ridge of the slope.
const SLOPE_RIDGE: f64 = 0.5;

/// The ridge of a voice's own offset from that of all.
const VOICE_RIDGE: f64 = 2.0;

/// The ridge of the offset of all, which keeps outcomes that are all right finite.
const COMMON_RIDGE: f64 = 0.05;

/// Newton's method converges in about six steps; more only guard against rounding.
const MOST_STEPS: usize = 50;

/// What was learned of voices from outcomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// How much a stated confidence says: 1 if it is a chance, 0 if nothing, negative if it
    /// misleads.
    pub slope: f64,
    /// The offset of a voice of which nothing is known.
    pub common: f64,
    /// The offset of each known voice.
    pub offsets: BTreeMap<String, f64>,
}

impl Calibration {
    /// Learns from these questions; `None` if there is no answer among them.
    ///
    /// Stated confidences are scaled to their own spread before the ridge holds the slope back, so
    /// that voices that all state between .8 and .95 are heard as well as bolder ones.
    #[must_use]
    pub fn learned(questions: &[KnownQuestion]) -> Option<Self> {
        let answers = || questions.iter().flat_map(|it| it.answers.iter().map(|answer| (it.weight, answer)));
        let voices: BTreeMap<&str, usize> = answers().map(|it| (it.1.voice.as_str(), 0)).collect();
        let voices: BTreeMap<&str, usize> = voices.into_keys().enumerate().map(|(at, it)| (it, at)).collect();
        let mut points: Vec<Point> = answers()
            .map(|(weight, it)| Point {
                voice: voices.get(it.voice.as_str()).copied().unwrap_or_default(),
                stated: logit(it.confidence),
                truth: f64::from(u8::from(it.is_right)),
                weight,
            })
            .collect();
        if points.is_empty() {
            return None;
        }
        let (middle, spread) = spread(&points);
        points.iter_mut().for_each(|it| it.stated = (it.stated - middle) / spread);
        let fit = fitted(&points, voices.len());
        let slope = fit[0] / spread;
        let common = fit[1] - slope * middle;
        let offsets = voices.iter().map(|(name, at)| ((*name).to_owned(), common + fit[2 + at])).collect();
        Some(Calibration { slope, common, offsets })
    }

    /// The chance that this voice is right if it states this confidence.
    #[must_use]
    pub fn chance(&self, voice: &str, confidence: f64) -> f64 {
        chance(self.slope, self.offset(voice), confidence)
    }

    /// The offset of a voice, or of all if it is not known.
    #[must_use]
    pub fn offset(&self, voice: &str) -> f64 {
        self.offsets.get(voice).copied().unwrap_or(self.common)
    }
}

/// The chance by a curve with this slope and offset.
#[must_use]
pub fn chance(slope: f64, offset: f64, confidence: f64) -> f64 {
    expit(slope * logit(confidence) + offset)
}

/// The mean and the spread of the stated log-odds. Of confidences that are all the same, the spread
/// is 1.
fn spread(points: &[Point]) -> (f64, f64) {
    let all: f64 = points.iter().map(|it| it.weight).sum();
    let mean = |of: &dyn Fn(&Point) -> f64| points.iter().map(|it| it.weight * of(it)).sum::<f64>() / all;
    if all <= 0.0 {
        return (0.0, 1.0);
    }
    let middle = mean(&|it| it.stated);
    let spread = mean(&|it| (it.stated - middle).powi(2)).sqrt();
    (middle, if spread > LEAST_SPREAD { spread } else { 1.0 })
}

/// A smaller spread of log-odds is rounding.
const LEAST_SPREAD: f64 = 0.02;

/// How the probability of a result has to be corrected, by the outcomes of earlier results:
/// logit P = s · logit(p) + b. Voices that err together make a result look surer than it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    /// The slope; 1 corrects nothing.
    pub slope: f64,
    /// The offset; 0 corrects nothing.
    pub offset: f64,
}

/// The ridges that hold a correction back at none. The slope is held back more: a few hundred
/// outcomes tell how often results are right, but little about how that follows their probability.
const CORRECTION_SLOPE_RIDGE: f64 = 20.0;
const CORRECTION_OFFSET_RIDGE: f64 = 0.5;

impl Correction {
    /// No correction.
    pub const NONE: Correction = Correction { slope: 1.0, offset: 0.0 };

    /// Learns from stated probabilities of results.
    #[must_use]
    pub fn learned(stated: &[Stated]) -> Self {
        let Correction { mut slope, mut offset } = Correction::NONE;
        for _ in 0..MOST_STEPS {
            let mut gradient = vec![CORRECTION_SLOPE_RIDGE * (slope - 1.0), CORRECTION_OFFSET_RIDGE * offset];
            let mut curvature = vec![vec![CORRECTION_SLOPE_RIDGE, 0.0], vec![0.0, CORRECTION_OFFSET_RIDGE]];
            for it in stated {
                let inputs = [logit(it.chance), 1.0];
                let found = expit(slope * inputs[0] + offset);
                let off = it.weight * (found - f64::from(u8::from(it.is_right)));
                for (row, by) in inputs.into_iter().enumerate() {
                    gradient[row] += off * by;
                    for (column, with) in inputs.into_iter().enumerate() {
                        curvature[row][column] += it.weight * found * (1.0 - found) * by * with;
                    }
                }
            }
            let Some(step) = solve(curvature, gradient) else { break };
            (slope, offset) = (slope - step[0].clamp(-2.0, 2.0), offset - step[1].clamp(-2.0, 2.0));
            if step.iter().all(|it| it.abs() < 1e-10) {
                break;
            }
        }
        // A result that looks surer must not come out less sure.
        Correction { slope: slope.max(0.0), offset }
    }

    /// The corrected probability.
    #[must_use]
    pub fn of(&self, probability: f64) -> f64 {
        expit(self.slope * logit(probability) + self.offset)
    }
}

/// One answer, as the fit sees it.
struct Point {
    voice: usize,
    stated: f64,
    truth: f64,
    weight: f64,
}

/// Slope, common offset and the deviation of each voice, by Newton's method. The ridges make the
/// problem strictly convex, so there is one solution.
fn fitted(points: &[Point], voices: usize) -> Vec<f64> {
    let mut fit = vec![0.0; 2 + voices];
    for _ in 0..MOST_STEPS {
        let (gradient, curvature) = derivatives(points, &fit);
        let Some(step) = solve(curvature, gradient) else { break };
        fit.iter_mut().zip(&step).for_each(|(it, step)| *it -= step.clamp(-2.0, 2.0));
        if step.iter().all(|it| it.abs() < 1e-10) {
            break;
        }
    }
    fit
}

/// The gradient and the matrix of second derivatives of the penalized loss.
fn derivatives(points: &[Point], fit: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let ridge = |place: usize| match place {
        0 => SLOPE_RIDGE,
        1 => COMMON_RIDGE,
        _ => VOICE_RIDGE,
    };
    let mut gradient: Vec<f64> = fit.iter().enumerate().map(|(at, it)| ridge(at) * it).collect();
    let mut curvature = vec![vec![0.0; fit.len()]; fit.len()];
    curvature.iter_mut().enumerate().for_each(|(at, row)| row[at] = ridge(at));
    for point in points {
        let own = 2 + point.voice;
        let found = expit(fit[0] * point.stated + fit[1] + fit[own]);
        let inputs = [(0, point.stated), (1, 1.0), (own, 1.0)];
        for (row, by) in inputs {
            gradient[row] += point.weight * (found - point.truth) * by;
            for (column, with) in inputs {
                curvature[row][column] += point.weight * found * (1.0 - found) * by * with;
            }
        }
    }
    (gradient, curvature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::KnownAnswer;

    fn question(answers: &[(&str, f64, bool)]) -> KnownQuestion {
        let answer = |(voice, confidence, is_right): &(&str, f64, bool)| KnownAnswer {
            voice: (*voice).to_owned(),
            choice: is_right.to_string(),
            confidence: *confidence,
            is_right: *is_right,
        };
        KnownQuestion { weight: 1.0, options: 2, answers: answers.iter().map(answer).collect() }
    }

    /// A number of answers of a voice, of which some were right.
    fn told(voice: &str, confidence: f64, right: usize, of: usize) -> Vec<KnownQuestion> {
        (0..of).map(|at| question(&[(voice, confidence, at < right)])).collect()
    }

    #[track_caller]
    fn near(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() < within, "{found} is not {expected}");
    }

    #[test]
    fn without_outcomes_nothing_is_learned() {
        assert_eq!(Calibration::learned(&[]), None);
        assert_eq!(Calibration::learned(&[question(&[])]), None);
    }

    #[test]
    fn the_fit_is_where_the_gradient_of_the_penalized_loss_is_zero() {
        let points: Vec<Point> = (0..60)
            .map(|at| Point {
                voice: at % 3,
                stated: (at % 7) as f64 / 2.0 - 1.0,
                truth: f64::from(u8::from(at % 5 < 2 + at % 3)),
                weight: 0.5 + (at % 4) as f64 / 4.0,
            })
            .collect();
        let (gradient, _) = derivatives(&points, &fitted(&points, 3));
        assert!(gradient.iter().all(|it| it.abs() < 1e-9), "{gradient:?}");
    }

    #[test]
    fn many_outcomes_give_the_curve_that_made_them() {
        // Two voices on logit P = 0.5 · logit(c) + b: ann with b = 1, bob with b = 0.
        let share =
            |offset: f64, stated: f64| (2_000.0 * expit(0.5 * logit(stated) + offset)).round() as usize;
        let questions: Vec<KnownQuestion> = [0.2, 0.5, 0.9]
            .into_iter()
            .flat_map(|stated| {
                let ann = told("ann", stated, share(1.0, stated), 2_000);
                ann.into_iter().chain(told("bob", stated, share(0.0, stated), 2_000))
            })
            .collect();
        let learned = Calibration::learned(&questions).unwrap();
        near(learned.slope, 0.5, 0.01);
        near(learned.offset("ann"), 1.0, 0.01);
        near(learned.offset("bob"), 0.0, 0.01);
        near(learned.chance("ann", 0.5), expit(1.0), 0.005);
        near(learned.offset("cyd"), 0.5, 0.02);
    }

    #[test]
    fn a_confidence_that_misleads_has_a_negative_slope() {
        let questions = [told("ann", 0.9, 200, 500), told("ann", 0.3, 400, 500)].concat();
        let learned = Calibration::learned(&questions).unwrap();
        assert!(learned.slope < -0.4, "{learned:?}");
        near(learned.chance("ann", 0.9), 0.4, 0.01);
        near(learned.chance("ann", 0.3), 0.8, 0.01);
    }

    #[test]
    fn few_outcomes_say_little_and_outcomes_that_are_all_right_stay_finite() {
        let few = Calibration::learned(&told("ann", 0.99, 3, 3)).unwrap();
        assert!((0.6..0.98).contains(&few.chance("ann", 0.99)), "{few:?}");
        let many = Calibration::learned(&told("ann", 0.9, 1_000, 1_000)).unwrap();
        assert!(many.chance("ann", 0.9).is_finite() && many.chance("ann", 0.9) > 0.99, "{many:?}");
    }

    #[test]
    fn a_voice_with_few_outcomes_is_held_near_the_others() {
        let questions = [told("ann", 0.5, 700, 1_000), told("bob", 0.5, 0, 2)].concat();
        let learned = Calibration::learned(&questions).unwrap();
        let bob = learned.chance("bob", 0.5);
        assert!((0.3..0.7).contains(&bob), "two wrong answers make no fool: {bob}");
    }

    #[test]
    fn a_correction_is_none_without_outcomes_and_undoes_what_they_show() {
        assert_eq!(Correction::learned(&[]), Correction::NONE);
        // Results that stated .9 were right in .7, those that stated .6 in .5.
        let told = |chance: f64, right: usize| (0..1_000).map(move |at| Stated::new(chance, at < right));
        let stated: Vec<Stated> = told(0.9, 700).chain(told(0.6, 500)).collect();
        let found = Correction::learned(&stated);
        near(found.of(0.9), 0.7, 0.01);
        near(found.of(0.6), 0.5, 0.01);
    }

    #[test]
    fn an_outcome_of_half_the_weight_counts_half() {
        let whole = [told("ann", 0.7, 6, 10), told("ann", 0.7, 6, 10)].concat();
        let mut halves = [whole.clone(), whole.clone()].concat();
        halves.iter_mut().for_each(|it| it.weight = 0.5);
        let (whole, halves) = (Calibration::learned(&whole).unwrap(), Calibration::learned(&halves).unwrap());
        near(whole.slope, halves.slope, 1e-9);
        near(whole.offset("ann"), halves.offset("ann"), 1e-9);
    }
}
