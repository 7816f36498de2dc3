//! Cuts what a program writes as plain text where it is whole.

/// Bytes that wait for the rest of their character.
#[derive(Debug, Default)]
pub(super) struct Letters {
    begun: Vec<u8>,
}

impl Letters {
    /// The text of these bytes, without a character that is not complete yet. Bytes that are no text are replaced.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let whole = self.begun.len() - unfinished(&self.begun);
        let text = String::from_utf8_lossy(&self.begun[..whole]).into_owned();
        self.begun.drain(..whole);
        text
    }

    /// What is left when nothing more comes.
    pub(super) fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.begun)).into_owned()
    }
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    // Bytes that can't go on are wrong; those that could are merely not all there yet.
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
                let mut letters = Letters::default();
                let text =
                    [letters.feed(&bytes[..cut]), letters.feed(&bytes[cut..]), letters.rest()].concat();
                assert_eq!(text, expected, "cut at {cut}");
            }
        };
        check("grüße \u{1f600} – ok".as_bytes());
        check(b"a\xff\xfe b \xe2\x82 c");
        check(b"never finished \xf0\x9f\x98");
        check(b"\xe2\x82");
    }
}
