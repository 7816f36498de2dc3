//! INV-DISC-632: old discussions are hidden, removed a week later, and never because of a clock
//! jump.

use quorum_core::{
    model::{
        id::{DiscussionId, Seq},
        time::Timestamp,
    },
    seams::{Expired, Leap, Release, Retention, StoreError, Summary, Then, Wanted},
};

use super::{
    Subject, Whole,
    fixture::{Writer, about, below, claim, ending, finish, open, opening, second},
};

const DAY_MS: u64 = 86_400_000;

fn day(number: i64) -> Timestamp {
    second(number * 86_400)
}

/// Retention of 30 days, with the clock at this day.
fn on(number: i64) -> Retention {
    Retention { keep_ms: 30 * DAY_MS, wall: day(number) }
}

fn ids(found: Result<Vec<Summary>, StoreError>) -> Vec<DiscussionId> {
    found.expect("the store is there").iter().map(|summary| summary.id).collect()
}

async fn shown<S: Whole>(store: &S) -> Vec<DiscussionId> {
    ids(store.list(Wanted::default()).await)
}

async fn hidden<S: Whole>(store: &S) -> Vec<DiscussionId> {
    ids(store.hidden(Wanted::default()).await)
}

const NOTHING: Expired = Expired { hidden: 0, removed: 0, reappeared: 0, leap: None, more: false };

/// Hidden from lists and searches at first, then removed with all sub-discussions, and nothing
/// else.
pub async fn expired_discussions_are_hidden_first_and_removed_a_week_later<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let old = open(store, "old", day(1)).await;
    let child = old.derived("sub1");
    store.create(child, opening(about("below"), day(1), below(old))).await.expect("its root is there");
    let mut writer = Writer::claiming(store, old, "one").await;
    writer.write(day(2), ending("old news"), Then::Done).await.expect("the claim is ours");
    let running = open(store, "running", day(1)).await;
    let young = finish(store, "young", "new", day(33)).await;

    assert_eq!(store.expire(on(32)).await, Ok(NOTHING));
    assert_eq!(store.expire(on(33)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    assert_eq!(store.expire(on(33)).await, Ok(NOTHING));
    assert_eq!((shown(store).await, hidden(store).await), (vec![young, running], vec![old]));
    assert_eq!(ids(store.search("old", Wanted::default()).await), []);
    assert_eq!(store.read(old, Seq::START, 9).await.map(|facts| facts.len()), Ok(6));

    finish(store, "later", "newer", day(39)).await;
    assert_eq!(store.expire(on(39)).await, Ok(NOTHING));
    assert_eq!(store.expire(on(40)).await, Ok(Expired { removed: 1, ..NOTHING }));
    for gone in [old, child] {
        assert_eq!(store.read(gone, Seq::START, 1).await, Err(StoreError::Unknown(gone)));
    }
    assert_eq!((shown(store).await.len(), hidden(store).await), (3, vec![]));
}

/// However often retention runs, and however far the clock is ahead.
pub async fn f9_a_clock_that_leaps_forward_removes_and_hides_nothing<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    assert_eq!(store.expire(on(9_999)).await, Ok(NOTHING), "an empty store has nothing to go by");
    let id = finish(store, "tabs or spaces?", "tabs", day(1)).await;
    for wall in [32, 400, 4_000, 4_000] {
        let leap = Some(Leap { newest: day(1), wall: day(wall) });
        assert_eq!(store.expire(on(wall)).await, Ok(Expired { leap, ..NOTHING }));
    }
    assert_eq!(shown(store).await, [id]);
    // Within a month the clock may be right, but at most one day counts.
    assert_eq!(store.expire(on(31)).await, Ok(NOTHING));
}

