//! Small models are asked in fewer words, and everyone reads the question again after much talk.

use quorum_core::{
    call::{Message, tokens::Family},
    model::spec::{Manner, Spec},
    seams::Voice,
};
use quorum_patterns::PATTERNS;
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    spec::{deciding_by, spec},
};

use crate::table;

const AGAIN: &str = "The question again: tabs or spaces?";

fn order(pattern: &str) -> Spec {
    let manner = Manner { temperature: 0.7, max_tokens: 2_048 };
    Spec { manner, ..spec(pattern) }
}

async fn asked_in(order: Spec, panel: Panel) -> Vec<AskedCall> {
    let table = table(&panel);
    table.hold(order).await;
    table.panel.asked()
}

fn of<'a>(asked: &'a [AskedCall], who: &str) -> Vec<&'a AskedCall> {
    asked.iter().filter(|it| it.call.participant.name == who).collect()
}

/// The last message of a call.
fn task(asked: &AskedCall) -> String {
    asked.call.render().pop().unwrap().1
}

fn speech(tokens: usize) -> String {
    "the case for it is strong and ".repeat(tokens / 7)
}

#[tokio::test(start_paused = true)]
async fn a_model_with_a_small_window_was_sent_the_long_frame() {
    let asked = asked_in(order("synthesis"), panel().window("bob", Voice::SMALL_WINDOW)).await;
    let (usual, small) = (of(&asked, "cyd"), of(&asked, "bob"));
    assert_eq!((usual.len(), small.len()), (2, 2));
    for it in &small {
        let (own, system) = (it.call.labels.label("bob").unwrap(), it.call.system.as_ref());
        assert!(system.starts_with(&format!("You are {own}. Others here: @")), "{system}");
        assert!(system.ends_with("Question: tabs or spaces?"), "{system}");
        let frame = system.replace("Question: tabs or spaces?", "");
        assert!(Family::O200k.estimate(&frame) <= 90, "{frame}");
        assert_eq!(system, &*small[0].call.system, "one system text for all its calls");
    }
    for it in &usual {
        assert!(it.call.system.contains("in a discussion with"), "{}", it.call.system);
        assert!(!it.sent().contains(AGAIN), "{}", it.sent());
    }
    assert!(task(usual[0]).ends_with("\nWrite 150 to 300 words in English."), "{}", task(usual[0]));
    assert!(task(small[0]).ends_with("\nWrite 75 to 150 words in English."), "half the words");
    assert_eq!((usual[0].call.max_tokens, small[0].call.max_tokens), (1_200, 600));
    assert!(!task(small[0]).contains(AGAIN), "nothing stands between the question and the task yet");
    assert!(task(small[1]).starts_with(AGAIN), "{}", task(small[1]));
    for line in task(small[1]).lines().filter(|line| !line.starts_with('>')) {
        assert!(!line.contains(". "), "one instruction a line: {line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_small_models_window_decides_and_not_the_smallest_on_the_panel() {
    for (window, is_small) in [(8_192, true), (8_193, false)] {
        let asked = asked_in(order("synthesis"), panel().window("bob", window)).await;
        let compact = |who: &str| of(&asked, who)[0].call.system.contains("Others here: ");
        assert_eq!((compact("ann"), compact("bob"), compact("cyd")), (false, is_small, false), "{window}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_small_model_has_one_system_text_from_its_first_turn_to_its_last_vote() {
    for pattern in PATTERNS {
        let asked = asked_in(deciding_by(order(pattern.name), "unanimous"), panel().window("*", 8_192)).await;
        let kind = |it: &AskedCall| it.call.shape.as_ref().map(|it| it.form.kind);
        let speaks = |it: &&AskedCall| {
            !it.call.participant.aside && matches!(kind(it), None | Some("ballot" | "consensus-check"))
        };
        let mut systems: std::collections::BTreeMap<&str, &str> = std::collections::BTreeMap::new();
        for it in asked.iter().filter(speaks) {
            let known = systems.entry(&it.call.participant.name).or_insert(&it.call.system);
            assert_eq!(*known, &*it.call.system, "{}: {}", pattern.name, it.step);
            assert!(known.contains("Others here: "), "{}: {known}", pattern.name);
        }
        assert!(1 < systems.len(), "{}", pattern.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_small_model_that_writes_is_asked_for_no_sources_and_no_structure() {
    let asked = asked_in(order("synthesis"), panel().window("ann", 8_192)).await;
    let writing = asked.last().unwrap();
    assert_eq!(writing.step.as_str(), "2/deciding/ann");
    let task = task(writing);
    assert!(task.ends_with("\nWrite 125 to 225 words in English."), "{task}");
    for part in ["JSON", "End each sentence", writing.call.mark.as_deref().unwrap()] {
        assert!(!task.contains(part), "{part}: {task}");
    }
    let table = table(&panel().window("ann", 8_192).writes("ann", "synthesis", "Tabs it is."));
    let (outcome, _) = table.hold(order("synthesis")).await;
    assert_eq!((outcome.synthesis.as_str(), outcome.success), ("Tabs it is.", true), "prose alone is read");
}

#[tokio::test(start_paused = true)]
async fn after_2000_tokens_of_talk_the_question_was_not_repeated() {
    for (tokens, is_repeated) in [(800, true), (300, false)] {
        let asked = asked_in(order("synthesis"), panel().says("*", &speech(tokens))).await;
        for it in &asked {
            let talk = it.call.messages.iter().any(|it| matches!(it, Message::Said { .. }));
            let of_much_talk = it.step.as_str() == "2/deciding/ann" && tokens == 300;
            // Six speeches of 300 tokens and their fences are more than 2,000.
            let expected = talk && (is_repeated || of_much_talk);
            assert_eq!(task(it).starts_with(AGAIN), expected, "{} with {tokens}: {}", it.step, task(it));
            assert_eq!(it.sent().matches(AGAIN).count(), usize::from(expected), "{}", it.step);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_question_stays_before_its_task_when_a_form_is_asked_for_again() {
    let panel = panel().says("*", &speech(900)).writes("*", "ballot", "I can't decide.");
    let order =
        Spec { options: vec!["tabs".into(), "spaces".into()], ..deciding_by(order("synthesis"), "voting") };
    let asked = asked_in(order, panel).await;
    let reminded: Vec<&AskedCall> =
        asked.iter().filter(|it| it.step.as_str().ends_with("/remind1")).collect();
    assert_eq!(reminded.len(), 3);
    for it in reminded {
        let first = asked.iter().find(|first| it.step.as_str() == format!("{}/remind1", first.step)).unwrap();
        let (before, now) = (first.call.render(), it.call.render());
        assert!(before.last().unwrap().1.starts_with(AGAIN), "{}", it.step);
        assert_eq!(now[..before.len()], before[..], "the request begins like the one before");
        assert!(!now.last().unwrap().1.contains(AGAIN), "{}", it.step);
    }
}

#[tokio::test(start_paused = true)]
async fn a_judge_reads_the_question_again_too() {
    let asked = asked_in(order("debate"), panel().says("*", &speech(1_100))).await;
    let judging: Vec<&AskedCall> = asked.iter().filter(|it| it.step.as_str().contains("/judging/")).collect();
    assert!(!judging.is_empty() && judging.iter().all(|it| task(it).starts_with(AGAIN)));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_622_a_stated_confidence_was_shown_to_the_others() {
    let sure = panel()
        .says("ann", "Tabs.\nConfidence: 0.71")
        .says("bob", "Spaces.\n\n**Confidence:** 72 %")
        .says("cyd", "Both.\nConfidence: 0.73 (fairly sure)");
    let order = Spec { early_exit: Some(0.9), ..order("synthesis") };
    let table = table(&sure);
    let (outcome, _) = table.hold(order).await;
    let asked = table.panel.asked();
    assert_eq!(asked.len(), 7, "nobody is sure enough");
    for it in &asked {
        let said = it.call.render().into_iter().map(|it| it.1).filter(|it| it.contains("<said-"));
        let said = said.collect::<String>();
        let own = it.call.render().into_iter().filter(|it| it.0 == quorum_core::call::MessageRole::Assistant);
        let own: String = own.map(|it| it.1).collect();
        assert!(!format!("{said}{own}").contains("onfidence"), "{}: {said}{own}", it.step);
        assert!(it.step.as_str().starts_with("1/") || said.contains("Spaces.") || own.contains("Spaces."));
    }
    let round: Vec<&str> = outcome.rounds[0].responses.iter().map(|it| it.content.as_str()).collect();
    assert_eq!(round[0], "Tabs.\nConfidence: 0.71", "the record keeps what was said");
}
