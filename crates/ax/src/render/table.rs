//! Tables: in columns if they fit, else each row as lines, one cell after the other.

use crate::render::line::{DIM, Line, PLAIN};

/// The blanks between two columns.
const GAP: usize = 2;

/// A table. Its first row is the head.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Vec<Line>>,
    row: Vec<Line>,
}

impl Rows {
    pub(crate) fn cell(&mut self, cell: Line) {
        self.row.push(cell);
    }

    pub(crate) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// The table in at most this width.
    pub(crate) fn lines(self, columns: usize) -> Vec<Line> {
        let widths = self.widths();
        let needed = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        if columns < needed {
            return self.rows.into_iter().flat_map(|row| in_a_row(row).wrapped(columns)).collect();
        }
        let rule = widths.iter().map(|it| Line::of(&"─".repeat(*it), DIM)).collect();
        let mut rows = self.rows.into_iter();
        let head = rows.next().into_iter();
        head.chain([rule]).chain(rows).map(|row| in_columns(row, &widths)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let most = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(Line::width).max();
        (0..most).map(|at| widest(at).unwrap_or_default()).collect()
    }
}

fn in_columns(row: Vec<Line>, widths: &[usize]) -> Line {
    let last = widths.len().saturating_sub(1);
    let cells = row.into_iter().zip(widths).enumerate();
    let cells = cells.map(|(at, (cell, width))| if at == last { cell } else { cell.padded(width + GAP) });
    cells.fold(Line::default(), Line::then)
}

fn in_a_row(row: Vec<Line>) -> Line {
    let between = |before: Line, cell: Line| {
        if before.is_empty() { cell } else { before.and(" · ", PLAIN).then(cell) }
    };
    row.into_iter().fold(Line::default(), between)
}
