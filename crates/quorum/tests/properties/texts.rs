//! Text of people and models comes back from the store unchanged, to the last character and digit.

use std::{path::Path, sync::Arc};

use proptest::prelude::*;
use quorum::model::{
    event::{Event, Fact},
    id::Seq,
    outcome::Outcome,
    settings::Settings,
    spec::Spec,
    transcript::Turn,
};
use quorum_core::seams::Store;
use quorum_patterns::registry;
use quorum_store::SqliteStore;
use quorum_testkit::{
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};
use tempfile::TempDir;

use crate::{
    hostile::{text, visible},
    trials,
};

/// So few characters that no answer is cut, whatever they are.
const SHORT: usize = 200;

proptest! {
    #![proptest_config(trials(10))]

    #[test]
    fn f8_hostile_text_comes_back_from_the_store_equal(topic in text(5_000), background in text(10_000), said in visible(SHORT)) {
        let order = Spec { topic, background: Some(background), ..spec("round-robin") };
        let panel = panel().takes("*", 0).says("*", &said);
        let (held, facts) = kept(&order, &panel);
        prop_assert_eq!(&ordered(&facts), &order);
        let turns: Vec<&Turn> = turns(&facts).collect();
        prop_assert!(turns.len() >= 6 && turns.iter().all(|turn| *turn.text == said), "{:?}", turns);
        let heard = held.rounds.iter().flat_map(|round| &round.responses);
        prop_assert!(heard.filter(|it| it.phase == "speaking").all(|it| it.content == said), "{:?}", held.rounds);
        prop_assert_eq!(&held.topic, &order.topic);
        let written = serde_json::to_string(&held).unwrap();
        prop_assert_eq!(serde_json::from_str::<Outcome>(&written).unwrap(), held);
    }

    #[test]
    fn numbers_come_back_from_the_store_equal(threshold in 0.0..=1.0, enough in any::<f64>()) {
        let settings = Settings::default().with("threshold", threshold);
        let early_exit = Some(enough).filter(|it| it.is_finite());
        let order = Spec { settings, early_exit, ..spec("synthesis") };
        let (_, facts) = kept(&order, &panel().takes("*", 0));
        prop_assert_eq!(ordered(&facts), order);
    }
}

/// Runs a discussion with one instance and reads it with another.
fn kept(order: &Spec, panel: &Panel) -> (Outcome, Vec<Fact>) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("quorum.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let table = Table::over(opened(&file), panel, registry());
        let (outcome, _) = table.hold(order.clone()).await;
        drop(table);
        let again = Table::over(opened(&file), panel, registry());
        let state = again.engine.state(outcome.discussion_id).await.unwrap();
        assert_eq!(state.outcome(), outcome);
        let facts = again.store.read(outcome.discussion_id, Seq::START, usize::MAX).await.unwrap();
        (outcome, facts)
    })
}

fn opened(file: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(file).unwrap())
}

fn ordered(facts: &[Fact]) -> Spec {
    match &facts[0].event {
        Event::Opened { spec, .. } => Spec::clone(spec),
        other => panic!("it begins with {other:?}"),
    }
}

/// All turns of the discussion; the synthesis has its own format.
fn turns(facts: &[Fact]) -> impl Iterator<Item = &Turn> {
    facts.iter().filter_map(|fact| match &fact.event {
        Event::TurnCompleted { turn } if turn.phase == "speaking" => Some(&**turn),
        _ => None,
    })
}
