//! The library as a program uses it, with an in-memory store.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::StreamExt;
use quorum::{
    Config, Discussion, Error, Expired, Finished, Handle, OrderKey, Quorum, Request, Scope, Signal, Steered,
    model::{
        command::Command,
        event::Event,
        id::{DiscussionId, Tenant},
        ruling::Ruling,
        settings::Settings,
        spec::Spec,
    },
};
use quorum_core::{
    memory::MemoryStore,
    model::{event::Fact, id::Seq, lifecycle::Lifecycle, time::Timestamp},
    seams::{Append, Archive, Clock, Created, Node, Nodes, Reservation, Store, StoreError, Then},
};
use serde_json::{Value, json};
use uuid::Uuid;

fn scope(config: &str) -> Scope {
    over(config, Arc::new(MemoryStore::new()))
}

fn over(config: &str, store: Arc<MemoryStore>) -> Scope {
    let config = Config::parse(config, Path::new("config.toml"), PathBuf::new()).unwrap();
    let quorum = Quorum::builder().config(config).store(store).simulated().build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

fn assigning_roles() -> Scope {
    Quorum::builder().simulated().assigning_roles().build().unwrap().scope(Tenant::default(), "ann")
}

async fn start(scope: &Scope, fields: &Value) -> (Discussion, Handle) {
    scope.start(scope.check(&request(fields)).unwrap()).await.unwrap()
}

fn request(fields: &Value) -> Request {
    let mut all = json!({ "topic": "Tabs or spaces?", "simulate": { "latencyMs": 0 } });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

#[track_caller]
fn refuses(scope: &Scope, fields: &Value, expected: &[&str]) {
    let Err(Error::Refused(refusals)) = scope.check(&request(fields)) else { panic!("not refused") };
    let fields: Vec<String> = refusals.iter().map(|it| format!("{} {}", it.field, it.code)).collect();
    assert_eq!(fields, expected);
}

/// A discussion that was paused after the first answer.
async fn paused(scope: &Scope) -> Discussion {
    let (discussion, handle) = start(scope, &json!({ "simulate": { "latencyMs": 1_000 } })).await;
    let answer = |signal: Signal| async move {
        matches!(&signal, Signal::Fact { fact, .. } if matches!(fact.event, Event::TurnCompleted { .. }))
    };
    assert!(handle.signals().any(answer).await);
    discussion.send(Command::Pause).await.unwrap();
    assert!(matches!(handle.finished().await.unwrap(), Finished::Waiting(_)));
    discussion
}

/// The audit log, newest first.
async fn audit_entries(scope: &Scope) -> Vec<String> {
    let audit_entries = scope.audit(9).await.unwrap();
    audit_entries.into_iter().map(|it| format!("{} {} {}", it.who, it.action, it.result)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_not_awaited_has_its_audit_entry() {
    let scope = scope("");
    let order = scope.check(&request(&json!({}))).unwrap();
    let started = scope.start(order);
    assert!(tokio::time::timeout(Duration::ZERO, started).await.is_err(), "it is not waited for");
    // It sleeps because there is no handle to wait with; the time is virtual.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let status: Vec<Lifecycle> = scope.list(9, None).await.unwrap().into_iter().map(|it| it.status).collect();
    assert_eq!(status, [Lifecycle::Completed]);
    assert_eq!(audit_entries(&scope).await, ["ann start done"]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_is_audited_as_refused() {
    let scope = scope("");
    let order = Spec { session: Some(Uuid::nil()), ..scope.check(&request(&json!({}))).unwrap() };
    let error = scope.start(order).await.err().unwrap();
    assert_eq!(
        audit_entries(&scope).await,
        [format!("ann start refused: {error}"), "ann start done".to_owned()]
    );
}

#[test]
fn inv_disc_008_a_program_names_the_roles_of_a_debate() {
    let expected = ["roles DISCUSSION_INVALID_ROLES"];
    refuses(&scope(""), &json!({ "pattern": "debate" }), &expected);
    assert!(assigning_roles().check(&request(&json!({ "pattern": "debate" }))).is_ok());
}

#[test]
fn refusals_of_the_pattern_and_of_the_request_are_reported_together() {
    let expected = [
        "rounds DISCUSSION_INVALID_REQUEST",
        "pattern DISCUSSION_INVALID_PATTERN",
        "consensus DISCUSSION_INVALID_REQUEST",
    ];
    refuses(&scope(""), &json!({ "pattern": "shouting", "consensus": "dice", "rounds": 0 }), &expected);
    refuses(&scope(""), &json!({ "pattern": "voting" }), &["votingOptions DISCUSSION_INVALID_REQUEST"]);
}

#[test]
fn a_complaint_is_made_once() {
    refuses(&scope(""), &json!({ "consensus": "moderator" }), &["synthesizer DISCUSSION_INVALID_REQUEST"]);
}

#[test]
fn a_budget_of_nan_or_without_end_is_refused_and_not_left_out() {
    for odd in [f64::NAN, f64::INFINITY] {
        let budget = Request { max_cost: Some(odd), ..Request::on("Tabs or spaces?") };
        // JSON has no such numbers; both are null there.
        let settings = [("threshold".to_owned(), json!(odd))].into();
        let share = Request { settings, ..Request::on("Tabs or spaces?") };
        for (request, field) in [(budget, "maxCost"), (share, "threshold")] {
            let Err(Error::Refused(refusals)) = scope("").check(&request) else { panic!("{field} is taken") };
            assert_eq!(refusals[0].field, field);
        }
    }
}

#[test]
fn an_option_that_is_null_in_json_is_left_out_and_one_of_the_wrong_type_refused() {
    let order = scope("").check(&request(&json!({ "threshold": null }))).unwrap();
    assert!(order.settings.is_empty(), "{:?}", order.settings);
    let Err(Error::Refused(refusals)) = scope("").check(&request(&json!({ "threshold": "x" }))) else {
        panic!("x is no number")
    };
    let messages: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["threshold: must be a number from 0 to 1, not \"x\""]);
}

#[test]
fn an_option_that_does_not_count_is_refused_in_a_request_and_skipped_in_the_configuration() {
    let messages = |scope: &Scope, fields: &Value| match scope.check(&request(fields)) {
        Err(Error::Refused(refusals)) => refusals.iter().map(ToString::to_string).collect(),
        Err(error) => panic!("{error}"),
        Ok(_) => Vec::new(),
    };
    let judged = json!({ "swapCheck": true, "stopSequences": {} });
    let expected = [
        "stopSequences: applies only to the pattern roundtable; choose it, or leave this out",
        "swapCheck: applies only to the pattern debate; choose it, or leave this out",
    ];
    assert_eq!(messages(&scope(""), &judged), expected);
    let configured = scope("[defaults]\nswap-check = true\nthreshold = 0.75");
    let order = configured.check(&request(&json!({}))).unwrap();
    assert_eq!(order.settings, Settings::default().with("threshold", 0.75));
}

#[tokio::test(start_paused = true)]
async fn b12_switched_off_nothing_starts() {
    let scope = scope("[features]\ndiscussions = false");
    let order = scope.check(&request(&json!({}))).unwrap();
    assert!(matches!(scope.start(order.clone()).await, Err(Error::SwitchedOff { .. })));
    assert!(matches!(scope.prepare(order).await, Err(Error::SwitchedOff { .. })));
    assert_eq!(scope.list(0, None).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn paused_stopped_and_resumed_by_one_process() {
    let scope = scope("");
    let paused = paused(&scope).await;
    assert!(matches!(paused.steer(Command::Pause).await.unwrap(), Steered::Idle(_)));
    let handle = paused.resume_here().await.unwrap();
    assert!(handle.finished().await.unwrap().outcome().success);
    assert!(matches!(paused.resume_here().await, Err(Error::Store(StoreError::Over(_)))));
    assert!(paused.steer(Command::Stop).await.is_err());
    let id = paused.id();
    assert_eq!(scope.find("last").await.unwrap().id(), id);
    assert_eq!(scope.find(&id.to_string()[..20]).await.unwrap().id(), id);
    let over = format!("refused: discussion {id} is over; nothing more can happen in it");
    assert_eq!(
        audit_entries(&scope).await,
        [
            format!("ann stop {over}"),
            format!("ann resume {over}"),
            "ann resume done".to_owned(),
            "ann pause done".to_owned(),
            "ann pause done".to_owned(),
            "ann start done".to_owned(),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_was_never_taken_does_not_block_a_resume() {
    let paused = paused(&scope("")).await;
    paused.send(Command::Resume).await.unwrap();
    paused.send(Command::Pause).await.unwrap();
    let handle = paused.resume_here().await.unwrap();
    assert!(handle.finished().await.unwrap().outcome().success);
}

#[tokio::test(start_paused = true)]
async fn a_prepared_discussion_is_run_later_and_started_once() {
    let scope = scope("");
    let prepared = scope.prepare(scope.check(&request(&json!({}))).unwrap()).await.unwrap();
    assert_eq!(prepared.state().await.unwrap().lifecycle, Lifecycle::Ready);
    let handle = prepared.run_prepared().await.unwrap();
    assert!(handle.finished().await.unwrap().outcome().success);
    assert_eq!(audit_entries(&scope).await, ["ann start done"]);
}

fn key(digest: &str) -> OrderKey {
    OrderKey { key: "once".to_owned(), digest: digest.to_owned() }
}

/// A process reserved an id for the order and died before it began the discussion.
#[tokio::test(start_paused = true)]
async fn f12_a_crash_between_the_key_and_the_discussion_loses_no_order() {
    let store = Arc::new(MemoryStore::new());
    let id = DiscussionId::fresh();
    let OrderKey { key: name, digest } = key("order");
    store.reserve(Reservation { tenant: Tenant::default(), key: name, digest, id }).await.unwrap();
    let scope = over("", store);
    let spec = scope.check(&request(&json!({}))).unwrap();
    assert!(scope.list(0, None).await.unwrap().is_empty());
    let other = scope.start_once(spec.clone(), Some(&key("another order"))).await;
    assert!(matches!(other, Err(Error::KeyReused(_))), "the key stands for the first order");
    let started = scope.start_once(spec.clone(), Some(&key("order"))).await.unwrap();
    assert_eq!(started.discussion.id(), id);
    assert!(started.handle.unwrap().finished().await.unwrap().outcome().success);
    let again = scope.start_once(spec, Some(&key("order"))).await.unwrap();
    assert!(again.discussion.id() == id && again.handle.is_none());
}

#[tokio::test(start_paused = true)]
async fn f12_of_two_processes_that_start_the_same_order_at_once_one_does() {
    let store = Arc::new(MemoryStore::new());
    let (one, two) = (over("", store.clone()), over("", store));
    let spec = one.check(&request(&json!({ "simulate": { "latencyMs": 1_000 } }))).unwrap();
    let key = key("order");
    let started = futures::future::join(
        one.start_once(spec.clone(), Some(&key)),
        two.start_once(spec.clone(), Some(&key)),
    );
    let (one_started, two_started) = started.await;
    let (one_started, two_started) = (one_started.unwrap(), two_started.unwrap());
    assert_eq!(one_started.discussion.id(), two_started.discussion.id());
    assert_eq!(usize::from(one_started.handle.is_some()) + usize::from(two_started.handle.is_some()), 1);
    assert_eq!(one.list(0, None).await.unwrap().len(), 1);
    // Whoever finds it full queues nothing twice.
    let (queued, created) = two.queue_once(spec, Some(&key), 9).await.unwrap();
    assert_eq!((queued.id(), created), (one_started.discussion.id(), Created::Existed));
}

#[tokio::test(start_paused = true)]
async fn another_tenant_finds_nothing() {
    let own = scope("");
    let (discussion, handle) = start(&own, &json!({})).await;
    handle.finished().await.unwrap();
    let session = own.create_session("ours").await.unwrap();
    let (id, other) = (discussion.id(), own.quorum().scope(Tenant::named("acme"), "bob"));
    assert!(matches!(other.find(&id.to_string()).await, Err(Error::Store(StoreError::Unknown(_)))));
    assert!(matches!(other.find(&id.to_string()[..20]).await, Err(Error::NotFound(_))));
    assert!(matches!(other.find("last").await, Err(Error::NoneYet)));
    assert!(matches!(other.find_session("ours").await, Err(Error::NoSession(_))));
    assert_eq!(own.find_session("ours").await.unwrap(), session.session_id);
    assert_eq!((other.list(0, None).await.unwrap(), other.audit(9).await.unwrap()), (vec![], vec![]));
}

#[test]
fn a_builder_without_voices_is_refused() {
    assert!(matches!(Quorum::builder().build(), Err(Error::NoVoices)));
}

/// A clock that stands still.
struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp(1_800_000_000_000_000)
    }

    fn draw(&self) -> u64 {
        7
    }
}

#[tokio::test(start_paused = true)]
async fn a_program_brings_its_own_voices_and_clock() {
    let script = quorum_testkit::panel::panel().says("ann", "Tabs.").says("bob", "Spaces.");
    let quorum = Quorum::builder().voices(Arc::new(script)).clock(Arc::new(Noon)).build().unwrap();
    let scope = quorum.scope(Tenant::default(), "ann");
    let request =
        Request { providers: Some(vec!["ann".into(), "bob".into()]), ..Request::on("Tabs or spaces?") };
    let (discussion, handle) = scope.start(scope.check(&request).unwrap()).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert!(!outcome.simulated);
    let facts = discussion.facts(Seq::START).await.unwrap();
    assert!(facts.iter().all(|fact| fact.at == Noon.now()), "{facts:?}");
}

/// A discussion that was aborted in 1970.
async fn abort_long_ago(store: &MemoryStore, scope: &Scope) {
    let fact =
        |seq, event| Fact { seq: Seq(seq), at: Timestamp(seq as i64), active_ms: 0, step: None, event };
    let spec = Arc::new(scope.check(&request(&json!({}))).unwrap());
    let id = DiscussionId::fresh();
    store
        .create(id, vec![fact(1, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None })])
        .await
        .unwrap();
    let someone = Node::fresh("someone");
    store.join(someone.clone()).await.unwrap();
    let claim = store.claim(id, someone.id).await.unwrap();
    let end = Event::LifecycleChanged { from: Lifecycle::Configuring, to: Lifecycle::Aborted };
    let (expected, facts) = (Seq(1), vec![fact(2, end)].into());
    let append = Append { claim, id, expected, facts, then: Then::Done, digest: None };
    store.append(append).await.unwrap();
}

#[tokio::test]
async fn inv_disc_632_old_discussions_are_hidden_unless_switched_off_and_can_be_restored() {
    for (config, expected) in [("", 1), ("[retention]\ndays = 3650", 1), ("[retention]\ndays = false", 0)] {
        let store = Arc::new(MemoryStore::new());
        let scope = over(config, store.clone());
        abort_long_ago(&store, &scope).await;
        start(&scope, &json!({})).await.1.finished().await.unwrap();
        let expired = Expired { hidden: expected, ..Expired::default() };
        assert_eq!(scope.quorum().expire_old().await.unwrap(), expired, "{config}");
        assert_eq!(scope.list(0, None).await.unwrap().len() as u64, 2 - expected, "{config}");
        let hidden = scope.hidden(0).await.unwrap();
        assert_eq!(hidden.len() as u64, expected, "{config}");
        for it in hidden {
            let beginning = it.discussion_id.to_string()[..20].to_owned();
            let discussion = scope.find_hidden(&beginning).await.unwrap();
            assert_eq!(discussion.id(), it.discussion_id);
            discussion.restore().await.unwrap();
            let newest = scope.audit(1).await.unwrap().remove(0);
            assert_eq!((newest.action.as_str(), newest.who.as_str()), ("restore", "ann"));
        }
        assert_eq!(scope.quorum().expire_old().await.unwrap(), Expired::default());
        assert_eq!(scope.list(0, None).await.unwrap().len(), 2, "{config}");
    }
}

#[tokio::test]
async fn d13_a_ruling_about_the_judge_continues_the_debate() {
    let scope = assigning_roles();
    let asking = json!({
        "pattern": "debate", "providers": ["claude", "glm", "qwen"], "judge": "qwen", "judgeFailure": "ask",
        "simulate": { "latencyMs": 0, "dead": ["qwen"] },
    });
    let (debate, handle) = start(&scope, &asking).await;
    let Finished::Waiting(state) = handle.finished().await.unwrap() else { panic!("nobody judges") };
    assert_eq!(state.ruling.as_ref().unwrap().about, "qwen");
    let ruling = |choice: &str, candidate: Option<&str>| Ruling {
        kind: "judge".to_owned(),
        choice: choice.to_owned(),
        candidate: candidate.map(str::to_owned),
    };
    let nobody = debate.rule(ruling("swap", Some("zoe"))).await;
    let Err(Error::Store(StoreError::NoSuchCandidate { name, .. })) = nobody else {
        panic!("zoe can't judge")
    };
    assert_eq!(name.as_deref(), Some("zoe"));
    let shrugged = debate.rule(ruling("shrug", None)).await;
    assert!(matches!(shrugged, Err(Error::Store(StoreError::NoSuchChoice { .. }))), "it is no choice");
    let Ok(Steered::Here(handle)) = debate.rule(ruling("go-without", None)).await else {
        panic!("it goes on")
    };
    let outcome = handle.finished().await.unwrap().outcome();
    assert!(outcome.success && outcome.integrity.degraded);
}
