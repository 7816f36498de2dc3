//! The door as a program uses it, over a store in memory.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::StreamExt;
use quorum::{
    Config, Error, Expired, Finished, Quorum, Request, Resumed, Scope, Signal, Steered,
    model::{
        command::Command,
        event::Event,
        id::{DiscussionId, Tenant},
        spec::Spec,
        vacancy::Ruling,
    },
};
use quorum_core::{
    memory::MemoryStore,
    model::{event::Fact, id::Seq, lifecycle::Lifecycle, time::Timestamp},
    seams::{Append, Store, StoreError, Then},
};
use quorum_providers::SimulatedVoices;
use serde_json::{Value, json};
use uuid::Uuid;

fn door(config: &str) -> Quorum {
    over(config, Arc::new(MemoryStore::new()))
}

fn over(config: &str, store: Arc<MemoryStore>) -> Quorum {
    let config = Config::parse(config, Path::new("config.toml"), PathBuf::new()).unwrap();
    Quorum::over(config, store, Arc::new(SimulatedVoices::default()))
}

fn request(fields: &Value) -> Request {
    let mut all = json!({ "topic": "Tabs or spaces?", "simulate": { "latencyMs": 0 } });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

#[track_caller]
fn refuses(door: &Quorum, fields: &Value, expected: &[&str]) {
    let Err(Error::Refused(refusals)) = door.check(&request(fields)) else { panic!("not refused") };
    let fields: Vec<String> = refusals.iter().map(|it| format!("{} {}", it.field, it.code)).collect();
    assert_eq!(fields, expected);
}

/// A discussion that was paused after the first answer.
async fn paused(door: &Quorum) -> DiscussionId {
    let slow = request(&json!({ "simulate": { "latencyMs": 1_000 } }));
    let handle = door.start(&slow).await.unwrap();
    let answer = |signal: Signal| async move {
        matches!(&signal, Signal::Fact { fact, .. } if matches!(fact.event, Event::TurnCompleted { .. }))
    };
    assert!(handle.signals().any(answer).await);
    door.send(handle.id(), Command::Pause).await.unwrap();
    assert!(matches!(handle.finished().await.unwrap(), Finished::Waiting(_)));
    handle.id()
}

/// What was done, newest first.
async fn deeds(scope: &Scope) -> Vec<String> {
    let deeds = scope.deeds(9).await.unwrap();
    deeds.into_iter().map(|it| format!("{} {} {}", it.who, it.action, it.result)).collect()
}

#[tokio::test(start_paused = true)]
async fn what_was_started_and_not_waited_for_ran_without_its_deed() {
    let scope = Scope::new(Arc::new(door("")), Tenant::default(), "ann");
    let order = scope.check(&request(&json!({}))).unwrap();
    let started = scope.start(order, None);
    assert!(tokio::time::timeout(Duration::ZERO, started).await.is_err(), "it is not waited for");
    // It sleeps because nobody holds a handle to wait with; the time is virtual.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let status: Vec<Lifecycle> = scope.list(9, None).await.unwrap().into_iter().map(|it| it.status).collect();
    assert_eq!(status, [Lifecycle::Completed]);
    assert_eq!(deeds(&scope).await, ["ann start done"]);
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_started_is_written_down_as_refused() {
    let scope = Scope::new(Arc::new(door("")), Tenant::default(), "ann");
    let order = Spec { session: Some(Uuid::nil()), ..scope.check(&request(&json!({}))).unwrap() };
    let error = scope.start(order, None).await.err().unwrap();
    assert_eq!(deeds(&scope).await, [format!("ann start refused: {error}"), "ann start done".to_owned()]);
}

#[test]
fn inv_disc_008_a_program_names_the_roles_of_a_debate() {
    let expected = ["roles DISCUSSION_INVALID_ROLES"];
    refuses(&door(""), &json!({ "pattern": "debate" }), &expected);
    assert!(door("").assigning_roles().check(&request(&json!({ "pattern": "debate" }))).is_ok());
}

#[test]
fn what_the_pattern_refuses_stands_beside_what_the_request_breaks() {
    let expected = [
        "rounds DISCUSSION_INVALID_REQUEST",
        "pattern DISCUSSION_INVALID_PATTERN",
        "consensus DISCUSSION_INVALID_REQUEST",
    ];
    refuses(&door(""), &json!({ "pattern": "shouting", "consensus": "dice", "rounds": 0 }), &expected);
    refuses(&door(""), &json!({ "pattern": "voting" }), &["votingOptions DISCUSSION_INVALID_REQUEST"]);
}

#[test]
fn a_complaint_is_made_once() {
    refuses(&door(""), &json!({ "consensus": "moderator" }), &["synthesizer DISCUSSION_INVALID_REQUEST"]);
}

#[test]
fn a_budget_of_nan_or_without_end_is_refused_and_not_left_out() {
    for odd in [f64::NAN, f64::INFINITY] {
        let budget = Request { max_cost: Some(odd), ..Request::on("Tabs or spaces?") };
        let share = Request { threshold: Some(odd), ..Request::on("Tabs or spaces?") };
        for (request, field) in [(budget, "maxCost"), (share, "threshold")] {
            let Err(Error::Refused(refusals)) = door("").check(&request) else { panic!("{field} is taken") };
            assert_eq!(refusals[0].field, field);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b12_switched_off_nothing_starts() {
    let door = door("[features]\ndiscussions = false");
    assert!(matches!(door.start(&request(&json!({}))).await, Err(Error::SwitchedOff(_))));
    assert_eq!(door.list(0, None).await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn paused_stopped_and_resumed_by_one_process() {
    let door = door("");
    let id = paused(&door).await;
    assert!(matches!(door.steer(id, Command::Pause).await.unwrap(), Steered::Idle(_)));
    let Resumed::Running(handle) = door.resume(id).await.unwrap() else { panic!("it is not over") };
    assert!(handle.finished().await.unwrap().outcome().success);
    assert!(matches!(door.resume(id).await.unwrap(), Resumed::Over(_)));
    assert!(door.steer(id, Command::Stop).await.is_err());
    assert_eq!(door.find("last").await.unwrap(), id);
    assert_eq!(door.find(&id.to_string()[..20]).await.unwrap(), id);
}

#[tokio::test(start_paused = true)]
async fn a_pause_nobody_took_does_not_hold_a_resume_back() {
    let door = door("");
    let id = paused(&door).await;
    door.send(id, Command::Resume).await.unwrap();
    door.send(id, Command::Pause).await.unwrap();
    let Resumed::Running(handle) = door.resume(id).await.unwrap() else { panic!("it is not over") };
    assert!(handle.finished().await.unwrap().outcome().success);
}

/// A discussion that was aborted in 1970.
async fn abort_long_ago(store: &MemoryStore, door: &Quorum) {
    let fact =
        |seq, event| Fact { seq: Seq(seq), at: Timestamp(seq as i64), active_ms: 0, step: None, event };
    let spec = Arc::new(door.check(&request(&json!({}))).unwrap());
    let id = DiscussionId::fresh();
    store
        .create(id, vec![fact(1, Event::Opened { spec, flow: 1, lineage: None, fork: None })])
        .await
        .unwrap();
    let claim = store.claim(id, "someone", 1_000).await.unwrap();
    let end = Event::LifecycleChanged { from: Lifecycle::Configuring, to: Lifecycle::Aborted };
    let append = Append { claim, id, expected: Seq(1), facts: vec![fact(2, end)].into(), then: Then::Done };
    store.append(append).await.unwrap();
}

#[tokio::test]
async fn inv_disc_632_what_is_old_is_hidden_unless_that_is_switched_off_and_can_be_restored() {
    for (config, expected) in [("", 1), ("[retention]\ndays = 3650", 1), ("[retention]\ndays = false", 0)] {
        let store = Arc::new(MemoryStore::new());
        let door = over(config, store.clone());
        abort_long_ago(&store, &door).await;
        door.start(&request(&json!({}))).await.unwrap().finished().await.unwrap();
        assert_eq!(door.expire_old().await.unwrap(), Expired { hidden: expected, ..Expired::default() });
        assert_eq!(door.list(0, None).await.unwrap().len() as u64, 2 - expected, "{config}");
        let hidden = door.hidden(0).await.unwrap();
        assert_eq!(hidden.len() as u64, expected, "{config}");
        for it in hidden {
            let beginning = it.discussion_id.to_string()[..20].to_owned();
            assert_eq!(door.find_hidden(&beginning).await.unwrap(), it.discussion_id);
            door.restore(it.discussion_id).await.unwrap();
        }
        assert_eq!(door.expire_old().await.unwrap(), Expired::default());
        assert_eq!(door.list(0, None).await.unwrap().len(), 2, "{config}");
    }
}

#[tokio::test]
async fn d13_a_word_about_the_judge_goes_on_with_the_debate() {
    let door = door("").assigning_roles();
    let asking = json!({
        "pattern": "debate", "providers": ["claude", "glm", "qwen"], "judge": "qwen", "judgeFailure": "ask",
        "simulate": { "latencyMs": 0, "dead": ["qwen"] },
    });
    let handle = door.start(&request(&asking)).await.unwrap();
    let Finished::Waiting(state) = handle.finished().await.unwrap() else { panic!("nobody judges") };
    assert_eq!(state.debate.vacancy.unwrap().lost, "qwen");
    let nobody = door.judge(handle.id(), Ruling::Swap { to: "zoe".to_owned() }).await;
    let Err(Error::Store(StoreError::CannotJudge { name, .. })) = nobody else { panic!("zoe can't judge") };
    assert_eq!(name, "zoe");
    let Ok(Steered::Here(handle)) = door.judge(handle.id(), Ruling::GoWithout).await else {
        panic!("it goes on")
    };
    let outcome = handle.finished().await.unwrap().outcome();
    assert!(outcome.success && outcome.integrity.degraded);
}
