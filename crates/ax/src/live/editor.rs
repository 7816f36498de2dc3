//! A line editor for a person's turn, with cursor keys and a history. It does no I/O: it takes
//! bytes, and returns finished lines and what to draw.

use unicode_width::UnicodeWidthChar;

/// Printed before each line.
const PROMPT: &str = "> ";

/// The spaces that a tab inserts.
const TAB: &str = "    ";

/// An action that the typed bytes request, beyond editing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typing {
    /// A line is finished.
    Line(String),
    /// The whole answer is to be edited in another program (Ctrl-X Ctrl-E).
    Editor,
    /// The input is over: Ctrl-D on an empty line.
    End,
}

/// One line that is being typed.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    line: Vec<char>,
    /// Where the next character goes.
    cursor: usize,
    /// Earlier lines, oldest first, and which of them is shown.
    history: Vec<String>,
    recalled: Option<usize>,
    /// The line that was being typed before an earlier one was recalled.
    draft: Vec<char>,
    /// Bytes of a character or an escape sequence that is not complete yet.
    pending: Vec<u8>,
    /// Whether the last key was Ctrl-X.
    chord: bool,
}

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Press {
    Character(char),
    Enter,
    Tab,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    Up,
    Down,
    Backspace,
    Delete,
    DeleteWord,
    DeleteBefore,
    DeleteAfter,
    /// Ctrl-D: the end of input on an empty line, else a deletion.
    EndOfInput,
    ChordStart,
    /// Ctrl-E: the end of the line, or after Ctrl-X the other program.
    LineEnd,
    /// A key without a meaning here.
    Nothing,
}

impl Editor {
    /// An editor with these earlier lines.
    pub(crate) fn with_history(history: Vec<String>) -> Editor {
        Editor { history, ..Editor::default() }
    }

    /// Handles one byte, and returns the action it requests.
    pub(crate) fn feed(&mut self, byte: u8) -> Option<Typing> {
        self.pending.push(byte);
        let press = read(&self.pending)?;
        self.pending.clear();
        self.press(press)
    }

    /// The line as it is drawn on a terminal of this width: the part around the cursor, and the
    /// cursor in its place.
    pub(crate) fn drawn(&self, columns: usize) -> String {
        let room = columns.saturating_sub(PROMPT.len() + 1).max(1);
        let mut from = self.cursor;
        let mut before = 0;
        while 0 < from && before + width(self.line[from - 1]) <= room {
            from -= 1;
            before += width(self.line[from]);
        }
        let (mut shown, mut used) = (String::new(), 0);
        for letter in &self.line[from..] {
            used += width(*letter);
            if room < used {
                break;
            }
            shown.push(*letter);
        }
        format!("\r\u{1b}[K{PROMPT}{shown}\r\u{1b}[{}C", PROMPT.len() + before)
    }

    /// The finished line, whole, and the beginning of the next.
    pub(crate) fn drawn_whole(line: &str) -> String {
        format!("\r\u{1b}[K{PROMPT}{line}\r\n")
    }

    fn press(&mut self, press: Press) -> Option<Typing> {
        let chord = std::mem::replace(&mut self.chord, press == Press::ChordStart);
        match press {
            Press::LineEnd if chord => return Some(Typing::Editor),
            Press::EndOfInput if self.line.is_empty() => return Some(Typing::End),
            Press::Enter => return Some(Typing::Line(self.finish())),
            Press::Character(letter) => self.insert(letter),
            Press::Tab => TAB.chars().for_each(|it| self.insert(it)),
            Press::Left => self.cursor = self.cursor.saturating_sub(1),
            Press::Right => self.cursor = (self.cursor + 1).min(self.line.len()),
            Press::WordLeft => self.cursor = self.word_before(),
            Press::WordRight => self.cursor = self.word_after(),
            Press::Home => self.cursor = 0,
            Press::End | Press::LineEnd => self.cursor = self.line.len(),
            Press::Up => self.recall(Some(self.recalled.unwrap_or(self.history.len()).wrapping_sub(1))),
            Press::Down => self.recall(self.recalled.map(|it| it + 1)),
            Press::Backspace => self.remove(self.cursor.saturating_sub(1), self.cursor),
            Press::Delete | Press::EndOfInput => self.remove(self.cursor, self.cursor + 1),
            Press::DeleteWord => self.remove(self.word_before(), self.cursor),
            Press::DeleteBefore => self.remove(0, self.cursor),
            Press::DeleteAfter => self.remove(self.cursor, self.line.len()),
            Press::ChordStart | Press::Nothing => {}
        }
        None
    }

