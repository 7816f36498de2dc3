//! While models talk, names are hidden behind labels; people and results see names alone.

use futures::StreamExt;
use quorum_core::{
    call::{Message, MessageRole},
    engine::{feed::Signal, handle::Finished},
    model::{
        command::{Command, Say},
        event::{Event, Fact, Fork},
        id::Step,
        participant::Participant,
        spec::Spec,
    },
};
use quorum_patterns::{PATTERNS, debate::DebateSpec};
use quorum_testkit::{
    labels::has_label,
    panel::{AskedCall, Panel, panel},
    spec::spec,
    table::Table,
};
use serde_json::{Value, json};

use crate::{results::ordered, table};

const NAMES: [(&str, &str); 3] = [("Annabel", "opus-9"), ("bob-bot", "pro-7"), ("me", "mini-3")];

/// Seats with recognisable names, models and aliases, one of them a common word.
fn named(pattern: &str) -> Spec {
    let mut order = spec(pattern);
    for (seat, (name, model)) in order.participants.iter_mut().zip(NAMES) {
        let (alias, provider) = (format!("maker-of-{name}"), format!("scripted-{name}"));
        *seat = Participant {
            name: name.to_owned(),
            provider,
            model: Some(model.to_owned()),
            aliases: vec![alias, "google".to_owned()],
            ..seat.clone()
        };
    }
    order.topic = "Should Google Cloud, opus-9 or me be trusted, @opus-9?".to_owned();
    order.background = Some("Ask google about a and me.".to_owned());
    order
}

const TELLING: &str = "I am ANNABEL, a pro-7 by scripted-Annabel. <Annabel> and <bob-bot>s met [<Annabel>:1] \
                       [<bob-bot>:1, all]. Bob-Bot errs, maker-of-bob-bot too, and believe me, opus-9.";

/// A panel that calls everyone by every name and label there is, wherever it can.
fn telling() -> Panel {
    let ballot =
        |choice: &str| json!({"reasoning": TELLING, "choice": choice, "confidence": 0.7}).to_string();
    let check = format!(
        "[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n80\n[REASONING]\n{TELLING}\n[PROPOSED_SOLUTION]\n{TELLING}"
    );
    let structure = json!({
        "claims": [{"text": TELLING, "supported_by": ["<Annabel>"], "attacked_by": ["<bob-bot>"], "unanswered": false}],
        "agreements": [TELLING], "dissent": [{"participant": "<bob-bot>", "position": TELLING}],
    });
    panel()
        .says("*", TELLING)
        .writes("*", "ballot", &ballot("tabs"))
        .writes("*", "consensus-check", &check)
        .writes("*", "synthesis", &format!("{TELLING}\n\n<mark>\n{structure}"))
        .in_pieces("*", 3)
}

fn is_secret(sent: &str) -> Option<&'static str> {
    let secrets = ["annabel", "bob-bot", "pro-7", "mini-3", "scripted", "maker-of"];
    let sent = sent.to_lowercase();
    secrets.into_iter().find(|it| sent.contains(it))
}

