//! HTML: one self-contained page. No scripts, no external resources, light and dark, wide and
//! narrow.

use std::fmt::Write;

use quorum_core::{model::event::Fact, registry::Snapshot};

use crate::export::{
    Extras, Format,
    escape::{escape, html as rendered, inline_html},
    picture,
    sources::in_html,
    transcript::{Block, Item, Part, ShowsNotes, Table, steps, transcript},
};

pub(super) const FORMAT: Format =
    Format { name: "html", summary: "One page to read in a browser, without scripts", ending: "html", write };

pub(super) const STYLE: &str = include_str!("page.css");

/// The number of seat colours; further seats reuse them.
const COLOURS: usize = 6;

fn write(state: &Snapshot, _: &[Fact], extras: &Extras) -> String {
    // Participants don't know the id, so none could have written a style that passes.
    let nonce = state.id.derived("export/style");
    let document = transcript(state, extras, ShowsNotes::Yes);
    let body = body(&document, None);
    let title = escape(&document.title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-{nonce}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// The body. `link` is what the addresses of discussions begin with, if they have any.
pub(super) fn body(document: &Part, link: Option<&str>) -> String {
    let mut out = format!("<header>\n<h1>{}</h1>\n", escape(&document.title));
    document.blocks.iter().for_each(|it| block(it, link, &mut out));
    out.push_str("</header>\n<nav>\n");
    for (number, part) in document.parts.iter().enumerate() {
        let _ = writeln!(out, "<a href=\"#part-{number}\">{}</a>", escape(&part.title));
    }
    out.push_str("</nav>\n<main>\n");
    for (number, part) in document.parts.iter().enumerate() {
        let _ = writeln!(out, "<section id=\"part-{number}\">\n<h2>{}</h2>", heading(part));
        inside(part, link, &mut out);
        out.push_str("</section>\n");
    }
    out + "</main>\n"
}

fn heading(part: &Part) -> String {
    let aside = part.aside.as_ref().map(|aside| format!(" <small>{}</small>", escape(aside)));
    format!("{}{}", escape(&part.title), aside.unwrap_or_default())
}

fn inside(part: &Part, link: Option<&str>, out: &mut String) {
    part.blocks.iter().for_each(|it| block(it, link, out));
    for below in &part.parts {
        let seat = below.seat.map(|seat| format!(" class=\"seat-{}\"", seat % COLOURS)).unwrap_or_default();
        let id = below.cited.map(|number| format!(" id=\"said-{number}\"")).unwrap_or_default();
        let _ = writeln!(out, "<article{id}{seat}>\n<h3>{}</h3>", heading(below));
        inside(below, link, out);
        out.push_str("</article>\n");
    }
}

fn block(block: &Block, link: Option<&str>, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match block {
        Block::Line(text) => writeln!(out, "<p>{}.</p>", escape(text)),
        Block::Said(text) => writeln!(out, "<div class=\"said\">\n{}</div>", rendered(text)),
        Block::Sourced { text, notes } => {
            let html = in_html(&rendered(text), notes, escape);
            writeln!(out, "<div class=\"said\">\n{html}</div>")
        }
        Block::Data(json) => {
            let json = escape(json);
            writeln!(
                out,
                "<details><summary>The reply as it came</summary><pre><code>{json}</code></pre></details>"
            )
        }
        Block::Share { label, value } => {
            writeln!(
                out,
                "<p>{label} <meter min=\"0\" max=\"1\" value=\"{value:.2}\"></meter> {value:.2}</p>"
            )
        }
        Block::Items(items) => {
            writeln!(out, "<ul>\n{}</ul>", items.iter().map(item).collect::<String>())
        }
        Block::Table(rows) => writeln!(out, "<div class=\"wide\">{}</div>", table(rows)),
        Block::Steps(steps) => {
            let (picture, rows) = (picture::svg(steps, link), table(&steps::table(steps)));
            writeln!(out, "<div class=\"wide\">{picture}</div>\n<div class=\"wide\">{rows}</div>")
        }
        Block::Commands(lines) => writeln!(out, "<pre><code>{}</code></pre>", escape(&lines.join("\n"))),
    };
}

fn item(item: &Item) -> String {
    let who = item.who.as_ref().map(|who| format!("<b>{}:</b> ", escape(who))).unwrap_or_default();
    format!("<li>{who}{}</li>\n", inline_html(&item.text))
}

fn table(table: &Table) -> String {
    let head: String = table.head.iter().map(|cell| format!("<th>{}</th>", escape(cell))).collect();
    let cells = |row: &Vec<String>| {
        row.iter().map(|cell| format!("<td>{}</td>", inline_html(cell))).collect::<String>()
    };
    let rows: String = table.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row))).collect();
    format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>")
}
