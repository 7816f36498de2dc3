//! Why a pattern must leave. A pattern passes this on with `?` and never looks inside.

use crate::record::failure::Failure;

/// Not an error of the pattern: an order to return now. Only the engine reads it.
#[derive(Debug)]
pub struct Halt(pub(crate) Why);

#[derive(Debug)]
pub(crate) enum Why {
    /// Nothing more can happen until someone says so; everything needed is in the record.
    Suspended,
    /// It is a person's turn, or time to rest; the record says which, and no lifecycle changes.
    Awaiting,
    /// The pause was taken back, or outranked by a stop, before it was obeyed: go on from the
    /// record.
    TakenBack,
    /// This process leaves; another one goes on from the record, and no lifecycle changes.
    Left,
    /// Stop deliberating and conclude with what has been said; why is a fact in the record.
    WindUp,
    /// Drop everything; ask nobody.
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

    pub(crate) fn taken_back() -> Self {
        Halt(Why::TakenBack)
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
