//! Removes terminal escape sequences and control characters from a stream, however it is cut into
//! pieces, or from a whole text.
//!
//! Both know the same sequences and differ in how they treat one that is never finished. A stream
//! can't hold text back until the sequence ends, so [`Cleaner`] drops everything after its start.
//! For a whole text, [`without_sequences`] keeps that text.

/// The most parameter characters in a sequence; anything longer is treated as text.
const MAX_PARAMETERS: u8 = 64;

/// Cleans a stream piece by piece. Remembers the sequence in which the last piece ended.
#[derive(Debug, Default)]
pub struct Cleaner {
    inside: Inside,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Inside {
    #[default]
    Text,
    /// After an escape character.
    Escape,
    /// After an escape character and an intermediate byte, which selects a character set.
    Intermediate,
    /// Inside parameters such as `12;3H`, with the number of characters so far.
    Parameters(u8),
    /// Inside a control string, such as a title or a link, which ends with a bell or a terminator.
    Title,
    /// After an escape character inside a control string.
    TitleEscape,
    /// After the last character of a sequence.
    Over,
}

impl Cleaner {
    /// The piece without sequences and control characters.
    #[must_use]
    pub fn clean(&mut self, piece: &str) -> String {
        let mut cleaned = String::with_capacity(piece.len());
        for next in piece.chars() {
            self.inside = self.inside.after(next);
            if self.inside == Inside::Text && is_text(next) {
                cleaned.push(next);
            }
        }
        cleaned
    }
}

impl Inside {
    /// The state after one more character.
    fn after(self, next: char) -> Inside {
        match (self, next) {
            (Inside::Title, '\u{1b}') => Inside::TitleEscape,
            (_, '\u{1b}') => Inside::Escape,
            (Inside::Escape | Inside::TitleEscape, '[') => Inside::Parameters(0),
            (Inside::Escape | Inside::TitleEscape, ']' | 'P' | 'X' | '^' | '_') => Inside::Title,
            (Inside::Escape | Inside::TitleEscape | Inside::Intermediate, ' '..='/') => Inside::Intermediate,
            (Inside::Parameters(count), ' '..='?') if count < MAX_PARAMETERS => Inside::Parameters(count + 1),
            (Inside::Parameters(_), '@'..='~')
            | (Inside::Escape | Inside::TitleEscape | Inside::Intermediate, '0'..='~')
            | (Inside::Title, '\u{7}' | '\u{9c}') => Inside::Over,
            // A title has no line breaks, so an unterminated one swallows only the rest of its own
            // line.
            (Inside::Title, next) if next != '\n' => Inside::Title,
            (_, '\u{9b}') => Inside::Parameters(0),
            (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => Inside::Title,
            _ => Inside::Text,
        }
    }

    /// Whether this character begins another sequence before the current one has ended.
    fn is_broken_off_by(self, next: char) -> bool {
        match self {
            Inside::Title => next != '\u{1b}' && is_introducer(next),
            Inside::TitleEscape => next != '\\',
            _ => is_introducer(next),
        }
    }
}

/// A whole text, cleaned as a stream would be.
pub(crate) fn cleaned(text: &str) -> String {
    Cleaner::default().clean(text)
}

/// A whole text without sequences and control characters. Of an unfinished sequence only the
/// introducer is removed, so that no text is lost.
#[must_use]
pub fn without_sequences(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if is_text(next) {
            cleaned.push(next);
        }
        let taken = match is_introducer(next) {
            true => finished_sequence(rest).unwrap_or_else(|| introducer(rest)),
            false => next.len_utf8(),
        };
        rest = &rest[taken..];
    }
    cleaned
}

fn is_text(next: char) -> bool {
    matches!(next, '\n' | '\t') || !next.is_control()
}

fn is_introducer(next: char) -> bool {
    Inside::Text.after(next) != Inside::Text
}

/// The length in bytes of the sequence at the start of a text; `None` if another sequence begins
/// before it is finished.
fn finished_sequence(text: &str) -> Option<usize> {
    let mut inside = Inside::Text;
    for (at, next) in text.char_indices() {
        if at > 0 && inside.is_broken_off_by(next) {
            return None;
        }
        inside = inside.after(next);
        match inside {
            Inside::Over => return Some(at + next.len_utf8()),
            Inside::Text => return None,
            _ => {}
        }
    }
    None
}

/// The length in bytes of a sequence's introducer: an escape character with the character that
/// tells its kind.
fn introducer(text: &str) -> usize {
    let mut characters = text.chars();
    let first = characters.next().map_or(0, char::len_utf8);
    let kind = characters.next().filter(|it| {
        text.starts_with('\u{1b}') && matches!(it, ' '..='/' | '[' | ']' | 'P' | 'X' | '^' | '_')
    });
    first + kind.map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prop_assert, prop_assert_eq, proptest, sample::select};

