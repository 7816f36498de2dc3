//! The tables of results.

/// Rows of measurements and goals.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<[String; 4]>,
    /// Rows that are compared with the same work done by a minimal client.
    against_floor: Vec<[String; 6]>,
}

impl Table {
    /// Adds a measurement with a goal.
    pub(crate) fn row(&mut self, what: &str, measured: String, goal: &str, met: bool) {
        self.rows.push([what.to_owned(), measured, goal.to_owned(), verdict(met).to_owned()]);
    }

    /// Adds a measurement without a goal.
    pub(crate) fn note(&mut self, what: &str, measured: String) {
        self.rows.push([what.to_owned(), measured, String::new(), String::new()]);
    }

    /// Adds a measurement beside its floor: the figures in words, then their ratio, the goal and
    /// whether it is met.
    pub(crate) fn against_floor(
        &mut self,
        what: &str,
        [floor, now]: [String; 2],
        ratio: f64,
        (goal, met): (String, bool),
    ) {
        let ratio = format!("{ratio:.3}");
        self.against_floor.push([what.to_owned(), floor, now, ratio, goal, verdict(met).to_owned()]);
    }

    pub(crate) fn print(&self) {
        if !self.rows.is_empty() {
            print_rows(["what", "measured", "goal", "met"], &self.rows);
        }
        if !self.against_floor.is_empty() {
            print_rows(["what", "floor", "now", "ratio", "goal", "met"], &self.against_floor);
        }
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "yes" } else { "NO" }
}

fn print_rows<const N: usize>(head: [&str; N], rows: &[[String; N]]) {
    let head = head.map(str::to_owned);
    let rows: Vec<&[String; N]> = std::iter::once(&head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        println!("| {} |", cells.join(" | "));
        if index == 0 {
            println!("|{}|", widths.map(|width| "-".repeat(width + 2)).join("|"));
        }
    }
}
