//! The pattern as users meet it: on the command line, in the library, and killed at every write.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::process::Command;

use quorum::{Quorum, Request, model::id::Tenant};
use serde_json::{Value, json};

fn delphi() -> Command {
    Command::new(env!("CARGO_BIN_EXE_delphi"))
}

fn run(folder: &std::path::Path, arguments: &[&str]) -> (bool, String) {
    let mut command = delphi();
    command.env_clear().env("HOME", folder).env("AX_DATA_DIR", folder).args(arguments);
    command.envs(quorum_testkit::coverage::profile());
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[tokio::test(start_paused = true)]
async fn it_survives_a_kill_at_every_write() {
    let deaths =
        quorum_testkit::kill::survives(quorum::built_in().with_patterns([&delphi::PATTERN]), "delphi").await;
    assert!(deaths > 5, "it was killed only {deaths} times");
}

#[tokio::test(start_paused = true)]
async fn estimates_are_made_blind_and_end_when_they_are_stable() {
    let quorum = Quorum::builder().pattern(&delphi::PATTERN).simulated().build().unwrap();
    let scope = quorum.scope(Tenant::default(), "ann");
    let mut request = Request::on("How many days will the migration take?");
    request.pattern = Some("delphi".to_owned());
    request.settings.insert("stability".to_owned(), json!(0.9));
    let (_, handle) = scope.start(scope.check(&request).unwrap()).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert_eq!(outcome.ended.map(|it| it.why), Some("stable".to_owned()));
    let estimates = outcome.fields.get("estimates").and_then(Value::as_array).map_or(0, Vec::len);
    assert!(estimates >= 8, "{estimates}");
    assert!(outcome.synthesis.contains("the middle half"), "{}", outcome.synthesis);
}

#[test]
fn the_option_has_a_flag_with_help_bounds_and_a_place_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (_, help) = run(folder.path(), &["discuss", "--help"]);
    assert!(help.contains("--stability") && help.contains("Stop when the spread changes"), "{help}");
    let (done, refused) =
        run(folder.path(), &["discuss", "How many?", "--offline", "--pattern", "delphi", "--stability", "2"]);
    assert!(!done && refused.contains("--stability") && refused.contains("from 0 to 1"), "{refused}");
    let (done, misplaced) = run(folder.path(), &["discuss", "How many?", "--offline", "--stability", "0.5"]);
    assert!(!done && misplaced.contains("delphi"), "{misplaced}");
}

#[test]
fn the_example_build_shows_a_discussions_result() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["discuss", "How many?", "--offline", "--pattern", "delphi", "--json"];
    let (done, text) =
        run(folder.path(), &[&arguments[..], &["--simulate", "latency=0ms", "--quiet"]].concat());
    assert!(done, "{text}");
    let (_, shown) = run(folder.path(), &["show", "last", "--verbose"]);
    assert!(shown.contains("Estimates"), "{shown}");
}
