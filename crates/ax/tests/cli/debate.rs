//! Debates and forks through the command line: every format finishes, and errors are reported
//! before any call is made.

use serde_json::Value;

use crate::user::User;

const TABLE: [&str; 4] = ["--pattern", "debate", "-p", "claude,glm,qwen"];

#[track_caller]
fn debated(user: &User, args: &[&str]) -> Value {
    user.result(&[&TABLE[..], args].concat())
}

#[test]
fn d03_every_format_and_mode_comes_to_its_end() {
    let user = User::new();
    for (format, limit) in [
        ("structured-rounds", &[][..]),
        ("free-form", &["--round-limit", "4"]),
        ("round-limited", &["--round-limit", "3"]),
        ("convergence-seeking", &["--round-limit", "4"]),
    ] {
        for mode in ["sequential", "simultaneous"] {
            let flags = ["--debate-format", format, "--mode", mode];
            let result = debated(&user, &[&flags[..], limit].concat());
            assert_eq!(result["success"], true, "{format} {mode}: {result:#}");
            assert!(result["verdict"]["winner"].is_object(), "{format} {mode}: {result:#}");
            let judged = result["judging"]["rounds"].as_array().unwrap();
            let names: Vec<&str> = judged[0]["assessments"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["participant"].as_str().unwrap())
                .collect();
            assert_eq!(names, ["glm", "qwen"], "claude judges and writes");
            if format == "round-limited" {
                assert_eq!((judged.len(), result["rounds"].as_array().unwrap().len()), (3, 3));
            }
        }
    }
}

#[test]
fn d05_positions_are_given_or_assigned() {
    let user = User::new();
    for casting in ["binary", "spectrum", "multi-perspective"] {
        let result = debated(&user, &["--casting", casting]);
        assert_eq!(result["positions"]["origin"], "assigned", "{casting}: {result:#}");
    }
    let result = debated(&user, &[]);
    assert_eq!(result["positions"]["spread"], "binary", "by default: {result:#}");
    let result = debated(&user, &["--no-casting"]);
    assert_eq!(result.get("positions"), None, "{result:#}");
    let file = user.write(
        "positions.json",
        r#"[{"participant": "anthropic", "position": "Tabs.", "persona": "A typist"}, {"participant": "glm", "position": "Spaces."}]"#,
    );
    let result = debated(&user, &["--positions", &file]);
    assert_eq!(result["positions"]["origin"], "given");
    assert_eq!(result["positions"]["parts"][0]["participant"], "claude");
}

#[test]
fn d06_judging_is_shown() {
    let user = User::new();
    let result = debated(&user, &["--swap-check", "--judge", "claude"]);
    assert!(result["judging"]["swapChecked"].as_u64() >= Some(2), "{result:#}");
    let out = user.ax(&["show", "last", "-v"]).ends(0).out;
    assert!(out.contains("## Judging") && out.contains("\n| 1 | claude | glm | "), "{out}");
    let document = user.ax(&["export", "last"]).ends(0).out;
    assert!(document.contains("## Judging"), "{document}");
}

