//! The text of an answer as it arrives: kept up to the answer's limit, and only counted beyond it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::call::tokens::{self, Family};

/// The most bytes of an answer that are kept or read, whatever its limit in tokens; no honest
/// answer comes near.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Tokens are counted in blocks of this many bytes, so that an answer is cut at the same place
/// however its pieces arrive, and counting takes no longer than reading.
const BLOCK: usize = 1_024;

/// More tokens than any text has by our count, for each of its bytes.
const MOST_PER_BYTE: u64 = 2;

/// The text of one answer.
pub(crate) struct AnswerText {
    kept: String,
    /// The most tokens it may have by our count.
    limit: u64,
    /// The part of `kept` whose tokens are in `tokens`.
    counted: usize,
    tokens: u64,
    /// Bytes that arrived after the cut; `None` while everything is kept.
    dropped: Option<usize>,
    arrived: Arrived,
}

/// How many bytes of an answer have arrived. Shared with the seat, which estimates the cost of a
/// call that is given up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrived(Arc<AtomicUsize>);

impl Arrived {
    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// An estimate of the tokens that have arrived.
    pub(crate) fn tokens(&self) -> u64 {
        tokens::estimate_bytes(self.0.load(Ordering::Relaxed))
    }
}

impl AnswerText {
    /// An answer for which this many tokens were allowed. It is cut at 1.5 times as many: vendors
    /// count differently from us, and an answer within its limit must never be cut.
    pub(crate) fn new(max_tokens: u32, arrived: Arrived) -> Self {
        let limit = u64::from(max_tokens) + u64::from(max_tokens / 2);
        AnswerText { kept: String::new(), limit, counted: 0, tokens: 0, dropped: None, arrived }
    }

    /// Adds a piece.
    pub(crate) fn push(&mut self, piece: &str) {
        self.arrived.add(piece.len());
        if let Some(dropped) = &mut self.dropped {
            *dropped = dropped.saturating_add(piece.len());
            return;
        }
        self.kept.push_str(piece);
        if let Some(end) = self.end() {
            self.dropped = Some(self.kept.len() - end);
            self.kept.truncate(end);
        }
    }

    /// The end of the first block that takes the answer past its limit. Always counted by the
    /// family with the fewest tokens per text, whichever model answers.
    fn end(&mut self) -> Option<usize> {
        // Most answers are so short that they need not be counted.
        let may_exceed = self.limit < (self.kept.len() as u64).saturating_mul(MOST_PER_BYTE);
        while may_exceed && self.counted + BLOCK <= self.kept.len() {
            let end = self.kept.floor_char_boundary(self.counted + BLOCK);
            self.tokens += Family::O200k.estimate(&self.kept[self.counted..end]);
            self.counted = end;
            if self.tokens > self.limit {
                return Some(end);
            }
        }
        (self.kept.len() > MAX_BYTES).then(|| self.kept.floor_char_boundary(MAX_BYTES))
    }

    pub(crate) fn kept(&self) -> &str {
        &self.kept
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.dropped.is_some()
    }

    /// Whether so much came after the cut that the rest isn't worth waiting for.
    pub(crate) fn is_endless(&self) -> bool {
        self.dropped.is_some_and(|dropped| self.kept.len() + dropped > MAX_BYTES)
    }

    /// An estimate of the tokens that came after the cut.
    pub(crate) fn tokens_dropped(&self) -> u64 {
        tokens::estimate_bytes(self.dropped.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text in pieces of this many characters each.
    fn in_pieces(text: &str, max_tokens: u32, size: usize) -> AnswerText {
        let mut answer = AnswerText::new(max_tokens, Arrived::default());
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            answer.push(&piece.iter().collect::<String>());
        }
        answer
    }

    #[test]
    fn f18_an_answer_is_cut_at_the_same_place_however_it_arrives() {
        for text in ["the case for it is strong and ".repeat(400), "günstig — 是的 👍 ".repeat(500)] {
            let whole = in_pieces(&text, 200, usize::MAX);
            assert!(whole.is_cut() && text.starts_with(whole.kept()), "{}", whole.kept().len());
            for size in [1, 3, 7, 1_000, 1_025] {
                let answer = in_pieces(&text, 200, size);
                assert_eq!(answer.kept(), whole.kept(), "in pieces of {size}");
                assert_eq!(answer.tokens_dropped(), whole.tokens_dropped(), "in pieces of {size}");
            }
        }
    }

    #[test]
    fn f18_an_answer_is_cut_within_a_block_of_half_as_much_again_as_it_was_allowed() {
        for allowed in [16, 200, 2_048, 20_000] {
            let answer = in_pieces(&"the case for it is strong and ".repeat(40_000), allowed, 5);
            let limit = u64::from(allowed) * 3 / 2;
            let kept = Family::O200k.estimate(answer.kept());
            assert!((limit..limit + 300).contains(&kept), "{kept} of {allowed}");
        }
    }

    #[test]
    fn f18_an_answer_that_keeps_to_its_limit_by_any_vendors_count_is_whole() {
        let texts = [
            "the case for it is strong and ",
            "Die Abwägung zwischen Übertragbarkeit und Geschwindigkeit ",
            "数据库应该使用制表符还是空格，这取决于团队。",
            "    if let Some(value) = self.values.get(&key) {\n        return value.clone();\n    }\n",
            "این نیم‌فاصله‌ها درست هستند و باید بمانند. ",
        ];
        for text in texts {
            for family in [Family::O200k, Family::Cl100k, Family::Claude, Family::Gemini, Family::Other] {
                let most = 2_048 * text.len() as u64 / family.estimate(text).max(1);
                let text = text.repeat(most as usize / text.len());
                assert!(!in_pieces(&text, 2_048, 11).is_cut(), "{family:?}: {text:.40}");
            }
        }
    }

    #[test]
    fn no_text_has_more_tokens_than_the_bound_for_its_bytes() {
        let texts =
            ["a ", "!", "a!", "1 ", "ä", "是", "👍", "\n", "\t", "A", "aB", "'s", "\u{200c}", "ف ", "x1"];
        for text in texts.map(|it| it.repeat(1_000)) {
            let tokens = Family::O200k.estimate(&text);
            assert!(tokens <= text.len() as u64 * MOST_PER_BYTE, "{tokens} of {}: {text:.10}", text.len());
        }
    }

    #[test]
    fn f7_no_answer_is_kept_beyond_a_mebibyte() {
        let mut answer = AnswerText::new(u32::MAX, Arrived::default());
        let piece = "ä".repeat(1_000);
        while !answer.is_cut() {
            answer.push(&piece);
        }
        assert_eq!(answer.kept().len(), MAX_BYTES);
        assert!(answer.is_endless());
    }
}
