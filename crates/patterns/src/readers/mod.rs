//! Readers that parse structured replies, and the types they produce.

pub(crate) mod ballot;
pub(crate) mod confidence;
pub(crate) mod draft_check;
pub(crate) mod json;
pub(crate) mod json_value;
pub(crate) mod lines;
pub(crate) mod markers;
mod phrases;
pub(crate) mod short_answer;
mod spoken_vote;
pub(crate) mod synthesis_mark;
mod synthesis_model;
pub(crate) mod synthesis_reader;
pub(crate) mod unquoted;
mod votes;

pub use draft_check::{DraftCheck, Objection};
pub use synthesis_model::Synthesis;
pub use votes::{Ballot, CastBallot, Confidence, ConsensusVote, Tally};
