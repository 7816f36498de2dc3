//! Measures the line coverage of core and patterns by the tests of the whole workspace.
//!
//! Uses cargo-tarpaulin with the compiler's own instrumentation: it reads the raw profiles itself,
//! so no matching LLVM tools are needed, and it includes our binary when a test runs it.

use crate::{Verb, cargo, refuse_arguments};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "coverage",
    arguments: "",
    summary: "Measure the line coverage of core and patterns; 90 % is the minimum",
    run,
};

/// Folders under `crates/` that must reach the minimum.
const MEASURED: &[&str] = &["core", "patterns"];
const MIN_PERCENT: u64 = 90;
const TOOL: &str = "cargo-tarpaulin";
const TOOL_VERSION: &str = "0.37.5";
/// Timeout for the output of a test program; instrumented code is slow.
const TIMEOUT_SECONDS: &str = "900";

fn run(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    let metadata = cargo::metadata()?;
    let target = Path::new(
        metadata["target_directory"].as_str().context("`cargo metadata` names no target directory")?,
    );
    let tool = installed_tool(target)?;
    let report = measure(&tool, &target.join("coverage"))?;
    conclude(&files(&report)?)
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

fn measure(tool: &Path, folder: &Path) -> Result<Value> {
    let report = folder.join("tarpaulin-report.json");
    // The report of an earlier run must not be taken for this one's.
    if report.exists() {
        std::fs::remove_file(&report).context("the last report can't be removed")?;
    }
    let mut command = Command::new(tool);
    command.args(["tarpaulin", "--engine", "llvm", "--workspace", "--exclude", "xtask", "--skip-clean"]);
    for folder in MEASURED {
        command.args(["--include-files", &format!("crates/{folder}/src/*")]);
    }
    command.args(["--timeout", TIMEOUT_SECONDS, "--out", "Json"]);
    command.arg("--output-dir").arg(folder).arg("--target-dir").arg(folder.join("build"));
    cargo::run(command.current_dir(cargo::root()))?;
    let text = std::fs::read_to_string(&report).context("the report was not written")?;
    serde_json::from_str(&text).context("the report is not JSON")
}

/// A source file with the numbers of its executable and executed lines.
#[derive(Debug, PartialEq)]
struct File {
    folder: &'static str,
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
    let folder = MEASURED.iter().find(|folder| path.starts_with(&format!("crates/{folder}/src/")))?;
    let is_test = parts.iter().any(|part| *part == "tests.rs" || *part == "tests");
    let (covered, coverable) = (value["covered"].as_u64()?, value["coverable"].as_u64()?);
    (!is_test).then(|| File { folder, path: path.to_owned(), covered, coverable })
}

fn conclude(files: &[File]) -> Result<()> {
    print!("\n{}", table(files));
    let short: Vec<&str> = MEASURED.iter().copied().filter(|folder| !is_enough(sum(files, folder))).collect();
    if !short.is_empty() {
        bail!(
            "less than {MIN_PERCENT} % of the lines are covered in {}; write tests for them",
            short.join(" and ")
        );
    }
    Ok(())
}

fn table(files: &[File]) -> String {
    let mut text = row("", "covered", "lines", "share");
    for folder in MEASURED {
        text += &counted(folder, sum(files, folder));
        let own = files.iter().filter(|file| file.folder == *folder && file.coverable > 0);
        let weak = own.filter(|file| !is_enough((file.covered, file.coverable)));
        text.extend(weak.map(|file| counted(&format!("  {}", file.path), (file.covered, file.coverable))));
    }
    text
}

fn counted(name: &str, (covered, coverable): (u64, u64)) -> String {
    let tenths = (covered * 1000).checked_div(coverable);
    let share =
        tenths.map_or("nothing measured".to_owned(), |tenths| format!("{}.{} %", tenths / 10, tenths % 10));
    row(name, &covered.to_string(), &coverable.to_string(), &share)
}

fn row(name: &str, covered: &str, lines: &str, share: &str) -> String {
    format!("{name:<44} {covered:>8} {lines:>8}  {share:>7}\n")
}

fn sum(files: &[File], folder: &str) -> (u64, u64) {
    let own = files.iter().filter(|file| file.folder == folder);
    own.fold((0, 0), |(covered, coverable), file| (covered + file.covered, coverable + file.coverable))
}

/// A crate without measured lines fails.
fn is_enough((covered, coverable): (u64, u64)) -> bool {
    coverable > 0 && covered * 100 >= coverable * MIN_PERCENT
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
    fn only_the_sources_of_the_measured_crates_count() {
        let found = measured(&[
            ("top/crates/core/src/model/id.rs", 9, 10),
            ("top/crates/core/src/floor/tests.rs", 1, 10),
            ("top/crates/core/tests/a.rs", 1, 10),
            ("top/crates/store/src/lib.rs", 1, 10),
        ]);
        let id = File {
            folder: "core",
            path: "crates/core/src/model/id.rs".to_owned(),
            covered: 9,
            coverable: 10,
        };
        assert_eq!(found, [id]);
    }

    #[test]
    fn the_table_has_the_crates_and_their_weak_files() {
        let found = measured(&[
            ("crates/core/src/a.rs", 99, 100),
            ("crates/core/src/b.rs", 1, 3),
            ("crates/core/src/no_code.rs", 0, 0),
        ]);
        let expected = "
                                              covered    lines    share
core                                              100      103   97.0 %
  crates/core/src/b.rs                              1        3   33.3 %
patterns                                            0        0  nothing measured
";
        assert_eq!(format!("\n{}", table(&found)), expected);
    }

    #[test]
    fn each_crate_must_reach_its_share() {
        let enough = measured(&[("crates/core/src/a.rs", 90, 100), ("crates/patterns/src/a.rs", 9, 10)]);
        assert!(conclude(&enough).is_ok());
        let short = measured(&[("crates/core/src/a.rs", 100, 100), ("crates/patterns/src/a.rs", 89, 100)]);
        let error = conclude(&short).unwrap_err().to_string();
        assert_eq!(error, "less than 90 % of the lines are covered in patterns; write tests for them");
    }
}
