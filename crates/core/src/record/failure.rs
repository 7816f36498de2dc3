//! Errors that end a run without a conclusion.

use crate::{
    model::{account::CapReached, error::StateInvalid, id::Step},
    seams::StoreError,
};

/// An error that ends a run without a conclusion.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    SpendingCap(Box<CapReached>),
    #[error(transparent)]
    Illegal(#[from] StateInvalid),
    #[error("a note of the pattern can't be written: {0}")]
    Unwritable(String),
    #[error("step {0} was taken twice in one run; a pattern must name each effect once")]
    TakenTwice(Step),
    #[error(
        "the record has step {0}, which the pattern no longer takes: it was made by another version. \
         Its answers are kept; start the discussion over to continue"
    )]
    Diverged(Step),
}
