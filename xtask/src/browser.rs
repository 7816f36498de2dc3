//! Installs what the browser tests need: Debian's Chromium, node, and the driver between them,
//! which is kept under `target`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::{
    cargo,
    setup::{apt, is_on_path, may_install},
};

/// Programs and the packages that contain them.
const PROGRAMS: [(&str, &str); 3] = [("chromium", "chromium"), ("node", "nodejs"), ("npm", "npm")];

/// Packages and a file of each: the driver, pinned because a later one may not support this
/// Chromium, and the checks of accessibility.
const MODULES: [(&str, &str); 2] = [
    ("playwright-core@1.65.0", "node_modules/playwright-core/index.mjs"),
    ("axe-core@4.14.0", "node_modules/axe-core/axe.min.js"),
];

/// Installs missing packages and reports them.
pub(crate) fn prepare() -> Result<()> {
    let missing = missing(is_on_path);
    if !missing.is_empty() {
        install(&missing).with_context(|| advice(&missing))?;
    }
    let folder = folder();
    if MODULES.iter().all(|(_, file)| folder.join(file).is_file()) {
        return Ok(());
    }
    let names = MODULES.map(|(name, _)| name).join(" and ");
    println!("Installing {names} in {}.", folder.display());
    fetch(&folder).with_context(|| {
        format!(
            "the tests of the page need {names}; where npm can't fetch them, put them in {}",
            folder.display()
        )
    })
}

/// The driver's file.
pub(crate) fn driver() -> PathBuf {
    folder().join(MODULES[0].1)
}

fn missing(is_there: impl Fn(&str) -> bool) -> Vec<&'static str> {
    PROGRAMS.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect()
}

fn install(packages: &[&str]) -> Result<()> {
    let Some(prefix) = may_install() else { bail!("nothing can be installed from here") };
    println!("The tests of the page need a browser; installing {}.", packages.join(", "));
    apt(prefix, &["update"])?;
    let arguments: Vec<&str> =
        ["install", "--yes", "--no-install-recommends"].iter().chain(packages).copied().collect();
    apt(prefix, &arguments)
}

fn advice(packages: &[&str]) -> String {
    format!(
        "the tests of the page need a browser; as root, run `apt-get install {}`, then run this again",
        packages.join(" ")
    )
}

/// The folder of the driver; under `target`, so that it is never committed.
pub(crate) fn folder() -> PathBuf {
    target().join("browser")
}

/// The folder of cargo's build output.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default();
    target.unwrap_or_else(|| workspace.join("target"))
}

fn fetch(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let arguments = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"];
    cargo::run(Command::new("npm").args(arguments).arg(folder).args(MODULES.map(|(name, _)| name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_by_its_package() {
        assert_eq!(missing(|_| true), [""; 0]);
        assert_eq!(missing(|program| program == "chromium"), ["nodejs", "npm"]);
        let told = advice(&missing(|_| false));
        assert!(told.contains("`apt-get install chromium nodejs npm`"), "{told}");
    }
}
