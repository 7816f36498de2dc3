//! A vote is final: it is cast once a round, survives the process, and is not taken again to decide
//! (INV-DISC-014).

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    call::tokens::Family,
    memory::MemoryStore,
    model::{
        event::{Event, Fact},
        outcome::Outcome,
        spec::{Manner, Spec},
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

#[tokio::test(start_paused = true)]
async fn a_ballot_on_long_options_fits_its_token_limit() {
    let english = "Keep the monolith, and move billing out of it first. ".repeat(9);
    let japanese = "まず請求の部分だけを切り出し、残りはそのままにする。".repeat(19);
    for (longest, words) in [
        ("tabs".to_owned(), "Reasons that carry it, and one against. ".repeat(7)),
        (english, "Reasons that carry it, and one against. ".repeat(7)),
        (japanese, "理由はいくつかあります。".repeat(8)),
    ] {
        assert!(longest.chars().count() <= 500, "an option has at most 500 characters");
        let manner = Manner { temperature: 0.7, max_tokens: 2_048 };
        let options = vec![longest.trim().to_owned(), "spaces".to_owned()];
        let mut order = Spec { options: options.clone(), rounds: 2, manner, ..spec("voting") };
        order.settings.set("threshold", 1);
        let table = table(&panel().votes("*", "spaces", 0.9).votes("ann", &options[0], 0.9));
        table.hold(order).await;
        let mut asked = table.panel.asked();
        asked.retain(|it| it.call.shape.as_ref().is_some_and(|it| it.form.kind == "ballot"));
        assert_eq!(asked.len(), 6, "a first vote and a further one");
        let ballot =
            format!("{{\"reasoning\": \"{words}\", \"choice\": \"{}\", \"confidence\": 0.95}}", options[0]);
        let needed = Family::of(&asked[0].call.participant).estimate(&ballot);
        for it in asked {
            let limit = u64::from(it.call.max_tokens);
            assert!(needed <= limit, "{}: {needed} tokens, and at most {limit}", it.step);
        }
    }
}
