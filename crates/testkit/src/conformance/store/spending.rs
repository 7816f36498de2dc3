//! S14: spending caps are counted in the store, for all processes that share it.

use quorum_core::{
    model::{
        account::{Account, CapReached, CapStatus, Caps, Period},
        event::{Event, Placed},
        id::{Seq, Tenant},
        money::{Spent, Usd},
    },
    seams::{Claim, Draw, Drawn, Release, StoreError, Then},
};

use super::{
    Subject, Whole,
    fixture::{Writer, about, below, claim, open, opening, reap, second},
};

const DAY_S: i64 = 86_400;

/// A dollar a day, one and a half a month.
const CAPS: Caps = Caps {
    per_day: Some(Usd::from_cents(100)),
    per_month: Some(Usd::from_cents(150)),
    allow_unpriced: false,
};

fn cents(cents: u64) -> Usd {
    Usd::from_cents(cents)
}

fn account(tenant: &str, name: &str) -> Account {
    Account { tenant: Tenant::named(tenant), name: name.to_owned() }
}

fn ann() -> Account {
    account("acme", "ann")
}

/// A draw of ann's at this second, with these cents spent and wanted in all.
fn draw(claim: &Claim, at: i64, settled: u64, target: u64) -> Draw {
    let (settled, target) = (cents(settled), cents(target));
    Draw { claim: claim.clone(), account: ann(), caps: CAPS, at: second(at), settled, target }
}

async fn claimed<S: Whole>(store: &S, owner: &str) -> Claim {
    let id = open(store, "tabs or spaces?", second(0)).await;
    claim(store, id, owner).await.expect("nobody has it")
}

/// What is spent and reserved, in cents, of the day and of the month.
async fn used<S: Whole>(store: &S, account: Account, at: i64) -> [(f64, f64); 2] {
    let caps = store.spending(account, CAPS, second(at)).await.expect("the store is there");
    let of = |status: &CapStatus| {
        let cents = |usd: Usd| (usd.dollars() * 100.0).round();
        (cents(status.spent), cents(status.reserved))
    };
    [of(&caps[0]), of(&caps[1])]
}

/// A call that may cost this many cents.
fn placed(worst: u64) -> Event {
    Event::CallPlaced(Placed {
        attempt: 1,
        participant: "ann".to_owned(),
        provider: "scripted".to_owned(),
        model: None,
        form: None,
        price: None,
        reserved: Spent { calls: 1, tokens: 0, usd: cents(worst) },
        nonce: String::new(),
        digest: None,
        repeats: false,
        labels: Vec::new(),
        unheard: 0,
        shortened: 0,
        counted: 0,
        max_tokens: 0,
    })
}

fn short(needed: u64, spent: u64, reserved: u64, at: i64) -> Result<Drawn, StoreError> {
    let status = CapStatus {
        period: Period::Day,
        cap: cents(100),
        spent: cents(spent),
        reserved: cents(reserved),
        renews_at: second((at / DAY_S + 1) * DAY_S),
    };
    Ok(Drawn::Short(CapReached { needed: cents(needed), status, at: second(at) }))
}

/// What one discussion has set aside, another can't have.
pub async fn s14_what_is_set_aside_is_not_given_twice<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (one, other) = (claimed(store, "one").await, claimed(store, "other").await);
    assert_eq!(store.draw(draw(&one, 5, 0, 60)).await, Ok(Drawn::UpTo(cents(60))));
    assert_eq!(store.draw(draw(&other, 5, 0, 41)).await, short(41, 0, 60, 5));
    assert_eq!(store.draw(draw(&other, 5, 0, 40)).await, Ok(Drawn::UpTo(cents(40))));
    assert_eq!(store.draw(draw(&one, 5, 0, 61)).await, short(1, 0, 100, 5));
    assert_eq!(used(store, ann(), 5).await, [(0.0, 100.0), (0.0, 100.0)]);
}

/// The figures count from the beginning, so a request whose answer was lost can be repeated.
pub async fn s14_a_repeated_draw_changes_nothing<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let one = claimed(store, "one").await;
    for _ in 0..3 {
        assert_eq!(store.draw(draw(&one, 5, 0, 60)).await, Ok(Drawn::UpTo(cents(60))));
    }
    assert_eq!(store.draw(draw(&one, 5, 20, 80)).await, Ok(Drawn::UpTo(cents(80))));
    assert_eq!(used(store, ann(), 5).await, [(0.0, 80.0), (0.0, 80.0)]);
}

