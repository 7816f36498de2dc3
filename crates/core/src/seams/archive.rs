//! Past discussions: the contract of an archive, and what it lists.

use futures::future::BoxFuture;
use serde::Serialize;
use uuid::Uuid;

use super::StoreError;
use crate::model::{
    id::{DiscussionId, Tenant},
    lifecycle::Lifecycle,
    time::Timestamp,
};

/// Past discussions: listed, searched, kept for a while (INV-DISC-630 to 632).
pub trait Archive: Send + Sync {
    /// Discussions people started, newest first.
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Those that have to do with these words, most relevant first (INV-DISC-631).
    fn search(&self, words: &str, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Removes finished discussions that ended before this moment, with everything below them. Returns how many.
    fn forget(&self, ended_before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Removes one discussion with everything below it, finished or not; [`StoreError::Held`] while somebody runs it.
    fn remove(&self, id: DiscussionId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Keeps an id for an order under the sender's key, unless that key has one already. Returns what stands then, whoever came
    /// first. It is forgotten with the discussion.
    fn reserve(&self, wanted: Reservation) -> BoxFuture<'_, Result<Reservation, StoreError>>;

    /// Writes down that somebody did something.
    fn log(&self, deed: Deed) -> BoxFuture<'_, Result<(), StoreError>>;

    /// What was done by this tenant's people, newest first, at most `limit`.
    fn deeds(&self, tenant: Tenant, limit: usize) -> BoxFuture<'_, Result<Vec<Deed>, StoreError>>;

    /// Makes a session.
    fn create_session(&self, session: Session) -> BoxFuture<'_, Result<(), StoreError>>;

    /// All sessions, newest first.
    fn sessions(&self) -> BoxFuture<'_, Result<Vec<Session>, StoreError>>;
}

/// Which discussions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How many at most; 0 is all.
    pub limit: usize,
    /// Only those of this session.
    pub session: Option<Uuid>,
    /// Only those whose id begins so.
    pub prefix: Option<String>,
    /// Only those of this tenant; `None` is everybody's.
    pub tenant: Option<Tenant>,
}

/// An id that was kept for an order, so that sending the order twice orders once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Whose order.
    pub tenant: Tenant,
    /// The sender's name for it.
    pub key: String,
    /// A short name for what was ordered: another order under the same key is a mistake.
    pub digest: String,
    /// The discussion it is for, begun or not.
    pub id: DiscussionId,
}

/// Something that somebody did to a discussion, for those who must answer for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deed {
    /// When.
    #[serde(skip)]
    pub at: Timestamp,
    /// Whose people.
    #[serde(skip)]
    pub tenant: Tenant,
    /// Who, by the name of their token and never by the token.
    pub who: String,
    /// What: `pause`, `delete`.
    pub action: String,
    /// To which discussion.
    pub discussion: DiscussionId,
    /// What came of it.
    pub result: String,
}

/// A discussion in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: DiscussionId,
    /// What it was about.
    pub topic: String,
    /// Its pattern.
    pub pattern: String,
    /// Where it stands.
    pub status: Lifecycle,
    /// When it was ordered.
    pub opened_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Whether it did what it was asked for; absent while it goes on.
    pub success: Option<bool>,
    /// What it found, where it is over.
    pub synthesis: Option<String>,
    /// Whether its voices were simulated.
    pub simulated: bool,
    /// The session it belongs to.
    pub session: Option<Uuid>,
}

/// A folder for discussions that belong together (INV-DISC-300).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: Uuid,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whose it is.
    pub tenant: Tenant,
}
