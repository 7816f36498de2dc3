//! Chance that is none: numbers that look drawn and follow from words alone, so that the same discussion can be held again.

/// A place in the space of all draws; further words lead to further places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Where a seed begins.
    pub(crate) fn seeded(seed: u64) -> Self {
        Chance(mixed(seed ^ 0xcbf2_9ce4_8422_2325))
    }

    /// The place that this word leads to.
    pub(crate) fn of(self, word: &str) -> Self {
        // FNV-1a; the length is hashed too, so that "ab" + "c" is not "a" + "bc".
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let length = (word.len() as u64).to_le_bytes();
        Chance(mixed(word.bytes().chain(length).fold(self.0, step)))
    }

    /// A number from 0 to just under 1.
    pub(crate) fn share(self) -> f64 {
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `count`; 0 when there is nothing to choose from.
    pub(crate) fn below(self, count: usize) -> usize {
        (self.share() * count as f64) as usize
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
        let start = Chance::seeded(7);
        assert_eq!(start.of("a").of("b"), start.of("a").of("b"));
        assert_ne!(start.of("ab").of("c"), start.of("a").of("bc"));
        assert_ne!(start.of("a"), Chance::seeded(8).of("a"));
    }

    #[test]
    fn draws_are_spread_evenly() {
        let draws = (0..3_000).map(|number| Chance::seeded(number).of("draw").below(3));
        let mut counts = [0; 3];
        draws.for_each(|draw| counts[draw] += 1);
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }
}
