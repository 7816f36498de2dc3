//! Tools in workflows: used once, whenever the process ends.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use quorum_core::{
    memory::MemoryStore,
    model::{
        command::Command,
        event::{Event, Fork, ToolError},
        id::{DiscussionId, Seq, Step},
        retry_policy::RetryPolicy,
        spec::Spec,
    },
    seams::{Store, ToolUse, Tools},
};
use quorum_patterns::workflow::plan::{Action, PlanStep, ToolAction, Turns};
use quorum_testkit::{
    faulty::Faulty,
    kill::{comparable, resume_table_anywhere},
    panel::panel,
};
use serde_json::{Value, json};

use crate::{
    table,
    workflows::{ask, results, run_of, step},
};

/// Tools whose effects are counted, by step. One named `flaky` fails the first time.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<BTreeMap<String, u32>>>);

impl Counted {
    fn effects(&self) -> BTreeMap<String, u32> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Tools for Counted {
    fn use_tool(&self, used: ToolUse) -> BoxFuture<'static, Result<Value, ToolError>> {
        let count = {
            let mut effects = self.0.lock().unwrap();
            let count = effects.entry(used.step.to_string()).or_default();
            *count += 1;
            *count
        };
        Box::pin(async move {
            // It sleeps because other steps begin and are recorded meanwhile; the clock is paused.
            tokio::time::sleep(Duration::from_millis(100)).await;
            if used.tool == "flaky" && count == 1 {
                return Err(ToolError::new(ToolError::FAILED, "once").transient());
            }
            Ok(json!({ "given": used.arguments }))
        })
    }
}

fn tool(name: &str, repeatable: bool) -> Action {
    let arguments = json!({ "topic": "{{input.topic}}", "item": "{{item}}" });
    let flaky = RetryPolicy { max_attempts: 3, backoff_ms: 100, multiplier: 1.0, on: Vec::new() };
    let retry = (name == "flaky").then_some(flaky);
    Action::Tool(ToolAction { tool: name.to_owned(), arguments, repeatable, retry })
}

/// Tools one after another, beside prompts, and in a loop.
fn with_tools(repeatable: bool) -> Vec<PlanStep> {
    let beside = vec![step("ask", &[], ask("Why?")), step("mark", &[], tool("mark", repeatable))];
    let turn = vec![step("turn", &[], tool("mark", repeatable))];
    let over = Turns::Items(json!("{{input.items}}"));
    vec![
        step("first", &[], tool("mark", repeatable)),
        step("beside", &["first"], Action::Parallel { steps: beside, fail_safe: false }),
        step("each", &["beside"], Action::Loop { over, steps: turn, most: 5, concurrency: 2 }),
        step("last", &["each"], ask("Use {{steps.mark.output}}")),
    ]
}

fn new_store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

#[tokio::test(start_paused = true)]
async fn f1_a_workflow_with_repeatable_tools_survives_every_crash() {
    let mut steps = with_tools(true);
    steps.push(step("again", &["last"], tool("flaky", true)));
    let used = table(&panel().takes("ann", 50)).using(Arc::new(Counted::default()));
    let deaths = resume_table_anywhere(new_store, &used, run_of(steps), &|_| None).await;
    assert!(deaths >= 20, "it died {deaths} times only");
}

