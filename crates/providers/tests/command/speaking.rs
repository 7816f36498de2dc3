//! Tests of programs that behave as they should.

use std::{collections::BTreeMap, process::Command, sync::Arc};

use futures::StreamExt;
use quorum_core::{
    call::{Call, lane::Width},
    model::{participant::Participant, transcript::Finish},
    seams::{Chunk, Provider, Voices},
};
use quorum_providers::{
    RealVoices,
    command::CommandProvider,
    source::{ModelInfo, Program, Source, Timeouts, Transport},
    wire::Quirks,
};
use quorum_testkit::stopwatch::Stopwatch;

use crate::{
    call::call,
    stage::{PATIENT, Stage, answer, ask},
};

const SAID: &str = "A ledger – is enough 🙂.";

#[tokio::test]
async fn the_vendors_output_formats_are_read() {
    let samples = [
        ("claude", include_str!("claude.jsonl"), SAID.to_owned()),
        ("codex", include_str!("codex.jsonl"), format!("First thought.\n\n{SAID}")),
        ("gemini", include_str!("gemini.jsonl"), SAID.to_owned()),
    ];
    for (dialect, sample, expected) in samples {
        let stage = Stage::new();
        stage.write("sample", sample);
        // Codex itself does not begin before its input is closed.
        let program = stage.program(dialect, "cat > \"$1/prompt\"; cat \"$1/sample\"");
        let (text, end) = answer(program).await;
        assert_eq!(text, expected);
        assert!(matches!(end, Ok(Chunk::End { finish: Finish::Stop, usage: Some(_), .. })), "{end:?}");
        assert!(stage.read("prompt").ends_with("What do you think?\n"));
        stage.is_empty_soon().await;
    }
}

#[tokio::test]
async fn a_plain_program_ends_by_ending_well() {
    let stage = Stage::new();
    let program = stage.program("plain", r"cat > /dev/null; printf '\033[1mOne\033[0m \377 two\r\n'");
    let expected = Chunk::End { finish: Finish::Stop, usage: None, cost: None };
    assert_eq!(answer(program).await, ("One \u{fffd} two\n".to_owned(), Ok(expected)));
    stage.is_empty_soon().await;
}

#[tokio::test]
async fn output_is_streamed_as_it_is_written() {
    let stage = Stage::new();
    // It writes the second word only after the first was read.
    let script = "echo One; while [ ! -e \"$1/heard\" ]; do sleep 0.01; done; echo two";
    let voice = CommandProvider::new(stage.program("plain", script), None, PATIENT).unwrap();
    let mut words = voice.reply(Arc::new(call("?")));
    assert_eq!(words.next().await, Some(Ok(Chunk::Text("One\n".to_owned()))));
    stage.write("heard", "");
    assert_eq!(words.next().await, Some(Ok(Chunk::Text("two\n".to_owned()))));
}