    fn insert(&mut self, letter: char) {
        self.line.insert(self.cursor, letter);
        self.cursor += 1;
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.line.drain(from..to.min(self.line.len()).max(from));
        self.cursor = from;
    }

    fn finish(&mut self) -> String {
        let line: String = std::mem::take(&mut self.line).into_iter().collect();
        (self.cursor, self.recalled) = (0, None);
        if !line.trim().is_empty() && self.history.last() != Some(&line) {
            self.history.push(line.clone());
        }
        line
    }

    /// Shows an earlier line; past the newest, the draft again.
    fn recall(&mut self, at: Option<usize>) {
        let Some(at) = at.filter(|at| *at <= self.history.len()) else { return };
        if self.recalled.is_none() {
            self.draft = std::mem::take(&mut self.line);
        }
        (self.line, self.recalled) = match self.history.get(at) {
            Some(earlier) => (earlier.chars().collect(), Some(at)),
            None => (std::mem::take(&mut self.draft), None),
        };
        self.cursor = self.line.len();
    }

    fn word_before(&self) -> usize {
        let spaces = self.line[..self.cursor].iter().rev().take_while(|it| it.is_whitespace()).count();
        let end = self.cursor - spaces;
        end - self.line[..end].iter().rev().take_while(|it| !it.is_whitespace()).count()
    }

    fn word_after(&self) -> usize {
        let spaces = self.line[self.cursor..].iter().take_while(|it| it.is_whitespace()).count();
        let start = self.cursor + spaces;
        start + self.line[start..].iter().take_while(|it| !it.is_whitespace()).count()
    }
}

fn width(letter: char) -> usize {
    letter.width().unwrap_or_default()
}

/// The key of these bytes; `None` if more belong to it.
fn read(bytes: &[u8]) -> Option<Press> {
    Some(match bytes {
        [0x1b] | [0x1b, b'[' | b'O'] => return None,
        [0x1b, b'[', parameters @ .., last] if !(b'@'..=b'~').contains(last) => {
            // A sequence that never ends must not swallow all that follows.
            return (32 < parameters.len()).then_some(Press::Nothing);
        }
        [0x1b, b'[' | b'O', sequence @ ..] => of_sequence(sequence),
        [0x1b, b'b'] => Press::WordLeft,
        [0x1b, b'f'] => Press::WordRight,
        [0x1b, ..] => Press::Nothing,
        [control @ (0..0x20 | 0x7f)] => of_control(*control),
        text => match std::str::from_utf8(text) {
            Ok(text) => {
                text.chars().next().filter(|it| is_text(*it)).map_or(Press::Nothing, Press::Character)
            }
            Err(error) if error.error_len().is_none() => return None,
            Err(_) => Press::Nothing,
        },
    })
}

/// Whether a character may be part of an answer: none that controls a terminal.
fn is_text(letter: char) -> bool {
    !letter.is_control()
}

fn of_sequence(sequence: &[u8]) -> Press {
    match sequence {
        [b'A'] => Press::Up,
        [b'B'] => Press::Down,
        [b'C'] => Press::Right,
        [b'D'] => Press::Left,
        [.., b'5', b'C'] => Press::WordRight,
        [.., b'5', b'D'] => Press::WordLeft,
        [b'H'] | [b'1' | b'7', b'~'] => Press::Home,
        [b'F'] | [b'4' | b'8', b'~'] => Press::End,
        [b'3', b'~'] => Press::Delete,
        _ => Press::Nothing,
    }
}

