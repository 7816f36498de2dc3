//! Styled lines for a terminal, cleaned of control sequences and of known width.

use anstyle::{AnsiColor, Style};
use quorum::text::clean;
use unicode_width::UnicodeWidthChar;

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WORRY: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// The narrowest terminal for which text is wrapped: below it, every line would break within a
/// word.
const NARROWEST: usize = 20;

/// Whether styles are written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

/// A text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    text: String,
    style: Style,
}

/// One line. All text is cleaned when it is added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<Span>);

impl Line {
    pub(crate) fn of(text: &str, style: Style) -> Line {
        Line::default().and(text, style)
    }

    /// Appends a text. Line breaks and tabs become blanks.
    pub(crate) fn and(mut self, text: &str, style: Style) -> Line {
        clean(text).chars().for_each(|it| self.add(it, style));
        self
    }

    /// Appends another line.
    pub(crate) fn then(mut self, other: Line) -> Line {
        self.0.extend(other.0);
        self
    }

    /// Appends a character of a text that is already clean.
    fn add(&mut self, letter: char, style: Style) {
        let letter = if letter == '\n' || letter == '\t' { ' ' } else { letter };
        match self.0.last_mut().filter(|span| span.style == style) {
            Some(span) => span.text.push(letter),
            None => self.0.push(Span { text: letter.to_string(), style }),
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|span| width(&span.text)).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Pads the line with blanks to this width.
    pub(crate) fn padded(self, columns: usize) -> Line {
        let missing = columns.saturating_sub(self.width());
        if missing == 0 { self } else { self.and(&" ".repeat(missing), PLAIN) }
    }

    /// Cuts the line to this width.
    pub(crate) fn cut(self, columns: usize) -> Line {
        if self.width() <= columns {
            return self;
        }
        let (mut cut, mut room) = (Line::default(), columns.saturating_sub(1));
        for (letter, style) in self.letters() {
            let takes = of_letter(letter);
            if room < takes {
                break;
            }
            room -= takes;
            cut.add(letter, style);
        }
        if columns == 0 { cut } else { cut.and("…", DIM) }
    }

    /// Wraps the line at this width. A longer word is broken.
    pub(crate) fn wrapped(&self, columns: usize) -> Vec<Line> {
        let mut rows =
            Rows { columns: columns.max(1), done: Vec::new(), row: Line::default(), word: Line::default() };
        for (letter, style) in self.letters() {
            if letter == ' ' { rows.end_word() } else { rows.word.add(letter, style) }
        }
        rows.end_word();
        if !rows.row.is_empty() || rows.done.is_empty() {
            rows.done.push(rows.row);
        }
        rows.done
    }

    /// Breaks the line into rows of exactly this width, except the last, keeping blanks.
    pub(crate) fn chopped(&self, columns: usize) -> Vec<Line> {
        let (mut rows, mut row, mut room) = (Vec::new(), Line::default(), columns.max(1));
        for (letter, style) in self.letters() {
            let takes = of_letter(letter);
            if room < takes && !row.is_empty() {
                rows.push(std::mem::take(&mut row));
                room = columns.max(1);
            }
            room = room.saturating_sub(takes);
            row.add(letter, style);
        }
        rows.push(row);
        rows
    }

    fn letters(&self) -> impl Iterator<Item = (char, Style)> {
        self.0.iter().flat_map(|span| span.text.chars().map(|letter| (letter, span.style)))
    }

    /// The text to write to the terminal.
    pub(crate) fn rendered(&self, colour: Colour) -> String {
        let span = |it: &Span| match colour {
            Colour::On if !it.style.is_plain() => format!("{}{}{:#}", it.style, it.text, it.style),
            Colour::On | Colour::Off => it.text.clone(),
        };
        self.0.iter().map(span).collect()
    }
}

/// Lines with line breaks, ready for a terminal or a file.
pub(crate) fn joined(lines: &[Line], colour: Colour) -> String {
    lines.iter().map(|line| format!("{}\n", line.rendered(colour).trim_end())).collect()
}

/// The line unchanged if it fits, else wrapped between words. Further rows are indented to the text
/// after the first gap, if that is near, as in a list of names and their meanings.
pub(crate) fn hung(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns || columns < NARROWEST {
        return vec![line.to_owned()];
    }
    let margin = line.len() - line.trim_start_matches(' ').len();
    let gap = line[margin..].find("  ").map(|at| {
        let rest = &line[margin + at..];
        margin + at + rest.len() - rest.trim_start_matches(' ').len()
    });
    let hang = gap.filter(|it| width(&line[..*it]) * 2 <= columns).unwrap_or(margin.min(columns / 2));
    let (head, words) = (line[..hang].to_owned(), line[hang..].trim_start_matches(' '));
    let below = " ".repeat(width(&head));
    let rows = Line::of(words, PLAIN).wrapped(columns - below.len()).into_iter().enumerate();
    let row = |(at, row): (usize, Line)| {
        format!("{}{}", if at == 0 { &head } else { &below }, row.rendered(Colour::Off))
    };
    rows.map(row).collect()
}

struct Rows {
    columns: usize,
    done: Vec<Line>,
    row: Line,
    word: Line,
}

impl Rows {
    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        let gap = usize::from(!self.row.is_empty());
        if self.columns < self.row.width() + gap + word.width() && !self.row.is_empty() {
            self.done.push(std::mem::take(&mut self.row));
        }
        if self.columns < word.width() {
            self.done.extend(word.chopped(self.columns));
            self.row = self.done.pop().unwrap_or_default();
            return;
        }
        if !self.row.is_empty() {
            // A blank between two words of one style has that style, so that underlining is
            // continuous.
            let before = self.row.0.last().map(|span| span.style);
            let after = word.0.first().map(|span| span.style);
            let style = before.filter(|it| Some(*it) == after).unwrap_or(PLAIN);
            self.row.add(' ', style);
        }
        word.letters().for_each(|(letter, style)| self.row.add(letter, style));
    }
}

