//! Why the door stays shut, as facts; what to show and which exit code or status it has is the surface's business.

use quorum_core::{
    engine::{OpenError, RunError, SayError, begin::BeginError},
    model::{error::Refusal, id::DiscussionId},
    seams::StoreError,
};

use crate::config;

/// What can go wrong between a request and its discussion.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is not acceptable; every reason at once. Nothing was spent.
    #[error("{}", .0.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Refusal>),
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// Discussions are switched off.
    #[error("discussions are switched off; set discussions = true under [features] in {0}")]
    SwitchedOff(String),
    /// Some who take part can't be asked from here.
    #[error("it can't go on here, because not everyone can be asked. {}", .0.join("; "))]
    Mute(Vec<String>),
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No discussion goes by this name.
    #[error("there is no discussion whose id begins with {0}; `ax history` lists those there are")]
    NotFound(String),
    /// Several discussions go by this name.
    #[error("{given} begins the ids of several discussions; give more of it: {}", .among.join(", "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// Some of those that begin so.
        among: Vec<String>,
    },
    /// A person's word was not taken; nothing was changed.
    #[error("{0}; nothing was changed")]
    NotSaid(SayError),
    /// Several people are awaited, and it was not said who speaks.
    #[error("{} are awaited; say who speaks with --as NAME. Nothing was changed", .0.join(" and "))]
    WhoSpeaks(Vec<String>),
    /// There is no person at the table.
    #[error("no person sits at the table of discussion {0}, so nobody can speak in it; nothing was changed")]
    NobodyToSpeak(DiscussionId),
    /// There is no last discussion.
    #[error("there are no discussions yet; `ax discuss \"…\"` starts one")]
    NoneYet,
    /// No session goes by this name.
    #[error(
        "there is no session {0}; `ax sessions` lists those there are, `ax sessions create NAME` makes one"
    )]
    NoSession(String),
    /// Several sessions go by this name.
    #[error("several sessions are named {given}; give the id of one: {}", .among.join(", "))]
    AmbiguousSession {
        /// What was given.
        given: String,
        /// Their ids.
        among: Vec<String>,
    },
    /// Another order came under this key before.
    #[error("the key {0} was used for another order; use a new key for a new order")]
    KeyReused(String),
    /// A fault of this program.
    #[error("{0}")]
    Fault(String),
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Refused(refusals) => Error::Refused(refusals),
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
            RunError::Fault(_) => Error::Fault(error.to_string()),
        }
    }
}
