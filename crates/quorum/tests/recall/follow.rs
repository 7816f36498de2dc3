//! Follow-up questions.

use std::{path::Path, sync::Arc};

use quorum::{
    Config, Error, Quorum, Request, Scope,
    memory::MemoryStore,
    model::{
        agent::{Agent, Candidate, Reason},
        id::Tenant,
        participant::Participant,
        recall::{Follows, Replaced, Why},
        spec::Spec,
    },
    seams::Then,
    setup::{self, Machine},
};
use quorum_testkit::{
    conformance::store::fixture::{Writer, about, ending, open_as_ordered, second},
    panel::panel,
};
use serde_json::json;

use crate::fixture::{Fixture, refusals, request};

/// A request that only says what it follows.
fn next(topic: &str, follows: &str) -> Request {
    Request { follows: Some(follows.to_owned()), ..Request::on(topic) }
}

#[tokio::test(start_paused = true)]
async fn the_same_panel_goes_on_with_the_next_question() {
    let fixture = Fixture::new(&panel());
    let scope = fixture.scope();
    let fields = json!({ "pattern": "roundtable", "rounds": 2, "temperature": 0.3, "votingOptions": null });
    let first = scope.order(&request(&fields)).await.unwrap();
    let (source, handle) = scope.start(first.clone()).await.unwrap();
    handle.finished().await.unwrap();

    let spec = scope.order(&next("And what would it cost?", "last")).await.unwrap();
    let expected = Spec {
        topic: "And what would it cost?".to_owned(),
        follows: Some(Follows { id: source.id(), replaced: Vec::new(), pattern: None }),
        recalled: spec.recalled.clone(),
        ..first.clone()
    };
    assert_eq!(spec, expected);
    let (second, handle) = scope.start(spec).await.unwrap();
    handle.finished().await.unwrap();
    let session = second.state().await.unwrap().spec.session.unwrap();
    assert_eq!(scope.sessions().await.unwrap()[0].session_id, session, "a session was made");

    let changed = Request { rounds: Some(1), ..next("Who does it?", &second.id().to_string()) };
    let spec = scope.order(&changed).await.unwrap();
    assert_eq!((spec.rounds, spec.session), (1, Some(session)));
    let links: Vec<_> = spec.shown().iter().map(|it| (it.id, it.why)).collect();
    assert_eq!(links, [(source.id(), Why::Followed), (second.id(), Why::Followed)]);
    let (third, handle) = scope.start(spec).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert_eq!(outcome.metadata.follows, Some(second.id()));
    let asked = fixture.panel.asked().into_iter().filter(|it| it.call.discussion == third.id());
    for it in asked {
        let system = &it.call.system;
        let (f1, f2) = (system.find("\n[F1] 20").unwrap(), system.find("\n[F2] 20").unwrap());
        assert!(system.contains("# What the question follows\n\n") && f1 < f2, "{system}");
        assert!(system.contains("> Question: And what would it cost?\n"), "{system}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_question_after_a_vote_needs_no_options() {
    for pattern in ["voting", "settle"] {
        let fixture = Fixture::new(&panel());
        let scope = fixture.scope();
        let vote = json!({ "pattern": pattern, "votingOptions": ["tabs", "spaces"], "rounds": 1 });
        let first = scope.order(&request(&vote)).await.unwrap();
        let (source, handle) = scope.start(first.clone()).await.unwrap();
        handle.finished().await.unwrap();

        let spec = scope.order(&next("And what then?", "last")).await.unwrap();
        assert_eq!((spec.pattern.as_str(), spec.consensus.method.as_str()), ("synthesis", "synthesis"));
        assert_eq!((&spec.participants, spec.rounds), (&first.participants, 1));
        let was = Some(pattern.to_owned());
        assert_eq!(spec.follows, Some(Follows { id: source.id(), replaced: Vec::new(), pattern: was }));
        let remarks = scope.remarks(&spec);
        let told: Vec<String> = remarks.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
        let remark = "votes on options, and none are given, so it is synthesis now";
        assert_eq!(told, [format!("pattern: {pattern} {remark}")]);
        let (_, handle) = scope.start(spec).await.unwrap();
        assert!(handle.finished().await.unwrap().outcome().success);

        let id = source.id().to_string();
        let named = Request { pattern: Some(pattern.to_owned()), ..next("And what then?", &id) };
        assert!(matches!(scope.order(&named).await, Err(Error::Refused(_))), "a pattern that is asked for");
        let options = Some(vec!["soon".to_owned(), "late".to_owned()]);
        let voted = Request { voting_options: options, ..next("And when?", &id) };
        let spec = scope.order(&voted).await.unwrap();
        assert_eq!((spec.pattern.as_str(), spec.follows.unwrap().pattern), (pattern, None));
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_last_three_links_are_shown() {
    let fixture = Fixture::new(&panel());
    let scope = fixture.scope();
    fixture.past("Question 0?", "Answer 0.").await;
    for number in 1..=4 {
        let spec = scope.order(&next(&format!("Question {number}?"), "last")).await.unwrap();
        let (_, handle) = scope.start(spec).await.unwrap();
        handle.finished().await.unwrap();
    }
    let spec = scope.order(&next("Question 5?", "last")).await.unwrap();
    let topics: Vec<&str> = spec.shown().iter().map(|it| it.topic.as_str()).collect();
    assert_eq!(topics, ["Question 2?", "Question 3?", "Question 4?"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_followed_takes_a_fifth_of_the_smallest_window_at_most() {
    let fixture = Fixture::new(&panel().window("glm", 16_000));
    fixture.past("Which database?", &"Because it is so. ".repeat(5_000)).await;
    let spec = fixture.scope().order(&request(&json!({ "follows": "last" }))).await.unwrap();
    let shown = &spec.shown()[0];
    assert!(shown.cut && shown.tokens <= 3_200 && shown.tokens > 3_150, "{}", shown.tokens);
    assert!(shown.text.ends_with("so."), "{:?}", &shown.text[shown.text.len() - 20..]);
    let spec = fixture.scope().order(&request(&json!({ "recall": { "from": ["last"] } }))).await.unwrap();
    let shown = &spec.shown()[0];
    assert!(shown.cut && shown.tokens <= 1_500 && shown.tokens > 1_450, "{}", shown.tokens);
}

/// A machine with keys for these of four providers.
fn machine(store: &Arc<MemoryStore>, keys: &'static [&str]) -> Scope {
    let provider = |name: &str| {
        format!(
            "[providers.{name}]\nwire = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
             model = \"{name}-1\"\nkey_env = \"{}\"\n",
            name.to_uppercase()
        )
    };
    let config = ["alpha", "beta", "gamma", "delta"].map(provider).concat();
    let config = Config::parse(&config, Path::new("config.toml"), "".into()).unwrap();
    let variable = |name: &str| keys.contains(&name.to_lowercase().as_str()).then(|| "secret".to_owned());
    let setup = setup::load(&config, &Machine { variable: &variable, ..Machine::bare() }).unwrap();
    let quorum = Quorum::builder().config(config).store(store.clone()).set_up(setup).build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

#[tokio::test(start_paused = true)]
async fn a_voice_that_is_gone_is_replaced_and_that_is_recorded() {
    let store = Arc::new(MemoryStore::new());
    let then = machine(&store, &["alpha", "beta"]);
    let providers = Some(vec!["alpha".to_owned(), "beta".to_owned()]);
    let spec = then.check(&Request { providers, ..Request::on("Tabs or spaces?") }).unwrap();
    let id = open_as_ordered(&*store, spec, second(1)).await;
    let mut writer = Writer::claiming(&*store, id, "one").await;
    writer.write(second(2), ending("Tabs."), Then::Done).await.unwrap();

    let names = |spec: &Spec| spec.participants.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let same = then.order(&next("Why?", "last")).await.unwrap();
    assert_eq!((names(&same), same.follows.unwrap().replaced), (vec!["alpha".into(), "beta".into()], vec![]));
    let now = machine(&store, &["beta", "gamma"]);
    let spec = now.order(&next("Why?", "last")).await.unwrap();
    assert_eq!(names(&spec), ["gamma", "beta"]);
    let replaced = vec![Replaced { seat: "alpha".into(), by: "gamma".into() }];
    assert_eq!(spec.follows, Some(Follows { id, replaced, pattern: None }));
    let nobody = machine(&store, &[]);
    assert!(matches!(nobody.order(&next("Why?", "last")).await, Err(Error::Refused(_))));
}

/// A seat of an agent that prefers these providers, through the first.
fn agent(id: &str, preferred: &[&str]) -> Participant {
    let candidate = |provider: &&str| Candidate {
        provider: (*provider).to_owned(),
        model: None,
        aliases: Vec::new(),
        strengths: Vec::new(),
        reason: Reason::Preferred,
        abilities: Vec::new(),
        left_out: Vec::new(),
        temperature: None,
    };
    let candidates = preferred.iter().map(candidate).collect();
    let agent = Agent { id: id.to_owned(), candidates, ..Agent::default() };
    let seat = Participant::of(preferred[0]);
    Participant { name: id.to_owned(), weight: 2.0, agent: Some(Arc::new(agent)), ..seat }
}

#[tokio::test(start_paused = true)]
async fn an_agent_with_another_provider_that_can_be_asked_keeps_its_seat() {
    let store = Arc::new(MemoryStore::new());
    let then = machine(&store, &["alpha", "beta", "gamma"]);
    let providers = Some(vec!["alpha".to_owned(), "gamma".to_owned()]);
    let mut spec = then.check(&Request { providers, ..Request::on("Tabs or spaces?") }).unwrap();
    spec.participants[1] = agent("two", &["gamma", "beta"]);
    let seats = spec.participants.clone();
    let id = open_as_ordered(&*store, spec, second(1)).await;
    let mut writer = Writer::claiming(&*store, id, "one").await;
    writer.write(second(2), ending("Tabs."), Then::Done).await.unwrap();

    let followed = async |keys: &'static [&str]| {
        let spec = machine(&store, keys).order(&next("Why?", "last")).await.unwrap();
        (spec.participants, spec.follows.unwrap().replaced)
    };
    let by = |seat: &str, by: &str| Replaced { seat: seat.into(), by: by.into() };
    assert_eq!(followed(&["alpha", "beta"]).await, (seats.clone(), vec![]));
    // Nobody takes the place of another through the provider that the agent speaks through now.
    let (now, replaced) = followed(&["beta", "delta"]).await;
    assert_eq!((&now[1], replaced), (&seats[1], vec![by("alpha", "delta")]));
    let (now, replaced) = followed(&["alpha", "delta"]).await;
    assert_eq!((&now[0], replaced), (&seats[0], vec![by("two", "delta")]));
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_without_a_question_of_its_own_is_refused() {
    let fixture = Fixture::new(&panel());
    fixture.past("Which database?", "PostgreSQL.").await;
    for topic in ["", " \n"] {
        let refused = refusals(&fixture.scope(), &json!({ "follows": "last", "topic": topic })).await;
        assert_eq!(refused, ["topic: is empty; give the next question"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_over_or_not_ours_is_not_followed() {
    let fixture = Fixture::new(&panel());
    let scope = fixture.scope();
    let follows = async |id: &str| refusals(&scope, &json!({ "follows": id })).await;
    assert_eq!(follows("last").await, ["follows: there are no discussions yet"]);
    assert_eq!(follows("abc").await, ["follows: there is no discussion abc"]);
    let spec = Spec { tenant: Tenant::named("bob"), ..about("tabs?") };
    let anothers = fixture.ended(spec, "Tabs.").await;
    assert_eq!(follows(&anothers.to_string()).await, [format!("follows: there is no discussion {anothers}")]);
    let prepared = scope.prepare(scope.check(&request(&json!({}))).unwrap()).await.unwrap().id();
    let expected = format!("follows: discussion {prepared} is ready; only one that is over can be shown");
    assert_eq!(follows("last").await, [expected]);
    let refused = scope.check(&request(&json!({ "follows": "last" })));
    assert!(refused.unwrap_err().to_string().contains("was not looked up"));
}
