//! The archive of past discussions: its interface, its listings, and retention.

use futures::future::BoxFuture;
use serde::Serialize;
use uuid::Uuid;

use super::{
    Backlog, KnownOutcome, MemoryQuery, NewMemory, OutcomesWanted, Remembered, RunStatus, StoreError,
};
use crate::model::{
    digest::Digest,
    id::{DiscussionId, Tenant},
    lifecycle::Lifecycle,
    relevance::content_words,
    time::Timestamp,
};

/// The archive of past discussions: listing, search and retention (INV-DISC-630 to 632).
pub trait Archive: Send + Sync {
    /// Lists discussions that people started, newest first, without hidden ones. No list reads
    /// facts: what it shows is kept beside them.
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Finds discussions that match the query, most relevant first, without hidden ones
    /// (INV-DISC-631). What matches and how matches are ranked is the same in every store:
    /// [`relevance`](crate::model::relevance). A prefix in the filter has no effect.
    fn find(&self, query: Query, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Found>, StoreError>>;

    /// Indexes some of what is missing for [`find`](Archive::find), so that it has less to do:
    /// servers call it now and then. A store that indexes fast enough when it is searched does
    /// nothing.
    fn index(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Finds discussions by words that a person typed, most relevant first, of any age and state.
    fn search(&self, words: &str, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        let query = Query { words: content_words(words), recalling: None };
        Box::pin(async move {
            let found = self.find(query, wanted).await?;
            Ok(found.into_iter().map(|it| it.summary).collect())
        })
    }

    /// Lists discussions of the same tenant that hold a copy of this one's answer, newest first,
    /// hidden ones included.
    fn copies(&self, of: DiscussionId) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Hides finished discussions whose retention has ended, and removes those that have been
    /// hidden for [`GRACE_MS`], with everything below them. Time is measured by
    /// [`Retention::measure`] from the newest fact, so a clock that jumps ahead removes nothing. A
    /// hidden discussion reappears when it is no longer too old: because retention was extended, it
    /// was run again, or a wrong clock had hidden it. Running discussions are never touched. One
    /// call hides and removes at most [`SLICE`] each, so that nothing else waits for long;
    /// [`Expired::more`] says whether to call again.
    fn expire(&self, retention: Retention) -> BoxFuture<'_, Result<Expired, StoreError>>;

    /// Lists hidden discussions, newest first. They can be read by id but appear in no other list.
    fn hidden(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Shows a hidden discussion again and restarts its retention as if it had ended at `now`. Also
    /// restarts the retention of one that isn't hidden.
    fn restore(&self, id: DiscussionId, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Removes one discussion with everything below it at once, finished or not. Returns
    /// [`StoreError::Held`] while it is running.
    fn remove(&self, id: DiscussionId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Gives a discussion another name in lists; `None` restores its topic. The record and the
    /// search index keep the topic.
    fn rename(&self, id: DiscussionId, title: Option<String>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Reserves an id for a request under the sender's idempotency key, unless the key already has
    /// one. Returns the reservation that holds, new or old. It is deleted with the discussion.
    fn reserve(&self, wanted: Reservation) -> BoxFuture<'_, Result<Reservation, StoreError>>;

    /// Keeps a value as a new version of its key, and returns the version. The same origin keeps a
    /// value once.
    fn remember(&self, new: NewMemory) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// The newest version of each key of this tenant that fits and has not expired, newest first.
    fn remembered(
        &self,
        tenant: Tenant,
        query: MemoryQuery,
    ) -> BoxFuture<'_, Result<Vec<Remembered>, StoreError>>;

    /// Records what turned out to be right, beside the discussion and never in its facts. A later
    /// one corrects it, and both stay. They are deleted with the discussion.
    fn resolve(&self, outcome: KnownOutcome) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The newest outcome of each discussion that is wanted, newest first.
    fn outcomes(&self, wanted: OutcomesWanted) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>>;

    /// All outcomes of a discussion, oldest first.
    fn outcomes_of(&self, id: DiscussionId) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>>;

    /// Writes an audit entry.
    fn log(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Audit entries of this tenant, newest first, each with its number, which grows with time.
    fn audit_entries(&self, wanted: AuditWanted)
    -> BoxFuture<'_, Result<Vec<(u64, AuditEntry)>, StoreError>>;

    /// Creates a session.
    fn create_session(&self, session: Session) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Sessions of a tenant, newest first.
    fn sessions(&self, wanted: SessionsWanted) -> BoxFuture<'_, Result<Vec<Session>, StoreError>>;

    /// Gives a session of this tenant another name. Returns [`StoreError::UnknownSession`] if there
    /// is none with this id.
    fn rename_session(&self, tenant: Tenant, id: Uuid, name: String)
    -> BoxFuture<'_, Result<(), StoreError>>;

    /// Removes a session of this tenant. Returns [`StoreError::SessionInUse`] while discussions
    /// belong to it, hidden ones included: their records name it.
    fn remove_session(&self, tenant: Tenant, id: Uuid) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The queue of this tenant; `None` means all tenants.
    fn backlog(&self, tenant: Option<Tenant>) -> BoxFuture<'_, Result<Backlog, StoreError>>;
}

/// How long an expired discussion stays hidden before it is removed for good: 7 days.
pub const GRACE_MS: u64 = 7 * DAY_MS;

/// How many discussions one call of [`Archive::expire`] hides, and how many it removes.
pub const SLICE: usize = 500;

/// How far the wall clock may be ahead of the newest fact and still be used: 1 day. Beyond that,
/// time counts as one day after the newest fact.
pub const TOLERANCE_MS: u64 = DAY_MS;

/// A wall clock that is further ahead of the newest fact than this and than the retention has
/// jumped.
const LEAP_MS: u64 = 30 * DAY_MS;

const DAY_MS: u64 = 86_400_000;

/// How long finished discussions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long after their end; `u64::MAX` keeps them forever.
    pub keep_ms: u64,
    /// The wall-clock time, which may be wrong.
    pub wall: Timestamp,
}

impl Retention {
    /// The cutoff times, given the time of the newest fact. The wall clock alone never makes a
    /// discussion old: a clock far ahead of the newest fact is an error.
    pub fn measure(&self, newest: Timestamp) -> Result<Cutoffs, Leap> {
        let wall = self.wall;
        if wall > newest.plus_ms(self.keep_ms.max(LEAP_MS)) {
            return Err(Leap { newest, wall });
        }
        let now = wall.min(newest.plus_ms(TOLERANCE_MS));
        let ended_before = now.minus_ms(self.keep_ms);
        Ok(Cutoffs {
            now,
            ended_before,
            hidden_before: now.minus_ms(GRACE_MS),
            logged_before: ended_before.minus_ms(GRACE_MS),
        })
    }
}

/// The cutoff times of retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// The time that counts as now.
    pub now: Timestamp,
    /// Discussions that ended before this are hidden.
    pub ended_before: Timestamp,
    /// Discussions hidden at this time or before are removed.
    pub hidden_before: Timestamp,
    /// Audit entries and unused idempotency keys from before this are removed.
    pub logged_before: Timestamp,
}

impl Cutoffs {
    /// The latest time at which a correct clock can have hidden a discussion.
    #[must_use]
    pub fn latest_mark(&self) -> Timestamp {
        self.now.plus_ms(TOLERANCE_MS)
    }
}

/// A wall clock too far ahead of the newest fact to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leap {
    /// When the newest fact was recorded.
    pub newest: Timestamp,
    /// The wall-clock time.
    pub wall: Timestamp,
}

/// What a run of retention did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expired {
    /// How many discussions it hid.
    pub hidden: u64,
    /// How many previously hidden discussions it removed.
    pub removed: u64,
    /// How many hidden discussions it showed again.
    pub reappeared: u64,
    /// Set if the wall clock was not trusted; then nothing was changed.
    pub leap: Option<Leap>,
    /// Whether there is more to do than one call does.
    pub more: bool,
}

/// A filter for listings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The maximum number; 0 means all.
    pub limit: usize,
    /// Only discussions of this session.
    pub session: Option<Uuid>,
    /// Only discussions whose id starts with this.
    pub prefix: Option<String>,
    /// Only discussions of this tenant; `None` means all tenants.
    pub tenant: Option<Tenant>,
    /// Only discussions after this place of the list. A search ignores it.
    pub after: Option<Cursor>,
    /// Only discussions that run or wait: neither those that are over nor those that failed. A
    /// search ignores it.
    pub unfinished: bool,
}

/// A place in a list of discussions, newest first. It stays valid when discussions are added or
/// removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    /// When the last discussion before it was created.
    pub opened_at: Timestamp,
    /// Its id.
    pub id: DiscussionId,
}

/// What a search is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The content words of a question.
    pub words: Vec<String>,
    /// Set to find answers to recall; `None` to find discussions of any kind.
    pub recalling: Option<Recalling>,
}

