//! One thing wrong with a request: a plain message, where the value came from, and what would help.

use std::{fmt, path::PathBuf};

use quorum_core::model::{
    error::{Code, Refusal},
    id::DiscussionId,
};

use crate::setup::Missing;

/// One thing wrong with a request; all of them come back at once.
///
/// The message holds on every surface. What differs between surfaces is data: a terminal words a
/// remedy as flags and commands, HTTP as fields of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The field, by its name in the request.
    pub field: String,
    /// Which kind.
    pub code: Code,
    /// What is wrong and what would be right.
    pub message: String,
    /// Whether the value is wrong by itself.
    pub fault: Fault,
    /// Where the value came from, when the sender did not write it.
    pub origin: Option<Origin>,
    /// What else would help, best first.
    pub remedies: Vec<Remedy>,
}

/// What a value fails by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Itself: no request may have it. The schema of requests says so.
    Value,
    /// The rest of the request, or what there is to ask here: another request may have it.
    Combination,
}

/// Where a value came from that the sender of a request did not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The configuration.
    Configuration {
        /// The section: `defaults`, `presets.architecture`.
        section: String,
        /// The file.
        file: PathBuf,
    },
    /// The order of a past discussion.
    Past(DiscussionId),
}

/// Something a user can do about a complaint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Seat the only available provider twice.
    SeatTwice {
        /// Which.
        provider: String,
    },
    /// Give the only available provider a second model.
    AnotherModel {
        /// Which.
        provider: String,
    },
    /// Let simulated voices answer.
    Simulate,
    /// Make a provider available.
    Provide {
        /// Which.
        provider: String,
        /// What it lacks.
        missing: Missing,
    },
    /// Keep a key outside of the configuration.
    KeepKey {
        /// The provider it is for.
        provider: String,
    },
    /// Write the first preset into the configuration.
    WritePreset {
        /// Its name.
        name: String,
        /// The configuration.
        file: PathBuf,
    },
    /// Look at the sessions there are.
    ListSessions,
}

impl Complaint {
    /// A complaint about this field.
    #[must_use]
    pub fn new(field: &str, code: Code, message: impl Into<String>) -> Self {
        let (field, message) = (field.to_owned(), message.into());
        Complaint { field, code, message, fault: Fault::Value, origin: None, remedies: Vec::new() }
    }

    /// The same about a value that another request may have.
    #[must_use]
    pub fn in_combination(self) -> Self {
        Complaint { fault: Fault::Combination, ..self }
    }

    /// The same with what would help.
    #[must_use]
    pub fn with(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        self.remedies.extend(remedies);
        self
    }
}

/// What patterns, methods and strategies refuse depends on the rest of the order.
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
            None => Ok(()),
        }
    }
}
