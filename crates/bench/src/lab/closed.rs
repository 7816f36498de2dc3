//! The closed form: the accuracy of protocols in a world, computed without the engine from the same
//! description.
//!
//! The engine is compared with this. It is written separately, from the protocols' descriptions, so
//! that a mistake of the engine is not repeated here.

use quorum::voices::world::{Drawn, Heard, Lots, World, persuaded};

/// The options of every question; the right one is the first.
pub(crate) const OPTIONS: usize = 4;
pub(crate) const VOICES: usize = 4;

/// The share of the weight at which a vote is closed.
const THRESHOLD: f64 = 0.5;

/// The accuracy of protocols in a world.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    pub(crate) single: f64,
    /// The plain vote on first answers.
    pub(crate) four: f64,
    /// The plain vote on two draws of everyone.
    pub(crate) eight: f64,
    /// The plain vote after everyone has talked for one round.
    pub(crate) one_round: f64,
    /// `voting` at its defaults: weighted by stated confidence, and a second round if the first is
    /// open.
    pub(crate) voting: f64,
    pub(crate) voting_calls: f64,
    pub(crate) settle: f64,
    pub(crate) settle_calls: f64,
    /// The mean square of its calls, for their spread.
    settle_squares: f64,
}

impl Figures {
    /// The figures of a world, from this many questions.
    pub(crate) fn of(world: &World, questions: usize) -> Figures {
        let mut sum = Figures::default();
        for number in 0..questions {
            let one = question(world, &number.to_string());
            sum.single += one.single;
            sum.four += one.four;
            sum.eight += one.eight;
            sum.one_round += one.one_round;
            sum.voting += one.voting;
            sum.voting_calls += one.voting_calls;
            sum.settle += one.settle;
            sum.settle_calls += one.settle_calls;
            sum.settle_squares += one.settle_squares;
        }
        let share = 1.0 / questions as f64;
        Figures {
            single: sum.single * share,
            four: sum.four * share,
            eight: sum.eight * share,
            one_round: sum.one_round * share,
            voting: sum.voting * share,
            voting_calls: sum.voting_calls * share,
            settle: sum.settle * share,
            settle_calls: sum.settle_calls * share,
            settle_squares: sum.settle_squares * share,
        }
    }

    /// The standard deviation of the calls of `settle`.
    pub(crate) fn spread_of_calls(&self) -> f64 {
        (self.settle_squares - self.settle_calls * self.settle_calls).max(0.0).sqrt()
    }

    /// The accuracy minus that of a plain vote at the same cost: on the line between four blind
    /// answers and eight.
    pub(crate) fn gain(&self, accuracy: f64, calls: f64) -> f64 {
        let share = ((calls - 4.0) / 4.0).clamp(0.0, 1.0);
        accuracy - (self.four + share * (self.eight - self.four))
    }
}

/// One question: the chance of each protocol to be right, ties being split.
fn question(world: &World, name: &str) -> Figures {
    let draw = |voice: usize, draw: &str| world.draw(name, voice, draw, (OPTIONS, 0));
    let first: Vec<Drawn> = (0..VOICES).map(|it| draw(it, "1")).collect();
    let second: Vec<Drawn> = (0..VOICES).map(|it| draw(it, "2")).collect();
    let both: Vec<Drawn> = first.iter().chain(&second).copied().collect();
    let options: Vec<usize> = first.iter().map(|it| it.option).collect();
    let mut lots = Lots::of(world.seed, &["talk", name]);
    let talked: Vec<usize> = (0..VOICES)
        .map(|voice| {
            let others = (0..VOICES).filter(|it| *it != voice).map(|it| options[it]).collect();
            persuaded(&world.talk, &Heard { own: options[voice], others }, 0, &mut lots)
        })
        .collect();
    let after: Vec<Drawn> =
        first.iter().zip(&talked).map(|(it, option)| Drawn { option: *option, ..*it }).collect();
    let (voting, voting_calls) = voting(&first, &after);
    let (settle, settle_calls) = settle(&first, &second);
    let best = (0..VOICES).max_by(|one, other| {
        world.panel.chances[*one].total_cmp(&world.panel.chances[*other]).then(other.cmp(one))
    });
    Figures {
        single: f64::from(u8::from(first[best.unwrap_or_default()].option == 0)),
        four: success(&sums(&first, |_| 1.0)),
        eight: success(&sums(&both, |_| 1.0)),
        one_round: success(&sums(&after, |_| 1.0)),
        voting,
        voting_calls,
        settle,
        settle_calls,
        settle_squares: settle_calls * settle_calls,
    }
}

