//! Nothing of one machine stays behind in the files: no paths that exist only there, no host its packages came from.

use super::Finding;
use super::tree::Tree;
use anyhow::Result;

/// Written in pieces, or this file would be the first finding.
const PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tm", "p/t-")];

/// One of these names is a plain file name as well, so it counts only where it stands as a host or a word of its own.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("//docs", ".rs"),
    concat!("docs", ".rs/"),
    concat!(" docs", ".rs"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npm", "js."),
    concat!("yarn", "pkg.com"),
    concat!("ruby", "gems.org"),
    concat!("proxy.", "golang.org"),
];

/// Written by cargo, which names the registry in every entry.
const LOCK: &str = "Cargo.lock";

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let lines = tree
        .files
        .iter()
        .flat_map(|file| file.text.lines().enumerate().map(move |(at, line)| (file, at + 1, line)));
    let found =
        lines.filter_map(|(file, at, line)| Some(Finding::error(&file.path, at, leak(&file.path, line)?)));
    Ok(found.collect())
}

fn leak(path: &str, line: &str) -> Option<String> {
    if let Some(found) = PATHS.iter().find(|found| has_path(line, found)) {
        return Some(format!("`{found}` is a path of one machine; name the place in general terms"));
    }
    let found = HOSTS.iter().find(|host| path != LOCK && line.contains(**host))?;
    Some(format!("`{}` is a package registry; leave it out", found.trim()))
}

/// Absolute only: what follows a name is the middle of another path.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "_-.~}".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn paths_of_one_machine_are_found() {
        let home = PATHS[1];
        let text = format!("fine\nsee {home}notes\n");
        let found =
            format!("a.md:2: error: `{home}` is a path of one machine; name the place in general terms");
        expect(check, &[("a.md", &text)], &[&found]);
        for start in ["", "(", "\"", "file://", "="] {
            assert!(PATHS.iter().all(|path| leak("a.md", &format!("{start}{path}x")).is_some()), "{start}");
        }
    }

    #[test]
    fn the_middle_of_another_path_is_not_meant() {
        for start in ["docs", "example.org", "~", "${HOME}", "a_"] {
            assert!(PATHS.iter().all(|path| leak("a.md", &format!("{start}{path}x")).is_none()), "{start}");
        }
    }

    #[test]
    fn registries_are_found_but_not_in_the_lock_file() {
        let host = HOSTS[0];
        let text = format!("https://{host}/x\n");
        let found = format!("a.md:1: error: `{host}` is a package registry; leave it out");
        expect(check, &[("a.md", &text), (LOCK, &text)], &[&found]);
        assert!(HOSTS.iter().all(|host| leak("a.md", &format!("see{host}x")).is_some()));
    }

    #[test]
    fn a_file_may_have_the_name_of_a_registry() {
        let name = concat!("docs", ".rs");
        assert_eq!(leak("a.md", &format!("xtask/src/tidy/{name} and `{name}`")), None);
        assert!(leak("a.md", &format!("published on {name}.")).is_some());
    }
}
