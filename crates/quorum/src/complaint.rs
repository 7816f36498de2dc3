//! A problem with a request: a plain message, the origin of the value, and possible remedies.

use std::{fmt, path::PathBuf};

use quorum_core::model::{
    error::{Code, Refusal},
    id::DiscussionId,
};

use crate::setup::Missing;

/// One problem with a request. All problems of a request are reported together.
///
/// The message is the same on every surface. What differs between surfaces is data: a terminal
/// words a remedy as flags and commands, HTTP as fields of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The field, by its name in the request.
    pub field: String,
    /// The kind of problem.
    pub code: Code,
    /// What is wrong and what would be accepted.
    pub message: String,
    /// Whether the value is wrong by itself or only in combination.
    pub fault: Fault,
    /// Where the value came from, if the sender did not write it.
    pub origin: Option<Origin>,
    /// Possible remedies, best first.
    pub remedies: Vec<Remedy>,
}

/// Whether a value is wrong by itself or only in combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No request may have this value; the request schema rules it out.
    Value,
    /// The value clashes with the rest of the request or with what is available here. Another
    /// request may have it.
    Combination,
}

/// The origin of a value that the sender of a request did not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration.
    Configuration {
        /// The section, such as `defaults` or `presets.architecture`.
        section: String,
        /// The file.
        file: PathBuf,
    },
    /// The request of a past discussion.
    Past(DiscussionId),
    /// The default panel, for a request that names no participants.
    DefaultPanel,
    /// A file of an agent.
    Profile {
        /// The file.
        file: PathBuf,
    },
}

/// Something a user can do about a complaint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Seat the only available provider twice.
    SeatTwice {
        /// The provider.
        provider: String,
    },
    /// Give the only available provider a second model.
    AnotherModel {
        /// The provider.
        provider: String,
    },
    /// Name several models of the only provider that was named, or no participant at all.
    NameModels {
        /// The provider.
        provider: String,
        /// Two of its models, if the catalogue has two.
        models: Vec<String>,
    },
    /// Let simulated voices answer.
    Simulate,
    /// Make a provider available.
    Provide {
        /// The provider.
        provider: String,
        /// What it lacks.
        missing: Missing,
    },
    /// Store a key outside the configuration.
    KeepKey {
        /// The provider the key is for.
        provider: String,
    },
    /// Write a first preset into the configuration.
    WritePreset {
        /// The preset's name.
        name: String,
        /// The configuration file.
        file: PathBuf,
    },
    /// List the agents there are, or register one.
    FindAgents {
        /// The folders that were searched.
        searched: Vec<PathBuf>,
    },
    /// List the existing sessions.
    ListSessions,
    /// Name the whole panel, which may include agents and people, in place of providers.
    NameWholePanel,
}

impl Complaint {
    /// Creates a complaint about this field.
    #[must_use]
    pub fn new(field: &str, code: Code, message: impl Into<String>) -> Self {
        let (field, message) = (field.to_owned(), message.into());
        Complaint { field, code, message, fault: Fault::Value, origin: None, remedies: Vec::new() }
    }

    /// Marks the value as one that another request may have.
    #[must_use]
    pub fn in_combination(self) -> Self {
        Complaint { fault: Fault::Combination, ..self }
    }

    /// Adds remedies.
    #[must_use]
    pub fn with(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        self.remedies.extend(remedies);
        self
    }
}

/// A refusal by a pattern, method or strategy depends on the rest of the request.
impl From<Refusal> for Complaint {
    fn from(refusal: Refusal) -> Self {
        let Refusal { field, code, message } = refusal;
        Complaint::new(&field, code, message).in_combination()
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)?;
        match &self.origin {
            Some(Origin::Configuration { section, .. }) => {
                write!(f, " (from [{section}] in the configuration)")
            }
            Some(Origin::Past(id)) => write!(f, " (from discussion {id})"),
            // The message names the file; the folder is for surfaces that may show paths.
            Some(Origin::Profile { .. } | Origin::DefaultPanel) | None => Ok(()),
        }
    }
}
