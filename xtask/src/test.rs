//! Runs everything that must pass before a change is handed over, from a fresh machine with Rust to
//! the last test.

use crate::{Verb, attack, cargo, cluster, dependencies, lab, setup, tidy};
use anyhow::{Context as _, Result, bail};
use std::process::Command;
use std::time::Instant;

pub(crate) const VERB: Verb = Verb {
    name: "test",
    arguments: "[--long]",
    summary: "Set up, then format, lint, tidy, document and test; --long also runs the slow tests",
    run,
};

/// The environment variable that enables slow tests.
const LONG: &str = "QUORUM_LONG";

/// The stages: quick ones first; the tests last, so that their summary stays on the screen.
const STAGES: &[Stage] = &[
    Stage { name: "setup", run: |_| setup::prepare() },
    Stage { name: "format", run: |_| cargo::run(&mut cargo::command(&["fmt", "--all", "--check"])) },
    Stage { name: "tidy", run: |_| tidy::check() },
    Stage { name: "dependencies", run: |_| dependencies::check() },
    Stage { name: "clippy", run: |_| clippy() },
    Stage { name: "documentation", run: |_| documentation() },
    Stage { name: "build", run: |_| cargo::build_everything() },
    Stage {
        name: "examples in the documentation",
        run: |effort| tests(effort, &["test", "--doc", "--workspace"]),
    },
    Stage { name: "laboratory", run: |_| lab::short() },
    Stage { name: "attacks", run: |_| attack::short() },
    Stage { name: "cluster", run: |_| cluster::short() },
    Stage { name: "tests", run: |effort| tests(effort, runner()) },
];

struct Stage {
    name: &'static str,
    run: fn(Effort) -> Result<()>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Effort {
    EveryDay,
    Long,
}

fn run(arguments: &[String]) -> Result<()> {
    let effort = effort(arguments)?;
    let started = Instant::now();
    for stage in STAGES {
        pass(stage, effort)?;
    }
    println!("\nAll {} stages passed in {}.", STAGES.len(), seconds(started));
    Ok(())
}

fn effort(arguments: &[String]) -> Result<Effort> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(Effort::EveryDay),
        ["--long"] => Ok(Effort::Long),
        _ => bail!("unknown arguments `{}`; only --long is accepted", words.join(" ")),
    }
}

fn pass(stage: &Stage, effort: Effort) -> Result<()> {
    println!("\n== {} ==", stage.name);
    let started = Instant::now();
    (stage.run)(effort)
        .with_context(|| format!("stage `{}` failed after {}", stage.name, seconds(started)))?;
    println!("== {} passed in {} ==", stage.name, seconds(started));
    Ok(())
}

fn seconds(since: Instant) -> String {
    format!("{:.1} s", since.elapsed().as_secs_f64())
}

fn clippy() -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    cargo::run(&mut cargo::command(&arguments))
}

fn documentation() -> Result<()> {
    let mut command = cargo::command(&["doc", "--workspace", "--no-deps"]);
    cargo::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn runner() -> &'static [&'static str] {
    if cargo::succeeds(&mut cargo::command(&["nextest", "--version"])) {
        &["nextest", "run", "--workspace"]
    } else {
        &["test", "--workspace", "--all-targets"]
    }
}

fn tests(effort: Effort, arguments: &[&str]) -> Result<()> {
    cargo::run(with_effort(&mut cargo::command(arguments), effort))
}

fn with_effort(command: &mut Command, effort: Effort) -> &mut Command {
    match effort {
        Effort::Long => command.env(LONG, "1"),
        Effort::EveryDay => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn only_long_is_understood() {
        assert_eq!(effort(&words("")).ok(), Some(Effort::EveryDay));
        assert_eq!(effort(&words("--long")).ok(), Some(Effort::Long));
        assert_eq!(effort(&words("--longer")).ok(), None);
        assert_eq!(effort(&words("--long --long")).ok(), None);
    }

    #[test]
    fn a_failure_names_its_stage() {
        let stage = Stage { name: "sums", run: |_| bail!("two and two are five") };
        let error = format!("{:#}", pass(&stage, Effort::EveryDay).unwrap_err());
        assert!(error.starts_with("stage `sums` failed after "), "{error}");
        assert!(error.ends_with(" s: two and two are five"), "{error}");
    }

    #[test]
    fn a_long_run_sets_the_variable_that_tests_read() {
        let mut command = Command::new("true");
        with_effort(&mut command, Effort::Long);
        let told: Vec<_> = command.get_envs().collect();
        assert_eq!(told, [(LONG.as_ref(), Some("1".as_ref()))]);
    }
}
