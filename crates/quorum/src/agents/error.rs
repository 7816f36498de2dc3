//! Errors in profiles, abilities and names of agents.

use std::path::{Path, PathBuf};

/// A problem with an agent or its files. The message names no folder; [`AgentError::file`] and
/// [`AgentError::searched`] do, for surfaces that may show paths of this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// The written name can't be an agent's.
    #[error("{written} is not an agent's id; it has lower-case letters, digits and hyphens, at most 50")]
    NotAnId {
        /// The name, shortened.
        written: String,
    },
    /// No folder has this agent.
    #[error("there is no agent named {id}{}", hint(nearest.as_deref(), meant.as_deref()))]
    Unknown {
        /// The id.
        id: String,
        /// The most similar id.
        nearest: Option<String>,
        /// A file that was probably meant, and why it isn't this agent.
        meant: Option<String>,
        /// The folders that were searched.
        searched: Vec<PathBuf>,
    },
    /// The profile is switched off.
    #[error("the agent {id} is switched off: its profile says enabled: false")]
    Disabled {
        /// The id.
        id: String,
        /// The profile.
        file: PathBuf,
    },
    /// Two files of a folder have the same id.
    #[error("two files have the id {id}: {} and {}", file_name(files.0.as_path()), file_name(files.1.as_path()))]
    Twice {
        /// The id.
        id: String,
        /// The files.
        files: Box<(PathBuf, PathBuf)>,
    },
    /// The file is not what it should be.
    #[error("{}{}: {message}", file_name(file), line.map(|it| format!(":{it}")).unwrap_or_default())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The line, if it is known.
        line: Option<u64>,
        /// What is wrong.
        message: String,
    },
    /// The file can't be read or written.
    #[error("{}: {message}", file_name(file))]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        message: String,
    },
    /// The agent exists already.
    #[error("an agent or ability named {id} already exists, with different content")]
    Exists {
        /// The id.
        id: String,
        /// Its file.
        file: PathBuf,
    },
    /// There is no folder in which agents can be registered.
    #[error("there is no configuration folder in which agents could be kept")]
    NoFolder,
}

impl AgentError {
    /// The file that it is about.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            AgentError::Disabled { file, .. }
            | AgentError::Invalid { file, .. }
            | AgentError::File { file, .. }
            | AgentError::Exists { file, .. } => Some(file),
            AgentError::Twice { files, .. } => Some(&files.0),
            AgentError::NotAnId { .. } | AgentError::Unknown { .. } | AgentError::NoFolder => None,
        }
    }

    /// The folders that were searched without success.
    #[must_use]
    pub fn searched(&self) -> &[PathBuf] {
        match self {
            AgentError::Unknown { searched, .. } => searched,
            _ => &[],
        }
    }
}

fn hint(nearest: Option<&str>, meant: Option<&str>) -> String {
    match (meant, nearest) {
        (Some(meant), _) => format!("; {meant}"),
        (None, Some(nearest)) => format!("; did you mean {nearest}?"),
        (None, None) => String::new(),
    }
}

/// The name of a file without its folder.
pub(super) fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}
