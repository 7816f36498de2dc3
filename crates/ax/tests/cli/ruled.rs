//! A judge that fails, and the decision on who judges now, from any terminal.

use crate::desk::Desk;

/// A debate whose judge is unavailable, waiting for a decision about that, by its id.
fn waiting(desk: &Desk) -> String {
    waiting_with(desk, "latency=0ms,dead=qwen")
}

fn waiting_with(desk: &Desk, simulate: &str) -> String {
    let table = ["--pattern", "debate", "-p", "claude,glm,qwen", "--judge", "qwen", "--rounds", "3"];
    let judge = ["--judge-failure", "ask", "--simulate", simulate];
    let said = desk.ax(&[&["discuss", "Tabs or spaces?"], &table[..], &judge[..]].concat()).ends(0);
    let how = [
        "Waiting for a decision about qwen (round 1)",
        "swap NAME`",
        ": claude, glm",
        " go-without`",
        " end`",
    ];
    said.says(&how).prints_nothing();
    let state = desk.ax(&["show", "last", "--json"]).ends(0).says(&how).json();
    assert_eq!(state["judging"]["awaits"]["about"], "qwen", "{state:#}");
    state["discussionId"].as_str().unwrap().to_owned()
}

#[test]
fn d13_a_ruling_about_the_judge_works_across_processes() {
    for (word, judged, rounds) in
        [(&["swap", "glm"][..], Some("glm"), 3), (&["none"], None, 3), (&["end"], None, 1)]
    {
        let desk = Desk::new();
        let id = waiting(&desk);
        desk.ax(&["resume", &id]).ends(0).says(&["Waiting for a decision about qwen", "ax judge"]);
        let said = desk.ax(&[&["judge", &id], word, &["--json"]].concat()).ends(0);
        let result = said.json();
        assert_eq!(result["rounds"].as_array().unwrap().len(), rounds, "{word:?}: {result:#}");
        assert_eq!(result["success"], true, "{word:?}: {result:#}");
        let judge = result["judging"]["judgeChanges"][0]["to"].as_str();
        assert_eq!(judge, judged, "{word:?}: {result:#}");
        assert_eq!(speeches(&desk, &id), 2 * rounds, "{word:?}: nobody has to speak again");
    }
}

/// The number of speeches made.
fn speeches(desk: &Desk, id: &str) -> usize {
    let lines = desk.ax(&["export", id, "--as", "jsonl"]).ends(0).out;
    let turns = lines.lines().filter(|it| it.contains("\"turn-completed\""));
    turns.filter(|it| it.contains("awaiting-responses")).count()
}

#[test]
fn f1_a_command_killed_after_a_ruling_continues_from_it() {
    let moments =
        ["glm judges in place of qwen", "glm answered", "Round 2, awaiting responses", "Round 2, judging"];
    for moment in moments {
        let desk = Desk::new();
        let id = waiting_with(&desk, "latency=60ms,dead=qwen");
        let mut running = desk.begin(&["judge", &id, "swap", "glm"]);
        running.hear(moment);
        running.signal("-KILL");
        running.end();
        desk.ax(&["judge", &id, "none"]).ends(2).says(&["no decision of the kind `judge` is awaited"]);
        let result = desk.ax(&["resume", &id, "--json"]).ends(0).json();
        assert_eq!(result["judging"]["judgeChanges"].as_array().unwrap().len(), 1, "{moment}: {result:#}");
        let judged = result["judging"]["rounds"].as_array().unwrap();
        assert_eq!(judged.iter().filter(|it| it["judge"] == "glm").count(), 3, "{moment}: {result:#}");
        assert_eq!(speeches(&desk, &id), 6, "{moment}: nobody has to speak again");
    }
}

#[track_caller]
fn refused(desk: &Desk, id: &str, args: &[&str], expected: &str) {
    let before = desk.ax(&["export", id, "--as", "jsonl"]).out;
    desk.ax(&[&["judge", id], args].concat()).ends(2).says(&[expected]).prints_nothing();
    assert_eq!(desk.ax(&["export", id, "--as", "jsonl"]).out, before, "{args:?}");
}

#[test]
fn d13_a_refused_ruling_changes_nothing() {
    let desk = Desk::new();
    let id = waiting(&desk);
    refused(&desk, &id, &["swap", "qwen"], "qwen is not a candidate; candidates are claude, glm");
    refused(&desk, &id, &["swap", "nobody"], "nobody is not a candidate");
    refused(&desk, &id, &["swap"], "ax judge ID swap NAME");
    refused(&desk, &id, &["none", "glm"], "go-without takes no name");
    refused(&desk, &id, &["perhaps"], "invalid value 'perhaps'");
    desk.ax(&["judge", "ffff", "end"]).ends(2).says(&["there is no discussion"]);
    desk.ax(&["say", &id, "I judge."]).ends(2).says(&["has no person on its panel"]);
    desk.ax(&["judge", &id, "end"]).ends(0).says(&["The talk ends after round 1: the judge failed"]);
    refused(&desk, &id, &["none"], "is over");
    let asked = ["discuss", "q", "--participants", "claude,gemini,me:person", "--pattern", "roundtable"];
    desk.ax(&asked).ends(0).says(&["Waiting for me"]);
    refused(&desk, "last", &["none"], "no decision of the kind `judge` is awaited");
}
