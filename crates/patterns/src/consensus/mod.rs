//! Ways to decide, one file each; what they share is in `draft` (someone writes) and `poll` (everyone votes).

mod draft;
pub(crate) mod majority;
pub(crate) mod moderator;
mod poll;
pub(crate) mod synthesis;
mod tally;
pub(crate) mod unanimous;
pub(crate) mod voting;
