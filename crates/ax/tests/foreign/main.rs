//! A build of the command with its own pattern, from outside: its options are flags, configuration
//! keys and result fields like any other.
//!
//! The tests run this very program as the command, so it has no test harness: it lists and runs its
//! tests by the arguments that test runners pass.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod estimate;
#[path = "../cli/user.rs"]
#[expect(dead_code, reason = "the user has more for other tests")]
mod user;

use std::process::ExitCode;

use serde_json::{Value, json};

use user::{Said, User, output_of};

/// Set when this program is to act as the command.
const AS_COMMAND: &str = "AX_TEST_AS_COMMAND";

type Test = (&'static str, fn());

const TESTS: [Test; 7] = [
    ("options_of_every_kind_are_flags_with_help", options_of_every_kind_are_flags_with_help),
    ("shells_and_the_manual_know_the_flags", shells_and_the_manual_know_the_flags),
    ("every_kind_of_value_reaches_the_discussion", every_kind_of_value_reaches_the_discussion),
    ("results_readings_and_endings_are_told", results_readings_and_endings_are_told),
    ("mistakes_are_told_under_the_flag", mistakes_are_told_under_the_flag),
    ("options_are_keys_of_the_configuration", options_are_keys_of_the_configuration),
    ("a_decision_is_a_verb", a_decision_is_a_verb),
];

fn main() -> ExitCode {
    if std::env::var_os(AS_COMMAND).is_some() {
        return ax::Command::new().pattern(&estimate::PATTERN).run(std::env::args_os());
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    let asks = |flag: &str| args.iter().any(|it| it == flag);
    if asks("--list") {
        let listed = TESTS.iter().filter(|_| !asks("--ignored"));
        listed.for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let names: Vec<&String> = args.iter().filter(|it| !it.starts_with('-')).collect();
    let is_wanted = |test: &&Test| names.is_empty() || names.iter().any(|it| it.as_str() == test.0);
    TESTS.iter().filter(is_wanted).for_each(|(_, test)| test());
    ExitCode::SUCCESS
}

fn ax(user: &User, args: &[&str]) -> Said {
    let program = std::env::current_exe().unwrap();
    output_of(user.program(program.to_str().unwrap(), args).env(AS_COMMAND, "yes").spawn().unwrap())
}

fn options_of_every_kind_are_flags_with_help() {
    let help = ax(&User::new(), &["discuss", "-h"]).ends(0).out;
    let section = help.split("With --pattern estimate:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let words = section.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = [
        "--attempts <N> How often everyone estimates (1 to 5) [default: 2]",
        "--spread <SHARE> How far apart is close enough (0 to 1) [default: 0.25]",
        "--secret Nobody hears the others",
        "--no-explained Switch this off: Estimates come with reasons",
        "--unit-name <UNIT> What is counted",
        "--number-scale <SCALE> How estimates are compared [default: linear] \
         [possible values: linear, logarithmic]",
        "--anchor <NAME> The participant that estimates first",
        "--meaning <PROVIDER/MODEL> The model that compares reasons",
        "--alarms <LIST> What is reported, separated by commas \
         [possible values: repetition, diminishing-returns, drift]",
        "--hints <PAIRS> What single ones know: claude=END|Speaker:,gemini=[",
        "--limits <FILE> Who may estimate what: a file with a JSON list of \
         {\"participant\", \"lowest\", \"notes\"}",
    ];
    assert_eq!(words, expected.join(" "));
    let patterns = ax(&User::new(), &["patterns"]).ends(0).out;
    assert!(
        patterns.contains("  estimate     Everyone estimates until the numbers are close\n"),
        "{patterns}"
    );
}

fn shells_and_the_manual_know_the_flags() {
    let user = User::new();
    let script = ax(&user, &["completions", "bash"]).ends(0).out;
    for word in ["--number-scale", "linear logarithmic", "ax__subcmd__referee"] {
        assert!(script.contains(word), "{word} is not in {script}");
    }
    let manual = ax(&user, &["man", "discuss"]).ends(0).out;
    assert!(manual.contains("\\-\\-number\\-scale"), "{manual}");
}

const TABLE: [&str; 6] = ["discuss", "q", "--pattern", "estimate", "-p", "claude,glm"];

fn every_kind_of_value_reaches_the_discussion() {
    let user = User::new();
    let limits =
        user.write("limits.json", r#"[{"participant": "anthropic", "lowest": "3", "notes": ["x"]}]"#);
    let numbers = ["--attempts", "1", "--spread", "0.5", "--secret", "--no-explained", "--unit-name", "days"];
    let names = ["--number-scale", "logarithmic", "--anchor", "glm"];
    let lists = ["--alarms", "drift,repetition", "--hints", "claude=a|b", "--limits", &limits, "--json"];
    let result = ax(&user, &[&TABLE[..], &numbers, &names, &lists].concat()).ends(0).json();
    let expected = json!({
        "attempts": 1, "spread": 0.5, "secret": true, "explained": false, "unitName": "days",
        "numberScale": "logarithmic", "anchor": "glm",
        "alarms": ["drift", "repetition"], "hints": { "claude": ["a", "b"] },
        "limits": [{ "participant": "claude", "lowest": "3", "notes": ["x"] }],
    });
    assert_eq!(result["ordered"], expected);
    let plain = ax(&user, &[&TABLE[..], &["--json"]].concat()).ends(0).json();
    assert_eq!((&plain["ordered"], estimated(&plain)), (&json!({}), 4));
}

fn estimated(result: &Value) -> usize {
    result["estimates"].as_array().map_or(0, Vec::len)
}

fn results_readings_and_endings_are_told() {
    let user = User::new();
    let told = ax(&user, &TABLE).ends(0).says(&[
        "Round 2, estimating",
        "  claude estimates 13 days",
        "  glm estimates 13 days",
        "The talk ends after round 2: the numbers are close enough.",
    ]);
    assert!(!told.out.contains("\"days\""), "{}", told.out);
    let shown = ax(&user, &["show", "last"]).ends(0).out;
    let table =
        "## Estimates\n\n| round | participant | number |\n| --- | --- | --- |\n| 1 | claude | 13 |\n";
    assert!(shown.contains(table), "{shown}");
}

fn mistakes_are_told_under_the_flag() {
    let user = User::new();
    let typo = user.write("typo.json", r#"[{"participant": "claude", "lowest": "3", "most": "4"}]"#);
    let lacking = user.write("lacking.json", r#"[{"participant": "claude"}]"#);
    let stranger = user.write("stranger.json", r#"[{"participant": "grok", "lowest": "3"}]"#);
    for (args, expected) in [
        (&["--attempts", "9"][..], "--attempts: must be from 1 to 5, not 9"),
        (&["--attempts", "two"], "must be a whole number, 0 or more"),
        (&["--spread", "2"], "--spread: must be from 0 to 1, not 2"),
        (
            &["--unit-name", "more than ten letters"],
            "--unit-name: may have at most 10 characters; this has 21",
        ),
        (&["--number-scale", "cubic"], "[possible values: linear, logarithmic]"),
        (&["--anchor", "grok"], "--anchor: grok does not take part; the participants are claude, glm"),
        (&["--meaning", "acme"], "--meaning: must have the form provider/model, not \"acme\""),
        (&["--meaning", "acme/e-1"], "--meaning: no provider has the embedding model acme/e-1"),
        (&["--alarms", "boredom"], "[possible values: repetition, diminishing-returns, drift]"),
        (&["--hints", "claude"], "lacks the ="),
        (&["--limits", &typo], "has an unknown key \"most\"; a row has participant, lowest, notes"),
        (&["--limits", &lacking], "has a row without lowest"),
        (&["--limits", &stranger], "--limits: grok does not take part; the participants are claude, glm"),
        (&["--limits", "nowhere.json"], "there is no such file"),
        (&["--atempts", "3"], "a similar argument exists: '--attempts'"),
    ] {
        ax(&user, &[&TABLE[..], args].concat()).ends(2).says(&[expected]).prints_nothing();
    }
    let elsewhere = ax(&user, &["discuss", "q", "--attempts", "3"]).ends(2);
    elsewhere.says(&["--attempts: applies only to the pattern estimate; choose it, or leave this out"]);
}

fn options_are_keys_of_the_configuration() {
    let user = User::new();
    let preset =
        "[defaults]\nsimulate = \"latency=0ms\"\n[presets.quick]\npattern = \"estimate\"\nattempts = ";
    user.configure(&format!("{preset}1\nproviders = \"claude,glm\"\n"));
    ax(&user, &["config", "check"]).ends(0);
    let examined = ax(&user, &["doctor"]).out;
    assert!(examined.contains("config.toml is fine"), "{examined}");
    let result = ax(&user, &["discuss", "q", "--preset", "quick", "--json"]).ends(0).json();
    assert_eq!(estimated(&result), 2);
    user.configure(&format!("{preset}9\n"));
    ax(&user, &["config", "check"]).ends(3).says(&["attempts", "must be from 1 to 5, not 9"]);
}

fn a_decision_is_a_verb() {
    let user = User::new();
    let help = ax(&user, &["help"]).ends(0).out;
    assert!(help.contains("  referee      Say whose number counts\n"), "{help}");
    let verb = ax(&user, &["referee", "--help"]).ends(0).out;
    for line in ["- take: The number of the one named", "- drop: Nobody's", "  ax referee last take gemini\n"]
    {
        assert!(verb.contains(line), "{line} is not in {verb}");
    }
    ax(&user, &TABLE).ends(0);
    ax(&user, &["referee", "last", "take"]).ends(2).says(&["ax referee ID take NAME"]);
    ax(&user, &["referee", "last", "drop", "glm"]).ends(2).says(&["drop takes no name"]);
    ax(&user, &["referee", "last", "drop"]).ends(2).says(&["is over"]);
}
