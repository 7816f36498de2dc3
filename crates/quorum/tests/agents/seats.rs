//! Who sits where, and through whom an agent speaks.

use std::sync::Arc;

use quorum::{
    Error, Finished, Scope, Snapshot,
    model::{
        agent::Reason,
        money::{Price, Usd},
        participant::Participant,
        spec::Spec,
    },
    seams::{Voice, Voices},
};
use quorum_testkit::panel::{AskedCall, Panel, panel};
use serde_json::{Value, json};

use crate::fixture::{Fixture, preferring, request, spec};

/// The seats as `name through provider`.
fn seats(scope: &Scope, participants: &Value) -> Vec<String> {
    let spec = spec(scope, &json!({ "participants": participants }));
    let shown = |it: &Participant| match &it.model {
        Some(model) => format!("{} through {}/{model}", it.name, it.provider),
        None => format!("{} through {}", it.name, it.provider),
    };
    spec.participants.iter().map(shown).collect()
}

#[test]
fn b08_an_agents_seat_is_written_with_its_kind_or_as_an_object() {
    let fixture = Fixture::with(&preferring(&["gemini/gemini-2.5-pro"]));
    let written = json!(["claude", "reviewer:agent", "reviewer:agent"]);
    let expected = [
        "claude through claude",
        "reviewer through gemini/gemini-2.5-pro",
        "reviewer-2 through gemini/gemini-2.5-pro",
    ];
    assert_eq!(seats(&fixture.offline(), &written), expected);
    let typed = json!([
        { "type": "provider", "id": "anthropic" }, { "type": "agent", "id": "reviewer" }, "reviewer:agent",
    ]);
    assert_eq!(seats(&fixture.offline(), &typed), expected);
}

#[test]
fn b08_a_request_with_an_agent_can_be_written_again() {
    let fields =
        json!({ "participants": ["claude", { "type": "agent", "id": "reviewer" }], "task": "triage" });
    let written = serde_json::to_value(request(&fields)).unwrap();
    assert_eq!(written["participants"], fields["participants"]);
    assert_eq!(request(&fields), serde_json::from_value(written).unwrap());
}

/// Holds a round with a plain seat and the reviewer, and returns the reviewer's result.
async fn seated(panel: Panel, affinity: Value) -> (Snapshot, String) {
    let fixture = Fixture::with(&json!({ "providerAffinity": affinity }));
    let fields = json!({ "participants": ["scripted", "scripted", "reviewer:agent"], "rounds": 1 });
    let state = fixture.held(&panel, &fields).await;
    let told = match state.agents.get("reviewer") {
        Some(it) => {
            let passed: Vec<&str> = it.passed_over.iter().map(|it| it.candidate.as_str()).collect();
            format!("{} {:?} not {}", it.provider, it.reason, passed.join(","))
        }
        None => state.absent.iter().map(|it| it.message.clone()).collect(),
    };
    (state, told)
}

