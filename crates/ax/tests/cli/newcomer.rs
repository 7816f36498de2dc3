//! A user without a key: simulated output is never taken for real, and a typo never costs money.

use std::collections::BTreeSet;

use quorum_testkit::server::{Server, server};

use crate::{panel::asked, user::User};

pub(crate) const MARK: &str = "> Simulated: no model was asked, and what follows is made up.\n\n";

/// An environment without a key, a program or a server, and with nothing configured.
fn bare() -> User {
    let user = User::new();
    user.configure("");
    user
}

/// An environment with one key, and the server of its vendor.
fn with_a_key() -> (User, Server) {
    let vendor = server().on_thread();
    let user = bare().with("OPENAI_API_KEY", "k").with("OPENAI_BASE_URL", &format!("{}/v1", vendor.url()));
    (user, vendor)
}

#[track_caller]
fn keeps_nothing(user: &User) {
    user.ax(&["history"]).ends(0).says(&["No discussions found"]).prints_nothing();
}

#[test]
fn without_providers_a_pipe_is_refused_with_exit_code_4() {
    for args in [
        &["Tabs or spaces?"][..],
        &["ask", "Tabs or spaces?"],
        &["discuss", "Tabs or spaces?", "-q"],
        &["discuss", "Tabs or spaces?", "--json"],
        &["discuss", "Tabs or spaces?", "--dry-run"],
        &["discuss", "Tabs or spaces?", "--detach"],
        &["discuss", "Tabs or spaces?", "--seed", "3"],
    ] {
        let user = bare();
        let said = user.ax(args).ends(4).prints_nothing();
        said.says(&[
            "error: no provider is available",
            "`--offline` uses simulated voices; or make one of these available:\n",
            "\n  claude: no key: set ANTHROPIC_API_KEY",
            "\n  openai: no key: set OPENAI_API_KEY",
        ]);
        keeps_nothing(&user);
    }
}

#[test]
fn without_providers_named_ones_are_refused_too() {
    let user = bare();
    let said = user.ax(&["Tabs or spaces?", "-p", "claude,gemini"]).ends(4).prints_nothing();
    said.says(&["claude is not available", "gemini is not available", "`--offline`"]);
    keeps_nothing(&user);
}

#[test]
fn offline_runs_anywhere_and_its_result_is_marked_on_every_surface() {
    let user = bare();
    let quick = ["Tabs or spaces?", "--offline", "--simulate", "latency=0ms", "-r", "1"];
    let run = |more: &[&str]| user.ax(&[&quick[..], more].concat()).ends(0).out;
    for more in [&[][..], &["-q"], &["--verbose"]] {
        let out = run(more);
        assert!(out.starts_with(MARK), "{more:?}: {out}");
    }
    let said_so = "Simulated: no model was asked, and what follows is made up";
    assert!(run(&["--output-format", "md"]).contains(said_so));
    let events = run(&["--output-format", "jsonl"]);
    let started = events.lines().find(|it| it.contains("\"type\":\"discussion-started\"")).unwrap();
    assert!(started.contains("\"simulated\":true"), "{started}");
    assert_eq!(user.ax(&["show", "last", "--json"]).ends(0).json()["simulated"], true);
    for verb in [&["show", "last"][..], &["show", "last", "-v"], &["replay", "last", "--fast"]] {
        let out = user.ax(verb).ends(0).out;
        assert!(out.starts_with(MARK), "{verb:?}: {out}");
    }
    for format in ["markdown", "html"] {
        let out = user.ax(&["export", "last", "--as", format]).ends(0).out;
        assert!(out.contains(said_so), "{format}: {out}");
    }
    let history = user.ax(&["history"]).ends(0).out;
    assert!(history.lines().all(|line| line.ends_with("  [simulated] Tabs or spaces?")), "{history}");
    let history = user.ax(&["history", "--json"]).ends(0).json();
    assert!(history.as_array().unwrap().iter().all(|it| it["simulated"] == true), "{history}");
}

#[test]
fn a_typo_in_the_panel_of_simulated_voices_went_unnoticed() {
    let user = bare();
    let typo = ["q?", "-p", "cluade,gemini", "--offline", "--dry-run"];
    let warning = "warning: --providers: cluade is not a known provider; did you mean claude?\n";
    user.ax(&typo).ends(0).says(&[warning]);
    let said = user.ax(&["q?", "-p", "ann,bob", "--offline", "--dry-run"]).ends(0);
    assert!(!said.err.contains("warning"), "{said:#?}");
}

#[test]
fn the_demonstration_runs_anywhere_and_is_marked() {
    let out = bare().ax(&["demo", "--fast"]).ends(0).out;
    // The panel votes on the answer, so the line has the result of the vote too.
    let mark = format!("{} Adopted by 3 of 4.\n\n", MARK.trim_end());
    assert!(out.starts_with(&mark), "{out}");
    for part in [
        "## Votes",
        "| agree | 3 |",
        "## Dissent",
        "gemini: disagree",
        "6 of 7 sentences have a source in the discussion",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

#[test]
fn a_typo_never_spends_money() {
    let (user, vendor) = with_a_key();
    for (args, meant) in [
        (&["dicuss", "Tabs or spaces?"][..], "there is no verb named dicuss; did you mean discuss?"),
        (&["-q", "dicuss", "Tabs or spaces?"], "there is no verb named dicuss; did you mean discuss?"),
        (&["ak", "Tabs", "or", "spaces?"], "there is no verb named ak; did you mean ask?"),
        (&["hlep"], "there is no verb named hlep; did you mean help?"),
        (&["Kubernetes"], "there is no verb named Kubernetes"),
        (&["observe", "last"], "there is no verb named observe"),
        (&[""], "error: the question is empty\nNothing was asked.\n"),
        (&[" "], "error: the question is empty\nNothing was asked.\n"),
        (&["-1 or +1?"], "unexpected argument '-1' found"),
    ] {
        user.ax(args).ends(2).says(&[meant]).prints_nothing();
    }
    assert_eq!(vendor.requests().len(), 0);
    keeps_nothing(&user);
}

#[test]
fn a_bare_question_is_asked() {
    for args in [
        &["Tabs or spaces?", "-r", "1"][..],
        &["-r", "1", "-q", "Tabs or spaces?"],
        &["-r1", "--", "Tabs or spaces?"],
        &["ask", "Tabs or spaces?", "-r", "1"],
        &["chat", "Tabs or spaces?", "-r", "1"],
        &["Tabs", "or", "spaces?", "-r", "1"],
    ] {
        let (user, vendor) = with_a_key();
        user.ax(args).ends(0);
        let topic = user.ax(&["show", "last", "--json"]).ends(0).json()["topic"].clone();
        assert_eq!(topic, "Tabs or spaces?", "{args:?}");
        let asked: BTreeSet<String> = asked(&vendor).into_iter().collect();
        assert_eq!(asked.len(), 3, "{args:?}: {asked:?}");
    }
}

#[test]
fn text_in_a_pipe_is_context_of_a_bare_question() {
    let user = User::new();
    user.ax_hearing(&["Tabs or spaces?"], "We are five.").ends(0);
    let shown = user.ax(&["export", "last"]).ends(0).out;
    assert!(shown.contains("We are five."), "{shown}");
}
