//! A judge that fails, and people who decide on a replacement: from any process, days later, once
//! (D13).

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        command::Command,
        error::ErrorClass,
        event::Event,
        id::{DiscussionId, Step},
        lifecycle::Lifecycle,
        participant::Participant,
        ruling::{AwaitedChoice, Ruling, RulingAwaited},
        spec::Spec,
        state::State,
    },
    registry::Snapshot,
    seams::Store,
};
use quorum_patterns::{
    debate::{DebateSpec, Format, JudgeFailure, Judging},
    registry,
    roles::NEUTRAL,
};
use quorum_testkit::{
    faulty::Faulty,
    kill::resume_anywhere_answering,
    panel::{Panel, panel},
    table::Table,
};

use crate::{
    results::{Results, ordered},
    table,
};

fn asking() -> Spec {
    asking_in(&debate())
}

fn debate() -> DebateSpec {
    DebateSpec { judge_failure: JudgeFailure::Ask, ..DebateSpec::default() }
}

fn asking_in(debate: &DebateSpec) -> Spec {
    let mut order = Spec { rounds: 3, ..ordered(debate) };
    let guest = Participant { name: "gus".into(), ..Participant::of("scripted").playing(NEUTRAL) };
    order.participants.push(guest);
    order
}

fn failing() -> Panel {
    panel().fails("cyd", ErrorClass::Authentication)
}

fn ruling(choice: &str, candidate: Option<&str>) -> Ruling {
    let candidate = candidate.map(str::to_owned);
    Ruling { kind: "judge".to_owned(), choice: choice.to_owned(), candidate }
}

fn swap(to: &str) -> Ruling {
    ruling("swap", Some(to))
}

fn go_without() -> Ruling {
    ruling("go-without", None)
}

fn end() -> Ruling {
    ruling("end", None)
}

async fn waits(table: &Table, id: DiscussionId) -> Snapshot {
    match table.run(id).await.unwrap() {
        Finished::Waiting(state) => state,
        Finished::Over(state) => panic!("it is over: {:?}", state.conclusion),
    }
}

async fn rule(table: &Table, id: DiscussionId, ruling: Ruling) -> Result<(), String> {
    table.engine.send(id, Command::Rule(ruling)).await.map(drop).map_err(|error| error.to_string())
}

/// The ruling that is awaited after cyd has failed.
fn vacant() -> RulingAwaited {
    let choice = |name: &str, takes_candidate| AwaitedChoice { name: name.to_owned(), takes_candidate };
    RulingAwaited {
        kind: "judge".to_owned(),
        about: "cyd".to_owned(),
        answers: Step::from("1/judging/*judge after cyd"),
        round: 1,
        reason: "cyd failed by script".to_owned(),
        choices: vec![choice("swap", true), choice("go-without", false), choice("end", false)],
        candidates: ["gus", "ann", "bob"].map(str::to_owned).to_vec(),
    }
}

/// How many speeches were asked for.
fn speeches(table: &Table) -> usize {
    table.panel.steps().iter().filter(|it| it.contains("/awaiting-responses/")).count()
}

#[tokio::test(start_paused = true)]
async fn d13_after_a_judge_fails_nothing_stays_in_memory_and_the_ruling_may_come_days_later() {
    let expected = [
        (swap("gus"), Some("gus"), 3, None, true),
        (swap("bob"), Some("bob"), 3, None, true),
        (go_without(), None, 3, None, false),
        (end(), None, 1, Some("judge-lost"), false),
    ];
    for (ruling, to, rounds, why, verdict) in expected {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let first = Table::owned_by("monday", store.clone(), &failing(), registry());
        let id = first.open(asking()).await.unwrap();
        let state = waits(&first, id).await;
        assert_eq!((state.lifecycle, state.ruling.as_ref()), (Lifecycle::Running, Some(&vacant())));
        assert_eq!(state.outcome().judging().unwrap().awaits, Some(vacant()));
        tokio::time::advance(tokio::time::Duration::from_secs(3 * 86_400)).await;
        let second = Table::owned_by("thursday", store, &failing(), registry());
        rule(&second, id, ruling.clone()).await.unwrap();
        let outcome = second.run(id).await.unwrap().outcome();
        assert!(outcome.success && outcome.integrity.degraded, "{ruling:?}: {:?}", outcome.error);
        assert_eq!(outcome.rounds.len(), rounds, "{ruling:?}");
        let report = outcome.judging().unwrap();
        assert_eq!(report.judge_changes[0].to.as_deref(), to, "{ruling:?}");
        assert_eq!(report.ended.map(|it| it.why).as_deref(), why, "{ruling:?}");
        assert_eq!(report.awaits, None, "{ruling:?}");
        assert_eq!(outcome.verdict().is_some(), verdict, "{ruling:?}");
        assert_eq!(speeches(&first) + speeches(&second), 3 * rounds, "{ruling:?}: nobody has to speak again");
        assert!(outcome.total_duration_ms < 10_000, "days of silence are not active time");
    }
}

