//! Checks that messages in the crates below `ax` name no command, flag or variable of `ax`: each
//! surface words a fact for its own users.

use super::Finding;
use super::scan::{Scan, Token};
use super::tree::{File, Tree};
use anyhow::Result;

/// The crates below `ax`.
const BELOW: &[&str] = &[
    "core",
    "patterns",
    "providers",
    "simulated",
    "store",
    "store-postgres",
    "telemetry",
    "quorum",
    "server",
];

/// Files that may name flags or variables, and why.
const EXCUSED: &[(&str, &str)] = &[
    ("crates/providers/src/command/", "arguments of other vendors' programs"),
    ("crates/quorum/src/config/providers.rs", "an example of another program's arguments"),
    ("crates/quorum/src/config/places.rs", "reads the variables that say where things are"),
];

const ADVICE: &str = "makes sense only in a terminal; carry a fact, and let `ax` and the server word it";

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let below = tree.rust().filter(|(file, _)| is_below(&file.path) && !is_excused(&file.path));
    Ok(below.flat_map(|(file, scan)| words_in(file, scan)).collect())
}

fn is_below(path: &str) -> bool {
    let crate_of = path.strip_prefix("crates/").and_then(|it| it.split_once("/src/"));
    crate_of.is_some_and(|(name, _)| BELOW.contains(&name))
}

fn is_excused(path: &str) -> bool {
    EXCUSED.iter().any(|(place, _)| path.starts_with(place))
}

fn words_in<'a>(file: &'a File, scan: &'a Scan) -> impl Iterator<Item = Finding> + 'a {
    let strings = scan.tokens.iter().enumerate().filter(|(at, token)| {
        token.text.contains('"') && !is_documentation(scan, *at) && !scan.is_test_line(token.line)
    });
    strings.filter_map(|(_, token)| Some(finding(file, token, terminal_words(&token.text)?)))
}

fn finding(file: &File, token: &Token, found: &str) -> Finding {
    Finding::error(&file.path, token.line, format!("`{}` {ADVICE}", found.trim_matches('`').trim()))
}

/// Whether the token is a doc comment, which the scanner sees as an attribute: `doc = "…"`.
fn is_documentation(scan: &Scan, at: usize) -> bool {
    at >= 2 && scan.tokens[at - 2].text == "doc" && scan.tokens[at - 1].text == "="
}

/// The part of a string literal that makes sense only in a terminal.
fn terminal_words(literal: &str) -> Option<&str> {
    let command = ["`ax ", " ax ", "\"ax "].into_iter().find(|it| literal.contains(it));
    command.map(|_| "ax …").or_else(|| variable(literal)).or_else(|| flag(literal))
}

fn variable(literal: &str) -> Option<&'static str> {
    let mut found = literal.match_indices("AX_");
    let is_own = |at: usize| !literal[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
    found.any(|(at, _)| is_own(at)).then_some("AX_…")
}

/// The first flag: two dashes and a letter at the beginning of a word.
fn flag(literal: &str) -> Option<&str> {
    let begins = |at: usize| {
        literal[..at].ends_with([' ', '`', '"', '\'', '('])
            && literal[at + 2..].starts_with(|it: char| it.is_ascii_lowercase())
    };
    let at = literal.match_indices("--").map(|(at, _)| at).find(|at| begins(*at))?;
    let rest = &literal[at..];
    let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '-')).unwrap_or(rest.len());
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[track_caller]
    fn check_at(path: &str, code: &str, expected: Option<&str>) {
        let expected = expected.map(|found| format!("{path}:1: error: `{found}` {ADVICE}"));
        expect(check, &[(path, code)], &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn commands_flags_and_variables_of_ax_are_found_below_it() {
        let path = "crates/quorum/src/a.rs";
        check_at(path, "const A: &str = \"gone; `ax history` lists them\";", Some("ax …"));
        check_at(path, "const A: &str = \"ax replay 1\";", Some("ax …"));
        check_at(path, "const A: &str = \"give it time with --max-cost, say\";", Some("--max-cost"));
        check_at(path, "const A: &str = \"`--offline` simulates\";", Some("--offline"));
        check_at(path, "const A: &str = \"set AX_DATA_DIR\";", Some("AX_…"));
        check_at("crates/server/src/a.rs", "const A: &str = \"run ax serve\";", Some("ax …"));
    }

    #[test]
    fn ax_itself_comments_tests_and_excused_files_may_name_them() {
        let code = "const A: &str = \"`ax history` --all\";";
        check_at("crates/ax/src/a.rs", code, None);
        check_at("crates/providers/src/command/codex.rs", code, None);
        check_at("crates/quorum/tests/a.rs", code, None);
        let path = "crates/quorum/src/a.rs";
        check_at(path, "/// `ax history` --all\nconst A: u8 = 0;", None);
        check_at(path, "#[cfg(test)]\nmod tests { const A: &str = \"`ax history`\"; }", None);
    }

    #[test]
    fn dashes_and_names_that_only_look_alike_are_fine() {
        for fine in ["\"a -- b\"", "\"the max is 3\"", "\"relax now\"", "\"MAX_TOKENS\"", "\"---\""] {
            check_at("crates/core/src/a.rs", &format!("const A: &str = {fine};"), None);
        }
    }
}
