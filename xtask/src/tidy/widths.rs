//! Comments and prose are at most 100 columns wide.
//!
//! Tables, code in fences and lines that hold only a link or a URL are exempt: they can't be
//! wrapped.

use super::Finding;
use super::scan::Scan;
use super::tree::{File, Tree};
use anyhow::Result;
use std::ops::Range;

const MAX_COLUMNS: usize = 100;

/// Texts that are not ours to wrap: models read prompts as they are, and tests compare golden
/// files.
const NOT_PROSE: &[&str] = &["/prompts/", "/golden/"];

/// The markers of line comments, by file name extension.
const MARKERS: &[(&str, &str)] =
    &[("rs", "//"), ("js", "//"), ("mjs", "//"), ("toml", "#"), ("sh", "#"), ("yml", "#"), ("sql", "--")];

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let is_meant =
        |file: &&File| !NOT_PROSE.iter().any(|it| file.path.ends_with(".md") && file.path.contains(it));
    Ok(tree.files.iter().filter(is_meant).flat_map(findings).collect())
}

fn findings(file: &File) -> Vec<Finding> {
    let extension = file.path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let marker = MARKERS.iter().find(|(it, _)| *it == extension).map(|(_, marker)| *marker);
    match (extension, marker) {
        ("md", _) => too_wide(file, |_, line| Some(line)),
        (_, Some(marker)) => {
            let literals = file.scan().map(multiline_literals).unwrap_or_default();
            let is_literal = |number| literals.iter().any(|lines| lines.contains(&number));
            too_wide(file, |number, line| comment(line, marker).filter(|_| !is_literal(number)))
        }
        _ => Vec::new(),
    }
}

/// The lines that are too wide among those in which `prose` finds text that can be wrapped.
fn too_wide<'a>(file: &'a File, prose: impl Fn(usize, &'a str) -> Option<&'a str>) -> Vec<Finding> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let Some(text) = prose(number, line) else {
            is_fenced = false;
            continue;
        };
        let text = text.trim();
        is_fenced ^= is_fence(text);
        let columns = line.chars().count();
        if columns > MAX_COLUMNS && !is_fenced && !is_fence(text) && can_be_wrapped(text) {
            let advice = format!("{columns} columns; wrap comments and prose at {MAX_COLUMNS}");
            found.push(Finding::error(&file.path, number, advice));
        }
    }
    found
}

/// The text of the comment on this line, with or without code before it. Quotes before the marker
/// must be closed; otherwise the marker is part of a string.
fn comment<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    let is_comment = |at: &usize| {
        let before = &line[..*at];
        let is_apart = before.chars().last().is_none_or(char::is_whitespace);
        is_apart && before.matches('"').count().is_multiple_of(2)
    };
    let at = line.match_indices(marker).map(|(at, _)| at).find(is_comment)?;
    Some(line[at + marker.len()..].trim_start_matches(['/', '!']))
}

/// The lines that continue a string literal: a marker in them begins no comment.
fn multiline_literals(scan: &Scan) -> Vec<Range<usize>> {
    let lines = scan.tokens.iter().map(|token| (token.line, token.text.matches('\n').count()));
    lines.filter(|(_, more)| *more > 0).map(|(line, more)| line + 1..line + more + 1).collect()
}

fn is_fence(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~")
}

/// Whether the text is neither a row of a table nor a single word, link or link definition.
fn can_be_wrapped(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '*', '>', ' ']);
    let is_link = text.starts_with('[')
        && (text.ends_with(')') && text.matches("](").count() == 1 || text.contains("]: "));
    !text.starts_with('|') && !is_link && text.split_whitespace().count() > 1
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    /// Compares the lines that are refused in a file with this text.
    #[track_caller]
    fn check_lines(path: &str, text: &str, expected: &[usize]) {
        let found = check(&Tree::of(&[(path, text)])).unwrap();
        assert_eq!(found.iter().map(|it| it.line).collect::<Vec<_>>(), expected, "{text}");
    }

    /// A line of words that begins like this and is this wide.
    fn words(beginning: &str, columns: usize) -> String {
        let words = beginning.chars().chain("äb ".chars().cycle());
        words.take(columns - 1).chain(['c']).collect()
    }

    #[test]
    fn a_line_of_101_columns_is_named_with_its_width() {
        let refused = "a.md:2: error: 101 columns; wrap comments and prose at 100";
        expect(check, &[("a.md", &format!("{}\n{}\n", words("", 100), words("", 101)))], &[refused]);
    }

    #[test]
    fn comments_of_every_kind_are_measured_and_code_is_not() {
        let rust = [("a.rs", "//"), ("a.rs", "///"), ("a.rs", "//!")];
        let others = [("a.js", "//"), ("a.toml", "#"), ("a.sh", "#"), ("a.sql", "--")];
        for (path, marker) in rust.into_iter().chain(others) {
            check_lines(path, &words(&format!("{marker} "), 100), &[]);
            check_lines(path, &words(&format!("    {marker} "), 101), &[1]);
        }
        check_lines("a.rs", &words("const A: u8 = 0; // ", 101), &[1]);
        check_lines("a.toml", &words("a = 1 # ", 101), &[1]);
        check_lines("a.rs", &format!("const A: &str = \"{}\";", words("// ", 101)), &[]);
        check_lines("a.rs", &format!("const A: &str = \"see {}\";", words("// ", 101)), &[]);
        check_lines("a.txt", &words("// ", 101), &[]);
    }

    #[test]
    fn prompts_and_golden_files_are_not_measured() {
        check_lines("a/prompts/a.md", &words("", 101), &[]);
        check_lines("a/golden/a.md", &words("", 101), &[]);
        check_lines("a/golden/a.rs", &words("// ", 101), &[1]);
    }

    #[test]
    fn a_comment_inside_a_string_of_many_lines_is_not_measured() {
        let wide = words("// ", 101);
        check_lines("a.rs", &format!("const A: &str = r#\"\n{wide}\n\"#;\n{wide}\n"), &[4]);
    }

    #[test]
    fn tables_fences_and_links_are_exempt() {
        let (row, plain) = (words("| ", 120), words("", 120));
        let url = format!("https://host/{}", "a".repeat(100));
        check_lines("a.md", &row, &[]);
        check_lines("a.md", &format!("```text\n{plain}\n```\n{plain}\n"), &[4]);
        check_lines("a.md", &format!("- {url}"), &[]);
        check_lines("a.md", &format!("[a name]: {url}"), &[]);
        check_lines("a.md", &format!("[a name]({url})"), &[]);
        check_lines("a.md", &format!("See [a name]({url})"), &[1]);
        check_lines("a.rs", &format!("/// {row}"), &[]);
        check_lines("a.rs", &format!("/// {url}"), &[]);
        check_lines("a.rs", &format!("//! ```\n//! {plain}\n//! ```\n//! {plain}\n"), &[4]);
    }
}
