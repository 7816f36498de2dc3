//! Runs cargo and reads the workspace's metadata.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    // Read at run time, so that a moved checkout still finds itself.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    match manifest.as_deref().and_then(Path::parent) {
        Some(root) => root.to_owned(),
        None => PathBuf::from("."),
    }
}

/// A command for the cargo that started this program, in the workspace's root.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    command
}

/// Prints the command and runs it with inherited output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    println!("$ {shown}");
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Builds every target as the tests need it, so that each stage of a test run finds its programs
/// compiled: a build of fewer packages would choose other features and compile most of them again.
pub(crate) fn build_everything() -> Result<()> {
    run(&mut command(&["build", "--workspace", "--all-targets"]))
}

/// Where a build in the profile of this name, `debug` or `release`, puts the program.
pub(crate) fn program(profile: &str, name: &str) -> Result<PathBuf> {
    let metadata = metadata()?;
    let target = metadata["target_directory"].as_str().context("cargo names no target directory")?;
    Ok(PathBuf::from(target).join(profile).join(name))
}

/// Whether the command can be run and succeeds; its output is discarded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The workspace's own packages with their direct dependencies.
pub(crate) fn metadata() -> Result<Value> {
    ask(&["--no-deps"])
}

/// The workspace's own packages and everything they depend on, on this platform.
pub(crate) fn metadata_with_dependencies() -> Result<Value> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("`rustc -vV` could not be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    ask(&["--locked", "--filter-platform", host.context("`rustc -vV` names no host")?])
}

fn ask(arguments: &[&str]) -> Result<Value> {
    let output = command(&["metadata", "--format-version", "1"])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .context("`cargo metadata` could not be started")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed ({}); its message is above", output.status);
    }
    serde_json::from_slice(&output.stdout).context("the answer of `cargo metadata` is not JSON")
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_without_the_path_of_its_program() {
        assert_eq!(shown(Command::new("/usr/bin/cargo").args(["fmt", "--all"])), "cargo fmt --all");
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("xtask/Cargo.toml").is_file());
    }
}
