//! Bad input: a clear message that names the flag, exit code 2, no output, and nothing stored.

use crate::user::User;

#[track_caller]
fn refuses(args: &[&str], expected: &str) {
    let user = User::new();
    let mut all = vec!["discuss"];
    all.extend(args);
    user.ax(&all).ends(2).says(&[expected]).prints_nothing();
    user.ax(&["history"]).ends(0).says(&["No discussions found"]).prints_nothing();
}

#[test]
fn rounds() {
    refuses(&["q", "--rounds", "0"], "--rounds: must be from 1 to 10, not 0");
    refuses(&["q", "-r", "99"], "--rounds: must be from 1 to 10, not 99");
    refuses(&["q", "--rounds", "-1"], "'--rounds <N>': must be a whole number, 0 or more");
    refuses(&["q", "--rounds", "two"], "'--rounds <N>': must be a whole number, 0 or more");
    refuses(&["q", "--threshold", "half"], "'--threshold <SHARE>': must be a number, like 0.5");
    refuses(&["q", "--pattern", "debate", "--positions", "nothing"], "there is no such file");
}

#[test]
fn a_question_without_quotes() {
    refuses(&["Tabs", "or", "spaces?"], "tip: put the question in quotes: ax discuss");
    let user = User::new();
    for (typed, verb) in [
        (&["follow", "last", "And", "now?"][..], "follow"),
        (&["prompts", "debate", "And", "now?"], "prompts"),
        (&["--log", "text", "follow", "last", "And", "now?"], "follow"),
    ] {
        let tip = format!("tip: put the question in quotes: ax {verb}");
        user.ax(typed).ends(2).says(&[&tip]).prints_nothing();
    }
}

#[test]
fn a_verb_that_takes_no_question_told_of_quotes() {
    for words in [["models", "claude"], ["patterns", "debate"], ["demo", "now"]] {
        let said = User::new().ax(&words).ends(2);
        assert!(!said.err.contains("question"), "{said:#?}");
    }
}

#[test]
fn a_fork_without_a_step_lists_the_steps() {
    let user = User::new();
    user.ax(&["discuss", "q", "-r", "1", "-p", "claude,gemini"]).ends(0);
    let there = "--at STEP is missing; there are 1/answering/claude, 1/answering/gemini";
    user.ax(&["fork", "last"]).ends(2).says(&[there]);
}

#[test]
fn a_refusal_points_to_the_help_of_its_verb() {
    let user = User::new();
    user.ax(&["discuss", "q"]).ends(0);
    user.ax(&["fork", "last", "--at", "nowhere"]).ends(2).says(&["`ax fork --help` explains the flags"]);
    user.ax(&["rate", "last", "9"]).ends(2).says(&["must be from 1 to 5"]);
    user.ax(&["history", "-n", "0"]).ends(2).says(&["must be a whole number, 1 or more"]).prints_nothing();
}

/// As in other commands, so that a flag in an alias can be overridden.
#[test]
fn a_flag_that_is_typed_twice_counts_as_typed_last() {
    let user = User::new();
    let plan = user.ax(&["discuss", "q", "-r", "9", "--dry-run", "--json", "--rounds", "1"]).ends(0).json();
    assert_eq!(plan["course"].as_array().unwrap().len(), 2, "{plan:#}");
}

#[test]
fn providers() {
    refuses(
        &["q", "-p", "claude"],
        "--providers: a discussion of this kind takes 2 to 6 providers; 1 is named",
    );
    refuses(&["q", "-p", "a,b,c,d,e,f,g"], "takes 2 to 6 providers; 7 are named");
    refuses(&["q", "-p", "claude,,gemini"], "--providers: \"\" is not a provider's name");
}

#[test]
fn names() {
    refuses(&["q", "--pattern", "shouting"], "invalid value 'shouting' for '--pattern");
    refuses(&["q", "--consensus", "dice"], "invalid value 'dice' for '--consensus");
    refuses(&["q", "--timeout-strategy", "slow"], "--timeout-strategy");
    refuses(&["q", "--pattern", "voting"], "--options: a vote needs at least 2 options");
    refuses(&["q", "--session", "nothing"], "there is no session nothing");
}

