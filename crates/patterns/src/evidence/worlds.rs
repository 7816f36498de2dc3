//! The reference worlds: voices with a known chance to be right, which err together as much as a
//! world says. Deterministic, for tests of the arithmetic.

use super::{
    KnownAnswer, KnownQuestion,
    odds::{expit, weight},
};

/// The options of every question; the right one is always the first.
pub(crate) const OPTIONS: usize = 4;

/// The panels of the reference worlds, by the chances of their voices to be right.
pub(crate) const PANELS: [[f64; 4]; 3] =
    [[0.75, 0.7, 0.65, 0.6], [0.9, 0.6, 0.6, 0.6], [0.55, 0.5, 0.5, 0.45]];

/// The correlations of the reference worlds.
pub(crate) const CORRELATIONS: [f64; 3] = [0.0, 0.3, 0.6];

/// How a voice's stated confidence follows from its chance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) name: &'static str,
    slope: f64,
    offset: f64,
    /// How much a voice's chance is the same for every question.
    concentration: f64,
}

const fn manner(name: &'static str, slope: f64, offset: f64, concentration: f64) -> Manner {
    Manner { name, slope, offset, concentration }
}

/// The kinds of confidence.
pub(crate) const MANNERS: [Manner; 5] = [
    manner("overconfident", 2.0, 0.8, 6.0),
    manner("calibrated", 1.0, 0.0, 6.0),
    manner("useless", 2.0, 0.8, 10_000.0),
    manner("misleading", -1.0, 1.5, 6.0),
    manner("always high", 0.2, 2.0, 6.0),
];

/// A voice's answer to a question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) option: usize,
    pub(crate) confidence: f64,
    /// The chance to be right, which the voice knows and states as its manner is.
    pub(crate) chance: f64,
}

/// One question: each voice's first draw and its second.
pub(crate) type Question = [[Drawn; 2]; 4];

/// A world with a fixed seed.
pub(crate) struct World {
    pub(crate) panel: [f64; 4],
    pub(crate) correlation: f64,
    pub(crate) manner: Manner,
    lots: Lots,
}

impl World {
    pub(crate) fn new(panel: [f64; 4], correlation: f64, manner: Manner, seed: u64) -> Self {
        World { panel, correlation, manner, lots: Lots(seed) }
    }

    /// The next question.
    pub(crate) fn question(&mut self) -> Question {
        let common = self.lots.normal();
        let mistake = 1 + self.lots.below(OPTIONS - 1);
        self.panel.map(|accuracy| {
            let kind = self.manner.concentration;
            let chance = self.lots.beta(kind * accuracy, kind * (1.0 - accuracy));
            let own = self.lots.normal();
            [(), ()].map(|()| self.draw(chance, common, own, mistake))
        })
    }

    fn draw(&mut self, chance: f64, common: f64, own: f64, mistake: usize) -> Drawn {
        let rho = self.correlation;
        let alone = (own + self.lots.normal()) * 0.5_f64.sqrt();
        let right = normal_share(rho.sqrt() * common + (1.0 - rho).sqrt() * alone) < chance;
        let option = match right {
            true => 0,
            false if self.lots.share() < 0.5 => mistake,
            false => 1 + self.lots.below(OPTIONS - 1),
        };
        let odds = (chance / (1.0 - chance)).ln().clamp(-30.0, 30.0);
        let stated = expit(self.manner.slope * odds + self.manner.offset);
        let confidence = ((stated * 20.0).round() / 20.0).clamp(0.05, 0.99);
        Drawn { option, confidence, chance }
    }

    /// A number of questions with known outcomes.
    pub(crate) fn known(&mut self, count: usize) -> Vec<KnownQuestion> {
        (0..count).map(|_| known(&self.question())).collect()
    }
}

/// The names of the voices.
pub(crate) const VOICES: [&str; 4] = ["ann", "bob", "cyd", "dan"];

pub(crate) fn voices() -> Vec<String> {
    VOICES.map(str::to_owned).to_vec()
}

/// The first answers of a question as an outcome tells them.
pub(crate) fn known(question: &Question) -> KnownQuestion {
    let answer = |(voice, draws): (&str, &[Drawn; 2])| KnownAnswer {
        voice: voice.to_owned(),
        choice: draws[0].option.to_string(),
        confidence: draws[0].confidence,
        is_right: draws[0].option == 0,
    };
    KnownQuestion {
        weight: 1.0,
        options: OPTIONS,
        answers: VOICES.into_iter().zip(question).map(answer).collect(),
    }
}

/// The weights of the options when each first answer counts as much as `of` says.
pub(crate) fn sums(question: &Question, of: impl Fn(usize, &Drawn) -> f64) -> [f64; OPTIONS] {
    let mut sums = [0.0; OPTIONS];
    for (voice, draws) in question.iter().enumerate() {
        sums[draws[0].option] += of(voice, &draws[0]);
    }
    sums
}

/// The chance that the right option wins: ties are split.
pub(crate) fn success(sums: &[f64]) -> f64 {
    let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let best: Vec<usize> = (0..sums.len()).filter(|it| most - sums[*it] < 1e-9).collect();
    if best.contains(&0) { 1.0 / best.len() as f64 } else { 0.0 }
}

/// What Bayes' rule gives a panel whose voices' chances are known and independent.
pub(crate) fn bayes(question: &Question) -> f64 {
    success(&sums(question, |_, it| weight(it.chance, OPTIONS)))
}

/// Deterministic pseudo-random numbers (SplitMix64).
pub(crate) struct Lots(pub(crate) u64);

impl Lots {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below 1, never 0 itself.
    pub(crate) fn share(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.share() * count as f64) as usize
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.share().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }

    /// Marsaglia and Tsang's method.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * self.share().powf(1.0 / shape);
        }
        let base = shape - 1.0 / 3.0;
        let scale = 1.0 / (9.0 * base).sqrt();
        loop {
            let normal = self.normal();
            let cube = (1.0 + scale * normal).powi(3);
            if cube > 0.0 && self.share().ln() < normal * normal / 2.0 + base * (1.0 - cube + cube.ln()) {
                return base * cube;
            }
        }
    }

    fn beta(&mut self, first: f64, second: f64) -> f64 {
        let (first, second) = (self.gamma(first), self.gamma(second));
        first / (first + second)
    }
}

/// The share of a normal distribution below `z` (Abramowitz and Stegun 7.1.26, to 1.5e-7).
fn normal_share(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let error = 1.0 - terms.into_iter().fold(0.0, |sum, it| (sum + it) * t) * (-x * x).exp();
    if z < 0.0 { (1.0 - error) / 2.0 } else { f64::midpoint(1.0, error) }
}

#[test]
fn the_share_of_a_normal_distribution() {
    for (z, expected) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
        assert!((normal_share(z) - expected).abs() < 3e-7, "{z}: {}", normal_share(z));
    }
}

/// The figures of the simulation that the worlds are described with: majority 85.5, 78.8 and 75.8,
/// to within sampling error.
#[test]
fn the_worlds_have_the_majorities_of_their_description() {
    for (correlation, expected) in [(0.0, 0.855), (0.3, 0.79), (0.6, 0.758)] {
        let mut world = World::new(PANELS[0], correlation, MANNERS[0], 1);
        let right: f64 = (0..20_000).map(|_| success(&sums(&world.question(), |_, _| 1.0))).sum();
        let share = right / 20_000.0;
        assert!((share - expected).abs() < 0.03, "{correlation}: {share}");
    }
}
