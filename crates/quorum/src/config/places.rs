//! Where things are: configuration, data, state and cache, each in its own place.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use super::Error;

/// Where things are, whether they exist or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The configuration.
    pub file: PathBuf,
    /// Whether the user named the file, so that it has to be there.
    pub must_exist: bool,
    /// Discussions.
    pub data_dir: PathBuf,
    /// Logs of detached runs.
    pub state_dir: PathBuf,
    /// What can be made again.
    pub cache_dir: PathBuf,
}

impl Places {
    /// As `AX_CONFIG` and `AX_DATA_DIR` say, else as XDG says. Without a home, what is left goes to the data.
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
