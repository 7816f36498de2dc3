//! Tests that nothing of a program is left, however it behaves and however it is dropped.

use std::sync::Arc;

use futures::{StreamExt, future::join_all};
use quorum_core::seams::{Chunk, Provider};
use quorum_providers::{command::CommandProvider, source::Timeouts};

use crate::{
    call::call,
    stage::{PATIENT, Stage, answer, ask},
};

/// Starts two background children that ignore every signal they can and write their folder to a
/// file. Continues when both have.
const FORKS: &str = r#"
if [ "$2" = child ]; then
    trap '' TERM INT HUP PIPE
    while :; do echo x > "left-behind-$$"; sleep 0.02; done
fi
"$0" "$1" child & "$0" "$1" child &
while [ "$(ls | wc -l)" -lt 2 ]; do sleep 0.01; done
"#;

#[tokio::test]
async fn f16_children_in_the_background_end_with_a_normal_answer() {
    let stage = Stage::new();
    let (text, end) = answer(stage.program("plain", &format!("{FORKS}\necho Done."))).await;
    assert_eq!((text.as_str(), end.is_ok()), ("Done.\n", true));
    stage.is_empty_soon().await;
}

#[tokio::test]
async fn f16_a_program_that_lives_on_after_its_end_is_ended() {
    let stage = Stage::new();
    stage.write("sample", include_str!("gemini.jsonl"));
    let script = format!("{FORKS}\ncat \"$1/sample\"; while :; do sleep 1; done");
    let (_, end) = answer(stage.program("gemini", &script)).await;
    assert!(end.is_ok(), "{end:?}");
    stage.is_empty_soon().await;
}

#[tokio::test]
async fn f16_a_dropped_answer_ends_its_program() {
    let stage = Stage::new();
    let script = format!("{FORKS}\necho Begun.; while :; do sleep 1; done");
    let voice = CommandProvider::new(stage.program("plain", &script), None, PATIENT).unwrap();
    let mut answer = voice.reply(Arc::new(call("?")));
    assert_eq!(answer.next().await, Some(Ok(Chunk::Text("Begun.\n".to_owned()))));
    drop(answer);
    stage.is_empty_soon().await;
}

#[tokio::test]
async fn an_answer_nobody_waits_for_starts_nothing() {
    let stage = Stage::new();
    let voice = CommandProvider::new(stage.program("plain", "echo Done."), None, PATIENT).unwrap();
    drop(voice.reply(Arc::new(call("?"))));
    stage.is_empty_soon().await;
    assert_eq!(stage.read("folders"), "");
}

#[test]
fn f16_a_runtime_that_goes_away_takes_its_programs_along() {
    let new = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stage = Stage::new();
    let script = format!("{FORKS}\necho Begun.; while :; do sleep 1; done");
    let voice = CommandProvider::new(stage.program("plain", &script), None, PATIENT).unwrap();
    let runtime = new();
    let mut answer = voice.reply(Arc::new(call("?")));
    assert!(runtime.block_on(answer.next()).is_some());
    runtime.spawn(async move {
        answer.next().await;
    });
    drop(runtime);
    new().block_on(stage.is_empty_soon());
}

/// The number of repetitions of each run: 200 in all in long mode.
fn runs() -> usize {
    if std::env::var_os("QUORUM_LONG").is_some() { 200 } else { 20 }
}

#[tokio::test]
async fn f16_programs_that_hang_fork_and_flood_leave_nothing() {
    let hangs = "trap '' TERM INT HUP; while :; do sleep 1; done".to_owned();
    let forks = format!("{FORKS}\nwhile :; do sleep 1; done");
    let floods = format!("{FORKS}\nwhile :; do head -c 1073741824 /dev/zero; done");
    let stages = [hangs, forks, floods].map(|script| {
        let stage = Stage::new();
        let program = stage.program("plain", &script);
        (stage, program)
    });
    let timeouts = Timeouts { first_ms: 150, idle_ms: 150 };
    let all: Vec<usize> = (0..runs()).collect();
    for some in all.chunks(5) {
        let asked = some.iter().map(|run| ask(stages[run % 3].1.clone(), timeouts, call("?")));
        let failed = join_all(asked).await.into_iter().filter(|(_, end)| end.is_err()).count();
        assert_eq!(failed, some.len());
    }
    for (stage, _) in &stages {
        stage.is_empty_soon().await;
    }
}
