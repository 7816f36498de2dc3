//! Checks that core, store, facade, server and page name no pattern or method, and no noun that
//! belongs to a single one: that is declared where it is implemented.

use super::Finding;
use super::scan::{Scan, Token};
use super::tree::{File, Tree};
use anyhow::Result;
use std::collections::BTreeSet;

/// The files the rule applies to.
const PLACES: &[&str] = &[
    "crates/core/src/",
    "crates/store/src/",
    "crates/store-postgres/src/",
    "crates/quorum/src/",
    "crates/server/src/",
    "crates/server/web/",
];

/// The seeds' own routes, events and tables, whose names come from the seeds.
const EXEMPT: &str = "/seeds/";

/// Names that a format fixes, with the file that has them and the reason.
const VENDORS: &[(&str, &str, &str)] = &[
    (
        "crates/server/src/openai/responses_stream.rs",
        "\"judge_model\"",
        "a field of OpenRouter's Fusion, without which its clients drop the event",
    ),
    (
        "crates/quorum/src/eval/formats/rubric.rs",
        "\"judge\"",
        "the name of a grade in files of questions, which is no participant of a pattern",
    ),
    (
        "crates/core/src/model/mask/self_named.rs",
        "\"verdict\"",
        "a word that a speaker may put after its own name, as in *Editor's verdict:*",
    ),
];

/// Words that belong to a single pattern or method.
const NOUNS: &[&str] = &[
    "debate",
    "debater",
    "debaters",
    "debating",
    "judge",
    "judges",
    "judged",
    "judging",
    "judgement",
    "verdict",
    "verdicts",
    "dialogue",
    "vacancy",
    "casting",
    "proponent",
    "opponent",
    "roundtable",
    "critique",
    "majority",
    "unanimous",
    "unanimity",
    "moderator",
];

/// Names that are also ordinary words: a synthesis is part of every result, a view called `voting`
/// draws votes, and a reservation is settled.
const PLAIN_WORDS: &[&str] = &["synthesis", "voting", "settle"];

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let nouns = nouns();
    let rust = tree.rust().filter(|(file, _)| is_held(&file.path));
    let mut findings: Vec<Finding> = rust.flat_map(|(file, scan)| in_rust(file, scan, &nouns)).collect();
    let scripts = tree.files.iter().filter(|file| is_held(&file.path) && file.path.ends_with(".js"));
    findings.extend(scripts.flat_map(|file| in_script(file, &nouns)));
    Ok(findings)
}

/// The words above, and all registered names.
fn nouns() -> BTreeSet<&'static str> {
    let registry = quorum_patterns::registry();
    let patterns = registry.patterns().iter().map(|it| it.name);
    let methods = registry.methods().iter().map(|it| it.name);
    let names = patterns.chain(methods).filter(|it| !PLAIN_WORDS.contains(it));
    NOUNS.iter().copied().chain(names).collect()
}

fn is_held(path: &str) -> bool {
    PLACES.iter().any(|place| path.starts_with(place)) && !path.contains(EXEMPT)
}

fn in_rust(file: &File, scan: &Scan, nouns: &BTreeSet<&str>) -> Vec<Finding> {
    let is_code = |(at, token): &(usize, &Token)| {
        !scan.is_test_line(token.line) && !is_documentation(scan, *at) && !is_vendors(file, token)
    };
    let tokens = scan.tokens.iter().enumerate().filter(is_code);
    tokens.filter_map(|(_, token)| Some(finding(file, token.line, &noun_in(&token.text, nouns)?))).collect()
}

fn is_vendors(file: &File, token: &Token) -> bool {
    VENDORS.iter().any(|(path, literal, _)| file.path == *path && token.text == *literal)
}

/// Whether the token is a doc comment, which the scanner sees as an attribute: `doc = "…"`.
fn is_documentation(scan: &Scan, at: usize) -> bool {
    at >= 2 && scan.tokens[at - 2].text == "doc" && scan.tokens[at - 1].text == "="
}

fn in_script(file: &File, nouns: &BTreeSet<&str>) -> Vec<Finding> {
    let is_code = |line: &str| !line.trim_start().starts_with(['/', '*']);
    let lines = file.text.lines().zip(1..).filter(|(line, _)| is_code(line));
    lines.filter_map(|(line, number)| Some(finding(file, number, &noun_in(line, nouns)?))).collect()
}

fn finding(file: &File, line: usize, noun: &str) -> Finding {
    let text =
        format!("`{noun}` belongs to one pattern or method; declare it there, and read the declaration");
    Finding::error(&file.path, line, text)
}

/// The first noun among the words of a name or a literal, in `snake_case` or `camelCase`.
fn noun_in(text: &str, nouns: &BTreeSet<&str>) -> Option<String> {
    let whole = text.split(|it: char| !it.is_alphanumeric() && it != '-').map(str::to_lowercase);
    words(text).into_iter().chain(whole).find(|word| nouns.contains(word.as_str()))
}

fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in text.chars() {
        let begins = letter.is_uppercase() && !before.is_uppercase();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    fn told(noun: &str) -> String {
        format!("`{noun}` belongs to one pattern or method; declare it there, and read the declaration")
    }

    #[track_caller]
    fn check_line(path: &str, line: &str, noun: Option<&str>) {
        let expected = noun.map(|noun| format!("{path}:1: error: {}", told(noun)));
        expect(check, &[(path, line)], &expected.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn a_noun_of_one_pattern_is_found_in_names_and_literals() {
        let core = "crates/core/src/a.rs";
        check_line(core, "fn debate_state() {}", Some("debate"));
        check_line(core, "struct JudgeFailure;", Some("judge"));
        check_line(core, "const A: &str = \"round-robin\";", Some("round-robin"));
        check_line("crates/server/web/fold.js", "const a = 'the judge';", Some("judge"));
    }

    #[test]
    fn a_vendors_field_is_free_in_the_file_that_writes_it_and_nowhere_else() {
        let (stream, code) =
            ("crates/server/src/openai/responses_stream.rs", "const A: &str = \"judge_model\";");
        check_line(stream, code, None);
        check_line(stream, "const A: &str = \"judge\";", Some("judge"));
        check_line("crates/server/src/openai/chat.rs", code, Some("judge"));
    }

    #[test]
    fn plain_words_comments_tests_seeds_and_patterns_are_free() {
        check_line("crates/core/src/a.rs", "// A debate.\nfn synthesis(sub: Judgment) {}", None);
        check_line("crates/core/src/a.rs", "/// A judge.\nfn a() {}", None);
        check_line("crates/core/src/a.rs", "#[cfg(test)]\nmod tests { fn judge() {} }", None);
        check_line("crates/server/src/seeds/a.rs", "fn dialogue() {}", None);
        check_line("crates/patterns/src/a.rs", "fn debate() {}", None);
        check_line("crates/server/web/fold.js", "// A judge.", None);
    }
}
