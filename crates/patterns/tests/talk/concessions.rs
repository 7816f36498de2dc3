//! Debaters that give their position up in a convergence-seeking debate (D03).

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        event::{Event, Fact},
        outcome::Outcome,
        spec::Spec,
    },
    seams::Store,
};
use quorum_patterns::{
    debate::{Concession, DebateSpec, Format, Mode},
    registry,
};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::spec,
};

use crate::{results::Results, sides::two_against_two, table};

const CONCEDES: &str = "They showed what it costs.\n\nI concede: it costs more than it brings.";

fn seeking(order: Spec, mode: Mode) -> Spec {
    let format = Format::ConvergenceSeeking;
    let debate = DebateSpec { format, mode, round_limit: Some(4), ..DebateSpec::default() };
    Spec { settings: debate.settings(), ..order }
}

fn conceded(who: &str, round: u32) -> Concession {
    Concession { participant: who.to_owned(), round, argument: "it costs more than it brings".to_owned() }
}

async fn hold(panel: &Panel, order: Spec) -> (Outcome, Vec<Fact>) {
    table(panel).hold(order).await
}

fn end(outcome: &Outcome) -> Option<(u32, &str, Option<&str>)> {
    outcome.ended.as_ref().map(|it| (it.round, it.why.as_str(), it.detail.as_deref()))
}

fn speakers(outcome: &Outcome, round: usize) -> Vec<&str> {
    let speeches = outcome.rounds[round - 1].responses.iter().filter(|it| it.phase == "awaiting-responses");
    speeches.map(|it| it.provider.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn d03_a_debate_ends_when_a_side_has_conceded() {
    for mode in [Mode::Sequential, Mode::Simultaneous] {
        let panel = panel().says_in("bob", 2, CONCEDES);
        let (outcome, facts) = hold(&panel, seeking(spec("debate"), mode)).await;
        assert_eq!(end(&outcome), Some((2, "conceded", Some("bob"))), "{mode:?}");
        assert_eq!(outcome.field::<Vec<Concession>>("concessions").unwrap(), [conceded("bob", 2)]);
        assert!(outcome.success && !outcome.integrity.degraded && outcome.verdict().is_some(), "{mode:?}");
        assert_eq!(outcome.judging().unwrap().rounds.len(), 2, "the round is judged all the same");
        let told = facts.iter().find_map(|fact| match &fact.event {
            Event::Noted(noted) if noted.kind == "concession" => noted.told.clone(),
            _ => None,
        });
        assert_eq!(told.as_deref(), Some("bob conceded: it costs more than it brings"));
    }
}

#[tokio::test(start_paused = true)]
async fn d03_a_side_goes_on_while_one_of_it_has_not_conceded() {
    let one = panel().says_in("bob", 1, CONCEDES);
    let (outcome, _) = hold(&one, seeking(two_against_two(), Mode::Sequential)).await;
    assert_eq!((end(&outcome), outcome.rounds.len()), (None, 4));
    assert_eq!(speakers(&outcome, 2), ["cyd", "dan", "ann"], "whoever has conceded is not asked again");
    let judged = &outcome.judging().unwrap().rounds[1].assessment.assessments;
    assert_eq!(judged.iter().map(|it| it.participant.as_str()).collect::<Vec<_>>(), ["ann", "cyd", "dan"]);

    let both = one.anew().says_in("dan", 3, CONCEDES);
    let (outcome, _) = hold(&both, seeking(two_against_two(), Mode::Sequential)).await;
    assert_eq!(end(&outcome), Some((3, "conceded", Some("bob and dan"))));
    let expected = [conceded("bob", 1), conceded("dan", 3)];
    assert_eq!(outcome.field::<Vec<Concession>>("concessions").unwrap(), expected);

    let lost = one.anew().fails_at("dan", "2/awaiting-responses/dan", ErrorClass::Validation);
    let (outcome, _) = hold(&lost, seeking(two_against_two(), Mode::Sequential)).await;
    assert_eq!(end(&outcome), Some((2, "conceded", Some("bob"))), "nobody of that side is left to argue");
    assert!(outcome.success, "{:?}", outcome.error);
}

#[tokio::test(start_paused = true)]
async fn d03_other_formats_and_granted_points_know_no_concession() {
    for format in [Format::StructuredRounds, Format::FreeForm, Format::RoundLimited] {
        let round_limit = (format != Format::StructuredRounds).then_some(2);
        let debate = DebateSpec { format, round_limit, ..DebateSpec::default() };
        let order = Spec { settings: debate.settings(), ..spec("debate") };
        let (outcome, _) = hold(&panel().says("bob", CONCEDES), order).await;
        assert_eq!((end(&outcome), outcome.fields.get("concessions")), (None, None), "{format:?}");
    }
    for granted in ["I concede the point about cost. It is still right.", "> I concede.\n\nNot I."] {
        let order = seeking(spec("debate"), Mode::Sequential);
        let (outcome, _) = hold(&panel().says("bob", granted), order).await;
        assert_eq!((end(&outcome), outcome.fields.get("concessions")), (None, None), "{granted}");
    }
}

#[tokio::test(start_paused = true)]
async fn d03_debaters_are_told_that_they_may_concede_only_where_they_may() {
    for (order, may) in [(seeking(spec("debate"), Mode::Sequential), true), (spec("debate"), false)] {
        let table = table(&panel());
        table.hold(order).await;
        let asked = table.panel.asked();
        let speech = asked.iter().find(|it| it.step.as_str() == "1/awaiting-responses/ann").unwrap();
        assert_eq!(speech.call.system.contains("\"I concede\""), may, "{}", speech.call.system);
    }
}

#[tokio::test(start_paused = true)]
async fn f1_concessions_and_a_writer_survive_every_crash() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let panel = panel().says_in("bob", 1, CONCEDES).says_in("dan", 3, CONCEDES);
    for mode in [Mode::Sequential, Mode::Simultaneous] {
        let deaths = resume_anywhere(store, &panel, registry(), seeking(two_against_two(), mode)).await;
        assert!(deaths >= 15, "{mode:?} died {deaths} times only");
    }
}
