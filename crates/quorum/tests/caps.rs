//! S14 with the real store: several processes on one file share an account's spending caps.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{path::Path, sync::Arc};

use proptest::{collection::vec, prelude::*};
use quorum::{
    CapFit, Config, Error, Quorum, Request, Scope,
    model::{
        account::{Account, CapStatus, CappedAccount, Caps},
        error::ErrorClass,
        event::Event,
        id::{DiscussionId, Seq, Tenant},
        money::{Price, Usd},
        spec::Spec,
        state::State,
    },
};
use quorum_core::seams::{Clock, Store};
use quorum_patterns::registry;
use quorum_store::{Options, SqliteStore};
use quorum_testkit::{
    clock::VirtualClock,
    faulty::Faulty,
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};
use tempfile::TempDir;

fn opened(file: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(file).unwrap())
}

fn usd(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).unwrap()
}

fn per_day(dollars: f64) -> Caps {
    Caps { per_day: Some(usd(dollars)), ..Caps::default() }
}

fn priced(panel: Panel) -> Panel {
    panel.priced(Price::new(usd(3.0), usd(15.0)))
}

fn charged(spec: Spec, caps: Caps) -> Spec {
    let account = Some(CappedAccount { name: "ann".to_owned(), caps });
    Spec { tenant: Tenant::named("acme"), account, ..spec }
}

async fn of_day(store: &dyn Store, caps: Caps) -> CapStatus {
    let account = Account { tenant: Tenant::named("acme"), name: "ann".to_owned() };
    store.spending(account, caps, VirtualClock::start().now()).await.unwrap()[0]
}

/// What a discussion spent by its record.
async fn recorded(store: &dyn Store, id: DiscussionId) -> Usd {
    let facts = store.read(id, Seq::START, usize::MAX).await.unwrap();
    State::of(id, &facts).unwrap().spent.usd
}

#[tokio::test]
async fn s14_counts_outlive_the_processes_that_made_them() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("quorum.db");
    let spec = charged(Spec { rounds: 10, ..spec("round-robin") }, per_day(0.1));
    let spent = {
        let table = Table::over(opened(&file), &priced(panel().uses("*", 1_000, 200)), registry());
        let (outcome, _) = table.hold(spec.clone()).await;
        usd(outcome.metadata.estimated_cost.unwrap())
    };
    let store = opened(&file);
    let status = of_day(&*store, per_day(0.1)).await;
    assert_eq!((status.spent, status.reserved), (spent, Usd::ZERO));
    let table = Table::over(store.clone(), &priced(panel().uses("*", 1_000, 200)), registry());
    table.open(spec.clone()).await.unwrap_err();
    drop((table, store));
    let read_only = SqliteStore::open_to_read(&file, Options::default()).unwrap();
    assert_eq!(of_day(&read_only, per_day(0.1)).await.spent, spent);
}

/// The lock of a process that was killed is released by the operating system, long before its lease
/// ends. Dropping a store does the same, while its claims stay in the file.
#[tokio::test]
async fn s14_a_killed_processs_money_is_free_at_once() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("quorum.db");
    let spec = charged(spec("round-robin"), per_day(0.2));
    let id = {
        let dying = Arc::new(Faulty::dying_after(opened(&file), 4));
        let table = Table::owned_by("killed", dying, &priced(panel().uses("*", 500, 100)), registry());
        let id = table.open(spec.clone()).await.unwrap();
        table.run(id).await.unwrap_err();
        id
    };
    let store = opened(&file);
    let spent = recorded(&*store, id).await;
    let status = of_day(&*store, per_day(0.2)).await;
    assert_eq!((status.spent, status.reserved), (spent, Usd::ZERO));
    assert!(spent > Usd::ZERO, "it died with an answer, or a call under way");
}

