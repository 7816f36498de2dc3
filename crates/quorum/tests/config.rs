//! The configuration: what it can say, and what it says about mistakes.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::path::{Path, PathBuf};

use quorum::{Config, Request};

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("config.toml"), PathBuf::from("data")).map_err(|error| error.to_string())
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    assert_eq!(parse(text).unwrap_err(), format!("config.toml: {expected}"));
}

#[test]
fn nothing_set_is_fine() {
    let config = parse("").unwrap();
    assert_eq!((config.retention_days, config.discussions), (Some(30), true));
    assert_eq!(config.database(), Path::new("data/quorum.db"));
    let request = Request::on("x");
    assert_eq!(config.fill(&request), (request, Vec::new()));
}

#[test]
fn inv_disc_632_retention_is_configurable_and_can_be_switched_off() {
    let days = |text: &str| parse(&format!("[retention]\ndays = {text}")).unwrap().retention_days;
    assert_eq!([days("7"), days("0"), days("false")], [Some(7), None, None]);
    refuses("[retention]\ndays = -1", "retention.days is a number of days, or 0 for never; not -1");
    refuses("[retention]\ndays = true", "retention.days is a number of days, or 0 for never; not true");
}

#[test]
fn b12_discussions_can_be_switched_off() {
    assert!(!parse("[features]\ndiscussions = false").unwrap().discussions);
    refuses("[features]\ndiscussions = 1", "features.discussions is true or false, not 1");
}

#[test]
fn an_unknown_key_is_an_error_that_names_the_nearest() {
    refuses("[retension]\ndays = 3", "there is no section named retension; did you mean retention?");
    refuses("[zzz]", "there is no section named zzz; there are retention, features, defaults, server");
    refuses("[retention]\nday = 3", "there is no key in [retention] named day; did you mean days?");
    refuses(
        "[features]\ndiscusions = true",
        "there is no key in [features] named discusions; did you mean discussions?",
    );
    refuses(
        "[defaults]\nmin_providers = 3",
        "there is no key in [defaults] named min_providers; did you mean min-providers?",
    );
    refuses("retention = 3", "retention is a section: [retention]");
    assert!(parse("[defaults").unwrap_err().starts_with("config.toml: TOML parse error at line 1"));
}

#[test]
fn a_default_of_the_wrong_kind_is_an_error() {
    refuses("[defaults]\nbudget = 3", "defaults.budget: is a time like \"180s\" or \"3m\", not 3");
    refuses(
        "[defaults]\nstop-on-failure = \"x\"",
        "defaults.stop-on-failure: must be true or false, not \"x\"",
    );
    refuses("[defaults]\nmax-cost = inf", "defaults.max-cost: nan and inf are no numbers to go by");
    refuses(
        "[defaults]\nsimulate = \"failure=nan\"",
        "defaults.simulate: nan and inf are no numbers to go by",
    );
    let error = parse("[defaults]\nrounds = \"two\"").unwrap_err();
    assert!(error.starts_with("config.toml: defaults.rounds: invalid type"), "{error}");
}

#[test]
fn defaults_fill_what_a_request_leaves_out() {
    let text = "[defaults]\nproviders = \"ann, bob\"\nrounds = 5\nbudget = \"3m\"\nstop-on-failure = true\n\
                roles = \"ann=judge\"\nsimulate = \"latency=0ms\"\noptions = [\"a\", \"b\"]";
    let request = Request { rounds: Some(1), ..Request::on("x") };
    let (filled, fields) = parse(text).unwrap().fill(&request);
    assert_eq!(filled.rounds, Some(1));
    assert_eq!(filled.providers, Some(vec!["ann".to_owned(), "bob".to_owned()]));
    assert_eq!((filled.budget_ms, filled.continue_on_provider_failure), (Some(180_000), Some(false)));
    assert_eq!(filled.roles.unwrap()["ann"], "judge");
    assert_eq!(filled.simulate.unwrap().latency_ms, Some(0));
    assert_eq!(filled.voting_options.unwrap().len(), 2);
    assert!(fields.contains(&"providers".to_owned()) && !fields.contains(&"rounds".to_owned()));
}

#[test]
fn a_default_that_needs_a_switch_waits_for_it() {
    let config = parse("[defaults]\nmax-depth = 3\nconfidence-threshold = 0.8").unwrap();
    let (plain, _) = config.fill(&Request::on("x"));
    assert_eq!((plain.max_depth, plain.confidence_threshold), (None, None));
    let (recursive, _) = config.fill(&Request { recursive: Some(true), ..Request::on("x") });
    assert_eq!((recursive.max_depth, recursive.confidence_threshold), (Some(3), None));
}
