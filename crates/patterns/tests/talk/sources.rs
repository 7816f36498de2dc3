//! The sources of a synthesis: asked for in markers, taken out of everything shown, checked against
//! the record, kept with the decision.

use std::sync::Arc;

use futures::StreamExt;
use quorum_core::{
    engine::feed::Signal,
    memory::MemoryStore,
    model::{
        event::{Event, Fork},
        id::Step,
        outcome::{DroppedView, FoundBy, Outcome, Support},
        spec::Spec,
    },
    seams::Store,
};
use quorum_patterns::registry;
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::spec,
};
use serde_json::json;

use crate::table;

const ANNS: &str = "Tabs let every reader choose the width of an indentation on the own screen.";
const BOBS: &str = "Spaces look the same in every editor, terminal and printed listing.";
const CYDS: &str = "A formatter in the build settles the question before any review begins.";

/// What the writer sends, with labels in its markers.
const REPLY: &str = "Use tabs: each reader may choose the width of an indentation. [<ann>:1] Spaces look the same in \
                     every editor and printed listing. [<bob>:1, <cyd>:7] Quarterly earnings of railway operators \
                     declined again. [all]\n\n<mark>\n";

const SHOWN: &str = "Use tabs: each reader may choose the width of an indentation. Spaces look the same in every editor \
                     and printed listing. Quarterly earnings of railway operators declined again.";

fn structure() -> String {
    json!({
        "claims": [
            { "text": "A formatter settles the question", "supportedBy": ["<cyd>"], "attackedBy": [], "unanswered": true },
            { "text": "Every reader may choose the width", "supportedBy": ["<ann>"], "attackedBy": ["<bob>"] },
        ],
        "agreements": [], "dissent": [{ "participant": "<bob>", "position": "Spaces, everywhere" }],
    })
    .to_string()
}

fn order() -> Spec {
    let mut order = Spec { rounds: 1, ..spec("synthesis") };
    order.settings.set("synthesizer", "ann");
    order
}

fn saying() -> Panel {
    let panel = panel().says("ann", ANNS).says("bob", BOBS).says("cyd", CYDS);
    panel.writes("ann", "synthesis", &format!("{REPLY}{}", structure()))
}

/// A sentence's level, its sources and what was not confirmed.
type Told<'o> = (Support, Vec<(&'o str, FoundBy)>, Vec<&'o str>);

/// Each sentence's level, who said it and how that is known, and what was not confirmed.
fn told(outcome: &Outcome) -> Vec<Told<'_>> {
    let sentences = outcome.provenance.iter().map(|it| {
        let sources = it.sources.iter().map(|it| (it.participant.as_str(), it.by)).collect();
        (it.level, sources, it.unconfirmed.iter().map(String::as_str).collect())
    });
    sentences.collect()
}

/// Two members that say the same, so that either could be the source of the answer's sentence.
fn agreeing(first: &str, last: &str) -> Panel {
    let said = "Tabs let every reader choose the width of an indentation.";
    let panel = panel().says("ann", ANNS).says("bob", said).says("cyd", said);
    let reply = "Tabs let every reader choose the width of an indentation.\n\n<mark>\n";
    let reply = format!("{reply}{}", structure());
    panel.writes("ann", "synthesis", &reply).takes(first, 10).takes(last, 50)
}

#[tokio::test(start_paused = true)]
async fn f1_sources_are_the_same_whatever_order_the_answers_arrive_in() {
    let mut found = Vec::new();
    for (first, last) in [("bob", "cyd"), ("cyd", "bob")] {
        let (outcome, _) = table(&agreeing(first, last)).hold(order()).await;
        assert!(!outcome.provenance[0].sources.is_empty());
        found.push(outcome.provenance);
    }
    assert_eq!(found[0], found[1]);
}

#[tokio::test(start_paused = true)]
async fn every_sentence_of_a_synthesis_is_traced_to_who_said_it() {
    let (outcome, _) = table(&saying()).hold(order()).await;
    assert_eq!(outcome.synthesis, SHOWN);
    let expected = vec![
        (Support::Supported, vec![("ann", FoundBy::Marker)], vec![]),
        (Support::Supported, vec![("bob", FoundBy::Marker)], vec!["cyd:7"]),
        (Support::Unsupported, vec![], vec!["all"]),
    ];
    assert_eq!(told(&outcome), expected);
    let source = &outcome.provenance[0].sources[0];
    assert_eq!((source.step.as_str(), source.round, source.start, source.end), ("1/answering/ann", 1, 0, 75));
    let dropped = DroppedView {
        participant: "cyd".to_owned(),
        round: 1,
        text: "A formatter settles the question".to_owned(),
    };
    assert_eq!(outcome.consensus.dropped, [dropped], "ann's claim is mentioned");
}

