//! Positions and personas: given by the user, assigned by a model, or default ones if no model can
//! (D05).

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        error::ErrorClass, event::Fork, id::Step, outcome::Outcome, participant::Participant, spec::Spec,
    },
    vocabulary::option::Named,
};
use quorum_patterns::{
    debate::{Cast, CastOrigin, DebateSpec, Diversity, Part},
    registry,
    roles::JUDGE,
};
use quorum_testkit::{
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};
use serde_json::json;

use crate::{
    results::{Results, ordered},
    table,
};

async fn cast(panel: Panel, spread: Diversity) -> (Outcome, Table) {
    let table = table(&panel);
    let debate = DebateSpec { casting: Some(spread), ..DebateSpec::default() };
    let (outcome, _) = table.hold(ordered(&debate)).await;
    (outcome, table)
}

fn casting(table: &Table) -> Vec<String> {
    table.panel.steps().into_iter().filter(|step| step.contains("/casting/")).collect()
}

fn told(table: &Table, who: &str) -> String {
    let step = format!("1/awaiting-responses/{who}");
    let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap();
    asked.named(&asked.call.system)
}

#[tokio::test(start_paused = true)]
async fn d05_a_model_assigns_positions_and_everyone_knows_them() {
    for (spread, _) in Diversity::ALL.iter().copied() {
        let (outcome, table) = cast(panel(), spread).await;
        assert_eq!(casting(&table), ["0/casting/cyd"]);
        assert_eq!(table.panel.asked()[0].call.temperature, 0.9);
        let given = outcome.positions().unwrap();
        assert_eq!((given.origin, given.by.as_deref()), (CastOrigin::Assigned, Some("cyd")));
        let told = told(&table, "ann");
        for part in ["> what ann holds", "> one like ann", "bob:\n> what bob holds"] {
            assert!(told.contains(part), "{part} is missing in {told}");
        }
        assert!(!told.contains("one like bob"), "another's persona is its own");
        assert!(outcome.success && !outcome.integrity.degraded);
        assert_eq!(outcome.rounds.len(), 2, "casting is no round");
    }
}

#[tokio::test(start_paused = true)]
async fn d05_the_judge_is_shown_positions_without_names() {
    let parts = json!({ "positions": [
        {"participant": "ann", "position": "bob is wrong", "persona": "a fan"},
        {"participant": "bob", "position": "no to it", "persona": "a critic"},
    ]});
    let (_, table) = cast(panel().writes("cyd", "casting", &parts.to_string()), Diversity::Binary).await;
    let judging = table.panel.asked().into_iter().find(|it| it.step.as_str() == "1/judging/cyd").unwrap();
    let system = &judging.call.system;
    assert!(
        system.contains("> no to it") && !system.contains("bob") && system.contains(" is wrong"),
        "{system}"
    );
}

#[tokio::test(start_paused = true)]
async fn d05_an_invalid_casting_is_asked_for_once_more_and_then_the_default_is_used() {
    let one =
        json!({"positions": [{"participant": "ann", "position": "yes", "persona": "a fan"}]}).to_string();
    let part =
        |name: &str, position: &str| json!({"participant": name, "position": position, "persona": "x"});
    let stranger = json!({"positions": [part("ann", "yes"), part("eve", "no")]}).to_string();
    let same = json!({"positions": [part("ann", "yes"), part("bob", "Yes")]}).to_string();
    for bad in ["Ann is for it.", r#"{"positions": ["#, &one, &stranger, &same] {
        let (outcome, table) = cast(panel().writes("cyd", "casting", bad), Diversity::Binary).await;
        assert_eq!(casting(&table), ["0/casting/cyd", "0/casting/cyd/strict"], "{bad}");
        let given = outcome.positions().unwrap();
        assert_eq!((given.origin, given.by), (CastOrigin::Fallback, None), "{bad}");
        assert!(given.parts[0].position.starts_with("For") && given.parts[1].position.starts_with("Against"));
        assert!(outcome.success && outcome.integrity.degraded, "it is held all the same, and says so");
    }
}

#[tokio::test(start_paused = true)]
async fn d05_without_a_caster_the_default_is_used() {
    let (outcome, _) = cast(panel().fails("cyd", ErrorClass::Validation), Diversity::Spectrum).await;
    assert_eq!(outcome.positions().unwrap().origin, CastOrigin::Fallback);
    assert!(outcome.success, "{:?}", outcome.error);
}

#[tokio::test(start_paused = true)]
async fn d05_positions_given_by_the_user_are_kept_and_nobody_is_asked() {
    let part = |name: &str, position: &str| Part {
        participant: name.into(),
        position: position.into(),
        ..Part::default()
    };
    let positions = vec![part("ann", "Tabs, for the blind."), part("bob", "Spaces, for diffs.")];
    let table = table(&panel());
    let debate = DebateSpec { positions: positions.clone(), ..DebateSpec::default() };
    let (outcome, _) = table.hold(ordered(&debate)).await;
    assert_eq!(casting(&table), [""; 0]);
    let given = outcome.positions().unwrap();
    assert_eq!((given.origin, given.parts), (CastOrigin::Given, positions));
    assert!(told(&table, "bob").contains("# Your position\n\n> Spaces, for diffs.\n\nThe others argue:"));
}

#[tokio::test(start_paused = true)]
async fn d05_a_person_who_judges_is_not_asked_to_cast() {
    let debate = DebateSpec { casting: Some(Diversity::Binary), ..DebateSpec::default() };
    let mut order = ordered(&debate);
    order.participants[2] = Participant::person("cyd").playing(JUDGE).aside();
    let table = table(&panel());
    let id = table.open(order).await.unwrap();
    let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("cyd is to judge") };
    assert_eq!(state.awaiting[0].shape.as_deref(), Some("assessment"));
    assert_eq!(state.noted::<Cast>("cast").last().unwrap().by.as_deref(), Some("ann"));
}

