//! Finds banned code: skipped tests, unfinished functions, silenced lints, sleeping tests.

use super::Finding;
use super::scan::Scan;
use super::tree::{File, Tree};
use anyhow::Result;

/// Banned token sequences, and what to do instead.
const BANNED: &[(&[&str], &str)] = &[
    (&["#", "[", "ignore"], "a skipped test tests nothing; fix it or delete it"),
    (&["todo", "!"], "finish it, or return an error that says what is missing"),
    (&["unimplemented", "!"], "finish it, or return an error that says what is missing"),
    (
        &["#", "[", "allow", "("],
        "use `#[expect(…, reason = \"…\")]`, which tells when it is no longer needed",
    ),
    (
        &["#", "!", "[", "allow", "("],
        "use `#![expect(…, reason = \"…\")]`, which tells when it is no longer needed",
    ),
];

const SLEEPS: &[&[&str]] = &[&["thread", ":", ":", "sleep", "("], &["time", ":", ":", "sleep", "("]];

/// The attribute, or the builder's method, that pauses the clock.
const VIRTUAL_TIME: &str = "start_paused";

/// A comment with these words, on the same line or right before it, allows a test to sleep.
const EXCUSE: &str = "sleeps because";

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let pausing: Vec<&str> = tree.rust().map(|it| it.0).filter(|it| pauses(it)).map(folder_of_main).collect();
    let found = |(file, scan)| banned_in(file, scan).chain(sleeps_in(file, scan, &pausing));
    Ok(tree.rust().flat_map(found).collect())
}

fn banned_in<'a>(file: &'a File, scan: &'a Scan) -> impl Iterator<Item = Finding> + 'a {
    let found = BANNED
        .iter()
        .flat_map(|(words, advice)| scan.lines_with(words).map(move |line| (words, advice, line)));
    found.map(|(words, advice, line)| {
        Finding::error(&file.path, line, format!("`{}`: {advice}", words.concat()))
    })
}

/// Sleeps in tests. An imported `sleep` is fine where the clock is paused: in this file, or in the
/// `main.rs` of its test binary.
fn sleeps_in<'a>(file: &'a File, scan: &'a Scan, pausing: &[&str]) -> impl Iterator<Item = Finding> + 'a {
    let is_virtual = pauses(file) || pausing.contains(&folder(&file.path));
    let imported = scan.imported_calls("sleep").filter(move |_| !is_virtual);
    let lines = SLEEPS.iter().flat_map(|words| scan.lines_with(words)).chain(imported);
    let bare = lines.filter(|line| scan.is_test_line(*line) && !is_excused(&file.text, *line));
    let advice = format!("a test that sleeps; use the paused clock, or say in a comment why it `{EXCUSE} …`");
    bare.map(move |line| Finding::error(&file.path, line, advice.clone()))
}

