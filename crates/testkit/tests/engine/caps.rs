//! S14: spending caps of an account, over all discussions and processes that share a store.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use proptest::{collection::vec, prelude::*};
use quorum_core::{
    engine::{OpenError, RunError, handle::Finished},
    memory::MemoryStore,
    model::{
        account::{Account, CapStatus, CappedAccount, Caps, Period},
        command::Command,
        error::{Code, ErrorClass},
        id::{DiscussionId, Seq, Tenant},
        lifecycle::Lifecycle,
        money::{Price, Usd},
        outcome::StoppingReason,
        spec::{Limits, Simulation, Spec},
        state::State,
        time::Timestamp,
    },
    seams::{Archive, ClaimRequest, Clock, Node, Store, StoreError, Voices, Wanted},
};
use quorum_testkit::{
    clock::VirtualClock,
    faulty::{Fault, Faulty},
    kill::resume_anywhere,
    panel::{Panel, panel},
    table::Table,
};
use tokio::time::sleep;

use crate::{order, registry::registry, subs::recursive, table};

fn usd(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).unwrap()
}

/// Three dollars for a million tokens in, fifteen out. A call of `order` costs up to about a cent.
fn priced(panel: Panel) -> Panel {
    panel.priced(Price::new(usd(3.0), usd(15.0)))
}

fn per_day(dollars: f64) -> Caps {
    Caps { per_day: Some(usd(dollars)), ..Caps::default() }
}

/// The order of ann's token, which has these caps.
fn charged(spec: Spec, caps: Caps) -> Spec {
    let account = Some(CappedAccount { name: "ann".to_owned(), caps });
    Spec { tenant: Tenant::named("acme"), account, ..spec }
}

fn ann() -> Account {
    Account { tenant: Tenant::named("acme"), name: "ann".to_owned() }
}

async fn statuses(store: &dyn Store, caps: Caps, at: Timestamp) -> Vec<CapStatus> {
    store.spending(ann(), caps, at).await.unwrap()
}

/// What is spent and reserved of the day's cap.
async fn of_day(table: &Table, caps: Caps) -> (Usd, Usd) {
    let now = table.engine.services().clock.now();
    let status = statuses(&*table.store, caps, now).await[0];
    (status.spent, status.reserved)
}

/// What a discussion and everything below it spent, by their records.
fn recorded(store: &dyn Store, id: DiscussionId) -> Usd {
    let facts = store.read(id, Seq::START, usize::MAX).now_or_never().unwrap().unwrap_or_default();
    let Some(state) = State::of(id, &facts) else { return Usd::ZERO };
    let below = state.subs.keys().map(|step| recorded(store, id.derived(step.as_str())));
    below.fold(state.spent_itself(), |sum, it| sum + it)
}

#[tokio::test(start_paused = true)]
async fn s14_a_spent_cap_ends_a_discussion_like_a_spent_budget() {
    let table = table(&priced(panel().uses("*", 1_000, 200)));
    let spec = charged(Spec { rounds: 10, ..order("in-turn") }, per_day(0.06));
    let (outcome, _) = table.hold(spec).await;
    let error = outcome.error.unwrap();
    assert_eq!((error.code, error.retryable), (Code::CostBudgetExceeded, false));
    let told = "the spending cap of $0.0600 a day is reached: the next step would have needed up to $0.0";
    assert!(error.message.starts_with(told), "{}", error.message);
    assert!(error.message.ends_with("; it renews at 2026-01-02T00:00:00Z"), "{}", error.message);
    assert!(outcome.synthesis.starts_with("ann after "), "it ends in a synthesis: {}", outcome.synthesis);
    assert_eq!(outcome.stopping_reason, Some(StoppingReason::BUDGET));
    let (spent, reserved) = of_day(&table, per_day(0.06)).await;
    assert_eq!(spent.dollars(), outcome.metadata.estimated_cost.unwrap());
    assert!(spent > usd(0.02) && spent <= usd(0.06), "{spent}");
    assert_eq!(reserved, Usd::ZERO);
}

