//! Deterministic pseudo-random numbers derived from text, so that a discussion can be repeated.

/// A pseudo-random state; deriving it with more words gives other states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Random(u64);

impl Random {
    /// The initial state of a seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        Random(mixed(seed ^ 0xcbf2_9ce4_8422_2325))
    }

    /// The state derived with this word.
    pub(crate) fn derive(self, word: &str) -> Self {
        // FNV-1a; the length is hashed too, so that "ab" + "c" is not "a" + "bc".
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let length = (word.len() as u64).to_le_bytes();
        Random(mixed(word.bytes().chain(length).fold(self.0, step)))
    }

    /// A number from 0 to just under 1.
    pub(crate) fn fraction(self) -> f64 {
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `count`; 0 if `count` is 0.
    pub(crate) fn below(self, count: usize) -> usize {
        (self.fraction() * count as f64) as usize
    }
}

/// The finalizer of splitmix64: every bit of the input changes half of the output.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_their_borders_matter() {
        let start = Random::seeded(7);
        assert_eq!(start.derive("a").derive("b"), start.derive("a").derive("b"));
        assert_ne!(start.derive("ab").derive("c"), start.derive("a").derive("bc"));
        assert_ne!(start.derive("a"), Random::seeded(8).derive("a"));
    }

    #[test]
    fn draws_are_spread_evenly() {
        let draws = (0..3_000).map(|number| Random::seeded(number).derive("draw").below(3));
        let mut counts = [0; 3];
        draws.for_each(|draw| counts[draw] += 1);
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }
}
