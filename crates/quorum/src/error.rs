//! Errors of requests and discussions, as facts. Each surface words them for its own users and
//! decides their exit code or status.

use std::path::PathBuf;

use quorum_core::{
    engine::{OpenError, RunError, SayError, begin::BeginError},
    model::{account::CapReached, error::StateInvalid, id::DiscussionId},
    seams::StoreError,
};

use crate::{Complaint, config, setup::Missing, text::count};

/// A discussion that may be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub id: DiscussionId,
    /// Its topic.
    pub topic: String,
}

fn ids(candidates: &[Candidate], more: usize) -> String {
    let ids: Vec<String> = candidates.iter().map(|it| it.id.to_string()).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", ids.join(", "))
}

/// An error between a request and its discussion.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is not acceptable, for all of these reasons. Nothing was spent.
    #[error("{}", .0.iter().map(Complaint::to_string).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Complaint>),
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The directory for discussions can't be created.
    #[error("discussions can't be stored in {}: {reason}", .directory.display())]
    DataDirectory {
        /// The directory.
        directory: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The builder was given no voices.
    #[error("no voices were given; provide some, or choose simulated ones")]
    NoVoices,
    /// Discussions are switched off in the configuration.
    #[error("discussions are switched off in the configuration")]
    SwitchedOff {
        /// The configuration file that switches them off.
        file: PathBuf,
    },
    /// Some participants are not available here.
    #[error("it can't continue here, because some participants are not available. {}", missing_voice(.0))]
    MissingVoices(Vec<MissingVoice>),
    /// A spending cap of the account has no room for it; nothing was changed.
    #[error("{0}")]
    SpendingCap(Box<CapReached>),
    /// The items the program registered do not fit together.
    #[error(transparent)]
    Registry(#[from] quorum_core::registry::check::RegistryError),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No discussion has an id with this prefix.
    #[error("there is no discussion whose id begins with {0}")]
    NotFound(String),
    /// There are fewer discussions than that.
    #[error("there {} only {}, so there is no {given}", if *.all == 1 { "is" } else { "are" }, count(*.all as u64, "discussion"))]
    TooFarBack {
        /// What was given: `last~99`.
        given: String,
        /// How many discussions there are.
        all: usize,
    },
    /// Several discussions have an id with this prefix.
    #[error("several ids begin with {given}; give more of it: {}", ids(.among, *.more))]
    Ambiguous {
        /// The given prefix.
        given: String,
        /// Some of the matching discussions, newest first.
        among: Vec<Candidate>,
        /// How many others match.
        more: usize,
    },
    /// A person's turn was refused; nothing was changed.
    #[error("{0}; nothing was changed")]
    NotSaid(SayError),
    /// Several people are awaited, and the request does not name the speaker.
    #[error("{} are awaited, and no speaker was named; nothing was changed", .0.join(" and "))]
    WhoSpeaks(Vec<String>),
    /// No person takes part in the discussion.
    #[error("discussion {0} has no person on its panel; nothing was changed")]
    NobodyToSpeak(DiscussionId),
    /// There are no discussions, so there is no last one.
    #[error("there are no discussions yet")]
    NoneYet,
    /// No session has this name or id.
    #[error("there is no session {0}")]
    NoSession(String),
    /// Several sessions have this name.
    #[error("several sessions are named {given}; give the id of one: {}", .among.join(", "))]
    AmbiguousSession {
        /// The given name.
        given: String,
        /// The matching ids.
        among: Vec<String>,
    },
    /// The discussion is not over yet; nothing was recorded.
    #[error("the discussion is not over yet: it is {}; nothing was recorded", .0.from)]
    NotOver(StateInvalid),
    /// The idempotency key was used before for a different request.
    #[error("the key {0} was used for another order; use a new key for a new order")]
    KeyReused(String),
    /// A bug in this program.
    #[error("{0}")]
    Fault(String),
}

impl Error {
    /// An error with a single complaint about a request.
    pub(crate) fn refused(complaint: impl Into<Complaint>) -> Self {
        Error::Refused(vec![complaint.into()])
    }
}

/// A participant that is not available here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVoice {
    /// Its name at the table.
    pub participant: String,
    /// Its provider.
    pub provider: String,
    /// The part that the provider lacks here; `None` if the provider is unknown.
    pub missing: Option<Missing>,
}

fn missing_voice(who: &[MissingVoice]) -> String {
    who.iter().map(MissingVoice::to_string).collect::<Vec<_>>().join("; ")
}

impl std::fmt::Display for MissingVoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.missing {
            Some(missing) => write!(f, "{}: {missing}", self.participant),
            None => write!(f, "{}: there is no such provider here", self.participant),
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Refused(refusals) => {
                Error::Refused(refusals.into_iter().map(Complaint::from).collect())
            }
            OpenError::SpendingCap(reached) => Error::SpendingCap(reached),
            OpenError::Store(error) => Error::Store(error),
        }
    }
}

impl From<BeginError> for Error {
    fn from(error: BeginError) -> Self {
        match error {
            BeginError::Open(error) => error.into(),
            BeginError::Run(error) => error.into(),
        }
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => Error::Store(error),
            RunError::SpendingCap(reached) => Error::SpendingCap(reached),
            RunError::Fault(_) => Error::Fault(error.to_string()),
        }
    }
}

impl From<SayError> for Error {
    fn from(error: SayError) -> Self {
        match error {
            SayError::Store(error) => Error::Store(error),
            SayError::Length { .. } | SayError::NoSeat { .. } | SayError::NotTheirs { .. } => {
                Error::NotSaid(error)
            }
        }
    }
}
