//! The closed form of `settle` with weights that are learned from outcomes.
//!
//! What outcomes say is computed by the product itself; how votes are asked for and counted by it
//! is written anew from its description.

use quorum::voices::world::{Drawn, World};
use quorum_patterns::evidence::{
    KnownAnswer, KnownQuestion, calibration::Calibration, independence::effective_voices,
};

use crate::closed::{OPTIONS, VOICES, leading, success};

/// The names under which outcomes have the voices.
const NAMES: [&str; VOICES] = ["first", "second", "third", "fourth"];

/// The probability of the leading option at which nobody else is asked, and below which everyone is
/// asked once more.
const SURE: f64 = 0.95;
const OPEN: f64 = 0.6;

/// From this many outcomes on, weights are reduced by the correlation of the voices' errors.
const INDEPENDENCE: usize = 100;

/// The accuracy of `settle`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Settled {
    pub(crate) accuracy: f64,
    pub(crate) calls: f64,
    pub(crate) spread_of_calls: f64,
    /// Its accuracy minus that of a plain vote on the same questions at the same cost.
    pub(crate) gain: f64,
}

impl Settled {
    /// In one world: several panels each learn from `outcomes` outcomes of their own, and are then
    /// asked other questions.
    pub(crate) fn of(world: &World, outcomes: usize, (panels, asked): (usize, usize)) -> Settled {
        let mut sum = Sum::default();
        for panel in 0..panels {
            let past: Vec<KnownQuestion> =
                (0..outcomes).map(|it| known(world, &format!("past {panel} {it}"))).collect();
            let weights = Weights::learned(&past);
            (0..asked).for_each(|it| sum.add(world, &weights, &format!("{panel} {it}")));
        }
        sum.settled()
    }

    /// In a world, after these outcomes.
    pub(crate) fn after(world: &World, past: &[KnownQuestion], questions: usize) -> Settled {
        let (mut sum, weights) = (Sum::default(), Weights::learned(past));
        (0..questions).for_each(|it| sum.add(world, &weights, &it.to_string()));
        sum.settled()
    }
}

#[derive(Default)]
struct Sum {
    questions: f64,
    right: f64,
    calls: f64,
    squares: f64,
    four: f64,
    eight: f64,
}

impl Sum {
    fn add(&mut self, world: &World, weights: &Weights, name: &str) {
        let draw = |draw: &str| -> Vec<Drawn> {
            (0..VOICES).map(|voice| world.draw(name, voice, draw, (OPTIONS, 0))).collect()
        };
        let (first, second) = (draw("1"), draw("2"));
        let (right, calls) = weights.settled(&first, &second);
        let heads = |draws: &mut dyn Iterator<Item = &Drawn>| {
            let mut sums = [0.0; OPTIONS];
            draws.for_each(|it| sums[it.option] += 1.0);
            success(&sums)
        };
        self.questions += 1.0;
        self.right += right;
        self.calls += calls;
        self.squares += calls * calls;
        self.four += heads(&mut first.iter());
        self.eight += heads(&mut first.iter().chain(&second));
    }

    fn settled(&self) -> Settled {
        let mean = |it: f64| it / self.questions;
        let (accuracy, calls) = (mean(self.right), mean(self.calls));
        let share = ((calls - 4.0) / 4.0).clamp(0.0, 1.0);
        let plain = mean(self.four) + share * (mean(self.eight) - mean(self.four));
        let spread_of_calls = (mean(self.squares) - calls * calls).max(0.0).sqrt();
        Settled { accuracy, calls, spread_of_calls, gain: accuracy - plain }
    }
}

/// The first answers to a question, with what was right.
fn known(world: &World, name: &str) -> KnownQuestion {
    let answer = |voice: usize| {
        let drawn = world.draw(name, voice, "1", (OPTIONS, 0));
        KnownAnswer {
            voice: NAMES[voice].to_owned(),
            choice: drawn.option.to_string(),
            confidence: drawn.confidence,
            is_right: drawn.option == 0,
        }
    };
    KnownQuestion { weight: 1.0, options: OPTIONS, answers: (0..VOICES).map(answer).collect() }
}

