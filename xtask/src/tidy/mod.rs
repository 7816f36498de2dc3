//! Checks project rules that the compiler can't. A rule is one file with a `check` and one line in
//! `CHECKS`.

mod arrows;
mod banned;
mod decisions;
mod headers;
mod invariants;
mod leaks;
mod scan;
mod sizes;
mod surface_words;
mod tables;
mod tree;
mod vocabulary;
mod widths;

use crate::{Verb, refuse_arguments};
use anyhow::{Result, bail};
use std::fmt;
use tree::Tree;

pub(crate) const VERB: Verb = Verb {
    name: "tidy",
    arguments: "",
    summary: "Check arrows, sizes, headers, invariants, banned code, decisions, leaks, surface words, tables, vocabulary and widths",
    run: |arguments| refuse_arguments(arguments).and_then(|()| check()),
};

type Check = fn(&Tree) -> Result<Vec<Finding>>;

const CHECKS: &[Check] = &[
    arrows::check,
    sizes::check,
    headers::check,
    invariants::check,
    banned::check,
    decisions::check,
    leaks::check,
    surface_words::check,
    tables::check,
    vocabulary::check,
    widths::check,
];

/// Prints every finding; fails if any of them is an error.
pub(crate) fn check() -> Result<()> {
    let tree = Tree::of_checkout()?;
    let mut findings = tree.unreadable();
    for check in CHECKS {
        findings.extend(check(&tree)?);
    }
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    conclude(&findings)
}

fn conclude(findings: &[Finding]) -> Result<()> {
    let errors = findings.iter().filter(|finding| finding.weight == Weight::Error).count();
    if errors > 0 {
        bail!("errors: {errors}, listed above");
    }
    println!("tidy; warnings: {}", findings.len());
    Ok(())
}

/// A violation of a rule: where it is, and what to do.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    weight: Weight,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Error,
    Warning,
}

impl Finding {
    fn error(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, weight: Weight::Error, text: text.into() }
    }

    fn warning(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { weight: Weight::Warning, ..Self::error(path, line, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = match self.weight {
            Weight::Error => "error",
            Weight::Warning => "warning",
        };
        write!(f, "{}:{}: {weight}: {}", self.path, self.line, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the findings of one check over the given files, one per line.
    #[track_caller]
    pub(super) fn expect(check: Check, files: &[(&str, &str)], expected: &[&str]) {
        let findings = check(&Tree::of(files)).unwrap();
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn only_errors_fail_the_check() {
        assert!(conclude(&[]).is_ok());
        assert!(conclude(&[Finding::warning("a.rs", 1, "long")]).is_ok());
        assert!(conclude(&[Finding::error("a.rs", 1, "too long")]).is_err());
    }

    #[test]
    fn a_finding_says_where_and_what() {
        assert_eq!(Finding::error("a.rs", 7, "split it").to_string(), "a.rs:7: error: split it");
    }
}
