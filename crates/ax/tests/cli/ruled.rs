//! A judge that fails, and the decision on who judges now, from any terminal.

use crate::user::User;

/// A debate whose judge is unavailable, waiting for a decision about that, by its id.
fn waiting(user: &User) -> String {
    waiting_with(user, "latency=0ms,dead=qwen")
}

fn waiting_with(user: &User, simulate: &str) -> String {
    let table = ["--pattern", "debate", "-p", "claude,glm,qwen", "--judge", "qwen", "--rounds", "3"];
    let judge = ["--judge-failure", "ask", "--simulate", simulate];
    let said = user.ax(&[&["discuss", "Tabs or spaces?"], &table[..], &judge[..]].concat()).ends(0);
    let how = [
        "Waiting for a decision about qwen (round 1)",
        "swap NAME`",
        ": claude, glm",
        " go-without`",
        " end`",
    ];
    said.says(&how).prints_nothing();
    let state = user.ax(&["show", "last", "--json"]).ends(0).says(&how).json();
    assert_eq!(state["judging"]["awaits"]["about"], "qwen", "{state:#}");
    state["discussionId"].as_str().unwrap().to_owned()
}

#[test]
fn d13_a_ruling_about_the_judge_works_across_processes() {
    for (word, judged, rounds) in
        [(&["swap", "glm"][..], Some("glm"), 3), (&["none"], None, 3), (&["end"], None, 1)]
    {
        let user = User::new();
        let id = waiting(&user);
        user.ax(&["resume", &id]).ends(0).says(&["Waiting for a decision about qwen", "ax judge"]);
        let said = user.ax(&[&["judge", &id], word, &["--json"]].concat()).ends(0);
        let result = said.json();
        assert_eq!(result["rounds"].as_array().unwrap().len(), rounds, "{word:?}: {result:#}");
        assert_eq!(result["success"], true, "{word:?}: {result:#}");
        let judge = result["judging"]["judgeChanges"][0]["to"].as_str();
        assert_eq!(judge, judged, "{word:?}: {result:#}");
        assert_eq!(speeches(&user, &id), 2 * rounds, "{word:?}: nobody has to speak again");
    }
}

/// The number of speeches made.
fn speeches(user: &User, id: &str) -> usize {
    let lines = user.ax(&["export", id, "--as", "jsonl"]).ends(0).out;
    let turns = lines.lines().filter(|it| it.contains("\"turn-completed\""));
    turns.filter(|it| it.contains("awaiting-responses")).count()
}

#[test]
fn f1_a_command_killed_after_a_ruling_continues_from_it() {
    let moments =
        ["glm judges in place of qwen", "glm answered", "Round 2, awaiting responses", "Round 2, judging"];
    for moment in moments {
        let user = User::new();
        let id = waiting_with(&user, "latency=60ms,dead=qwen");
        let mut running = user.begin(&["judge", &id, "swap", "glm"]);
        running.wait_for_line(moment);
        running.signal("-KILL");
        running.end();
        user.ax(&["judge", &id, "none"]).ends(2).says(&["no decision of the kind `judge` is awaited"]);
        let result = user.ax(&["resume", &id, "--json"]).ends(0).json();
        assert_eq!(result["judging"]["judgeChanges"].as_array().unwrap().len(), 1, "{moment}: {result:#}");
        let judged = result["judging"]["rounds"].as_array().unwrap();
        assert_eq!(judged.iter().filter(|it| it["judge"] == "glm").count(), 3, "{moment}: {result:#}");
        assert_eq!(speeches(&user, &id), 6, "{moment}: nobody has to speak again");
    }
}

#[track_caller]
fn refused(user: &User, id: &str, args: &[&str], expected: &str) {
    let before = user.ax(&["export", id, "--as", "jsonl"]).out;
    user.ax(&[&["judge", id], args].concat()).ends(2).says(&[expected]).prints_nothing();
    assert_eq!(user.ax(&["export", id, "--as", "jsonl"]).out, before, "{args:?}");
}

#[test]
fn d13_a_refused_ruling_changes_nothing() {
    let user = User::new();
    let id = waiting(&user);
    refused(&user, &id, &["swap", "qwen"], "qwen is not a candidate; candidates are claude, glm");
    refused(&user, &id, &["swap", "nobody"], "nobody is not a candidate");
    refused(&user, &id, &["swap"], "ax judge ID swap NAME");
    refused(&user, &id, &["none", "glm"], "go-without takes no name");
    refused(&user, &id, &["perhaps"], "invalid value 'perhaps'");
    user.ax(&["judge", "ffff", "end"]).ends(2).says(&["there is no discussion"]);
    user.ax(&["say", &id, "I judge."]).ends(2).says(&["has no person on its panel"]);
    user.ax(&["judge", &id, "end"]).ends(0).says(&["The talk ends after round 1: the judge failed"]);
    refused(&user, &id, &["none"], "is over");
    let asked = ["discuss", "q", "--participants", "claude,gemini,me:person", "--pattern", "roundtable"];
    user.ax(&asked).ends(0).says(&["Waiting for me"]);
    refused(&user, "last", &["none"], "no decision of the kind `judge` is awaited");
}