/// Questions of every kind, with a position for each of two sides.
const QUESTIONS: [(&str, &str, &str); 20] = [
    ("Should we rewrite it in Rust?", "It should be rewritten.", "It should stay as it is."),
    ("Is remote work better?", "Remote work is better.", "Work at the office is better."),
    ("Can a monolith scale?", "A monolith scales.", "A monolith does not scale."),
    ("Do tests pay off?", "Tests pay off.", "Tests cost more than they bring."),
    ("Tabs or spaces?", "Tabs should be chosen.", "Spaces should be chosen."),
    ("Microservices vs Monolith", "Microservices should be chosen.", "A monolith should be chosen."),
    ("Postgres or SQLite for one server?", "Postgres should be chosen.", "SQLite should be chosen."),
    ("Buy, build or rent?", "Building is right.", "Renting is right."),
    ("Which database should we use?", "Postgres is the one to use.", "SQLite is the one to use."),
    ("Which of the four seasons is the best?", "Spring is the best.", "Autumn is the best."),
    ("Who should own the on-call rota?", "The team should own it.", "Operations should own it."),
    ("How do we lower our latency?", "Caches lower it most.", "Fewer calls lower it most."),
    ("How much testing is enough?", "Every line needs a test.", "The risky parts need tests."),
    ("Why do rewrites fail?", "They fail for lack of scope.", "They fail for lack of people."),
    ("Sollen wir auf Rust umsteigen?", "Ja, der Umstieg lohnt sich.", "Nein, er lohnt sich nicht."),
    ("Homeoffice oder Büro?", "Das Homeoffice ist besser.", "Das Büro ist besser."),
    ("Welche Datenbank passt zu uns?", "Postgres passt.", "SQLite passt."),
    ("リモートワークを続けるべきですか？", "続けるべきです。", "やめるべきです。"),
    ("タブとスペースのどちらがよいですか？", "タブがよいです。", "スペースがよいです。"),
    ("どのデータベースを使うべきですか？", "Postgresを使うべきです。", "SQLiteを使うべきです。"),
];

#[tokio::test(start_paused = true)]
async fn d05_every_kind_of_question_has_sides_and_each_debater_gets_its_own_position() {
    for (topic, one, other) in QUESTIONS {
        // Labels are replaced by names before a reply is read; some models leave out the `@`.
        let parts = json!({ "positions": [
            {"participant": "bob", "position": other, "persona": "a sceptic"},
            {"participant": "@ann", "position": one, "persona": "a friend"},
        ], "reasoning": "They differ." });
        let table = table(&panel().writes("cyd", "casting", &parts.to_string()));
        let (outcome, _) = table.hold(Spec { topic: topic.to_owned(), ..spec("debate") }).await;
        let given = outcome.positions().unwrap();
        assert_eq!(given.origin, CastOrigin::Assigned, "{topic}");
        let positions: Vec<&str> = given.parts.iter().map(|it| it.position.as_str()).collect();
        assert_eq!(positions, [one, other], "{topic}");
        for (who, own, others) in [("ann", one, other), ("bob", other, one)] {
            let told = told(&table, who);
            let (mine, theirs) = told.split_once("The others argue:").unwrap();
            assert!(mine.contains(&format!("> {own}\n")) && !mine.contains(others), "{topic}: {told}");
            assert!(theirs.contains(&format!("> {others}")) && !theirs.contains(own), "{topic}: {told}");
        }
        let asked = table.panel.asked();
        let casting = asked.iter().find(|it| it.step.as_str() == "0/casting/cyd").unwrap();
        assert!(casting.call.system.contains(topic), "{}", casting.call.system);
    }
}

#[tokio::test(start_paused = true)]
async fn d05_nothing_is_cast_on_request() {
    let table = table(&panel());
    let debate = DebateSpec { no_casting: true, ..DebateSpec::default() };
    let (outcome, _) = table.hold(ordered(&debate)).await;
    assert_eq!((casting(&table), outcome.positions()), (Vec::new(), None));
    assert!(
        told(&table, "ann").contains("> For what the question proposes, or the first choice it suggests.")
    );
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_with_another_judge_keeps_the_positions() {
    let store = Arc::new(MemoryStore::new());
    let before = Table::over(store.clone(), &panel(), registry());
    let (first, _) = before.hold(spec("debate")).await;
    let after = Table::over(store, &panel().writes("*", "casting", "not read"), registry());
    let fork = async |of: &Outcome, judge: &str, change: &dyn Fn(&mut Spec)| {
        let mut order = spec("debate");
        order.participants[2].name = judge.to_owned();
        change(&mut order);
        let at = Step::from("1/awaiting-responses/bob");
        let id = after.engine.fork(Fork { of: of.discussion_id, at }, order).await.unwrap();
        after.run(id).await.unwrap().outcome()
    };
    let second = fork(&first, "dan", &|_| {}).await;
    assert_eq!(second.positions(), first.positions());
    assert!(!second.integrity.degraded, "{:?}", second.integrity);
    // The same for a fork of the fork.
    let third = fork(&second, "eve", &|_| {}).await;
    assert_eq!((third.positions(), casting(&after)), (first.positions(), Vec::new()));
    // With another spread or other debaters, positions are assigned again.
    fork(&first, "dan", &|order| order.settings.set("casting", "spectrum")).await;
    assert_eq!(casting(&after)[0], "0/casting/dan");
}
