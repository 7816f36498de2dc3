//! Checks that every listed invariant has a test with its number in the name, and that no test has
//! a number that is not listed.

use super::Finding;
use super::tree::Tree;
use anyhow::Result;
use std::collections::BTreeSet;

const LIST: &str = "docs/invariants.md";
const NUMBER: &str = "INV-DISC-";
const TEST: &str = "inv_disc_";

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let Some(list) = tree.file(LIST) else {
        return Ok(vec![Finding::error(LIST, 1, "is missing; the invariants are listed there")]);
    };
    let rows = rows(&list.text);
    if rows.is_empty() {
        return Ok(vec![Finding::error(
            LIST,
            1,
            format!("lists no invariant; a row begins with its number, {NUMBER}…"),
        )]);
    }
    let tests = tests(tree);
    Ok(without_test(&rows, &tests).into_iter().chain(without_row(&rows, &tests)).collect())
}

/// A line of the list that introduces an invariant.
struct Row {
    number: String,
    line: usize,
    has_test: Promise,
}

#[derive(Clone, Copy, PartialEq)]
enum Promise {
    Now,
    Later,
}

/// A function with an invariant's number in its name.
struct Numbered {
    number: String,
    path: String,
    line: usize,
    is_test: bool,
}

fn rows(list: &str) -> Vec<Row> {
    list.lines().enumerate().filter_map(|(index, line)| row(line, index + 1)).collect()
}

/// Parses a row: it begins with its number after any markup; a number further on only refers to
/// another row.
fn row(text: &str, line: usize) -> Option<Row> {
    let begins = text.trim_start_matches(|sign: char| "|-*#`[ ".contains(sign));
    let number = digits(begins.strip_prefix(NUMBER)?);
    let is_later = text.split('|').any(|cell| cell.trim().starts_with("later:"));
    let has_test = if is_later { Promise::Later } else { Promise::Now };
    (!number.is_empty()).then(|| Row { number: number.to_owned(), line, has_test })
}

fn tests(tree: &Tree) -> Vec<Numbered> {
    let ours =
        tree.rust().filter(|(file, _)| file.path.starts_with("crates/") || file.path.starts_with("xtask/"));
    let functions = ours.flat_map(|(file, scan)| scan.functions.iter().map(move |function| (file, function)));
    let numbered = functions.flat_map(|(file, function)| {
        numbers_in(&function.name).map(move |number| Numbered {
            number: number.to_owned(),
            path: file.path.clone(),
            line: *function.lines.start(),
            is_test: function.is_test,
        })
    });
    numbered.collect()
}

fn numbers_in(name: &str) -> impl Iterator<Item = &str> {
    name.split(TEST).skip(1).map(digits).filter(|number| !number.is_empty())
}

fn digits(text: &str) -> &str {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

fn without_test(rows: &[Row], tests: &[Numbered]) -> Vec<Finding> {
    let tested: BTreeSet<&str> =
        tests.iter().filter(|test| test.is_test).map(|test| test.number.as_str()).collect();
    let bare =
        rows.iter().filter(|row| row.has_test == Promise::Now && !tested.contains(row.number.as_str()));
    bare.map(|row| {
        let Row { number, line, .. } = row;
        let text = format!(
            "{NUMBER}{number} has no test; write `{TEST}{number}_…`, or a cell `later: …` saying when"
        );
        Finding::error(LIST, *line, text)
    })
    .collect()
}

fn without_row(rows: &[Row], tests: &[Numbered]) -> Vec<Finding> {
    let listed: BTreeSet<&str> = rows.iter().map(|row| row.number.as_str()).collect();
    let unknown = tests.iter().filter(|test| !listed.contains(test.number.as_str()));
    unknown
        .map(|test| {
            Finding::error(&test.path, test.line, format!("{NUMBER}{} is not listed in {LIST}", test.number))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    const TABLE: &str = "# Invariants, see INV-DISC-999\n\n| number | what | test |\n|---|---|---|\n";

    #[track_caller]
    fn check_rows(rows: &str, code: &str, expected: &[&str]) {
        expect(check, &[(LIST, &format!("{TABLE}{rows}")), ("crates/core/src/a.rs", code)], expected);
    }

    #[test]
    fn a_row_needs_a_test_with_its_number() {
        let row = "| INV-DISC-101 | A |\n";
        let missing = "docs/invariants.md:5: error: INV-DISC-101 has no test; write `inv_disc_101_…`, or a cell `later: …` saying when";
        check_rows(row, "#[test]\nfn inv_disc_101_a() {}", &[]);
        check_rows(row, "#[tokio::test]\nasync fn keeps_inv_disc_101() {}", &[]);
        check_rows(row, "proptest! { #[test] fn inv_disc_101(a in 0..9) {} }", &[]);
        check_rows(row, "", &[missing]);
        check_rows(row, "fn inv_disc_101_helper() {}", &[missing]);
        check_rows(row, "#[test]\nfn other() {} // fn inv_disc_101", &[missing]);
        check_rows("- **INV-DISC-101** A\n", "", &[missing]);
    }

    #[test]
    fn a_row_for_later_needs_none() {
        check_rows("| INV-DISC-101 | A | later: with the server |\n", "", &[]);
        let refers =
            "| INV-DISC-101 | A | later: B |\n| `INV-DISC-102` | as INV-DISC-101 | it happens later |\n";
        check_rows(refers, "#[test]\nfn inv_disc_102() {}", &[]);
    }

    #[test]
    fn a_number_must_be_listed() {
        let unknown = "crates/core/src/a.rs:2: error: INV-DISC-102 is not listed in docs/invariants.md";
        check_rows("| INV-DISC-101 | A |\n", "#[test]\nfn inv_disc_101_and_inv_disc_102() {}", &[unknown]);
        check_rows(
            "| INV-DISC-101 | A |\n",
            "#[test]\nfn inv_disc_101() {}\n#[test]\nfn inv_disc_() {}",
            &[],
        );
    }

    #[test]
    fn an_absent_or_empty_list_is_an_error() {
        expect(check, &[], &["docs/invariants.md:1: error: is missing; the invariants are listed there"]);
        let empty =
            "docs/invariants.md:1: error: lists no invariant; a row begins with its number, INV-DISC-…";
        expect(check, &[(LIST, "# None")], &[empty]);
    }
}
