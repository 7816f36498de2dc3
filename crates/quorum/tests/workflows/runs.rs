//! Runs with scripted voices: what each step is asked, agents, and recall.

use std::{fs, path::Path, sync::Arc};

use quorum::{
    Config, Finished, Quorum, Request, Scope,
    model::{id::Tenant, participant::Participant, spec::Spec},
    seams::{Voice, Voices},
    workflow::{RunOrder, RunResult},
};
use quorum_core::memory::MemoryStore;
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    stopwatch::Stopwatch,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Scripted voices for every provider.
struct Anyone(Panel);

impl Voices for Anyone {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        self.0.voice(spec, &Participant { provider: "scripted".to_owned(), ..who.clone() })
    }
}

fn scope(panel: &Panel, folder: &Path) -> Scope {
    let config = Config::parse("", &folder.join("config.toml"), "".into()).unwrap();
    let builder = Quorum::builder().config(config).store(Arc::new(MemoryStore::new()));
    let quorum = builder.voices(Arc::new(Anyone(panel.clone()))).build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

async fn ran(scope: &Scope, text: &str, input: Value) -> RunResult {
    let order =
        RunOrder { file: "w.yaml".to_owned(), text: text.as_bytes().to_vec(), input, ..RunOrder::default() };
    let (_, handle) = scope.run_workflow(&order).await.unwrap();
    let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("it waits") };
    RunResult::of(&state).unwrap()
}

fn asked_of<'c>(calls: &'c [AskedCall], who: &str) -> Vec<&'c AskedCall> {
    calls.iter().filter(|it| it.call.participant.name == who).collect()
}

const SEED: &str = r#"workflowId: architecture-decision
version: "1.0.0"
name: Architecture Decision Workflow

steps:
  - stepId: gather-requirements
    type: prompt
    config:
      prompt: "Summarize the key requirements for: {{input}}"

  - stepId: discuss-options
    type: discuss
    dependencies: [gather-requirements]
    config:
      pattern: debate
      providers: [claude, gemini, codex]
      rounds: 2
      prompt: |
        Based on these requirements:
        {{steps.gather-requirements.output}}

        Debate the best architecture approach.
      roles:
        claude: proponent
        gemini: opponent
        codex: judge
      consensus:
        method: moderator
        synthesizer: codex

  - stepId: document-decision
    type: prompt
    dependencies: [discuss-options]
    config:
      prompt: |
        Create an ADR based on this discussion:
        {{steps.discuss-options.output.synthesis}}
"#;

#[tokio::test(start_paused = true)]
async fn b11_the_debaters_of_the_seeds_workflow_are_shown_the_requirements() {
    let (folder, panel) =
        (TempDir::new().unwrap(), panel().says("claude", "It must take 300 orders a second."));
    let result = ran(&scope(&panel, folder.path()), SEED, json!("an order service")).await;
    assert!(result.success, "{:?}", result.error);
    let calls = panel.asked();
    let first = calls[0].sent();
    assert!(first.contains("Summarize the key requirements for: an order service"), "{first}");
    for who in ["gemini", "codex"] {
        let asked = asked_of(&calls, who);
        assert!(!asked.is_empty(), "{who} was not asked");
        for call in asked {
            let sent = format!("{}\n{}", call.call.system, call.sent());
            assert!(sent.contains("It must take 300 orders a second."), "{} {}: {sent}", who, call.step);
        }
    }
    let synthesis = result.step_results[1].output["synthesis"].as_str().unwrap();
    assert!(!synthesis.trim().is_empty());
    let last = calls.last().unwrap().sent();
    let expected = format!("Create an ADR based on this discussion:\n{synthesis}");
    assert!(last.contains(expected.trim()), "{last}");
}

