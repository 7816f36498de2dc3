//! Every result of requirement B's five patterns satisfies its own schema and the one of its
//! origin: every method, 2 to 6 providers, 1 to 10 rounds, with failures, ties, unread and cut
//! replies.

#![expect(clippy::expect_used, reason = "a test that can't go on should stop")]

mod validator;

use std::{collections::BTreeSet, sync::Arc};

use quorum::{Config, Quorum, Request, model::id::Tenant};
use quorum_core::{
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        money::{Price, Usd},
        outcome::Outcome,
        spec::Spec,
    },
};
use quorum_patterns::registry;
use quorum_testkit::{
    panel::{Panel, panel},
    table::Table,
};
use serde_json::{Value, json};

use validator::problems;

const PROVIDERS: [&str; 6] = ["claude", "glm", "qwen", "gemini", "codex", "grok"];
const METHODS: [&str; 5] = ["synthesis", "voting", "moderator", "unanimous", "majority"];
const ROUNDS: [u32; 4] = [1, 2, 3, 10];

/// A panel, and what happens with it.
type Script = (&'static str, fn() -> Panel);

/// What goes wrong in a discussion, if anything. Their number shares no factor with the other
/// dimensions, so that taking them in turn combines each with each.
const SCRIPTS: [Script; 13] = [
    ("everyone answers", panel),
    ("one is not there", || panel().away("glm")),
    ("one never answers", || panel().hangs("glm")),
    ("one is refused", || panel().fails("claude", ErrorClass::Authentication)),
    ("one speaks without end", || panel().never_ends("glm")),
    ("one breaks off", || panel().breaks_off("claude")),
    ("one fails at first", || panel().fails_first("glm", ErrorClass::ApiError, 1)),
    ("everyone fails", || panel().fails("*", ErrorClass::ApiError)),
    ("nobody is there", || panel().away("*")),
    ("a tie", || panel().votes("claude", "tabs", 0.5).votes("glm", "spaces", 0.5)),
    ("ballots nobody can read", || panel().writes("*", "ballot", "Hm.")),
    ("a vote of many words", || panel().votes("*", "tabs because they are wider than spaces", 1.0)),
    ("replies that are cut", || {
        let forms = ["ballot", "synthesis", "judgement", "verdict", "agreement"];
        forms.into_iter().fold(panel(), |panel, form| panel.needs_room("*", form, 100_000))
    }),
];

/// The scripts for the order at this place of the sweep: two of them in turn, or all in the long
/// mode.
fn chosen(place: usize) -> Vec<Script> {
    if std::env::var_os("QUORUM_LONG").is_some() {
        return SCRIPTS.to_vec();
    }
    [2 * place, 2 * place + 1].map(|at| SCRIPTS[at % SCRIPTS.len()]).to_vec()
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).expect("the schema is JSON")
}

/// The spec of an order by the facade, with roles assigned as on the command line, and with
/// scripted voices.
fn spec(quorum: &Quorum, pattern: &str, method: &str, seats: usize, rounds: u32) -> Spec {
    let options = (["voting", "settle"].contains(&pattern)).then(|| json!(["tabs", "spaces"]));
    let order = json!({
        "topic": "Tabs or spaces?", "pattern": pattern, "providers": PROVIDERS[..seats], "rounds": rounds,
        "consensusMethod": method, "synthesizer": (method == "moderator").then_some("claude"), "votingOptions": options,
    });
    let request: Request = serde_json::from_value(without_nulls(order)).expect("the order can be read");
    let scope = quorum.scope(Tenant::default(), "a test");
    let mut spec =
        scope.check(&request).unwrap_or_else(|error| panic!("{pattern} {method} {seats}: {error}"));
    spec.simulation = None;
    for seat in &mut spec.participants {
        seat.provider = "scripted".to_owned();
    }
    spec
}

fn without_nulls(mut value: Value) -> Value {
    value.as_object_mut().expect("an order is an object").retain(|_, it| !it.is_null());
    value
}

fn facade() -> Quorum {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config::parse("", &folder.path().join("config.toml"), folder.path().to_owned());
    let config = config.expect("an empty configuration is valid");
    Quorum::builder().user(config).simulated().assigning_roles().build().expect("a facade")
}

