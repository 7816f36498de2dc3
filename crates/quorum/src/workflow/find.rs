//! Finds workflow files by name.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// A workflow file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The name: the file's, without its ending.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// Whether another file of this name comes first.
    pub hidden: bool,
}

const ENDINGS: &[&str] = &["yaml", "yml", "json"];

/// The folders that are searched, in this order.
#[must_use]
pub fn folders(config_file: &Path) -> Vec<PathBuf> {
    let configured = config_file.parent().map(|it| it.join("workflows"));
    [Some(PathBuf::from(".quorum/workflows")), configured, Some(PathBuf::from(".automatosx/workflows"))]
        .into_iter()
        .flatten()
        .collect()
}

/// Every workflow file in these folders, in the order in which they are found.
#[must_use]
pub fn all(folders: &[PathBuf]) -> Vec<Found> {
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|it| it.path()).filter(|it| is_workflow(it)).collect();
        files.sort();
        for file in files {
            let Some(name) = file.file_stem().and_then(|it| it.to_str()).map(str::to_owned) else { continue };
            let hidden = !names.insert(name.clone());
            found.push(Found { name, file, hidden });
        }
    }
    found
}

fn is_workflow(file: &Path) -> bool {
    file.extension().and_then(|it| it.to_str()).is_some_and(|it| ENDINGS.contains(&it)) && file.is_file()
}

/// The file of a workflow that is given by name or by path.
#[must_use]
pub fn file_of(given: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = PathBuf::from(given);
    let is_path = given.contains('/') || path.extension().is_some();
    if is_path {
        return path.is_file().then_some(path);
    }
    let named = all(folders).into_iter().find(|it| it.name == given && !it.hidden).map(|it| it.file);
    named.or_else(|| path.is_file().then_some(path))
}