#[tokio::test(start_paused = true)]
async fn markers_are_taken_out_of_the_stream_however_it_is_cut() {
    for size in [3, 5, 7, 40, 1_000] {
        let table = table(&saying().in_pieces("ann", size));
        let id = table.open(order()).await.unwrap();
        let handle = table.engine.run(id).await.unwrap();
        let signals: Vec<Signal> = handle.signals().collect().await;
        let mut text = String::new();
        for signal in &signals {
            if let Signal::Piece(piece) = signal
                && piece.step.as_str().contains("/deciding/")
                && !piece.text.is_empty()
            {
                assert_eq!(piece.offset, text.len());
                text.push_str(&piece.text);
            }
        }
        assert_eq!(text, SHOWN, "in pieces of {size}");
        let outcome = handle.finished().await.unwrap().outcome();
        assert_eq!(outcome.synthesis, SHOWN);
    }
}

#[tokio::test(start_paused = true)]
async fn the_record_keeps_the_reply_as_it_came_and_the_markers_by_place() {
    let (_, facts) = table(&saying()).hold(order()).await;
    let reply = facts.iter().find_map(|it| match &it.event {
        Event::TurnCompleted { turn } if turn.form.is_some() => Some(turn.clone()),
        _ => None,
    });
    let reply = reply.unwrap();
    assert!(reply.text.contains("indentation. [ann:1] Spaces"), "{}", reply.text);
    assert_eq!(reply.prose(), SHOWN);
    let read = facts.iter().find_map(|it| match &it.event {
        Event::ReplyRead { reading, .. } => Some(reading.value["markers"].clone()),
        _ => None,
    });
    let expected = json!([
        { "at": 61, "cites": ["ann:1"] }, { "at": 119, "cites": ["bob:1", "cyd:7"] },
        { "at": 175, "cites": ["all"] },
    ]);
    assert_eq!(read, Some(expected));
}

#[tokio::test(start_paused = true)]
async fn p6_a_kill_and_a_fork_give_the_same_sources_to_the_byte() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    assert!(0 < resume_anywhere(store, &saying(), registry(), order()).await);
    let table = table(&saying());
    let (first, facts) = table.hold(order()).await;
    let bytes = |outcome: &Outcome| {
        (
            serde_json::to_string(&outcome.provenance).unwrap(),
            serde_json::to_string(&outcome.consensus).unwrap(),
        )
    };
    let again = quorum_core::model::state::State::of(first.discussion_id, &facts).unwrap();
    assert_eq!(bytes(&registry().outcome(&again)), bytes(&first), "a replay of the record");
    let fork = Fork { of: first.discussion_id, at: Step::from("1/answering/bob") };
    let id = table.engine.fork(fork, order()).await.unwrap();
    let second = table.run(id).await.unwrap().outcome();
    assert_eq!(bytes(&second), bytes(&first));
}

#[tokio::test(start_paused = true)]
async fn a_participant_of_another_name_in_a_fork_is_named_as_it_is_called_there() {
    let table = table(&saying().says("dora", BOBS));
    let (first, _) = table.hold(order()).await;
    let mut changed = order();
    changed.participants[1].name = "dora".to_owned();
    let fork = Fork { of: first.discussion_id, at: Step::from("1/answering/ann") };
    let id = table.engine.fork(fork, changed).await.unwrap();
    let second = table.run(id).await.unwrap().outcome();
    let names: Vec<&str> =
        second.provenance.iter().flat_map(|it| &it.sources).map(|it| it.participant.as_str()).collect();
    assert!(names.contains(&"dora") && !names.contains(&"bob"), "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn a_json_answer_has_no_sources_and_is_not_asked_for_any() {
    let mut order = order();
    order.client = Some(quorum_core::model::client::ClientOrder {
        schema: Some(json!({ "type": "object" })),
        ..Default::default()
    });
    let panel = panel().says("ann", ANNS).writes("ann", "synthesis", "{\"answer\": \"tabs [ann:1]\"}");
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    assert_eq!((outcome.provenance.len(), outcome.consensus.dropped.len()), (0, 0));
    assert!(!table.panel.asked().iter().any(|it| it.sent().contains("End each sentence")));
    assert!(outcome.synthesis.contains("[ann:1]"), "{}", outcome.synthesis);
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_critique_is_not_its_own_source() {
    let refined =
        "Tabs let every reader choose the width of an indentation, and a formatter settles the rest.";
    let panel = panel().says("ann", refined).says("bob", BOBS).says("cyd", CYDS);
    let (outcome, _) = table(&panel).hold(Spec { rounds: 1, ..spec("critique") }).await;
    assert_eq!(outcome.synthesis, refined);
    let sources = outcome.provenance.iter().flat_map(|it| &it.sources);
    let steps: Vec<&str> = sources.map(|it| it.step.as_str()).collect();
    assert!(!steps.contains(&"1/refining/ann"), "{steps:?}");
}

#[tokio::test(start_paused = true)]
async fn dissent_that_is_not_reported_must_stand_in_the_answer() {
    let mut silent = order();
    silent.consensus.include_dissent = false;
    let (outcome, _) = table(&saying()).hold(silent).await;
    let dropped: Vec<&str> = outcome.consensus.dropped.iter().map(|it| it.participant.as_str()).collect();
    assert_eq!(dropped, ["cyd"], "bob's spaces are mentioned");
}