#[tokio::test(start_paused = true)]
async fn b11_agents_answer_prompts_and_delegations_with_their_own_text() {
    let (folder, panel) = (TempDir::new().unwrap(), panel().says("reviewer", "No."));
    fs::create_dir(folder.path().join("agents")).unwrap();
    let profile = json!({
        "agentId": "reviewer", "systemPrompt": "Trust nothing.",
        "providerAffinity": { "preferred": ["gemini"] },
    });
    fs::write(folder.path().join("agents/reviewer.json"), profile.to_string()).unwrap();
    let text = "workflowId: w\nversion: 1.0.0\nsteps:\n  - { stepId: one, type: prompt, config: { agent: reviewer, prompt: 'Is {{input}} safe?' } }\n  - { stepId: two, type: delegate, config: { targetAgent: reviewer, task: 'Why {{steps.one.output}}' } }\n  - { stepId: three, type: prompt, config: { prompt: 'Plainly?' } }\n";
    let result = ran(&scope(&panel, folder.path()), text, json!("it")).await;
    assert!(result.success, "{:?}", result.error);
    let calls = panel.asked();
    let asked = asked_of(&calls, "reviewer");
    let sent: Vec<String> = asked.iter().map(|it| it.sent().trim().to_owned()).collect();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[0].ends_with("Is it safe?") && sent[1].ends_with("Why No."), "{sent:?}");
    for call in &asked {
        assert!(call.call.system.contains("Trust nothing."), "{}", call.call.system);
    }
    let others: Vec<&AskedCall> = calls.iter().filter(|it| it.call.participant.name != "reviewer").collect();
    assert!(others.len() == 1 && !others[0].call.system.contains("Trust nothing."));
    assert_eq!(result.step_results[0].output["content"], json!("No."));
    let unknown = text.replace("agent: reviewer", "agent: reviwer");
    let order = RunOrder { text: unknown.into_bytes(), ..RunOrder::default() };
    let refused = scope(&panel, folder.path()).plan_workflow(&order).expect_err("there is none");
    assert!(refused.to_string().contains("did you mean reviewer?"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn b11_the_task_of_a_discussion_is_its_name_and_not_the_question() {
    let (folder, panel) = (TempDir::new().unwrap(), panel());
    fs::create_dir(folder.path().join("agents")).unwrap();
    let affinity = json!({ "preferred": ["gemini"], "taskMapping": { "code-review": "codex" } });
    let profile = json!({ "agentId": "reviewer", "providerAffinity": affinity });
    fs::write(folder.path().join("agents/reviewer.json"), profile.to_string()).unwrap();
    let text = |config: &str| {
        format!(
            "workflowId: w\nversion: 1.0.0\nsteps:\n  - {{ stepId: one, type: discuss, config: {{ rounds: 1, {config} }} }}\n"
        )
    };
    let table = "participants: [claude, 'reviewer:agent']";
    for (config, question) in [
        (format!("{table}, task: code-review"), "Tabs?"),
        (format!("{table}, task: code-review, prompt: 'Is {{{{input}}}} right?'"), "Is Tabs? right?"),
    ] {
        let from = panel.asked().len();
        let result = ran(&scope(&panel, folder.path()), &text(&config), json!("Tabs?")).await;
        assert!(result.success, "{:?}", result.error);
        let output = &result.step_results[0].output;
        assert_eq!((&output["topic"], &output["agents"][0]["provider"]), (&json!(question), &json!("codex")));
        assert!(from < panel.asked().len());
    }
    let text = text("providers: [claude, gemini], task: code-review");
    let order = RunOrder { text: text.into_bytes(), ..RunOrder::default() };
    let refused = scope(&panel, folder.path()).plan_workflow(&order).expect_err("it names no agent");
    assert!(refused.to_string().contains("applies only to agents"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn b11_agents_of_a_run_chose_their_provider_and_abilities_by_a_placeholder() {
    let (folder, panel) = (TempDir::new().unwrap(), panel());
    for name in ["agents", "abilities"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let affinity = json!({ "preferred": ["gemini"], "taskMapping": { "code-review": "codex" } });
    let abilities = json!({ "taskBased": { "code-review": ["diffs"] } });
    let profile = json!({ "agentId": "reviewer", "providerAffinity": affinity, "abilities": abilities });
    fs::write(folder.path().join("agents/reviewer.json"), profile.to_string()).unwrap();
    let ability = json!({ "abilityId": "diffs", "content": "Read the tests first." });
    fs::write(folder.path().join("abilities/diffs.json"), ability.to_string()).unwrap();
    let table = "rounds: 1, participants: [claude, 'reviewer:agent']";
    let is_it = "prompt: 'Is {{input}} fine?'";
    for (kind, config, input, provider) in [
        ("discuss", table.to_owned(), "Is this code review fine?", "codex"),
        ("discuss", format!("{table}, {is_it}"), "this code review", "codex"),
        ("discuss", format!("{table}, {is_it}"), "this", "gemini"),
        ("discuss", format!("{table}, prompt: 'Is it {{{{run.id}}}}?'"), "this code review", "gemini"),
        ("prompt", format!("agent: reviewer, {is_it}"), "this code review", "codex"),
        ("prompt", format!("agent: reviewer, {is_it}"), "this", "gemini"),
        ("delegate", "targetAgent: reviewer, task: 'Do a code review'".to_owned(), "", "codex"),
    ] {
        let text = format!(
            "workflowId: w\nversion: 1.0.0\nsteps:\n  - {{ stepId: one, type: {kind}, config: {{ {config} }} }}\n"
        );
        let from = panel.asked().len();
        let result = ran(&scope(&panel, folder.path()), &text, json!(input)).await;
        assert!(result.success, "{:?}", result.error);
        let output = &result.step_results[0].output;
        let chosen = if kind == "discuss" { &output["agents"][0]["provider"] } else { &output["provider"] };
        assert_eq!(chosen, provider, "{kind} {config} {input}");
        let calls = panel.asked();
        let asked = asked_of(&calls[from..], "reviewer");
        let knows = |it: &&AskedCall| it.call.system.contains("Read the tests first.");
        let expected = if provider == "codex" { asked.len() } else { 0 };
        assert_eq!(asked.iter().filter(|it| knows(it)).count(), expected, "{kind} {config} {input}");
        assert!(!asked.is_empty());
    }
}

const OLD: &str = "Which database should hold our billing events?";

#[tokio::test(start_paused = true)]
async fn b11_a_discussion_of_a_run_recalls_earlier_ones_if_it_says_so() {
    let (folder, panel) = (TempDir::new().unwrap(), panel());
    let scope = scope(&panel, folder.path());
    let request: Request =
        serde_json::from_value(json!({ "topic": OLD, "providers": ["claude", "gemini"], "rounds": 1 }))
            .unwrap();
    let (_, handle) = scope.start(scope.check(&request).unwrap()).await.unwrap();
    handle.finished().await.unwrap();
    let before = panel.asked().len();
    let text = |recall: &str| {
        format!(
            "workflowId: w\nversion: 1.0.0\nsteps:\n  - {{ stepId: ask, type: prompt, config: {{ prompt: 'Hello' }} }}\n  - stepId: talk\n    type: discuss\n    config: {{ providers: [claude, gemini], rounds: 1, {recall} prompt: 'Which database for {{{{input.what}}}}? {{{{steps.ask.output}}}}' }}\n"
        )
    };
    let input = json!({ "what": "the billing events" });
    for (recall, is_shown) in [("", false), ("recall: 2,", true)] {
        let from = panel.asked().len();
        let result = ran(&scope, &text(recall), input.clone()).await;
        assert!(result.success, "{:?}", result.error);
        let calls = panel.asked();
        let talk = calls[from..].iter().filter(|it| it.call.participant.name == "gemini");
        let shown: Vec<bool> = talk.map(|it| it.call.system.contains(OLD)).collect();
        assert!(!shown.is_empty() && shown.iter().all(|it| *it == is_shown), "{recall}: {shown:?}");
    }
    assert!(before > 0);
}

/// In real time; virtual time has the same test among the patterns.
#[tokio::test]
async fn b11_five_prompts_of_a_second_at_once_take_less_than_a_second_and_a_third() {
    let (folder, panel) = (TempDir::new().unwrap(), panel().takes("*", 1_000));
    let each =
        |it: usize| format!("{{ stepId: p{it}, type: prompt, config: {{ prompt: 'Question {it}' }} }}");
    let steps = (1..=5).map(each).collect::<Vec<_>>().join(", ");
    let text = format!(
        "workflowId: w\nversion: 1.0.0\nsteps:\n  - {{ stepId: all, type: parallel, config: {{ steps: [{steps}] }} }}\n"
    );
    let scope = scope(&panel, folder.path());
    let began = Stopwatch::start();
    let result = ran(&scope, &text, json!({})).await;
    let took = began.took();
    assert!(result.success && panel.asked().len() == 5, "{:?}", result.error);
    println!("five prompts of a second took {took:?}");
    assert!(took.all.as_millis() >= 1_000 && took.own.as_millis() < 1_300, "{took:?}");
}

#[test]
fn b11_a_step_that_follows_a_discussion_is_refused() {
    let text = "  - { stepId: a, type: discuss, config: { providers: [claude, gemini], follows: last, prompt: x } }\n";
    let found = crate::wrong(crate::with_steps(text));
    assert_eq!(found, ["4:72: a step follows no discussion; recall shows it earlier ones"]);
}
