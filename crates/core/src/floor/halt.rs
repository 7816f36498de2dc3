//! Why a pattern must leave. A pattern passes this on with `?` and never looks inside.

use crate::record::failure::Failure;

/// An order to return now, not an error of the pattern. Only the engine reads it.
#[derive(Debug)]
pub struct Halt(pub(crate) Why);

#[derive(Debug)]
pub(crate) enum Why {
    /// Nothing more can happen until a person resumes it; everything needed is in the record.
    Suspended,
    /// A person has to speak or decide, which the record says, or this run has had its share of
    /// turns. The lifecycle stays the same.
    Awaiting,
    /// The pause was withdrawn, or superseded by a stop, before it took effect: go on from the
    /// record.
    PauseCancelled,
    /// This process gives the discussion up; another one continues from the record. The lifecycle
    /// stays the same.
    Left,
    /// Stop deliberating and conclude with what has been said; the reason is a fact in the record.
    WindUp,
    /// Drop everything and make no more calls.
    Aborted,
    /// No conclusion is possible.
    Failed(Failure),
}

impl Halt {
    pub(crate) fn suspended() -> Self {
        Halt(Why::Suspended)
    }

    pub(crate) fn awaiting() -> Self {
        Halt(Why::Awaiting)
    }

    pub(crate) fn pause_cancelled() -> Self {
        Halt(Why::PauseCancelled)
    }

    pub(crate) fn left() -> Self {
        Halt(Why::Left)
    }

    pub(crate) fn wind_up() -> Self {
        Halt(Why::WindUp)
    }

    pub(crate) fn aborted() -> Self {
        Halt(Why::Aborted)
    }
}

impl<F: Into<Failure>> From<F> for Halt {
    fn from(failure: F) -> Self {
        Halt(Why::Failed(failure.into()))
    }
}
