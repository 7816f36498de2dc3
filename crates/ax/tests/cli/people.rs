//! People as participants: a turn from any terminal, and refused turns that change nothing.

use serde_json::Value;

use crate::user::{Said, User};

/// A roundtable waiting for its person's first turn, by its id.
fn waiting(user: &User, args: &[&str]) -> String {
    let table = ["--participants", "claude,gemini,me:person", "--rounds", "2", "--pattern", "roundtable"];
    let said = user.ax(&[&["discuss", "What shall we build?"], &table[..], args].concat()).ends(0);
    said.says(&["Waiting for me (round 1, speaking)", "ax say "]).prints_nothing();
    user.ax(&["show", "last", "--json"]).json()["discussionId"].as_str().unwrap().to_owned()
}

fn contents(result: &Value) -> Vec<(String, String)> {
    let rounds = result["rounds"].as_array().unwrap().iter();
    let said = rounds.flat_map(|round| round["responses"].as_array().unwrap().clone());
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    said.map(|it| (text(&it["provider"]), text(&it["content"]))).collect()
}

#[test]
fn a_person_is_called_a_person_and_its_discussion_waiting() {
    let user = User::new();
    let table = ["--participants", "claude,gemini,me:person", "--pattern", "roundtable"];
    let plan = user.ax(&[&["discuss", "Now?", "--dry-run"], &table[..]].concat()).ends(0);
    assert!(plan.out.contains("me (person)"), "{plan:#?}");
    waiting(&user, &[]);
    let listed = user.ax(&["history"]).ends(0);
    assert!(listed.out.contains("  waiting for me  "), "{listed:#?}");
}

#[test]
fn c02_a_roundtable_with_a_person_works_across_processes() {
    let user = User::new();
    let id = waiting(&user, &[]);
    user.ax(&["show", &id]).ends(0).says(&["Waiting for me", "ax say"]);
    user.ax(&["resume", &id]).ends(0).says(&["Waiting for me", "ax say"]);
    let said = user.ax(&["say", &id, "A bridge, I should think."]).ends(0);
    said.says(&["claude answered", "Waiting for me (round 2"]).prints_nothing();
    let done =
        user.ax_hearing(&["say", &id, "-", "--as", "me", "--json"], "Then let it be a bridge.\n").ends(0);
    let result = done.json();
    let (who, texts): (Vec<String>, Vec<String>) = contents(&result).into_iter().unzip();
    assert_eq!(who[..6], ["claude", "gemini", "me", "claude", "gemini", "me"], "{result:#}");
    assert_eq!((&*texts[2], texts[5].trim()), ("A bridge, I should think.", "Then let it be a bridge."));
    assert!(texts[3].contains("me"), "the person is answered by name: {}", texts[3]);
    assert!(!texts[3].contains("\n\n"), "one paragraph: {}", texts[3]);
    assert_eq!(result["success"], true);
}

#[track_caller]
fn refused(user: &User, id: &str, args: &[&str], expected: &str) {
    let before = user.ax(&["export", id, "--as", "jsonl"]).out;
    user.ax(&[&["say", id], args].concat()).ends(2).says(&[expected]).prints_nothing();
    assert_eq!(user.ax(&["export", id, "--as", "jsonl"]).out, before, "{args:?}");
}

#[test]
fn c06_a_refused_turn_changes_nothing() {
    let user = User::new();
    let id = waiting(&user, &[]);
    refused(&user, &id, &[""], "must have 1 to 100000 characters");
    refused(&user, &id, &[" \n\t "], "must have 1 to 100000 characters");
    refused(&user, &id, &["hello", "--as", "claude"], "its people are me");
    refused(&user, &id, &["hello", "--as", "nobody"], "its people are me");
    let long = "x".repeat(1 << 20);
    user.ax_hearing_as_much_as_it_takes(&["say", &id, "-"], &long)
        .ends(2)
        .says(&["standard input has more than 500,000 bytes"]);
    user.ax(&["say", "ffff", "hello"]).ends(2).says(&["there is no discussion"]);
}

#[test]
fn c06_a_turn_is_refused_when_it_is_over_or_has_no_people() {
    let user = User::new();
    let id = waiting(&user, &[]);
    user.ax(&["say", &id, "A bridge."]).ends(0);
    user.ax(&["say", &id, "A bridge indeed."]).ends(0).says(&["Done in"]);
    refused(&user, &id, &["One more thing."], "is over");
    let running = user.start(&["--rounds", "10"]);
    user.ax(&["say", &running.id, "hello"]).ends(2).says(&["has no person on its panel"]).prints_nothing();
    user.ax(&["abort", &running.id]).ends(0);
    running.end().ends(130);
}

#[test]
fn a_person_votes_in_plain_words() {
    let user = User::new();
    let table = ["--participants", "claude,gemini,me:person", "--pattern", "voting", "-o", "tabs,spaces"];
    let said = user.ax(&[&["discuss", "Tabs or spaces?", "--rounds", "1"], &table[..]].concat()).ends(0);
    said.says(&["Waiting for me", "Write the option on the first line"]);
    let mut said = user.ax(&["say", "last", "TABS\nThey are smaller.\nConfidence: 0.9", "--json"]).ends(0);
    if said.json()["status"] != "completed" {
        said = user.ax(&["say", "last", "TABS\nThey are smaller.\nConfidence: 0.9", "--json"]).ends(0);
    }
    let result = said.json();
    let ballots = result["votingResults"]["voteRecords"].as_array().unwrap();
    let mine = ballots.iter().find(|it| it["provider"] == "me").unwrap();
    assert_eq!((&mine["choice"], &mine["confidence"]), (&Value::from("tabs"), &Value::from(0.9)));
    assert_eq!(mine["reasoning"], "They are smaller.");
}