#[tokio::test(start_paused = true)]
async fn inv_agt_pa_001_the_first_preferred_provider_that_can_be_asked_speaks() {
    let affinity = json!({ "preferred": ["scripted-dead", "scripted-two"] });
    let (state, told) = seated(panel().away("scripted-dead"), affinity).await;
    assert_eq!(told, "scripted-two Preferred not scripted-dead");
    assert_eq!(state.agents["reviewer"].passed_over[0].message, "nobody there");
    let report = &state.outcome().agents[0];
    let reported = (report.provider.as_deref(), report.reason.clone());
    assert_eq!(reported, (Some("scripted-two"), Some(Reason::Preferred)));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_302_an_agents_preferred_providers_come_first() {
    let affinity = json!({
        "preferred": ["scripted-two"], "fallback": "scripted-three", "fallbackStrategy": "cascade",
    });
    let (_, told) = seated(panel(), affinity.clone()).await;
    assert_eq!(told, "scripted-two Preferred not ");
    let (_, told) = seated(panel().away("scripted-two"), affinity).await;
    assert_eq!(told, "scripted-three Fallback not scripted-two");
}

#[tokio::test(start_paused = true)]
async fn inv_agt_pa_002_the_fallback_speaks_when_all_preferred_fail() {
    let affinity = json!({ "preferred": ["scripted-dead", "other"], "fallback": "scripted-three" });
    let (state, told) = seated(panel().away("scripted-dead"), affinity).await;
    assert_eq!(told, "scripted-three Fallback not scripted-dead,other");
    assert_eq!(state.agents["reviewer"].passed_over[1].message, "other is not set up here");
}

#[tokio::test(start_paused = true)]
async fn inv_disc_640_a_strict_agent_without_a_provider_is_absent() {
    let affinity = json!({ "preferred": ["scripted-dead"], "fallbackStrategy": "strict" });
    let (state, told) = seated(panel().away("scripted-dead"), affinity).await;
    let reasons = "scripted-dead: nobody there";
    assert_eq!(told, format!("none of the providers it may speak through can be asked ({reasons})"));
    let outcome = state.outcome();
    assert!(outcome.success && outcome.failed_providers == ["reviewer"], "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn b08_an_agents_responses_say_so() {
    let fixture = Fixture::with(&preferring(&["scripted-one"]));
    let fields = json!({ "participants": ["scripted", "reviewer:agent"], "rounds": 1 });
    let state = fixture.held(&panel(), &fields).await;
    let outcome = serde_json::to_value(state.outcome()).unwrap();
    let responses = outcome["rounds"][0]["responses"].as_array().unwrap();
    let told: Vec<(&Value, &Value, &Value)> =
        responses.iter().map(|it| (&it["provider"], &it["isAgent"], &it["agentId"])).collect();
    let (agent, plain) = (json!("reviewer"), json!("scripted"));
    assert_eq!(told, [(&plain, &Value::Null, &Value::Null), (&agent, &json!(true), &agent)]);
    assert_eq!(outcome["participatingProviders"], json!(["scripted", "reviewer"]));
}

#[tokio::test(start_paused = true)]
async fn b08_a_task_chooses_the_provider_by_name_or_by_the_topic() {
    let affinity =
        json!({ "preferred": ["scripted-one"], "taskOverrides": { "code-review": "scripted-two" } });
    let fixture = Fixture::with(&json!({ "providerAffinity": affinity }));
    let through = async |topic: &str, task: Value| {
        let participants = ["scripted", "reviewer:agent"];
        let fields = json!({ "topic": topic, "task": task, "participants": participants, "rounds": 1 });
        fixture.held(&panel(), &fields).await.agents["reviewer"].provider.clone()
    };
    assert_eq!(through("Is this fine?", Value::Null).await, "scripted-one");
    assert_eq!(through("Is this code review fine?", Value::Null).await, "scripted-two");
    assert_eq!(through("Is this fine?", json!("code-review")).await, "scripted-two");
}

/// Voices of which only those of one provider have a price.
struct OnePriced(Panel);

impl Voices for OnePriced {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let voice = self.0.voice(spec, who)?;
        let price = Price::new(Usd::from_dollars(1.0)?, Usd::from_dollars(1.0)?);
        Some(Voice { price: (who.provider != "scripted-dear").then_some(price), ..voice })
    }
}

#[tokio::test(start_paused = true)]
async fn b08_a_candidate_without_a_price_never_speaks_under_a_budget_in_money() {
    let fixture = Fixture::with(&preferring(&["scripted-dear", "scripted-one"]));
    let voices = Arc::new(OnePriced(panel()));
    let through = async |fields: Value| {
        let scope = fixture.voiced(voices.clone());
        let (_, handle) = scope.start(spec(&scope, &fields)).await.unwrap();
        let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("it waits") };
        state.agents["reviewer"].clone()
    };
    let seats = json!(["scripted", "reviewer:agent"]);
    let free = through(json!({ "participants": seats, "rounds": 1 })).await;
    assert_eq!(free.provider, "scripted-dear");
    let bounded = through(json!({ "participants": seats, "rounds": 1, "maxCost": 100 })).await;
    assert_eq!((bounded.provider.as_str(), bounded.passed_over.len()), ("scripted-one", 1));
    fixture.agent("reviewer", &preferring(&["scripted-dear"]));
    let refused = fixture.voiced(voices).check(&request(&json!({ "participants": seats, "maxCost": 100 })));
    assert!(matches!(refused, Err(Error::Refused(it)) if it[0].field == "maxCost"));
}

/// Through whom the reviewer with these fields would speak, and who has no voice, by the plan.
async fn planned(voices: Option<Arc<dyn Voices>>, affinity: Value, limits: Value) -> Planned {
    let fixture = Fixture::with(&json!({ "providerAffinity": affinity }));
    let scope = voices.map_or_else(|| fixture.offline(), |it| fixture.voiced(it));
    let mut fields = json!({ "participants": ["scripted", "scripted", "reviewer:agent"], "rounds": 1 });
    fields.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    let plan = scope.plan(&spec(&scope, &fields)).await.unwrap();
    let agent = plan.participants[2].agent.clone().unwrap();
    (agent.speaks_through, agent.reason, plan.unavailable)
}

type Planned = (Option<String>, Option<Reason>, Vec<String>);

