//! Measures the line coverage of every crate that ships, by the tests of the whole workspace.
//!
//! Uses cargo-tarpaulin with the compiler's own instrumentation: it reads the raw profiles itself,
//! so no matching LLVM tools are needed, and it includes our binary when a test runs it.

use crate::{Verb, browser, cargo, refuse_arguments, setup};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "coverage",
    arguments: "",
    summary: "Measure the line coverage of every crate and of the parts that must reach more",
    run,
};

/// A part of the product with the percentage of its lines that tests must run.
struct Area {
    name: &'static str,
    min_percent: u64,
    /// Files, and folders with a slash at the end, under `crates/`.
    paths: &'static [&'static str],
}

/// Every crate that ships, then the parts that the requirements (D17) name.
const AREAS: &[Area] = &[
    whole("core", &["core/src/"]),
    whole("patterns", &["patterns/src/"]),
    whole("store", &["store/src/"]),
    whole("store-postgres", &["store-postgres/src/"]),
    whole("telemetry", &["telemetry/src/"]),
    whole("providers", &["providers/src/"]),
    whole("simulated", &["simulated/src/"]),
    whole("quorum", &["quorum/src/"]),
    whole("server", &["server/src/"]),
    whole("ax", &["ax/src/"]),
    Area {
        name: "state machine",
        min_percent: 95,
        paths: &["core/src/model/lifecycle.rs", "core/src/model/state.rs", "core/src/model/state/"],
    },
    Area { name: "prompts", min_percent: 90, paths: &["patterns/src/prompts.rs", "patterns/src/prompts/"] },
    Area {
        name: "context",
        min_percent: 85,
        paths: &["patterns/src/context/", "core/src/floor/window.rs", "core/src/floor/summarize.rs"],
    },
    Area { name: "calls to providers", min_percent: 80, paths: &["providers/src/", "core/src/call/"] },
    Area {
        name: "error handling",
        min_percent: 90,
        paths: &[
            "core/src/call/retry.rs",
            "core/src/model/error.rs",
            "core/src/record/failure.rs",
            "core/src/record/retry_store.rs",
            "providers/src/command/failure.rs",
            "providers/src/http/errors.rs",
            "quorum/src/error.rs",
            "server/src/problem.rs",
            "store/src/error.rs",
        ],
    },
    Area { name: "judge", min_percent: 85, paths: &["patterns/src/assessment/", "patterns/src/debate/"] },
];
const TOOL: &str = "cargo-tarpaulin";
const TOOL_VERSION: &str = "0.37.5";
/// Timeout for the output of a test program; instrumented code is slow.
const TIMEOUT_SECONDS: &str = "900";