/// A discussion, the process that runs it, and after how many writes that dies, if it does.
type Planned = (&'static str, u32, usize, Option<u64>);

fn planned() -> impl Strategy<Value = Planned> {
    let pattern = prop_oneof![Just("synthesis"), Just("round-robin"), Just("critique")];
    let death = prop_oneof![2 => Just(None), 1 => (1..15_u64).prop_map(Some)];
    (pattern, 1..4_u32, 0..3_usize, death)
}

async fn overspent(discussions: &[Planned], output: f64, cap: f64) -> Result<(), String> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("quorum.db");
    let stores = [opened(&file), opened(&file), opened(&file)];
    let (caps, price) = (per_day(cap), Price::new(usd(3.0), usd(output)));
    let script = || {
        let flaky = panel().takes("*", 1).uses("*", 50, 150).fails_first("bob", ErrorClass::Network, 1);
        flaky.priced(price)
    };
    let runs = discussions.iter().map(|(pattern, rounds, process, death)| {
        let store: Arc<dyn Store> = match death {
            Some(writes) => Arc::new(Faulty::dying_after(stores[*process].clone(), *writes)),
            None => stores[*process].clone(),
        };
        let table = Table::owned_by(&format!("process {process}"), store, &script(), registry());
        let spec = charged(Spec { rounds: *rounds, ..spec(pattern) }, caps);
        async move {
            let id = table.open(spec).await.ok()?;
            let _ = table.run(id).await;
            Some(id)
        }
    });
    let ids: Vec<DiscussionId> = futures::future::join_all(runs).await.into_iter().flatten().collect();
    let mut sum = Usd::ZERO;
    for id in &ids {
        sum += recorded(&*stores[0], *id).await;
    }
    let status = of_day(&*stores[1], caps).await;
    if sum > usd(cap) || status.spent != sum || status.reserved > Usd::ZERO {
        return Err(format!("{sum} of {cap} was started, and {status:?} is counted"));
    }
    // Those that died go on elsewhere.
    for id in &ids {
        let table = Table::owned_by("resumer", stores[2].clone(), &script(), registry());
        let _ = table.run(*id).await;
    }
    let mut sum = Usd::ZERO;
    for id in &ids {
        sum += recorded(&*stores[0], *id).await;
    }
    let status = of_day(&*stores[1], caps).await;
    let is_right = sum <= usd(cap) && status.spent == sum && status.reserved == Usd::ZERO;
    is_right.then_some(()).ok_or_else(|| format!("resumed: {sum} of {cap}, {status:?}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s14_processes_on_one_file_never_start_more_than_the_cap_together(
        discussions in vec(planned(), 1..6),
        output in 1.0..60.0_f64,
        cap in 0.05..0.6_f64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let held = runtime.unwrap().block_on(overspent(&discussions, output, cap));
        prop_assert!(held.is_ok(), "{}", held.unwrap_err());
    }
}

/// The command's scope under this configuration, with priced voices named ann, bob and cyd.
fn command(config: &str, store: &Arc<SqliteStore>, panel: &Panel) -> Scope {
    let config = Config::parse(config, Path::new("c.toml"), Default::default()).unwrap();
    let builder = Quorum::builder().config(config).store(store.clone());
    let quorum = builder.voices(Arc::new(panel.clone())).build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

fn request() -> Request {
    let seats = ["scripted-a", "scripted-b"].map(str::to_owned).to_vec();
    Request { providers: Some(seats), rounds: Some(1), ..Request::on("Tabs or spaces?") }
}

#[tokio::test]
async fn s14_the_command_is_refused_with_what_is_left_and_when_it_renews() {
    let folder = TempDir::new().unwrap();
    let store = opened(&folder.path().join("quorum.db"));
    let panel = priced(panel().uses("*", 10_000, 1_000));
    let scope = command("[limits]\nmax_cost_per_day = 0.5", &store, &panel);
    let order = scope.check(&request()).unwrap();
    let plan = scope.plan(&order).await.unwrap();
    assert_eq!((plan.caps.len(), plan.caps[0].cap_usd, plan.caps[0].left_usd), (1, 0.5, 0.5));
    assert_eq!(plan.cap_fit, Some(CapFit::MayNotFit), "{plan:?}");
    let (_, handle) = scope.start(order.clone()).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert!(outcome.success, "{:?}", outcome.error);
    let spent = outcome.metadata.estimated_cost.unwrap();
    let left = scope.spending().await.unwrap();
    assert_eq!((left[0].period, left[0].spent_usd, left[0].reserved_usd), ("day", spent, 0.0));
    // Another process with a smaller cap.
    let scope = command("[limits]\nmax_cost_per_day = 0.1\nmax_cost_per_month = 7", &store, &panel);
    assert_eq!(scope.plan(&order).await.unwrap().cap_fit, Some(CapFit::DoesNotFit));
    let refused = scope.start(scope.check(&request()).unwrap()).await.err().unwrap();
    let Error::SpendingCap(reached) = &refused else { panic!("{refused}") };
    assert!(refused.to_string().starts_with("the spending cap of $0.1000 a day is reached"), "{refused}");
    assert!(reached.renews_in_ms() <= 86_400_000);
    // Without caps nothing is counted, and simulated voices cost nothing.
    let free = command("", &store, &panel);
    assert!(free.spending().await.unwrap().is_empty());
    let offline = Request { offline: Some(true), ..request() };
    let (discussion, handle) = scope.start(scope.check(&offline).unwrap()).await.unwrap();
    assert!(handle.finished().await.unwrap().outcome().success);
    assert!(scope.plan(&scope.check(&offline).unwrap()).await.unwrap().caps.is_empty());
    drop(discussion);
}

#[tokio::test]
async fn s14_a_raised_cap_holds_for_discussions_that_were_started_before() {
    let folder = TempDir::new().unwrap();
    let store = opened(&folder.path().join("quorum.db"));
    let panel = priced(panel().takes("*", 50).uses("*", 1_000, 500));
    let config = |cap: f64| format!("[limits]\nmax_cost_per_day = {cap}");
    let scope = command(&config(0.5), &store, &panel);
    let (discussion, handle) = scope.start(scope.check(&request()).unwrap()).await.unwrap();
    discussion.send(quorum::model::command::Command::Pause).await.unwrap();
    handle.finished().await.unwrap();
    let facts = discussion.facts(Seq::START).await.unwrap();
    assert!(matches!(&facts[0].event, Event::Opened { spec, .. } if spec.account.is_some()));
    let lowered = command(&config(0.0001), &store, &panel).discussion(discussion.id()).await.unwrap();
    let refused = lowered.resume().await.err();
    assert!(matches!(refused, Some(Error::SpendingCap(_))), "{refused:?}");
    let raised = command(&config(5.0), &store, &panel).discussion(discussion.id()).await.unwrap();
    let quorum::Steered::Here(handle) = raised.resume().await.unwrap() else { panic!("it runs here") };
    assert!(handle.finished().await.unwrap().outcome().success);
}
