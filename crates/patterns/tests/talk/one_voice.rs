//! The hidden pattern of one question to one voice.

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        error::{Code, ErrorClass},
        spec::{Limits, Spec, Timing},
    },
    seams::Store,
};
use quorum_patterns::{pattern::prompt::LONGEST_PROMPT, registry};
use quorum_testkit::{kill::resume_anywhere, panel::panel, spec::spec};

use crate::table;

fn asked(topic: &str) -> Spec {
    Spec { topic: topic.to_owned(), ..spec("prompt") }
}

#[tokio::test(start_paused = true)]
async fn b11_a_prompt_is_one_call_with_the_text_alone_and_its_answer_is_the_result() {
    let table = table(&panel().says("ann", "Forty-two."));
    let settings = asked("").settings.with("system", "Be brief.");
    let (outcome, _) = table.hold(Spec { settings, ..asked("What is the answer?") }).await;
    assert_eq!((outcome.success, outcome.synthesis.as_str()), (true, "Forty-two."));
    let calls = table.panel.asked();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(&*calls[0].call.system, "Be brief.");
    let messages: Vec<String> = calls[0].call.render().into_iter().map(|(_, text)| text).collect();
    assert_eq!(messages, ["What is the answer?"]);
}

#[tokio::test(start_paused = true)]
async fn b11_a_prompt_keeps_no_call_and_no_time_back_for_a_synthesis() {
    let limits = Limits { calls: Some(1), ..Limits::default() };
    let timing = Timing { step_ms: 4_000, total_ms: 5_000, reserve_ms: 2_500 };
    let table = table(&panel().takes("ann", 3_000));
    let (outcome, _) = table.hold(Spec { limits, timing, ..asked("Why?") }).await;
    assert!(outcome.success, "{:?}", outcome.error);
}

#[tokio::test(start_paused = true)]
async fn b11_a_prompt_may_be_long_and_takes_one_model() {
    let long = "a".repeat(LONGEST_PROMPT);
    assert_eq!(registry().refusals(&asked(&long)), []);
    let fields = |spec: &Spec| -> Vec<String> {
        registry().refusals(spec).into_iter().map(|it| it.field.to_string()).collect()
    };
    assert_eq!(fields(&asked(&format!("{long}a"))), ["topic"]);
    assert_eq!(fields(&asked(" ")), ["topic"]);
    let two = Spec { participants: spec("dialogue").participants, ..asked("Why?") };
    assert_eq!(fields(&two), ["providers"]);
}

#[tokio::test(start_paused = true)]
async fn b11_a_prompt_whose_voice_fails_says_so() {
    let table = table(&panel().fails("ann", ErrorClass::Authentication));
    let (outcome, _) = table.hold(asked("Why?")).await;
    assert_eq!((outcome.success, outcome.synthesis.as_str()), (false, ""));
    assert_eq!(outcome.error.map(|it| it.code), Some(Code::AllProvidersFailed));
}

#[tokio::test(start_paused = true)]
async fn f1_a_prompt_survives_every_crash() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let failing = panel().fails_first("ann", ErrorClass::Network, 1);
    for panel in [panel(), failing] {
        let deaths = resume_anywhere(store, &panel, registry(), asked("Why?")).await;
        assert!(deaths >= 2, "it died {deaths} times only");
    }
}
