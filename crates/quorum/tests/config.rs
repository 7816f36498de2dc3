//! The configuration: its settings, and its messages about mistakes.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::path::{Path, PathBuf};

use quorum::{Config, Remedy, Request, config::Mistake};
use serde_json::json;

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
    refuses(
        "[zzz]",
        "there is no section named zzz; there are retention, features, defaults, providers, presets, server, store, limits, tools, workflows",
    );
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
    assert!(parse("[defaults").unwrap_err().starts_with("config.toml: line 1, column "));
}

#[test]
fn a_default_of_the_wrong_kind_is_an_error() {
    refuses("[defaults]\nbudget = 3", "defaults.budget: must be a time like \"180s\" or \"3m\", not 3");
    refuses(
        "[defaults]\nstop-on-failure = \"x\"",
        "defaults.stop-on-failure: must be true or false, not \"x\"",
    );
    refuses("[defaults]\nmax-cost = inf", "defaults.max-cost: nan and inf are not allowed");
    refuses("[defaults]\nsimulate = \"failure=nan\"", "defaults.simulate: nan and inf are not allowed");
    refuses("[defaults]\nrounds = \"two\"", "defaults.rounds: must be a whole number, not \"two\"");
    refuses("[defaults]\nrounds = true", "defaults.rounds: must be a whole number, not true");
    refuses("[defaults]\nrounds = 2.5", "defaults.rounds: must be a whole number, not 2.5");
    refuses(
        "[defaults]\nrounds = -1",
        "defaults.rounds: must be a whole number from 0 to 4294967295, not -1",
    );
    refuses("[defaults]\nrounds = [1]", "defaults.rounds: must be a whole number, not a list");
    refuses("[defaults]\npattern = 5", "defaults.pattern: must be a string, not 5");
    refuses(
        "[defaults]\nrecursive = \"a, expected b\"",
        "defaults.recursive: must be true or false, not \"a, expected b\"",
    );
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

#[test]
fn a_providers_section_is_checked_before_anything_is_spent() {
    let row = |text: &str, expected: &str| {
        refuses(&format!("[providers.claude]\n{text}"), &format!("providers.claude{expected}"));
    };
    row("modle = 'x'", ": there is no key in [providers.claude] named modle; did you mean model?");
    row("wire = 'openai-chap'", ".wire: there is no wire named openai-chap; did you mean openai-chat?");
    row("base_url = 'api.x'", ".base_url is not a URL; write it in full, like https://host/v1");
    row(
        "base_url = 'https://u:SECRET@x'",
        ".base_url contains a user name or password; name a variable for the key with key_env instead",
    );
    row(
        "base_url = 'http://169.254.169.254'",
        ".base_url is link-local or a cloud's metadata service, and no request is ever sent there",
    );
    row("window = 0", ".window is a whole number above 0");
    row("window = -1", ".window is a whole number above 0");
    row(
        "price = { input = -1, output = 1 }",
        ".price is dollars for a million tokens, like { input = 3.0, output = 15.0, cached = 0.3 }; none of them below 0",
    );
    row(
        "quirks = { temprature = false }",
        ": there is no key in quirks named temprature; did you mean temperature?",
    );
    row("key_env = 'sk-SECRET'", ".key_env is the name of a variable, like MY_API_KEY, not a key");
    row("key = 'SECRET'", ".key: keys don't belong in this file; name a variable with key_env");
    refuses(
        "[providers.cluade]\nmodel = 'x'",
        "providers.cluade: a new provider needs wire, base_url and model, or a command; wire and base_url are missing. Did you mean claude?",
    );
    refuses(
        "[providers.claude]\n[providers.anthropic]",
        "providers.claude is configured twice: it is an alias of claude",
    );
    let plain = "wire = 'openai-chat'\nmodel = 'm'\nbase_url = 'http://host/v1'";
    assert!(parse(&format!("[providers.mine]\n{plain}")).unwrap_err().contains("not encrypted"));
    let config =
        parse(&format!("[providers.mine]\n{plain}\ninsecure = true\nprice = {{ input = 1, output = 2.5 }}"))
            .unwrap();
    assert_eq!(config.providers[0].base_url.as_ref().unwrap().as_str(), "http://host/v1");
}

#[test]
fn a_default_number_of_rounds_is_ignored_by_a_debate_that_takes_none() {
    let config = parse("[defaults]\nrounds = 4").unwrap();
    let of = |format: &str, rounds: Option<u32>| {
        let settings = [("debateFormat".to_owned(), format.into())].into();
        let debate = Request { pattern: Some("debate".to_owned()), rounds, settings, ..Request::on("x") };
        config.fill(&debate).0.rounds
    };
    assert_eq!(of("structured-rounds", None), Some(4));
    assert_eq!((of("free-form", None), of("free-form", Some(2))), (None, Some(2)));
}

#[test]
fn a_preset_overrides_defaults_and_a_request_overrides_both() {
    let text = "[defaults]\nrounds = 5\nthreshold = 0.7\n[presets.quick]\nrounds = 1\npattern = \"debate\"\njudge = \"qwen\"";
    let config = parse(text).unwrap();
    let quick = Request { preset: Some("quick".to_owned()), ..Request::on("x") };
    let (filled, fields) = config.fill(&quick);
    assert_eq!(
        (filled.rounds, filled.settings.get("threshold").cloned(), filled.settings.get("judge").cloned()),
        (Some(1), Some(json!(0.7)), Some(json!("qwen")))
    );
    assert_eq!(
        (fields, filled.preset),
        (["judge", "pattern", "rounds", "threshold"].map(str::to_owned).to_vec(), None)
    );
    let (filled, _) = config.fill(&Request { rounds: Some(3), ..quick.clone() });
    assert_eq!(filled.rounds, Some(3));
    // Options of a debate do not apply to a vote.
    let (filled, _) = config.fill(&Request { pattern: Some("voting".to_owned()), ..quick });
    assert_eq!((filled.settings.get("judge"), filled.rounds), (None, Some(1)));
    let (filled, _) = config.fill(&Request::on("x"));
    assert_eq!((filled.rounds, filled.pattern), (Some(5), None));
}

#[test]
fn an_unknown_preset_is_refused_with_the_nearest() {
    let config = parse("[presets.architecture]\nrounds = 3\n[presets.quick]\nrounds = 1").unwrap();
    let unknown = |name: &str| config.preset(name).unwrap_err().message;
    assert_eq!(unknown("architectur"), "there is no preset named architectur; did you mean architecture?");
    assert_eq!(unknown("zzz"), "there is no preset named zzz; there are architecture, quick");
    let none = parse("").unwrap().preset("quick").unwrap_err();
    let file = PathBuf::from("config.toml");
    let expected = Mistake {
        message: "there is no preset named quick; the configuration has none".to_owned(),
        remedy: Some(Remedy::WritePreset { name: "quick".to_owned(), file }),
    };
    assert_eq!(none, expected);
}

#[test]
fn i19_a_preset_with_the_name_of_a_pattern_is_a_mistake() {
    refuses(
        "[presets.debate]\nrounds = 3",
        "presets.debate: a pattern has this name, and quorum/debate would mean both",
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = "[defaults]\nround = 3\nbudget = 3\n[presets.a]\nusage = 1\noutput-format = \"xml\"\n[presets]\nb = 3\n[zzz]";
    let lines: Vec<String> = parse(text).unwrap_err().lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "config.toml: defaults.budget: must be a time like \"180s\" or \"3m\", not 3",
            "config.toml: there is no key in [defaults] named round; did you mean rounds?",
            "config.toml: presets.a.output-format: must be one of text, md, json, jsonl, not \"xml\"",
            "config.toml: presets.a.usage: must be true or false, not 1",
            "config.toml: presets.b is a section: [presets.b]",
            "config.toml: there is no section named zzz; there are retention, features, defaults, providers, presets, server, store, limits, tools, workflows",
        ]
    );
}

