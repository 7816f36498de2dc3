//! The files of the page. Each is revalidated by its mark, so a new program is seen at once and an old one costs nothing.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use uuid::Uuid;

use crate::problem::{self, Problem};

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// A file: what it is called, what it is, what is in it.
struct File {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($name:literal $kind:ident;)*) => {
        &[$(File { name: $name, kind: $kind, text: include_str!(concat!("../../web/", $name)) }),*]
    };
}

const FILES: &[File] = files! {
    "page.css" STYLE;
    "icon.svg" PICTURE;
    "theme.js" SCRIPT;
    "main.js" SCRIPT;
    "api.js" SCRIPT;
    "chart.js" SCRIPT;
    "columns.js" SCRIPT;
    "compare.js" SCRIPT;
    "controls.js" SCRIPT;
    "dom.js" SCRIPT;
    "figures.js" SCRIPT;
    "fold.js" SCRIPT;
    "home.js" SCRIPT;
    "markdown.js" SCRIPT;
    "order.js" SCRIPT;
    "panels.js" SCRIPT;
    "person.js" SCRIPT;
    "reading.js" SCRIPT;
    "talk.js" SCRIPT;
    "timeline.js" SCRIPT;
    "watch.js" SCRIPT;
};

/// How pages look that are read without scripts: as exported ones do.
const READING: File = File { name: "read.css", kind: STYLE, text: quorum::export::document::STYLE };

/// A file as it is sent.
struct Sent {
    file: &'static File,
    text: String,
    mark: String,
}

static SENT: LazyLock<Vec<Sent>> = LazyLock::new(|| {
    let sent = |file: &'static File| {
        let text = lean(file);
        let mark = format!("\"{}\"", Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).simple());
        Sent { file, text, mark }
    };
    FILES.iter().chain([&READING]).map(sent).collect()
});

/// The same without what only its writers read: indentation, and lines of comment. No text of ours goes over several lines.
fn lean(file: &File) -> String {
    let is_comment = |line: &&str| ["//", "/**", "* "].iter().any(|it| line.starts_with(it)) || *line == "*/";
    let lines = file.text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    match file.kind {
        STYLE => lines.map(declared).collect::<String>().replace(";}", "}").replace(" {", "{"),
        _ => lines.map(|line| joined(line, &[',', '(', '[', '{'])).collect(),
    }
}

/// A line of a style sheet.
fn declared(line: &str) -> String {
    let is_declaration = line.ends_with(';') && !line.contains('{');
    let line = if is_declaration { line.replacen(": ", ":", 1) } else { line.to_owned() };
    joined(&line, &[';', '{', '}', ','])
}

/// The line, ended unless the next one may follow at once.
fn joined(line: &str, open: &[char]) -> String {
    let end = if line.ends_with(open) { "" } else { "\n" };
    format!("{line}{end}")
}

/// The modules, so that a browser can fetch them all at once.
pub(super) fn modules() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter(|it| it.kind == SCRIPT && it.name != "theme.js").map(|it| it.name)
}

/// The file of that name, or only that the one the browser has is still good.
pub(super) fn answer(name: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let found = SENT.iter().find(|it| it.file.name == name);
    let Sent { file, text, mark } =
        found.ok_or_else(|| Problem::new(problem::NOT_FOUND, "the page has no such file"))?;
    let about = [(header::ETAG, mark.as_str()), (header::CACHE_CONTROL, "no-cache")];
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    if known.flat_map(|it| it.split(',')).any(|it| it.trim().trim_start_matches("W/") == mark.as_str()) {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    Ok((about, [(header::CONTENT_TYPE, file.kind)], text.as_str()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the whole page may weigh. How it looks without scripts is not fetched with it.
    const MOST: usize = 100_000;

    #[test]
    fn the_page_is_small() {
        let page = SENT.iter().filter(|it| it.file.name != READING.name);
        let all: usize = page.map(|it| it.text.len()).sum();
        println!("the page has {all} bytes in {} files", FILES.len());
        assert!(all <= MOST, "{all}");
    }

    #[test]
    fn s6_no_file_of_the_page_makes_markup_of_text_or_asks_elsewhere() {
        let banned = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "setAttribute('on",
            "DOMParser",
            "srcdoc",
            "createContextualFragment",
            "import(",
        ];
        for file in FILES.iter().filter(|it| it.kind == SCRIPT) {
            for word in banned {
                assert!(!file.text.contains(word), "{word} in {}", file.name);
            }
            let elsewhere = file.text.replace("http://www.w3.org/2000/svg", "");
            assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "{}", file.name);
        }
        assert!(FILES.iter().all(|it| !it.text.contains("@import") && !it.text.contains("url(")));
    }
}
