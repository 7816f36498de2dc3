//! Every exit code, once.

use crate::user::User;

#[test]
fn b09_every_exit_code_means_what_it_says() {
    let user = User::new();
    let check = |code: i32, args: &[&str]| drop(user.ax(args).ends(code));
    check(0, &["discuss", "q"]);
    check(
        0,
        &[
            "discuss",
            "q",
            "--consensus",
            "unanimous",
            "--simulate",
            "latency=0ms,stubbornness=1",
            "--seed",
            "3",
        ],
    );
    check(2, &["discuss"]);
    check(2, &["discuss", "q", "--rounds", "0"]);
    check(2, &["show", "nothing"]);
    check(2, &["shout"]);
    check(4, &["discuss", "q", "-p", "claude,glm", "--simulate", "latency=0ms,dead=glm"]);
    check(5, &["discuss", "q", "--max-calls", "6"]);
    check(5, &["discuss", "q", "--budget", "1s", "--simulate", "latency=700ms"]);
    let stubborn = ["--simulate", "latency=0ms,stubbornness=1", "--seed", "3", "--require-consensus"];
    check(6, &[&["discuss", "q", "--consensus", "unanimous"], &stubborn[..]].concat());
    check(6, &["resume", "last", "--require-consensus"]);
    check(0, &["resume", "last"]);
    user.configure("[defaults]\nrequire-consensus = true");
    check(6, &[&["discuss", "q", "--consensus", "unanimous"], &stubborn[..4]].concat());
    user.configure("[broken");
    check(3, &["discuss", "q"]);
    check(3, &["config", "check"]);
}

#[test]
fn the_nearest_word_is_suggested() {
    let user = User::new();
    let check =
        |args: &[&str], expected: &str| drop(user.ax(args).ends(2).says(&[expected]).prints_nothing());
    check(&["discus", "q"], "there is no verb named discus; did you mean discuss?");
    check(&["discuss", "q", "--round", "3"], "a similar argument exists: '--rounds'");
    check(&["discuss", "q", "--pattern", "debat"], "a similar value exists: 'debate'");
    check(&["config", "chek"], "a similar subcommand exists: 'check'");
    check(&["help", "config", "chek"], "a similar subcommand exists: 'check'");
    for verb in ["help", "man"] {
        let listed = "`ax help` lists the verbs.\n";
        check(
            &[verb, "dicuss"],
            &format!("error: there is no verb named dicuss; did you mean discuss?\n{listed}"),
        );
        check(&[verb, "xyzzy"], &format!("error: there is no verb named xyzzy\n{listed}"));
    }
}

#[test]
fn a_flag_that_resembles_none_gets_no_suggestion() {
    let said = User::new().ax(&["demo", "--slow"]).ends(2).prints_nothing();
    assert!(!said.err.contains("similar") && !said.err.contains("--log"), "{said:#?}");
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let user = User::new();
    let check = |args: &[&str], expected: &[&str]| {
        user.ax(&[&["discuss", "q"], args].concat()).ends(2).says(expected).prints_nothing();
    };
    check(&["--json", "--output-format", "md"], &["'--json' cannot be used with '--output-format"]);
    check(&["--detach", "--dry-run"], &["'--detach' cannot be used with '--dry-run'"]);
    check(&["-p", "claude,glm", "--participants", "claude,glm"], &["--participants: names the whole panel"]);
    check(&["--max-depth", "2"], &["--max-depth: applies only to sub-discussions"]);
    check(&["--judge", "qwen"], &["--judge: applies only to the pattern debate"]);
}
