//! Makes what people install: the binary for Linux as an archive and as a Debian package, with
//! checksums.

mod deb;
mod elf;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::{Verb, cargo, setup};

pub(crate) const VERB: Verb = Verb {
    name: "dist",
    arguments: "[--binary FILE]",
    summary: "Make the Linux binary, a Debian package and checksums; --binary packs a ready one",
    run,
};

/// The target whose binaries run on any Linux.
const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// Documents that go with the binary.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// A finished binary and what it needs.
struct Built {
    binary: PathBuf,
    /// The oldest glibc it runs with; `None` if it needs none.
    glibc: Option<elf::Version>,
}

fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let binary = match words.as_slice() {
        [] => build(has_static_target())?,
        ["--binary", file] => PathBuf::from(file),
        _ => bail!("unknown arguments `{}`; only --binary FILE is accepted", words.join(" ")),
    };
    let glibc = elf::oldest_glibc(
        &fs::read(&binary).with_context(|| format!("{} can't be read", binary.display()))?,
    )?;
    let built = Built { binary, glibc };
    let to = cargo::root().join("target/packages");
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    fs::create_dir_all(&to)?;
    let mut made = vec![archive(&built, &to)?];
    made.extend(deb::package(&built, &to)?);
    sum(&made, &to)?;
    report(&built, &made);
    Ok(())
}

/// Whether a binary without any library of the system can be built here.
fn has_static_target() -> bool {
    let listed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let is_installed =
        listed.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).lines().any(|line| line == STATIC_TARGET));
    // SQLite and ring are partly written in C.
    is_installed && setup::is_on_path("musl-gcc")
}

fn build(is_static: bool) -> Result<PathBuf> {
    let mut command = cargo::command(&[
        "build",
        "--locked",
        "--profile",
        "dist",
        "--package",
        "quorum-ax",
        "--features",
        "otel",
    ]);
    let folder = match is_static {
        true => {
            command.args(["--target", STATIC_TARGET]);
            format!("{STATIC_TARGET}/dist")
        }
        false => "dist".to_owned(),
    };
    cargo::run(&mut command)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| cargo::root().join("target"), PathBuf::from);
    Ok(target.join(folder).join("ax"))
}

/// `ax-0.1.0-x86_64-linux-musl`.
fn name(built: &Built) -> String {
    let libc = if built.glibc.is_some() { "gnu" } else { "musl" };
    format!("ax-{}-{}-linux-{libc}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
}

/// What `ax` says about itself: manual pages and completions.
fn output_of(built: &Built, arguments: &[&str]) -> Result<Vec<u8>> {
    let said = Command::new(&built.binary).args(arguments).output()?;
    if !said.status.success() {
        bail!("`ax {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&said.stderr));
    }
    Ok(said.stdout)
}

/// A folder with the binary and its documents, packed.
fn archive(built: &Built, to: &Path) -> Result<PathBuf> {
    let name = name(built);
    let folder = to.join(&name);
    fs::create_dir_all(&folder)?;
    fs::copy(&built.binary, folder.join("ax"))?;
    for document in DOCUMENTS {
        fs::copy(cargo::root().join(document), folder.join(document))?;
    }
    fs::write(folder.join("ax.1"), output_of(built, &["man"])?)?;
    for shell in ["bash", "zsh", "fish"] {
        fs::write(folder.join(format!("ax.{shell}")), output_of(built, &["completions", shell])?)?;
    }
    let file = to.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--owner=0", "--group=0", "--file"])
        .arg(&file)
        .arg("--directory")
        .arg(to)
        .arg(&name);
    cargo::run(&mut tar)?;
    fs::remove_dir_all(folder)?;
    Ok(file)
}

/// `SHA256SUMS`, as `sha256sum --check` reads it.
fn sum(made: &[PathBuf], to: &Path) -> Result<()> {
    let names = made.iter().filter_map(|it| it.file_name());
    let sums =
        Command::new("sha256sum").args(names).current_dir(to).output().context("sha256sum is missing")?;
    if !sums.status.success() {
        bail!("sha256sum failed: {}", String::from_utf8_lossy(&sums.stderr));
    }
    Ok(fs::write(to.join("SHA256SUMS"), sums.stdout)?)
}

fn report(built: &Built, made: &[PathBuf]) {
    match built.glibc {
        Some(version) => println!("\nThe binary needs glibc {version} or newer."),
        None => println!("\nThe binary needs no library of the system."),
    }
    for file in made {
        let size = fs::metadata(file).map_or(0, |it| it.len());
        println!("{}  {:.1} MB", file.display(), size as f64 / 1e6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_after_what_it_needs() {
        let built = |glibc| Built { binary: PathBuf::from("ax"), glibc };
        let version = env!("CARGO_PKG_VERSION");
        let arch = std::env::consts::ARCH;
        assert_eq!(name(&built(None)), format!("ax-{version}-{arch}-linux-musl"));
        assert_eq!(name(&built(Some(elf::Version(2, 34)))), format!("ax-{version}-{arch}-linux-gnu"));
    }
}
