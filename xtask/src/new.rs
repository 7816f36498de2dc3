//! Scaffolds a new pattern: its file, its module, its line in the list and its row in the README.
//! The result compiles, runs and passes the kill-anywhere suites.

use crate::{Verb, cargo};
use anyhow::{Context as _, Result, bail};
use std::path::Path;

pub(crate) const VERB: Verb = Verb {
    name: "new",
    arguments: "pattern NAME [SUMMARY]",
    summary: "Scaffold a pattern: its file, its registration and its row in the README",
    run,
};

const TEMPLATE: &str = include_str!("new/pattern.rs.txt");

fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["pattern", name] => pattern(&cargo::root(), name, "Everyone answers in turn"),
        ["pattern", name, summary] => pattern(&cargo::root(), name, summary),
        _ => bail!("missing or unknown arguments; usage: `cargo xtask new pattern NAME [\"One sentence\"]`"),
    }
}

fn pattern(root: &Path, name: &str, summary: &str) -> Result<()> {
    if !is_name(name) {
        bail!(
            "`{name}` can't be a pattern's name; use lower-case letters, digits and hyphens, like `round-robin`"
        );
    }
    let module = name.replace('-', "_");
    let file = root.join(format!("crates/patterns/src/pattern/{module}.rs"));
    if file.exists() {
        bail!("the pattern {name} already exists: {}", file.display());
    }
    let edits = [
        (
            "crates/patterns/src/pattern/mod.rs",
            "pub(crate) mod critique;\n",
            format!("pub(crate) mod {module};\n"),
        ),
        (
            "crates/patterns/src/lib.rs",
            "    pattern::roundtable::PATTERN,\n",
            format!("    pattern::{module}::PATTERN,\n"),
        ),
        ("README.md", "<!-- /patterns -->\n", format!("| `{name}` | {summary} |\n")),
    ];
    let texts = edits.iter().map(|(path, anchor, line)| inserted(root, path, anchor, line));
    let texts: Vec<(String, String)> = texts.collect::<Result<_>>()?;
    std::fs::write(&file, TEMPLATE.replace("{name}", name).replace("{summary}", summary))?;
    for (path, text) in &texts {
        std::fs::write(root.join(path), text)?;
    }
    cargo::run(&mut cargo::command(&["fmt", "-p", "quorum-patterns"]))?;
    println!("Created crates/patterns/src/pattern/{module}.rs, and registered it in:");
    texts.iter().for_each(|(path, _)| println!("  {path}"));
    println!("Next: write its flow, then `cargo nextest run -p quorum-patterns` and `cargo xtask tidy`.");
    Ok(())
}

fn is_name(name: &str) -> bool {
    let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    name.starts_with(|it: char| it.is_ascii_lowercase()) && !name.ends_with('-') && name.chars().all(fits)
}

/// The file's text with the line inserted: before a table's end marker, or after a list's last
/// entry.
fn inserted(root: &Path, path: &str, anchor: &str, line: &str) -> Result<(String, String)> {
    let text = std::fs::read_to_string(root.join(path)).with_context(|| format!("{path} can't be read"))?;
    let at = text.find(anchor).with_context(|| format!("{path} has no line {anchor:?} to insert at"))?;
    let at = if anchor.starts_with("<!--") { at } else { at + anchor.len() };
    Ok((path.to_owned(), format!("{}{line}{}", &text[..at], &text[at..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_users_write_it() {
        for name in ["delphi", "round-robin", "six-hats-2"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "Delphi", "2-hats", "a_b", "a-", "a b", "../a"] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn every_place_a_pattern_needs_has_its_anchor() {
        let folder = std::env::temp_dir().join(format!("xtask-new-{}", std::process::id()));
        let root = cargo::root();
        for path in ["crates/patterns/src/pattern/mod.rs", "crates/patterns/src/lib.rs", "README.md"] {
            let copy = folder.join(path);
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::copy(root.join(path), copy).unwrap();
        }
        let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
        let edits = [
            (
                "crates/patterns/src/pattern/mod.rs",
                "pub(crate) mod critique;\n",
                "pub(crate) mod six_hats;\n",
            ),
            (
                "crates/patterns/src/lib.rs",
                "    pattern::roundtable::PATTERN,\n",
                "    pattern::six_hats::PATTERN,\n",
            ),
            ("README.md", "<!-- /patterns -->\n", "| `six-hats` | Six views |\n"),
        ];
        for (path, anchor, line) in edits {
            let (_, text) = inserted(&folder, path, anchor, line).unwrap();
            assert_eq!(text.matches(line).count(), 1, "{path}");
            assert_eq!(text.len(), read(path).len() + line.len(), "{path}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
