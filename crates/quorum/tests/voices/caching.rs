//! Prompt caching in a debate of five rounds, against servers that cache as the vendors do.

use std::sync::Arc;

use quorum::{
    Request,
    model::{
        event::{Event, Fact},
        id::Seq,
        money::{Price, Usage, Usd},
        outcome::Outcome,
    },
};
use quorum_core::memory::MemoryStore;
use quorum_providers::wire::Quirks;
use quorum_testkit::server::{Server, server};

use crate::providers::{NAMES, request, scope, sources, start};

/// The price of every model: reading from the cache costs a tenth, writing to it a quarter more.
fn price() -> Price {
    let [input, output, cached, written] = [2.0, 10.0, 0.2, 2.5].map(|it| Usd::from_dollars(it).unwrap());
    Price { cached: Some(cached), written: Some(written), ..Price::new(input, output) }
}

/// A speech of 270 words, which are as many as are asked for.
fn speech(who: &str) -> String {
    format!(
        "{who} holds that it is so. {}",
        "The figures that were given before show it once more. ".repeat(26)
    )
}

/// Holds a debate of five rounds on this wire.
async fn debate(on: (&str, &str), quirks: Quirks) -> (Outcome, Vec<Fact>, Server) {
    let script = NAMES.iter().fold(server(), |it, name| it.says(&format!("{name}-1"), &speech(name)));
    let server = script.caching().start();
    let mut sources = sources(&server.url(), on);
    for source in &mut sources {
        (source.usual.quirks, source.usual.price) = (quirks, Some(price()));
    }
    let scope = scope(Arc::new(MemoryStore::new()), sources);
    let order = Request { rounds: Some(5), ..request("debate", &NAMES) };
    let (discussion, handle) = start(&scope, &order).await;
    let outcome = handle.finished().await.unwrap().outcome();
    assert!(outcome.success && !outcome.integrity.degraded, "{}: {:?}", on.0, outcome.error);
    assert_eq!(outcome.rounds.len(), 5, "{}", on.0);
    (outcome, discussion.facts(Seq::START).await.unwrap(), server)
}

/// The usage of all answers, of speeches alone if asked for.
fn used(facts: &[Fact], speeches_only: bool) -> Usage {
    let mut sum = Usage::default();
    for fact in facts {
        match &fact.event {
            Event::TurnCompleted { turn } if !speeches_only || turn.form.is_none() => sum += turn.bill.usage,
            _ => {}
        }
    }
    sum
}

fn percent(part: u64, whole: u64) -> u64 {
    100 * part / whole
}

/// What this usage costs, counted in dollars.
fn dollars(used: Usage) -> f64 {
    let fresh = used.prompt - used.cached - used.written;
    let millionths = 2.0 * fresh as f64
        + 0.2 * used.cached as f64
        + 2.5 * used.written as f64
        + 10.0 * used.completion as f64;
    millionths / 1e6
}

#[tokio::test]
async fn a_debate_of_five_rounds_is_read_from_the_cache_in_large_part_and_paid_accordingly() {
    let marked = Quirks { cache_marks: 1_024, ..Quirks::default() };
    let wires = [
        ("anthropic", "/v1", marked, (25, 55)),
        ("gemini", "/v1beta", Quirks::default(), (24, 54)),
        ("openai-chat", "/v1", Quirks::default(), (24, 54)),
        ("openai-responses", "/v1", Quirks::default(), (24, 54)),
    ];
    for (wire, path, quirks, (of_all, of_speeches)) in wires {
        let (outcome, facts, server) = debate((wire, path), quirks).await;
        let (all, speeches) = (used(&facts, false), used(&facts, true));
        let share = percent(all.cached, all.prompt);
        let in_speeches = percent(speeches.cached, speeches.prompt);
        let plain = dollars(Usage { cached: 0, written: 0, ..all });
        let paid = outcome.metadata.cost_summary.estimated_cost_usd;
        println!(
            "{wire}: {} requests, {} tokens read, {share} % of them cached ({in_speeches} % in speeches), {} % written; \
             ${paid:.4} instead of ${plain:.4}",
            server.requests().len(),
            all.prompt,
            percent(all.written, all.prompt),
        );
        assert!(of_all <= share && of_speeches <= in_speeches, "{wire}: {share} %, {in_speeches} %");
        assert!((paid - dollars(all)).abs() < 1e-6 && paid < plain, "{wire}: {paid}, {}", dollars(all));
        assert_eq!(quirks.cache_marks > 0, all.written > 0, "{wire}");
        no_call_cost_more_than_was_reserved_for_it(&facts);
    }
}

fn no_call_cost_more_than_was_reserved_for_it(facts: &[Fact]) {
    for fact in facts {
        let Event::TurnCompleted { turn } = &fact.event else { continue };
        let placed = facts.iter().rev().find_map(|it| match &it.event {
            Event::CallPlaced(placed) if it.step == fact.step && it.seq < fact.seq => Some(placed),
            _ => None,
        });
        let (reserved, cost) = (placed.unwrap().reserved.usd, turn.bill.cost.unwrap());
        assert!(cost <= reserved, "{}: {cost} of {reserved}", turn.step);
        let at_worst = price().at_worst(turn.bill.usage);
        assert!(at_worst <= reserved, "{}: even if all of it were written to the cache", turn.step);
    }
}

#[tokio::test]
async fn without_marks_nothing_is_cached_where_marks_are_needed() {
    let (_, facts, _) = debate(("anthropic", "/v1"), Quirks::default()).await;
    let all = used(&facts, false);
    assert_eq!((all.cached, all.written), (0, 0));
}
