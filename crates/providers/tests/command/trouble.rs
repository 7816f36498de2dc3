//! Tests of programs that misbehave.

use std::{path::PathBuf, time::Duration};

use quorum_core::model::{
    error::{ErrorClass, ProviderError},
    participant::Participant,
};
use quorum_core::seams::Provider;
use quorum_providers::{
    command::CommandProvider,
    source::{Program, Timeouts},
};
use quorum_testkit::{
    conformance::provider::fixture::LATE,
    stopwatch::{Stopwatch, Took},
};

use crate::{
    call::call,
    stage::{PATIENT, Stage, answer, ask},
};

/// Checks the text and the error of a script in this dialect.
async fn check(dialect: &str, script: &str, text: &str, class: ErrorClass, message: &str) {
    let stage = Stage::new();
    let expected = (text.to_owned(), Err(ProviderError::new(class, message)));
    assert_eq!(answer(stage.program(dialect, script)).await, expected, "{script}");
    stage.is_empty_soon().await;
}

#[tokio::test]
async fn d12_bad_ends_are_classed() {
    let delta = r#"{"type":"message","role":"assistant","content":"A led","delta":true}"#;
    check("plain", "exit 3", "", ErrorClass::ApiError, "plain exited with code 3").await;
    check("plain", "echo Half; exit 1", "Half\n", ErrorClass::ApiError, "plain exited with code 1").await;
    let stderr_only = "echo one >&2; printf '\\033[31mtwo\\033[0m\\n' >&2";
    check("plain", stderr_only, "", ErrorClass::InvalidResponse, "plain gave no answer; it wrote: two").await;
    check("plain", "exit 0", "", ErrorClass::InvalidResponse, "plain wrote nothing").await;
    check("plain", "kill -9 $$", "", ErrorClass::Network, "plain was killed by signal 9").await;
    let login = "echo 'Not logged in. Run codex login' >&2; exit 1";
    let message = "codex exited with code 1: Not logged in. Run codex login; log in: run `codex login`";
    check("codex", login, "", ErrorClass::Authentication, message).await;
    let broke_off = "the answer of gemini broke off before its end";
    check("gemini", &format!("echo '{delta}'"), "A led", ErrorClass::Network, broke_off).await;
    let closed = format!("echo '{delta}'; exec 1>&-; exec sleep 60");
    check("gemini", &closed, "A led", ErrorClass::Network, broke_off).await;
    let page = "gemini gave no answer; it wrote: <html>Sign in</html>";
    check("gemini", "echo '<html>Sign in</html>'", "", ErrorClass::InvalidResponse, page).await;
    let trust = "echo 'The folder is new.' >&2; exit 55";
    let message = "gemini exited with code 55: The folder is new.";
    check("gemini", trust, "", ErrorClass::Validation, message).await;
    let limited = "echo '{\"type\":\"turn.failed\",\"error\":{\"message\":\"Rate limit reached\"}}'; exit 1";
    check("codex", limited, "", ErrorClass::RateLimit, "Rate limit reached").await;
}

#[tokio::test]
async fn d12_a_check_says_how_to_log_in() {
    let stage = Stage::new();
    let path = stage.executable("claude", "#!/bin/sh\necho '{ \"loggedIn\": false }'; exit 1\n");
    let program = Program { path, dialect: "claude".to_owned(), ..Program::default() };
    let voice = CommandProvider::new(program, None, PATIENT).unwrap();
    let message = "claude is not logged in; log in: run `claude`, then /login";
    let expected = ProviderError::new(ErrorClass::Authentication, message);
    assert_eq!(voice.check(&Participant::of("claude")).await, Err(expected));
}