#[test]
fn unusable_values_are_found_before_they_are_used() {
    let text = "[defaults]\nrounds = 99\npattern = \"voting\"\n[presets.bold]\nthreshold = 2.0\n[presets.fine]\nrounds = 3";
    let complaints = quorum::complaints(&parse(text).unwrap());
    let expected = [
        "defaults.rounds: must be from 1 to 10, not 99",
        "presets.bold.threshold: must be from 0 to 1, not 2",
    ];
    // A vote's missing options may be given when the preset is used.
    assert_eq!(complaints, expected);
    assert_eq!(quorum::complaints(&parse("[presets.fine]\nrounds = 3").unwrap()), [""; 0]);
}

#[test]
fn s1_a_key_that_breaks_the_file_is_not_repeated() {
    for text in
        ["[providers.claude]\nkey = sk-canary-1", "[providers.claude]\nkey = \"sk-canary-1", "sk-canary-1"]
    {
        let error = parse(text).unwrap_err();
        assert!(error.starts_with("config.toml: line ") && !error.contains("canary"), "{error}");
    }
}

#[test]
fn all_mistakes_of_a_provider_are_reported_at_once() {
    let row = "[providers.alpha]\nwire = 'openai_chat'\nbase_url = 'nowhere'\nconcurrency = 0\nmodle = 'm'";
    refuses(
        row,
        "providers.alpha.base_url is not a URL; write it in full, like https://host/v1\n\
         config.toml: providers.alpha.concurrency is a whole number above 0\n\
         config.toml: providers.alpha: there is no key in [providers.alpha] named modle; did you mean model?\n\
         config.toml: providers.alpha.wire: there is no wire named openai_chat; did you mean openai-chat?",
    );
    refuses(
        "[providers.alpha]\nmodel = 'm'",
        "providers.alpha: a new provider needs wire, base_url and model, or a command; wire and base_url are \
         missing.",
    );
}

#[test]
fn a_program_gets_the_variables_that_are_named() {
    let config =
        parse("[providers.mine]\ncommand = ['prog']\nenvironment = ['MINE_TOKEN', 'MINE_HOME']").unwrap();
    assert_eq!(config.providers[0].environment, ["MINE_TOKEN", "MINE_HOME"]);
    assert_eq!(parse("[providers.claude]\nenvironment = 'ONE'").unwrap().providers[0].environment, ["ONE"]);
    refuses(
        "[providers.mine]\ncommand = ['prog']\nenvironment = 'sk-canary'",
        "providers.mine.environment is the name of a variable, like MY_API_KEY, not a key",
    );
}

#[test]
fn the_guides_example_is_a_configuration() {
    let guide = include_str!("../../../docs/providers.md");
    let example = guide.split("```toml\n").nth(1).and_then(|it| it.split("```").next()).unwrap();
    let config = parse(example).unwrap();
    let names: Vec<&str> = config.providers.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["alpha", "mine"]);
}
