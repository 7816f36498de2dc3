//! The origins of sub-discussions and forks.

use serde::{Deserialize, Serialize};

use crate::model::id::{DiscussionId, Step};

/// The discussions above a sub-discussion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lineage {
    /// The discussion that a person started.
    pub root: DiscussionId,
    /// The discussion that convened this one.
    pub parent: DiscussionId,
    /// 1 for a child of the root, and so on (INV-DISC-603).
    pub depth: u32,
    /// Every discussion above, root first, with topics, to detect cycles (INV-DISC-601).
    pub chain: Vec<Ancestor>,
    /// The time limit of this level.
    pub level_ms: u64,
}

/// One discussion above a sub-discussion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ancestor {
    /// Its id.
    pub id: DiscussionId,
    /// Its topic.
    pub topic: String,
}

/// The point where a fork leaves its original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The original discussion.
    pub of: DiscussionId,
    /// The step up to which everything is kept. Later answers are reused if the question is the
    /// same.
    pub at: Step,
}