    use super::*;

    #[test]
    fn s7_escape_sequences_are_stripped_wherever_they_are_cut() {
        for (text, expected) in [
            ("plain\ttext\nof two lines – ünïcode 🙂", "plain\ttext\nof two lines – ünïcode 🙂"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[1;1Hgone\u{1b}[?1049h", "gone"),
            ("\u{1b}]0;a title\u{7}text", "text"),
            ("\u{1b}]8;;https://bad.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;aGk=\u{9c}clipboard", "clipboard"),
            ("\u{1b}]0;never ended\ntext", "\ntext"),
            ("\u{1b}P1$r0m\u{1b}\\dcs", "dcs"),
            ("\u{1b}(0box\u{1b}(B", "box"),
            ("\u{1b}creset", "reset"),
            ("\u{9b}31mred\u{9d}0;title\u{9c}text", "redtext"),
            ("end\u{1b}", "end"),
            ("\u{1b}\u{1b}[31mtwice", "twice"),
            ("\u{1b}[31\nline", "\nline"),
            ("\u{1b}]a\u{1b}[1mb", "b"),
            ("dos\r\nlines over\rwritten", "dos\nlines overwritten"),
            ("bell\u{7} back\u{8} null\0 del\u{7f} \u{85}", "bell back null del "),
        ] {
            assert_eq!(cleaned(text), expected, "{text:?}");
            let mut cleaner = Cleaner::default();
            let single: String = text.chars().map(|it| cleaner.clean(&it.to_string())).collect();
            assert_eq!(single, expected, "{text:?}");
        }
    }

    #[test]
    fn s7_endless_parameters_are_text() {
        let endless = format!("\u{1b}[{}", "1".repeat(100));
        assert_eq!(cleaned(&endless), "1".repeat(100 - usize::from(MAX_PARAMETERS)));
    }

    #[test]
    fn s7_a_whole_text_keeps_what_follows_an_unfinished_sequence() {
        for (text, expected) in [
            ("\u{1b}]0;never ended\ntext", "0;never ended\ntext"),
            ("\u{1b}[31\nline", "31\nline"),
            ("\u{1b}]a\u{1b}[1mb", "ab"),
            ("\u{1b}]a\u{1b}cb", "ab"),
            ("\u{1b}]a\u{1b}]b\u{1b}\\c", "ac"),
            ("\u{9d}a\u{9d}b\u{9c}c", "ac"),
            ("\u{1b}[1\u{9b}2mc", "1c"),
            ("\u{1b}(\u{fc}", "\u{fc}"),
            ("\u{1b}\u{fc}", "\u{fc}"),
        ] {
            assert_eq!(without_sequences(text), expected, "{text:?}");
        }
        let endless = "1".repeat(100);
        assert_eq!(without_sequences(&format!("\u{1b}[{endless}")), endless);
    }

    proptest! {
        #[test]
        fn s7_nothing_is_left_that_moves_a_terminal(text in "([a-c;1\\n]|\u{1b}|\\[|\\]|\u{7}|\u{9b}|\u{9c}|\u{9d}|\\\\|\\(|m|ü){0,40}") {
            for cleaned in [cleaned(&text), without_sequences(&text)] {
                prop_assert!(cleaned.chars().all(is_text), "{text:?} -> {cleaned:?}");
            }
        }

        /// Both give the same result where every sequence is finished.
        #[test]
        fn s7_a_stream_and_a_whole_text_lose_the_same_sequences(pieces in vec(select(FINISHED), 0..20)) {
            let text = pieces.concat();
            prop_assert_eq!(cleaned(&text), without_sequences(&text));
        }
    }

    const FINISHED: &[&str] = &[
        "text",
        "ü\n",
        "\u{1b}[31m",
        "\u{1b}[?1049h",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]8;;link\u{1b}\\",
        "\u{1b}P1$r\u{9c}",
        "\u{1b}(B",
        "\u{1b}c",
        "\u{9b}1;2H",
        "\u{9d}0;title\u{9c}",
        "\r",
        "\0",
    ];
}
