//! Whole exchanges as they are sent, kept as files that people can read: in German, in Japanese,
//! with names that are words, with small windows, and with everything that an order can add. One
//! discussion of each pattern is in `docs/prompts.md`.

use std::{fs, path::Path, sync::Arc};

use quorum_core::{
    call::{Call, MessageRole},
    model::{
        agent::{Ability, Agent, Candidate, Reason},
        id::DiscussionId,
        participant::Participant,
        recall::{Recalled, Why},
        spec::{Manner, Spec},
        time::Timestamp,
    },
};
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    spec::spec,
};

use crate::{small_models, table};

fn order(pattern: &str, topic: &str) -> Spec {
    let manner = Manner { temperature: 0.7, max_tokens: 2_048 };
    Spec { topic: topic.to_owned(), manner, rounds: 2, ..spec(pattern) }
}

fn written(asked: &AskedCall) -> String {
    let messages = asked.call.render().into_iter().map(|(role, text)| {
        let role = if role == MessageRole::Assistant { "assistant" } else { "user" };
        format!("--- {role}\n{text}")
    });
    let messages: Vec<String> = messages.collect();
    let schema = asked.call.shape.as_ref().filter(|it| it.schema.is_some());
    let form = schema.map(|it| format!(", held to the schema of {}", it.form.kind)).unwrap_or_default();
    let Call { max_tokens, temperature, .. } = &*asked.call;
    format!(
        "=== {} (at most {max_tokens} tokens, temperature {temperature}{form})\n--- system\n{}\n{}\n",
        asked.step,
        asked.call.system,
        messages.join("\n")
    )
}

/// Holds the discussion and compares its requests with the file of this name.
async fn check(name: &str, order: Spec, panel: Panel) {
    let table = table(&panel);
    let (outcome, _) = table.hold(order).await;
    assert!(outcome.success, "{name}: {:?}", outcome.error);
    let sent: String = table.panel.asked().iter().map(written).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("QUORUM_BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &sent).unwrap();
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    let differing = kept.lines().zip(sent.lines()).find(|(one, other)| one != other);
    assert_eq!(differing, None, "{name}: set QUORUM_BLESS=1 to write it anew");
    assert_eq!(kept.lines().count(), sent.lines().count(), "{name}");
}

#[tokio::test(start_paused = true)]
async fn a_debate_in_german() {
    let topic = "Postgres oder MySQL für den Anfang?";
    let panel = panel().says("*", "Der Vorschlag überzeugt nicht.");
    check("german", order("debate", topic), panel).await;
}

#[tokio::test(start_paused = true)]
async fn a_dialogue_in_japanese() {
    let panel = panel().says("*", "タブのほうがよいです。");
    check("japanese", order("dialogue", "タブとスペースのどちらがよいですか?"), panel).await;
}

#[tokio::test(start_paused = true)]
async fn a_panel_whose_names_are_words() {
    let mut order = order("round-robin", "Should Google Cloud or a machine of mine run it for me?");
    for (seat, name) in order.participants.iter_mut().zip(["me", "a", "gemini"]) {
        name.clone_into(&mut seat.name);
        seat.aliases = vec!["google".to_owned()];
    }
    let said = "For me, a machine beats Google Cloud. As gemini said, @me and @a differ.";
    check("names", order, panel().says("*", said)).await;
}

#[tokio::test(start_paused = true)]
async fn small_models_that_nothing_holds_to_a_schema() {
    let panel = panel().window("*", 8_192).ignores_schemas("*").says("*", "Tabs adapt.");
    let panel = panel
        .writes("cyd", "casting", small_models::CASTING)
        .writes("cyd", "assessment", small_models::ASSESSMENT)
        .writes("cyd", "verdict", small_models::VERDICT)
        .writes_at("cyd", "1/judging/cyd", "The width was settled, and the rest can wait.");
    check("small", order("debate", "tabs or spaces?"), panel).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_a_recall_and_a_follow_up() {
    let mut order = order("synthesis", "And what would it cost?");
    order.background = Some("We have five engineers.".to_owned());
    let earlier = |why: Why, topic: &str, answer: &str| Recalled {
        id: DiscussionId::fresh(),
        key: "discussion:0".to_owned(),
        topic: topic.to_owned(),
        ended_at: Timestamp(1_767_225_600_000_000),
        score: None,
        text: format!("Question: {topic}\nAnswer: {answer}"),
        cut: false,
        tokens: 20,
        why,
    };
    order.recalled = Some(vec![
        earlier(Why::Followed, "Split the monolith?", "Keep it for a year."),
        earlier(Why::Recalled, "What did the last move cost?", "Four months."),
    ]);
    let ability = Ability {
        id: "estimation".to_owned(),
        digest: "0".repeat(32),
        text: "# Ability: estimation\n\nGive a range.".to_owned(),
    };
    let agent = Agent {
        id: "analyst".to_owned(),
        display_name: Some("Ada".to_owned()),
        text: "# Your profile\n\nYour profile is that of Ada.\n\nCount first.".to_owned(),
        rest: "# The discussion\n\nWhat follows prevails on form.".to_owned(),
        candidates: vec![Candidate {
            provider: "scripted".to_owned(),
            model: None,
            aliases: vec!["Ada".to_owned()],
            strengths: Vec::new(),
            reason: Reason::Preferred,
            abilities: vec![ability.id.clone()],
            left_out: Vec::new(),
            temperature: None,
        }],
        abilities: vec![ability],
        ..Agent::default()
    };
    let agent = Participant {
        name: "analyst".to_owned(),
        weight: 1.5,
        agent: Some(Arc::new(agent)),
        ..order.participants[1].clone()
    };
    order.participants[1] = agent;
    check("agent", order, panel().says("analyst", "As Ada, I count four months.")).await;
}
