//! Decodes UTF-8 from a byte stream that may be cut inside a character.

/// A decoder that keeps the bytes of an incomplete character until the rest arrives.
#[derive(Debug, Default)]
pub(super) struct Utf8Decoder {
    incomplete: Vec<u8>,
}

impl Utf8Decoder {
    /// The text of these bytes, without an incomplete character at the end. Invalid bytes are
    /// replaced.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> String {
        self.incomplete.extend_from_slice(bytes);
        let whole = self.incomplete.len() - incomplete_len(&self.incomplete);
        let text = String::from_utf8_lossy(&self.incomplete[..whole]).into_owned();
        self.incomplete.drain(..whole);
        text
    }

    /// The remaining text at the end of the stream.
    pub(super) fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.incomplete)).into_owned()
    }
}

/// How many bytes at the end are the beginning of an incomplete character.
fn incomplete_len(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    // An error with a length is an invalid sequence; one without is only cut off.
    let is_cut = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if is_cut { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f3_text_cut_anywhere_means_the_same() {
        let check = |bytes: &[u8]| {
            let expected = String::from_utf8_lossy(bytes);
            for cut in 0..=bytes.len() {
                let mut decoder = Utf8Decoder::default();
                let text =
                    [decoder.feed(&bytes[..cut]), decoder.feed(&bytes[cut..]), decoder.rest()].concat();
                assert_eq!(text, expected, "cut at {cut}");
            }
        };
        check("grüße \u{1f600} – ok".as_bytes());
        check(b"a\xff\xfe b \xe2\x82 c");
        check(b"never finished \xf0\x9f\x98");
        check(b"\xe2\x82");
    }
}
