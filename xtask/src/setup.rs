//! Installs what the tests need besides Rust: a C compiler, two components of Rust, a database
//! server with OpenSSL, Python and curl, and a browser.

use crate::{Verb, browser, cargo};
use anyhow::{Context as _, Result, bail};
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "setup",
    arguments: "",
    summary: "Install what the tests need and this machine lacks: a C compiler, PostgreSQL, Python, a browser",
    run: |_| prepare(),
};

/// Packages for compiling the C parts of our dependencies.
const PACKAGES: [&str; 2] = ["gcc", "libc6-dev"];

/// Installs what can be installed; the error says how to get the rest.
pub(crate) fn prepare() -> Result<()> {
    require_component("fmt", "rustfmt")?;
    require_component("clippy", "clippy")?;
    match compiler(&Machine::look()) {
        Compiler::Present => {}
        Compiler::Installable { prefix } => install(prefix)?,
        Compiler::Missing => bail!("{}", missing_compiler()),
    }
    prepare_database()?;
    prepare_tools()?;
    browser::prepare()
}

/// Installs the server that the tests of the PostgreSQL store start for themselves, and the program
/// that makes its certificate.
fn prepare_database() -> Result<()> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let has_server = versions.map(|it| it.path().join("bin/initdb")).any(|it| it.exists());
    let missing = missing_for_the_database(has_server, is_on_path("openssl"));
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    let advice = format!(
        "the tests of the store need more; as root, run `apt-get install {packages}`, then run this again"
    );
    let Some(prefix) = may_install() else { bail!(advice) };
    println!("The tests of the store need more; installing {packages}.");
    apt(prefix, &["update"])?;
    let install = ["install", "--yes", "--no-install-recommends"].into_iter().chain(missing);
    apt(prefix, &install.collect::<Vec<_>>()).context(advice)
}

/// The packages that the tests of the PostgreSQL store lack.
fn missing_for_the_database(has_server: bool, has_openssl: bool) -> Vec<&'static str> {
    let all = [(has_server, "postgresql"), (has_openssl, "openssl")];
    all.into_iter().filter(|it| !it.0).map(|it| it.1).collect()
}

/// Installs the programs that commands in documents and recordings of vendors use.
fn prepare_tools() -> Result<()> {
    let has_python = cargo::succeeds(Command::new("python3").args(["-c", "import tomllib"]));
    if has_python && is_on_path("curl") {
        return Ok(());
    }
    let advice = "some tests need Python 3.11 and curl; as root, run `apt-get install python3 curl`, then \
                  run this again";
    let Some(prefix) = may_install() else { bail!(advice) };
    println!("Some tests need Python and curl; installing python3 and curl.");
    apt(prefix, &["update"])?;
    apt(prefix, &["install", "--yes", "--no-install-recommends", "python3", "curl"]).context(advice)
}

/// The prefix of `apt-get`, such as `sudo`; `None` if nothing may be installed.
pub(crate) fn may_install() -> Option<&'static [&'static str]> {
    installer(&Machine::look())
}

fn require_component(verb: &str, component: &str) -> Result<()> {
    if cargo::succeeds(&mut cargo::command(&[verb, "--version"])) {
        return Ok(());
    }
    bail!("`cargo {verb}` is missing; add it with `rustup component add {component}` and run this again")
}

fn install(prefix: &[&str]) -> Result<()> {
    println!("There is no C compiler; installing {}.", PACKAGES.join(" and "));
    apt(prefix, &["update"])?;
    let arguments: Vec<&str> =
        ["install", "--yes", "--no-install-recommends"].into_iter().chain(PACKAGES).collect();
    apt(prefix, &arguments).with_context(missing_compiler)
}

pub(crate) fn apt(prefix: &[&str], arguments: &[&str]) -> Result<()> {
    let mut words = prefix.iter().chain(&["apt-get"]).chain(arguments);
    let mut command = Command::new(words.next().context("a command has a first word")?);
    cargo::run(command.args(words).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn missing_compiler() -> String {
    format!(
        "no C compiler was found; as root, run `apt-get install {}`, then run this again",
        PACKAGES.join(" ")
    )
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Compiler {
    Present,
    Installable { prefix: &'static [&'static str] },
    Missing,
}

/// The facts about this machine that the decision depends on.
struct Machine {
    programs: Vec<&'static str>,
    is_root: bool,
}

impl Machine {
    fn look() -> Self {
        let programs = ["cc", "apt-get", "sudo"].into_iter().filter(|name| is_on_path(name)).collect();
        Self { programs, is_root: is_root() }
    }

    fn has(&self, program: &str) -> bool {
        self.programs.contains(&program)
    }
}

fn compiler(machine: &Machine) -> Compiler {
    match installer(machine) {
        _ if machine.has("cc") => Compiler::Present,
        Some(prefix) => Compiler::Installable { prefix },
        None => Compiler::Missing,
    }
}

fn installer(machine: &Machine) -> Option<&'static [&'static str]> {
    match (machine.has("apt-get"), machine.is_root, machine.has("sudo")) {
        (true, true, _) => Some(&[]),
        (true, false, true) => Some(&["sudo"]),
        (true, false, false) | (false, _, _) => None,
    }
}

pub(crate) fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(programs: &[&'static str], is_root: bool, expected: Compiler) {
        assert_eq!(compiler(&Machine { programs: programs.to_vec(), is_root }), expected);
    }

    #[test]
    fn a_compiler_is_installed_only_where_that_is_allowed() {
        let as_root = true;
        let as_user = false;
        check(&["cc"], as_user, Compiler::Present);
        check(&["apt-get"], as_root, Compiler::Installable { prefix: &[] });
        check(&["apt-get", "sudo"], as_user, Compiler::Installable { prefix: &["sudo"] });
        check(&["apt-get"], as_user, Compiler::Missing);
        check(&["sudo"], as_root, Compiler::Missing);
    }

    #[test]
    fn the_tests_of_the_store_need_a_server_and_openssl() {
        let (present, absent) = (true, false);
        assert_eq!(missing_for_the_database(present, present), [""; 0]);
        assert_eq!(missing_for_the_database(present, absent), ["openssl"]);
        assert_eq!(missing_for_the_database(absent, absent), ["postgresql", "openssl"]);
    }

    #[test]
    fn a_missing_compiler_is_reported_with_its_packages() {
        assert!(missing_compiler().contains("apt-get install gcc libc6-dev"));
    }
}