#[test]
fn bad_orders_are_refused_before_anything_is_asked() {
    let user = User::new();
    let wrong = user.write("wrong.json", r#"{"participant": "claude"}"#);
    let typo =
        user.write("typo.json", r#"[{"participant": "claude", "position": "Tabs.", "person": "A typist"}]"#);
    let lacking = user.write("lacking.json", r#"[{"participant": "claude"}]"#);
    let one = user.write("one.json", r#"[{"participant": "claude", "position": "Tabs."}]"#);
    for (args, expected) in [
        (
            &["--debate-format", "round-limited"][..],
            "--round-limit: a round-limited debate needs a round limit",
        ),
        (
            &["--debate-format", "free-form", "--round-limit", "1001"],
            "--round-limit: must be from 1 to 1000, not 1001",
        ),
        (&["--round-limit", "3"], "leave the round limit out"),
        // Ten rounds were planned silently.
        (
            &["--debate-format", "convergence-seeking", "-r", "3"],
            "--rounds: a convergence-seeking debate takes no number of rounds; give the round limit instead",
        ),
        (&["--debate-format", "loud"], "structured-rounds"),
        (&["--judge", "grok"], "--judge: grok does not take part; the participants are claude, glm, qwen"),
        (&["--judge-failure", "cry"], "go-without"),
        (&["--end-on", "boredom"], "repetition"),
        (&["--embeddings", "acme"], "--embeddings: must have the form provider/model, not \"acme\""),
        (&["--embeddings", "acme/e-1"], "--embeddings: no provider has the embedding model acme/e-1"),
        (&["--positions", &one], "there are 2 debaters and 1 positions"),
        (&["--positions", &wrong], "is not a JSON list"),
        (&["--positions", &lacking], "has a row without position"),
        (
            &["--positions", &typo],
            "has an unknown key \"person\"; a row has participant, position, persona, keyArguments",
        ),
        (&["--positions", "nowhere.json"], "there is no such file"),
        (&["--positions", &one, "--casting", "binary"], "so none can be assigned"),
        (&["--no-casting", "--casting", "binary"], "--no-casting: contradicts casting"),
    ] {
        user.ax(&[&["discuss", "q"], &TABLE[..], args].concat()).ends(2).says(&[expected]).prints_nothing();
    }
    let said = user.ax(&["discuss", "q", "--judge", "claude", "--swap-check"]).ends(2);
    said.says(&[
        "--judge: applies only to the pattern debate",
        "--swap-check: applies only to the pattern debate",
    ]);
    assert_eq!(user.ax(&["history", "--json"]).ends(0).out.trim(), "[]");
}

fn speeches(result: &Value) -> Vec<Value> {
    let rounds = result["rounds"].as_array().unwrap().iter();
    let all = rounds.flat_map(|round| round["responses"].as_array().unwrap().clone());
    all.filter(|it| it["phase"] == "awaiting-responses").map(|it| it["content"].clone()).collect()
}

#[test]
fn d06_several_judges_use_custom_criteria() {
    let user = User::new();
    let criteria = ["--evaluation-criteria", "Cost, honestly stated", "--evaluation-criteria", "Risk"];
    let table =
        ["--pattern", "debate", "-p", "claude,glm,qwen,gemini,mistral", "--judges", "qwen,google,mistral"];
    let result = user.result(&[&table[..], &criteria].concat());
    let round = &result["judging"]["rounds"][0];
    assert_eq!(round["judge"], "qwen, gemini, mistral");
    let marks = round["assessments"][0]["criteria"].as_object().unwrap();
    assert_eq!(marks.keys().collect::<Vec<_>>(), ["Cost, honestly stated", "Risk"]);
    assert_eq!(result["verdict"]["winners"].as_array().unwrap().len(), 3);
    let args = [&["discuss", "Tabs or spaces?", "--offline"], &table[..], &criteria].concat();
    let said = user.ax(&args).ends(0);
    assert!(
        said.out.contains("On the judging") && said.out.contains("The judges disagree by up to"),
        "{said:#?}"
    );
}

#[test]
fn d15_a_fork_with_another_judge_keeps_the_turns_up_to_its_point() {
    let user = User::new();
    let limited = ["--debate-format", "round-limited", "--round-limit", "2"];
    let past = debated(&user, &[&limited[..], &["--judge", "qwen"]].concat());
    let id = past["discussionId"].as_str().unwrap();
    let planned = ["fork", id, "--at", "1/awaiting-responses/glm", "--judge", "mistral", "--dry-run"];
    let said = user.ax(&planned).ends(0).says(&["No model was asked, and nothing was recorded."]);
    assert!(
        said.out.contains("2 answers of the original kept, 6 questions asked again at most"),
        "{said:#?}"
    );
    let args = ["fork", id, "--at", "2/awaiting-responses/claude", "--judge", "mistral", "--json"];
    let said = user.ax(&args).ends(0).says(&["4 answers reused from", "answered this before"]);
    let fork = said.json();
    assert_eq!(speeches(&fork), speeches(&past));
    let calls = |name: &str| fork["metadata"]["costSummary"]["byProvider"][name]["calls"].as_u64();
    // The new judge writes the answer, too.
    assert_eq!((calls("claude"), calls("glm")), (Some(0), Some(0)), "{fork:#}");
    assert_eq!(fork["positions"], past["positions"], "the speeches were made in them");
    assert_eq!(fork["judging"]["rounds"][0]["judge"], "mistral");
    assert_ne!(fork["discussionId"], past["discussionId"]);
}

#[test]
fn d15_a_fork_that_names_the_same_judge_changes_nothing() {
    let user = User::new();
    let past = debated(&user, &["--rounds", "1", "--judge", "qwen"]);
    let id = past["discussionId"].as_str().unwrap();
    user.ax(&["fork", id, "--at", "1/awaiting-responses/glm", "--judge", "qwen"])
        .ends(2)
        .says(&["nothing is changed, so every answer would be the same"]);
}

#[test]
fn d15_a_fork_may_drop_a_participant_or_change_the_pattern() {
    let user = User::new();
    let id = user.result(&["--rounds", "1"])["discussionId"].as_str().unwrap().to_owned();
    let at = user
        .ax(&["fork", &id, "--at", "nowhere"])
        .ends(2)
        .says(&["--at: there is no answer at step nowhere"]);
    let step = at.err.split("there are ").nth(1).unwrap().split(',').next().unwrap().trim().to_owned();
    let fork = user.ax(&["fork", &id, "--at", &step, "--drop", "glm", "--json"]).ends(0).json();
    assert_eq!(fork["participatingProviders"].as_array().unwrap().len(), 3, "{fork:#}");
    user.ax(&["fork", &id, "--at", &step, "--pattern", "debate", "--rounds", "2"]).ends(0);
    let fork = user.ax(&["fork", &id, "--at", &step, "--drop", "google", "--json"]).ends(0).json();
    assert!(!fork["participatingProviders"].as_array().unwrap().contains(&"gemini".into()), "{fork:#}");
    user.ax(&["fork", &id, "--at", &step, "--drop", "grok"])
        .ends(2)
        .says(&["--drop: grok does not take part"]);
    user.ax(&["fork", "ffff", "--at", &step]).ends(2).says(&["there is no discussion"]);
}

#[test]
fn d15_a_fork_whose_judge_went_by_another_name_got_the_wrong_one() {
    let user = User::new();
    let past = debated(&user, &["--rounds", "1", "--judge", "qwen"]);
    let id = past["discussionId"].as_str().unwrap();
    let at = "1/awaiting-responses/glm";
    let fork = user.ax(&["fork", id, "--at", at, "--judge", "google", "--json"]).ends(0).json();
    assert_eq!(fork["judging"]["rounds"][0]["judge"], "gemini", "{fork:#}");
    assert_eq!(speeches(&fork), speeches(&past));
    let fork = user.ax(&["fork", id, "--at", at, "--judge", "anthropic", "--json"]).ends(0).json();
    assert_eq!(fork["judging"]["rounds"][0]["judge"], "claude", "{fork:#}");
}

#[test]
fn d01_a_stopped_debate_has_its_verdict() {
    let user = User::new();
    let table =
        ["--participants", "claude,me:person,qwen", "--roles", "claude=proponent,me=opponent,qwen=judge"];
    user.ax(&[&["discuss", "Tabs or spaces?", "--pattern", "debate"], &table[..]].concat()).ends(0);
    let result = user.ax(&["stop", "last", "--json"]).ends(0).json();
    assert_eq!((&result["stoppingReason"], &result["status"]), (&"user_stop".into(), &"completed".into()));
    assert!(result["verdict"]["summary"].is_string(), "{result:#}");
}
