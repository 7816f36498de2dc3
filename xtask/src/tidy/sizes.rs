//! Checks that files and functions are small enough to be read in one go.

use super::Finding;
use super::scan::Scan;
use super::tree::{File, Tree};
use anyhow::Result;

const FILE_STOP: usize = 600;
const FILE_WORRY: usize = 350;
const FUNCTION_STOP: usize = 80;

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    Ok(tree
        .rust()
        .flat_map(|(file, scan)| size_of_file(file, scan).into_iter().chain(sizes_of_functions(file, scan)))
        .collect())
}

fn size_of_file(file: &File, scan: &Scan) -> Option<Finding> {
    let lines = file.text.lines().count();
    let own = (1..=lines).filter(|line| !scan.is_test_line(*line)).count();
    if lines > FILE_STOP {
        let text = format!("{lines} lines; split it, the limit is {FILE_STOP}");
        return Some(Finding::error(&file.path, 1, text));
    }
    let text = || format!("{own} lines without its tests; consider splitting it, {FILE_WORRY} is enough");
    (own > FILE_WORRY).then(|| Finding::warning(&file.path, 1, text()))
}

fn sizes_of_functions(file: &File, scan: &Scan) -> impl Iterator<Item = Finding> {
    let own = scan.functions.iter().filter(|function| !scan.is_test_line(*function.lines.start()));
    own.filter_map(|function| {
        let lines = function.lines.end() - function.lines.start() + 1;
        let text =
            || format!("`{}` has {lines} lines; split it, the limit is {FUNCTION_STOP}", function.name);
        (lines > FUNCTION_STOP).then(|| Finding::error(&file.path, *function.lines.start(), text()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    fn lines(count: usize) -> String {
        "//\n".repeat(count)
    }

    #[test]
    fn a_file_is_stopped_at_600_lines_tests_or_not() {
        expect(check, &[("a.rs", &lines(350)), ("tests/a.rs", &lines(600))], &[]);
        let stopped = "tests/a.rs:1: error: 601 lines; split it, the limit is 600";
        expect(check, &[("tests/a.rs", &lines(601))], &[stopped]);
        expect(check, &[("a.md", &lines(601))], &[]);
    }

    #[test]
    fn a_file_over_350_lines_is_a_worry_not_counting_tests() {
        let worry = "a.rs:1: warning: 351 lines without its tests; consider splitting it, 350 is enough";
        expect(check, &[("a.rs", &lines(351))], &[worry]);
        let with_tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(350), lines(200));
        expect(check, &[("a.rs", &with_tests)], &[]);
    }

    #[test]
    fn a_function_is_stopped_at_80_lines_outside_tests() {
        let function = |inside: usize| format!("fn long() {{\n{}}}\n", lines(inside));
        expect(check, &[("a.rs", &function(78))], &[]);
        let stopped = "a.rs:1: error: `long` has 81 lines; split it, the limit is 80";
        expect(check, &[("a.rs", &function(79))], &[stopped]);
        expect(check, &[("a.rs", &format!("#[test]\n{}", function(79)))], &[]);
        expect(check, &[("tests/a.rs", &function(79))], &[]);
    }
}
