//! List entries of discussions and sessions as JSON: camelCase, times in UTC with a Z, absent
//! values left out.

use quorum_core::{
    model::{
        digest::Digest,
        id::DiscussionId,
        lifecycle::Lifecycle,
        outcome::StandingReport,
        time::{Timestamp, iso},
    },
    seams::{Cursor, Session, Summary},
};
use serde::Serialize;
use uuid::Uuid;

/// A past or present discussion in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub discussion_id: DiscussionId,
    /// The topic.
    pub topic: String,
    /// The name that a person gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its pattern.
    pub pattern: String,
    /// Its state.
    pub status: Lifecycle,
    /// When it was started.
    pub started_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Whether it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// What the result is; absent until it is over, and if there was no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StandingReport>,
    /// The synthesis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Whether its voices were simulated.
    pub simulated: bool,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Whether it is run: `queued`, `running`, `waiting`, `stuck` or `over`.
    pub run: &'static str,
    /// Its place in the list, for the next page.
    #[serde(skip)]
    pub cursor: Cursor,
    /// Whom it waits for and what it cost.
    #[serde(skip)]
    pub digest: Option<Digest>,
}

impl From<Summary> for Entry {
    fn from(summary: Summary) -> Self {
        Entry {
            discussion_id: summary.id,
            topic: summary.topic,
            title: summary.title,
            pattern: summary.pattern,
            status: summary.status,
            started_at: iso(summary.opened_at),
            completed_at: summary.ended_at.map(iso),
            success: summary.success,
            outcome: summary.digest.as_ref().and_then(|it| it.result),
            synthesis: summary.synthesis,
            simulated: summary.simulated,
            session_id: summary.session,
            run: summary.run.name(),
            cursor: Cursor { opened_at: summary.opened_at, id: summary.id },
            digest: summary.digest,
        }
    }
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// Its id.
    pub session_id: Uuid,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: String,
    /// Its place in the list.
    #[serde(skip)]
    pub cursor: (Timestamp, Uuid),
}

impl From<Session> for SessionEntry {
    fn from(session: Session) -> Self {
        let Session { id, name, created_at, .. } = session;
        SessionEntry { session_id: id, name, created_at: iso(created_at), cursor: (created_at, id) }
    }
}
