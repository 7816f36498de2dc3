//! What the engine emits while it runs: trace events and signals.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::StreamExt;
use quorum_core::{
    engine::feed::Signal,
    memory::MemoryStore,
    model::{event, spec::Spec},
};
use quorum_testkit::{
    faulty::{Beats, Faulty},
    panel::panel,
    table::Table,
};
use tokio::{sync::watch, time::sleep};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::{order, registry::registry, table};

/// A tracing subscriber that keeps the message of every event.
#[derive(Clone, Default)]
struct TraceLog(Arc<Mutex<Vec<String>>>);

impl Subscriber for TraceLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("quorum_core")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_301_inv_disc_015_a_discussion_leaves_traces_of_its_rounds_and_responses() {
    let log = TraceLog::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    // Other tests may have cached the callsites as disabled before this subscriber was set.
    tracing::callsite::rebuild_interest_cache();
    table(&panel()).hold(Spec { rounds: 2, ..order("in-turn") }).await;
    let messages = log.0.lock().unwrap().clone();
    let named: Vec<&str> =
        messages.iter().map(String::as_str).filter(|it| *it != "discussion.fact").collect();
    let (response, round) = ("discussion.response", ["discussion.round.start", "discussion.round.end"]);
    let expected = [
        "discussion.start",
        round[0],
        response,
        response,
        response,
        round[1],
        round[0],
        response,
        response,
        response,
        round[1],
        response,
        "discussion.end",
    ];
    assert_eq!(named, expected);
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_warned_of_when_it_begins_and_every_30_seconds() {
    let log = TraceLog::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    tracing::callsite::rebuild_interest_cache();
    let (line, beats) = watch::channel(Beats::Written);
    let store = Faulty::beating(Arc::new(MemoryStore::new()), beats);
    let table = Table::over(Arc::new(store), &panel(), registry()).with_lease(3_000);
    table.hold(order("in-turn")).await;
    let mut warned = Vec::new();
    for _ in 0..2 {
        line.send_replace(Beats::Refused);
        // The outage lasts a little more than a minute, and is over for two beats.
        sleep(Duration::from_secs(62)).await;
        line.send_replace(Beats::Written);
        sleep(Duration::from_secs(2)).await;
        let messages = log.0.lock().unwrap();
        warned.push(messages.iter().filter(|it| it.contains("can't be written to the store")).count());
    }
    assert_eq!(warned, [3, 6]);
}

#[tokio::test(start_paused = true)]
async fn the_first_subscriber_gets_earlier_facts() {
    let table = table(&panel());
    let id = table.open(order("in-turn")).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    while table.engine.is_running(id) {
        sleep(Duration::from_millis(1)).await;
    }
    let (mut facts, mut text) = (Vec::new(), String::new());
    let mut signals = std::pin::pin!(handle.signals());
    while let Some(signal) = signals.next().await {
        match signal {
            Signal::Fact { fact, .. } => facts.push(fact.seq.0),
            Signal::Piece(piece) => text.push_str(&piece.text),
            Signal::Trouble(trouble) => panic!("{trouble}"),
        }
    }
    let recorded = table.facts(id).await;
    let turns = recorded.iter().filter_map(|fact| match &fact.event {
        event::Event::TurnCompleted { turn } => Some(&*turn.text),
        _ => None,
    });
    assert_eq!(text, turns.collect::<String>());
    assert_eq!(facts, (4..=recorded.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn f11_a_watcher_that_is_too_slow_misses_no_fact() {
    let table = table(&panel());
    let id = table.open(Spec { rounds: 60, ..order("in-turn") }).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    let signals = handle.signals();
    // Reading starts only after the end, and far more happened than the buffer for a slow
    // subscriber holds.
    handle.finished().await.unwrap();
    let seen: Vec<u64> = signals
        .filter_map(|signal| async move {
            match signal {
                Signal::Fact { fact, .. } => Some(fact.seq.0),
                Signal::Piece(_) | Signal::Trouble(_) => None,
            }
        })
        .collect()
        .await;
    let last = table.facts(id).await.len() as u64;
    assert_eq!(seen, (4..=last).collect::<Vec<_>>(), "the first three are the order, from before the run");
}
