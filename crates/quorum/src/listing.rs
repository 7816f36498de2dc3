//! Lists of discussions and sessions as documents: camelCase, times in UTC with a Z, absent values left out.

use quorum_core::{
    model::{id::DiscussionId, lifecycle::Lifecycle, time::iso},
    seams::{Session, Summary},
};
use serde::Serialize;
use uuid::Uuid;

/// A past or present discussion in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub discussion_id: DiscussionId,
    /// What it is about.
    pub topic: String,
    /// Its pattern.
    pub pattern: String,
    /// Where it stands.
    pub status: Lifecycle,
    /// When it was ordered.
    pub started_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Whether it did what it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// What it found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Whether its voices were simulated.
    pub simulated: bool,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
}

impl From<Summary> for Entry {
    fn from(summary: Summary) -> Self {
        Entry {
            discussion_id: summary.id,
            topic: summary.topic,
            pattern: summary.pattern,
            status: summary.status,
            started_at: iso(summary.opened_at),
            completed_at: summary.ended_at.map(iso),
            success: summary.success,
            synthesis: summary.synthesis,
            simulated: summary.simulated,
            session_id: summary.session,
        }
    }
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// Its id.
    pub session_id: Uuid,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: String,
}

impl From<Session> for SessionEntry {
    fn from(session: Session) -> Self {
        SessionEntry { session_id: session.id, name: session.name, created_at: iso(session.created_at) }
    }
}
