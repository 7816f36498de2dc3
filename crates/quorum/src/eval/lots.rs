//! Deterministic pseudo-random numbers of an evaluation, derived from its seed and from texts, so
//! that it can be repeated.

/// A stream of pseudo-random numbers (SplitMix64).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lots(u64);

impl Lots {
    /// The stream of this seed for this purpose.
    #[must_use]
    pub fn of(seed: u64, purpose: &[&str]) -> Self {
        // FNV-1a; each text is followed by its length, so that boundaries between texts count.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let start = mixed(seed ^ 0xcbf2_9ce4_8422_2325);
        let text = |hash: u64, text: &&str| {
            mixed(text.bytes().chain((text.len() as u64).to_le_bytes()).fold(hash, step))
        };
        Lots(purpose.iter().fold(start, text))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// A number from 0 to just under 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `count`; 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// A random order of this many things.
    #[must_use]
    pub fn order(mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// The finalizer of SplitMix64: every bit of the input changes half of the output.
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_follows_from_its_seed_and_its_texts() {
        let first = |seed: u64, purpose: &[&str]| Lots::of(seed, purpose).bits();
        assert_eq!(first(7, &["a", "b"]), first(7, &["a", "b"]));
        assert_ne!(first(7, &["a", "b"]), first(8, &["a", "b"]));
        assert_ne!(first(7, &["ab", "c"]), first(7, &["a", "bc"]));
    }

    #[test]
    fn orders_are_spread_evenly() {
        let mut counts = [[0; 4]; 4];
        for seed in 0..4_000 {
            let order = Lots::of(seed, &["order"]).order(4);
            order.iter().enumerate().for_each(|(place, it)| counts[place][*it] += 1);
        }
        assert!(counts.iter().flatten().all(|count| (900..1_100).contains(count)), "{counts:?}");
        assert_eq!(Lots::of(1, &[]).order(0), Vec::<usize>::new());
    }
}
