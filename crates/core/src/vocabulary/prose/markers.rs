//! Takes the markers of sources out of a text for people, while it arrives: `[ann:2]` after a
//! sentence says that it rests on what ann said in round 2.
//!
//! A marker in code stays: there it is part of the code. Where a marker was is kept, as an offset
//! in the text without markers.

mod marker;

use serde::{Deserialize, Serialize};

use marker::{Found, Taken, marker_at, wrapped_at};

/// A marker that was taken out of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Where it stood, in Unicode scalar values of the text without markers.
    pub at: usize,
    /// What it cites: `ann:2`, `ann:1-2`, `all`, or a label that no seat has.
    pub cites: Vec<String>,
}

/// A text without its markers, and the markers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unmarked {
    /// The text for people.
    pub text: String,
    /// The markers that were taken out, in order.
    pub markers: Vec<Marker>,
}

impl Unmarked {
    /// Takes the markers out of a whole text that may cite these participants.
    #[must_use]
    pub fn of(text: &str, speakers: &[String]) -> Unmarked {
        let mut stream = MarkerStream::new(speakers);
        stream.push(text, true);
        stream.unmarked
    }
}

/// Takes the markers out of a text while it arrives. Its work is linear in the length of the text,
/// whatever the pieces.
#[derive(Debug)]
pub struct MarkerStream {
    /// The names that a marker may cite, longest first; none if the text has no markers.
    speakers: Vec<String>,
    /// Everything before this byte of the text is decided.
    taken: usize,
    unmarked: Unmarked,
    /// The length of the text without markers, in Unicode scalar values.
    length: usize,
    /// White space that is shown only if more text follows.
    gap: String,
    code: Code,
    /// Whether nothing of the line is shown yet.
    is_line_start: bool,
    /// Whether the line began with a marker, so that blanks after it are dropped.
    is_after_marker: bool,
}

/// The code that a place of a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    /// None.
    Outside,
    /// Between two backticks of a line.
    Inline,
    /// A block between two lines of three backticks.
    Block,
}

impl MarkerStream {
    /// The stream of a text that may cite these participants. Without any, nothing is taken out.
    #[must_use]
    pub fn new(speakers: &[String]) -> Self {
        let mut speakers = speakers.to_vec();
        speakers.sort_by_key(|it| std::cmp::Reverse(it.len()));
        MarkerStream {
            speakers,
            taken: 0,
            unmarked: Unmarked::default(),
            length: 0,
            gap: String::new(),
            code: Code::Outside,
            is_line_start: true,
            is_after_marker: false,
        }
    }

    /// Takes the text so far, and returns the new text for people. What may be the beginning of a
    /// marker waits for the rest.
    pub fn push(&mut self, text: &str, is_complete: bool) -> &str {
        let from = self.unmarked.text.len();
        if self.speakers.is_empty() {
            let new = &text[self.taken..];
            self.unmarked.text.push_str(new);
            self.taken = text.len();
            return &self.unmarked.text[from..];
        }
        while self.taken < text.len() && self.advance(text, is_complete) {}
        &self.unmarked.text[from..]
    }

    /// How long the text for people is so far, in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.unmarked.text.len()
    }

    /// Decides on the next part of the text; `false` if more of it is needed.
    fn advance(&mut self, text: &str, is_complete: bool) -> bool {
        let rest = &text[self.taken..];
        let plain = rest.bytes().position(is_special).unwrap_or(rest.len());
        if 0 < plain {
            self.show(&rest[..plain]);
            return true;
        }
        let Some(letter) = rest.chars().next() else { return false };
        match letter {
            ' ' | '\t' | '\r' | '\n' => self.hold_back(letter),
            '`' => return self.read_backtick(rest, is_complete),
            '[' | '［' | '【' | '\\' if self.code == Code::Outside => {
                return self.read_marker(rest, is_complete);
            }
            _ => self.show(&rest[..letter.len_utf8()]),
        }
        true
    }

    fn hold_back(&mut self, letter: char) {
        self.taken += 1;
        if self.is_after_marker && letter != '\n' {
            return;
        }
        self.gap.push(letter);
        if letter == '\n' {
            (self.is_line_start, self.is_after_marker) = (true, false);
            if self.code == Code::Inline {
                self.code = Code::Outside;
            }
        }
    }

    /// Reads a fence of a code block, a marker between backticks, or the edge of inline code.
    fn read_backtick(&mut self, rest: &str, is_complete: bool) -> bool {
        if self.is_line_start && !is_complete && rest.len() < FENCE.len() && FENCE.starts_with(rest) {
            return false;
        }
        if self.is_line_start && rest.starts_with(FENCE) {
            self.code = if self.code == Code::Block { Code::Outside } else { Code::Block };
            self.show(FENCE);
            return true;
        }
        match self.code {
            Code::Block => self.show("`"),
            Code::Inline => {
                self.code = Code::Outside;
                self.show("`");
            }
            Code::Outside => match wrapped_at(rest, &self.speakers, is_complete) {
                Found::Unfinished => return false,
                Found::Marker(marker) => self.take_out(marker),
                Found::Nothing => {
                    self.code = Code::Inline;
                    self.show("`");
                }
            },
        }
        true
    }

    fn read_marker(&mut self, rest: &str, is_complete: bool) -> bool {
        let before = if self.gap.is_empty() { self.unmarked.text.chars().next_back() } else { None };
        match marker_at(rest, before, &self.speakers, is_complete) {
            Found::Unfinished => return false,
            Found::Marker(marker) => self.take_out(marker),
            Found::Nothing => {
                let length = rest.chars().next().map_or(0, char::len_utf8);
                self.show(&rest[..length]);
            }
        }
        true
    }

    /// Takes a marker out, with the blanks before it; at the beginning of a line with those after
    /// it.
    fn take_out(&mut self, marker: Taken) {
        if !self.is_line_start {
            self.gap.truncate(self.gap.trim_end_matches([' ', '\t']).len());
        }
        self.is_after_marker = self.is_line_start;
        let is_first = self.unmarked.text.is_empty();
        let gap = if is_first { 0 } else { self.gap.chars().count() };
        self.unmarked.markers.push(Marker { at: self.length + gap, cites: marker.cites });
        if let Some(kept) = marker.kept {
            let blank = if self.is_line_start { "" } else { " " };
            self.show_own(&format!("{blank}{kept}"));
        }
        self.taken += marker.length;
    }

    fn show(&mut self, text: &str) {
        self.show_own(text);
        self.taken += text.len();
    }

    /// Shows some text after the white space before it, which is dropped at the beginning.
    fn show_own(&mut self, text: &str) {
        let gap = std::mem::take(&mut self.gap);
        if !self.unmarked.text.is_empty() {
            self.unmarked.text.push_str(&gap);
            self.length += gap.chars().count();
        }
        self.unmarked.text.push_str(text);
        self.length += text.chars().count();
        (self.is_line_start, self.is_after_marker) = (false, false);
    }
}

const FENCE: &str = "```";

/// Bytes that begin something else than plain text. The last two begin the wide forms of `[`.
fn is_special(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'`' | b'[' | b'\\' | 0xe3 | 0xef)
}

#[cfg(test)]
mod tests;
