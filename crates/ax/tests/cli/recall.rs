//! Results of earlier discussions, recalled or followed, as the user sees them.

use crate::user::User;

const TOPIC: &str = "Which database should hold our billing events?";

#[test]
fn inv_disc_631_what_is_recalled_is_told_before_the_first_call() {
    let user = User::new();
    user.ax(&["discuss", TOPIC]).ends(0);
    let id = user.ax(&["history", "--json"]).ends(0).json()[0]["discussionId"].as_str().unwrap().to_owned();
    user.ax(&["discuss", "Which paint for a wooden fence?", "--recall"])
        .ends(0)
        .says(&["Nothing is recalled: no earlier discussion on this subject was found."]);
    let question = "What database for the billing events?";
    for flag in ["--recall", "--recall=2", "--memory", "--recall-from=last,0"] {
        let said = user.ax(&["discuss", question, flag, "--json"]);
        if flag.ends_with(",0") {
            said.ends(2).says(&["--recall-from: several ids begin with 0"]);
            continue;
        }
        let said = said.ends(0).says(&["Recalled [R1] 20", TOPIC, &id, "relevance 1.00", "tokens"]);
        let recalled = &said.json()["metadata"]["recalled"][0];
        assert_eq!((&recalled["topic"], recalled["discussionId"].as_str()), (&TOPIC.into(), Some(&*id)));
        user.ax(&["delete", "last", "--yes"]).ends(0);
    }
    let plan = user.ax(&["discuss", question, "--recall", "--dry-run"]).ends(0).says(&["Recalled [R1]"]);
    assert!(plan.out.contains("Everyone is shown earlier discussions (R1)"), "{plan:#?}");
    let without = user.ax(&["discuss", question, "--json"]).ends(0);
    assert!(!without.err.contains("ecalled") && without.json()["metadata"]["recalled"].is_null());
}

#[test]
fn a_default_recall_is_switched_off_for_one_run() {
    let user = User::new();
    user.ax(&["discuss", TOPIC]).ends(0);
    user.configure("[defaults]\nsimulate = \"latency=0ms\"\nrecall = 1\n");
    user.ax(&["discuss", TOPIC]).ends(0).says(&["Recalled [R1]"]);
    let off = user.ax(&["discuss", TOPIC, "--no-recall"]).ends(0);
    assert!(!off.err.contains("ecalled"), "{off:#?}");
    user.configure("[defaults]\nrecall = 11\n");
    user.ax(&["discuss", TOPIC, "--offline"]).ends(3).says(&["error: recall: must be from 1 to 10, not 11"]);
}

#[test]
fn bad_recalls_are_refused() {
    let user = User::new();
    for (flags, expected) in [
        (&["--recall=0"][..], "--recall: must be from 1 to 10, not 0"),
        (&["--recall=11"], "--recall: must be from 1 to 10, not 11"),
        (&["--recall-from", "last"], "--recall-from: there are no discussions yet"),
        (&["--recall-from", "ffff"], "--recall-from: there is no discussion ffff"),
        (&["--recall-from", "my notes"], "--recall-from: my notes is not a discussion's id"),
        (&["--continue"], "--continue: there are no discussions yet"),
        (&["--continue=ffff"], "--continue: there is no discussion ffff"),
    ] {
        let all: Vec<&str> = ["discuss", TOPIC].iter().chain(flags).copied().collect();
        user.ax(&all).ends(2).says(&[expected]).prints_nothing();
    }
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
}

#[test]
fn a_refusal_of_a_discussion_too_far_back_named_no_flag() {
    let user = User::new();
    user.ax(&["discuss", TOPIC]).ends(0);
    let none = "there is only 1 discussion, so there is no last~99";
    for (flag, named) in [("--recall-from=last~99", "--recall-from"), ("--continue=last~99", "--continue")] {
        let said = user.ax(&["discuss", TOPIC, flag]).ends(2);
        said.says(&[&format!("{named}: {none}")]).prints_nothing();
    }
}

#[test]
fn the_next_question_goes_to_the_same_panel() {
    let user = User::new();
    user.ax(&["discuss", TOPIC, "-p", "claude,gemini", "--pattern", "roundtable", "-r", "1"]).ends(0);
    let first = user.ax(&["show", "last", "--json"]).ends(0).json();
    let said =
        user.ax(&["follow", "And what would it cost?", "--json"]).ends(0).says(&["Follows [F1] 20", TOPIC]);
    let second = said.json();
    assert_eq!(second["topic"], "And what would it cost?");
    assert_eq!(second["metadata"]["follows"], first["discussionId"]);
    assert_eq!(second["pattern"], "roundtable");
    assert_eq!(second["participatingProviders"], first["participatingProviders"]);
    let session = &second["metadata"]["sessionId"];
    assert!(session.is_string(), "{second:#}");
    let third = user.ax(&["follow", "last", "Who does it?", "--rounds", "2", "--json"]).ends(0);
    let third = third.says(&["Follows [F1]", "Follows [F2]"]).json();
    assert_eq!(
        (&third["metadata"]["sessionId"], &third["metadata"]["follows"]),
        (session, &second["discussionId"])
    );
    assert_eq!(third["rounds"].as_array().unwrap().len(), 2);
    let fourth = user.ax(&["discuss", "And then?", "--continue", "--json"]).ends(0).json();
    assert_eq!(fourth["metadata"]["follows"], third["discussionId"]);
    let plan = user.ax(&["follow", "What else?", "--dry-run"]).ends(0);
    assert!(plan.out.contains("Everyone is shown earlier discussions (F1, F2, F3)"), "{plan:#?}");
    let shown = user.ax(&["export", "last"]).ends(0);
    assert!(shown.out.contains("Earlier discussions"), "{shown:#?}");
}

#[test]
fn a_follow_up_without_a_question_asks_nobody() {
    let user = User::new();
    let id = user.result(&[])["discussionId"].as_str().unwrap().to_owned();
    for source in ["last", "last~0", "last~1", &id, &id[..8], &id[..18], &id.to_uppercase()] {
        let refused = user.ax(&["follow", source]).ends(2).prints_nothing();
        refused.says(&["<QUESTION>: is empty; give the next question"]);
    }
    for flags in [&["follow"][..], &["follow", "--dry-run"], &["follow", " "]] {
        user.ax(flags).ends(2).says(&["<QUESTION>: is empty"]).prints_nothing();
    }
    user.ax(&["follow", "ffffff0", "And then?"]).ends(2).says(&["<ID>: there is no discussion ffffff0"]);
    let listed = user.ax(&["history", "--json"]).ends(0).json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed:#}");
}

#[test]
fn inv_disc_632_deleting_names_the_copies_and_takes_them_along_on_request() {
    let user = User::new();
    let id = user.result(&[])["discussionId"].as_str().unwrap().to_owned();
    let copy = user.ax(&["follow", "And then?", "--json"]).ends(0).json();
    let copy = copy["discussionId"].as_str().unwrap();
    user.ax(&["delete", &id, "--with-copies"]).ends(2).says(&[&id, copy, "add --yes"]);
    user.ax(&["delete", &id, "--yes"])
        .ends(0)
        .says(&[&format!("Discussion {copy} still has a copy"), "And then?"]);
    user.ax(&["show", copy]).ends(0);
    let later = user.ax(&["follow", "And after that?", "--json"]).ends(0).json();
    let later = later["discussionId"].as_str().unwrap();
    user.ax(&["delete", copy, "--yes", "--with-copies"])
        .ends(0)
        .says(&[&format!("Deleted discussion {later}")]);
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
}
