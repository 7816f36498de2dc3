//! Checks the licences, sources and versions of everything that comes in from outside.
//!
//! `cargo-deny` checks more, but takes minutes to compile; see `docs/decisions/dependencies.md`.

mod added;
mod licence;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::{collections::BTreeSet, fs};

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "dependencies",
    arguments: "",
    summary: "Check the licences, sources and versions of all dependencies",
    run: |arguments| refuse_arguments(arguments).and_then(|()| check()),
};

/// Permissive licences only.
const ALLOWED: &[&str] = &[
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// Crates that are banned, also as dependencies of others, with what to do instead.
const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "building may need a C compiler and nothing else; use rustls"),
    ("native-tls", "use rustls"),
];

/// The page with a row for each direct dependency that says why it is used.
const REASONS: &str = "docs/decisions/dependencies.md";

/// How many crates the program may have only because it can use PostgreSQL.
const MOST_FOR_POSTGRES: usize = 40;

pub(crate) fn check() -> Result<()> {
    let metadata = cargo::metadata_with_dependencies()?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let reasons = fs::read_to_string(cargo::root().join(REASONS))
        .with_context(|| format!("{REASONS} can't be read"))?;
    let problems: Vec<String> =
        problems(packages).into_iter().chain(unexplained(packages, &reasons)).collect();
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("{} problems with dependencies, listed above", problems.len());
    }
    let outside = packages.iter().filter(|it| !it["source"].is_null()).count();
    println!("{outside} dependencies, all with an allowed licence and from one registry");
    let postgres = added::added_by(&metadata, "quorum-ax", "quorum-store-postgres")?;
    println!("{} of them only for PostgreSQL, and at most {MOST_FOR_POSTGRES} may be", postgres.len());
    if MOST_FOR_POSTGRES < postgres.len() {
        let names: Vec<&str> = postgres.into_iter().collect();
        bail!("too many crates are needed only for PostgreSQL: {}", names.join(", "));
    }
    Ok(())
}

fn problems(packages: &[Value]) -> Vec<String> {
    let (own, outside): (Vec<&Value>, Vec<&Value>) = packages.iter().partition(|it| it["source"].is_null());
    let licences = outside.iter().filter_map(|it| licence_problem(it));
    let bans = outside.iter().filter_map(|it| ban_problem(it));
    let wildcards = own.iter().flat_map(|it| wildcards(it));
    licences.chain(bans).chain(source_problems(&outside)).chain(wildcards).collect()
}

fn licence_problem(package: &Value) -> Option<String> {
    let shown = shown(package);
    match package["license"].as_str() {
        None => Some(format!("{shown}: names no licence by its SPDX identifier")),
        Some(expression) => match licence::is_satisfied(expression, ALLOWED) {
            Ok(true) => None,
            Ok(false) => {
                Some(format!("{shown}: its licence {expression} is not among {}", ALLOWED.join(", ")))
            }
            Err(error) => Some(format!("{shown}: its licence {expression} can't be read: {error}")),
        },
    }
}

fn ban_problem(package: &Value) -> Option<String> {
    let (_, instead) = BANNED.iter().find(|(name, _)| package["name"] == *name)?;
    Some(format!("{}: is banned; {instead}", shown(package)))
}

/// Crates that come from elsewhere than the default registry, which is taken to be the one that
/// most crates come from.
fn source_problems(outside: &[&Value]) -> Vec<String> {
    let sources: BTreeSet<&str> = outside.iter().filter_map(|it| it["source"].as_str()).collect();
    let of = |source: &str| outside.iter().filter(|it| it["source"] == source).count();
    let usual = sources.iter().filter(|it| it.starts_with("registry+")).max_by_key(|it| of(it));
    let strange = outside.iter().filter(|it| it["source"].as_str() != usual.copied());
    strange.map(|it| format!("{}: comes neither from the registry nor from here", shown(it))).collect()
}

fn wildcards(package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let wild = dependencies.filter(|it| it["req"] == "*" && it["path"].is_null());
    wild.map(|it| format!("{}: names no version of {}", shown(package), word(&it["name"]))).collect()
}

