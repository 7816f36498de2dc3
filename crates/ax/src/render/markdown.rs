//! Renders Markdown for a terminal: headings, lists, code, quotes, tables and emphasis, wrapped to
//! its width.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::render::{
    line::{BOLD, DIM, Line, PLAIN},
    table,
};

const CODE: Style = AnsiColor::Cyan.on_default();
const TITLE: Style = Style::new().bold().underline();

/// Text is not indented further if it would get narrower than this.
const NARROWEST: usize = 5;

/// The lines of a Markdown text.
pub(crate) fn lines(text: &str, columns: usize) -> Vec<Line> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page { columns, fresh: true, ..Page::default() };
    Parser::new_ext(text, options).for_each(|event| page.handle(event));
    page.end_block();
    page.lines
}

/// The lines written so far, and the current position in the document.
#[derive(Default)]
struct Page {
    columns: usize,
    lines: Vec<Line>,
    /// The words of the current block.
    words: Line,
    /// The margins before every line, outermost first.
    margins: Vec<Margin>,
    styles: Vec<Style>,
    /// The next numbers of the open lists; `None` for a bulleted one.
    lists: Vec<Option<u64>>,
    links: Vec<String>,
    code: Option<String>,
    table: Option<table::Rows>,
    /// Whether the next block is the first of its container, and so needs no blank line before it.
    fresh: bool,
}

#[derive(Default)]
struct Margin {
    /// A bullet, for the next line only.
    once: Option<Line>,
    always: Line,
}

