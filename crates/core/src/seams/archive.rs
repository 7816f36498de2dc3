//! Past discussions: the contract of an archive, what it lists, and how long it keeps them.

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
    /// Discussions people started, newest first; without hidden ones.
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Those that have to do with these words, most relevant first (INV-DISC-631); without hidden ones.
    fn search(&self, words: &str, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Hides finished discussions that have been kept long enough, and removes for good, with
    /// everything below them, those that have been hidden for [`GRACE_MS`]. Time is what
    /// [`Retention::measure`] makes of the newest fact, so a clock that leaps removes nothing. A
    /// hidden discussion that is no longer too old reappears: retention was lengthened, it was run
    /// again, or a wrong clock had hidden it. A discussion that is being run is left alone.
    fn expire(&self, retention: Retention) -> BoxFuture<'_, Result<Expired, StoreError>>;

    /// Hidden discussions, newest first. They can be read by their ids, and are in no other list.
    fn hidden(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Shows a hidden discussion again, and keeps it as long as if it had ended at `now`. One that is
    /// not hidden is kept as long.
    fn restore(&self, id: DiscussionId, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Removes one discussion with everything below it at once, finished or not;
    /// [`StoreError::Held`] while it is being run.
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

/// How long an expired discussion stays hidden before it is removed for good: 7 days.
pub const GRACE_MS: u64 = 7 * DAY_MS;

/// How far time may have gone on since the newest fact: 1 day. The wall clock counts no further.
pub const TOLERANCE_MS: u64 = DAY_MS;

/// A wall clock further ahead of the newest fact than this, and than retention, has leapt.
const LEAP_MS: u64 = 30 * DAY_MS;

const DAY_MS: u64 = 86_400_000;

/// How long finished discussions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long after their end; `u64::MAX` keeps them for good.
    pub keep_ms: u64,
    /// What the wall clock says, right or wrong.
    pub wall: Timestamp,
}

impl Retention {
    /// The moments retention goes by, given when the newest fact was recorded. The wall clock alone
    /// never makes a discussion old: one that is far ahead of the newest fact is refused.
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

/// The moments retention goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// What counts as now.
    pub now: Timestamp,
    /// Discussions that ended before are hidden.
    pub ended_before: Timestamp,
    /// Discussions hidden before, or at this moment, are removed.
    pub hidden_before: Timestamp,
    /// Audit entries, and keys of orders that never came, from before are removed.
    pub logged_before: Timestamp,
}

impl Cutoffs {
    /// The latest moment at which a right clock can have hidden something.
    #[must_use]
    pub fn latest_mark(&self) -> Timestamp {
        self.now.plus_ms(TOLERANCE_MS)
    }
}

/// A wall clock too far ahead of the newest fact to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leap {
    /// When the newest fact was recorded.
    pub newest: Timestamp,
    /// What the wall clock says.
    pub wall: Timestamp,
}

/// What retention did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expired {
    /// How many discussions were hidden just now.
    pub hidden: u64,
    /// How many that were hidden earlier were removed for good.
    pub removed: u64,
    /// How many hidden ones are shown again.
    pub reappeared: u64,
    /// The wall clock was not believed, and nothing was changed.
    pub leap: Option<Leap>,
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

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = DAY_MS as i64 * 1_000;

    fn day(number: i64) -> Timestamp {
        Timestamp(number * DAY)
    }

    /// What counts as now, in days, when the newest fact is of day 100 and discussions are kept this many days.
    fn check(keep: u64, wall: i64, expected: Result<i64, Leap>) {
        let retention = Retention { keep_ms: keep * DAY_MS, wall: day(wall) };
        assert_eq!(retention.measure(day(100)).map(|it| it.now), expected.map(day), "{keep} {wall}");
    }

    #[test]
    fn f9_a_leap_of_the_clock_is_refused_and_less_than_that_counts_for_a_day_at_most() {
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
        // A clock that went back makes nothing older.
        check(30, 3, Ok(3));
    }

    #[test]
    fn the_other_moments_follow_from_now() {
        let kept = Retention { keep_ms: 30 * DAY_MS, wall: day(100) };
        let expected =
            Cutoffs { now: day(100), ended_before: day(70), hidden_before: day(93), logged_before: day(63) };
        assert_eq!(kept.measure(day(100)), Ok(expected));
        let for_good = Retention { keep_ms: u64::MAX, wall: day(100_000) };
        assert_eq!(for_good.measure(day(100)).map(|it| it.ended_before), Ok(Timestamp(i64::MIN)));
    }
}
