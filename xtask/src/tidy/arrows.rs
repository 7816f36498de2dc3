//! Checks that dependencies point one way: inner crates don't use outer ones, some avoid certain
//! external crates, and the modules inside core keep their order.

mod inside;

use super::Finding;
use super::tree::Tree;
use crate::cargo;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeSet;

/// Each crate of the workspace, and the others it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("quorum-engine", &[]),
    ("quorum-patterns", &["quorum-engine"]),
    ("quorum-providers", &["quorum-engine"]),
    ("quorum-simulated", &["quorum-engine"]),
    ("quorum-store", &["quorum-engine"]),
    ("quorum-store-postgres", &["quorum-engine"]),
    ("quorum-telemetry", &["quorum-engine"]),
    ("quorum-testkit", &["quorum-engine"]),
    (
        "quorum-panel",
        &[
            "quorum-engine",
            "quorum-patterns",
            "quorum-providers",
            "quorum-simulated",
            "quorum-store",
            "quorum-store-postgres",
            "quorum-telemetry",
        ],
    ),
    ("quorum-server", &["quorum-panel"]),
    ("quorum-ax", &["quorum-panel", "quorum-server"]),
    (
        "quorum-bench",
        &[
            "quorum-panel",
            "quorum-engine",
            "quorum-patterns",
            "quorum-providers",
            "quorum-server",
            "quorum-store",
            "quorum-store-postgres",
            "quorum-testkit",
        ],
    ),
    ("xtask", &["quorum-engine", "quorum-patterns"]),
    // Written as by others: they use only the library and the command.
    ("delphi", &["quorum-ax", "quorum-panel"]),
    ("library-examples", &["quorum-panel"]),
];

const TESTKIT: &str = "quorum-testkit";

/// Crates whose tests may use anything: the command is tested from outside, and simulated voices
/// with the forms that our patterns declare.
const TESTS_MAY_USE_ANYTHING: &[&str] = &["quorum-ax", "quorum-simulated"];

/// External crates that a crate must not use, and why.
const MUST_NOT_USE: &[(&str, &[&str], &str)] = &[
    (
        "quorum-patterns",
        &["tokio", "rand", "uuid", "jiff", EXECUTOR],
        "patterns must replay; time, chance and parallelism are the floor's",
    ),
    (
        "quorum-engine",
        &["rusqlite", "reqwest", "clap"],
        "core knows no disk, network or command line; go through a seam",
    ),
];

const EXECUTOR: &str = "futures-executor";

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let root = cargo::root().canonicalize()?;
    let mut found = findings(tree, &cargo::metadata()?, &root.to_string_lossy())?;
    found.extend(inside::findings(tree));
    Ok(found)
}

fn findings(tree: &Tree, metadata: &Value, root: &str) -> Result<Vec<Finding>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let members: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut findings = Vec::new();
    for package in packages {
        let manifest = Manifest::new(tree, package, root)?;
        findings.extend(manifest.unlisted());
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            findings.extend(manifest.judge(&Dependency::read(dependency)?, &members));
        }
    }
    Ok(findings)
}

/// A package and its manifest.
struct Manifest<'a> {
    package: &'a str,
    path: &'a str,
    text: &'a str,
}

impl<'a> Manifest<'a> {
    fn new(tree: &'a Tree, package: &'a Value, root: &str) -> Result<Self> {
        let name = package["name"].as_str().context("a package has no name")?;
        let whole = package["manifest_path"].as_str().context("a package has no manifest")?;
        let path = whole.strip_prefix(root).unwrap_or(whole).trim_start_matches('/');
        Ok(Self { package: name, path, text: tree.file(path).map_or("", |file| &file.text) })
    }

    fn unlisted(&self) -> Option<Finding> {
        let text = || format!("`{}` is new; list in xtask's MAY_USE what it may depend on", self.package);
        may_use(self.package).is_none().then(|| Finding::error(self.path, 1, text()))
    }