/// Discussions hidden before the clock jump are not removed by it either.
pub async fn f9_a_clock_that_leaps_forward_ends_no_grace_period<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let old = finish(store, "old", "news", day(1)).await;
    finish(store, "young", "news", day(40)).await;
    assert_eq!(store.expire(on(40)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    assert_eq!(store.expire(on(60)).await, Ok(NOTHING));
    assert!(store.expire(on(400)).await.is_ok_and(|it| it.leap.is_some()));
    assert_eq!(hidden(store).await, [old]);
}

/// Discussions created under the wrong clock make the others look old. Once the clock is right
/// again, all of them are visible.
pub async fn f9_what_a_wrong_clock_hid_reappears_when_it_is_right_again<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let ancient = finish(store, "ancient", "news", day(1)).await;
    let recent = finish(store, "recent", "news", day(90)).await;
    let future = finish(store, "future", "news", day(4_000)).await;
    assert_eq!(store.expire(on(4_000)).await, Ok(Expired { hidden: 2, ..NOTHING }));
    assert_eq!(store.expire(on(91)).await, Ok(Expired { reappeared: 1, ..NOTHING }));
    assert_eq!((shown(store).await, hidden(store).await), (vec![future, recent], vec![ancient]));
    // The week begins when the clock is right.
    finish(store, "now", "news", day(97)).await;
    assert_eq!(store.expire(on(97)).await, Ok(NOTHING));
    assert_eq!(store.expire(on(98)).await, Ok(Expired { removed: 1, ..NOTHING }));
}

/// It is listed again, and kept for a whole retention period.
pub async fn a_restored_discussion_is_kept_as_long_as_a_new_one<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let old = finish(store, "old", "news", day(1)).await;
    finish(store, "young", "new", day(40)).await;
    assert_eq!(store.expire(on(40)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    assert_eq!(store.restore(old, day(41)).await, Ok(()));
    assert!(shown(store).await.contains(&old));
    assert_eq!(ids(store.search("old", Wanted::default()).await), [old]);
    finish(store, "later", "newer", day(71)).await;
    assert_eq!(store.expire(on(71)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    assert!(shown(store).await.contains(&old));
    assert_eq!(store.expire(on(72)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    assert!(hidden(store).await.contains(&old));
    let (child, nowhere) = (old.derived("sub1"), DiscussionId::fresh());
    store.create(child, opening(about("below"), day(1), below(old))).await.expect("its root is there");
    for unknown in [child, nowhere] {
        assert_eq!(store.restore(unknown, day(72)).await, Err(StoreError::Unknown(unknown)));
    }
}

/// Longer or disabled retention shows hidden discussions again.
pub async fn longer_retention_shows_hidden_discussions_again<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let old = finish(store, "old", "news", day(1)).await;
    let young = finish(store, "young", "new", day(40)).await;
    assert_eq!(store.expire(on(40)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    let longer = Retention { keep_ms: 60 * DAY_MS, ..on(40) };
    assert_eq!(store.expire(longer).await, Ok(Expired { reappeared: 1, ..NOTHING }));
    assert_eq!(store.expire(on(40)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    let for_good = Retention { keep_ms: u64::MAX, ..on(4_000) };
    assert_eq!(store.expire(for_good).await, Ok(Expired { reappeared: 1, ..NOTHING }));
    assert_eq!(shown(store).await, [young, old]);
}

/// Neither hidden nor removed while it is claimed.
pub async fn what_is_being_run_does_not_expire<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let held = finish(store, "held", "news", day(1)).await;
    finish(store, "young", "new", day(40)).await;
    let first = claim(store, held, "one").await.expect("nobody has it");
    assert_eq!(store.expire(on(40)).await, Ok(NOTHING));
    store.release(first, Release::Now).await.expect("it is ours");
    assert_eq!(store.expire(on(40)).await, Ok(Expired { hidden: 1, ..NOTHING }));
    claim(store, held, "one").await.expect("nobody has it");
    finish(store, "later", "newer", day(50)).await;
    assert_eq!(store.expire(on(50)).await, Ok(NOTHING));
    assert_eq!(hidden(store).await, [held]);
}
