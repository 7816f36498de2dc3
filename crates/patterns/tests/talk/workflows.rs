//! Runs of workflows from outside, in virtual time.

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        command::Command,
        error::{Code, ErrorClass},
        id::Seq,
        outcome::Outcome,
        retry_policy::RetryPolicy,
        spec::{Limits, Spec, Timing, Tolerance},
        state::State,
    },
    seams::Store,
};
use quorum_patterns::{
    registry,
    workflow::{
        overview::{StepState, overview},
        plan::{Action, DiscussAction, Plan, PlanStep, PromptAction, Turns},
        report::{Status, StepResult},
    },
};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::spec,
};
use serde_json::{Map, Value, json};

use crate::table;

pub(crate) fn step(id: &str, after: &[&str], action: Action) -> PlanStep {
    let step_type = match &action {
        Action::Prompt(_) => "prompt",
        Action::Discuss(_) => "discuss",
        Action::Tool(_) => "tool",
        Action::Parallel { .. } => "parallel",
        Action::Conditional { .. } => "conditional",
        Action::Loop { .. } => "loop",
    };
    PlanStep {
        id: id.to_owned(),
        step_type: step_type.to_owned(),
        after: after.iter().map(|it| (*it).to_owned()).collect(),
        timeout_ms: None,
        may_fail: false,
        action,
    }
}

fn ask_of(who: &str, text: &str) -> Action {
    let mut spec = spec("prompt");
    spec.participants[0].name = who.to_owned();
    let prompt = Some(text.to_owned());
    Action::Prompt(Box::new(PromptAction { prompt, system: None, json: false, spec }))
}

pub(crate) fn ask(text: &str) -> Action {
    ask_of("ann", text)
}

fn discuss(pattern: &str, text: &str) -> Action {
    let prompt = Some(text.to_owned());
    Action::Discuss(Box::new(DiscussAction { prompt, context: None, spec: spec(pattern) }))
}

pub(crate) fn run_of(steps: Vec<PlanStep>) -> Spec {
    let plan = Plan {
        workflow: "test".to_owned(),
        version: "1.0.0".to_owned(),
        name: "Test".to_owned(),
        steps,
        input: json!({ "topic": "tabs", "items": ["a", "b", "c"] }),
        variables: Map::new(),
        concurrency: 5,
        rerun_tools: false,
        first_run: None,
    };
    let plan = Some(Arc::new(serde_json::to_value(plan).unwrap()));
    Spec {
        topic: "Test".to_owned(),
        pattern: "workflow".to_owned(),
        participants: Vec::new(),
        tolerance: Tolerance { go_on: true, min_providers: 0 },
        plan,
        ..spec("prompt")
    }
}

async fn held(panel: &Panel, steps: Vec<PlanStep>) -> (Outcome, Vec<(String, String)>) {
    let table = table(panel);
    let (outcome, _) = table.hold(run_of(steps)).await;
    let asked = table.panel.asked();
    let asked = asked.iter().map(|it| (it.call.participant.name.clone(), it.sent())).collect();
    (outcome, asked)
}

pub(crate) fn results(outcome: &Outcome) -> Vec<StepResult> {
    serde_json::from_value(outcome.fields["stepResults"].clone()).unwrap()
}

fn statuses(outcome: &Outcome) -> Vec<(String, Status)> {
    results(outcome).into_iter().map(|it| (it.path, it.status)).collect()
}

fn done(ids: &[&str]) -> Vec<(String, Status)> {
    ids.iter().map(|it| ((*it).to_owned(), Status::Done)).collect()
}