    fn judge(&self, dependency: &Dependency<'_>, members: &BTreeSet<&str>) -> Option<Finding> {
        let text = if members.contains(dependency.name) {
            wrong_arrow(self.package, dependency)
        } else {
            forbidden_external(self.package, dependency)
        };
        Some(Finding::error(self.path, line_of(self.text, dependency), text?))
    }
}

struct Dependency<'a> {
    name: &'a str,
    /// The name it has in the manifest.
    key: &'a str,
    kind: Kind,
    has_executor: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Includes build dependencies, which count as much.
    Normal,
    Dev,
}

impl<'a> Dependency<'a> {
    fn read(value: &'a Value) -> Result<Self> {
        let name = value["name"].as_str().context("a dependency has no name")?;
        let kind = if value["kind"] == "dev" { Kind::Dev } else { Kind::Normal };
        let mut features = value["features"].as_array().into_iter().flatten();
        let asks = value["uses_default_features"] == true || features.any(|feature| feature == "executor");
        let key = value["rename"].as_str().unwrap_or(name);
        Ok(Self { name, key, kind, has_executor: name == EXECUTOR || (name == "futures" && asks) })
    }
}

fn may_use(package: &str) -> Option<&'static [&'static str]> {
    MAY_USE.iter().find(|(name, _)| *name == package).map(|(_, allowed)| *allowed)
}

fn wrong_arrow(package: &str, dependency: &Dependency<'_>) -> Option<String> {
    let allowed = may_use(package)?;
    let name = dependency.name;
    let in_tests =
        dependency.kind == Kind::Dev && (name == TESTKIT || TESTS_MAY_USE_ANYTHING.contains(&package));
    if in_tests || allowed.contains(&name) {
        return None;
    }
    let list = if allowed.is_empty() {
        "no other of ours".to_owned()
    } else {
        format!("only {}", allowed.join(", "))
    };
    Some(format!("`{package}` must not depend on `{name}`; it may use {list}"))
}

fn forbidden_external(package: &str, dependency: &Dependency<'_>) -> Option<String> {
    let (_, names, why) = MUST_NOT_USE.iter().find(|(name, ..)| *name == package)?;
    let is_named = names.contains(&dependency.name);
    let is_executor = dependency.has_executor && names.contains(&EXECUTOR);
    let is_wrong = dependency.kind == Kind::Normal && (is_named || is_executor);
    let what = if is_executor { "the executor of futures" } else { dependency.name };
    is_wrong.then(|| format!("`{package}` must not depend on `{what}`: {why}"))
}

