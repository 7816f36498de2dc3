//! Text of a turn under way, as people see it.

use serde::{Deserialize, Serialize};

use crate::model::id::{DiscussionId, Step};

/// Some text of a turn under way. It is not recorded; the finished turn contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The discussion.
    pub discussion: DiscussionId,
    /// The step.
    pub step: Step,
    /// The attempt; each starts its text from the beginning.
    pub attempt: u32,
    /// The participant that speaks.
    pub participant: String,
    /// The round.
    pub round: u32,
    /// The offset of this piece in the text for people, in bytes.
    pub offset: usize,
    /// The text for people; empty if what arrived is data of a form.
    pub text: String,
    /// How many bytes arrived that are not text for people.
    pub hidden: usize,
}