#[test]
fn options_of_a_vote() {
    let vote = |options: &[&str], expected: &str| {
        let flags = options.iter().flat_map(|it| ["-o", it]);
        let args: Vec<&str> = ["q", "--pattern", "voting"].into_iter().chain(flags).collect();
        refuses(&args, expected);
    };
    let alike = "--options: the options `Go` and `go` differ only in case or quotes; give each option once";
    vote(&["Rust,Go,go"], alike);
    vote(&["tabs", "“Tabs”"], "--options: the options `tabs` and `“Tabs”` differ only in case or quotes");
    vote(&["a,\"b, c"], "--options: has a quote that is not closed: \"b, c");
    vote(&["\"a\" b,c"], "--options: needs a comma after the quotes around \"a\"");
    vote(&["a,,b"], "--options: option 2 is empty");
}

#[test]
fn topic_and_context() {
    refuses(&[""], "<topic>: is empty");
    refuses(&["  "], "<topic>: is empty");
    refuses(&[&"x".repeat(5_001)], "<topic>: may have at most 5000 characters; this has 5001");
    refuses(
        &["q", "-c", &"x".repeat(10_001)],
        "--context: may have at most 10000 characters; this has 10001",
    );
    refuses(&["-"], "<topic>: is empty");
}

#[test]
fn deciding() {
    refuses(&["q", "--threshold", "1.5"], "--threshold: must be from 0 to 1, not 1.5");
    refuses(&["q", "--threshold", "-0.5"], "--threshold: must be from 0 to 1, not -0.5");
    refuses(&["q", "--consensus", "moderator"], "--synthesizer: the moderator method needs a synthesizer");
    refuses(&["q", "--synthesizer", "grok"], "--synthesizer: grok does not take part");
    refuses(&["q", "--min-providers", "5"], "--min-providers: 5 are required, and only 4 are named");
    refuses(&["q", "--confidence-threshold", "0.5"], "--confidence-threshold: applies only to early exit");
}

#[test]
fn bounds() {
    refuses(&["q", "--timeout", "100"], "--timeout: must be from 5000 to 300000, not 100");
    refuses(&["q", "--temperature", "3"], "--temperature: must be from 0 to 2, not 3");
    refuses(&["q", "--budget", "3"], "--budget");
    refuses(&["q", "--max-cost", "-1"], "--max-cost: must be an amount of USD above 0, not -1");
    refuses(&["q", "--max-calls", "0"], "--max-calls: must be at least 1");
    refuses(&["q", "--recursive", "--max-depth", "5"], "--max-depth: must be from 0 to 4, not 5");
    refuses(&["q", "--simulate", "speed=9"], "--simulate");
}

#[test]
fn roles() {
    refuses(&["q", "--pattern", "debate", "--roles", "claude"], "--roles");
    refuses(&["q", "--pattern", "debate", "--roles", "claude=king"], "--roles: there is no role king");
    refuses(&["q", "--pattern", "debate", "--roles", "grok=judge"], "--roles: grok does not take part");
}

#[test]
fn everything_at_once() {
    let said = User::new().ax(&["discuss", "", "-r", "0", "--threshold", "2"]).ends(2);
    said.says(&["<topic>: is empty", "--rounds: must", "--threshold: must", "nothing was spent"]);
}

#[test]
fn a_wrong_default_is_named_with_its_file() {
    let user = User::new();
    user.configure("[defaults]\nrounds = 99");
    let file = user.config().display().to_string();
    user.ax(&["discuss", "q"]).ends(3).says(&["error: rounds: must be from 1 to 10, not 99", &file]);
    user.configure("[defaults]\nround = 3");
    user.ax(&["discuss", "q"]).ends(3).says(&["did you mean rounds?", &file]);
}

#[test]
fn b12_discussions_can_be_switched_off() {
    let user = User::new();
    user.configure("[features]\ndiscussions = false");
    user.ax(&["discuss", "q", "--offline"]).ends(3).says(&["discussions are switched off"]).prints_nothing();
    user.ax(&["history"]).ends(0);
}

#[test]
fn a_configuration_that_was_named_must_exist() {
    let user = User::new();
    std::fs::remove_file(user.config()).unwrap();
    user.ax(&["history"]).ends(3).says(&["can't be read", "or name another with AX_CONFIG"]);
}
