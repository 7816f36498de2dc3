//! Tables: in columns, whose cells are wrapped if need be. Where even that doesn't fit, each row is
//! written as lines, one cell after the other.

use crate::render::line::{DIM, Line, PLAIN};

/// The blanks between two columns.
const GAP: usize = 2;

/// The narrowest column of wrapped text.
const NARROWEST: usize = 16;

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
        let Some(widths) = fitted(self.widths(), columns) else {
            return self.rows.into_iter().flat_map(|row| in_a_row(row).wrapped(columns)).collect();
        };
        let rule = widths.iter().map(|it| Line::of(&"─".repeat(*it), DIM)).collect();
        let mut rows = self.rows.into_iter();
        let head = rows.next().into_iter();
        head.chain([rule]).chain(rows).flat_map(|row| in_columns(&row, &widths)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let most = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(Line::width).max();
        (0..most).map(|at| widest(at).unwrap_or_default()).collect()
    }
}

/// The widths with the widest columns narrowed until all fit; `None` if they can't.
fn fitted(mut widths: Vec<usize>, columns: usize) -> Option<Vec<usize>> {
    let room = columns.saturating_sub(GAP * widths.len().saturating_sub(1));
    widths.iter_mut().for_each(|it| *it = (*it).min(room.max(NARROWEST)));
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max().filter(|it| NARROWEST < **it)?;
        *widest -= 1;
    }
    Some(widths)
}

/// A row of the table: as many lines as its longest cell has.
fn in_columns(row: &[Line], widths: &[usize]) -> Vec<Line> {
    let cells: Vec<Vec<Line>> = row.iter().zip(widths).map(|(cell, width)| parts(cell, *width)).collect();
    let (last, height) = (widths.len().saturating_sub(1), cells.iter().map(Vec::len).max().unwrap_or(1));
    let part = |line: usize| {
        let cells = cells.iter().zip(widths).enumerate();
        let cells = cells.map(|(at, (cell, width))| {
            let part = cell.get(line).cloned().unwrap_or_default();
            if at == last { part } else { part.padded(width + GAP) }
        });
        cells.fold(Line::default(), Line::then)
    };
    (0..height).map(part).collect()
}

/// A cell in this width. One that fits keeps its blanks.
fn parts(cell: &Line, width: usize) -> Vec<Line> {
    if cell.width() <= width { vec![cell.clone()] } else { cell.wrapped(width) }
}

fn in_a_row(row: Vec<Line>) -> Line {
    let between = |before: Line, cell: Line| {
        if before.is_empty() { cell } else { before.and(" · ", PLAIN).then(cell) }
    };
    row.into_iter().fold(Line::default(), between)
}