/// The width of a text in columns, summed by character: terminals differ on combined characters,
/// and too large a width does no harm.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(of_letter).sum()
}

fn of_letter(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// The end of a text, on one line of at most this width.
pub(crate) fn tail(text: &str, columns: usize) -> String {
    // Four bytes per character and the blanks between words fit amply, so the rest of a long answer
    // is skipped.
    let start = text.ceil_char_boundary(text.len().saturating_sub(columns * 8 + 256));
    let line = clean(&text[start..]).split_whitespace().collect::<Vec<_>>().join(" ");
    if start == 0 && width(&line) <= columns {
        return line;
    }
    let mut room = columns.saturating_sub(1);
    let fits = line.char_indices().rev().take_while(|(_, letter)| {
        let takes = of_letter(*letter);
        let fits = takes <= room;
        room = room.saturating_sub(takes);
        fits
    });
    let from = fits.last().map_or(line.len(), |(at, _)| at);
    if columns == 0 { String::new() } else { format!("…{}", line[from..].trim_start()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.rendered(Colour::Off)).collect()
    }

    #[track_caller]
    fn wraps(text: &str, columns: usize, expected: &[&str]) {
        let lines = Line::of(text, PLAIN).wrapped(columns);
        assert_eq!(texts(&lines), expected);
        assert!(columns < 2 || lines.iter().all(|line| line.width() <= columns), "{lines:?}");
    }

    #[test]
    fn words_are_wrapped_by_the_columns_they_take() {
        wraps("", 5, &[""]);
        wraps("one two three", 7, &["one two", "three"]);
        wraps("one  two ", 7, &["one two"]);
        wraps("abcdefghij k", 4, &["abcd", "efgh", "ij k"]);
        wraps("日本語 text", 5, &["日本", "語", "text"]);
        wraps("e\u{301}e\u{301}e\u{301} e\u{301}", 3, &["e\u{301}e\u{301}e\u{301}", "e\u{301}"]);
        wraps("日本", 1, &["日", "本"]);
        wraps("ab", 0, &["a", "b"]);
    }

    #[test]
    fn wrapped_text_is_indented_below_its_first_line() {
        let check = |line: &str, columns, expected: &[&str]| assert_eq!(hung(line, columns), expected);
        check("as it is", 20, &["as it is"]);
        check("one two three four five", 20, &["one two three four", "five"]);
        check("  one two three four five", 20, &["  one two three four", "  five"]);
        check("  name  one two three", 20, &["  name  one two", "        three"]);
        check("a name that is too long  one two", 20, &["a name that is too", "long one two"]);
        check("too narrow for anything", 10, &["too narrow for anything"]);
        check(&format!("{}x y", " ".repeat(30)), 20, &[&format!("{}x y", " ".repeat(10))]);
    }

    #[test]
    fn a_line_is_cut_where_it_no_longer_fits() {
        let cut = |text: &str, columns| Line::of(text, PLAIN).cut(columns).rendered(Colour::Off);
        assert_eq!([cut("abc", 3), cut("abcd", 3), cut("abcd", 1), cut("abcd", 0)], ["abc", "ab…", "…", ""]);
        assert_eq!([cut("日本語", 5), cut("日本語", 4)], ["日本…", "日…"]);
    }

    #[test]
    fn the_tail_is_the_end_on_one_line() {
        assert_eq!(tail("all of\n it", 10), "all of it");
        assert_eq!(tail("not all of it", 6), "…of it");
        assert_eq!(tail("日本語", 5), "…本語");
        assert_eq!(tail("anything", 0), "");
        let long = format!("{} end", "x".repeat(5_000));
        assert_eq!(tail(&long, 6), "…x end");
    }

    #[test]
    fn s7_a_line_has_no_escapes_but_its_own() {
        let line = Line::of("\u{1b}[2Jred\u{202e}\r\n\u{9b}31m", BAD);
        assert_eq!(line.rendered(Colour::On), "\u{1b}[31mred \u{1b}[0m");
        assert_eq!(line.rendered(Colour::Off), "red ");
    }
}