#[tokio::test(start_paused = true)]
async fn d13_a_ruling_that_is_not_awaited_is_refused_and_changes_nothing() {
    let table = table(&failing());
    let id = table.open(asking()).await.unwrap();
    let not_awaited =
        format!("no decision of the kind `judge` is awaited in discussion {id}; nothing was changed");
    assert_eq!(rule(&table, id, end()).await, Err(not_awaited.clone()), "too early");
    waits(&table, id).await;
    let before = table.facts(id).await;
    for name in ["cyd", "zoe", "", "GUS"] {
        let refused = format!("{name} is not a candidate; candidates are gus, ann, bob; nothing was changed");
        assert_eq!(rule(&table, id, swap(name)).await, Err(refused));
    }
    let unnamed = "the choice names no candidate; candidates are gus, ann, bob; nothing was changed";
    assert_eq!(rule(&table, id, ruling("swap", None)).await, Err(unnamed.to_owned()));
    let unknown =
        "`adjourn` can't be decided here; the choices are swap, go-without, end; nothing was changed";
    assert_eq!(rule(&table, id, ruling("adjourn", None)).await, Err(unknown.to_owned()));
    waits(&table, id).await;
    let after = table.facts(id).await;
    assert_eq!(after, before, "nothing was changed, and asking again tells nothing new");
    rule(&table, id, swap("gus")).await.unwrap();
    assert_eq!(rule(&table, id, go_without()).await, Err(not_awaited), "twice");
    table.run(id).await.unwrap();
    let over = format!("discussion {id} is over; nothing more can happen in it");
    assert_eq!(rule(&table, id, end()).await, Err(over));
    let nobody = DiscussionId::fresh();
    assert!(rule(&table, nobody, end()).await.unwrap_err().starts_with("there is no discussion"));
}