/// A tool that was running at a crash fails, and recorded tools are not used again, so each effect
/// happens once.
#[tokio::test(start_paused = true)]
async fn b11_a_tool_has_its_effect_once_whenever_the_process_ends() {
    let tools = Counted::default();
    let whole = table(&panel().takes("ann", 50)).using(Arc::new(tools.clone()));
    let (undisturbed, _) = whole.hold(run_of(with_tools(false))).await;
    assert!(undisturbed.success, "{:?}", undisturbed.error);
    let expected = tools.effects();
    assert_eq!((expected.len(), expected.values().max()), (5, Some(&1)));
    let (mut interrupted, mut deaths) = (0, 0);
    loop {
        let store = new_store();
        let first = whole.restarted(Arc::new(Faulty::dying_after(store.clone(), deaths + 1)));
        let id = first.open(run_of(with_tools(false))).await.unwrap();
        let died = first.run(id).await.is_err();
        let outcome = whole.restarted(store.clone()).run(id).await.unwrap().outcome();
        let effects = tools.effects();
        assert!(effects.values().all(|it| *it == 1), "killed after write {}: {effects:?}", deaths + 1);
        let failed: Vec<_> =
            results(&outcome).into_iter().filter_map(|it| Some((it.path, it.error?))).collect();
        match failed.iter().find(|(_, error)| error.code == ToolError::INTERRUPTED) {
            Some((_, error)) => {
                let said = "mark was under way when the process ended: it may have had its effect, so it is not repeated";
                assert_eq!(error.message, said);
                assert_eq!(outcome.fields["workflow"]["error"]["code"], json!(ToolError::INTERRUPTED));
                interrupted += 1;
            }
            None => {
                assert_eq!(
                    comparable(&outcome),
                    comparable(&undisturbed),
                    "killed after write {}",
                    deaths + 1
                );
                assert_eq!(effects, expected);
            }
        }
        if !died {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= 15 && interrupted >= 4, "{deaths} deaths, {interrupted} interrupted a tool");
}

#[tokio::test(start_paused = true)]
async fn b11_a_pause_started_the_next_attempt_of_a_tool() {
    let tools = Counted::default();
    let table = table(&panel()).using(Arc::new(tools.clone()));
    let id = table.open(run_of(vec![step("flaky", &[], tool("flaky", false))])).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Virtual time; it sleeps because the pause must come between the end of the first attempt,
    // after 100 ms, and the end of the wait for the second, after 200 ms.
    tokio::time::sleep(Duration::from_millis(150)).await;
    table.engine.send(id, Command::Pause).await.unwrap();
    let _ = handle.finished().await.unwrap();
    assert_eq!(tools.effects().into_values().collect::<Vec<_>>(), [1]);
    table.engine.send(id, Command::Resume).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    // It counts as the first attempt here, since the effects were taken above, and fails once more.
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!((results(&outcome)[0].retry_count, tools.effects().into_values().max()), (2, Some(2)));
}

#[tokio::test(start_paused = true)]
async fn b11_a_tool_is_repeated_as_its_retry_policy_says() {
    let tools = Counted::default();
    let table = table(&panel()).using(Arc::new(tools.clone()));
    let id = table.open(run_of(vec![step("flaky", &[], tool("flaky", false))])).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!((results(&outcome)[0].retry_count, tools.effects().into_values().max()), (1, Some(2)));
    let facts = table.store.read(id, Seq::START, usize::MAX).await.unwrap();
    let attempts: Vec<(u32, bool)> = facts
        .iter()
        .filter_map(|it| match &it.event {
            Event::ToolPlaced(placed) => Some((placed.attempt, false)),
            Event::ToolUsed(used) => Some((used.attempt, true)),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [(1, false), (1, true), (2, false), (2, true)]);
}

/// The same plan with another question at its end, and with these arguments of its tool.
fn changed(question: &str, arguments: Value, rerun_tools: bool) -> Spec {
    let action = ToolAction { tool: "mark".to_owned(), arguments, repeatable: false, retry: None };
    let mut spec = run_of(vec![
        step("first", &[], ask("Why?")),
        step("mark", &["first"], Action::Tool(action)),
        step("last", &["mark"], ask(question)),
    ]);
    let mut plan = (**spec.plan.as_ref().unwrap()).clone();
    plan["rerun_tools"] = json!(rerun_tools);
    spec.plan = Some(Arc::new(plan));
    spec
}

#[tokio::test(start_paused = true)]
async fn b11_a_fork_of_a_run_reuses_equal_steps_and_uses_no_tool_again() {
    let tools = Counted::default();
    let original = table(&panel()).using(Arc::new(tools.clone()));
    let id = original.open(changed("Old?", json!({ "n": 1 }), false)).await.unwrap();
    assert!(original.run(id).await.unwrap().outcome().success);
    assert_eq!(tools.effects().into_values().sum::<u32>(), 1);
    for (arguments, rerun_tools, success, asked, effects) in
        [(1, false, true, 1, 0), (2, false, false, 0, 0), (2, true, true, 1, 1)]
    {
        let again = original.restarted(original.store.clone());
        let spec = changed("New?", json!({ "n": arguments }), rerun_tools);
        let (fork, at) = (DiscussionId::fresh(), Step::job("first"));
        again.engine.fork_as(fork, Fork { of: id, at }, spec).await.unwrap();
        let outcome = again.run(fork).await.unwrap().outcome();
        let name = format!("arguments {arguments}, tools again: {rerun_tools}");
        assert_eq!(outcome.success, success, "{name}: {:?}", outcome.error);
        let sent: Vec<String> = again.panel.asked().iter().map(|it| it.sent().trim().to_owned()).collect();
        assert_eq!(sent, vec!["New?"; asked], "{name}");
        assert_eq!(tools.effects().into_values().sum::<u32>(), effects, "{name}");
        let code = outcome.fields["workflow"]["error"]["code"].clone();
        assert_eq!(code, if success { Value::Null } else { json!("TOOL_NOT_RERUN") }, "{name}");
    }
}
