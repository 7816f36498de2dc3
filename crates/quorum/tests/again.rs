//! Repeating a past order: everything is kept except what is changed.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::path::{Path, PathBuf};

use quorum::{
    Config, Discussion, Error, Forking, Origin, Quorum, Request,
    model::{
        event::Event,
        id::{Seq, Tenant},
        settings::Settings,
        spec::Spec,
    },
    patterns::roles::JUDGE,
    request::{MissingRoles, Setting, Voicing, check},
};
use serde_json::{Value, json};

fn request(fields: &Value) -> Request {
    let mut all = json!({ "topic": "Tabs or spaces?" });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

#[track_caller]
fn spec(request: &Request) -> Spec {
    let setting =
        Setting { missing_roles: MissingRoles::Assign, voicing: Voicing::Simulated, ..Setting::default() };
    check(request, &setting).unwrap_or_else(|refusals| panic!("{request:?}: {refusals:?}"))
}

#[track_caller]
fn comes_back(fields: &Value) {
    let before = spec(&request(fields));
    assert_eq!(spec(&Request::of(&before, &quorum::built_in())), before, "{fields}");
}

#[test]
fn every_setting_comes_back() {
    for fields in [
        json!({}),
        json!({ "context": "We are three.", "sessionId": "01890000-0000-7000-8000-000000000000" }),
        json!({ "providers": ["claude", "claude", "gemini/pro", "somebody"], "rounds": 7, "minProviders": 3 }),
        json!({ "pattern": "debate" }),
        json!({ "pattern": "debate", "providers": ["claude", "gemini"] }),
        json!({ "pattern": "debate", "providers": ["claude", "gemini"], "synthesizer": "gemini" }),
        json!({ "pattern": "debate", "roles": { "glm": "proponent", "claude": "judge" } }),
        json!({ "pattern": "debate", "debateFormat": "round-limited", "roundLimit": 7, "mode": "simultaneous" }),
        json!({ "pattern": "debate", "judge": "glm", "swapCheck": true, "judgeFailure": "swap", "casting": "spectrum" }),
        json!({ "pattern": "debate", "judging": "verdict-only", "endOn": ["repetition", "drift"] }),
        json!({ "pattern": "debate", "judgeFailure": "ask", "embeddings": "acme/embed-1" }),
        json!({ "pattern": "debate", "providers": ["claude", "glm", "qwen"], "positions": [
            { "participant": "claude", "position": "Tabs.", "persona": "A typist" }, { "participant": "glm", "position": "Spaces." },
        ] }),
        json!({ "pattern": "roundtable", "participants": ["claude", "me:person"] }),
        json!({ "pattern": "roundtable", "stopSequences": { "claude": ["END"], "gemini": [] } }),
        json!({ "participants": ["claude", "claude", { "person": "ann", "user": "u1" }, "bob:person"], "minProviders": 1 }),
        json!({ "pattern": "debate", "participants": ["claude", "gemini", "me:person"], "roles": { "me": "judge" } }),
        json!({ "pattern": "debate", "participants": ["claude", "gemini", "me:person"] }),
        json!({ "pattern": "dialogue", "requireBothConsensus": false, "minRoundsBeforeConsensus": 3 }),
        json!({ "pattern": "dialogue", "rounds": 2, "providerTimeout": 60_000 }),
        json!({ "pattern": "voting", "votingOptions": ["tabs", "spaces"] }),
        json!({ "pattern": "voting", "votingOptions": ["tabs", "spaces"], "consensus": "synthesis" }),
        json!({ "consensus": "moderator", "synthesizer": "qwen", "threshold": 0.8, "includeDissent": false }),
        json!({ "synthesisPrompt": "In verse.", "providerPrompts": { "claude": "Be brief.", "glm": "Be bold." } }),
        json!({ "temperature": 1.5, "maxTokensPerTurn": 512, "providerTimeout": 5_000, "budgetMs": 60_000 }),
        json!({ "showNames": true }),
        json!({ "maxCalls": 30, "maxTokens": 9_000, "maxCost": 0.25, "allowUnpriced": true }),
        json!({ "continueOnProviderFailure": false, "earlyExit": true, "confidenceThreshold": 0.75 }),
        json!({ "minSynthesisMs": 20_000 }),
        json!({ "recursive": true }),
        json!({ "recursive": true, "maxDepth": 3, "timeoutStrategy": "budget", "budgetMs": 1_800_000 }),
        json!({ "seed": 42, "simulate": { "latencyMs": 7, "failure": 0.1, "stubbornness": 0.9, "dead": ["glm"] } }),
    ] {
        comes_back(&fields);
    }
}

/// A past discussion.
async fn past(fields: &Value, config: &str) -> Discussion {
    let config = Config::parse(config, Path::new("config.toml"), PathBuf::new()).unwrap();
    let quorum = Quorum::builder().config(config).simulated().assigning_roles().build().unwrap();
    let scope = quorum.scope(Tenant::default(), "ann");
    let (discussion, handle) = scope.start(scope.check(&request(fields)).unwrap()).await.unwrap();
    handle.finished().await.unwrap();
    discussion
}

/// The order of the past discussion with these changes.
async fn again(fields: &Value, changes: Value) -> Result<Spec, Error> {
    let past = past(fields, "").await;
    let mut all = json!({ "topic": "" });
    all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    past.again(&serde_json::from_value(all).unwrap()).await
}

#[tokio::test(start_paused = true)]
async fn only_changed_fields_change() {
    let fields = json!({ "rounds": 1, "threshold": 0.75, "seed": 9, "context": "We are three." });
    let before = spec(&request(&fields));
    assert_eq!(again(&fields, json!({})).await.unwrap(), before);
    let changed = again(&fields, json!({ "topic": "Vim or Emacs?", "seed": 3 })).await.unwrap();
    let simulation = before.simulation.clone().map(|it| quorum::model::spec::Simulation { seed: 3, ..it });
    assert_eq!(changed, Spec { topic: "Vim or Emacs?".to_owned(), simulation, ..before });
}

#[tokio::test(start_paused = true)]
async fn another_pattern_brings_its_defaults() {
    let dialogue = json!({ "pattern": "dialogue", "providers": ["claude", "gemini"] });
    let spec = again(&json!({ "rounds": 2 }), dialogue).await.unwrap();
    assert_eq!((spec.rounds, spec.timing.step_ms), (10, 120_000));
    let voting = json!({ "pattern": "voting", "votingOptions": ["tabs", "spaces"] });
    assert_eq!(again(&json!({}), voting).await.unwrap().consensus.method, "voting");
    let chosen = again(&json!({ "rounds": 1 }), json!({ "pattern": "debate" })).await.unwrap();
    assert_eq!(chosen.rounds, 1);
    let quiet = again(&json!({ "pattern": "debate", "rounds": 1 }), json!({ "pattern": "synthesis" })).await;
    assert_eq!(quiet.unwrap().speakers().len(), 4, "nobody is left a judge where there is nothing to judge");
}

#[tokio::test(start_paused = true)]
async fn a_debate_leaves_nothing_behind_in_another_pattern() {
    let debate = json!({
        "pattern": "debate", "debateFormat": "free-form", "roundLimit": 2, "swapCheck": true, "threshold": 0.75,
    });
    let spec = again(&debate, json!({ "pattern": "synthesis" })).await.unwrap();
    assert_eq!(spec.settings, Settings::default().with("threshold", 0.75), "its method's option stays");
    let judged = again(&debate, json!({ "judge": "gemini" })).await.unwrap();
    let judges: Vec<String> = judged.playing(&JUDGE).into_iter().map(|it| it.name).collect();
    assert_eq!(judges, ["gemini"]);
    let judged = json!({ "pattern": "debate", "judge": "qwen" });
    let panel = again(&judged, json!({ "judges": ["glm", "gemini"] })).await.unwrap();
    let judges: Vec<String> = panel.playing(&JUDGE).into_iter().map(|it| it.name).collect();
    assert_eq!(judges, ["glm", "gemini"], "whoever judged before does not any more");
}

#[tokio::test(start_paused = true)]
async fn a_number_of_rounds_stays_behind_where_a_debate_takes_none() {
    let structured = json!({ "pattern": "debate", "rounds": 2 });
    let free = again(&structured, json!({ "debateFormat": "free-form", "roundLimit": 1 })).await.unwrap();
    assert_eq!((free.rounds, free.settings.get("roundLimit")), (3, Some(&json!(1))));
    let asked = json!({ "debateFormat": "free-form", "rounds": 2 });
    let Err(Error::Refused(complaints)) = again(&structured, asked).await else { panic!("it is refused") };
    let told: Vec<String> = complaints.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
    assert_eq!(told, ["rounds: a free-form debate takes no number of rounds; give the round limit instead"]);
}

#[tokio::test(start_paused = true)]
async fn a_removed_participant_takes_its_settings_along() {
    let fields = json!({
        "rounds": 1, "synthesizer": "qwen", "providerPrompts": { "qwen": "Be bold." },
        "simulate": { "latencyMs": 0, "dead": ["glm"] },
    });
    let spec = again(&fields, json!({ "providers": ["claude", "gemini"] })).await.unwrap();
    assert_eq!((spec.settings, spec.simulation.unwrap().dead), (Settings::default(), vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_fork_that_drops_one_of_two_equal_seats_leaves_the_other_its_name_and_its_answer() {
    let prompts = json!({ "claude": "Be bold.", "claude-2": "Be brief." });
    let fields = json!({
        "providers": ["claude", "claude", "gemini"], "rounds": 1, "seed": 7, "providerPrompts": prompts,
    });
    let past = past(&fields, "").await;
    let forking = Forking {
        at: "1/answering/gemini".to_owned(),
        without: vec!["claude".to_owned()],
        ..Forking::default()
    };
    let (fork, handle) = past.fork(&forking).await.unwrap();
    handle.finished().await.unwrap();
    let state = fork.state().await.unwrap();
    let seats = |spec: &Spec| -> Vec<(String, Option<String>)> {
        spec.participants.iter().map(|it| (it.name.clone(), it.brief.clone())).collect()
    };
    let expected = [("claude-2".to_owned(), Some("Be brief.".to_owned())), ("gemini".to_owned(), None)];
    assert_eq!(seats(&state.spec), expected);
    let placed: Vec<String> = fork
        .facts(Seq::START)
        .await
        .unwrap()
        .into_iter()
        .filter_map(|fact| match fact.event {
            Event::CallPlaced(_) => fact.step.map(|it| it.to_string()),
            _ => None,
        })
        .collect();
    assert!(!placed.iter().any(|step| step.starts_with("1/answering")), "asked again: {placed:?}");
    let again = fork.again(&Request::default()).await.unwrap();
    assert_eq!(again.participants, state.spec.participants);
}

#[tokio::test(start_paused = true)]
async fn a_disabled_switch_takes_its_value_along() {
    let fields = json!({ "rounds": 1, "earlyExit": true, "confidenceThreshold": 0.75 });
    assert_eq!(again(&fields, json!({ "earlyExit": false })).await.unwrap().early_exit, None);
    assert_eq!(again(&fields, json!({ "rounds": 2 })).await.unwrap().early_exit, Some(0.75));
}

#[tokio::test(start_paused = true)]
async fn defaults_of_today_are_not_those_of_the_past() {
    let limited = past(&json!({ "rounds": 1 }), "[defaults]\nmax-calls = 50\n").await;
    assert_eq!(limited.again(&Request::default()).await.unwrap().limits.calls, Some(50));
    let chosen = past(&json!({ "rounds": 1, "threshold": 0.5 }), "[defaults]\nthreshold = 0.9\n").await;
    let settings = chosen.again(&Request::default()).await.unwrap().settings;
    assert_eq!(settings, Settings::default().with("threshold", 0.5));
}

#[tokio::test(start_paused = true)]
async fn a_value_that_does_not_fit_is_refused_with_its_origin() {
    let Err(Error::Refused(refusals)) =
        again(&json!({}), json!({ "pattern": "dialogue", "providers": ["claude"] })).await
    else {
        panic!("not refused")
    };
    assert_eq!(refusals[0].field, "providers");
    assert!(matches!(refusals[0].origin, Some(Origin::Past(_))), "{refusals:?}");
}
