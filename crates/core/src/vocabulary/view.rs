//! How a value is drawn: a description that terminal, page and exports all follow.
//!
//! A view is data, not code, so that the page can follow the same description in the browser.

use serde::Serialize;

/// How a value is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum View {
    /// Not shown to people; programs find it in the JSON.
    Hidden,
    /// One text, with Markdown.
    Text,
    /// A list of texts.
    List,
    /// One line per fact: a label and a value.
    Line {
        /// What stands before the value.
        label: &'static str,
        /// How the value is written.
        cell: Cell,
    },
    /// Rows of the same columns.
    Table {
        /// The columns, left to right.
        columns: &'static [Column],
    },
    /// Marks given to participants, one group per row of the value.
    Scores {
        /// Where the entries are, below the value; one entry for each participant.
        entries: &'static str,
        /// Where an entry says whose mark it is.
        participant: &'static str,
        /// Where an entry has the mark.
        score: &'static str,
        /// Where the value says who gave the marks, if it says so.
        by: Option<&'static str>,
        /// Where the value has the mark for the whole, if it has one.
        whole: Option<&'static str>,
        /// The best mark there is.
        best: f64,
    },
    /// How votes fell: an object with `votes` and `weightedVotes` by option, `ballots`, and `winner` or
    /// `tie`.
    Ballots,
    /// Numbers given by participants, shown with their spread.
    Numbers {
        /// Where the value has the number.
        number: &'static str,
        /// Where the value has its unit, if anywhere.
        unit: Option<&'static str>,
    },
    /// Several views of parts of the value, one after the other.
    Sections {
        /// In this order.
        sections: &'static [Section],
    },
}

/// A part of a value under a heading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Section {
    /// The heading; empty for none.
    pub title: &'static str,
    /// Where the part is: a JSON pointer, empty for the value itself.
    pub at: &'static str,
    /// How it is drawn.
    pub view: &'static View,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Column {
    /// The heading.
    pub title: &'static str,
    /// Where a row has the value: a JSON pointer.
    pub at: &'static str,
    /// How it is written.
    pub cell: Cell,
}

/// How a single value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Cell {
    /// As text; a list with commas between.
    Text,
    /// As a number with two decimals at most.
    Number,
    /// A share of 1 as a percentage.
    Share,
    /// A number of 100 as a percentage.
    Percent,
    /// Yes or no.
    YesNo,
}

impl Section {
    /// A part under a heading.
    #[must_use]
    pub const fn new(title: &'static str, at: &'static str, view: &'static View) -> Self {
        Section { title, at, view }
    }
}

impl Column {
    /// A column of texts.
    #[must_use]
    pub const fn text(title: &'static str, at: &'static str) -> Self {
        Column { title, at, cell: Cell::Text }
    }

    /// A column of values that are written like this.
    #[must_use]
    pub const fn of(title: &'static str, at: &'static str, cell: Cell) -> Self {
        Column { title, at, cell }
    }
}

impl Cell {
    /// The value as people read it; empty where there is none.
    #[must_use]
    pub fn write(self, value: Option<&serde_json::Value>) -> String {
        use serde_json::Value;
        match (self, value) {
            (_, None | Some(Value::Null)) => String::new(),
            (Cell::YesNo, Some(Value::Bool(yes))) => if *yes { "yes" } else { "no" }.to_owned(),
            (Cell::Share, Some(Value::Number(share))) => {
                format!("{:.0} %", 100.0 * share.as_f64().unwrap_or_default())
            }
            (Cell::Percent, Some(Value::Number(number))) => {
                format!("{:.0} %", number.as_f64().unwrap_or_default())
            }
            (Cell::Number, Some(Value::Number(number))) => decimal(number.as_f64().unwrap_or_default()),
            (_, Some(Value::String(text))) => text.clone(),
            (_, Some(Value::Array(values))) => {
                values.iter().map(|it| self.write(Some(it))).collect::<Vec<_>>().join(", ")
            }
            (_, Some(other)) => other.to_string(),
        }
    }
}

/// Two decimals at most: `7`, `7.4`, `7.15`.
fn decimal(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cell_is_written_as_people_read_it() {
        let check = |cell: Cell, value: serde_json::Value, expected: &str| {
            assert_eq!(cell.write(Some(&value)), expected, "{value}");
        };
        check(Cell::Text, json!("tabs"), "tabs");
        check(Cell::Text, json!(["ann", "bob"]), "ann, bob");
        check(Cell::Number, json!(7.0), "7");
        check(Cell::Number, json!(7.149), "7.15");
        check(Cell::Share, json!(0.8), "80 %");
        check(Cell::Percent, json!(60), "60 %");
        check(Cell::YesNo, json!(true), "yes");
        check(Cell::Text, serde_json::Value::Null, "");
        assert_eq!(Cell::Text.write(None), "");
    }
}