/// A search for answers to recall: in discussions that ended well, by their topics and answers.
/// What was said in their turns only counts for the rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalling {
    /// The key of the question; a discussion with the same one is found first.
    pub key: String,
    /// Whether to find simulated discussions; otherwise only others are found.
    pub simulated: bool,
    /// The current time; older discussions rank lower.
    pub at: Timestamp,
    /// Discussions that are not found.
    pub except: Vec<DiscussionId>,
}

/// A discussion that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The discussion.
    pub summary: Summary,
    /// Its score as a share of the best one.
    pub score: f64,
}

/// An id reserved for a request, so that sending the request twice starts one discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The tenant that sent it.
    pub tenant: Tenant,
    /// The sender's idempotency key.
    pub key: String,
    /// A digest of the request, to detect a different request under the same key.
    pub digest: String,
    /// The discussion's id, started or not.
    pub id: DiscussionId,
}

/// An audit entry: a user's action on a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// The time.
    #[serde(skip)]
    pub at: Timestamp,
    /// The tenant of the user.
    #[serde(skip)]
    pub tenant: Tenant,
    /// The user, by the name of their token, never the token itself.
    pub who: String,
    /// The action: `pause`, `delete`.
    pub action: String,
    /// The discussion.
    pub discussion: DiscussionId,
    /// The outcome of the action.
    pub result: String,
}

