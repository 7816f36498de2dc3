//! Paths of configuration, data, state and cache.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use super::Error;

/// Paths, whether or not they exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The configuration file.
    pub file: PathBuf,
    /// Whether the user named the file, so that it must exist.
    pub must_exist: bool,
    /// The directory for discussions.
    pub data_dir: PathBuf,
    /// The directory for logs of detached runs.
    pub state_dir: PathBuf,
    /// The directory for data that can be regenerated.
    pub cache_dir: PathBuf,
}

impl Places {
    /// Finds the paths from `AX_CONFIG` and `AX_DATA_DIR`, or else from XDG. Without a home
    /// directory, the rest goes into the data directory.
    pub fn find() -> Result<Places, Error> {
        let named = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let base = etcetera::choose_base_strategy();
        let places = base.as_ref().map_err(|_| Error::NoHome);
        let data_dir = match named("AX_DATA_DIR") {
            Some(directory) => directory,
            None => places.clone()?.data_dir().join("quorum"),
        };
        let (file, must_exist) = match named("AX_CONFIG") {
            Some(file) => (file, true),
            None => (places.clone()?.config_dir().join("quorum").join("config.toml"), false),
        };
        let state = places.as_ref().ok().and_then(|it| it.state_dir()).map(|it| it.join("quorum"));
        let cache = places.as_ref().ok().map(|it| it.cache_dir().join("quorum"));
        Ok(Places {
            file,
            must_exist,
            state_dir: state.unwrap_or_else(|| data_dir.join("state")),
            cache_dir: cache.unwrap_or_else(|| data_dir.join("cache")),
            data_dir,
        })
    }
}

/// The database that `AX_DATABASE_URL` names. It may contain a password.
pub(super) fn database_url() -> Option<String> {
    std::env::var("AX_DATABASE_URL").ok().filter(|it| !it.is_empty())
}