fn of_control(byte: u8) -> Press {
    match byte {
        0x01 => Press::Home,
        0x02 => Press::Left,
        0x04 => Press::EndOfInput,
        0x05 => Press::LineEnd,
        0x06 => Press::Right,
        0x08 | 0x7f => Press::Backspace,
        b'\t' => Press::Tab,
        b'\r' | b'\n' => Press::Enter,
        0x0b => Press::DeleteAfter,
        0x0e => Press::Down,
        0x10 => Press::Up,
        0x15 => Press::DeleteBefore,
        0x17 => Press::DeleteWord,
        0x18 => Press::ChordStart,
        _ => Press::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What these bytes ask for, with two earlier lines.
    fn typed(bytes: &[u8]) -> Vec<Typing> {
        let mut editor = Editor::with_history(vec!["first".to_owned(), "second".to_owned()]);
        bytes.iter().filter_map(|byte| editor.feed(*byte)).collect()
    }

    fn line(text: &str) -> Vec<Typing> {
        vec![Typing::Line(text.to_owned())]
    }

    #[test]
    fn a_line_is_mended_with_the_usual_keys() {
        for (bytes, expected) in [
            (&b"bridge\r"[..], "bridge"),
            (b"brigde\x7f\x7f\x7fdge\r", "bridge"),
            (b"ridge\x01b\r", "bridge"),
            (b"bidge\x1b[D\x1b[D\x1b[D\x1b[Dr\r", "bridge"),
            (b"xbridge\x1b[H\x1b[3~\r", "bridge"),
            (b"one two\x17three\r", "one three"),
            (b"one two\x15\r", ""),
            (b"one two\x1b[1;5D\x0b\r", "one "),
            ("Brücke\r".as_bytes(), "Brücke"),
            ("橋x\u{7f}\r".as_bytes(), "橋"),
            (b"\x1b[A\r", "second"),
            (b"\x1b[A\x1b[A\x1b[A\r", "first"),
            (b"draft\x1b[A\x1b[B\r", "draft"),
            (b"\x10!\r", "second!"),
        ] {
            assert_eq!(typed(bytes), line(expected), "{bytes:?}");
        }
    }

    #[test]
    fn an_answer_never_holds_escape_bytes() {
        let hostile = b"a\x1b[31mb\x1b]0;c\x07\x1b[200~d\x9b\x00\x1b[?1049he\x1bOP\x1b[15~f\r";
        let [Typing::Line(text)] = &typed(hostile)[..] else { panic!("one line") };
        assert!(text.chars().all(|it| !it.is_control()), "{text:?}");
        assert_eq!(text, "ab0;cdef");
    }

    #[test]
    fn control_d_ends_and_control_x_control_e_opens_the_editor() {
        assert_eq!(typed(b"\x04"), [Typing::End]);
        assert_eq!(typed(b"a\x04\r"), line("a"));
        assert_eq!(typed(b"a\x18\x05"), [Typing::Editor]);
        assert_eq!(typed(b"a\x18b\x05\r"), line("ab"));
    }

    #[test]
    fn a_long_line_is_drawn_around_the_cursor() {
        let mut editor = Editor::default();
        b"0123456789".iter().for_each(|byte| drop(editor.feed(*byte)));
        assert_eq!(editor.drawn(80), "\r\u{1b}[K> 0123456789\r\u{1b}[12C");
        assert_eq!(editor.drawn(8), "\r\u{1b}[K> 56789\r\u{1b}[7C");
        editor.feed(0x01);
        assert_eq!(editor.drawn(8), "\r\u{1b}[K> 01234\r\u{1b}[2C");
    }
}