/// A filter for audit entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditWanted {
    /// Whose entries.
    pub tenant: Tenant,
    /// The maximum number.
    pub limit: usize,
    /// Only entries with a smaller number.
    pub before: Option<u64>,
}

/// A discussion in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: DiscussionId,
    /// Its topic.
    pub topic: String,
    /// The name that a person gave it.
    pub title: Option<String>,
    /// Its pattern.
    pub pattern: String,
    /// Its lifecycle state.
    pub status: Lifecycle,
    /// When it was created.
    pub opened_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Whether it achieved what was asked; absent while it runs.
    pub success: Option<bool>,
    /// Its answer, once it is over.
    pub synthesis: Option<String>,
    /// Whether its voices were simulated.
    pub simulated: bool,
    /// The session it belongs to.
    pub session: Option<Uuid>,
    /// Whether it is run.
    pub run: RunStatus,
    /// Whom it waits for and what it cost, as of its last pause, round or end; `None` for records
    /// from before this was kept.
    pub digest: Option<Digest>,
}

/// A group of discussions that belong together (INV-DISC-300).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Its owner.
    pub tenant: Tenant,
}

/// A filter for sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionsWanted {
    /// Whose sessions.
    pub tenant: Tenant,
    /// The maximum number; 0 means all.
    pub limit: usize,
    /// Only sessions after the one of this time and id in the list.
    pub after: Option<(Timestamp, Uuid)>,
    /// Only sessions with this name or id.
    pub called: Option<String>,
}

impl SessionsWanted {
    /// All sessions of this tenant.
    #[must_use]
    pub fn of(tenant: Tenant) -> Self {
        SessionsWanted { tenant, ..SessionsWanted::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = DAY_MS as i64 * 1_000;

    fn day(number: i64) -> Timestamp {
        Timestamp(number * DAY)
    }

    /// Checks the time that counts as now, in days, if the newest fact is from day 100 and
    /// discussions are kept for `keep` days.
    fn check(keep: u64, wall: i64, expected: Result<i64, Leap>) {
        let retention = Retention { keep_ms: keep * DAY_MS, wall: day(wall) };
        assert_eq!(retention.measure(day(100)).map(|it| it.now), expected.map(day), "{keep} {wall}");
    }

    #[test]
    fn f9_a_jump_of_the_clock_is_refused_and_a_smaller_one_counts_for_a_day_at_most() {
        let leap = |wall| Err(Leap { newest: day(100), wall: day(wall) });
        check(30, 100, Ok(100));
        check(30, 101, Ok(101));
        check(30, 130, Ok(101));
        check(30, 131, leap(131));
        check(30, 4_000, leap(4_000));
        check(90, 131, Ok(101));
        check(90, 191, leap(191));
        check(1, 130, Ok(101));
        check(1, 131, leap(131));
        // A clock that is set back makes nothing older.
        check(30, 3, Ok(3));
    }

    #[test]
    fn the_other_cutoffs_follow_from_now() {
        let kept = Retention { keep_ms: 30 * DAY_MS, wall: day(100) };
        let expected =
            Cutoffs { now: day(100), ended_before: day(70), hidden_before: day(93), logged_before: day(63) };
        assert_eq!(kept.measure(day(100)), Ok(expected));
        let for_good = Retention { keep_ms: u64::MAX, wall: day(100_000) };
        assert_eq!(for_good.measure(day(100)).map(|it| it.ended_before), Ok(Timestamp(i64::MIN)));
    }
}
