//! Stored discussions: export, replay, `--again`, and the stream of events.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::user::User;

/// The JSON lines after the first, which names their schema.
#[track_caller]
fn events(text: &str) -> Vec<Value> {
    let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(lines.next(), Some(json!({ "schema": "quorum.events", "version": 1 })));
    lines.collect()
}

/// The lines that are the same in every run: ids and times are in headings and lines of our own.
fn without_chance(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with(['>', '|', '-'])).collect()
}

#[test]
fn d15_a_markdown_export_has_everything_in_order() {
    let user = User::new();
    user.ax(&[
        "discuss",
        "Tabs or spaces?",
        "--pattern",
        "voting",
        "-o",
        "tabs,spaces",
        "-c",
        "We are three.",
    ])
    .ends(0);
    let text = user.ax(&["export", "last"]).ends(0).out;
    let places: Vec<usize> = [
        "# Tabs or spaces?",
        "Simulated:",
        "## Synthesis",
        "## Votes",
        "## Participants",
        "## Background",
        "## Round 1",
        "### claude (",
        "## Cost",
        "ax replay",
    ]
    .map(|it| text.find(it).unwrap_or_else(|| panic!("{it} is not in {text}")))
    .into();
    assert!(places.is_sorted(), "{text}");
    assert_eq!(user.ax(&["export", "last", "--as", "md", "-o", "-"]).ends(0).out, text);
    assert_eq!(user.ax(&["show", "last", "--output-format", "md"]).ends(0).out, text);
}

#[test]
fn the_same_seed_is_the_same_document() {
    let document = || {
        let args = ["discuss", "Tabs or spaces?", "--seed", "5", "--output-format", "md"];
        User::new().ax(&args).ends(0).out
    };
    let (one, other) = (document(), document());
    assert_eq!(without_chance(&one), without_chance(&other));
}

#[test]
fn d15_a_json_export_is_the_result_document() {
    let user = User::new();
    let result = user.result(&[]);
    assert_eq!(user.ax(&["export", "last", "--as", "json"]).ends(0).json(), result);
}

#[test]
fn d15_the_ending_of_an_exported_file_sets_its_format() {
    let user = User::new();
    user.ax(&["discuss", "Tabs <or> spaces?"]).ends(0);
    for (name, begins) in [
        ("a.html", "<!doctype html>"),
        ("a.md", "# Tabs"),
        ("a.json", "{"),
        ("a.jsonl", "{\"schema\""),
        ("a.markdown", "# Tabs"),
        ("a", "# Tabs"),
    ] {
        let file = user.data().join(name);
        let file = file.to_str().unwrap();
        user.ax(&["export", "last", "-o", file]).ends(0).says(&["Wrote", name]).prints_nothing();
        assert!(fs::read_to_string(file).unwrap().starts_with(begins), "{name}");
    }
    let page = user.ax(&["export", "last", "--as", "html"]).ends(0).out;
    assert!(page.contains("<title>Tabs &lt;or&gt; spaces?</title>") && !page.contains("<script"));
}

#[test]
fn an_impossible_export_is_refused() {
    let user = User::new();
    user.ax(&["export", "last"]).ends(2).says(&["no discussions yet"]).prints_nothing();
    user.ax(&["discuss", "q"]).ends(0);
    user.ax(&["export", "ffffff"]).ends(2).says(&["there is no discussion"]).prints_nothing();
    let unknown = "01890000-0000-7000-8000-000000000000";
    user.ax(&["export", unknown]).ends(2).says(&["there is no discussion", unknown]).prints_nothing();
    user.ax(&["export", "last", "--as", "markdwon"]).ends(2).says(&["markdwon", "similar", "'markdown'"]);
    let file = user.data().join("nowhere").join("a.md");
    let file = file.to_str().unwrap();
    user.ax(&["export", "last", "-o", file]).ends(2).says(&[file, "can't write"]).prints_nothing();
}

#[test]
fn files_of_unknown_kinds_are_not_written() {
    let user = User::new();
    user.ax(&["discuss", "q"]).ends(0);
    let said = user.ax(&["export", "last", "-o", "x.pdf"]).ends(2).prints_nothing();
    let expected = "error: --output: no format has the extension .pdf; there are .md, .html, .json, .jsonl, or \
                    name the format with --as\n";
    assert_eq!(said.err, expected);
    assert!(!user.home().join("x.pdf").exists());
    user.ax(&["export", "last", "-o", "x.pdf", "--as", "html"]).ends(0).says(&["Wrote x.pdf"]);
}