#[tokio::test]
async fn arguments_reach_a_program_as_they_are() {
    let stage = Stage::new();
    let template = stage.program("plain", r#"shift; for it in "$@"; do echo "($it)"; done"#);
    let mut arguments = template.arguments.clone();
    arguments.extend(["-m", "{model}", "$(id); rm *", ""].map(str::to_owned));
    let voice = CommandProvider::new(Program { arguments, ..template }, Some("m 1"), PATIENT).unwrap();
    let said: Vec<Chunk> = voice.reply(Arc::new(call("?"))).map(Result::unwrap).collect().await;
    let words =
        said.iter().filter_map(|it| if let Chunk::Text(text) = it { Some(text.as_str()) } else { None });
    assert_eq!(words.collect::<String>(), "(-m)\n(m 1)\n($(id); rm *)\n()\n");
}

#[tokio::test]
async fn a_model_in_the_configuration_reaches_the_program() {
    let stage = Stage::new();
    let template = stage.program("plain", r#"shift; echo "$@""#);
    let mut arguments = template.arguments.clone();
    arguments.extend(["-m", "{model}"].map(str::to_owned));
    let check = async |model: &str, expected: &str| {
        let source = Source {
            name: "claude".to_owned(),
            transport: Transport::Command(Program { arguments: arguments.clone(), ..template.clone() }),
            model: model.to_owned(),
            usual: ModelInfo { window: 1_000, price: None, quirks: Quirks::default() },
            models: BTreeMap::new(),
            width: Width::at_once(1),
            timeouts: PATIENT,
        };
        let asked = Arc::new(call("?"));
        let voice = RealVoices::of(vec![source]).voice(&asked.spec, &asked.participant).unwrap();
        let said = voice.provider.reply(asked).next().await;
        assert_eq!(said, Some(Ok(Chunk::Text(format!("{expected}\n")))));
    };
    check("m-1", "-m m-1").await;
    check("", "").await;
}

#[tokio::test]
async fn a_large_prompt_and_a_large_answer_do_not_block_each_other() {
    let stage = Stage::new();
    // More than any pipe holds, in both directions at the same time.
    let large = "word ".repeat(100_000);
    let (text, end) = ask(stage.program("plain", "exec cat"), PATIENT, call(&large)).await;
    assert!(text.contains(&large) && end.is_ok(), "{} {end:?}", text.len());
}

#[tokio::test]
async fn a_program_that_never_reads_its_prompt_may_still_answer() {
    let stage = Stage::new();
    let large = "word ".repeat(100_000);
    let (text, end) = ask(stage.program("plain", "echo Anyway."), PATIENT, call(&large)).await;
    assert_eq!((text.as_str(), end.is_ok()), ("Anyway.\n", true));
    stage.is_empty_soon().await;
}

#[tokio::test]
async fn e01_a_program_asks_for_a_sub_discussion_by_its_last_line() {
    let stage = Stage::new();
    let program = stage.program("plain", "echo Hm.; echo '<discuss-7f>Which store?</discuss-7f>'");
    let call = Call { may_convene: true, ..call("?") };
    let expected = Chunk::End { finish: Finish::Convene, usage: None, cost: None };
    assert_eq!(ask(program, PATIENT, call).await, ("Hm.\n<Which store?>".to_owned(), Ok(expected)));
}

/// Starts itself again with keys in its environment, since that of a running process can't be
/// changed safely.
#[tokio::test]
async fn s1_a_program_sees_neither_keys_nor_files() {
    const INSIDE: &str = "QUORUM_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_none() {
        let name = "speaking::s1_a_program_sees_neither_keys_nor_files";
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", name, "--nocapture"]).env(INSIDE, "1");
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY"] {
            again.env(key, "canary-key");
        }
        let output = again.env("CODEX_HOME", "of-codex").output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let stage = Stage::new();
    let script = "env > \"$1/environment\"; ls -A > \"$1/files\"; echo Done.";
    let (text, end) = answer(stage.program("plain", script)).await;
    assert_eq!((text.as_str(), end.is_ok()), ("Done.\n", true));
    let environment = stage.read("environment");
    for hidden in ["canary-key", INSIDE, "CARGO", "of-codex"] {
        assert!(!environment.contains(hidden), "{hidden} is in {environment}");
    }
    assert!(environment.contains("PATH=") && environment.contains("TERM=dumb"), "{environment}");
    assert_eq!(stage.read("files"), "");
}

#[tokio::test]
async fn inv_disc_100_a_check_asks_for_the_login_and_nothing_else() {
    let stage = Stage::new();
    let path = stage.executable("claude", "#!/bin/sh\ncat >> \"$0.asked\"; echo \"$@\" >> \"$0.asked\"\n");
    let program = Program { path, dialect: "claude".to_owned(), ..Program::default() };
    let voice = CommandProvider::new(program, Some("m"), Timeouts::default()).unwrap();
    assert_eq!(voice.check(&Participant::of("claude")).await, Ok(()));
    assert_eq!(stage.read("claude.asked"), "auth status\n");
}

#[tokio::test]
async fn a_check_of_an_unknown_program_does_not_run_it() {
    let stage = Stage::new();
    let voice = CommandProvider::new(stage.program("plain", "exit 1"), None, PATIENT).unwrap();
    assert_eq!(voice.check(&Participant::of("own")).await, Ok(()));
    assert_eq!(stage.read("folders"), "");
}

#[tokio::test]
async fn f2_a_check_of_a_hanging_program_ends() {
    let stage = Stage::new();
    let path = stage
        .executable("codex", "#!/bin/sh\n[ \"$1\" = child ] || \"$0\" child &\nwhile :; do sleep 1; done\n");
    let program = Program { path, dialect: "codex".to_owned(), ..Program::default() };
    let voice = CommandProvider::new(program, None, PATIENT).unwrap();
    let watch = Stopwatch::start();
    let refused = voice.check(&Participant::of("codex")).await.unwrap_err();
    let took = watch.took();
    assert_eq!(refused.message, "the program codex did not answer a check within 10 s");
    assert!(took.own.as_millis() < 10_250, "{took:?}");
    stage.is_empty_soon().await;
}
