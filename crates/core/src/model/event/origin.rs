//! Where a discussion comes from, when it does not come from a person.

use serde::{Deserialize, Serialize};

use crate::model::id::{DiscussionId, Step};

/// Where a sub-discussion comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lineage {
    /// The discussion a person started.
    pub root: DiscussionId,
    /// The one that convened this.
    pub parent: DiscussionId,
    /// 1 for a child of the root, and so on (INV-DISC-603).
    pub depth: u32,
    /// Everything above, root first, with topics, so that no circle can close (INV-DISC-601).
    pub chain: Vec<Ancestor>,
    /// How long this level may take.
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

/// Where a fork leaves the discussion it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// Which discussion.
    pub of: DiscussionId,
    /// Everything up to this step stands as it is; later answers stand where the question is the same.
    pub at: Step,
}