#[tokio::test(start_paused = true)]
async fn b08_a_plan_names_only_a_provider_that_would_speak() {
    let none = || (None, None, vec!["reviewer".to_owned()]);
    let strict = json!({ "preferred": ["claude"], "fallbackStrategy": "strict" });
    let voices = || -> Option<Arc<dyn Voices>> { Some(Arc::new(panel())) };
    assert_eq!(planned(voices(), strict, json!({})).await, none());
    let excluded = json!({ "preferred": ["claude"], "exclude": ["claude"] });
    assert_eq!(planned(None, excluded.clone(), json!({})).await, none());
    assert_eq!(planned(voices(), excluded, json!({})).await, none());
    let second = json!({ "preferred": ["claude", "scripted-two"] });
    let expected = (Some("scripted-two".to_owned()), Some(Reason::Preferred), vec![]);
    assert_eq!(planned(voices(), second, json!({})).await, expected);
    let dear = json!({ "preferred": ["scripted-dear", "scripted-two"] });
    let priced: Option<Arc<dyn Voices>> = Some(Arc::new(OnePriced(panel())));
    assert_eq!(planned(priced, dear, json!({ "maxCost": 100 })).await, expected);
}

#[tokio::test(start_paused = true)]
async fn b08_a_sub_discussion_keeps_an_agents_provider() {
    let fixture = Fixture::with(&preferring(&["scripted-dead", "scripted-one"]));
    let panel = panel().away("scripted-dead").convenes("reviewer", "and at what price?");
    let fields = json!({ "participants": ["scripted", "reviewer:agent"], "rounds": 1, "recursive": true });
    let state = fixture.held(&panel, &fields).await;
    assert_eq!(state.outcome().sub_discussions.len(), 1);
    let calls = panel.asked();
    let of_reviewer = calls.iter().filter(|it| it.call.participant.name == "reviewer");
    let (own, subs): (Vec<_>, Vec<_>) = of_reviewer.partition(|it| it.call.discussion == state.id);
    assert!(!own.is_empty() && !subs.is_empty());
    let candidates = |it: &&AskedCall| it.call.participant.agent.as_ref().unwrap().candidates.len();
    assert_eq!((own.iter().map(candidates).max(), subs.iter().map(candidates).max()), (Some(2), Some(1)));
}

/// Voices of which those of one provider have a small window.
struct OneSmall(Panel);

impl Voices for OneSmall {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let voice = self.0.voice(spec, who)?;
        let window = if who.provider == "scripted-small" { 2_000 } else { voice.window };
        Some(Voice { window, ..voice })
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_630_earlier_discussions_fit_the_windows_of_all_candidates() {
    let topic = "So many words are in this question. ".repeat(110);
    let shown = async |preferred: &[&str]| {
        let fixture = Fixture::with(&preferring(preferred));
        let scope = fixture.voiced(Arc::new(OneSmall(panel())));
        let fields = json!({ "topic": topic, "participants": ["scripted", "scripted"], "rounds": 1 });
        let (_, handle) = scope.start(spec(&scope, &fields)).await.unwrap();
        handle.finished().await.unwrap();
        let next = json!({ "follows": "last", "participants": ["scripted", "reviewer:agent"] });
        let order = scope.order(&request(&next)).await.unwrap();
        let shown = &order.shown()[0];
        (shown.cut, shown.tokens <= 400)
    };
    assert_eq!(shown(&["scripted-one"]).await, (false, false));
    assert_eq!(shown(&["scripted-one", "scripted-small"]).await, (true, true));
}

#[tokio::test(start_paused = true)]
async fn b08_two_agents_may_speak_through_one_provider() {
    let fixture = Fixture::with(&preferring(&["scripted-one"]));
    fixture.agent("reviewer-of-tests", &preferring(&["scripted-one"]));
    let fields = json!({ "participants": ["reviewer:agent", "reviewer-of-tests:agent"], "rounds": 1 });
    let outcome = fixture.held(&panel(), &fields).await.outcome();
    assert_eq!(outcome.participating_providers, ["reviewer", "reviewer-of-tests"]);
    assert!(outcome.success && outcome.seats.is_empty());
}

#[tokio::test(start_paused = true)]
async fn b08_a_profiles_temperature_and_length_hold_for_its_own_turns() {
    let fixture = Fixture::with(&json!({
        "temperature": 0.2, "maxTokens": 100,
        "providerAffinity": { "preferred": ["scripted-one"], "temperatureOverrides": { "scripted-two": 0.4 } },
    }));
    let asked = async |panel: Panel, fields: Value| {
        let mut all = json!({ "participants": ["scripted", "reviewer:agent"], "rounds": 1 });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        fixture.held(&panel, &all).await;
        let calls = panel.asked();
        let call = calls.iter().find(|it| it.call.participant.name == "reviewer").unwrap();
        (call.call.temperature, call.call.max_tokens)
    };
    assert_eq!(asked(panel(), json!({})).await, (0.2, 100));
    assert_eq!(asked(panel(), json!({ "temperature": 0.9 })).await, (0.9, 100));
}