/// What the schemas can't say.
fn check_lists(outcome: &Outcome, spec: &Spec, what: &str) {
    let lists = [&outcome.participating_providers, &outcome.failed_providers, &outcome.dropped];
    let listed: Vec<&String> = lists.into_iter().flatten().collect();
    let once: BTreeSet<&String> = listed.iter().copied().collect();
    assert_eq!(listed.len(), once.len(), "{what}: somebody is in two lists");
    for seat in &spec.participants {
        let has = |name: &String| outcome.seats.get(name).is_some_and(|it| it.contains(&seat.name));
        assert!(listed.iter().any(|it| **it == seat.name || has(it)), "{what}: {} is in no list", seat.name);
    }
    let order = |name: &String| spec.participants.iter().position(|it| it.name == *name);
    assert!(lists.into_iter().all(|it| it.is_sorted_by_key(order)), "{what}: not in seating order");
    let time = |text: &str| text.parse::<jiff::Timestamp>().expect("a time");
    let over = outcome.metadata.completed_at.as_deref().map(time);
    assert!(over >= Some(time(&outcome.metadata.started_at)), "{what}: it ended before it began");
    let somebody_spoke = outcome.rounds.iter().flat_map(|it| &it.responses).any(|it| !it.content.is_empty());
    assert_eq!(somebody_spoke, !outcome.synthesis.is_empty(), "{what}: INV-DISC-009");
}

async fn sweep(pattern: &str) {
    let schemas = [include_str!("seed.json"), include_str!("origin.json")].map(schema);
    let quorum = facade();
    let usd = |dollars| Usd::from_dollars(dollars).expect("a price");
    let price = Price::new(usd(1.0), usd(2.0));
    let (mut held, mut place, mut priced) = (0, 0, false);
    for method in METHODS {
        for (seats, rounds) in (2..=6).flat_map(|seats| ROUNDS.map(|rounds| (seats, rounds))) {
            place += 1;
            let spec = spec(&quorum, pattern, method, seats, rounds);
            for (script, scripted) in chosen(place) {
                priced = !priced;
                let panel = if priced { scripted().priced(price) } else { scripted() };
                let table = Table::over(Arc::new(MemoryStore::new()), &panel, registry());
                let (outcome, _) = table.hold(spec.clone()).await;
                let what = format!("{pattern}, {method}, {seats} seats, {rounds} rounds, {script}");
                let result = json!(outcome);
                for schema in &schemas {
                    let found = problems(schema, &result);
                    assert!(found.is_empty(), "{what}: {found:?}");
                }
                check_lists(&outcome, &spec, &what);
                held += 1;
            }
        }
    }
    assert_eq!(place, METHODS.len() * 5 * ROUNDS.len());
    println!("{pattern}: {held} results, all valid");
}

#[tokio::test(start_paused = true)]
async fn b04_every_result_of_round_robin_satisfies_both_schemas() {
    sweep("round-robin").await;
}

#[tokio::test(start_paused = true)]
async fn b04_every_result_of_debate_satisfies_both_schemas() {
    sweep("debate").await;
}

#[tokio::test(start_paused = true)]
async fn b04_every_result_of_critique_satisfies_both_schemas() {
    sweep("critique").await;
}

#[tokio::test(start_paused = true)]
async fn b04_every_result_of_voting_satisfies_both_schemas() {
    sweep("voting").await;
}

#[tokio::test(start_paused = true)]
async fn b04_every_result_of_synthesis_satisfies_both_schemas() {
    sweep("synthesis").await;
}

#[test]
fn the_validator_finds_what_is_wrong() {
    let schema = schema(include_str!("origin.json"));
    let found =
        problems(&schema, &json!({ "success": 1, "pattern": "brawl", "metadata": { "startedAt": "today" } }));
    for problem in [
        "/success: not a boolean",
        "/pattern: not one of the values",
        "/metadata/startedAt: not a time",
        "/metadata: completedAt is missing",
        ": rounds is missing",
    ] {
        assert!(found.iter().any(|it| it == problem), "{problem} is not in {found:?}");
    }
}