#[tokio::test(start_paused = true)]
async fn s14_under_a_spent_cap_nothing_is_started_and_nothing_recorded() {
    let store = Arc::new(MemoryStore::new());
    let table = Table::over(store.clone(), &priced(panel().uses("*", 1_000, 200)), registry());
    let caps = Caps { per_month: Some(usd(0.06)), ..Caps::default() };
    table.hold(charged(Spec { rounds: 10, ..order("in-turn") }, caps)).await;
    let asked = table.panel.asked().len();
    let refused = table.open(charged(order("in-turn"), caps)).await;
    let begun = table.engine.begin(charged(order("in-turn"), caps)).await.err();
    let Err(OpenError::SpendingCap(reached)) = refused else { panic!("{refused:?}") };
    assert!(begun.is_some());
    assert_eq!((reached.status.period, reached.status.cap), (Period::Month, usd(0.06)));
    assert!(reached.needed > reached.status.left(), "{reached:?}");
    assert_eq!((table.panel.asked().len(), store.list(Wanted::default()).await.unwrap().len()), (asked, 1));
    let other = Spec { tenant: Tenant::named("other"), ..charged(order("in-turn"), caps) };
    assert!(table.hold(other).await.0.success, "another tenant has a cap of its own");
}

#[tokio::test(start_paused = true)]
async fn s14_without_a_cap_or_with_simulated_voices_nothing_is_drawn() {
    let writes = |spec: Spec| async {
        let count = Arc::new(AtomicU64::new(0));
        let counting = count.clone();
        let store = Faulty::new(Arc::new(MemoryStore::new()), move |number| {
            counting.store(number + 1, Ordering::Relaxed);
            Fault::None
        });
        let table = Table::over(Arc::new(store), &priced(panel()), registry());
        assert!(table.hold(spec).await.0.success);
        count.load(Ordering::Relaxed)
    };
    let simulation =
        Simulation { seed: 7, latency_ms: 0, failure: 0.0, stubbornness: 0.5, dead: Vec::new(), world: None };
    let plain = writes(order("in-turn")).await;
    assert_eq!(writes(charged(order("in-turn"), Caps::default())).await, plain);
    let simulated = Spec { simulation: Some(simulation), ..order("in-turn") };
    assert_eq!(writes(charged(simulated, per_day(0.0))).await, plain);
    // One draw before it starts and one to settle; the slices last for most steps.
    let capped = writes(charged(order("in-turn"), per_day(100.0))).await;
    assert!((plain + 2..=plain + 4).contains(&capped), "{capped} writes instead of {plain}");
}

#[tokio::test(start_paused = true)]
async fn s14_a_token_cant_allow_itself_what_cant_be_counted() {
    let table = table(&panel());
    let limits = Limits { allow_unpriced: true, ..Limits::default() };
    let spec = charged(Spec { limits, ..order("in-turn") }, per_day(1.0));
    let refused = table.open(spec.clone()).await.unwrap_err().to_string();
    let told = "providers: the price of ann, bob, cyd is unknown, so a spending cap can't be enforced";
    assert!(refused.starts_with(told), "{refused}");
    let allowed = Caps { allow_unpriced: true, ..per_day(1.0) };
    assert!(table.hold(charged(order("in-turn"), allowed)).await.0.success, "its operator can");
    // The local user is the operator.
    let account = Some(CappedAccount { name: String::new(), caps: per_day(1.0) });
    let local = Spec { tenant: Tenant::default(), account: account.clone(), ..spec };
    assert!(table.hold(local).await.0.success);
    let unasked = Spec { account, ..order("in-turn") };
    assert!(table.open(unasked).await.is_err(), "unless they say so");
}

#[tokio::test(start_paused = true)]
async fn s14_sub_discussions_are_charged_with_their_root() {
    let table = table(&priced(panel().uses("*", 500, 100).convenes("bob", "how wide is a tab?")));
    let id = table.open(charged(recursive("in-turn", 1), per_day(5.0))).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert!(outcome.success && outcome.sub_discussions.len() == 1, "{:?}", outcome.error);
    let spent = recorded(&*table.store, id);
    assert_eq!(of_day(&table, per_day(5.0)).await, (spent, Usd::ZERO));
    // Too little for the sub-discussion, the rest and the decision: it is never exceeded.
    let table = crate::table(&priced(panel().uses("*", 500, 100).convenes("bob", "how wide is a tab?")));
    let cap = Usd::from_billionths(spent.billionths() * 3 / 4);
    let caps = Caps { per_day: Some(cap), ..Caps::default() };
    let id = table.open(charged(recursive("in-turn", 1), caps)).await.unwrap();
    assert_eq!(table.run(id).await.unwrap().outcome().error.unwrap().code, Code::CostBudgetExceeded);
    assert!(recorded(&*table.store, id) <= cap);
}

