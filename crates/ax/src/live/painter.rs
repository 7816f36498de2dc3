//! Draws a block of lines at the bottom of a terminal and redraws what changed. Finished lines go
//! above the block and scroll away.

use std::io::{self, Write};

use crate::render::line::{Colour, Line};

/// Starts a synchronized update, which terminals without support ignore, and turns line wrapping
/// off: lines are wrapped here, so a character of unexpected width can't push the rest down.
const BEGIN: &str = "\u{1b}[?2026h\u{1b}[?7l";
/// Ends the update, and turns line wrapping back on for other programs.
const END: &str = "\u{1b}[?7h\u{1b}[?2026l";
const ERASE_BELOW: &str = "\u{1b}[J";
const ERASE_LINE: &str = "\u{1b}[K";

/// Remembers what it has drawn and draws only differences. Between frames the cursor stays at the
/// end of the block.
#[derive(Debug)]
pub(crate) struct Painter<W> {
    out: W,
    colour: Colour,
    shown: Vec<Drawn>,
}

#[derive(Debug, PartialEq, Eq)]
struct Drawn {
    text: String,
    width: usize,
}

impl<W: Write> Painter<W> {
    pub(crate) fn new(out: W, colour: Colour) -> Self {
        Painter { out, colour, shown: Vec::new() }
    }

    /// Writes finished lines above the block, and redraws the block as given.
    pub(crate) fn paint(&mut self, above: &[Line], block: &[Line]) -> io::Result<()> {
        let block: Vec<Drawn> = block.iter().map(|line| self.drawn(line)).collect();
        if above.is_empty() && block == self.shown {
            return Ok(());
        }
        let mut frame = format!("{BEGIN}{}", self.to_top(self.shown.len()));
        if !above.is_empty() {
            frame += ERASE_BELOW;
            above.iter().for_each(|line| frame += &format!("{}\r\n", self.drawn(line).text.trim_end()));
            self.shown.clear();
        }
        for (at, line) in block.iter().enumerate() {
            frame += if at == 0 { "" } else { "\r\n" };
            if self.shown.get(at) != Some(line) {
                // Erased first: after a line as wide as the terminal, the cursor is on its last
                // character.
                frame += &format!("{ERASE_LINE}{}", line.text);
            }
        }
        if block.len() < self.shown.len() {
            frame += ERASE_BELOW;
        }
        self.shown = block;
        self.send(&format!("{frame}{END}"))
    }

    /// Removes the block; the next line goes where the block began.
    pub(crate) fn erase(&mut self) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        let erased = format!("{}{ERASE_BELOW}", self.to_top(self.shown.len()));
        self.shown.clear();
        self.send(&erased)
    }

    /// Erases the block after a change of width: lines that no longer fit now take several rows.
    pub(crate) fn resized(&mut self, columns: usize) -> io::Result<()> {
        let rows = self.shown.iter().map(|it| it.width.div_ceil(columns.max(1)).max(1)).sum();
        let erased = format!("{}{ERASE_BELOW}", self.to_top(rows));
        self.shown.clear();
        self.send(&erased)
    }

    /// Leaves the drawn lines in place and forgets them: another program has used the terminal.
    pub(crate) fn forget(&mut self) {
        self.shown.clear();
    }

    fn drawn(&self, line: &Line) -> Drawn {
        Drawn { text: line.rendered(self.colour), width: line.width() }
    }

    /// Moves from the end of a block of this many rows to its beginning.
    fn to_top(&self, rows: usize) -> String {
        if rows < 2 { "\r".to_owned() } else { format!("\r\u{1b}[{}A", rows - 1) }
    }

    fn send(&mut self, frame: &str) -> io::Result<()> {
        self.out.write_all(frame.as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::line::PLAIN;

    struct TestTerminal {
        painter: Painter<Vec<u8>>,
        terminal: vt100::Parser,
    }

    impl TestTerminal {
        fn new(rows: u16, columns: u16) -> TestTerminal {
            TestTerminal {
                painter: Painter::new(Vec::new(), Colour::On),
                terminal: vt100::Parser::new(rows, columns, 100),
            }
        }

        /// Paints, and returns the number of bytes written.
        fn paint(&mut self, above: &[&str], block: &[&str]) -> usize {
            let lines = |texts: &[&str]| texts.iter().map(|it| Line::of(it, PLAIN)).collect::<Vec<_>>();
            self.painter.paint(&lines(above), &lines(block)).unwrap();
            self.take()
        }

        fn take(&mut self) -> usize {
            let bytes = std::mem::take(&mut self.painter.out);
            self.terminal.process(&bytes);
            bytes.len()
        }

        #[track_caller]
        fn shows(&self, expected: &str) {
            assert_eq!(self.terminal.screen().contents(), expected);
        }
    }

    #[test]
    fn the_block_stays_below_finished_lines() {
        let mut paper = TestTerminal::new(6, 20);
        paper.paint(&[], &["a 1", "b 1"]);
        paper.shows("a 1\nb 1");
        paper.paint(&["said"], &["a 2", "b 1"]);
        paper.shows("said\na 2\nb 1");
        paper.paint(&["more", "and more", "still more"], &["a 2", "b 2", "c"]);
        paper.shows("more\nand more\nstill more\na 2\nb 2\nc");
        paper.paint(&[], &["a 3"]);
        paper.shows("more\nand more\nstill more\na 3");
        paper.painter.erase().unwrap();
        paper.take();
        paper.shows("more\nand more\nstill more");
        assert_eq!(paper.terminal.screen().cursor_position(), (3, 0));
    }

    #[test]
    fn unchanged_lines_are_not_written() {
        let mut paper = TestTerminal::new(6, 20);
        let first = paper.paint(&[], &["a long line", "another", "x"]);
        assert_eq!(paper.paint(&[], &["a long line", "another", "x"]), 0);
        let second = paper.paint(&[], &["a long line", "another", "y"]);
        assert!(0 < second && second < first, "{second} and {first} bytes");
        paper.shows("a long line\nanother\ny");
    }

    #[test]
    fn a_resize_to_nothing_is_survived() {
        let mut paper = TestTerminal::new(4, 20);
        paper.paint(&["said"], &["abcdefgh", "b"]);
        for columns in [1, 0, 7] {
            paper.painter.resized(columns).unwrap();
            paper.paint(&[], &["x"]);
        }
    }
}
