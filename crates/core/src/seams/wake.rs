//! News of a store: a hint that something changed, without the change itself.

use std::sync::Arc;

use crate::model::{
    id::{DiscussionId, Seq},
    piece::Piece,
};

/// Something changed. A hint: it may come twice, late, for nothing, or (from another process) not
/// at all, so receivers also look by themselves from time to time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// A discussion has new commands.
    Commands(DiscussionId),
    /// A discussion that is [followed](super::Store::follow) has facts up to this one.
    Facts {
        /// The discussion.
        id: DiscussionId,
        /// The number of its last fact.
        last: Seq,
    },
    /// About text of a turn under way.
    Text(LiveText),
    /// A discussion may be claimable.
    Work,
    /// The lane of this provider was closed or opened by another node.
    Lane(String),
    /// News may have been lost; look at everything.
    Resync,
}

/// News about text of turns under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveText {
    /// Another process follows this discussion and has not seen the text so far.
    Wanted(DiscussionId),
    /// Some text. At offset 0 it replaces the text so far of its step.
    Piece(Arc<Piece>),
}
