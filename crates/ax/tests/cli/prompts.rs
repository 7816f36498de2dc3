//! `ax prompts`, and the page of the documentation that is made with it.

use std::{fs, path::Path};

use crate::user::User;

const PATTERNS: [&str; 8] =
    ["synthesis", "round-robin", "critique", "voting", "settle", "dialogue", "debate", "roundtable"];

const HEAD: &str = "\
# Prompts

What the models are sent in one discussion of each pattern, as `ax prompts PATTERN` prints it. The
answers are made up by simulated voices. The test `docs_prompts_is_what_would_be_sent` keeps this
page up to date; with `QUORUM_BLESS=1` it writes the page anew.
";

/// The page with all prompts.
fn page(user: &User) -> String {
    let mut page = HEAD.to_owned();
    for pattern in PATTERNS {
        let said = user.ax(&["prompts", pattern]).ends(0);
        page += &format!("\n## {pattern}\n\n````text\n{}\n````\n", said.out.trim_end());
    }
    page
}

#[test]
fn docs_prompts_is_what_would_be_sent() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/prompts.md");
    let page = page(&User::new());
    if std::env::var_os("QUORUM_BLESS").is_some() {
        fs::write(&kept, &page).unwrap();
    }
    let kept = fs::read_to_string(kept).unwrap_or_default();
    let differing = kept.lines().zip(page.lines()).find(|(one, other)| one != other);
    assert_eq!(differing, None, "set QUORUM_BLESS=1 to write docs/prompts.md anew");
    assert_eq!(kept.lines().count(), page.lines().count());
}

#[test]
fn prompts_are_shown_without_asking_anyone() {
    let user = User::new();
    let said = user.ax(&["prompts", "voting", "Which API style?", "-o", "REST,GraphQL", "--json"]).ends(0);
    let requests: Vec<serde_json::Value> = serde_json::from_str(&said.out).unwrap();
    assert!(!requests.is_empty());
    for request in requests {
        assert_eq!(request["form"], "ballot");
        assert!(request["messages"][0]["text"].as_str().unwrap().contains("- REST\n- GraphQL"), "{request}");
    }
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
}

#[test]
fn flags_of_a_discussion_that_shape_prompts_are_accepted() {
    let user = User::new();
    let said =
        |flags: &[&str]| user.ax(&[&["prompts", "synthesis", "Tabs or spaces?"], flags].concat()).ends(0).out;
    let usual = said(&[]);
    assert!(!usual.contains("You are claude in a discussion"), "{usual}");
    assert!(said(&["--show-names"]).contains("You are claude in a discussion with "));
    assert!(said(&["--temperature", "0.3"]).contains("temperature 0.3, "));
    assert!(said(&["--max-tokens-per-turn", "100"]).contains("answer up to 100 tokens"));
    assert!(said(&["--early-exit"]).contains("End with a line like `Confidence: 0.75`."));
    assert!(
        said(&["--provider-prompts", "claude=Count first."]).contains("# Your own brief\n\nCount first.")
    );
    let file = user.write("notes.txt", "We are five.");
    assert!(said(&["--file", &file]).contains("> We are five."));
    let piped = user.ax_hearing(&["prompts", "synthesis", "-"], "Vim or Emacs?").ends(0);
    assert!(piped.out.contains("Vim or Emacs?"), "{piped:#?}");
    // The pattern has no default here.
    let help = user.ax(&["prompts", "--help"]).ends(0);
    assert!(!help.out.contains("The pattern [default"), "{help:#?}");
}

#[test]
fn b09_an_option_with_a_comma_is_one_option_in_prompts() {
    let user = User::new();
    for options in [&["-o", "Postgres, managed", "-o", "SQLite"][..], &["-o", "\"Postgres, managed\",SQLite"]]
    {
        let args = [&["prompts", "voting", "Which database?", "--json"], options].concat();
        let requests: Vec<serde_json::Value> = serde_json::from_str(&user.ax(&args).ends(0).out).unwrap();
        let schema = &requests[0]["schema"]["properties"]["choice"]["enum"];
        assert_eq!(*schema, serde_json::json!(["Postgres, managed", "SQLite"]));
    }
    user.ax(&["prompts", "voting", "-o", "\"Postgres,SQLite"]).ends(2).says(&["--options: "]);
}

#[test]
fn prompts_offered_a_moderator_and_could_not_be_told_who_that_is() {
    let user = User::new();
    // No dialogue: its partners may agree, and then no moderator is asked.
    let moderated = ["prompts", "roundtable", "-p", "claude,glm", "--consensus", "moderator"];
    user.ax(&moderated).ends(2).says(&["--synthesizer: the moderator method needs a synthesizer"]);
    let with = [&moderated[..], &["--synthesizer", "glm"]].concat();
    let said = user.ax(&with).ends(0);
    assert!(said.out.contains("The decision is yours alone."), "{said:#?}");
    let debate = [
        &["prompts", "debate", "-p", "claude,glm,qwen,gemini", "--debate-format", "free-form"][..],
        &["--roles", "claude=proponent,glm=opponent,qwen=neutral,gemini=judge", "--consensus", "majority"],
        &["-o", "yes,no", "--threshold", "0.9"],
    ];
    let said = user.ax(&debate.concat()).ends(0);
    assert!(said.out.contains("no fixed stages; the judge ends it"), "{said:#?}");
    assert!(said.out.contains("You take no side: weigh both."), "{said:#?}");
}

#[test]
fn prompts_of_a_vote_invent_no_options_for_the_users_own_question() {
    let user = User::new();
    for pattern in ["voting", "settle"] {
        let example = user.ax(&["prompts", pattern]).ends(0);
        assert!(example.out.contains("- split it\n- keep it\n"), "{example:#?}");
        let refused = user.ax(&["prompts", pattern, "Which?"]).ends(2).prints_nothing();
        refused.says(&["--options: "]);
    }
}

#[test]
fn prompts_of_an_order_that_can_not_be_held_are_refused() {
    let user = User::new();
    user.ax(&["prompts", "debates"]).ends(2).says(&["possible values: synthesis, round-robin, debate"]);
    user.ax(&["prompts", "debate", "--rounds", "99"]).ends(2).says(&["must be from 1 to 10, not 99"]);
}