#[tokio::test(start_paused = true)]
async fn s14_what_a_provider_charges_beyond_its_worst_case_is_counted_and_ends_asking() {
    let table = table(&priced(panel().uses("ann", 1_000_000, 0)));
    let (outcome, _) = table.hold(charged(order("in-turn"), per_day(1.0))).await;
    assert_eq!(table.panel.steps(), ["1/talking/ann"], "three dollars for one answer");
    assert_eq!(outcome.error.unwrap().code, Code::CostBudgetExceeded);
    assert_eq!(of_day(&table, per_day(1.0)).await, (usd(3.0), Usd::ZERO));
}

#[tokio::test(start_paused = true)]
async fn s14_an_abort_charged_for_a_call_that_waited_in_its_lane() {
    let table = table(&priced(panel().uses("*", 1_000, 200)));
    let spec = charged(order("in-turn"), per_day(1.0));
    let lane = table.panel.voice(&spec, &spec.participants[0]).unwrap().lane;
    lane.close_for(Duration::from_secs(50));
    let id = table.open(spec).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Virtual time; it sleeps because the abort must come while the call waits in its lane.
    sleep(Duration::from_secs(1)).await;
    table.engine.send(id, Command::Abort).await.unwrap();
    assert_eq!(handle.finished().await.unwrap().outcome().status, Lifecycle::Aborted);
    assert_eq!(table.panel.steps(), [""; 0], "nothing was asked");
    assert_eq!(of_day(&table, per_day(1.0)).await, (Usd::ZERO, Usd::ZERO));
}

