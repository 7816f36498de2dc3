//! The files to be checked: those git tracks, read once.

use super::Finding;
use super::scan::Scan;
use crate::cargo;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// All text files of the checkout, by path.
pub(super) struct Tree {
    pub(super) files: Vec<File>,
}

/// A text file. Its path is relative to the root of the checkout, with `/` as separator.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
    /// The tokens, for Rust files.
    scan: Option<Result<Scan, String>>,
}

impl Tree {
    pub(super) fn of_checkout() -> Result<Self> {
        let root = cargo::root();
        let paths = kept_by_git(&root).map_or_else(|| walk(&root), Ok)?;
        // Binary files are not checked, and a deleted file may still be tracked.
        let read = |path: String| std::fs::read_to_string(root.join(&path)).ok().map(|text| (path, text));
        Ok(Self {
            files: paths.into_iter().filter_map(read).map(|(path, text)| File::new(path, text)).collect(),
        })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self {
            files: files.iter().map(|(path, text)| File::new(path.to_string(), text.to_string())).collect(),
        }
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files that could be parsed.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&File, &Scan)> {
        self.files.iter().filter_map(|file| Some((file, file.scan()?)))
    }

    /// Findings for the Rust files that could not be parsed, since no other check reports them.
    pub(super) fn unreadable(&self) -> Vec<Finding> {
        let errors = self.files.iter().filter_map(|file| Some((file, file.scan.as_ref()?.as_ref().err()?)));
        errors.map(|(file, error)| Finding::error(&file.path, 1, format!("is not Rust: {error}"))).collect()
    }
}

impl File {
    fn new(path: String, text: String) -> Self {
        let scan_of = if is_test_file(&path) { Scan::of_test_file } else { Scan::of };
        let scan = path.ends_with(".rs").then(|| scan_of(&text));
        Self { path, text, scan }
    }

    /// Its tokens; `None` if it is not Rust.
    pub(super) fn scan(&self) -> Option<&Scan> {
        self.scan.as_ref()?.as_ref().ok()
    }
}

/// Whether the whole file is test code: in a `tests` folder, or a `tests` module in a file of its
/// own.
fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// Tracked files and untracked ones that are not ignored; `None` without git or a repository.
fn kept_by_git(root: &Path) -> Option<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let listed = String::from_utf8(output.stdout).ok()?;
    let mut paths: Vec<String> = listed.split_terminator('\0').map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

/// All files except build output, for a checkout without git.
fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries =
            root.join(&folder).read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            match entry.file_type()? {
                kind if kind.is_dir() && is_source(&path) => folders.push(path),
                kind if kind.is_file() => paths.push(path.to_string_lossy().replace('\\', "/")),
                _ => {}
            }
        }
    }
    paths.sort();
    Ok(paths)
}

fn is_source(folder: &Path) -> bool {
    folder != Path::new("target") && folder != Path::new(".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_is_found_with_git_and_without() {
        let tree = Tree::of_checkout().unwrap();
        assert!(tree.file("xtask/src/tidy/tree.rs").is_some());
        let walked = walk(&cargo::root()).unwrap();
        assert!(walked.contains(&"xtask/src/tidy/tree.rs".to_owned()));
        assert!(!walked.iter().any(|path| path.starts_with(".git/") || path.starts_with("target/")));
    }

    #[test]
    fn test_files_are_known_by_their_place() {
        assert!(is_test_file("crates/core/tests/replay.rs"));
        assert!(is_test_file("crates/core/src/floor/tests.rs"));
        assert!(!is_test_file("crates/core/src/floor/mod.rs"));
        assert!(!is_test_file("crates/testkit/src/lib.rs"));
    }

    #[test]
    fn a_file_that_is_not_rust_is_reported() {
        let lines: Vec<_> = Tree::of(&[("a.rs", "fn a() {"), ("b.md", "fn b() {")])
            .unreadable()
            .iter()
            .map(|f| f.path.clone())
            .collect();
        assert_eq!(lines, ["a.rs"]);
    }
}
