//! Tests of what a supervisor forwards and what it kills.

use std::sync::Arc;

use futures::StreamExt;
use quorum_core::{
    model::error::{ErrorClass, ProviderError},
    seams::{Chunk, Provider},
};
use quorum_providers::{
    command::{CommandProvider, supervisor::Supervisor},
    source::Program,
};

use crate::{
    call::call,
    kills::LEAVES,
    stage::{PATIENT, Stage, answer, ask},
};

fn supervised(program: Program) -> Program {
    Program { supervisor: Supervisor::this_program(), ..program }
}

pub(crate) async fn words_and_ends() {
    let check = async |script: &str, text: &str, failed: Option<(ErrorClass, &str)>| {
        let stage = Stage::new();
        let (said, end) = answer(supervised(stage.program("plain", script))).await;
        let failed = failed.map(|(class, message)| ProviderError::new(class, message));
        assert_eq!((said.as_str(), end.err()), (text, failed), "{script}");
        stage.is_empty_soon().await;
    };
    check("echo Done.", "Done.\n", None).await;
    check("echo Half; exit 3", "Half\n", Some((ErrorClass::ApiError, "plain exited with code 3"))).await;
    check("kill -9 $$", "", Some((ErrorClass::Network, "plain was killed by signal 9"))).await;
    check("kill -TERM $$", "", Some((ErrorClass::Network, "plain was killed by signal 15"))).await;
    let told = "plain exited with code 1: Bad.";
    check("echo Bad. >&2; exit 1", "", Some((ErrorClass::ApiError, told))).await;
    // The reader sees the end of the output while the program still runs.
    let closed = r#"echo '{"type":"message","role":"assistant","content":"A","delta":true}'; exec 1>&-; exec sleep 60"#;
    let stage = Stage::new();
    let (said, end) = answer(supervised(stage.program("gemini", closed))).await;
    let broke_off = ProviderError::new(ErrorClass::Network, "the answer of gemini broke off before its end");
    assert_eq!((said.as_str(), end), ("A", Err(broke_off)));
    stage.is_empty_soon().await;
    // More than any pipe holds, in both directions at the same time.
    let (large, stage) = ("word ".repeat(100_000), Stage::new());
    let (said, end) = ask(supervised(stage.program("plain", "exec cat")), PATIENT, call(&large)).await;
    assert!(said.contains(&large) && end.is_ok(), "{} {end:?}", said.len());
    stage.is_empty_soon().await;
}

pub(crate) async fn those_that_left() {
    let stage = Stage::new();
    let script = format!("{LEAVES}\necho Done.");
    let (said, end) = answer(supervised(stage.program("plain", &script))).await;
    assert_eq!((said.as_str(), end.is_ok()), ("Done.\n", true));
    stage.is_empty_soon().await;
}

pub(crate) async fn dropped() {
    let stage = Stage::new();
    let script = format!("{LEAVES}\necho Begun.; while :; do sleep 1; done");
    let program = supervised(stage.program("plain", &script));
    let voice = CommandProvider::new(program, None, PATIENT).unwrap();
    let mut answer = voice.reply(Arc::new(call("?")));
    assert_eq!(answer.next().await, Some(Ok(Chunk::Text("Begun.\n".to_owned()))));
    drop(answer);
    stage.is_empty_soon().await;
}
