//! Checks that every source file begins with a doc comment on its purpose.

use super::Finding;
use super::tree::Tree;
use anyhow::Result;

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let without = tree.files.iter().filter(|file| is_source(&file.path) && !begins_with_doc(&file.text));
    Ok(without.map(|file| Finding::error(&file.path, 1, "begin it with `//!` and what it is for")).collect())
}

fn is_source(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    path.ends_with(".rs") && matches!(parts.as_slice(), ["crates", _, "src", ..] | ["xtask", "src", ..])
}

fn begins_with_doc(text: &str) -> bool {
    text.trim_start().starts_with("//!")
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn a_source_file_begins_with_its_purpose() {
        expect(check, &[("crates/core/src/lib.rs", "//! What.\n"), ("xtask/src/a.rs", "\n//! What.\n")], &[]);
        expect(check, &[("crates/core/tests/a.rs", "fn a() {}"), ("crates/core/src/a.md", "")], &[]);
        let bare = "crates/core/src/model/a.rs:1: error: begin it with `//!` and what it is for";
        expect(check, &[("crates/core/src/model/a.rs", "use std::fmt;\n//! Late.\n")], &[bare]);
        let plain = "xtask/src/a.rs:1: error: begin it with `//!` and what it is for";
        expect(check, &[("xtask/src/a.rs", "// A plain comment.\n")], &[plain]);
    }
}