fn sums(answers: &[Drawn], weight: impl Fn(&Drawn) -> f64) -> [f64; OPTIONS] {
    let mut sums = [0.0; OPTIONS];
    answers.iter().for_each(|it| sums[it.option] += weight(it));
    sums
}

/// The chance that the right option wins: ties are split.
pub(crate) fn success(sums: &[f64; OPTIONS]) -> f64 {
    let leading = leading(sums);
    if leading.contains(&0) { 1.0 / leading.len() as f64 } else { 0.0 }
}

pub(crate) fn leading(sums: &[f64; OPTIONS]) -> Vec<usize> {
    let most = sums.iter().copied().fold(0.0, f64::max);
    (0..OPTIONS).filter(|it| most - sums[*it] < 1e-9).collect()
}

/// Votes weighted by stated confidence; if no option alone has half of the weight, everyone hears
/// the reasons and votes again.
fn voting(first: &[Drawn], after: &[Drawn]) -> (f64, f64) {
    let weighted = sums(first, |it| it.confidence);
    let all: f64 = weighted.iter().sum();
    let most = weighted.iter().copied().fold(0.0, f64::max);
    let is_closed = leading(&weighted).len() == 1 && most / all >= THRESHOLD - 1e-9;
    match is_closed {
        true => (success(&weighted), 4.0),
        false => (success(&sums(after, |it| it.confidence)), 8.0),
    }
}

/// Two are asked, then one by one while those that are left could change the outcome; what is tied
/// then is drawn once more in the same way, and stated confidence breaks what is tied still.
fn settle(first: &[Drawn], second: &[Drawn]) -> (f64, f64) {
    let mut asked: Vec<Drawn> = Vec::new();
    for draws in [first, second] {
        drawn(draws, &mut asked);
        if leading(&sums(&asked, |_| 1.0)).len() == 1 {
            break;
        }
    }
    let heads = sums(&asked, |_| 1.0);
    let tied = leading(&heads);
    let mut stated = sums(&asked, |it| it.confidence);
    // Only options that are tied by heads are compared by confidence.
    (0..OPTIONS).filter(|it| !tied.contains(it)).for_each(|it| stated[it] = 0.0);
    (success(&stated), asked.len() as f64)
}

/// Asks two, then one by one, while one that is left could change the outcome.
fn drawn(draws: &[Drawn], asked: &mut Vec<Drawn>) {
    for (place, draw) in draws.iter().enumerate() {
        let heads = sums(asked, |_| 1.0);
        let mut sorted = heads;
        sorted.sort_by(|one, other| other.total_cmp(one));
        let left = (draws.len() - place) as f64;
        if place >= 2 && sorted[0] - sorted[1] > left {
            return;
        }
        asked.push(*draw);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(written: &str) -> Figures {
        Figures::of(&written.parse().expect("a world"), 6_000)
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((100.0 * found - expected).abs() < 2.0, "{:.1} is not {expected}", 100.0 * found);
    }

    /// The figures that the worlds are described with, to within sampling error.
    #[test]
    fn the_worlds_are_as_described() {
        let martingale = figures("martingale");
        near(martingale.single, 75.1);
        near(martingale.four, 79.1);
        near(martingale.eight, 83.2);
        near(martingale.one_round, 72.2);
        near(figures("truth-wins").one_round, 83.8);
        near(figures("sycophantic").one_round, 69.1);
        near(figures("conformist").one_round, 78.2);
        near(figures("martingale,rho=0").four, 83.1);
        near(figures("martingale,rho=0.6").eight, 78.6);
    }

    #[test]
    fn three_of_one_mind_settle_it() {
        let drawn = |option: usize| Drawn { option, confidence: 0.5, chance: 0.5 };
        let all = |options: [usize; 4]| options.map(drawn);
        assert_eq!(settle(&all([0, 0, 0, 1]), &all([1; 4])), (1.0, 3.0));
        assert_eq!(settle(&all([1, 0, 0, 0]), &all([1; 4])), (1.0, 4.0));
        // Two against two is drawn again; two more for the same option are enough.
        assert_eq!(settle(&all([0, 0, 1, 1]), &all([0, 0, 0, 0])), (1.0, 7.0));
    }
}