#[test]
fn d15_a_replay_prints_the_recorded_turns() {
    let user = User::new();
    let then = user.ax(&["discuss", "Tabs or spaces?", "-p", "claude,gemini"]).ends(0);
    let now = user.ax(&["replay", "last", "--fast"]).ends(0);
    assert_eq!(now.out, then.out);
    let progress = |text: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| !line.starts_with("Round 1"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(progress(&now.err), progress(&then.err));
    user.ax(&["replay", "last", "--speed", "100", "--json"]).ends(0).json();
}

#[test]
fn sub_discussions_are_replayed_in_their_place() {
    let user = User::new();
    let then = user.ax(&["discuss", "Tabs or spaces?", "--recursive", "--max-calls", "40"]).ends(0);
    let now = user.ax(&["replay", "last", "--fast"]).ends(0);
    let below = |text: &str| text.lines().filter(|line| line.starts_with("    ")).count();
    assert_eq!(below(&now.err), below(&then.err), "{now:#?}");
}

#[test]
fn a_running_discussion_is_replayed_and_exported_so_far() {
    let user = User::new();
    let mut running = user.start(&["-r", "10"]);
    running.wait_for_line("answered in");
    user.ax(&["replay", &running.id, "--fast"]).ends(0).says(&["answered in", "is running"]);
    let said = user.ax(&["export", &running.id]).ends(0).says(&["so far"]);
    assert!(said.out.contains("There is none yet") && said.out.contains("## Round 1"), "{said:#?}");
    user.ax(&["abort", &running.id]).ends(0);
    running.end();
}

#[test]
fn an_impossible_replay_is_refused() {
    let user = User::new();
    user.ax(&["replay", "last"]).ends(2).says(&["no discussions yet"]);
    user.ax(&["replay", "ffffff"]).ends(2).says(&["there is no discussion"]).prints_nothing();
    for speed in ["0", "-1", "nan", "inf", "soon"] {
        user.ax(&["replay", "last", "--speed", speed]).ends(2).says(&["from 0.01 to 1000"]);
    }
    user.ax(&["replay", "last", "--fast", "--speed", "2"]).ends(2).says(&["--fast"]);
}

#[test]
fn d15_a_rerun_is_a_new_discussion_with_the_changes() {
    let user = User::new();
    let first = user.result(&["--seed", "7", "-p", "claude,gemini", "-r", "1"]);
    let id = first["discussionId"].as_str().unwrap();
    let same = user.ax(&["discuss", "--again", id, "--json"]).ends(0).json();
    assert_eq!((&same["synthesis"], &same["topic"]), (&first["synthesis"], &first["topic"]));
    assert_ne!(same["discussionId"], first["discussionId"]);
    let other = user.ax(&["discuss", "--again", id, "-r", "2", "Vim or Emacs?", "--json"]).ends(0).json();
    assert_eq!(other["topic"], "Vim or Emacs?");
    assert_eq!(other["rounds"].as_array().unwrap().len(), 2);
    assert_eq!(other["participatingProviders"], json!(["claude", "gemini"]));
    assert_eq!(user.ax(&["history", "--json"]).ends(0).json().as_array().unwrap().len(), 3);
}

#[test]
fn an_impossible_rerun_is_refused() {
    let user = User::new();
    user.ax(&["discuss"]).ends(2).says(&["<TOPIC>"]);
    user.ax(&["discuss", "--again", "last"]).ends(2).says(&["no discussions yet"]);
    let unknown = "01890000-0000-7000-8000-000000000000";
    user.ax(&["discuss", "--again", unknown]).ends(2).says(&["there is no discussion", unknown]);
    user.ax(&["discuss", "q", "-r", "1"]).ends(0);
    user.ax(&["discuss", "--again", "last", " "]).ends(2).says(&["<topic>: is empty"]);
    user.ax(&["discuss", "--again", "last", "-r", "99"]).ends(2).says(&["--rounds: must", "again from"]);
    user.ax(&["discuss", "--again", "last", "--pattern", "dialogue", "-p", "claude,glm,qwen"])
        .ends(2)
        .says(&["--providers: a discussion of this kind takes 2"]);
    assert_eq!(user.ax(&["history", "--json"]).ends(0).json().as_array().unwrap().len(), 1);
}

#[test]
fn events_stream_under_the_numbers_of_the_record() {
    let user = User::new();
    let live = events(&user.ax(&["discuss", "Tabs or spaces?", "--output-format", "jsonl"]).ends(0).out);
    let (chunks, recorded): (Vec<&Value>, Vec<&Value>) =
        live.iter().partition(|it| it["type"] == "turn-chunk");
    assert!(!chunks.is_empty() && chunks.iter().all(|it| it.get("seq").is_none() && it["chunk"].is_string()));
    let kept = events(&user.ax(&["export", "last", "--as", "jsonl"]).ends(0).out);
    assert_eq!(recorded, kept.iter().collect::<Vec<_>>());
    let types: BTreeSet<&str> = kept.iter().filter_map(|it| it["type"].as_str()).collect();
    for name in
        ["discussion-started", "round-started", "turn-started", "turn-completed", "discussion-completed"]
    {
        assert!(types.contains(name), "{name}: {types:?}");
    }
    let shown = user.ax(&["show", "last", "--format", "jsonl"]).ends(0);
    assert_eq!(events(&shown.out), kept);
}

#[test]
fn a_resumed_stream_has_the_missed_events() {
    let user = User::new();
    let mut running = user.start(&["-r", "2"]);
    running.wait_for_line("answered in");
    running.signal("-KILL");
    let id = running.id.clone();
    running.end();
    let live = events(&user.ax(&["resume", &id, "--output-format", "jsonl"]).ends(0).out);
    let recorded: Vec<&Value> = live.iter().filter(|it| it.get("seq").is_some()).collect();
    let kept = events(&user.ax(&["export", &id, "--as", "jsonl"]).ends(0).out);
    assert_eq!(recorded, kept.iter().collect::<Vec<_>>());
}

#[test]
fn the_form_of_the_result_is_chosen_once() {
    let user = User::new();
    let json = user.ax(&["discuss", "Tabs or spaces?", "--format", "json"]).ends(0).json();
    assert_eq!(json["topic"], "Tabs or spaces?");
    let text = user.ax(&["show", "last", "--format", "text"]).ends(0).out;
    assert_eq!(text, user.ax(&["show", "last"]).ends(0).out);
    user.ax(&["discuss", "q", "--json", "--output-format", "jsonl"])
        .ends(2)
        .says(&["--json", "--output-format"]);
    user.ax(&["discuss", "q", "--output-format", "yaml"]).ends(2).says(&["yaml", "text, md, json, jsonl"]);
    user.ax(&["discuss", "q", "--output-format", "jsn"]).ends(2).says(&["similar", "json"]);
}
