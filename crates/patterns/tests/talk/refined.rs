//! A critique's answer is the last refinement, checked by the strongest critic.

use std::sync::Arc;

use quorum_core::{
    call::Message,
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        command::{Command, Say},
        error::ErrorClass,
        outcome::Outcome,
        participant::Participant,
        spec::Spec,
    },
    seams::Store,
};
use quorum_patterns::{CONSENSUS, registry};
use quorum_testkit::{
    faulty::Faulty,
    kill::resume_anywhere,
    panel::{AskedCall, Panel, panel},
    spec::{deciding_by, spec},
    table::Table,
};
use serde_json::{Value, json};

use crate::table;

const OPEN: &str =
    r#"{"open": [{"objection": "No price is given", "breaks": "the budget"}], "ready": false}"#;

fn writing() -> Panel {
    panel().says("ann", "Use tabs.\n\n---\n- taken: diffs").says_in(
        "ann",
        2,
        "Use tabs, and spaces to align.\n\n---\n- taken: alignment\n- not taken: speed",
    )
}

async fn hold(order: Spec, panel: Panel) -> (Outcome, Table) {
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    (outcome, table)
}

fn steps(table: &Table, part: &str) -> Vec<String> {
    table.panel.steps().into_iter().filter(|step| step.contains(part)).collect()
}

fn asked(table: &Table, step: &str) -> AskedCall {
    let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step);
    asked.unwrap_or_else(|| panic!("{step} was not asked"))
}

/// Who said what in which phase, as this call was shown it.
fn shown(asked: &AskedCall) -> Vec<String> {
    let said = asked.call.messages.iter().filter_map(|message| match message {
        Message::Said { turn, .. } => {
            Some(format!("{} {} {}", turn.round, turn.phase, asked.name(&turn.participant)))
        }
        Message::Found { .. } | Message::Ask(_) => None,
    });
    said.collect()
}

#[tokio::test(start_paused = true)]
async fn a_critiques_answer_is_its_last_refinement() {
    let (outcome, table) = hold(spec("critique"), writing()).await;
    assert_eq!(outcome.synthesis, "Use tabs, and spaces to align.");
    assert_eq!(outcome.consensus.synthesizer.as_deref(), Some("ann"));
    assert_eq!(steps(&table, "deciding"), [""; 0]);
    assert!(outcome.success && !outcome.integrity.degraded, "{:?}", outcome.error);
}

#[tokio::test(start_paused = true)]
async fn the_strongest_critic_checks_the_last_draft_with_its_criticism_and_no_older_drafts() {
    let mut order = spec("critique");
    order.topic = "Which translation do we ship?".to_owned();
    order.participants[2].strengths = vec!["translation".to_owned()];
    let (_, table) = hold(order, writing()).await;
    assert_eq!(steps(&table, "checking"), ["2/checking/cyd"]);
    let check = asked(&table, "2/checking/cyd");
    let expected = ["2 critiquing bob", "2 critiquing cyd", "2 refining ann"];
    assert_eq!(shown(&check), expected);
    assert_eq!((check.call.temperature, check.call.max_tokens), (0.3, 512));
}

#[tokio::test(start_paused = true)]
async fn in_one_round_the_check_is_not_shown_the_first_draft() {
    let (_, table) = hold(Spec { rounds: 1, ..spec("critique") }, writing()).await;
    let expected = ["1 critiquing bob", "1 critiquing cyd", "1 refining ann"];
    assert_eq!(shown(&asked(&table, "1/checking/bob")), expected);
}

