//! A body that is small on the line and huge when unpacked.

/// The most that one reference can repeat.
const LONGEST: u64 = 258;

/// A gzip stream as its beginning and a piece to be repeated so often that it unpacks to about `unpacked` bytes of `x` behind
/// `data: "`. It has no end: whoever unpacks it must have stopped long before.
pub(super) fn bomb(unpacked: u64) -> (Vec<u8>, Vec<u8>, u64) {
    let mut bits = Bits::default();
    // One block with the standard's own table of codes, not the last one.
    bits.put(0b010, 3);
    for byte in b"data: \"x" {
        bits.code(u16::from(*byte) + 0x30, 8);
    }
    // Repetitions of 13 bits each fall on the same bits of a byte after eight of them, which take 13 bytes.
    while bits.bytes.len() < 20 || bits.used != 0 {
        bits.repeat_last();
    }
    let mut beginning = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    beginning.append(&mut bits.bytes);
    (0..8).for_each(|_| bits.repeat_last());
    (beginning, bits.bytes, unpacked / (8 * LONGEST) + 1)
}

/// Bits, the lowest of a byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// How many bits of the last byte are used; 0 when it is full.
    used: u8,
}

impl Bits {
    fn put(&mut self, value: u16, count: u8) {
        (0..count).for_each(|at| self.bit(value >> at & 1 == 1));
    }

    /// Codes alone are written from their highest bit on.
    fn code(&mut self, value: u16, count: u8) {
        (0..count).rev().for_each(|at| self.bit(value >> at & 1 == 1));
    }

    fn bit(&mut self, is_set: bool) {
        if self.used == 0 {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(is_set) << self.used;
        }
        self.used = (self.used + 1) % 8;
    }

    /// The byte before, 258 times.
    fn repeat_last(&mut self) {
        self.code(0b1100_0101, 8);
        self.code(0, 5);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unpacks what `bomb` packs, and nothing else.
    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1;
        let code = |at: usize| (0..8).fold(0_u8, |code, next| code << 1 | bit(at + next));
        let (mut at, mut out) = (3, Vec::new());
        while at + 13 <= bytes.len() * 8 {
            match code(at) {
                0b1100_0101 => {
                    at += 13;
                    out.extend(std::iter::repeat_n(out[out.len() - 1], LONGEST as usize));
                }
                literal => {
                    at += 8;
                    out.push(literal - 0x30);
                }
            }
        }
        out
    }

    #[test]
    fn f7_a_small_body_unpacks_to_a_large_one() {
        let (beginning, piece, times) = bomb(1 << 20);
        let packed: Vec<u8> = [&beginning[10..], &piece.repeat(times as usize)].concat();
        let out = unpacked(&packed);
        assert!(out.starts_with(b"data: \"xxx"));
        assert!(out[7..].iter().all(|it| *it == b'x'));
        assert!(out.len() > 1 << 20 && packed.len() < out.len() / 100, "{} of {}", packed.len(), out.len());
    }
}
