//! The result fields of patterns and methods, drawn by the view each of them names.

use quorum_core::{
    model::outcome::Outcome,
    registry::Snapshot,
    vocabulary::view::{Cell, Column, Section, View},
};
use serde_json::{Map, Value};

use super::{Block, Part, Table, items, steps};

/// A section for each field that has a value and a view.
pub(super) fn fields(state: &Snapshot, outcome: &Outcome) -> Vec<Part> {
    let declared = state.registry().results_of(&state.spec).into_iter();
    let drawn = declared
        .filter_map(|field| drawn(field.title, &field.view, outcome.fields.get(field.name)?).unless_empty());
    drawn.collect()
}

/// A section with this title and value.
#[must_use]
pub fn drawn(title: &str, view: &View, value: &Value) -> Part {
    let View::Sections { sections } = view else { return Part::new(title, blocks(view, value)) };
    let mut part = Part::new(title, Vec::new());
    for Section { title, at, view } in *sections {
        let Some(value) = value.pointer(at).filter(|it| !is_empty(it)) else { continue };
        let drawn = drawn(title, view, value);
        if title.is_empty() {
            part.blocks.extend(drawn.blocks);
            part.parts.extend(drawn.parts);
        } else {
            part.parts.extend(drawn.unless_empty());
        }
    }
    part
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn blocks(view: &View, value: &Value) -> Vec<Block> {
    match view {
        View::Hidden | View::Sections { .. } => Vec::new(),
        View::Text => vec![Block::Said(Cell::Text.write(Some(value)))],
        View::List => {
            let texts: Vec<String> = entries(value).iter().map(|it| Cell::Text.write(Some(it))).collect();
            vec![items(&texts)]
        }
        View::Line { label, cell } => vec![Block::Line(format!("{label}: {}", cell.write(Some(value))))],
        View::Table { columns } => vec![Block::Table(table(columns, &entries(value)))],
        View::Scores { entries: at, participant, score, by, whole, .. } => {
            let rows: Vec<Vec<String>> = entries(value)
                .iter()
                .flat_map(|round| scores(round, (at, participant, score), (*by, *whole)))
                .collect();
            vec![Block::Table(Table::new(&["round", "by", "participant", "score"], &rows))]
        }
        View::Steps => {
            Some(steps::read(value)).filter(|it| !it.is_empty()).map(Block::Steps).into_iter().collect()
        }
        View::Ballots => ballots(value),
        View::Numbers { number, unit } => vec![Block::Table(numbers(&entries(value), number, *unit))],
    }
}

/// The entries of a list; a single value is a list of one.
fn entries(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values.clone(),
        single => vec![single.clone()],
    }
}

fn table(columns: &[Column], rows: &[Value]) -> Table {
    let head: Vec<&str> = columns.iter().map(|it| it.title).collect();
    let row = |row: &Value| columns.iter().map(|it| it.cell.write(row.pointer(it.at))).collect();
    Table::new(&head, &rows.iter().map(row).collect::<Vec<_>>())
}

fn scores(
    round: &Value,
    (at, who, score): (&str, &str, &str),
    (by, whole): (Option<&str>, Option<&str>),
) -> Vec<Vec<String>> {
    let number = Cell::Number.write(round.pointer("/round"));
    let by = by.map(|at| Cell::Text.write(round.pointer(at))).unwrap_or_default();
    let mark = |name: String, score: Option<&Value>| {
        let score = score.and_then(Value::as_f64).map(|it| format!("{it:.1}")).unwrap_or_default();
        vec![number.clone(), by.clone(), name, score]
    };
    let entries = round.pointer(at).and_then(Value::as_array).into_iter().flatten();
    let each = entries.map(|it| mark(Cell::Text.write(it.pointer(who)), it.pointer(score)));
    // A person may state no score.
    let whole = whole.and_then(|at| round.pointer(at)).map(|it| mark("as a whole".to_owned(), Some(it)));
    each.chain(whole).collect()
}

fn numbers(rows: &[Value], number: &str, unit: Option<&str>) -> Table {
    let row = |row: &Value| {
        let unit = unit.map(|at| Cell::Text.write(row.pointer(at))).unwrap_or_default();
        let number = Cell::Number.write(row.pointer(number));
        vec![
            Cell::Number.write(row.pointer("/round")),
            Cell::Text.write(row.pointer("/participant")),
            format!("{number} {unit}").trim().to_owned(),
        ]
    };
    Table::new(&["round", "participant", "number"], &rows.iter().map(row).collect::<Vec<_>>())
}

fn ballots(value: &Value) -> Vec<Block> {
    let map = |key: &str| value.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let (votes, weights) = (map("votes"), map("weightedVotes"));
    let weight = |option: &str| weights.get(option).and_then(Value::as_f64).unwrap_or_default();
    let mut options: Vec<(&String, &Value)> = votes.iter().collect();
    options.sort_by(|one, other| weight(other.0).total_cmp(&weight(one.0)).then(one.0.cmp(other.0)));
    let row = |(option, heads): (&String, &Value)| {
        vec![option.clone(), Cell::Number.write(Some(heads)), format!("{:.2}", weight(option))]
    };
    let rows: Vec<_> = options.into_iter().map(row).collect();
    let cast = entries(value.get("voteRecords").unwrap_or(&Value::Null));
    let head = ["voter", "round", "choice", "confidence", "weight", "why"];
    // Only weights other than 1 are recorded; one of them makes all worth showing.
    let is_weighed = cast.iter().any(|it| it.get("weight").is_some());
    vec![
        Block::Line(winner(value)),
        Block::Table(Table::new(&["option", "votes", "weight"], &rows)),
        Block::Table(Table::new(
            &head,
            &cast.iter().filter_map(Value::as_object).map(|it| ballot(it, is_weighed)).collect::<Vec<_>>(),
        )),
    ]
}

fn winner(value: &Value) -> String {
    let tie = || entries(value.get("tie").unwrap_or(&Value::Null));
    let tie: Vec<String> =
        tie().iter().map(|it| Cell::Text.write(Some(it))).filter(|it| !it.is_empty()).collect();
    match value.get("winner").and_then(Value::as_str).filter(|it| !it.is_empty()) {
        Some(winner) => format!("Most votes: {winner}"),
        None if tie.is_empty() => "No vote counted".to_owned(),
        None => format!("A tie between {}", tie.join(" and ")),
    }
}

fn ballot(cast: &Map<String, Value>, is_weighed: bool) -> Vec<String> {
    let text = |key: &str| Cell::Text.write(cast.get(key));
    let sure = cast.get("confidence").and_then(Value::as_f64).map(|it| format!("{it:.2}"));
    let weight = cast.get("weight").and_then(Value::as_f64).unwrap_or(1.0);
    let weight = if is_weighed { weight.to_string() } else { String::new() };
    let [voter, round, choice, why] = ["provider", "round", "choice", "reasoning"].map(text);
    vec![voter, round, choice, sure.unwrap_or_default(), weight, why]
}
