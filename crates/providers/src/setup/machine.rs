//! The machine's variables, programs and open ports, behind a seam so that tests can supply their
//! own.

use std::{
    env,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::{setup::served, source::Endpoint};

/// Timeout for connecting to a local port.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(50);

/// Access to the machine.
pub struct Machine<'a> {
    /// The value of a variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The path of a program.
    pub program: &'a dyn Fn(&str) -> Option<PathBuf>,
    /// Whether a server listens there.
    pub listens: &'a dyn Fn(SocketAddr) -> bool,
    /// The models that a server on the user's own machine lists.
    pub models: &'a dyn Fn(&Arc<Endpoint>) -> Vec<String>,
}

impl Machine<'static> {
    /// This machine.
    #[must_use]
    pub fn this() -> Self {
        let models = &served::models;
        Machine { variable: &|name| env::var(name).ok(), program: &program, listens: &listens, models }
    }

    /// One without variables, programs and servers.
    #[must_use]
    pub fn bare() -> Self {
        Machine { variable: &|_| None, program: &|_| None, listens: &|_| false, models: &|_| Vec::new() }
    }
}

fn listens(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok()
}

/// The first program of this name in `PATH`, as a shell would find it.
fn program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|it| it.is_absolute() && is_program(it));
    }
    // An empty or relative entry means the current directory; programs there are not started.
    let folders = env::var_os("PATH").into_iter().flat_map(|it| env::split_paths(&it).collect::<Vec<_>>());
    folders.filter(|it| it.is_absolute()).map(|folder| folder.join(name)).find(|it| is_program(it))
}

fn is_program(path: &Path) -> bool {
    let Ok(file) = path.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    file.is_file() && may_run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_place() {
        let shell = program("sh").unwrap();
        assert!(shell.is_absolute());
        assert_eq!(program(shell.to_str().unwrap()), Some(shell));
        assert_eq!(program("no-such-program-anywhere"), None);
        assert_eq!((program("/"), program("./sh")), (None, None));
    }
}
