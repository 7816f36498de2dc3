//! A vote stands: it is cast once a round, survives the process, and is not taken again to decide
//! (INV-DISC-014).

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    memory::MemoryStore,
    model::{
        event::{Event, Fact},
        outcome::Outcome,
        spec::Spec,
    },
    seams::Store,
};
use quorum_patterns::registry;
use quorum_testkit::{
    faulty::Faulty,
    panel::{Panel, panel},
    spec::{deciding_by, spec},
    table::Table,
};

use crate::{results::Results, table};

const VOTERS: [&str; 3] = ["ann", "bob", "cyd"];

fn order(method: &str) -> Spec {
    Spec { rounds: 1, ..deciding_by(spec("voting"), method) }
}

/// All for this, one after the other, so that every vote is a write of its own.
fn all_for(choice: &str) -> Panel {
    panel().votes("*", choice, 0.9).takes("ann", 10).takes("bob", 20).takes("cyd", 30)
}

fn choices(outcome: &Outcome) -> Vec<(String, String)> {
    let ballots = outcome.voting_results().unwrap().vote_records;
    ballots.into_iter().map(|it| (it.provider, it.choice)).collect()
}

fn voters_in(facts: &[Fact]) -> BTreeSet<String> {
    let voter = |fact: &Fact| match &fact.event {
        Event::TurnCompleted { turn } => Some(turn.participant.clone()),
        _ => None,
    };
    facts.iter().filter_map(voter).collect()
}

#[tokio::test(start_paused = true)]
async fn inv_disc_014_a_recorded_vote_stands_though_its_voter_would_vote_otherwise_now() {
    let mut recorded = BTreeSet::new();
    for writes in 1.. {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mortal =
            Table::over(Arc::new(Faulty::dying_after(store.clone(), writes)), &all_for("tabs"), registry());
        let id = mortal.open(order("majority")).await.unwrap();
        let died = mortal.run(id).await.is_err();

        let reborn = Table::over(store, &all_for("spaces"), registry());
        let before = voters_in(&reborn.facts(id).await);
        let outcome = reborn.run(id).await.unwrap().outcome();
        let expected = VOTERS.map(|who| {
            let choice = if before.contains(who) { "tabs" } else { "spaces" };
            (who.to_owned(), choice.to_owned())
        });
        assert_eq!(choices(&outcome), expected, "died after write {writes}");
        recorded.insert(before.len());
        if !died {
            break;
        }
    }
    assert_eq!(recorded, [0, 1, 2, 3].into(), "it died before, between and after the votes");
}

#[tokio::test(start_paused = true)]
async fn inv_disc_014_the_votes_of_the_talk_decide_and_are_not_taken_again() {
    for method in ["voting", "majority", "unanimous"] {
        let table = table(&all_for("tabs"));
        let (outcome, _) = table.hold(order(method)).await;
        assert_eq!(choices(&outcome), VOTERS.map(|who| (who.to_owned(), "tabs".to_owned())), "{method}");
        assert_eq!(table.panel.steps(), ["0/first/ann", "0/first/bob", "0/first/cyd"], "{method}");
    }
}
