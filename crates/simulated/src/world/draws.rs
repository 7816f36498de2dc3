//! What voices draw: the chance of an answer, whether it is right, which mistake it is otherwise,
//! and the confidence it is stated with.

use super::World;

/// A stream of pseudo-random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct Lots(u64);

impl Lots {
    /// The stream of this seed for this purpose.
    #[must_use]
    pub fn of(seed: u64, purpose: &[&str]) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let text =
            |hash: u64, it: &&str| mixed(it.bytes().chain((it.len() as u64).to_le_bytes()).fold(hash, step));
        Lots(purpose.iter().fold(mixed(seed ^ 0xcbf2_9ce4_8422_2325), text))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A number between 0 and 1, never one of them.
    pub fn share(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.share() * count as f64) as usize
    }

    /// A number of the standard normal distribution.
    pub fn normal(&mut self) -> f64 {
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

    /// A number of a Beta distribution.
    pub fn beta(&mut self, first: f64, second: f64) -> f64 {
        let (first, second) = (self.gamma(first), self.gamma(second));
        first / (first + second)
    }
}

/// The finalizer of SplitMix64.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// An answer as a voice drew it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// The option.
    pub option: usize,
    /// The confidence it is stated with.
    pub confidence: f64,
    /// The chance that it is right, which the voice knows and states as its world says.
    pub chance: f64,
}

impl World {
    /// The answer of a voice to a question with this many options, of which `right` is right. The
    /// same draw gives the same answer; another draw of the same voice shares half of its own luck.
    #[must_use]
    pub fn draw(&self, question: &str, voice: usize, draw: &str, (options, right): (usize, usize)) -> Drawn {
        let name = voice.to_string();
        let mut common = Lots::of(self.seed, &["question", question]);
        let (luck, popular) = (common.normal(), wrong(&mut common, options, right));
        let mut own = Lots::of(self.seed, &["voice", question, &name]);
        let chance = self.chance(voice, &mut own);
        let own_luck = own.normal();
        let mut fresh = Lots::of(self.seed, &["draw", question, &name, draw]);
        let alone = (own_luck + fresh.normal()) * 0.5_f64.sqrt();
        let rho = self.correlation;
        let is_right = normal_share(rho.sqrt() * luck + (1.0 - rho).sqrt() * alone) < chance;
        let option = match is_right {
            true => right,
            false if fresh.share() < 0.5 => popular,
            false => wrong(&mut fresh, options, right),
        };
        Drawn { option, confidence: self.stated(chance), chance }
    }

    /// The chance that this voice is right about a question.
    fn chance(&self, voice: usize, lots: &mut Lots) -> f64 {
        let accuracy = self.panel.chances[voice % self.panel.chances.len()];
        let concentration = self.confidence.concentration;
        lots.beta(concentration * accuracy, concentration * (1.0 - accuracy))
    }

    fn stated(&self, chance: f64) -> f64 {
        let odds = (chance / (1.0 - chance)).ln().clamp(-30.0, 30.0);
        let stated = 1.0 / (1.0 + (-(self.confidence.slope * odds + self.confidence.offset)).exp());
        ((stated * 20.0).round() / 20.0).clamp(0.05, 0.99)
    }
}

/// One of the wrong options.
fn wrong(lots: &mut Lots, options: usize, right: usize) -> usize {
    let place = lots.below(options.saturating_sub(1).max(1));
    if place < right { place } else { (place + 1).min(options.saturating_sub(1)) }
}

/// The share of the standard normal distribution below `z` (Abramowitz and Stegun 7.1.26, to
/// 1.5e-7).
#[must_use]
pub fn normal_share(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let error = 1.0 - terms.into_iter().fold(0.0, |sum, it| (sum + it) * t) * (-x * x).exp();
    if z < 0.0 { (1.0 - error) / 2.0 } else { f64::midpoint(1.0, error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_right(world: &World, voice: usize, draw: &str) -> f64 {
        let right = (0..20_000).filter(|it| world.draw(&it.to_string(), voice, draw, (4, 2)).option == 2);
        right.count() as f64 / 20_000.0
    }

    #[test]
    fn voices_are_right_as_often_as_their_world_says() {
        for written in ["martingale,rho=0", "martingale,rho=0.6", "martingale,confidence=useless"] {
            let world: World = written.parse().unwrap();
            for (voice, chance) in world.panel.chances.into_iter().enumerate() {
                let found = share_right(&world, voice, "1");
                assert!((found - chance).abs() < 0.015, "{written}, {voice}: {found} is not {chance}");
            }
        }
    }

    #[test]
    fn the_same_draw_gives_the_same_answer_and_another_one_often_does() {
        let world: World = "martingale".parse().unwrap();
        let draw = |question: &str, draw: &str| world.draw(question, 0, draw, (4, 1));
        assert_eq!(draw("q", "1"), draw("q", "1"));
        let same =
            (0..2_000).filter(|it| draw(&it.to_string(), "1").option == draw(&it.to_string(), "2").option);
        let share = same.count() as f64 / 2_000.0;
        assert!((0.6..0.9).contains(&share), "{share}");
    }

    #[test]
    fn errors_are_correlated_as_the_world_says() {
        for (rho, expected) in [("0", 0.0), ("0.3", 0.13), ("0.6", 0.29), ("0.9", 0.46)] {
            let world: World = format!("martingale,rho={rho}").parse().unwrap();
            let found = phi(&world);
            assert!((found - expected).abs() < 0.03, "{rho}: {found} is not {expected}");
        }
    }

    /// The mean correlation of the errors of all pairs.
    fn phi(world: &World) -> f64 {
        let wrong: Vec<[f64; 4]> = (0..20_000)
            .map(|it| {
                let is_wrong = |voice| world.draw(&it.to_string(), voice, "1", (4, 0)).option != 0;
                [0, 1, 2, 3].map(|voice| f64::from(u8::from(is_wrong(voice))))
            })
            .collect();
        let mean = |of: &dyn Fn(&[f64; 4]) -> f64| wrong.iter().map(of).sum::<f64>() / wrong.len() as f64;
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let of_pair = |(one, other): (usize, usize)| {
            let (first, second) = (mean(&|it| it[one]), mean(&|it| it[other]));
            let both = mean(&|it| it[one] * it[other]);
            (both - first * second) / (first * (1.0 - first) * second * (1.0 - second)).sqrt()
        };
        pairs.into_iter().map(of_pair).sum::<f64>() / 6.0
    }

    #[test]
    fn wrong_answers_are_the_wrong_ones() {
        let mut lots = Lots::of(1, &["wrong"]);
        let mut counts = [0; 4];
        (0..3_000).for_each(|_| counts[wrong(&mut lots, 4, 1)] += 1);
        assert_eq!(counts[1], 0);
        assert!([0, 2, 3].iter().all(|it| (900..1_100).contains(&counts[*it])), "{counts:?}");
        assert_eq!(wrong(&mut lots, 2, 0), 1);
    }
}
