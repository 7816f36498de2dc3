//! Recovery, and messages about it: retries, starting over, logs, and warnings about flags that do
//! nothing.

use rusqlite::Connection;
use serde_json::Value;

use crate::user::User;

/// Every reply of these voices fails in a way that may pass.
const FAILING: &str = "latency=0ms,failure=1";

fn id_of(user: &User) -> String {
    user.ax(&["show", "last", "--json"]).json()["discussionId"].as_str().unwrap().to_owned()
}

#[test]
fn a_discussion_that_lost_its_providers_is_retried_by_resume_and_started_over_by_again() {
    let user = User::new();
    let ask = ["discuss", "Tabs or spaces?", "-p", "claude,gemini", "--rounds", "1", "--timeout", "5000"];
    user.ax(&[&ask[..], &["--simulate", FAILING, "--budget", "20s"]].concat())
        .ends(4)
        .says(&["` retries it and keeps every answer."]);
    let id = id_of(&user);
    assert_eq!(user.ax(&["show", &id, "--json"]).json()["status"], "error");
    user.ax(&["resume", &id]).ends(4).says(&["Retrying: claude, gemini take part again; 0 answers kept."]);
    let before = user.ax(&["export", &id, "--as", "jsonl"]).out;

    let again = ["discuss", "--again", &id, "--simulate", "latency=0ms", "--json"];
    let over = user.ax(&again).ends(0).json();
    assert_eq!((&over["success"], &over["topic"]), (&Value::Bool(true), &"Tabs or spaces?".into()));
    assert_ne!(over["discussionId"], id.as_str());
    assert_eq!(user.ax(&["export", &id, "--as", "jsonl"]).out, before, "the old record is untouched");
}

#[test]
fn an_aborted_discussion_is_started_over_by_again() {
    let user = User::new();
    user.ax(&["discuss", "q", "--participants", "claude,gemini,me:person", "--pattern", "roundtable"])
        .ends(0);
    let id = id_of(&user);
    user.ax(&["abort", &id]).ends(0);
    let before = user.ax(&["export", &id, "--as", "jsonl"]).out;
    user.ax(&["discuss", "--again", &id]).ends(0).says(&["Waiting for me"]);
    assert_ne!(id_of(&user), id);
    assert_eq!(user.ax(&["export", &id, "--as", "jsonl"]).out, before);
}

#[test]
fn inv_disc_301_inv_disc_015_traces_are_visible_as_text_or_json() {
    let ask = ["discuss", "Tabs or spaces?", "-p", "claude,gemini", "--rounds", "1", "--quiet"];
    let names = |said: &str, name: &dyn Fn(&str) -> String| -> Vec<String> {
        said.lines().map(name).filter(|it| it.starts_with("discussion.")).collect()
    };
    let (round, response) = (["discussion.round.start", "discussion.round.end"], "discussion.response");
    let expected = ["discussion.start", round[0], response, response, round[1], response, "discussion.end"];
    let json = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["event"].as_str().unwrap().to_owned()
    };
    let flag = User::new().ax(&[&ask[..], &["--log", "json"]].concat()).ends(0);
    assert_eq!(names(&flag.err, &json), expected, "{}", flag.err);
    let text = |line: &str| line.split_whitespace().nth(2).unwrap_or_default().to_owned();
    let variable = User::new().with("AX_LOG", "text").ax(&ask).ends(0);
    assert_eq!(names(&variable.err, &text), expected, "{}", variable.err);
    let response = variable.err.lines().find(|it| it.contains("discussion.response")).unwrap();
    assert!(response.contains(" participant=") && response.contains(" tokens="), "{response}");
    User::new().with("AX_LOG", "loud").ax(&ask).ends(2).says(&["AX_LOG must be text or json, not loud"]);
}

#[test]
fn json_did_not_say_which_person_is_awaited() {
    let user = User::new();
    let table = ["--participants", "claude,gemini,me:person", "--pattern", "roundtable", "--json"];
    let said = user.ax(&[&["discuss", "What shall we build?"], &table[..]].concat()).ends(0).json();
    let awaited = serde_json::json!([{ "participant": "me", "round": 1, "phase": "speaking" }]);
    assert_eq!(said["awaiting"], awaited, "{said:#}");
}

#[test]
fn a_fork_without_a_change_is_refused() {
    let user = User::new();
    let id =
        user.result(&["--rounds", "1", "-p", "claude,gemini"])["discussionId"].as_str().unwrap().to_owned();
    let step = "1/answering/claude";
    for dry in [&["--dry-run"][..], &[]] {
        let fork = [&["fork", &id, "--at", step], dry].concat();
        user.ax(&fork).ends(2).says(&["nothing is changed, so every answer would be the same"]);
    }
    user.ax(&["fork", &id, "--at", step, "--rounds", "2"]).ends(0);
}

