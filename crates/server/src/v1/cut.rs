//! The bounds that a client sets for the answer: a number of tokens, and texts at which it ends.

use quorum::{call::tokens::Family, model::client::ClientOrder};

/// Why an answer ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ended {
    #[default]
    Complete,
    /// It has as many tokens as were asked for.
    Length,
    /// A text came at which it was to end.
    Stopped,
}

impl Ended {
    /// `Length` for an answer that only looks complete.
    pub(crate) fn or_length(self) -> Self {
        match self {
            Ended::Complete => Ended::Length,
            Ended::Length | Ended::Stopped => self,
        }
    }
}

/// Passes an answer on as far as its bounds allow, piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    most: Option<u32>,
    stops: Vec<String>,
    text: String,
    /// How much of the text was passed on.
    passed: usize,
    ended: Ended,
    /// The text at which it ended.
    stop: Option<String>,
}

impl Cut {
    /// The bounds of this order. A JSON value is never cut.
    pub(crate) fn of(order: Option<&ClientOrder>) -> Self {
        match order.filter(|it| it.schema.is_none()) {
            Some(order) => Cut { most: order.max_tokens, stops: order.stop.clone(), ..Cut::default() },
            None => Cut::default(),
        }
    }

    /// Takes a piece, and returns what of the text may be passed on now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        if self.ended != Ended::Complete {
            return String::new();
        }
        let before = self.text.len();
        self.text.push_str(piece);
        self.stop_at(before);
        self.bound();
        let held = if self.ended == Ended::Complete { self.held() } else { 0 };
        self.pass_to(self.text.len() - held)
    }

    /// Returns what was held back, since it could have been the beginning of a stop sequence.
    pub(crate) fn end(&mut self) -> String {
        self.pass_to(self.text.len())
    }

    pub(crate) fn ended(&self) -> Ended {
        self.ended
    }

    /// The text at which it ended.
    pub(crate) fn stop(&self) -> Option<&str> {
        self.stop.as_deref()
    }

    fn pass_to(&mut self, end: usize) -> String {
        let from = self.passed.min(end);
        self.passed = end.max(self.passed);
        self.text[from..end].to_owned()
    }

    fn stop_at(&mut self, before: usize) {
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0);
        let from = self.text.floor_char_boundary(before.saturating_sub(longest));
        let found = self.stops.iter().filter_map(|it| Some((from + self.text[from..].find(it)?, it)));
        if let Some((at, stop)) = found.min_by_key(|it| it.0) {
            (self.ended, self.stop) = (Ended::Stopped, Some(stop.clone()));
            self.text.truncate(at);
        }
    }

    fn bound(&mut self) {
        let Some(most) = self.most.map(u64::from) else { return };
        // No text has more tokens than bytes.
        if self.text.len() as u64 <= most || Family::O200k.estimate(&self.text) <= most {
            return;
        }
        let (mut fits, mut end) = (0, self.text.len());
        while fits + 1 < end {
            let middle = (fits + end) / 2;
            let at = self.text.floor_char_boundary(middle);
            if Family::O200k.estimate(&self.text[..at]) <= most { fits = middle } else { end = middle }
        }
        self.text.truncate(self.text.floor_char_boundary(fits).max(self.passed));
        self.ended = Ended::Length;
    }

    /// How many bytes at the end could be the beginning of a stop sequence.
    fn held(&self) -> usize {
        let begins = |length: usize| {
            let at = self.text.len() - length;
            self.text.is_char_boundary(at)
                && self.passed <= at
                && self.stops.iter().any(|it| it.starts_with(&self.text[at..]))
        };
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0).min(self.text.len());
        (1..=longest).rev().find(|length| begins(*length)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(order: &ClientOrder, pieces: &[&str], expected: &str, ended: Ended) {
        let mut cut = Cut::of(Some(order));
        let passed: String = pieces.iter().map(|it| cut.push(it)).collect();
        assert_eq!((passed + &cut.end(), cut.ended()), (expected.to_owned(), ended), "{pieces:?}");
    }

    #[test]
    fn an_answer_ends_at_a_stop_sequence_wherever_it_is_split() {
        let order = ClientOrder { stop: vec!["END".into(), "##".into()], ..ClientOrder::default() };
        check(&order, &["one EN", "D two"], "one ", Ended::Stopped);
        check(&order, &["one E", "N", "D"], "one ", Ended::Stopped);
        check(&order, &["one EN", "d ", "#"], "one ENd #", Ended::Complete);
        check(&order, &["a##b", "END"], "a", Ended::Stopped);
        check(&order, &["END"], "", Ended::Stopped);
    }

    #[test]
    fn an_answer_has_no_more_tokens_than_asked_for() {
        let order = ClientOrder { max_tokens: Some(3), ..ClientOrder::default() };
        let mut cut = Cut::of(Some(&order));
        let passed: String =
            "one two three four five six".split_inclusive(' ').map(|it| cut.push(it)).collect();
        let passed = passed + &cut.end();
        assert!(Family::O200k.estimate(&passed) <= 3 && passed.starts_with("one"), "{passed}");
        assert_eq!(cut.ended(), Ended::Length);
        check(&order, &["yes"], "yes", Ended::Complete);
    }
}
