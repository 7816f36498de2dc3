//! Markdown: the whole discussion to read, to keep under version control, to paste.
//!
//! Contributions are block quotes, so that none can pass for a heading, a vote or another
//! participant's contribution.

use quorum_core::{model::event::Fact, registry::Snapshot};

use crate::export::{
    Extras, Format,
    escape::{cell, inline, neutralize, plain},
    sources::in_markdown,
    transcript::{Block, Item, Part, ShowsNotes, Table, steps, transcript},
};

pub(super) const FORMAT: Format =
    Format { name: "markdown", summary: "Everything that was said, as Markdown", ending: "md", write };

fn write(state: &Snapshot, _: &[Fact], extras: &Extras) -> String {
    let mut pieces = Vec::new();
    let notes = if extras.sources { ShowsNotes::Yes } else { ShowsNotes::No };
    part(&transcript(state, extras, notes), Depth::TOP, &mut pieces);
    format!("{}\n", neutralize(&pieces.join("\n\n")))
}

#[derive(Clone, Copy)]
struct Depth(usize);

impl Depth {
    const TOP: Depth = Depth(1);
}

fn part(part: &Part, depth: Depth, pieces: &mut Vec<String>) {
    let aside = part.aside.as_ref().map(|aside| format!(" ({})", plain(aside))).unwrap_or_default();
    pieces.push(format!("{} {}{aside}", "#".repeat(depth.0), plain(&part.title)));
    pieces.extend(part.blocks.iter().map(block));
    part.parts.iter().for_each(|below| self::part(below, Depth(depth.0 + 1), pieces));
}

fn block(block: &Block) -> String {
    match block {
        Block::Line(text) => format!("{}.", plain(text)),
        Block::Said(text) => quoted(text),
        Block::Sourced { text, notes } => quoted(&in_markdown(text, notes, plain)),
        Block::Data(json) => quoted(&format!("```json\n{json}\n```")),
        Block::Share { label, value } => format!("{}: {value:.2}", plain(label)),
        Block::Items(items) => items.iter().map(item).collect::<Vec<_>>().join("\n"),
        Block::Table(rows) => table(rows),
        Block::Steps(steps) => table(&steps::table(steps)),
        Block::Commands(lines) => format!("```console\n{}\n```", lines.join("\n")),
    }
}

fn quoted(text: &str) -> String {
    let quote = |line: &str| if line.trim().is_empty() { ">".to_owned() } else { format!("> {line}") };
    text.trim().lines().map(quote).collect::<Vec<_>>().join("\n")
}

/// Formats a list item. Participants' text is put on one line, so that it can't end the list.
fn item(item: &Item) -> String {
    let who = item.who.as_ref().map(|who| format!("**{}:** ", plain(who))).unwrap_or_default();
    format!("- {who}{}", inline(&item.text))
}

fn table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = row(table.head.iter().map(|cell| plain(cell)).collect());
    let rule = row(table.head.iter().map(|_| "---".to_owned()).collect());
    let rows = table.rows.iter().map(|cells| row(cells.iter().map(|text| cell(text)).collect()));
    [head, rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}
