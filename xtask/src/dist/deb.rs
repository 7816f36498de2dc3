//! The Debian package: the binary, manual pages, completions and licences.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use super::{Built, DOCUMENTS, output_of};
use crate::{cargo, setup};

/// Builds the package; `None` where the tool for it can't be had.
pub(super) fn package(built: &Built, to: &Path) -> Result<Option<PathBuf>> {
    if !has_tool()? {
        println!("There is no dpkg-deb, so no Debian package is made.");
        return Ok(None);
    }
    let tree = to.join("tree");
    fill(built, &tree)?;
    let file = to.join(format!("quorum_{}_{}.deb", env!("CARGO_PKG_VERSION"), architecture()));
    let mut command = Command::new("dpkg-deb");
    cargo::run(command.args(["--root-owner-group", "--build"]).arg(&tree).arg(&file))?;
    fs::remove_dir_all(tree)?;
    Ok(Some(file))
}

fn has_tool() -> Result<bool> {
    if setup::is_on_path("dpkg-deb") {
        return Ok(true);
    }
    let Some(prefix) = setup::may_install() else { return Ok(false) };
    setup::apt(prefix, &["install", "--yes", "--no-install-recommends", "dpkg"])?;
    Ok(setup::is_on_path("dpkg-deb"))
}

fn fill(built: &Built, tree: &Path) -> Result<()> {
    let files = [
        ("usr/bin/ax", fs::read(&built.binary)?),
        ("usr/share/man/man1/ax.1", output_of(built, &["man"])?),
        ("usr/share/bash-completion/completions/ax", output_of(built, &["completions", "bash"])?),
        ("usr/share/zsh/vendor-completions/_ax", output_of(built, &["completions", "zsh"])?),
        ("usr/share/fish/vendor_completions.d/ax.fish", output_of(built, &["completions", "fish"])?),
        ("DEBIAN/control", control(built).into_bytes()),
    ];
    for (name, content) in files {
        write(&tree.join(name), &content)?;
    }
    for document in DOCUMENTS {
        write(&tree.join("usr/share/doc/quorum").join(document), &fs::read(cargo::root().join(document))?)?;
    }
    make_executable(&tree.join("usr/bin/ax"))
}

fn write(file: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(file, content)?)
}

fn make_executable(file: &Path) -> Result<()> {
    #[cfg(unix)]
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

/// The architecture under Debian's name.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn control(built: &Built) -> String {
    let needs = match built.glibc {
        Some(version) => format!("Depends: libc6 (>= {version})\n"),
        None => String::new(),
    };
    format!(
        "Package: quorum\nVersion: {}\nArchitecture: {}\nMaintainer: The Quorum developers <quorum@localhost>\n\
         Section: utils\nPriority: optional\n{needs}Description: Several models discuss one question\n \
         Quorum puts a question to several language models, lets them discuss it, and returns one\n \
         considered answer with its sources, its dissent and its cost.\n",
        env!("CARGO_PKG_VERSION"),
        architecture(),
    )
}

#[cfg(test)]
mod tests {
    use super::{super::elf::Version, *};

    #[test]
    fn a_package_depends_on_the_glibc_that_its_binary_needs() {
        let built = |glibc| Built { binary: PathBuf::from("ax"), glibc };
        assert!(control(&built(Some(Version(2, 34)))).contains("\nDepends: libc6 (>= 2.34)\n"));
        assert!(!control(&built(None)).contains("Depends"));
        assert!(control(&built(None)).ends_with(".\n"));
    }
}