#[tokio::test(start_paused = true)]
async fn drafts_and_phases_are_named_in_what_is_asked() {
    let (_, table) = hold(spec("critique"), writing()).await;
    let question = |step: &str| asked(&table, step).call.render().pop().unwrap().1;
    assert!(question("1/critiquing/bob").starts_with("Phase: criticism. Above is draft 1."));
    assert!(question("2/critiquing/bob").starts_with("Phase: criticism. Above is draft 2."));
    assert!(question("2/refining/ann").starts_with("Phase: refinement. Above are draft 2 and its criticism"));
    assert!(question("2/checking/bob").starts_with("Phase: check. Above is the last draft"));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_201_objections_that_the_check_leaves_open_are_dissent_and_a_field() {
    let (outcome, _) = hold(spec("critique"), writing().writes("bob", "check", OPEN)).await;
    let open = json!([{ "objection": "No price is given", "breaks": "the budget" }]);
    let check = json!({ "by": "bob", "ready": false, "open": open });
    assert_eq!(outcome.fields.get("check"), Some(&check));
    let dissent = outcome.consensus.dissent.unwrap();
    let dissent: Vec<(&str, &str)> = dissent.iter().map(|it| (&*it.provider, &*it.position)).collect();
    assert_eq!(dissent, [("bob", "No price is given: the budget")]);
    assert_eq!(outcome.synthesis, "Use tabs, and spaces to align.");
}

#[tokio::test(start_paused = true)]
async fn a_draft_that_is_ready_has_no_dissent() {
    let ready = writing().writes("bob", "check", r#"{"open": [], "ready": true}"#);
    let (outcome, _) = hold(spec("critique"), ready).await;
    assert_eq!(outcome.fields["check"], json!({ "by": "bob", "ready": true, "open": [] }));
    assert_eq!(outcome.consensus.dissent.unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_check_that_cannot_be_read_is_told_and_the_answer_stands() {
    let (outcome, table) = hold(spec("critique"), writing().writes("bob", "check", "Fine.")).await;
    assert_eq!(outcome.synthesis, "Use tabs, and spaces to align.");
    assert_eq!(steps(&table, "checking"), ["2/checking/bob", "2/checking/bob/remind1"]);
    assert_eq!((outcome.integrity.unread_replies, outcome.integrity.degraded), (1, true));
    let lacks = json!({ "missingCheck": "the reply of bob could not be read" });
    assert_eq!(Value::Object(outcome.integrity.lacks), lacks);
    assert_eq!(outcome.fields.get("check"), None);
}

#[tokio::test(start_paused = true)]
async fn a_critic_that_fails_at_the_check_is_replaced() {
    let failing = writing().fails_at("bob", "2/checking/bob", ErrorClass::Validation);
    let (outcome, table) = hold(spec("critique"), failing).await;
    assert_eq!(steps(&table, "checking"), ["2/checking/bob", "2/checking/cyd"]);
    assert_eq!((&outcome.fields["check"]["by"], outcome.success), (&json!("cyd"), true));
}

#[tokio::test(start_paused = true)]
async fn another_method_or_a_named_writer_is_obeyed() {
    for method in CONSENSUS.iter().filter(|it| it.name != "synthesis") {
        let (_, table) = hold(deciding_by(spec("critique"), method.name), writing()).await;
        assert!(!steps(&table, "deciding").is_empty(), "{}", method.name);
    }
    for (option, value) in [("synthesizer", "cyd"), ("synthesisPrompt", "Answer in one sentence.")] {
        let mut order = spec("critique");
        order.settings.set(option, value);
        let (outcome, table) = hold(order, writing().writes("bob", "check", OPEN)).await;
        assert_eq!(steps(&table, "deciding").len(), 1, "{option}");
        assert_ne!(outcome.synthesis, "Use tabs, and spaces to align.", "{option}");
        let prompt = table.panel.asked().pop().unwrap().call.render().pop().unwrap().1;
        assert!(prompt.contains(" checked the last draft: not ready, 1 objection open"), "{prompt}");
        assert!(prompt.contains("> - No price is given: the budget"), "{prompt}");
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_012_the_writer_of_a_critique_is_shown_draft_criticism_and_refinement_in_that_order() {
    let mut order = spec("critique");
    order.settings.set("synthesizer", "cyd");
    let (_, table) = hold(order, writing().fails_at("ann", "1/refining/ann", ErrorClass::Validation)).await;
    let expected = [
        "1 proposing ann",
        "1 critiquing bob",
        "1 critiquing cyd",
        "1 refining bob",
        "2 critiquing cyd",
        "2 refining bob",
    ];
    let writing = asked(&table, "2/deciding/cyd");
    assert_eq!(shown(&writing), expected);
    let rendered: Vec<String> = writing.call.render().into_iter().map(|it| it.1).collect();
    assert!(rendered[0].contains(" round=\"1\" phase=\"proposing\">"), "{rendered:?}");
    assert!(rendered[5].contains(" round=\"2\" phase=\"refining\">"), "{rendered:?}");
}

#[tokio::test(start_paused = true)]
async fn people_are_not_asked_to_fill_in_the_check() {
    let mut order = Spec { rounds: 1, ..spec("critique") };
    order.participants[1] = Participant::person("eva");
    order.participants[1].strengths = vec!["tabs".to_owned()];
    let table = table(&writing());
    let id = table.open(order).await.unwrap();
    let mut finished = table.run(id).await.unwrap();
    while let Finished::Waiting(_) = finished {
        let say = Say { participant: "eva".to_owned(), text: "I miss the price.".to_owned() };
        table.engine.send(id, Command::Say(say)).await.unwrap();
        finished = table.run(id).await.unwrap();
    }
    assert_eq!(steps(&table, "checking"), ["1/checking/cyd"]);
}

/// The answer of a critique that is aborted after a crash at every moment.
async fn answers_of_aborted(panel: &Panel) -> Vec<String> {
    let mut answers = Vec::new();
    for writes in 1.. {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let mortal = Table::over(Arc::new(Faulty::dying_after(store.clone(), writes)), panel, registry());
        let id = mortal.open(spec("critique")).await.unwrap();
        if mortal.run(id).await.is_ok() {
            break;
        }
        mortal.engine.send(id, Command::Abort).await.unwrap();
        let outcome = Table::over(store, panel, registry()).run(id).await.unwrap().outcome();
        answers.push(outcome.synthesis);
    }
    answers.dedup();
    answers
}

#[tokio::test(start_paused = true)]
async fn an_aborted_critiques_answer_is_its_last_draft() {
    let panel = writing().says("bob", "It has a fault.").says("cyd", "It has a fault.");
    // The first draft is a proposal, and may have lines of its own.
    let expected = ["", "Use tabs.\n\n---\n- taken: diffs", "Use tabs.", "Use tabs, and spaces to align."];
    assert_eq!(answers_of_aborted(&panel).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_critiques_last_words_are_its_proposal_when_nobody_can_write_the_answer() {
    let mut order = spec("critique");
    order.settings.set("synthesizer", "cyd");
    let silent = ["ann", "bob", "cyd"].into_iter().fold(writing(), |panel, name| {
        panel.fails_at(name, &format!("2/deciding/{name}"), ErrorClass::Validation)
    });
    let (outcome, _) = hold(order, silent).await;
    assert_eq!(outcome.synthesis, "Use tabs, and spaces to align.");
    assert_eq!(outcome.integrity.stand_in.as_deref(), Some("ann"));
}

#[tokio::test(start_paused = true)]
async fn f1_a_check_survives_every_crash() {
    let paced = |panel: Panel| panel.takes("ann", 1).takes("bob", 2).takes("cyd", 3);
    let checks = [
        writing().writes("bob", "check", OPEN),
        writing().writes("bob", "check", "Fine."),
        writing().fails_at("bob", "2/checking/bob", ErrorClass::Validation),
    ];
    for method in ["synthesis", "majority"] {
        for panel in checks.iter().map(|it| paced(it.clone())) {
            let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
            let deaths =
                resume_anywhere(store, &panel, registry(), deciding_by(spec("critique"), method)).await;
            assert!(deaths >= 9, "{method} died {deaths} times only");
        }
    }
}
