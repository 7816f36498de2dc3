//! Our JSON: what requests say and answers show.

pub(crate) mod listing;
pub(crate) mod order;
pub(crate) mod ruling;
