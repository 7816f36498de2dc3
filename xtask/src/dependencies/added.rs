//! Counts the crates that a part of the program brings along.

use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The crates from outside that `program` is built with, but would not be without `part`.
pub(super) fn added_by<'m>(metadata: &'m Value, program: &str, part: &str) -> Result<BTreeSet<&'m str>> {
    let names = names(metadata)?;
    let id = |name: &str| {
        let found = names.iter().find(|(_, (it, _))| *it == name).map(|(id, _)| *id);
        found.with_context(|| format!("there is no package {name}"))
    };
    let (program, part) = (id(program)?, id(part)?);
    let edges = edges(metadata)?;
    let (with, without) = (reached(&edges, program, None), reached(&edges, program, Some(part)));
    let outside = |ids: &BTreeSet<&'m str>| -> BTreeSet<&'m str> {
        let known = ids.iter().filter_map(|id| names.get(id));
        known.filter(|(_, is_outside)| *is_outside).map(|(name, _)| *name).collect()
    };
    Ok(outside(&with).difference(&outside(&without)).copied().collect())
}

/// The name of each package by its id, and whether it comes from outside.
fn names(metadata: &Value) -> Result<BTreeMap<&str, (&str, bool)>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let entries = packages.iter().filter_map(|it| {
        let is_outside = !it["source"].is_null();
        Some((it["id"].as_str()?, (it["name"].as_str()?, is_outside)))
    });
    Ok(entries.collect())
}

/// What each package is built with; tests are left out.
fn edges(metadata: &Value) -> Result<BTreeMap<&str, Vec<&str>>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("`cargo metadata` resolves nothing")?;
    let is_built = |it: &&Value| {
        let kinds = it["dep_kinds"].as_array();
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
    };
    let entries = nodes.iter().filter_map(|node| {
        let needed = node["deps"].as_array()?.iter().filter(is_built);
        Some((node["id"].as_str()?, needed.filter_map(|it| it["pkg"].as_str()).collect()))
    });
    Ok(entries.collect())
}

/// Everything that is reached from here, but not through `closed`.
fn reached<'m>(
    edges: &BTreeMap<&'m str, Vec<&'m str>>,
    from: &'m str,
    closed: Option<&str>,
) -> BTreeSet<&'m str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(id) = open.pop() {
        if Some(id) != closed && reached.insert(id) {
            open.extend(edges.get(id).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crates_that_are_needed_without_the_part_or_only_by_tests_are_not_counted() {
        let package =
            |name: &str, source: Option<&str>| json!({ "id": name, "name": name, "source": source });
        let outside = ["driver", "hash", "shared", "checker"].map(|it| package(it, Some("registry")));
        let ours = ["program", "part"].map(|it| package(it, None));
        let to = |pkg: &str, kind: Option<&str>| json!({ "pkg": pkg, "dep_kinds": [{ "kind": kind }] });
        let packages = [ours.to_vec(), outside.to_vec()].concat();
        let metadata = json!({
            "packages": packages,
            "resolve": { "nodes": [
                { "id": "program", "deps": [to("part", None), to("shared", None)] },
                { "id": "part", "deps": [to("driver", None), to("shared", None), to("checker", Some("dev"))] },
                { "id": "driver", "deps": [to("hash", Some("build"))] },
            ] },
        });
        let added = added_by(&metadata, "program", "part").unwrap();
        assert_eq!(added, BTreeSet::from(["driver", "hash"]));
    }
}