/// The end counts what was spent, also beyond what was set aside, and only once.
pub async fn s14_what_was_not_needed_is_given_back<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (one, other) = (claimed(store, "one").await, claimed(store, "other").await);
    assert_eq!(store.draw(draw(&one, 5, 0, 60)).await, Ok(Drawn::UpTo(cents(60))));
    for _ in 0..2 {
        assert_eq!(store.settle(one.clone(), cents(25)).await, Ok(()));
        assert_eq!(used(store, ann(), 5).await, [(25.0, 0.0), (25.0, 0.0)]);
    }
    assert_eq!(store.draw(draw(&one, 6, 25, 50)).await, Ok(Drawn::UpTo(cents(50))), "it goes on");
    assert_eq!(store.settle(one, cents(30)).await, Ok(()));
    assert_eq!(store.draw(draw(&other, 6, 0, 70)).await, Ok(Drawn::UpTo(cents(70))));
    assert_eq!(store.settle(other.clone(), cents(90)).await, Ok(()), "a provider charged too much");
    assert_eq!(used(store, ann(), 6).await, [(120.0, 0.0), (120.0, 0.0)]);
    assert_eq!(store.draw(draw(&other, 6, 90, 91)).await, short(1, 120, 0, 6));
}

/// A run that lost its claim gets nothing, and can't settle what its successor has drawn.
pub async fn s14_a_draw_needs_the_newest_claim<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let old = claimed(store, "one").await;
    assert_eq!(store.draw(draw(&old, 5, 0, 50)).await, Ok(Drawn::UpTo(cents(50))));
    let new = claim(store, old.id, "one").await.expect("it is ours");
    assert_eq!(store.draw(draw(&old, 5, 0, 60)).await, Err(StoreError::Fenced(old.id)));
    assert_eq!(store.draw(draw(&new, 5, 10, 70)).await, Ok(Drawn::UpTo(cents(70))));
    assert_eq!(used(store, ann(), 5).await, [(10.0, 60.0), (10.0, 60.0)]);
    assert_eq!(store.settle(old, cents(1)).await, Ok(()));
    assert_eq!(used(store, ann(), 5).await, [(10.0, 60.0), (10.0, 60.0)]);
}

/// The next owner of a discussion is not refused because of what the last one had set aside.
pub async fn s14_an_older_claims_allowance_is_settled_for_others<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (old, other) = (claimed(store, "one").await, claimed(store, "other").await);
    assert_eq!(store.draw(draw(&old, 5, 0, 100)).await, Ok(Drawn::UpTo(cents(100))));
    let new = claim(store, old.id, "one").await.expect("it is ours");
    assert_eq!(store.draw(draw(&other, 5, 0, 100)).await, Ok(Drawn::UpTo(cents(100))));
    assert!(store.held(new.node).await.is_ok_and(|it| it.contains(&new)), "the new claim holds");
}

/// A dead process's money is settled from its record, with everything below it, when it is needed.
pub async fn s14_the_dead_leave_what_their_records_say<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(0)).await;
    let mut dead = Writer::claiming(store, id, "dead").await;
    assert_eq!(store.draw(draw(&dead.claim, 5, 0, 90)).await, Ok(Drawn::UpTo(cents(90))));
    dead.write(second(5), vec![placed(30)], Then::Continue).await.expect("the claim is ours");
    let child = id.derived("sub1");
    store.create(child, opening(about("below"), second(5), below(id))).await.expect("its root is there");
    let mut nested = Writer { store, claim: dead.claim.clone(), id: child, last: Seq(3) };
    nested.write(second(5), vec![placed(20)], Then::Continue).await.expect("the claim is ours");
    let other = claimed(store, "other").await;
    assert_eq!(store.draw(draw(&other, 5, 0, 50)).await, short(50, 0, 90, 5), "it still lives");
    assert!(reap(store, "dead").await);
    assert_eq!(store.draw(draw(&other, 5, 0, 51)).await, short(51, 50, 0, 5));
    assert_eq!(store.draw(draw(&other, 5, 0, 50)).await, Ok(Drawn::UpTo(cents(50))));
    // It only seemed dead, and must not spend what was given to another.
    let late = dead.write(second(6), vec![placed(1)], Then::Continue).await;
    assert_eq!(late, Err(StoreError::Fenced(id)));
    assert_eq!(store.draw(draw(&dead.claim, 6, 30, 31)).await, Err(StoreError::Fenced(id)));
}

