//! Positions and personas: given by the user, assigned by a model, or default ones if no model can
//! (D05).

use quorum_core::{
    engine::handle::Finished,
    model::{error::ErrorClass, outcome::Outcome, participant::Participant},
    vocabulary::option::Named,
};
use quorum_patterns::{
    debate::{Cast, CastOrigin, DebateSpec, Diversity, Part},
    roles::JUDGE,
};
use quorum_testkit::{
    panel::{Panel, panel},
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
    table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap().call.system.to_string()
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
    assert!(told(&table, "bob").contains("You argue this position:\n\n> Spaces, for diffs.\n\nThe others"));
}

#[tokio::test(start_paused = true)]
async fn d05_a_person_who_judges_was_asked_to_cast_in_json() {
    let debate = DebateSpec { casting: Some(Diversity::Binary), ..DebateSpec::default() };
    let mut order = ordered(&debate);
    order.participants[2] = Participant::person("cyd").playing(JUDGE).aside();
    let table = table(&panel());
    let id = table.open(order).await.unwrap();
    let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("cyd is to judge") };
    assert_eq!(state.awaiting[0].shape.as_deref(), Some("assessment"));
    assert_eq!(state.noted::<Cast>("cast").last().unwrap().by.as_deref(), Some("ann"));
}
