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
    "fields.js" SCRIPT;
    "figures.js" SCRIPT;
    "fold.js" SCRIPT;
    "home.js" SCRIPT;
    "markdown.js" SCRIPT;
    "order.js" SCRIPT;
    "panels.js" SCRIPT;
    "person.js" SCRIPT;
    "plan.js" SCRIPT;
    "reading.js" SCRIPT;
    "talk.js" SCRIPT;
    "timeline.js" SCRIPT;
    "views.js" SCRIPT;
    "vocabulary.js" SCRIPT;
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

/// The same without what only its writers read: indentation, lines of comment, and blanks around signs. No text of ours goes over
/// several lines.
fn lean(file: &File) -> String {
    let is_comment = |line: &&str| ["//", "/**", "* "].iter().any(|it| line.starts_with(it)) || *line == "*/";
    let lines = file.text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line));
    match file.kind {
        STYLE => {
            let all: String = lines.map(declared).collect();
            [(";}", "}"), (" {", "{"), (" > ", ">"), (", ", ",")]
                .iter()
                .fold(all, |all, (long, short)| all.replace(long, short))
        }
        SCRIPT => scripted(&lines.collect::<Vec<_>>()),
        _ => lines.collect(),
    }
}

/// Lines of a script, one after the other where nothing needs to be between them.
fn scripted(lines: &[&str]) -> String {
    let nexts = lines.iter().skip(1).copied().chain([""]);
    let line = |(line, next): (&&str, &str)| {
        let is_last = next.starts_with([')', ']', '}']);
        let line = if is_last { line.strip_suffix(',').unwrap_or(line) } else { line };
        let goes_on = is_last || next.starts_with(['.', '?', ':', '&', '|']);
        if goes_on { tight(line) } else { joined(&tight(line), &[',', ';', '(', '[', '{', '}', '>', '=']) }
    };
    lines.iter().zip(nexts).map(line).collect()
}

/// Signs that need no blanks around them.
const SIGNS: [&str; 21] = [
    " => ", " === ", " !== ", " = ", " && ", " || ", " ?? ", " ? ", " : ", " >= ", " <= ", " > ", " < ",
    " * ", " += ", ", ", ": ", "; ", "{ ", " }", " {",
];

/// Words that need none before what follows.
const WORDS: [(&str, &str); 3] = [("if (", "if("), ("for (", "for("), ("while (", "while(")];

/// A line of a script. Where a sign may be part of a text that is not between plain quotes, the line stays as it is.
fn tight(line: &str) -> String {
    let parts: Vec<&str> = line.split('\'').collect();
    if parts.iter().step_by(2).any(|code| code.contains(['`', '/', '"', '\\'])) {
        return line.to_owned();
    }
    let squeezed =
        |code: &str| SIGNS.iter().fold(code.to_owned(), |code, sign| code.replace(sign, sign.trim()));
    let squeezed =
        |code: &str| WORDS.iter().fold(squeezed(code), |code, (long, short)| code.replace(long, short));
    let parts = parts.iter().enumerate();
    let parts: Vec<String> =
        parts.map(|(at, part)| if at % 2 == 0 { squeezed(part) } else { (*part).to_owned() }).collect();
    let line = parts.join("'");
    // What is open goes on with the next line.
    [" =>", " ="].iter().fold(line, |line, end| match line.strip_suffix(end) {
        Some(rest) => format!("{rest}{}", end.trim()),
        None => line,
    })
}

/// A line of a style sheet.
fn declared(line: &str) -> String {
    let is_declaration = line.ends_with(';') && !line.contains('{');
    let line = if is_declaration { line.replacen(": ", ":", 1) } else { line.to_owned() };
    let line = [" ", ":", "(", "-"]
        .iter()
        .fold(line, |line, it| line.replace(&format!("{it}0."), &format!("{it}.")));
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

    /// What the whole page may weigh: it draws fields, replies and results of any pattern. How it looks
    /// without scripts is not fetched with it.
    const MOST: usize = 120_000;

    #[test]
    fn the_page_is_small() {
        let page = SENT.iter().filter(|it| it.file.name != READING.name);
        let all: usize = page.map(|it| it.text.len()).sum();
        println!("the page has {all} bytes in {} files", FILES.len());
        assert!(all <= MOST, "{all}");
    }

    #[test]
    fn texts_stay_as_they_are() {
        let check = |line: &str, expected: &str| assert_eq!(tight(line), expected);
        check("const a = { b, c: d === 1 ? 'x = { y }' : e };", "const a={b,c:d===1?'x = { y }':e};");
        check("if (a > 1 && b) return { c };", "if(a>1&&b) return{c};");
        check("const a = (b) =>", "const a=(b)=>");
        check("say(`a = ${b}, c`);", "say(`a = ${b}, c`);");
        check("import { a, b } from './c, d.js';", "import{a,b} from './c, d.js';");
        check("const X = /a = b, c/;", "const X = /a = b, c/;");
        check("\"a = b\", 'c'", "\"a = b\", 'c'");
        assert_eq!(scripted(&["f(", "a,", "b", ".c,", ");", "g();", "}", "h;"]), "f(a,b.c);g();}h;");
        assert_eq!(declared("margin: 0.5rem -0.2em 10.5px;"), "margin:.5rem -.2em 10.5px;");
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
