//! The table of results, and whether all goals are met.

/// Rows of measurements and goals.
#[derive(Default)]
pub(crate) struct Table(Vec<[String; 4]>);

impl Table {
    /// Adds a measurement with a goal.
    pub(crate) fn row(&mut self, what: &str, measured: String, goal: &str, met: bool) {
        let verdict = if met { "yes" } else { "NO" };
        self.0.push([what.to_owned(), measured, goal.to_owned(), verdict.to_owned()]);
    }

    /// Adds a measurement without a goal.
    pub(crate) fn note(&mut self, what: &str, measured: String) {
        self.0.push([what.to_owned(), measured, String::new(), String::new()]);
    }

    /// Whether every goal is met.
    pub(crate) fn is_met(&self) -> bool {
        self.0.iter().all(|it| it[3] != "NO")
    }

    pub(crate) fn print(&self) {
        let head = ["what", "measured", "goal", "met"].map(str::to_owned);
        let rows: Vec<&[String; 4]> = std::iter::once(&head).chain(&self.0).collect();
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths = [0, 1, 2, 3].map(width);
        for (index, row) in rows.iter().enumerate() {
            let cells: Vec<String> =
                row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            println!("| {} |", cells.join(" | "));
            if index == 0 {
                println!("|{}|", widths.map(|width| "-".repeat(width + 2)).join("|"));
            }
        }
    }
}

/// A share in per cent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A difference in points.
pub(crate) fn points(difference: f64) -> String {
    format!("{:+.2}", 100.0 * difference)
}