const fn whole(name: &'static str, paths: &'static [&'static str]) -> Area {
    Area { name, min_percent: 90, paths }
}

impl Area {
    fn has(&self, file: &File) -> bool {
        let below = |it: &str| file.path.strip_prefix("crates/").is_some_and(|path| is_at(path, it));
        self.paths.iter().any(|it| below(it))
    }

    /// Whether enough lines are covered. An area without measured lines fails.
    fn is_met(&self, (covered, coverable): (u64, u64)) -> bool {
        coverable > 0 && covered * 100 >= coverable * self.min_percent
    }

    fn sum(&self, files: &[File]) -> (u64, u64) {
        let own = files.iter().filter(|file| self.has(file));
        own.fold((0, 0), |(covered, coverable), file| (covered + file.covered, coverable + file.coverable))
    }
}

fn is_at(path: &str, place: &str) -> bool {
    if place.ends_with('/') { path.starts_with(place) } else { path == place }
}

fn run(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    setup::prepare()?;
    let metadata = cargo::metadata()?;
    let target = Path::new(
        metadata["target_directory"].as_str().context("`cargo metadata` names no target directory")?,
    );
    let tool = installed_tool(target)?;
    let folder = target.join("coverage");
    let passed = measure(&tool, &folder)?;
    let files = files(&report(&folder)?)?;
    print!("\n{}", table(&files));
    if !passed {
        bail!("tests failed, as listed above; the table lacks what their programs covered");
    }
    check_goals(&files)
}

/// Installs the tool into the target directory, where `cargo clean` removes it and no other
/// checkout sees it.
fn installed_tool(target: &Path) -> Result<PathBuf> {
    let home = target.join("tools").join(format!("{TOOL}-{TOOL_VERSION}"));
    let program = home.join("bin").join(TOOL);
    if !program.is_file() {
        println!("Installing {TOOL} {TOOL_VERSION}; this takes some minutes, once.");
        // Its default features upload reports and would need OpenSSL's headers.
        let arguments =
            ["install", TOOL, "--version", TOOL_VERSION, "--locked", "--no-default-features", "--root"];
        cargo::run(cargo::command(&arguments).arg(&home))?;
    }
    Ok(program)
}

/// Runs all tests, and returns whether they passed. The report is written in either case.
fn measure(tool: &Path, folder: &Path) -> Result<bool> {
    // The report of an earlier run must not be taken for this one's.
    let report = report_file(folder);
    if report.exists() {
        std::fs::remove_file(&report).context("the last report can't be removed")?;
    }
    let mut command = Command::new(tool);
    command.args(["tarpaulin", "--engine", "llvm", "--workspace", "--exclude", "xtask", "--skip-clean"]);
    for path in AREAS.iter().flat_map(|area| area.paths).filter(|path| path.ends_with("/src/")) {
        command.args(["--include-files", &format!("crates/{path}*")]);
    }
    command.args(["--no-fail-fast", "--timeout", TIMEOUT_SECONDS, "--out", "Json"]);
    let build = folder.join("build");
    share_driver(&build)?;
    command.arg("--output-dir").arg(folder).arg("--target-dir").arg(build);
    let status = command.current_dir(cargo::root()).status();
    Ok(status.with_context(|| format!("{TOOL} can't be started"))?.success())
}

/// The tests of the page look for the browser's driver in the folder that they are built in.
fn share_driver(build: &Path) -> Result<()> {
    let place = build.join("browser");
    std::fs::create_dir_all(build).context("the folder of the build can't be made")?;
    // A link of an earlier run may lead nowhere, if the checkout was moved since.
    if place.symlink_metadata().is_ok() {
        std::fs::remove_file(&place).context("the link to the browser's driver can't be renewed")?;
    }
    let driver = std::path::absolute(browser::folder()).context("the browser's driver")?;
    std::os::unix::fs::symlink(driver, place).context("the browser's driver can't be shared")
}

fn report(folder: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(report_file(folder)).context("no report was written")?;
    serde_json::from_str(&text).context("the report is not JSON")
}

fn report_file(folder: &Path) -> PathBuf {
    folder.join("tarpaulin-report.json")
}

/// A source file with the numbers of its executable and executed lines.
#[derive(Debug, PartialEq)]
struct File {
    path: String,
    covered: u64,
    coverable: u64,
}

fn files(report: &Value) -> Result<Vec<File>> {
    let listed = report["files"].as_array().context("the report lists no files")?;
    Ok(listed.iter().filter_map(file).collect())
}

fn file(value: &Value) -> Option<File> {
    let parts: Vec<&str> = value["path"].as_array()?.iter().filter_map(Value::as_str).collect();
    let path = parts.join("/");
    let from = path.rfind("crates/")?;
    let path = &path[from..];
    let is_test = path.split('/').any(is_test_file);
    let (covered, coverable) = (value["covered"].as_u64()?, value["coverable"].as_u64()?);
    let file = File { path: path.to_owned(), covered, coverable };
    (!is_test && AREAS.iter().any(|area| area.has(&file))).then_some(file)
}

fn is_test_file(part: &str) -> bool {
    part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs")
}

fn check_goals(files: &[File]) -> Result<()> {
    let short = AREAS.iter().filter(|area| !area.is_met(area.sum(files)));
    let short: Vec<String> = short.map(|area| format!("{} ({} %)", area.name, area.min_percent)).collect();
    if !short.is_empty() {
        bail!("these have fewer lines covered than they must: {}; write tests for them", short.join(", "));
    }
    Ok(())
}

fn table(files: &[File]) -> String {
    let mut text = row("", "covered", "lines", "share", "goal");
    for area in AREAS {
        text += &counted(area.name, area.sum(files), &format!("{} %", area.min_percent));
        let own = files.iter().filter(|file| area.has(file) && file.coverable > 0);
        let weak = own.filter(|file| !area.is_met((file.covered, file.coverable)));
        let line = |file: &File| counted(&format!("  {}", file.path), (file.covered, file.coverable), "");
        text.extend(weak.map(line));
    }
    text
}

fn counted(name: &str, (covered, coverable): (u64, u64), goal: &str) -> String {
    let tenths = (covered * 1000).checked_div(coverable);
    let share = tenths.map_or("none".to_owned(), |tenths| format!("{}.{} %", tenths / 10, tenths % 10));
    row(name, &covered.to_string(), &coverable.to_string(), &share, goal)
}

fn row(name: &str, covered: &str, lines: &str, share: &str, goal: &str) -> String {
    let row = format!("{name:<50} {covered:>8} {lines:>8} {share:>8} {goal:>5}");
    format!("{}\n", row.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn measured(counts: &[(&str, u64, u64)]) -> Vec<File> {
        let entry = |(path, covered, coverable): &(&str, u64, u64)| {
            let parts: Vec<&str> = std::iter::once("/").chain(path.split('/')).collect();
            json!({ "path": parts, "covered": covered, "coverable": coverable })
        };
        files(&json!({ "files": counts.iter().map(entry).collect::<Vec<_>>() })).unwrap()
    }

    #[test]
    fn only_the_sources_of_crates_that_ship_count() {
        let found = measured(&[
            ("top/crates/core/src/model/id.rs", 9, 10),
            ("top/crates/core/src/floor/tests.rs", 1, 10),
            ("top/crates/core/tests/a.rs", 1, 10),
            ("top/crates/testkit/src/lib.rs", 1, 10),
        ]);
        let id = File { path: "crates/core/src/model/id.rs".to_owned(), covered: 9, coverable: 10 };
        assert_eq!(found, [id]);
    }

    #[test]
    fn the_table_has_every_area_and_its_weak_files() {
        let found = measured(&[
            ("crates/core/src/a.rs", 99, 100),
            ("crates/core/src/b.rs", 1, 3),
            ("crates/core/src/no_code.rs", 0, 0),
            ("crates/core/src/model/lifecycle.rs", 94, 100),
        ]);
        let table = table(&found);
        let lines: Vec<&str> = table.lines().filter(|line| !line.contains("none")).collect();
        let expected = [
            "                                                    covered    lines    share  goal",
            "core                                                    194      203   95.5 %  90 %",
            "  crates/core/src/b.rs                                    1        3   33.3 %",
            "state machine                                            94      100   94.0 %  95 %",
            "  crates/core/src/model/lifecycle.rs                     94      100   94.0 %",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn each_area_must_reach_its_share() {
        let first = |area: &Area| match area.paths[0] {
            folder if folder.ends_with('/') => format!("crates/{folder}a.rs"),
            file => format!("crates/{file}"),
        };
        let paths: Vec<String> = AREAS.iter().map(first).collect();
        let mut counts: Vec<(&str, u64, u64)> = paths.iter().map(|path| (path.as_str(), 100, 100)).collect();
        assert!(check_goals(&measured(&counts)).is_ok());
        let judge = counts.last_mut().unwrap();
        judge.1 = 84;
        let error = check_goals(&measured(&counts)).unwrap_err().to_string();
        let expected = "these have fewer lines covered than they must: judge (85 %); write tests for them";
        assert_eq!(error, expected);
    }
}