#[test]
fn d06_a_person_judges_in_plain_words() {
    let user = User::new();
    let table = ["--participants", "claude,gemini,me:person", "--pattern", "debate", "--judge", "me"];
    let said = user.ax(&[&["discuss", "Tabs or spaces?", "--rounds", "2"], &table[..]].concat()).ends(0);
    said.says(&["Waiting for me (round 1, judging)", "like this: claude 7, gemini 5", "only says stop"]);
    user.ax(&["say", "last", "claude 8, gemini 6\nA good start."]).ends(0).says(&["Waiting for me (round 2"]);
    user.ax(&["say", "last", "Nothing new."]).ends(0).says(&["in your own words"]);
    let result = user.ax(&["say", "last", "claude was clearer.", "--json"]).ends(0).json();
    let rounds = &result["judging"]["rounds"];
    assert_eq!(rounds[0]["assessments"][0]["score"], 8.0, "{result:#}");
    assert_eq!(
        (&rounds[0]["reasoning"], &rounds[1]["reasoning"]),
        (&Value::from("A good start."), &Value::from("Nothing new."))
    );
    assert_eq!(result["verdict"]["summary"], "claude was clearer.");
}

#[test]
fn two_people_answer_in_any_order() {
    let user = User::new();
    let table = ["--participants", "claude,ann:person,bob:person", "--rounds", "1"];
    let said = user.ax(&[&["discuss", "Tabs or spaces?"], &table[..]].concat()).ends(0);
    said.says(&["Waiting for ann", "Waiting for bob", "--as bob"]);
    user.ax(&["say", "last", "hello"]).ends(2).says(&["ann and bob are awaited", "--as NAME"]);
    user.ax(&["say", "last", "Spaces.", "--as", "bob"]).ends(0).says(&["Waiting for ann"]);
    user.ax(&["say", "last", "Spaces.", "--as", "bob"]).ends(2).says(&["not bob's turn but that of ann"]);
    let said: Said = user.ax(&["say", "last", "Tabs."]).ends(0).says(&["Done in"]);
    assert!(!said.out.trim().is_empty());
}

#[test]
fn tables_that_make_no_sense_are_refused() {
    let user = User::new();
    for (args, expected) in [
        (&["--participants", "claude,me:person", "-p", "claude,gemini"][..], "leave one of them out"),
        (&["--participants", "me:person,you:person"], "at least one model"),
        (&["--participants", "claude,me:person,me:person"], "two participants are named me"),
        (&["--participants", "claude,me:dog"], "there is no kind of participant named \"dog\""),
        (&["--participants", "claude,:person"], "is not a person's name"),
        (&["--participants", "claude"], "takes 2 to 6 participants; 1 is named"),
        (
            &["-p", "claude,me:person"],
            "is a person, and not a provider; name the whole panel with --participants",
        ),
    ] {
        user.ax(&[&["discuss", "q"], args].concat())
            .ends(2)
            .says(&[expected, "Nothing was asked"])
            .prints_nothing();
    }
    assert_eq!(user.ax(&["history", "--json"]).ends(0).out.trim(), "[]");
}

#[test]
fn c02_a_person_is_a_partner_in_a_dialogue() {
    let user = User::new();
    let table = ["--participants", "claude,me:person", "--pattern", "dialogue", "--rounds", "1"];
    let said = user.ax(&[&["discuss", "Tabs or spaces?"], &table[..]].concat()).ends(0);
    said.says(&["Waiting for me (round 1, model b turn)"]);
    let said = user.ax(&["say", "last", "Tabs, I think."]).ends(0);
    said.says(&["reached consensus?", "Say yes or no first"]);
    let result = user.ax(&["say", "last", "No: spaces have not been heard yet.", "--json"]).ends(0).json();
    assert_eq!(result["consensusChecks"][0]["votes"][1][1]["agrees"], false, "{result:#}");
    assert_eq!(result["positionsByRound"][1]["position"], "no consensus");
}

#[test]
fn c03_stop_sequences_are_ordered_for_single_participants() {
    let user = User::new();
    let order = ["--pattern", "roundtable", "-p", "claude,glm", "--rounds", "1"];
    let result = user.result(&[&order[..], &["--stop-sequences", "claude=.|;"]].concat());
    let said = contents(&result);
    assert!(!said[0].1.contains(['.', ';']) && said[1].1.contains('.'), "{said:?}");
    user.ax(&["discuss", "q", "--stop-sequences", "claude=END"])
        .ends(2)
        .says(&["--stop-sequences: applies only to the pattern roundtable"]);
    user.ax(&[&["discuss", "q"], &order[..], &["--stop-sequences", "grok=END"]].concat())
        .ends(2)
        .says(&["--stop-sequences: grok does not take part"]);
    let again = user.ax(&["discuss", "--again", "last", "--json"]).ends(0).json();
    assert_eq!(contents(&again)[0].1, said[0].1, "asked again, it ends there again");
}

#[test]
fn what_a_person_says_is_stored_without_escape_bytes() {
    let user = User::new();
    let id = waiting(&user, &["--rounds", "1"]);
    user.ax(&["say", &id, "A \u{1b}[31mbridge\u{1b}]0;title\u{7}, \u{9b}of\u{8} stone."]).ends(0);
    let result = user.ax(&["show", &id, "--json"]).ends(0).json();
    let said: Vec<String> = contents(&result).into_iter().filter(|it| it.0 == "me").map(|it| it.1).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(!said[0].contains(|it: char| it.is_control()) && said[0].starts_with("A bridge"), "{said:?}");
}