/// The line of the dependency; the first line if it can't be found, so that the finding is still
/// reported.
fn line_of(manifest: &str, dependency: &Dependency<'_>) -> usize {
    let mut is_dev = false;
    for (index, line) in manifest.lines().enumerate() {
        if line.starts_with('[') {
            is_dev = line.contains("dev-dependencies");
        }
        let key = line.split(['=', '.', ' ']).next().unwrap_or_default();
        if key == dependency.key && is_dev == (dependency.kind == Kind::Dev) {
            return index + 1;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MEMBERS: &str = "quorum-engine quorum-patterns quorum-store quorum-panel quorum-server quorum-testkit quorum-ax xtask stranger";

    fn package(name: &str, dependencies: &[Value]) -> Value {
        json!({ "name": name, "manifest_path": format!("/top/crates/{name}/Cargo.toml"), "dependencies": dependencies })
    }

    /// The findings for one dependency of one crate, while the other crates have none.
    fn judge(from: &str, dependency: Value) -> Vec<String> {
        let members = MEMBERS.split(' ').filter(|name| *name != from && *name != "stranger");
        let mut packages: Vec<Value> = members.map(|name| package(name, &[])).collect();
        packages.push(package(from, &[dependency]));
        let found = findings(&Tree::of(&[]), &json!({ "packages": packages }), "/top").unwrap();
        found.iter().map(Finding::to_string).collect()
    }

    #[track_caller]
    fn check(from: &str, to: &str, kind: Kind, expected: Option<&str>) {
        let kind = if kind == Kind::Dev { json!("dev") } else { Value::Null };
        let found =
            judge(from, json!({ "name": to, "kind": kind, "features": [], "uses_default_features": true }));
        let expected: Vec<String> =
            expected.map(|text| format!("crates/{from}/Cargo.toml:1: error: {text}")).into_iter().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn arrows_go_inwards_only() {
        check("quorum-patterns", "quorum-engine", Kind::Normal, None);
        check("quorum-panel", "quorum-store", Kind::Normal, None);
        check("quorum-ax", "quorum-server", Kind::Normal, None);
        check("xtask", "quorum-patterns", Kind::Normal, None);
        let outward = "`quorum-engine` must not depend on `quorum-store`; it may use no other of ours";
        check("quorum-engine", "quorum-store", Kind::Normal, Some(outward));
        check("quorum-engine", "quorum-store", Kind::Dev, Some(outward));
        let sideways = "`quorum-patterns` must not depend on `quorum-store`; it may use only quorum-engine";
        check("quorum-patterns", "quorum-store", Kind::Normal, Some(sideways));
        let past_the_facade =
            "`quorum-ax` must not depend on `quorum-engine`; it may use only quorum-panel, quorum-server";
        check("quorum-ax", "quorum-engine", Kind::Normal, Some(past_the_facade));
    }

    #[test]
    fn the_testkit_is_for_tests_and_chores() {
        check("quorum-engine", "quorum-testkit", Kind::Dev, None);
        check("quorum-ax", "quorum-engine", Kind::Dev, None);
        let shipped = "`quorum-server` must not depend on `quorum-testkit`; it may use only quorum-panel";
        check("quorum-server", "quorum-testkit", Kind::Normal, Some(shipped));
    }

    #[test]
    fn patterns_and_core_avoid_forbidden_crates() {
        let clock = "`quorum-patterns` must not depend on `tokio`: patterns must replay; time, chance and parallelism are the floor's";
        check("quorum-patterns", "tokio", Kind::Normal, Some(clock));
        check("quorum-patterns", "tokio", Kind::Dev, None);
        let disk = "`quorum-engine` must not depend on `rusqlite`: core knows no disk, network or command line; go through a seam";
        check("quorum-engine", "rusqlite", Kind::Normal, Some(disk));
        check("quorum-engine", "tokio", Kind::Normal, None);
        check("quorum-store", "rusqlite", Kind::Normal, None);
    }

    #[test]
    fn futures_is_allowed_without_its_executor() {
        let futures = |features: &[&str], defaults: bool| {
            let value = json!({ "name": "futures", "kind": null, "features": features, "uses_default_features": defaults });
            judge("quorum-patterns", value).len()
        };
        let (with_defaults, without_defaults) = (true, false);
        assert_eq!(futures(&["std"], without_defaults), 0);
        assert_eq!(futures(&["executor"], without_defaults), 1);
        assert_eq!(futures(&[], with_defaults), 1);
    }

    #[test]
    fn a_new_crate_must_be_listed() {
        let unknown = "`stranger` is new; list in xtask's MAY_USE what it may depend on";
        check("stranger", "quorum-engine", Kind::Normal, Some(unknown));
    }

    #[test]
    fn the_line_is_the_one_in_the_right_section() {
        let manifest = "[dependencies]\nserde.workspace = true\n\n[dev-dependencies]\ntokio = { version = \"1\" }\nserde = \"1\"\n";
        let line = |name, kind| line_of(manifest, &Dependency { name, key: name, kind, has_executor: false });
        assert_eq!(line("serde", Kind::Normal), 2);
        assert_eq!(line("serde", Kind::Dev), 6);
        assert_eq!(line("tokio", Kind::Dev), 5);
        assert_eq!(line("tokio", Kind::Normal), 1);
    }
}