#[tokio::test(start_paused = true)]
async fn s14_a_paused_discussion_gives_its_money_back_and_is_not_ended_by_a_spent_cap() {
    let table = table(&priced(panel().takes("*", 1_000).uses("*", 1_000, 200)));
    let caps = per_day(0.06);
    let id = table.open(charged(Spec { rounds: 3, ..order("in-turn") }, caps)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    sleep(Duration::from_millis(1_500)).await;
    table.engine.send(id, Command::Pause).await.unwrap();
    let Finished::Waiting(paused) = handle.finished().await.unwrap() else { panic!("it was to pause") };
    let (spent, reserved) = of_day(&table, caps).await;
    assert_eq!((spent, reserved), (paused.spent.usd, Usd::ZERO));
    // Another one spends the rest.
    table.hold(charged(Spec { rounds: 10, ..order("in-turn") }, caps)).await;
    table.engine.send(id, Command::Resume).await.unwrap();
    let refused = table.run(id).await;
    let Err(RunError::SpendingCap(reached)) = refused else { panic!("{refused:?}") };
    assert_eq!(reached.status.period, Period::Day);
    assert_eq!(table.engine.state(id).await.unwrap().lifecycle, Lifecycle::Paused, "nothing was changed");
    let other = Node::fresh("other");
    table.store.join(other.clone()).await.unwrap();
    let orphans = table.store.claim_any(ClaimRequest::any(other.id, 9)).await.unwrap();
    assert_eq!(orphans, [], "no server tries again and again");
    // The next day it goes on; a stop would not need any money.
    sleep(Duration::from_secs(86_400)).await;
    let Finished::Over(over) = table.run(id).await.unwrap() else { panic!("it has the money now") };
    assert_eq!(over.turns.iter().filter(|it| it.step.as_str().ends_with("1/talking/ann")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn s14_a_stop_needs_no_money() {
    let table = table(&priced(panel().takes("*", 1_000).uses("*", 1_000, 200)));
    let caps = per_day(0.06);
    let id = table.open(charged(Spec { rounds: 3, ..order("in-turn") }, caps)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    sleep(Duration::from_millis(1_500)).await;
    table.engine.send(id, Command::Pause).await.unwrap();
    handle.finished().await.unwrap();
    let dear = priced(panel().uses("*", 1_000_000, 0));
    Table::over(table.store.clone(), &dear, registry()).hold(charged(order("in-turn"), caps)).await;
    table.engine.send(id, Command::Stop).await.unwrap();
    let Finished::Over(over) = table.run(id).await.unwrap() else { panic!("it was stopped") };
    assert_eq!(over.lifecycle, Lifecycle::Completed);
    assert_eq!(over.outcome().synthesis, "bob after 1", "no synthesis can be paid");
}

#[tokio::test(start_paused = true)]
async fn s14_a_discussion_over_midnight_is_counted_on_both_days() {
    let table = table(&priced(panel().takes("*", 20_000).uses("*", 1_000, 200)));
    let (caps, clock) = (per_day(0.2), table.engine.services().clock.clone());
    sleep(Duration::from_secs(86_400 - 50)).await;
    let evening = clock.now();
    let id = table.open(charged(Spec { rounds: 3, ..order("in-turn") }, caps)).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert!(outcome.success, "{:?}", outcome.error);
    let [first] = statuses(&*table.store, caps, evening).await[..] else { panic!("one cap") };
    let [second] = statuses(&*table.store, caps, clock.now()).await[..] else { panic!("one cap") };
    assert_eq!((first.reserved, second.reserved), (Usd::ZERO, Usd::ZERO));
    assert!(first.spent > Usd::ZERO && second.spent > Usd::ZERO, "{first:?} {second:?}");
    assert_eq!(first.spent + second.spent, recorded(&*table.store, id));
}

#[tokio::test(start_paused = true)]
async fn s14_a_killed_discussion_goes_on_and_its_money_is_settled() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let panel = priced(panel().takes("ann", 1).takes("bob", 2).takes("cyd", 3));
    let spec = charged(Spec { rounds: 2, ..order("in-turn") }, per_day(5.0));
    let deaths = resume_anywhere(store, &panel, registry(), spec.clone()).await;
    assert!(deaths > 5, "{deaths}");
    for writes in 1..=deaths {
        let store = store();
        let dying = Arc::new(Faulty::dying_after(store.clone(), writes));
        let first = Table::owned_by("first", dying, &panel.anew(), registry());
        let id = first.open(spec.clone()).await.unwrap();
        assert!(first.run(id).await.is_err());
        let now = first.engine.services().clock.now();
        let left = statuses(&*store, per_day(5.0), now).await[0];
        let spent = recorded(&*store, id);
        assert_eq!((left.spent, left.reserved), (spent, Usd::ZERO), "killed after write {writes}");
        let second = Table::owned_by("second", store.clone(), &panel.anew(), registry());
        assert!(second.run(id).await.unwrap().outcome().success);
        let left = statuses(&*store, per_day(5.0), now).await[0];
        let spent = recorded(&*store, id);
        assert_eq!((left.spent, left.reserved), (spent, Usd::ZERO), "killed after write {writes}");
    }
}

#[tokio::test(start_paused = true)]
async fn s14_draws_survive_a_store_that_is_away_or_loses_its_answers() {
    for fault in [Fault::Away, Fault::LosesAnswer, Fault::AnswersLate] {
        let inner = Arc::new(MemoryStore::new());
        // The discussion's first write must not be lost: its caller would not know the id.
        let every_third = move |number: u64| if number % 3 == 2 { fault } else { Fault::None };
        let store = Arc::new(Faulty::new(inner.clone(), every_third));
        let table = Table::over(store, &priced(panel()), registry());
        let id = table.open(charged(order("in-turn"), per_day(5.0))).await.unwrap();
        let outcome = table.run(id).await.unwrap().outcome();
        assert!(outcome.success, "{fault:?}: {:?}", outcome.error);
        let (spent, reserved) = of_day(&table, per_day(5.0)).await;
        assert_eq!((spent, reserved), (recorded(&*inner, id), Usd::ZERO), "{fault:?}");
    }
}

/// One of several discussions of an account.
#[derive(Debug, Clone)]
struct Planned {
    pattern: &'static str,
    rounds: u32,
    /// The number of the process that runs it.
    process: usize,
    /// When it is started, in milliseconds.
    after_ms: u64,
    /// After how many writes its process dies, if it does.
    dies_after: Option<u64>,
    recursive: bool,
}

fn planned() -> impl Strategy<Value = Planned> {
    let pattern = prop_oneof![Just("synthesis"), Just("in-turn"), Just("until-two")];
    let death = prop_oneof![2 => Just(None), 1 => (0..25_u64).prop_map(Some)];
    (pattern, 1..5_u32, 0..3_usize, 0..400_u64, death, any::<bool>()).prop_map(
        |(pattern, rounds, process, after_ms, dies_after, recursive)| Planned {
            pattern,
            rounds,
            process,
            after_ms,
            dies_after,
            recursive,
        },
    )
}

#[derive(Debug, Clone)]
struct Members {
    input: f64,
    output: f64,
    used: (u64, u64),
    failures: (ErrorClass, u32),
    takes_ms: u64,
}

fn members() -> impl Strategy<Value = Members> {
    let class = prop_oneof![
        Just(ErrorClass::Network),
        Just(ErrorClass::ApiError),
        Just(ErrorClass::Timeout),
        Just(ErrorClass::InvalidResponse),
        Just(ErrorClass::Authentication)
    ];
    // A reply never exceeds the worst case: the prompts are longer, and the limit is 200 tokens.
    let used = (0..100_u64, 0..200_u64);
    (0.0..20.0_f64, 0.0..60.0_f64, used, (class, 0..3_u32), 1..50_u64).prop_map(
        |(input, output, used, failures, takes_ms)| Members { input, output, used, failures, takes_ms },
    )
}

fn scripted(members: &Members) -> Panel {
    let Members { input, output, used, failures, takes_ms } = members;
    let panel = panel().takes("*", *takes_ms).uses("*", used.0, used.1).convenes("cyd", "at what price?");
    let panel = panel.fails_first("bob", failures.0, failures.1);
    panel.priced(Price::new(usd(*input), usd(*output)))
}

/// Runs these discussions at once, then resumes those whose process died, and returns what was
/// wrong at any moment: more spent, or possibly spent by calls under way, than the cap.
async fn overspent(discussions: &[Planned], members: &Members, caps: Caps) -> Result<(), String> {
    let store = Arc::new(MemoryStore::new());
    let (roots, wrong) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
    let cap = caps.per_day.unwrap_or_default();
    let audit = {
        let (store, roots, wrong) = (store.clone(), roots.clone(), wrong.clone());
        move || {
            let roots: Vec<DiscussionId> = roots.lock().unwrap().clone();
            let sum = roots.iter().fold(Usd::ZERO, |sum, id| sum + recorded(&*store, *id));
            if sum > cap {
                wrong.lock().unwrap().get_or_insert(format!("{sum} of {cap} was started"));
            }
        }
    };
    let runs = discussions.iter().map(|it| {
        let (audit, roots) = (audit.clone(), roots.clone());
        let dies_after = it.dies_after;
        let watched = Faulty::new(store.clone(), move |number| {
            audit();
            if dies_after.is_some_and(|writes| writes < number) { Fault::Dead } else { Fault::None }
        });
        let owner = format!("process {}", it.process);
        let table = Table::owned_by(&owner, Arc::new(watched), &scripted(members), registry());
        let usual = if it.recursive { recursive(it.pattern, 1) } else { order(it.pattern) };
        let spec = charged(Spec { rounds: it.rounds, ..usual }, caps);
        async move {
            sleep(Duration::from_millis(it.after_ms)).await;
            let Ok(id) = table.open(spec).await else { return };
            roots.lock().unwrap().push(id);
            let _ = table.run(id).await;
        }
    });
    futures::future::join_all(runs).await;
    let all: Vec<DiscussionId> = roots.lock().unwrap().clone();
    for id in &all {
        let watched = Faulty::new(store.clone(), {
            let audit = audit.clone();
            move |_| {
                audit();
                Fault::None
            }
        });
        let table = Table::owned_by("resumer", Arc::new(watched), &scripted(members), registry());
        match table.run(*id).await {
            Ok(_) | Err(RunError::SpendingCap(_) | RunError::Store(StoreError::Over(_))) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    audit();
    if let Some(wrong) = wrong.lock().unwrap().take() {
        return Err(wrong);
    }
    let now = VirtualClock::start().now();
    let status = statuses(&*store, caps, now).await[0];
    let sum = all.iter().fold(Usd::ZERO, |sum, id| sum + recorded(&*store, *id));
    if status.reserved > Usd::ZERO || status.spent < sum || status.spent > cap {
        return Err(format!("{status:?} but {sum} is recorded"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s14_no_call_starts_that_does_not_fit_the_cap(
        discussions in vec(planned(), 1..7),
        members in members(),
        cap in 0.0..1.5_f64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let held = runtime.unwrap().block_on(overspent(&discussions, &members, per_day(cap)));
        prop_assert!(held.is_ok(), "{}", held.unwrap_err());
    }
}
