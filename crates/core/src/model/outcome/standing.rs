//! The kind of a result: a plain answer, or one that was voted on, with the result of the vote.

use serde::{Deserialize, Serialize};

/// The kind of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// An answer that was not voted on.
    #[default]
    Answered,
    /// The panel adopted the answer, by votes or by agreement.
    Adopted,
    /// The panel voted on the text and rejected it.
    NotAdopted,
    /// Two or more options have the same support.
    Tie,
    /// The panel was to agree and didn't.
    NoConsensus,
}

impl ResultKind {
    /// Whether the text of the result is the panel's answer.
    #[must_use]
    pub fn is_answer(self) -> bool {
        match self {
            ResultKind::Answered | ResultKind::Adopted => true,
            ResultKind::NotAdopted | ResultKind::Tie | ResultKind::NoConsensus => false,
        }
    }
}

/// How far the panel supports a decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The kind of result.
    pub kind: ResultKind,
    /// How many support it, where they were asked.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub in_favour: Option<u32>,
    /// How many were asked, including those whose votes couldn't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
}

impl Standing {
    /// A result of this kind with this many votes of all that were asked for.
    #[must_use]
    pub fn voted(kind: ResultKind, in_favour: u32, of: u32) -> Self {
        Standing { kind, in_favour: Some(in_favour), of: Some(of) }
    }

    /// A result of this kind without figures.
    #[must_use]
    pub fn plain(kind: ResultKind) -> Self {
        Standing { kind, ..Standing::default() }
    }

    pub(crate) fn is_plain_answer(&self) -> bool {
        *self == Standing::default()
    }
}

/// What a result is, as results state it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingReport {
    /// The kind and the votes.
    #[serde(flatten)]
    pub standing: Standing,
    /// Whether less went into it than was meant to.
    pub degraded: bool,
    /// Whether the voices were simulated.
    pub simulated: bool,
}