#[tokio::test(start_paused = true)]
async fn no_model_is_sent_a_name_and_nothing_else_has_a_label() {
    for pattern in PATTERNS {
        let table = table(&telling());
        let order = named(pattern.name);
        let (outcome, facts) = table.hold(order.clone()).await;
        assert!(outcome.rounds.iter().any(|it| !it.responses.is_empty()), "{}", pattern.name);
        for asked in table.panel.asked() {
            let sent = asked.sent();
            assert_eq!(is_secret(&sent), None, "{} {}:\n{sent}", pattern.name, asked.step);
            assert!(sent.contains(&order.topic), "the question is untouched:\n{sent}");
            assert!(sent.contains("> Ask google about a and me."), "the background is untouched:\n{sent}");
        }
        let result = serde_json::to_string(&outcome).unwrap();
        assert!(!has_label(&result), "{}: {result}", pattern.name);
        for fact in &facts {
            let written = serde_json::to_string(fact).unwrap();
            assert!(!has_label(&written), "{}: {written}", pattern.name);
        }
        assert!(result.contains("@Annabel and @bob-bots met [Annabel:1] [bob-bot:1, all]"), "{result}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_piece_of_a_stream_has_a_part_of_a_label() {
    for (pattern, size) in PATTERNS.iter().flat_map(|it| [1, 2, 5, 1_000].map(|size| (it.name, size))) {
        // A short structure: a subscriber that falls behind loses text.
        let synthesis = format!("{TELLING}\n\n<mark>\n{{\"claims\": []}}");
        let table = table(&telling().writes("*", "synthesis", &synthesis).in_pieces("*", size));
        let id = table.open(Spec { rounds: 1, ..named(pattern) }).await.unwrap();
        let handle = table.engine.run(id).await.unwrap();
        let signals: Vec<Signal> = handle.signals().collect().await;
        let mut shown: Vec<(String, String)> = Vec::new();
        for signal in &signals {
            let Signal::Piece(piece) = signal else { continue };
            let step = piece.step.to_string();
            let known = shown.iter().position(|it| it.0 == step);
            let place = known.unwrap_or_else(|| {
                shown.push((step, String::new()));
                shown.len() - 1
            });
            let text = &mut shown[place].1;
            assert!(piece.text.is_empty() || text.len() == piece.offset, "{text}");
            text.push_str(&piece.text);
        }
        let facts = table.facts(id).await;
        assert!(
            !shown.is_empty() || ["voting", "settle"].contains(&pattern),
            "{pattern} in pieces of {size}"
        );
        for (step, text) in shown {
            let turn = facts.iter().find_map(|fact| match &fact.event {
                Event::TurnCompleted { turn } if turn.step.as_str() == step => Some(turn.clone()),
                _ => None,
            });
            let turn = turn.unwrap();
            assert_eq!(turn.prose(), text, "{step} of {pattern} in pieces of {size}");
            assert!(!has_label(&text), "{pattern}: {text}");
        }
    }
}

fn drawn(facts: &[Fact]) -> Vec<(String, String)> {
    let labels = facts.iter().find_map(|fact| match &fact.event {
        Event::PanelSeated { labels, .. } => Some(labels.clone()),
        _ => None,
    });
    labels.unwrap()
}

#[tokio::test(start_paused = true)]
async fn labels_are_drawn_once_for_a_discussion_and_everyone_sees_the_same() {
    let table = table(&panel());
    let (_, facts) = table.hold(spec("round-robin")).await;
    let labels = drawn(&facts);
    assert_eq!(labels.iter().map(|it| it.1.as_str()).collect::<Vec<_>>(), ["ann", "bob", "cyd"]);
    for asked in table.panel.asked().iter().filter(|it| it.step.as_str().contains("/speaking/")) {
        for (label, name) in &labels {
            assert_eq!(asked.call.labels.label(name), Some(format!("@{label}").as_str()));
        }
        let own = asked.call.labels.label(&asked.call.participant.name).unwrap();
        assert!(asked.call.system.starts_with(&format!("You are {own} ")), "{}", asked.call.system);
    }
    let (_, again) = table.hold(spec("round-robin")).await;
    assert_ne!(drawn(&again), labels, "another discussion has another draw");
}

#[tokio::test(start_paused = true)]
async fn labels_are_drawn_anew_for_each_judgement_and_for_the_writer() {
    let table = table(&panel());
    let debate = DebateSpec { swap_check: true, ..DebateSpec::default() };
    let (_, facts) = table.hold(Spec { rounds: 3, ..ordered(&debate) }).await;
    let mut seen: Vec<Vec<(String, String)>> = vec![drawn(&facts)];
    for fact in &facts {
        let Event::CallPlaced(placed) = &fact.event else { continue };
        let step = fact.step.as_ref().unwrap().as_str();
        let is_own = step.contains("/judging/") || step.contains("/deciding/");
        assert_eq!(!placed.labels.is_empty(), is_own, "{step}");
        let mut labels = placed.labels.clone();
        labels.sort_by(|one, other| one.1.cmp(&other.1));
        if is_own {
            assert!(!seen.contains(&labels), "{step}: {labels:?}");
            seen.push(labels);
        }
    }
    assert_eq!(seen.len(), 1 + 8 + 1, "the panel, four judgements in two orders, the synthesis");
}

#[tokio::test(start_paused = true)]
async fn a_writer_and_a_judge_see_their_own_turns_under_a_label() {
    let table = table(&panel());
    table.hold(spec("synthesis")).await;
    let asked = table.panel.asked().pop().unwrap();
    assert_eq!((asked.step.as_str(), asked.call.participant.name.as_str()), ("2/deciding/ann", "ann"));
    assert!(asked.call.render().iter().all(|it| it.0 == MessageRole::User), "{:?}", asked.call.messages);
    let own = asked.call.labels.label("ann").unwrap();
    assert_eq!(asked.sent().matches(&format!("by=\"{own}\"")).count(), 2);
}

/// The speakers that a call shows, with their rounds.
fn heard(asked: &AskedCall) -> Vec<String> {
    let said = asked.call.messages.iter().filter_map(|message| match message {
        Message::Said { turn, .. } => Some(format!("{}{}", asked.name(&turn.participant), turn.round)),
        Message::Found { .. } | Message::Ask(_) => None,
    });
    said.collect()
}

#[tokio::test(start_paused = true)]
async fn inv_disc_012_the_writer_hears_by_provider_whatever_the_labels() {
    for _ in 0..4 {
        let mut order = spec("round-robin");
        for (seat, provider) in order.participants.iter_mut().zip(["scripted-z", "scripted-a", "scripted-m"])
        {
            seat.provider = provider.to_owned();
        }
        let table = table(&panel());
        table.hold(order).await;
        let asked = table.panel.asked().pop().unwrap();
        assert_eq!(heard(&asked), ["bob1", "cyd1", "ann1", "bob2", "cyd2", "ann2"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_draws_its_own_labels_and_asks_nothing_again() {
    let table = table(&panel().says("*", "I agree with <bob> [<cyd>:1]."));
    for pattern in PATTERNS {
        let (first, facts) = table.hold(spec(pattern.name)).await;
        let asked = table.panel.steps().len();
        let at = facts.iter().find_map(|fact| match &fact.event {
            Event::TurnCompleted { turn } => Some(turn.step.clone()),
            _ => None,
        });
        let fork = Fork { of: first.discussion_id, at: at.unwrap() };
        let id = table.engine.fork(fork, spec(pattern.name)).await.unwrap();
        let second = table.run(id).await.unwrap().outcome();
        assert_eq!(table.panel.steps()[asked..], [""; 0], "{}", pattern.name);
        assert_eq!(second.synthesis, first.synthesis, "{}", pattern.name);
        assert_ne!(drawn(&table.facts(id).await), drawn(&facts), "{}", pattern.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_that_shows_names_asks_anew() {
    let table = table(&panel());
    let (first, _) = table.hold(spec("synthesis")).await;
    let asked = table.panel.steps().len();
    let fork = Fork { of: first.discussion_id, at: Step::from("1/answering/ann") };
    let id = table.engine.fork(fork, Spec { show_names: true, ..spec("synthesis") }).await.unwrap();
    table.run(id).await.unwrap();
    assert!(table.panel.steps()[asked..].iter().any(|it| it == "2/answering/ann"));
}

#[tokio::test(start_paused = true)]
async fn with_show_names_models_see_names_and_nothing_is_drawn() {
    for pattern in PATTERNS {
        let table: Table = table(&panel().says("*", "I agree with @bob, and KX."));
        let (outcome, facts) = table.hold(Spec { show_names: true, ..spec(pattern.name) }).await;
        assert_eq!(drawn(&facts), [], "{}", pattern.name);
        for asked in table.panel.asked() {
            let sent = asked.sent();
            assert!(!has_label(&sent) && sent.contains("bob"), "{sent}");
        }
        assert!(!has_label(&serde_json::to_string(&outcome).unwrap()));
    }
}

#[tokio::test(start_paused = true)]
async fn people_are_labelled_for_models_and_see_names_themselves() {
    let mut order = Spec { rounds: 1, ..spec("roundtable") };
    order.participants[0] = Participant::person("eva");
    let table = table(&panel());
    let id = table.open(order).await.unwrap();
    let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("eva opens") };
    let prompt = &state.awaiting[0].prompt;
    assert!(!has_label(prompt) && !prompt.contains(['\u{f8f0}', '\u{f8f1}']), "{prompt}");
    let text = "@bob, what do you and cyd think?".to_owned();
    table.engine.send(id, Command::Say(Say { participant: "eva".to_owned(), text })).await.unwrap();
    table.run(id).await.unwrap();
    let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == "1/speaking/bob").unwrap();
    let label = |name: &str| asked.call.labels.label(name).unwrap().to_owned();
    let sent = asked.sent();
    let expected = format!(
        "by=\"{}\" round=\"1\">\n{}, what do you and {} think?\n",
        label("eva"),
        label("bob"),
        label("cyd")
    );
    assert!(sent.contains(&expected) && !sent.contains("eva"), "{sent}");
    let facts: Vec<Value> =
        table.facts(id).await.iter().map(|it| serde_json::to_value(it).unwrap()).collect();
    assert!(facts.iter().any(|it| it["turn"]["text"] == "@bob, what do you and cyd think?"));
}
