//! Views: how a value is displayed, for the terminal, the web page and exports alike.
//!
//! A view is data rather than code, so the web page can apply it in the browser.

use serde::Serialize;

/// How a value is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum View {
    /// Not shown to people, only in the JSON.
    Hidden,
    /// One text in Markdown.
    Text,
    /// A list of texts.
    List,
    /// A label and a value on one line.
    Line {
        /// The text before the value.
        label: &'static str,
        /// How the value is formatted.
        cell: Cell,
    },
    /// Rows with the same columns.
    Table {
        /// The columns, left to right.
        columns: &'static [Column],
    },
    /// Scores of participants, one group per row of the value.
    Scores {
        /// A JSON pointer to the entries; one entry per participant.
        entries: &'static str,
        /// A JSON pointer within an entry to the participant's name.
        participant: &'static str,
        /// A JSON pointer within an entry to the score.
        score: &'static str,
        /// A JSON pointer to the name of the participant that gave the scores, if any.
        by: Option<&'static str>,
        /// A JSON pointer to the overall score, if any.
        whole: Option<&'static str>,
        /// The best possible score.
        best: f64,
    },
    /// The result of a vote: an object with `votes` and `weightedVotes` by option, `ballots`, and
    /// `winner` or `tie`.
    Ballots,
    /// Numbers given by participants, displayed with their spread.
    Numbers {
        /// A JSON pointer to the number.
        number: &'static str,
        /// A JSON pointer to its unit, if any.
        unit: Option<&'static str>,
    },
    /// Steps with their states, some of them inside others: a list of objects with `stepId`,
    /// `type`, `status`, `after` (the ids of the steps it waited for) and `inside` (lists of
    /// steps).
    Steps,
    /// Views of several parts of the value, one below the other.
    Sections {
        /// The parts, in display order.
        sections: &'static [Section],
    },
}

/// A part of a value under a heading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Section {
    /// The heading; empty for none.
    pub title: &'static str,
    /// A JSON pointer to the part; empty for the whole value.
    pub at: &'static str,
    /// How it is displayed.
    pub view: &'static View,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Column {
    /// The heading.
    pub title: &'static str,
    /// A JSON pointer within a row to the value.
    pub at: &'static str,
    /// How it is formatted.
    pub cell: Cell,
}

/// How a single value is formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Cell {
    /// As text; a list is joined with commas, or with semicolons if its items have commas.
    Text,
    /// A number with at most two decimals.
    Number,
    /// A fraction of 1, as a percentage.
    Share,
    /// A number out of 100, as a percentage.
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

    /// A column with this format.
    #[must_use]
    pub const fn of(title: &'static str, at: &'static str, cell: Cell) -> Self {
        Column { title, at, cell }
    }
}

impl Cell {
    /// The value as text for people; empty if there is none.
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
                let texts: Vec<String> = values.iter().map(|it| self.write(Some(it))).collect();
                let has_commas = texts.iter().any(|it| it.contains(','));
                texts.join(if has_commas { "; " } else { ", " })
            }
            (_, Some(other)) => other.to_string(),
        }
    }
}

/// The number with at most two decimals: `7`, `7.4`, `7.15`.
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
        check(Cell::Text, json!(["one, two", "three"]), "one, two; three");
        check(Cell::Number, json!(7.0), "7");
        check(Cell::Number, json!(7.149), "7.15");
        check(Cell::Share, json!(0.8), "80 %");
        check(Cell::Percent, json!(60), "60 %");
        check(Cell::YesNo, json!(true), "yes");
        check(Cell::Text, serde_json::Value::Null, "");
        assert_eq!(Cell::Text.write(None), "");
    }
}
