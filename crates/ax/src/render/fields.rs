//! The fields that patterns and methods add to a result, as Markdown.

use quorum::{
    Snapshot,
    export::transcript::{self, Block, Item, Part, Table, drawn, steps},
    model::outcome::Outcome,
    vocabulary::{result::ResultField, view::View},
};
use serde_json::Value;

/// The fields that belong to the answer: those drawn as text, and votes. Their tables and the
/// single ballots are shown with the rest.
pub(crate) fn of_answer(state: &Snapshot, outcome: &Outcome) -> Vec<String> {
    let fields = declared(state, outcome).filter(|(field, _)| is_answer(&field.view));
    fields.map(|(field, value)| markdown(&brief(field, value))).collect()
}

fn brief(field: &ResultField, value: &Value) -> Part {
    let mut value = value.clone();
    if let (View::Ballots, Some(votes)) = (&field.view, value.as_object_mut()) {
        votes.remove("voteRecords");
    }
    let mut part = drawn(field.title, &field.view, &value);
    if let View::Sections { sections } = &field.view {
        let is_kept = |title: &str| sections.iter().any(|it| it.title == title && is_answer(it.view));
        part.parts.retain(|it| is_kept(&it.title));
        part.blocks.retain(|it| !matches!(it, Block::Table(_)));
    }
    part
}

/// All fields in full, those of the answer first.
pub(crate) fn in_full(state: &Snapshot, outcome: &Outcome) -> Vec<String> {
    let (answer, course): (Vec<_>, Vec<_>) =
        declared(state, outcome).partition(|(field, _)| is_answer(&field.view));
    answer
        .into_iter()
        .chain(course)
        .map(|(field, value)| markdown(&drawn(field.title, &field.view, value)))
        .collect()
}

/// The agents that took part, each with its provider, weight and abilities.
pub(crate) fn agents(outcome: &Outcome) -> Option<String> {
    transcript::agents(outcome).map(|it| markdown(&it))
}

fn declared<'o>(
    state: &Snapshot,
    outcome: &'o Outcome,
) -> impl Iterator<Item = (&'static ResultField, &'o Value)> {
    let fields = state.registry().results_of(&state.spec).into_iter();
    fields.filter_map(|field| Some((field, outcome.fields.get(field.name)?)))
}

/// Whether a field belongs to the answer. Tables and scores describe how it went; of several
/// sections, the first decides.
fn is_answer(view: &View) -> bool {
    match view {
        View::Text | View::List | View::Line { .. } | View::Ballots => true,
        View::Hidden | View::Table { .. } | View::Scores { .. } | View::Numbers { .. } | View::Steps => false,
        View::Sections { sections } => sections.first().is_some_and(|it| is_answer(it.view)),
    }
}

fn markdown(part: &Part) -> String {
    let mut pieces = Vec::new();
    put(part, 2, &mut pieces);
    pieces.join("\n\n")
}

/// A heading with its content; nothing if there is no content.
fn put(part: &Part, depth: usize, pieces: &mut Vec<String>) {
    let mut below: Vec<String> = part.blocks.iter().map(block).filter(|it| !it.is_empty()).collect();
    part.parts.iter().for_each(|it| put(it, depth + 1, &mut below));
    if !below.is_empty() {
        pieces.push(format!("{} {}", "#".repeat(depth), part.title));
        pieces.extend(below);
    }
}

fn block(block: &Block) -> String {
    match block {
        Block::Line(text) => text.clone(),
        Block::Said(text) | Block::Sourced { text, .. } => text.trim().to_owned(),
        Block::Share { label, value } => format!("{label}: {value:.2}"),
        Block::Data(json) => format!("```json\n{json}\n```"),
        Block::Items(items) => items.iter().map(item).collect::<Vec<_>>().join("\n"),
        Block::Table(rows) => table(rows),
        Block::Steps(steps) => table(&steps::table(steps)),
        Block::Commands(lines) => format!("```console\n{}\n```", lines.join("\n")),
    }
}

fn item(item: &Item) -> String {
    let who = item.who.as_ref().map(|who| format!("{who}: ")).unwrap_or_default();
    format!("- {who}{}", item.text)
}

fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    // A line break or a bar would begin another row or cell.
    let cell = |text: &String| text.replace(['\n', '\r'], " ").replace('|', "\\|");
    let row = |cells: &Vec<String>| format!("| {} |", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
    let rule = format!("|{}", " --- |".repeat(table.head.len()));
    [row(&table.head), rule].into_iter().chain(table.rows.iter().map(row)).collect::<Vec<_>>().join("\n")
}