#[tokio::test(start_paused = true)]
async fn d13_of_fifty_concurrent_rulings_one_is_accepted() {
    let table = table(&failing());
    let id = table.open(asking()).await.unwrap();
    waits(&table, id).await;
    let words = (0..50).map(|number| {
        let (table, ruling) = (table.clone(), if number % 2 == 0 { swap("gus") } else { go_without() });
        tokio::spawn(async move { rule(&table, id, ruling).await })
    });
    let mut taken = 0;
    for word in words.collect::<Vec<_>>() {
        taken += usize::from(word.await.unwrap().is_ok());
    }
    assert_eq!(taken, 1);
    let report = table.run(id).await.unwrap().outcome().judging().unwrap();
    assert_eq!(report.judge_changes.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn d13_a_failed_participant_is_not_a_candidate() {
    let table = table(&failing().fails("gus", ErrorClass::Authentication));
    let id = table.open(asking()).await.unwrap();
    assert_eq!(waits(&table, id).await.ruling.clone().unwrap().candidates, ["ann", "bob"], "gus failed too");
    rule(&table, id, swap("ann")).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert_eq!(outcome.judging().unwrap().rounds.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn d13_a_stop_or_an_abort_does_not_wait_for_a_judge() {
    for (command, ended) in [(Command::Stop, Lifecycle::Completed), (Command::Abort, Lifecycle::Aborted)] {
        let table = table(&failing());
        let id = table.open(asking()).await.unwrap();
        waits(&table, id).await;
        table.engine.send(id, command).await.unwrap();
        let Finished::Over(state) = table.run(id).await.unwrap() else { panic!("nobody is waited for") };
        assert_eq!((state.lifecycle, speeches(&table)), (ended, 3));
        assert!(rule(&table, id, end()).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn d13_a_ruling_during_a_pause_counts_after_it() {
    let table = table(&failing());
    let id = table.open(asking()).await.unwrap();
    waits(&table, id).await;
    table.engine.send(id, Command::Pause).await.unwrap();
    assert_eq!(waits(&table, id).await.lifecycle, Lifecycle::Paused);
    rule(&table, id, swap("gus")).await.unwrap();
    assert_eq!(waits(&table, id).await.lifecycle, Lifecycle::Paused);
    table.engine.send(id, Command::Resume).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert_eq!(outcome.judging().unwrap().rounds.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn d13_a_judge_lost_at_the_verdict_is_asked_about_too() {
    let table = table(&failing());
    let debate = DebateSpec {
        judging: Judging::VerdictOnly,
        format: Format::RoundLimited,
        round_limit: Some(2),
        ..debate()
    };
    let id = table.open(asking_in(&debate)).await.unwrap();
    assert_eq!(waits(&table, id).await.ruling.clone().unwrap().round, 2);
    rule(&table, id, swap("gus")).await.unwrap();
    assert!(table.run(id).await.unwrap().outcome().verdict().is_some());
    assert_eq!(speeches(&table), 6);
}

#[tokio::test(start_paused = true)]
async fn f1_a_ruling_on_the_judge_survives_every_crash() {
    let expected =
        [(swap("gus"), [18, 22]), (swap("ann"), [18, 22]), (go_without(), [14; 2]), (end(), [8; 2])];
    for (ruling, least) in expected {
        for (swap_check, least) in [false, true].into_iter().zip(least) {
            let debate = DebateSpec { swap_check, ..debate() };
            let answer = |state: &State| state.ruling.is_some().then(|| Command::Rule(ruling.clone()));
            let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
            let order = asking_in(&debate);
            let deaths = resume_anywhere_answering(store, &failing(), registry(), order, &answer).await;
            assert!(deaths >= least, "{ruling:?} died {deaths} times only");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn d13_a_ruling_that_arrives_just_before_a_run_waits_is_noticed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = Table::over(store.clone(), &failing(), registry());
    let id = first.open(asking()).await.unwrap();
    waits(&first, id).await;
    let late = Faulty::hearing_late(store, Command::Rule(swap("gus")));
    let second = Table::over(Arc::new(late), &failing(), registry());
    let finished = second.run(id).await.unwrap();
    assert!(matches!(finished, Finished::Over(_)), "it was heard, so nothing is waited for");
    assert_eq!(finished.outcome().judging().unwrap().rounds.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn d13_the_ruling_is_in_the_record() {
    let table = table(&failing());
    let id = table.open(asking()).await.unwrap();
    waits(&table, id).await;
    rule(&table, id, go_without()).await.unwrap();
    table.run(id).await.unwrap();
    let told: Vec<String> = table
        .facts(id)
        .await
        .iter()
        .filter(|it| {
            let is_change = matches!(&it.event, Event::Noted(noted) if noted.kind == "judge-change");
            let is_ruling = matches!(it.event, Event::RulingAwaited(_) | Event::Ruled(_));
            is_change || is_ruling || matches!(it.event, Event::CommandTaken { .. })
        })
        .map(|fact| {
            format!(
                "{:?} {}",
                fact.step.as_ref().map(ToString::to_string),
                quorum_testkit::log::story(std::slice::from_ref(fact)).trim()
            )
        })
        .collect();
    let expected = [
        "Some(\"1/judging/*judge after cyd/awaited\") asks for a ruling (judge) on cyd",
        "None told to rule",
        "Some(\"1/judging/*judge after cyd\") ruled (judge) on cyd: go-without",
        "Some(\"1/noted/*judge-change cyd\") noted judge-change: cyd judges no more",
    ];
    assert_eq!(told, expected);
}