/// A workflow with every type of step that asks, nested.
fn everything() -> Vec<PlanStep> {
    let review =
        vec![step("one", &[], ask("One on {{steps.gather.output}}")), step("two", &[], ask_of("bob", "Two"))];
    let turn = vec![
        step("draft", &[], ask("Draft {{item}} {{index}}")),
        step("polish", &["draft"], ask("Polish {{steps.draft.output.content}}")),
    ];
    vec![
        step("gather", &[], ask("Gather {{input.topic}}")),
        step("reviews", &["gather"], Action::Parallel { steps: review, fail_safe: false }),
        step("talk", &["reviews"], discuss("synthesis", "Discuss {{steps.one.output}}")),
        step(
            "each",
            &["talk"],
            Action::Loop {
                over: Turns::Items(json!("{{input.items}}")),
                steps: turn,
                most: 10,
                concurrency: 2,
            },
        ),
        step(
            "branch",
            &["each"],
            Action::Conditional {
                condition: "{{input.topic}} == 'tabs'".to_owned(),
                then: vec![step("yes", &[], ask("Yes {{steps.talk.output.synthesis}}"))],
                otherwise: vec![step("no", &[], ask("No"))],
            },
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn b11_steps_run_in_order_with_the_outputs_of_those_before() {
    let panel = panel().says("ann", "Tabs win.");
    let steps = vec![
        step("gather", &[], ask("Gather {{input.topic}}")),
        step("use", &["gather"], ask("Use <{{steps.gather.output}}> and {{unknown}}")),
    ];
    let (outcome, asked) = held(&panel, steps).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let sent: Vec<&str> = asked.iter().map(|it| it.1.trim()).collect();
    assert_eq!(sent, ["Gather tabs", "Use <Tabs win.> and {{unknown}}"]);
    assert_eq!(outcome.synthesis, "Tabs win.");
    assert_eq!(statuses(&outcome), done(&["gather", "use"]));
    assert_eq!(outcome.fields["workflow"]["unresolved"], json!(["{{unknown}}"]));
}

#[tokio::test(start_paused = true)]
async fn b11_every_type_of_step_runs_nested() {
    let (outcome, asked) = held(&panel(), everything()).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let mut expected = done(&["gather", "reviews", "one", "two", "talk", "each"]);
    for turn in 0..3 {
        expected.extend(done(&[&format!("each/{turn}/draft"), &format!("each/{turn}/polish")]));
    }
    expected.extend(done(&["branch", "yes"]));
    expected.push(("no".to_owned(), Status::Skipped));
    assert_eq!(statuses(&outcome), expected);
    assert!(asked.iter().any(|it| it.1.contains("Draft c 2")), "{asked:?}");
    let each = results(&outcome).into_iter().find(|it| it.path == "each").unwrap();
    assert_eq!(each.output.as_array().map(Vec::len), Some(3));
    let branch = results(&outcome).into_iter().find(|it| it.path == "branch").unwrap();
    assert_eq!(branch.output, json!({ "branch": "then" }));
}

/// The state of each step after every fact, in a word: what a watcher sees.
#[tokio::test(start_paused = true)]
async fn b11_the_state_of_every_step_is_known_after_every_fact() {
    let table = table(&panel());
    let id = table.open(run_of(everything())).await.unwrap();
    table.run(id).await.unwrap();
    let facts = table.store.read(id, Seq::START, usize::MAX).await.unwrap();
    let mut seen: Vec<String> = Vec::new();
    for count in 1..=facts.len() {
        let state = State::of(id, &facts[..count]).unwrap();
        let words = |it: &StepState| format!("{}:{}", it.step_id, it.status);
        let now = overview(&state).unwrap().iter().map(words).collect::<Vec<_>>().join(" ");
        if seen.last() != Some(&now) {
            seen.push(now);
        }
    }
    let after = |words: &str| seen.iter().any(|it| it == words);
    assert_eq!(seen[0], "gather:waiting reviews:waiting talk:waiting each:waiting branch:waiting");
    assert!(after("gather:running reviews:waiting talk:waiting each:waiting branch:waiting"), "{seen:#?}");
    assert!(after("gather:done reviews:running talk:waiting each:waiting branch:waiting"), "{seen:#?}");
    assert!(after("gather:done reviews:done talk:running each:waiting branch:waiting"), "{seen:#?}");
    assert!(after("gather:done reviews:done talk:done each:running branch:waiting"), "{seen:#?}");
    assert!(after("gather:done reviews:done talk:done each:done branch:running"), "{seen:#?}");
    assert_eq!(seen.last().unwrap(), "gather:done reviews:done talk:done each:done branch:done");
    let whole = overview(&State::of(id, &facts).unwrap()).unwrap();
    let (each, branch) = (&whole[3].inside[0].steps, &whole[4].inside);
    assert_eq!(each.iter().map(|it| (it.status, it.turns.len())).collect::<Vec<_>>(), [("done", 3); 2]);
    let labels: Vec<_> = branch.iter().map(|it| (it.label, it.steps[0].status)).collect();
    assert_eq!(labels, [(Some("then"), "done"), (Some("else"), "skipped")]);
}

#[tokio::test(start_paused = true)]
async fn b11_steps_that_a_stopped_run_did_not_reach_say_so() {
    let table = table(&panel());
    let id = table.open(run_of(vec![step("one", &[], ask("One")), step("two", &["one"], ask("Two"))])).await;
    let id = id.unwrap();
    table.engine.send(id, Command::Stop).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    let states: Vec<&Value> =
        outcome.fields["steps"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(states, ["not reached"; 2]);
}

#[tokio::test(start_paused = true)]
async fn f1_a_workflow_with_every_type_of_step_survives_every_crash() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let deaths = resume_anywhere(store, &panel(), registry(), run_of(everything())).await;
    assert!(deaths >= 40, "it died {deaths} times only");
}

#[tokio::test(start_paused = true)]
async fn f1_a_workflow_with_failures_survives_every_crash() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let failing = panel().fails("bob", ErrorClass::Authentication).takes("ann", 700);
    let deaths = resume_anywhere(store, &failing, registry(), run_of(everything())).await;
    assert!(deaths >= 5, "it died {deaths} times only");
}

#[tokio::test(start_paused = true)]
async fn b11_five_prompts_of_a_second_at_once_take_a_second() {
    let inside = (1..=5).map(|it| step(&format!("p{it}"), &[], ask("Why?"))).collect();
    let steps = vec![step("all", &[], Action::Parallel { steps: inside, fail_safe: false })];
    let began = tokio::time::Instant::now();
    let (outcome, _) = held(&panel().takes("ann", 1_000), steps).await;
    assert!(outcome.success);
    assert!(began.elapsed().as_millis() < 1_300, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn b11_the_budget_of_calls_holds_over_all_steps() {
    let steps: Vec<PlanStep> = (1..=6)
        .map(|it| {
            let before = format!("p{}", it - 1);
            let after: &[&str] = if it == 1 { &[] } else { &[&before] };
            step(&format!("p{it}"), after, ask(&format!("Question {it}")))
        })
        .collect();
    let table = table(&panel().says("ann", "So."));
    let limits = Limits { calls: Some(3), ..Limits::default() };
    let (outcome, _) = table.hold(Spec { limits, ..run_of(steps) }).await;
    assert_eq!(table.panel.asked().len(), 3);
    assert_eq!(outcome.error.as_ref().map(|it| it.code), Some(Code::CallBudgetExceeded));
    assert_eq!(outcome.synthesis, "So.");
    assert_eq!(statuses(&outcome)[..3], done(&["p1", "p2", "p3"])[..]);
}

#[tokio::test(start_paused = true)]
async fn b11_a_failed_step_skips_what_depends_on_it_and_ends_the_run() {
    let steps = vec![
        step("good", &[], ask("Good")),
        step("bad", &["good"], ask_of("bob", "Bad")),
        step("late", &["bad"], ask("Late")),
    ];
    let failing = panel().fails("bob", ErrorClass::Authentication);
    let (outcome, asked) = held(&failing, steps).await;
    let expected = [("good", Status::Done), ("bad", Status::Failed), ("late", Status::Skipped)];
    assert_eq!(statuses(&outcome), expected.map(|(id, status)| (id.to_owned(), status)));
    assert_eq!(outcome.error.as_ref().map(|it| it.code), Some(Code::StepFailed));
    assert_eq!(outcome.fields["workflow"]["error"]["failedStepId"], json!("bad"));
    assert!(!outcome.success && asked.iter().all(|it| !it.1.contains("Late")));
}

#[tokio::test(start_paused = true)]
async fn b11_a_step_that_may_fail_has_the_output_null_and_the_run_goes_on() {
    let mut bad = step("bad", &[], ask_of("bob", "Bad"));
    bad.may_fail = true;
    let steps = vec![bad, step("late", &["bad"], ask("Late {{steps.bad.output | default: 'nothing'}}"))];
    let (outcome, asked) = held(&panel().fails("bob", ErrorClass::Authentication), steps).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert!(asked.iter().any(|it| it.1.contains("Late nothing")), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn b11_a_parallel_step_that_is_fail_safe_needs_one_success() {
    let inside = || vec![step("good", &[], ask("Good")), step("bad", &[], ask_of("bob", "Bad"))];
    let failing = panel().fails("bob", ErrorClass::Authentication);
    let safe = vec![step("all", &[], Action::Parallel { steps: inside(), fail_safe: true })];
    assert!(held(&failing, safe).await.0.success);
    let fast = vec![step("all", &[], Action::Parallel { steps: inside(), fail_safe: false })];
    assert!(!held(&failing, fast).await.0.success);
}

#[tokio::test(start_paused = true)]
async fn b11_loops_over_no_list_and_over_too_many_items_fail() {
    let looped = |items: Value, most: usize| {
        let steps = vec![step("turn", &[], ask("{{item}}"))];
        vec![step("each", &[], Action::Loop { over: Turns::Items(items), steps, most, concurrency: 1 })]
    };
    let code = |outcome: &Outcome| outcome.fields["workflow"]["error"]["code"].clone();
    let (outcome, asked) = held(&panel(), looped(json!("{{input.topic}}"), 10)).await;
    assert_eq!((code(&outcome), asked.len()), (json!("LOOP_NOT_A_LIST"), 0));
    let (outcome, asked) = held(&panel(), looped(json!("{{input.items}}"), 2)).await;
    assert_eq!((code(&outcome), asked.len()), (json!("LOOP_TOO_LONG"), 0));
}

#[tokio::test(start_paused = true)]
async fn b11_a_loop_goes_on_while_its_condition_holds() {
    let looped = |condition: &str| {
        let steps = vec![step("turn", &[], ask("Turn {{index}}"))];
        let over = Turns::While(condition.to_owned());
        vec![step("each", &[], Action::Loop { over, steps, most: 4, concurrency: 1 })]
    };
    let (outcome, asked) = held(&panel(), looped("{{index}} < 2")).await;
    assert!(outcome.success);
    assert_eq!(asked.len(), 2, "{asked:?}");
    let (outcome, asked) = held(&panel(), looped("true")).await;
    assert_eq!(outcome.fields["workflow"]["error"]["code"], json!("LOOP_TOO_LONG"));
    assert_eq!(asked.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn b11_a_step_has_its_own_time_and_its_own_retries() {
    let mut slow = step("slow", &[], ask("Slow"));
    slow.timeout_ms = Some(2_000);
    let (outcome, _) = held(&panel().hangs("ann"), vec![slow]).await;
    assert_eq!(outcome.fields["workflow"]["error"]["code"], json!("STEP_TIMEOUT"));
    let mut retried = ask("Again");
    if let Action::Prompt(action) = &mut retried {
        action.spec.retry =
            Some(RetryPolicy { max_attempts: 6, backoff_ms: 100, multiplier: 1.0, on: Vec::new() });
    }
    let failing = panel().fails_first("ann", ErrorClass::ApiError, 5);
    let (outcome, asked) = held(&failing, vec![step("retried", &[], retried)]).await;
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!((asked.len(), results(&outcome)[0].retry_count), (6, 5));
}

#[tokio::test(start_paused = true)]
async fn b11_a_run_is_paused_and_resumed_and_stopped() {
    for (first, second) in [(Command::Pause, Some(Command::Resume)), (Command::Stop, None)] {
        let table = table(&panel().takes("ann", 1_000));
        let steps = vec![step("one", &[], ask("One")), step("two", &["one"], ask("Two"))];
        let id = table.open(run_of(steps)).await.unwrap();
        table.engine.send(id, first.clone()).await.unwrap();
        let mut finished = table.run(id).await.unwrap();
        if let Some(second) = second {
            assert_eq!(table.panel.asked().len(), 0, "it was paused before anything began");
            table.engine.send(id, second).await.unwrap();
            finished = table.run(id).await.unwrap();
            assert!(finished.outcome().success);
            assert_eq!(table.panel.asked().len(), 2);
        } else {
            assert_eq!(
                finished.outcome().stopping_reason.map(|it| it.name().to_owned()),
                Some("user_stop".into())
            );
            assert_eq!(table.panel.asked().len(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b11_a_run_that_is_out_of_time_keeps_what_it_has() {
    let table = table(&panel().takes("ann", 4_000));
    let steps = vec![step("one", &[], ask("One")), step("two", &["one"], ask("Two"))];
    let timing = Timing { step_ms: 60_000, total_ms: 6_000, reserve_ms: 0 };
    let (outcome, _) = table.hold(Spec { timing, ..run_of(steps) }).await;
    assert_eq!(outcome.error.as_ref().map(|it| it.code), Some(Code::DiscussionTimeout));
    assert_eq!(statuses(&outcome)[0], ("one".to_owned(), Status::Done));
}