fn pauses(file: &File) -> bool {
    file.text.contains(VIRTUAL_TIME)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folder that a `main.rs` speaks for; any other file speaks for none.
fn folder_of_main(file: &File) -> &str {
    file.path.strip_suffix("/main.rs").unwrap_or("-")
}

/// Whether the comment on this line, or the one of any length right before it, has the words.
fn is_excused(text: &str, line: usize) -> bool {
    let before: Vec<&str> = text.lines().take(line - 1).collect();
    let own_lines = before.iter().rev().map_while(|line| line.trim_start().strip_prefix("//"));
    let mut comment: Vec<&str> = own_lines.map(str::trim).collect();
    comment.reverse();
    let beside = text.lines().nth(line - 1).and_then(|line| line.split_once("//"));
    comment.join(" ").contains(EXCUSE) || beside.is_some_and(|(_, comment)| comment.contains(EXCUSE))
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[track_caller]
    fn check_words(code: &str, expected: &[&str]) {
        let tree = Tree::of(&[("a.rs", code)]);
        let found: Vec<String> =
            check(&tree).unwrap().iter().map(|found| format!("{} {}", found.line, found.text)).collect();
        let starts = found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
        assert!(starts && found.len() == expected.len(), "{found:?} should begin with {expected:?}");
    }

    #[test]
    fn unfinished_code_skipped_tests_and_silenced_lints_are_found() {
        check_words("#[test]\n#[ignore]\nfn a() {}\n", &["2 `#[ignore`: a skipped test"]);
        check_words("#[test]\n#[ignore = \"slow\"]\nfn a() {}\n", &["2 `#[ignore`"]);
        check_words("fn a() {\n    todo!()\n}\n", &["2 `todo!`: finish it"]);
        check_words("fn a() {\n    unimplemented!(\"b\")\n}\n", &["2 `unimplemented!`: finish it"]);
        check_words("#[allow(dead_code)]\nfn a() {}\n", &["1 `#[allow(`: use `#[expect("]);
        check_words("//! A.\n#![allow(dead_code)]\n", &["2 `#![allow(`: use `#![expect("]);
        check_words("proptest! {\n  #[ignore]\n  fn a() {}\n}\n", &["2 `#[ignore`"]);
    }

    #[test]
    fn words_in_comments_strings_and_names_are_not_banned() {
        check_words("// todo!()\nconst A: &str = \"#[ignore] unimplemented!()\";\n", &[]);
        check_words("#[expect(dead_code, reason = \"b\")]\nfn ignore(todo: bool) -> bool { !todo }\n", &[]);
    }

    const ADVICE: &str =
        "a test that sleeps; use the paused clock, or say in a comment why it `sleeps because …`";

    #[test]
    fn a_test_that_sleeps_must_say_why() {
        let sleeping = "#[test]\nfn a() {\n    std::thread::sleep(b);\n}\n";
        expect(check, &[("a.rs", sleeping)], &[&format!("a.rs:3: error: {ADVICE}")]);
        let helper = "async fn a() {\n    tokio::time::sleep(b).await;\n}\n";
        expect(
            check,
            &[("crates/ax/tests/a.rs", helper)],
            &[&format!("crates/ax/tests/a.rs:2: error: {ADVICE}")],
        );
        expect(check, &[("a.rs", helper)], &[]);
    }

    #[test]
    fn an_imported_sleep_is_found() {
        let sleeping = "use tokio::time::sleep;\nasync fn a() {\n    b();\n    sleep(b).await;\n}\n";
        let found = format!("crates/ax/tests/a/b.rs:4: error: {ADVICE}");
        expect(check, &[("crates/ax/tests/a/b.rs", sleeping)], &[&found]);
        let paused = "#[tokio::test(start_paused = true)]\nasync fn c() {}\n";
        let both = format!("{sleeping}{paused}");
        expect(check, &[("crates/ax/tests/a/b.rs", &both)], &[]);
        expect(check, &[("crates/ax/tests/a/b.rs", sleeping), ("crates/ax/tests/a/main.rs", paused)], &[]);
        expect(check, &[("crates/ax/tests/a/b.rs", sleeping), ("crates/ax/tests/a/c.rs", paused)], &[&found]);
        let own = "fn sleep(a: u8) {}\nfn c(d: D) {\n    d.sleep(1);\n}\n";
        expect(check, &[("crates/ax/tests/a/b.rs", own)], &[]);
    }

    #[test]
    fn a_reason_on_the_line_or_before_it_is_enough() {
        let before = "#[test]\nfn a() {\n    // It sleeps because the child has no signal.\n    thread::sleep(b);\n}\n";
        expect(check, &[("a.rs", before)], &[]);
        let wrapped = "#[test]\nfn a() {\n    // It sleeps\n    // because the child\n    // has no signal.\n    thread::sleep(b);\n}\n";
        expect(check, &[("a.rs", wrapped)], &[]);
        let beside = "#[test]\nfn a() {\n    thread::sleep(b); // sleeps because of c\n}\n";
        expect(check, &[("a.rs", beside)], &[]);
        let far = "#[test]\nfn a() {\n    // sleeps because of c\n\n    thread::sleep(b);\n}\n";
        expect(check, &[("a.rs", far)], &[&format!("a.rs:5: error: {ADVICE}")]);
        let in_string = "#[test]\nfn a() {\n    let c = \"sleeps because\";\n    thread::sleep(b);\n}\n";
        expect(check, &[("a.rs", in_string)], &[&format!("a.rs:4: error: {ADVICE}")]);
    }
}
