//! Takes escape sequences and control characters out of a streamed text, however it is cut into pieces.

/// No sequence has more parameters than this; what goes on longer is text.
const LONGEST_PARAMETERS: u8 = 64;

/// Remembers in which sequence the text so far ended.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    inside: Inside,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Inside {
    #[default]
    Text,
    /// After an escape character.
    Escape,
    /// After an escape character and signs that choose a set of characters.
    Intermediate,
    /// Inside `12;3H`, so many characters already.
    Parameters(u8),
    /// Inside a title, a link or the like, which ends with a bell or a terminator.
    Title,
    /// After an escape character inside such a one.
    TitleEscape,
}

impl Cleaner {
    /// The harmless part of this piece.
    pub(super) fn clean(&mut self, piece: &str) -> String {
        let mut cleaned = String::with_capacity(piece.len());
        for next in piece.chars() {
            if self.lets_through(next) {
                cleaned.push(next);
            }
        }
        cleaned
    }

    /// Moves on over this character, and says whether it is text.
    fn lets_through(&mut self, next: char) -> bool {
        self.inside = match (self.inside, next) {
            (Inside::Title, '\u{1b}') => Inside::TitleEscape,
            (_, '\u{1b}') => Inside::Escape,
            (Inside::Escape | Inside::TitleEscape, '[') => Inside::Parameters(0),
            (Inside::Escape | Inside::TitleEscape, ']' | 'P' | 'X' | '^' | '_') => Inside::Title,
            (Inside::Escape | Inside::TitleEscape | Inside::Intermediate, ' '..='/') => Inside::Intermediate,
            (Inside::Parameters(count), ' '..='?') if count < LONGEST_PARAMETERS => {
                Inside::Parameters(count + 1)
            }
            (Inside::Parameters(_), '@'..='~')
            | (Inside::Escape | Inside::TitleEscape | Inside::Intermediate, '0'..='~')
            | (Inside::Title, '\u{7}' | '\u{9c}') => {
                self.inside = Inside::Text;
                return false;
            }
            // A title has no lines: one that never ends takes no more than its own with it.
            (Inside::Title, next) if next != '\n' => Inside::Title,
            (_, '\u{9b}') => Inside::Parameters(0),
            (_, '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}') => Inside::Title,
            _ => Inside::Text,
        };
        self.inside == Inside::Text && (matches!(next, '\n' | '\t') || !next.is_control())
    }
}

/// A whole text, cleaned.
pub(super) fn cleaned(text: &str) -> String {
    Cleaner::default().clean(text)
}

#[cfg(test)]
mod tests {
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
        assert_eq!(cleaned(&endless), "1".repeat(100 - usize::from(LONGEST_PARAMETERS)));
    }
}