/// What is left is told without the amounts that dead processes had set aside.
pub async fn s14_the_state_of_the_caps_leaves_out_the_dead<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let one = claimed(store, "one").await;
    assert_eq!(store.draw(draw(&one, 5, 0, 90)).await, Ok(Drawn::UpTo(cents(90))));
    assert_eq!(used(store, ann(), 5).await, [(0.0, 90.0), (0.0, 90.0)]);
    store.release(one, Release::Now).await.expect("it is ours");
    assert_eq!(used(store, ann(), 5).await, [(0.0, 0.0), (0.0, 0.0)]);
}

/// A day renews at midnight in UTC, a month on its first day. What goes on over midnight counts on
/// the new day from its next draw on.
pub async fn s14_days_and_months_renew<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let one = claimed(store, "one").await;
    let (evening, morning) = (DAY_S - 1, DAY_S);
    assert_eq!(store.draw(draw(&one, evening, 0, 80)).await, Ok(Drawn::UpTo(cents(80))));
    // 60 are spent, and a call of 20 is under way.
    assert_eq!(store.draw(draw(&one, morning, 60, 110)).await, Ok(Drawn::UpTo(cents(110))));
    assert_eq!(used(store, ann(), evening).await, [(60.0, 0.0), (60.0, 50.0)]);
    assert_eq!(used(store, ann(), morning).await, [(0.0, 50.0), (60.0, 50.0)]);
    assert_eq!(store.settle(one.clone(), cents(100)).await, Ok(()));
    assert_eq!(used(store, ann(), morning).await, [(40.0, 0.0), (100.0, 0.0)]);
    let status = |drawn: Result<Drawn, StoreError>| match drawn {
        Ok(Drawn::Short(reached)) => (reached.status.period, reached.status.left(), reached.status.renews_at),
        other => panic!("{other:?}"),
    };
    let refused = status(store.draw(draw(&one, morning, 100, 151)).await);
    assert_eq!(refused, (Period::Month, cents(50), second(31 * DAY_S)));
    let february = 31 * DAY_S;
    assert_eq!(store.draw(draw(&one, february, 100, 200)).await, Ok(Drawn::UpTo(cents(200))));
}

/// Neither another token of the tenant nor a token of the same name elsewhere shares a cap.
pub async fn s14_accounts_are_separate<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let accounts = [ann(), account("acme", "bob"), account("", "ann"), account("", "")];
    for (number, account) in accounts.iter().enumerate() {
        let claim = claimed(store, &number.to_string()).await;
        let drawn = Draw { account: account.clone(), ..draw(&claim, 5, 0, 100) };
        assert_eq!(store.draw(drawn).await, Ok(Drawn::UpTo(cents(100))));
    }
    for account in accounts {
        assert_eq!(used(store, account, 5).await, [(0.0, 100.0), (0.0, 100.0)]);
    }
}

/// More than is needed is set aside only as long as plenty is left.
pub async fn s14_small_draws_bring_some_more<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let one = claimed(store, "one").await;
    assert_eq!(store.draw(draw(&one, 5, 0, 1)).await, Ok(Drawn::UpTo(cents(4))));
    assert_eq!(store.draw(draw(&one, 5, 0, 4)).await, Ok(Drawn::UpTo(cents(4))));
    assert_eq!(used(store, ann(), 5).await, [(0.0, 4.0), (0.0, 4.0)]);
}

/// A removed discussion was paid for all the same.
pub async fn s14_removing_keeps_the_count<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (ended, crashed) = (claimed(store, "one").await, open(store, "tabs?", second(0)).await);
    assert_eq!(store.draw(draw(&ended, 5, 0, 60)).await, Ok(Drawn::UpTo(cents(60))));
    assert_eq!(store.settle(ended.clone(), cents(20)).await, Ok(()));
    store.release(ended.clone(), Release::Now).await.expect("it is ours");
    let mut writer = Writer::claiming(store, crashed, "one").await;
    assert_eq!(store.draw(draw(&writer.claim, 5, 0, 50)).await, Ok(Drawn::UpTo(cents(50))));
    writer.write(second(5), vec![placed(30)], Then::Continue).await.expect("the claim is ours");
    store.release(writer.claim, Release::Now).await.expect("it is ours");
    for id in [ended.id, crashed] {
        assert_eq!(store.remove(id).await, Ok(()));
    }
    assert_eq!(used(store, ann(), 5).await, [(50.0, 0.0), (50.0, 0.0)]);
}
