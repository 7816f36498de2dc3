//! Past discussions: history, show, sessions.

use serde_json::json;

use crate::user::User;

#[test]
fn inv_disc_630_history_lists_and_shows_past_discussions() {
    let user = User::new();
    let first = user.result(&[]);
    let id = first["discussionId"].as_str().unwrap();
    user.ax(&["discuss", "Which database for billing?"]).ends(0);
    let list = user.ax(&["history"]).ends(0);
    let lines: Vec<&str> = list.out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("Which database") && lines[1].contains(id), "{list:#?}");
    assert_eq!(user.ax(&["show", id, "--json"]).ends(0).json(), first);
    let shown = user.ax(&["show", "last", "-v"]).ends(0).out;
    let (_, timeline) = shown.split_once("## Timeline\n\n").unwrap();
    // Each line begins with the date and the time.
    let told: Vec<&str> =
        timeline.lines().filter_map(|it| it.get("- 2026-01-01 00:00:00 ".len()..)).collect();
    let before = ["recorded", "the participants are checked", "the talk begins", "answering", "answering"];
    let expected = [&before[..], &["the decision begins", "completed"]].concat();
    assert_eq!(told, expected, "{shown}");
    let json = user.ax(&["history", "--json", "-n", "1"]).ends(0).json();
    assert_eq!(json[0]["topic"], "Which database for billing?");
    assert!(json[0]["startedAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!((&json[0]["status"], &json[0]["success"]), (&json!("completed"), &json!(true)));
}

#[test]
fn a_degraded_discussion_is_marked_in_lists() {
    let user = User::new();
    user.ax(&["discuss", "Without one?", "--simulate", "latency=0ms,dead=glm"]).ends(0);
    assert!(user.ax(&["history"]).ends(0).out.contains("  degraded      [simulated] Without one?"));
    let json = user.ax(&["history", "--json"]).ends(0).json();
    assert_eq!((&json[0]["success"], &json[0]["outcome"]["degraded"]), (&json!(true), &json!(true)));
}

#[test]
fn a_discussion_whose_process_ended_is_interrupted_in_every_list() {
    let user = User::new();
    let mut running = user.start(&["-r", "10"]);
    running.wait_for_line("answered in");
    let listed = || user.ax(&["history"]).ends(0);
    assert!(listed().out.contains("  running       [simulated] Tabs or spaces?"));
    running.signal("-KILL");
    let id = running.id.clone();
    running.end();
    let interrupted =
        format!("This discussion is interrupted: no process runs it. `ax resume {id}` continues it.");
    for _ in 0..2 {
        let listed = listed().says(&["`ax resume ID` continues an interrupted discussion."]);
        assert!(listed.out.contains("  interrupted   [simulated] Tabs or spaces?"), "{listed:#?}");
        user.ax(&["show", &id]).ends(0).says(&[&interrupted]);
        user.ax(&["watch", &id]).ends(0).says(&[&interrupted]);
    }
}

#[test]
fn inv_disc_631_history_finds_by_words_and_the_most_relevant_first() {
    let user = User::new();
    let wordy = "Which of our forty-two old spreadsheets about billing, travel and lunch should we keep?";
    for topic in ["Billing?", wordy, "Tabs or spaces?"] {
        user.ax(&["discuss", topic]).ends(0);
    }
    let found = user.ax(&["history", "billing", "--json"]).ends(0).json();
    let topics: Vec<&str> =
        found.as_array().unwrap().iter().map(|it| it["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, ["Billing?", wordy], "not the newest first");
    user.ax(&["history", "penguins"]).ends(0).says(&["No discussions found"]).prints_nothing();
}

#[test]
fn ids_may_be_cut_short() {
    let user = User::new();
    user.ax(&["show", "last"]).ends(2).says(&["no discussions yet"]);
    let id = user.result(&[])["discussionId"].as_str().unwrap().to_owned();
    user.ax(&["show", &id[..14]]).ends(0);
    user.ax(&["show", &id[..14].to_uppercase()]).ends(0);
    user.ax(&["discuss", "Another"]).ends(0);
    let other = user.ax(&["show", "last", "--json"]).ends(0).json()["discussionId"].clone();
    let topic = user.ax(&["show", &id, "--json"]).ends(0).json()["topic"].clone();
    let (other, topic) = (other.as_str().unwrap(), topic.as_str().unwrap());
    let said = user.ax(&["show", "0"]).ends(2).prints_nothing();
    let expected =
        format!("error: several ids begin with 0; give more of it:\n  {other}  Another\n  {id}  {topic}\n");
    assert_eq!(said.err, expected);
    let hidden =
        "there is no discussion whose id begins with nope; `ax restore` lists the hidden discussions";
    user.ax(&["restore", "nope"]).ends(2).says(&[hidden]);
    for unknown in ["ffffff", "%", "xyz", "", "01890000-0000-7000-8000-000000000000"] {
        user.ax(&["show", unknown]).ends(2).says(&["there is no discussion"]).prints_nothing();
    }
    for verb in ["resume", "pause", "stop", "abort"] {
        user.ax(&[verb, "01890000-0000-7000-8000-000000000000"]).ends(2).says(&["there is no discussion"]);
    }
}

#[test]
fn inv_disc_300_sessions_are_created_and_listed() {
    let user = User::new();
    user.ax(&["sessions"]).ends(0).says(&["no sessions yet"]).prints_nothing();
    user.ax(&["sessions", "create", " "]).ends(2).says(&["needs a name"]);
    let id = user.ax(&["sessions", "create", "Billing rewrite"]).ends(0).out.trim().to_owned();
    assert!(user.ax(&["sessions"]).ends(0).out.contains("Billing rewrite"));
    assert_eq!(user.ax(&["sessions", "list", "--json"]).ends(0).json()[0]["sessionId"], json!(id));
    user.ax(&["sessions", "create", "Billing rewrite"]).ends(0);
    user.ax(&["history", "--session", "Billing rewrite"]).ends(2).says(&["several sessions"]);
}

#[test]
fn a_session_is_renamed_and_deleted_when_it_is_empty() {
    let user = User::new();
    let id = user.ax(&["sessions", "create", "Biling"]).ends(0).out.trim().to_owned();
    user.ax(&["sessions", "rename", "Biling", " "]).ends(2).says(&["a session needs a name"]);
    user.ax(&["sessions", "rename", "Travel", "Lunch"]).ends(2).says(&["there is no session Travel"]);
    user.ax(&["sessions", "rename", "Biling", "Billing"]).ends(0).says(&["Renamed the session to Billing."]);
    assert_eq!(user.ax(&["sessions", "--json"]).ends(0).json()[0]["name"], "Billing");
    user.ax(&["discuss", "In it", "--session", "Billing"]).ends(0);
    user.ax(&["sessions", "delete", "Billing"]).ends(2).says(&[
        &format!("session {id} has 1 discussion; nothing was changed; delete its discussions first"),
        "`ax history --session ID` lists them",
    ]);
    user.ax(&["delete", "last", "--yes"]).ends(0);
    user.ax(&["sessions", "delete", &id]).ends(0).says(&[&format!("Deleted the session {id}")]);
    user.ax(&["sessions"]).ends(0).says(&["no sessions yet"]).prints_nothing();
}

#[test]
fn inv_disc_017_a_discussion_belongs_to_its_session() {
    let user = User::new();
    let id = user.ax(&["sessions", "create", "Billing rewrite"]).ends(0).out.trim().to_owned();
    let result = user.ax(&["discuss", "In it", "--session", &id, "--json"]).ends(0).json();
    assert_eq!(result["metadata"]["sessionId"], json!(id));
    user.ax(&["discuss", "Not in it"]).ends(0);
    let json = user.ax(&["history", "--session", "Billing rewrite", "--json"]).ends(0).json();
    assert_eq!(json.as_array().unwrap().len(), 1);
    assert_eq!((&json[0]["topic"], &json[0]["sessionId"]), (&json!("In it"), &json!(id)));
    let unknown = "01890000-0000-7000-8000-000000000000";
    user.ax(&["discuss", "Lost", "--session", unknown])
        .ends(2)
        .says(&["there is no session"])
        .prints_nothing();
}

#[test]
fn b01_patterns_and_methods_are_listed_with_what_they_do() {
    let user = User::new();
    let text = user.ax(&["patterns"]).ends(0).out;
    for name in [
        "round-robin",
        "debate",
        "critique",
        "voting",
        "synthesis",
        "dialogue",
        "moderator",
        "unanimous",
        "majority",
    ] {
        assert!(
            text.lines().any(|line| line.trim_start().starts_with(name) && line.len() > 20),
            "{name}: {text}"
        );
    }
}

#[test]
fn a_discussion_is_deleted_only_with_yes() {
    let user = User::new();
    let id = user.result(&[])["discussionId"].as_str().unwrap().to_owned();
    user.ax(&["delete", &id]).ends(2).says(&["Tabs or spaces?", "add --yes"]);
    user.ax(&["show", &id]).ends(0);
    user.ax(&["delete", &id, "--yes"]).ends(0).says(&["Deleted discussion"]);
    user.ax(&["show", &id]).ends(2);
    user.ax(&["delete", &id, "--yes"]).ends(2);
}

#[test]
fn a_running_discussion_is_not_deleted() {
    let user = User::new();
    let running = user.start(&["-r", "10"]);
    let id = running.id.clone();
    let said = user.ax(&["delete", &id, "--yes"]);
    assert_ne!(said.code, 0, "{said:?}");
    user.ax(&["abort", &id]).ends(0);
    running.end();
    user.ax(&["delete", &id, "--yes"]).ends(0);
}

#[test]
fn b12_a_result_is_rated_from_one_to_five() {
    let user = User::new();
    let id = user.result(&[])["discussionId"].as_str().unwrap().to_owned();
    user.ax(&["rate", &id, "4"]).ends(0).says(&["Rated 4 of 5."]);
    user.ax(&["rate", &id, "6"]).ends(2).says(&["from 1 to 5"]);
    user.ax(&["rate", &id, "well"]).ends(2);
}

#[test]
fn a_note_is_shown_to_everyone_asked_afterwards() {
    let user = User::new();
    let running = user.start(&["-r", "2"]);
    user.ax(&["note", &running.id, "Mind the budget."]).ends(0).says(&["Noted."]);
    let id = running.id.clone();
    running.end().ends(0);
    let lines = user.ax(&["export", &id, "--as", "jsonl"]).ends(0).out;
    assert!(lines.contains("Mind the budget."), "{lines}");
    user.ax(&["note", &id, "too late"]).ends(2).says(&["is over"]);
    user.ax(&["note", &id, " "]).ends(2);
}

#[test]
fn people_read_local_times_and_programs_utc() {
    let user = User::new();
    user.result(&["-p", "claude,gemini"]);
    let at = user.ax(&["history", "--json"]).ends(0).json()[0]["startedAt"].as_str().unwrap().to_owned();
    assert!(at.ends_with('Z'), "{at}");
    let here = |zone: &str| {
        let said = user.command(&["history"]).env("TZ", zone).output().unwrap();
        let line = String::from_utf8(said.stdout).unwrap();
        line.split_whitespace().skip(1).take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(here("UTC0"), at[..16].replace('T', " "));
    let minutes = |written: &str| -> u32 {
        let (hours, minutes) = written[11..16].split_once(':').unwrap();
        hours.parse::<u32>().unwrap() * 60 + minutes.parse::<u32>().unwrap()
    };
    assert_eq!(minutes(&here("XXX-9:30")), (minutes(&at) + 9 * 60 + 30) % (24 * 60));
}

#[test]
fn the_format_of_an_export_is_given_as_for_other_verbs() {
    let user = User::new();
    user.result(&["-p", "claude,gemini"]);
    let exported = |flag: &str| user.ax(&["export", "last", flag, "jsonl"]).ends(0).out;
    assert_eq!(exported("--format"), exported("--as"));
}