#[tokio::test]
async fn f2_a_timeout_is_reported_with_the_programs_last_error() {
    let check = async |dialect: &str, script: &str, message: &str| {
        // Long enough for a shell to start on any machine.
        let (stage, timeouts) = (Stage::new(), Timeouts { first_ms: 5_000, idle_ms: 5_000 });
        let (_, end) = ask(stage.program(dialect, script), timeouts, call("?")).await;
        assert_eq!(end, Err(ProviderError::new(ErrorClass::Timeout, message)), "{script}");
        stage.is_empty_soon().await;
    };
    let retry = r#"{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"error_status":500,"error":"server_error"}"#;
    let told = "claude said nothing for 5.0 s: attempt 2 failed with status 500 (server_error)";
    let claude = format!("echo '{retry}'; exec sleep 60");
    let claude = check("claude", &claude, told);
    let retry = r#"{"type":"error","message":"Reconnecting... 2/5 (high demand)"}"#;
    let told = "codex said nothing for 5.0 s: Reconnecting... 2/5 (high demand)";
    let codex = format!("echo '{retry}'; exec sleep 60");
    let codex = check("codex", &codex, told);
    let script = "echo 'Attempt 1 failed with status 500' >&2; echo 'Loaded.' >&2; exec sleep 60";
    let gemini = check("gemini", script, "gemini said nothing for 5.0 s: Attempt 1 failed with status 500");
    tokio::join!(claude, codex, gemini);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let stage = Stage::new();
    stage.write("notes", "no program");
    let refused = async |path: PathBuf, message: String| {
        let program = Program { path, dialect: "claude".to_owned(), ..Program::default() };
        let expected = ProviderError::new(ErrorClass::Validation, message);
        let voice = CommandProvider::new(program.clone(), None, PATIENT).unwrap();
        assert_eq!(voice.check(&Participant::of("claude")).await, Err(expected.clone()));
        assert_eq!(answer(program).await, (String::new(), Err(expected)));
    };
    let (missing, notes) = (stage.path("claude"), stage.path("notes"));
    let not_found = format!("the program claude was not found at {}", missing.display());
    refused(missing, not_found).await;
    let not_run = format!("{} is not an executable file", notes.display());
    refused(notes, not_run).await;
    let nowhere = "quorum-has-no-such-program";
    refused(nowhere.into(), format!("the program {nowhere} was not found in PATH")).await;
}

/// Checks the text of a script that times out, and returns how long that took.
async fn too_late(script: &str, timeouts: Timeouts, text: &str, message: &str) -> Took {
    let stage = Stage::new();
    let watch = Stopwatch::start();
    // The prompt is larger than a pipe, so that it can't be written at once.
    let answered = ask(stage.program("plain", script), timeouts, call(&"word ".repeat(50_000))).await;
    let took = watch.took();
    assert_eq!(
        answered,
        (text.to_owned(), Err(ProviderError::new(ErrorClass::Timeout, message))),
        "{script}"
    );
    stage.is_empty_soon().await;
    took
}

#[tokio::test]
async fn f2_silence_is_noticed_in_time() {
    let timeouts = Timeouts { first_ms: 400, idle_ms: 200 };
    for script in [
        "exec sleep 60",
        "exec 1>&-; exec sleep 60",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
        r"while :; do printf '\007'; sleep 0.05; done",
    ] {
        let took = too_late(script, timeouts, "", "plain said nothing for 0.4 s").await;
        assert!(took.own < Duration::from_millis(400 + 200) + LATE, "{script}: {took:?}");
    }
    // How soon the first word comes depends on the machine.
    let timeouts = Timeouts { first_ms: 60_000, ..timeouts };
    too_late("echo One; exec sleep 60", timeouts, "One\n", "plain said nothing for 0.2 s").await;
}

/// A process that leaves the group can't be killed; it must not hold up the answer.
#[tokio::test]
async fn f2_a_pipe_that_stays_open_delays_no_answer() {
    let stage = Stage::new();
    let watch = Stopwatch::start();
    let (text, end) = answer(stage.program("plain", "setsid sleep 30 & sleep 0.1; echo Done.")).await;
    assert_eq!((text.as_str(), end.is_ok()), ("Done.\n", true));
    assert!(watch.took().all < Duration::from_secs(20), "{:?}", watch.took());
}

#[tokio::test]
async fn f7_a_flood_is_cut_at_a_cap() {
    let flood = async |dialect: &str, script: &str, message: &str| {
        let stage = Stage::new();
        let (text, end) = answer(stage.program(dialect, script)).await;
        assert_eq!(end, Err(ProviderError::new(ErrorClass::InvalidResponse, message)), "{script}");
        assert!(text.len() <= (16 << 20) + (16 << 10), "{}", text.len());
        stage.is_empty_soon().await;
    };
    flood("plain", "yes | head -c 1073741824", "plain wrote more than 16 MiB").await;
    flood("plain", "yes | head -c 1073741824 >&2", "plain wrote more than 16 MiB").await;
    let line = "a frame of the answer is larger than 2 MiB";
    flood("claude", "head -c 1073741824 /dev/zero", line).await;
}