#[test]
fn flags_without_effect_are_warned_about() {
    let user = User::new();
    let check = |args: &[&str], expected: &str| {
        let ask = [&["discuss", "q", "--dry-run"], args].concat();
        user.ax(&ask).ends(0).says(&[expected]);
    };
    check(
        &["-o", "tabs,spaces", "--no-first"],
        "warning: --options: no effect: neither the pattern synthesis nor the method synthesis votes on options",
    );
    check(&["--roles", "claude=opponent"], "warning: --roles: no effect: the pattern synthesis has no roles");
    check(
        &["--pattern", "dialogue", "-p", "claude,gemini", "-r", "2", "--min-rounds-before-consensus", "3"],
        "warning: --min-rounds-before-consensus: 3 rounds come before the first check, and there are at most 2",
    );
    check(
        &["--pattern", "debate", "--temperature", "1.5"],
        "warning: --temperature: debaters speak at 0.7 to 0.9, so 1.5 becomes 0.9",
    );
    check(&["--threshold", "0.7"], "warning: --threshold: no effect: the method synthesis counts no votes");
    check(
        &["--consensus", "unanimous", "--threshold", "0.7"],
        "warning: --threshold: no effect: unanimity takes every vote",
    );
    check(
        &["--pattern", "voting", "-o", "a,b", "--consensus", "majority", "--synthesis-prompt", "In verse."],
        "warning: --synthesis-prompt: no effect: votes on options decide, and no synthesis is written",
    );
    check(
        &["--baseline", "single"],
        "warning: --baseline: no effect: there are no first answers to compare with",
    );
    check(&["--weights", "learned"], "warning: --weights: no effect: the method synthesis counts no votes");
    let settle = ["--pattern", "settle", "-o", "a,b", "--no-first"];
    check(&settle, "warning: --no-first: no effect: the first answers are the first round");
    let silent = |args: &[&str]| {
        let said = user.ax(&[&["discuss", "q", "--dry-run"], args].concat()).ends(0);
        assert!(!said.err.contains("warning"), "{args:?}: {}", said.err);
    };
    silent(&["--pattern", "voting", "-o", "a,b"]);
    // It measures the required consensus, and decides whether a vote has another round.
    silent(&["--threshold", "0.7", "--require-consensus"]);
    let vote = ["--pattern", "voting", "-o", "a,b", "--threshold", "0.7", "--consensus", "synthesis"];
    silent(&[&vote[..], &["-r", "2"]].concat());
    check(
        &[&vote[..], &["-r", "1"]].concat(),
        "--threshold: no effect: the method synthesis counts no votes",
    );
}

#[test]
fn a_temperature_lowered_for_ones_own_provider_is_warned_about() {
    let user = User::new();
    let provider = |name: &str, wire: &str| {
        format!("[providers.{name}]\nwire = '{wire}'\nbase_url = 'http://127.0.0.1:9/v1'\nmodel = 'm'\n")
    };
    user.configure(&(provider("alpha", "anthropic") + &provider("beta", "openai-chat")));
    user.ax(&["discuss", "q", "-p", "alpha,beta", "--temperature", "1.5", "--dry-run"])
        .ends(0)
        .says(&["warning: --temperature: alpha takes at most 1, so 1.5 is lowered for it"]);
}

#[test]
fn the_prompts_of_participants_and_the_synthesis_have_flags() {
    let user = User::new();
    let prompts =
        ["--provider-prompts", "claude=Be brief, please.", "--provider-prompts", "gemini=Be = bold."];
    let others = ["--synthesis-prompt", "In verse.", "--min-synthesis", "20s", "-p", "claude,gemini"];
    user.ax(&[&["discuss", "q", "--rounds", "1"], &prompts[..], &others].concat()).ends(0);
    let raw = Connection::open(user.database()).unwrap();
    let sql = "SELECT body ->> '$.spec.participants[0].brief', body ->> '$.spec.participants[1].brief',
               body ->> '$.spec.settings.synthesisPrompt', body ->> '$.spec.timing.reserve_ms'
               FROM facts WHERE type = 'opened'";
    let row = |row: &rusqlite::Row<'_>| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get(3)?))
    };
    let (claude, gemini, synthesis, reserve_ms): (String, String, String, i64) =
        raw.query_row(sql, [], row).unwrap();
    assert_eq!((&*claude, &*gemini), ("Be brief, please.", "Be = bold."));
    assert_eq!((&*synthesis, reserve_ms), ("In verse.", 20_000));
}