/// The evidence learned about the voices.
struct Weights {
    slope: f64,
    offsets: [f64; VOICES],
    factor: f64,
}

impl Weights {
    fn learned(past: &[KnownQuestion]) -> Weights {
        let voices: Vec<String> = past
            .first()
            .map(|it| it.answers.iter().map(|answer| answer.voice.clone()).collect())
            .unwrap_or_default();
        let calibration = Calibration::learned(past);
        let (slope, offset) = match &calibration {
            Some(it) => (it.slope, voices.iter().map(|voice| it.offset(voice)).collect()),
            None => (0.0, Vec::new()),
        };
        let mut offsets = [0.0; VOICES];
        offsets.iter_mut().zip(offset).for_each(|(it, offset)| *it = offset);
        let known = effective_voices(past, &voices).filter(|_| past.len() >= INDEPENDENCE);
        Weights { slope, offsets, factor: known.map_or(1.0, |it| it.effective / VOICES as f64) }
    }

    /// ln(q (K - 1) / (1 - q)), never negative, with logit q = s · logit(c) + b.
    fn weight(&self, voice: usize, confidence: f64) -> f64 {
        let odds = |chance: f64| (chance / (1.0 - chance)).ln();
        let stated = odds(confidence.clamp(0.01, 0.99));
        let chance = 1.0 / (1.0 + (-(self.slope * stated + self.offsets[voice])).exp());
        self.factor * (odds(chance.clamp(0.01, 0.99)) + ((OPTIONS - 1) as f64).ln()).max(0.0)
    }

    /// The most that a vote of this voice can weigh.
    fn most(&self, voice: usize) -> f64 {
        self.weight(voice, 0.0).max(self.weight(voice, 1.0))
    }

    /// The chance to be right, and the calls: the best first, two at once and then one by one while
    /// one that is left could change the outcome and nothing is sure; what is open then is drawn
    /// once more in the same way.
    fn settled(&self, first: &[Drawn], second: &[Drawn]) -> (f64, f64) {
        let mut order: Vec<usize> = (0..VOICES).collect();
        order.sort_by(|one, other| self.most(*other).total_cmp(&self.most(*one)));
        let (mut sums, mut calls) = ([0.0; OPTIONS], 0.0);
        for draws in [first, second] {
            for (place, voice) in order.iter().enumerate() {
                let left: f64 = order[place..].iter().map(|it| self.most(*it)).sum();
                if place >= 2 && (lead(&sums) > left + 1e-9 || probability(&sums) >= SURE) {
                    break;
                }
                sums[draws[*voice].option] += self.weight(*voice, draws[*voice].confidence);
                calls += 1.0;
            }
            if leading(&sums).len() == 1 && probability(&sums) >= OPEN {
                break;
            }
        }
        (success(&sums), calls)
    }
}

fn lead(sums: &[f64; OPTIONS]) -> f64 {
    let mut sorted = *sums;
    sorted.sort_by(|one, other| other.total_cmp(one));
    sorted[0] - sorted[1]
}

fn probability(sums: &[f64; OPTIONS]) -> f64 {
    let most = sums.iter().copied().fold(0.0, f64::max);
    1.0 / sums.iter().map(|it| (it - most).exp()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_that_is_nearly_always_right_settles_it_alone() {
        let weights = Weights { slope: 0.0, offsets: [0.0, 0.0, 0.0, 4.0], factor: 1.0 };
        let drawn = |option: usize| Drawn { option, confidence: 0.5, chance: 0.5 };
        // The fourth is asked first, with the first. It weighs 5.1, the others 1.1 each: the two
        // that are left can't catch up.
        assert_eq!(weights.settled(&[1, 1, 1, 0].map(drawn), &[1; 4].map(drawn)), (1.0, 2.0));
        assert_eq!(weights.settled(&[0, 1, 1, 0].map(drawn), &[1; 4].map(drawn)), (1.0, 2.0));
    }

    #[test]
    fn outcomes_make_misleading_confidence_harmless() {
        let world: World = "martingale,confidence=misleading".parse().unwrap();
        let found = Settled::of(&world, 100, (3, 1_000));
        assert!(found.gain > 0.02, "{found:?}");
    }
}