/// Direct dependencies without a row in the first table, and rows without a dependency.
fn unexplained(packages: &[Value], reasons: &str) -> Vec<String> {
    let own = packages.iter().filter(|it| it["source"].is_null());
    let direct = own.flat_map(|it| it["dependencies"].as_array().into_iter().flatten());
    let used: BTreeSet<&str> = direct.filter(|it| it["path"].is_null()).map(|it| word(&it["name"])).collect();
    let table = reasons.lines().skip_while(|line| !line.starts_with('|'));
    let table = table.take_while(|line| line.starts_with('|'));
    let rows = table.filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let names = rows.skip(1).flat_map(|row| row.split(", "));
    let explained: BTreeSet<&str> = names.filter_map(|it| it.split_whitespace().next()).collect();
    let missing = used.difference(&explained).map(|it| format!("{REASONS}: has no row for {it}"));
    let needless =
        explained.difference(&used).map(|it| format!("{REASONS}: has a row for {it}, which is not used"));
    missing.chain(needless).collect()
}

fn shown(package: &Value) -> String {
    format!("{} {}", word(&package["name"]), word(&package["version"]))
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn outside(name: &str, licence: &str) -> Value {
        let source = "registry+index";
        json!({ "name": name, "version": "1.0.0", "source": source, "license": licence, "dependencies": [] })
    }

    #[track_caller]
    fn expect(packages: &[Value], expected: &[&str]) {
        assert_eq!(problems(packages), expected);
    }

    #[test]
    fn allowed_licences_from_the_registry_are_no_problem() {
        expect(&[outside("a", "MIT OR Apache-2.0"), outside("b", "GPL-3.0 OR Zlib")], &[]);
    }

    #[test]
    fn a_licence_that_is_not_allowed_or_not_named_is_a_problem() {
        let mut unnamed = outside("b", "");
        unnamed["license"] = Value::Null;
        let expected = [
            "a 1.0.0: its licence GPL-3.0 is not among Apache-2.0, BSD-2-Clause, BSD-3-Clause, \
             CDLA-Permissive-2.0, ISC, MIT, Unicode-3.0, Zlib",
            "b 1.0.0: names no licence by its SPDX identifier",
        ];
        expect(&[outside("a", "GPL-3.0"), unnamed], &expected);
    }

    #[test]
    fn a_banned_crate_is_a_problem() {
        expect(&[outside("native-tls", "MIT")], &["native-tls 1.0.0: is banned; use rustls"]);
    }

    #[test]
    fn a_repository_or_a_second_registry_is_a_problem() {
        let from = |name: &str, source: &str| {
            let mut package = outside(name, "MIT");
            package["source"] = json!(source);
            package
        };
        let packages = [
            outside("a", "MIT"),
            outside("b", "MIT"),
            from("c", "git+somewhere"),
            from("d", "registry+other"),
        ];
        let expected = [
            "c 1.0.0: comes neither from the registry nor from here",
            "d 1.0.0: comes neither from the registry nor from here",
        ];
        expect(&packages, &expected);
    }

    #[test]
    fn each_direct_dependency_has_a_row_that_explains_it() {
        let dependency = |name, path: Option<&str>| json!({ "name": name, "req": "1", "path": path });
        let own = json!({ "name": "ours", "source": null,
            "dependencies": [dependency("a", None), dependency("b", None), dependency("c", Some("crates/c"))] });
        let reasons = "# Why\n\n| crate | why |\n|---|---|\n| a (with x), d | because |\n\n| crate | costs |\n| e | 1 s |\n";
        let expected = [
            "docs/decisions/dependencies.md: has no row for b",
            "docs/decisions/dependencies.md: has a row for d, which is not used",
        ];
        assert_eq!(unexplained(&[own], reasons), expected);
    }

    #[test]
    fn a_dependency_of_our_own_names_a_version_unless_it_is_here() {
        let dependency = |name, path: Option<&str>| json!({ "name": name, "req": "*", "path": path });
        let own = json!({ "name": "ours", "version": "0.1.0", "source": null,
            "dependencies": [dependency("a", None), dependency("b", Some("crates/b"))] });
        expect(&[own], &["ours 0.1.0: names no version of a"]);
    }
}
