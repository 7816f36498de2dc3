//! Tests the Model Context Protocol from outside, in parts: real clients, real time, load, and the
//! protocol's own conformance suite.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{
    Verb, cargo,
    setup::{apt, is_on_path, may_install},
};

pub(crate) const VERB: Verb = Verb {
    name: "mcp",
    arguments: "[part…]",
    summary: "Test MCP with real clients; parts: sdks, inspector, times, load, conformance",
    run: mcp,
};

/// What the parts need from this machine; they install everything else under `target/`.
const PACKAGES: [&str; 2] = ["npm", "python3-venv"];

/// A part of the tests: a script and its arguments. Each takes less than two minutes.
struct Part {
    name: &'static str,
    script: &'static str,
    arguments: &'static [&'static str],
}

const PARTS: &[Part] = &[
    Part { name: "sdks", script: "mcp-clients.sh", arguments: &["sdks"] },
    Part { name: "inspector", script: "mcp-clients.sh", arguments: &["inspector"] },
    Part { name: "times", script: "mcp-clients.sh", arguments: &["times"] },
    Part { name: "load", script: "mcp-clients.sh", arguments: &["load"] },
    Part { name: "conformance", script: "mcp-conformance.sh", arguments: &[] },
];

fn mcp(arguments: &[String]) -> Result<()> {
    let wanted = wanted(arguments)?;
    install()?;
    let failed: Vec<&str> = wanted.into_iter().filter(|it| run(it).is_err()).map(|it| it.name).collect();
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

/// The named parts, or all.
fn wanted(arguments: &[String]) -> Result<Vec<&'static Part>> {
    if arguments.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let names: Vec<&str> = PARTS.iter().map(|it| it.name).collect();
    let named = |name: &String| match PARTS.iter().find(|it| it.name == name) {
        Some(part) => Ok(part),
        None => bail!("there is no part `{name}`; there are {}", names.join(", ")),
    };
    arguments.iter().map(named).collect()
}

fn run(part: &Part) -> Result<()> {
    println!("\n== {} ==", part.name);
    let script = cargo::root().join("scripts").join(part.script);
    cargo::run(Command::new(script).args(part.arguments).current_dir(cargo::root()))
}

/// Installs the packages that this machine lacks, where that is allowed.
fn install() -> Result<()> {
    if is_on_path("npm") && has_venv() {
        return Ok(());
    }
    let packages = PACKAGES.join(" ");
    let Some(prefix) = may_install() else {
        bail!("npm or Python's venv is missing; as root, run `apt-get install {packages}`")
    };
    println!("Installing {packages}.");
    apt(prefix, &["update"])?;
    let arguments = ["install", "--yes", "--no-install-recommends"].into_iter().chain(PACKAGES);
    apt(prefix, &arguments.collect::<Vec<&str>>())
}

fn has_venv() -> bool {
    cargo::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(arguments: &[&str]) -> Result<Vec<&'static str>> {
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        Ok(wanted(&arguments)?.into_iter().map(|it| it.name).collect())
    }

    #[test]
    fn a_part_is_run_by_its_name_and_all_without_one() {
        assert_eq!(names(&[]).unwrap().len(), PARTS.len());
        assert_eq!(names(&["load", "sdks"]).unwrap(), ["load", "sdks"]);
        assert!(names(&["sdk"]).unwrap_err().to_string().contains("sdks, inspector"));
    }

    #[test]
    fn every_script_is_there() {
        for part in PARTS {
            assert!(cargo::root().join("scripts").join(part.script).is_file(), "{}", part.script);
        }
    }
}