impl Page {
    fn handle(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) if self.code.is_some() => {
                self.code.iter_mut().for_each(|code| code.push_str(&text));
            }
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.push(&text, PLAIN),
            Event::Code(text) => self.push(&text, CODE),
            Event::Html(text) | Event::InlineHtml(text) => self.push(&text, DIM),
            Event::FootnoteReference(name) => self.push(&format!("[{name}]"), DIM),
            Event::SoftBreak => self.push(" ", PLAIN),
            Event::HardBreak => self.end_block(),
            Event::Rule => {
                self.begin_block();
                self.put(Line::of(&"─".repeat(self.room().min(24)), DIM));
            }
            Event::TaskListMarker(done) => self.push(if done { "☑ " } else { "☐ " }, PLAIN),
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                self.styles.push(if level == HeadingLevel::H1 { TITLE } else { BOLD });
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.indent(Margin { once: None, always: Line::of("│ ", DIM) });
            }
            Tag::List(first) => {
                // A nested list follows its item without a blank line.
                match self.lists.is_empty() {
                    true => self.begin_block(),
                    false => self.end_block(),
                }
                self.lists.push(first);
            }
            Tag::Item => self.begin_item(),
            Tag::CodeBlock(kind) => self.begin_code(&kind),
            Tag::Table(_) => {
                self.begin_block();
                self.table = Some(table::Rows::default());
            }
            Tag::Emphasis => self.styles.push(Style::new().italic()),
            Tag::Strong => self.styles.push(BOLD),
            Tag::Strikethrough => self.styles.push(Style::new().strikethrough()),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.styles.push(Style::new().underline());
                self.links.push(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.end_block();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.end_block();
                self.margins.pop();
            }
            TagEnd::Item => {
                self.end_block();
                // An empty item still has its bullet.
                if self.margins.last().is_some_and(|it| it.once.is_some()) {
                    self.put(Line::default());
                }
                self.margins.pop();
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.words);
                self.table.iter_mut().for_each(|table| table.cell(cell.clone()));
            }
            TagEnd::TableHead | TagEnd::TableRow => self.table.iter_mut().for_each(table::Rows::end_row),
            TagEnd::Table => {
                let room = self.room();
                let rows = self.table.take().map(|table| table.lines(room)).unwrap_or_default();
                rows.into_iter().for_each(|row| self.put(row));
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        let over = |under: Style, style: Style| {
            under
                .effects(under.get_effects() | style.get_effects())
                .fg_color(style.get_fg_color().or(under.get_fg_color()))
        };
        let style = self.styles.iter().fold(style, |style, outer| over(*outer, style));
        self.words = std::mem::take(&mut self.words).and(text, style);
    }

    fn begin_block(&mut self) {
        self.end_block();
        if !self.fresh && !self.lines.is_empty() {
            self.put(Line::default());
        }
        self.fresh = true;
    }

    /// Writes the words collected so far.
    fn end_block(&mut self) {
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            words.wrapped(self.room()).into_iter().for_each(|row| self.put(row));
        }
    }

    fn begin_item(&mut self) {
        self.end_block();
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            Some(None) | None => "• ".to_owned(),
        };
        let always = Line::of(&" ".repeat(bullet.chars().count()), PLAIN);
        self.indent(Margin { once: Some(Line::of(&bullet, PLAIN)), always });
    }

    /// Puts the following blocks inside this margin.
    fn indent(&mut self, margin: Margin) {
        let fits = margin.always.width() + NARROWEST <= self.room();
        self.margins.push(if fits { margin } else { Margin::default() });
        self.fresh = true;
    }

    fn begin_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.begin_block();
        self.code = Some(String::new());
        if let CodeBlockKind::Fenced(language) = kind
            && !language.is_empty()
        {
            self.put(Line::of(language, DIM));
        }
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default().replace('\t', "    ");
        let room = self.room().saturating_sub(2).max(1);
        for line in code.trim_end_matches('\n').split('\n') {
            for row in Line::of(line, CODE).chopped(room) {
                self.put(Line::of("  ", PLAIN).then(row));
            }
        }
    }

    fn end_link(&mut self) {
        self.styles.pop();
        let Some(address) = self.links.pop() else { return };
        let words = self.words.rendered(crate::render::line::Colour::Off);
        if !address.is_empty() && !words.ends_with(address.trim_start_matches("mailto:")) {
            self.push(&format!(" ({address})"), DIM);
        }
    }

    fn room(&self) -> usize {
        let taken: usize = self.margins.iter().map(|it| it.always.width()).sum();
        self.columns.saturating_sub(taken).max(1)
    }

    fn put(&mut self, row: Line) {
        let margin = |it: &mut Margin| it.once.take().unwrap_or_else(|| it.always.clone());
        let before = self.margins.iter_mut().map(margin).fold(Line::default(), Line::then);
        self.lines.push(before.then(row).cut(self.columns));
        self.fresh = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::line::Colour;

    #[track_caller]
    fn check(text: &str, columns: usize, expected: &str) {
        let lines = lines(text, columns);
        let shown: Vec<String> =
            lines.iter().map(|it| it.rendered(Colour::Off).trim_end().to_owned()).collect();
        assert_eq!(shown.join("\n"), expected.trim_matches('\n'));
        assert!(lines.iter().all(|line| line.width() <= columns.max(2)), "{lines:#?}");
    }

    #[test]
    fn markdown_becomes_plain_lines() {
        check("", 40, "");
        check("# Title\nText *of* **one** `kind`.", 40, "Title\n\nText of one kind.");
        check("a  \nb\nc", 40, "a\nb c");
        check("one two three four", 9, "one two\nthree\nfour");
        check("> quoted text goes on\n>\n> more", 12, "│ quoted\n│ text goes\n│ on\n│\n│ more");
        check("before\n\n---\n\nafter", 9, "before\n\n─────────\n\nafter");
        check(
            "see [the book](https://b.example) or <https://a.example>",
            60,
            "see the book (https://b.example) or https://a.example",
        );
        check("![a cat](cat.png)", 60, "a cat (cat.png)");
        check("<b>bold</b> & 5 < 6", 60, "<b>bold</b> & 5 < 6");
    }

    #[test]
    fn lists_hang_from_their_bullets() {
        check("- one two three\n- b\n  - nested\n- c", 10, "• one two\n  three\n• b\n  • nested\n• c");
        check("9. nine\n10. ten eleven", 10, "9. nine\n10. ten\n    eleven");
        check("text\n\n1. a\n\n   b\n\n2. c\n\nend", 40, "text\n\n1. a\n\n   b\n2. c\n\nend");
        check("- [x] done\n- [ ] open", 40, "• ☑ done\n• ☐ open");
        check("-\n- b", 40, "•\n• b");
        check("- > quoted\n- ```\n  code\n  ```", 40, "• │ quoted\n•   code");
    }

    #[test]
    fn code_keeps_its_blanks() {
        check("```rust\nfn a() {\n\tb();\n}\n```\nafter", 40, "rust\n  fn a() {\n      b();\n  }\n\nafter");
        check("```\nabcdefgh\n```", 6, "  abcd\n  efgh");
    }

    #[test]
    fn tables_stand_in_columns_where_there_is_room() {
        let text = "| a | bee |\n|---|---|\n| one | 2 |\n| x | **y** |";
        check(text, 40, "a    bee\n───  ───\none  2\nx    y");
        check(text, 7, "a · bee\none · 2\nx · y");
        check(
            "| who | why |\n|---|---|\n| ann | one two three four five |\n| bob | six |",
            22,
            "who  why\n───  ─────────────────\nann  one two three\n     four five\nbob  six",
        );
    }

    #[test]
    fn no_width_is_too_narrow() {
        let text = "# T\n\n- a\n  - b\n    - c\n      > d `e`\n\n| a | b |\n|---|---|\n| 日本 | 2 |\n\n```\ncode\n```\n\n1. x";
        for columns in 0..30 {
            lines(text, columns);
        }
    }

    #[test]
    fn styles_add_up() {
        let line = lines("**bold `code`** _a_", 40).remove(0).rendered(Colour::On);
        let expected = "\u{1b}[1mbold\u{1b}[0m \u{1b}[1m\u{1b}[36mcode\u{1b}[0m \u{1b}[3ma\u{1b}[0m";
        assert_eq!(line, expected);
    }
}
