//! A gzip bomb: small when sent and huge when decompressed.

/// The most bytes that one back-reference can repeat.
const MAX_REPEAT: u64 = 258;

/// A gzip stream as its beginning, a piece, and how often the piece is repeated, so that it
/// decompresses to about `unpacked` bytes of `x` after `data: "`. It has no end: the reader must
/// have stopped long before.
pub(super) fn bomb(unpacked: u64) -> (Vec<u8>, Vec<u8>, u64) {
    let mut bits = Bits::default();
    // One non-final block with the fixed Huffman table.
    bits.put(0b010, 3);
    for byte in b"data: \"x" {
        bits.code(u16::from(*byte) + 0x30, 8);
    }
    // Eight repetitions of 13 bits take exactly 13 bytes, so the pattern repeats at byte
    // boundaries.
    while bits.bytes.len() < 20 || bits.used != 0 {
        bits.repeat_last();
    }
    let mut beginning = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    beginning.append(&mut bits.bytes);
    (0..8).for_each(|_| bits.repeat_last());
    (beginning, bits.bytes, unpacked / (8 * MAX_REPEAT) + 1)
}

/// A bit writer that fills each byte from its lowest bit.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Used bits of the last byte; 0 when it is full.
    used: u8,
}

impl Bits {
    fn put(&mut self, value: u16, count: u8) {
        (0..count).for_each(|at| self.bit(value >> at & 1 == 1));
    }

    /// Writes a Huffman code, which starts with its highest bit.
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

    /// Repeats the last byte 258 times.
    fn repeat_last(&mut self) {
        self.code(0b1100_0101, 8);
        self.code(0, 5);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decompresses only the format that `bomb` writes.
    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1;
        let code = |at: usize| (0..8).fold(0_u8, |code, next| code << 1 | bit(at + next));
        let (mut at, mut out) = (3, Vec::new());
        while at + 13 <= bytes.len() * 8 {
            match code(at) {
                0b1100_0101 => {
                    at += 13;
                    out.extend(std::iter::repeat_n(out[out.len() - 1], MAX_REPEAT as usize));
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
