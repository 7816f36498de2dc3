//! Our JSON: what requests say and answers show, under the seeds' names.

pub(crate) mod dialogue;
pub(crate) mod listing;
pub(crate) mod order;
pub(crate) mod project;
pub(crate) mod state;
