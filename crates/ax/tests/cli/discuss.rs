//! `ax discuss`, in success and in failure.

use serde_json::Value;

use crate::{newcomer::MARK, user::User};

#[test]
fn b09_the_seeds_examples_work_as_printed() {
    let user = User::new();
    for args in [
        &["discuss", "What's the best database for a real-time app?"][..],
        &["discuss", "Compare React vs Vue", "--providers", "claude,gemini"],
        &["discuss", "Microservices vs Monolith", "--pattern", "debate", "--rounds", "3"],
        &["discuss", "Best API style", "--pattern", "voting", "--options", "REST,GraphQL,gRPC"],
        &["discuss", "How to scale this?", "--context", "E-commerce, 1M users, Node.js"],
        &["discuss", "Explain quantum computing", "--verbose"],
        &["discuss", "Compare languages", "--json"],
    ] {
        let said = user.ax(args).ends(0).says(&["simulated", "Done in"]);
        assert!(!said.out.trim().is_empty(), "{args:?}");
    }
}

#[test]
fn every_pattern_and_method_comes_to_an_end() {
    let user = User::new();
    let listed = user.ax(&["patterns", "--json"]).ends(0).json();
    let names = |list: &str| -> Vec<String> {
        let list = listed[list].as_array().unwrap();
        list.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    for pattern in names("patterns") {
        let options: &[&str] =
            if ["voting", "settle"].contains(&pattern.as_str()) { &["-o", "tabs,spaces"] } else { &[] };
        let said =
            user.ax(&[&["discuss", "Tabs or spaces?", "--pattern", &pattern], options].concat()).ends(0);
        assert!(!said.out.trim().is_empty(), "{pattern}");
    }
    for method in names("consensus") {
        let args = ["discuss", "Tabs or spaces?", "--consensus", &method, "--synthesizer", "claude"];
        let said = user.ax(&args).ends(0);
        assert!(!said.out.trim().is_empty(), "{method}");
    }
}

#[test]
fn an_option_with_a_comma_could_not_be_voted_on() {
    let user = User::new();
    let voted_on = |options: &[&str]| -> Vec<String> {
        let args = ["discuss", "Which database?", "--pattern", "voting", "--json"];
        let result = user.ax(&[&args[..], options].concat()).json();
        result["votingResults"]["votes"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(voted_on(&["-o", "Postgres, managed", "-o", "SQLite"]), ["Postgres, managed", "SQLite"]);
    assert_eq!(voted_on(&["-o", "a,b,\"c, d\""]), ["a", "b", "c, d"]);
    assert_eq!(voted_on(&["--options", "a, b"]), ["a", "b"]);
}

#[test]
fn a_vote_that_was_taken_again_shows_the_first_one() {
    let user = User::new();
    let vote = ["discuss", "Best API style", "--pattern", "voting", "-o", "REST,GraphQL,gRPC"];
    let open = [&vote[..], &["--threshold", "1"]].concat();
    let result = user.ax(&[&open[..], &["--json"]].concat()).json();
    assert_eq!(result["rounds"].as_array().unwrap().len(), 2, "{result:#}");
    assert_eq!(result["firstVote"]["voteRecords"][0]["round"], 1, "{result:#}");
    assert_eq!(result["votingResults"]["voteRecords"][0]["round"], 2, "{result:#}");
    let said = user.ax(&open);
    assert!(said.out.contains("## First vote") && said.out.contains("## Votes"), "{said:#?}");
    for format in ["markdown", "html", "json"] {
        let exported = user.ax(&["export", "last", "--as", format]).ends(0);
        let title = if format == "json" { "firstVote" } else { "First vote" };
        assert!(exported.out.contains(title), "{format}");
    }
    let decided = user.ax(&[&vote[..], &["--threshold", "0", "--json"]].concat()).ends(0).json();
    assert_eq!((decided["rounds"].as_array().unwrap().len(), decided.get("firstVote")), (1, None));
}

#[test]
fn a_critique_shows_who_checked_its_answer() {
    let user = User::new();
    let critique = ["discuss", "How do we reduce on-call load?", "--pattern", "critique", "--json"];
    let result = user.ax(&critique).ends(0).json();
    assert!(result["check"]["ready"].is_boolean() && result["check"]["open"].is_array(), "{result:#}");
    assert_eq!(result["consensus"]["synthesizer"], "claude");
    let answer = result["synthesis"].as_str().unwrap();
    assert!(answer.contains("1. ") && !answer.contains("---"), "{answer}");
    let shown = user.ax(&["show", "last"]).ends(0);
    assert!(shown.out.contains("Checked by: "), "{}", shown.out);
}

#[test]
fn stdout_has_the_result_and_nothing_else() {
    let user = User::new();
    let result = user.result(&[]);
    let said = user.ax(&["discuss", "Tabs or spaces?"]).ends(0);
    let marked = format!("{MARK}{}", result["synthesis"].as_str().unwrap().trim());
    assert!(said.out.starts_with(&marked), "{said:#?}");
    for word in ["Done in", "is asked", "simulated:", "ax resume"] {
        assert!(!said.out.contains(word), "{word}");
    }
    assert!(!said.out.contains('\u{1b}') && !said.err.contains('\u{1b}'));
}

#[test]
fn s7_nothing_typed_or_said_moves_the_cursor() {
    let user = User::new();
    let topic = "\u{1b}[31mTabs\u{1b}]0;title\u{7} or \u{9b}2Jspaces\u{202e}?";
    let harmful = |text: &str| text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']);
    for args in [&["discuss", topic, "-v"][..], &["show", "last", "-v"], &["history"], &["history", "--json"]]
    {
        let said = user.ax(args).ends(0);
        assert!(said.out.contains("Tabs") && !harmful(&said.out) && !harmful(&said.err), "{said:#?}");
    }
    let said = user.ax(&["show", "last", "--json"]).ends(0);
    assert!(!harmful(&said.out));
    assert_eq!(said.json()["topic"], topic);
}

#[test]
fn progress_tells_who_is_asked_and_who_answered() {
    let said = User::new().ax(&["discuss", "Tabs or spaces?", "-p", "claude,gemini"]).ends(0);
    said.says(&[
        "claude is asked",
        "claude answered in",
        "gemini answered in",
        "Round 1",
        "Round 2",
        "Deciding",
    ]);
}

#[test]
fn verbose_prints_all_rounds_before_the_synthesis() {
    let out = User::new().ax(&["discuss", "Tabs or spaces?", "-v"]).ends(0).out;
    let places: Vec<usize> = ["# Tabs", "## Round 1", "### claude", "## Round 2", "## Synthesis"]
        .map(|it| out.find(it).unwrap())
        .into();
    assert!(places.is_sorted(), "{out}");
}

#[test]
fn b04_json_has_the_seeds_names_and_no_nulls() {
    let result = User::new().result(&["--pattern", "voting", "-o", "tabs,spaces"]);
    for field in [
        "success",
        "pattern",
        "topic",
        "participatingProviders",
        "failedProviders",
        "rounds",
        "synthesis",
        "consensus",
        "votingResults",
        "totalDurationMs",
        "metadata",
        "discussionId",
        "simulated",
        "integrity",
    ] {
        assert!(result.get(field).is_some(), "{field} is missing: {result:#}");
    }
    let response = &result["rounds"][0]["responses"][0];
    for field in ["provider", "content", "round", "timestamp", "durationMs"] {
        assert!(response.get(field).is_some(), "{field} is missing: {response:#}");
    }
    let costs = &result["metadata"]["costSummary"];
    for field in ["totalCalls", "totalTokens", "estimatedCostUsd", "byProvider"] {
        assert!(costs.get(field).is_some(), "{field} is missing: {costs:#}");
    }
    assert!(result["metadata"]["startedAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(result["simulated"], true);
    assert!(!has_null(&result), "{result:#}");
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[test]
fn the_same_seed_gives_the_same_discussion() {
    let user = User::new();
    let words = |seed: &str| {
        let result = user.result(&["--seed", seed]);
        let rounds = result["rounds"].as_array().unwrap().clone();
        let said = rounds.iter().flat_map(|round| round["responses"].as_array().unwrap().clone());
        said.map(|response| response["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(words("7"), words("7"));
    assert_ne!(words("7"), words("8"));
}

#[test]
fn piped_text_is_context_or_the_topic() {
    let user = User::new();
    user.ax_hearing(&["discuss", "What did we miss?"], "x".repeat(10_001))
        .ends(2)
        .says(&["standard input: with it the context has"]);
    user.ax_hearing(&["discuss", "What did we miss?"], "Some notes.").ends(0);
    let said = user.ax_hearing(&["discuss", "-", "--json"], "Tabs or spaces?\n").ends(0);
    assert_eq!(said.json()["topic"], "Tabs or spaces?");
}

#[test]
fn a_member_that_is_dead_is_left_out_and_named() {
    let said = User::new().ax(&["discuss", "q", "--json", "--simulate", "latency=0ms,dead=glm"]).ends(0);
    let result = said.json();
    assert_eq!(result["failedProviders"], serde_json::json!(["glm"]));
    assert_eq!(result["integrity"]["degraded"], true);
    said.says(&["glm", "Incomplete:"]);
}

#[test]
fn too_few_providers_is_exit_code_4() {
    let args = ["discuss", "q", "-p", "claude,glm", "--simulate", "latency=0ms,dead=glm"];
    let said = User::new().ax(&args).ends(4).says(&["glm"]);
    assert!(!said.err.contains("DISCUSSION_"), "in words and not in codes: {said:#?}");
    assert_eq!(said.err.matches("simulated outage").count(), 1, "told once: {said:#?}");
    let args = ["discuss", "q", "--stop-on-failure", "--simulate", "latency=0ms,dead=glm"];
    User::new().ax(&args).ends(4).says(&["glm"]);
}

#[test]
fn a_spent_budget_is_exit_code_5_with_the_partial_result() {
    let said = User::new().ax(&["discuss", "Tabs or spaces?", "--max-calls", "6"]).ends(5);
    assert!(!said.out.trim().is_empty(), "{said:#?}");
    said.says(&["\nThe budget of 6 calls is used up: "]);
}

#[test]
fn simulated_voices_are_known_to_be_free() {
    User::new()
        .ax(&["discuss", "Tabs or spaces?", "--max-cost", "0.01"])
        .ends(0)
        .says(&[" tokens, simulated."]);
}

#[test]
fn no_consensus_is_exit_code_6_only_where_it_is_required() {
    let user = User::new();
    let voting = ["discuss", "Tabs or spaces?", "--consensus", "unanimous", "--seed", "3"];
    let stubborn = ["--simulate", "latency=0ms,stubbornness=1"];
    let args: Vec<&str> = voting.into_iter().chain(stubborn).collect();
    let said = user.ax(&args).ends(0).says(&["Done in"]);
    assert!(!said.err.contains("DISCUSSION_"), "{said:#?}");
    assert!(!said.out.trim().is_empty());
    let args: Vec<&str> = args.into_iter().chain(["--require-consensus"]).collect();
    user.ax(&args).ends(6).says(&["No consensus"]);
    let args = ["--require-consensus", "--threshold", "1", "--simulate", "latency=0ms,stubbornness=1"];
    let said = user.ax(&[&["discuss", "Should we rewrite?"], &args[..]].concat()).ends(6);
    said.says(&["No consensus: there are no votes and no positions to measure agreement by."]);
    let vote = [
        "discuss",
        "Tabs or spaces?",
        "-o",
        "tabs,spaces",
        "--pattern",
        "voting",
        "--consensus",
        "synthesis",
    ];
    user.ax(&[&vote[..], &args[..]].concat()).ends(6).says(&["1.00 is required"]);
}

#[test]
fn a_dialogue_without_consensus_passed_for_one_that_agreed() {
    let user = User::new();
    let dialogue = ["discuss", "Tabs or spaces?", "--pattern", "dialogue", "-p", "claude,gemini", "-r", "1"];
    let stubborn = ["--simulate", "latency=0ms,stubbornness=1", "--seed", "3"];
    let args = [&dialogue[..], &stubborn[..]].concat();
    let said = user.ax(&args).ends(0);
    assert!(said.out.contains("No consensus: "), "{said:#?}");
    assert!(said.out.contains("## Summary without consensus"), "{said:#?}");
    user.ax(&[&args[..], &["--require-consensus"]].concat()).ends(6);
}

#[test]
fn roles_sessions_and_recursion_take_effect() {
    let user = User::new();
    user.ax(&["sessions", "create", "Indentation"]).ends(0);
    let roles = "gemini=proponent,claude=opponent,qwen=judge";
    let result = user.result(&[
        "--pattern",
        "debate",
        "--roles",
        roles,
        "-p",
        "claude,gemini,qwen",
        "--session",
        "Indentation",
    ]);
    let first = &result["rounds"][0]["responses"][0];
    assert_eq!((first["provider"].as_str(), first["role"].as_str()), (Some("claude"), Some("opponent")));
    assert!(result["metadata"]["sessionId"].is_string());
    assert!(result["verdict"].is_object());
    user.ax(&["discuss", "Tabs or spaces?", "--recursive", "--max-depth", "1", "--max-calls", "40"]).ends(0);
}

#[test]
fn version_and_help_need_nothing() {
    let user = User::new();
    std::fs::write(user.data(), "not a directory").unwrap();
    assert!(user.ax(&["--version"]).ends(0).out.starts_with("ax "));
    for verb in [
        "discuss", "resume", "pause", "stop", "abort", "history", "show", "export", "replay", "patterns",
        "sessions",
    ] {
        assert!(user.ax(&[verb, "--help"]).ends(0).out.contains("Example"), "{verb}");
    }
    user.ax(&["patterns"]).ends(0);
}
