//! From requests to specs: defaults, refusals and their messages.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod panel;

use quorum::{
    Remedy, Request,
    model::{participant::Participant, settings::Settings, spec::Spec},
    request::{MissingRoles, Setting, check},
};
use serde_json::{Value, json};

const LIBRARY: MissingRoles = MissingRoles::Refuse;
const COMMAND: MissingRoles = MissingRoles::Assign;

fn request(fields: &Value) -> Request {
    let mut all = json!({ "topic": "Tabs or spaces?" });
    let object = all.as_object_mut().unwrap();
    object.extend(fields.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

fn checked(fields: &Value, missing_roles: MissingRoles) -> Result<Spec, String> {
    let setting = Setting { missing_roles, ..Setting::default() };
    check(&request(fields), &setting).map_err(|refusals| {
        refusals.iter().map(|it| format!("{} {it}", it.code)).collect::<Vec<_>>().join("\n")
    })
}

#[track_caller]
fn spec(fields: &Value) -> Spec {
    checked(fields, COMMAND).unwrap()
}

/// The refusals of a request, without the default code.
#[track_caller]
fn refuses(fields: &Value, expected: &str) {
    let refusals = checked(fields, LIBRARY).unwrap_err();
    assert_eq!(refusals.replace("DISCUSSION_INVALID_REQUEST ", ""), expected, "{fields}");
}

#[track_caller]
fn accepts(fields: &Value) {
    checked(fields, LIBRARY).unwrap();
}

/// The default of an option.
fn default_of(option: &str) -> Value {
    quorum::built_in().option(option).unwrap().schema(&[])["default"].clone()
}

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("voice{number}")).collect()
}

fn table(spec: &Spec) -> String {
    let seat = |it: &Participant| format!("{} {}", it.name, it.role);
    spec.participants.iter().map(seat).collect::<Vec<_>>().join(", ")
}

#[test]
fn defaults_of_an_empty_request() {
    let spec = spec(&json!({}));
    assert_eq!((spec.pattern.as_str(), spec.consensus.method.as_str()), ("synthesis", "synthesis"));
    assert_eq!(table(&spec), "claude speaker, glm speaker, qwen speaker, gemini speaker");
    assert_eq!((spec.rounds, spec.timing.step_ms, spec.timing.total_ms), (2, 60_000, 1_800_000));
    assert_eq!((spec.timing.reserve_ms, &spec.settings), (10_000, &Settings::default()));
    assert_eq!(default_of("threshold"), json!(0.5));
    assert_eq!((spec.manner.temperature, spec.manner.max_tokens), (0.7, 2_048));
    assert_eq!((spec.tolerance.go_on, spec.tolerance.min_providers), (true, 2));
    assert_eq!((spec.limits.calls, spec.recursion, spec.early_exit), (None, None, None));
    assert!(spec.simulation.is_none() && spec.consensus.include_dissent);
    assert!(spec.participants.iter().all(|it| !it.strengths.is_empty() && it.weight == 1.0));
}

#[test]
fn a02_a_dialogue_is_for_two_and_longer() {
    let spec = spec(&json!({ "pattern": "dialogue" }));
    assert_eq!(table(&spec), "claude speaker, gemini speaker");
    assert_eq!((spec.rounds, spec.timing.step_ms, spec.timing.total_ms), (10, 120_000, 1_800_000));
    assert_eq!(spec.settings, Settings::default());
    let defaults = [default_of("requireBothConsensus"), default_of("minRoundsBeforeConsensus")];
    assert_eq!(defaults, [json!(true), json!(1)]);
    refuses(
        &json!({ "pattern": "dialogue", "providers": names(3) }),
        "providers: a discussion of this kind takes 2 providers; 3 are named",
    );
}

#[test]
fn voting_decides_by_votes() {
    let options = json!(["a", "b"]);
    let method = |fields: &Value| spec(fields).consensus.method;
    assert_eq!(method(&json!({ "pattern": "voting", "votingOptions": options })), "voting");
    let majority = json!({ "pattern": "voting", "votingOptions": options, "consensus": "majority" });
    assert_eq!(method(&majority), "majority");
}

#[test]
fn b05_topic() {
    accepts(&json!({ "topic": "é".repeat(5_000) }));
    accepts(&json!({ "topic": format!("  {}  ", "x".repeat(5_000)) }));
    refuses(&json!({ "topic": "" }), "topic: is empty; give a question to discuss");
    refuses(&json!({ "topic": " \n " }), "topic: is empty; give a question to discuss");
    refuses(&json!({ "topic": "x".repeat(5_001) }), "topic: may have at most 5000 characters; this has 5001");
}

#[test]
fn b05_context_and_options() {
    accepts(&json!({ "context": "x".repeat(10_000), "votingOptions": names(10) }));
    refuses(
        &json!({ "context": "x".repeat(10_001) }),
        "context: may have at most 10000 characters; this has 10001",
    );
    refuses(&json!({ "votingOptions": names(11) }), "votingOptions: takes 2 to 10 options; there are 11");
    refuses(&json!({ "votingOptions": ["a"] }), "votingOptions: takes 2 to 10 options; there are 1");
    refuses(&json!({ "votingOptions": ["a", " "] }), "votingOptions: option 2 is empty");
    refuses(&json!({ "votingOptions": ["a", "b", "a "] }), "votingOptions: a is listed twice");
    assert_eq!(spec(&json!({ "votingOptions": [" REST ", "gRPC"] })).options, ["REST", "gRPC"]);
    assert_eq!(spec(&json!({ "context": "  " })).background, None);
}

#[test]
fn b05_session() {
    accepts(&json!({ "sessionId": "01928374-0000-7000-8000-000000000000" }));
    refuses(&json!({ "sessionId": "x" }), "sessionId: x is not a session's id");
    let refused = check(&request(&json!({ "sessionId": "x" })), &Setting::default()).unwrap_err();
    assert_eq!(refused[0].remedies, [Remedy::ListSessions]);
}

#[test]
fn b03_bounds() {
    for (field, good, bad, message) in [
        (
            "providerTimeout",
            json!([5_000, 300_000]),
            json!([4_999, 300_001]),
            "must be from 5000 to 300000, not ",
        ),
        ("temperature", json!([0.0, 2.0]), json!([-0.1, 2.1]), "must be from 0 to 2, not "),
        ("maxTokensPerTurn", json!([16, 200_000]), json!([15]), "must be from 16 to 200000, not "),
        ("minSynthesisMs", json!([0, 600_000]), json!([600_001]), "must be from 0 to 600000, not "),
        ("budgetMs", json!([1_000, 86_400_000]), json!([999]), "must be from 1000 to 86400000, not "),
        ("minRoundsBeforeConsensus", json!([0, 10]), json!([11, -1]), "must be from 0 to 10, not "),
    ] {
        let pattern = if field == "minRoundsBeforeConsensus" { "dialogue" } else { "synthesis" };
        let order = |value: &Value| json!({ "pattern": pattern, field: value });
        good.as_array().unwrap().iter().for_each(|value| accepts(&order(value)));
        for value in bad.as_array().unwrap() {
            refuses(&order(value), &format!("{field}: {message}{value}"));
        }
    }
}

#[test]
fn b03_min_providers() {
    accepts(&json!({ "minProviders": 1 }));
    accepts(&json!({ "minProviders": 3, "providers": names(3) }));
    refuses(&json!({ "minProviders": 0 }), "minProviders: must be at least 1");
    refuses(
        &json!({ "minProviders": 3, "providers": names(2) }),
        "minProviders: 3 are required, and only 2 are named",
    );
    let one = json!({ "minProviders": 3, "participants": ["claude", "eva:person"], "pattern": "roundtable" });
    refuses(&one, "minProviders: 3 are required, and only 1 is named");
}

#[test]
fn b03_prompts() {
    let spec = spec(&json!({ "providerPrompts": { "anthropic": "Be brief." } }));
    assert_eq!(spec.participants[0].brief.as_deref(), Some("Be brief."));
    refuses(
        &json!({ "providerPrompts": { "nobody": "Be brief." } }),
        "providerPrompts: nobody does not take part; the participants are claude, glm, qwen, gemini",
    );
    refuses(
        &json!({ "providerPrompts": { "claude": "x".repeat(10_001) } }),
        "providerPrompts.claude: may have at most 10000 characters; this has 10001",
    );
}

#[test]
fn b02_synthesis_prompt() {
    accepts(&json!({ "synthesisPrompt": "x".repeat(5_000) }));
    refuses(
        &json!({ "synthesisPrompt": "x".repeat(5_001) }),
        "synthesisPrompt: may have at most 5000 characters; this has 5001",
    );
    accepts(&json!({ "synthesisPrompt": format!("  {}  ", "x".repeat(5_000)) }));
    let settings = |prompt: &str| spec(&json!({ "synthesisPrompt": prompt })).settings;
    assert_eq!(settings(" In verse. "), Settings::default().with("synthesisPrompt", "In verse."));
    assert_eq!(settings(" \n "), Settings::default(), "a blank one does not replace ours");
}

#[test]
fn inv_disc_003_a_moderator_is_named() {
    accepts(&json!({ "consensus": "moderator", "synthesizer": "gemini" }));
    refuses(
        &json!({ "consensusMethod": "moderator" }),
        "synthesizer: the moderator method needs a synthesizer: name the participant who decides",
    );
    refuses(
        &json!({ "synthesizer": "grok" }),
        "synthesizer: grok does not take part; the participants are claude, glm, qwen, gemini",
    );
}

#[test]
fn inv_disc_004_the_threshold_is_a_share() {
    accepts(&json!({ "threshold": 0 }));
    accepts(&json!({ "threshold": 1 }));
    refuses(&json!({ "threshold": 1.5 }), "threshold: must be from 0 to 1, not 1.5");
    refuses(&json!({ "threshold": -0.1 }), "threshold: must be from 0 to 1, not -0.1");
    refuses(&json!({ "threshold": "half" }), "threshold: must be a number from 0 to 1, not \"half\"");
}

#[test]
fn inv_disc_005_a_discussion_needs_two() {
    accepts(&json!({ "providers": names(2) }));
    refuses(
        &json!({ "providers": names(1) }),
        "providers: a discussion of this kind takes 2 to 6 providers; 1 is named",
    );
    refuses(
        &json!({ "providers": [] }),
        "providers: a discussion of this kind takes 2 to 6 providers; 0 are named",
    );
}

#[test]
fn inv_disc_006_at_most_six_participants() {
    accepts(&json!({ "providers": names(6) }));
    refuses(
        &json!({ "providers": names(7) }),
        "providers: a discussion of this kind takes 2 to 6 providers; 7 are named",
    );
}

#[test]
fn inv_disc_007_one_to_ten_rounds() {
    accepts(&json!({ "rounds": 1 }));
    accepts(&json!({ "rounds": 10 }));
    refuses(&json!({ "rounds": 0 }), "rounds: must be from 1 to 10, not 0");
    refuses(&json!({ "rounds": 99 }), "rounds: must be from 1 to 10, not 99");
}

#[test]
fn inv_disc_008_the_library_demands_the_roles_of_a_debate() {
    let roles = json!({ "claude": "proponent", "glm": "opponent", "qwen": "judge" });
    accepts(&json!({ "pattern": "debate", "roles": roles }));
    refuses(
        &json!({ "pattern": "debate" }),
        "DISCUSSION_INVALID_ROLES roles: a debate needs a proponent, an opponent and a judge; nobody is proponent or opponent or judge",
    );
    refuses(
        &json!({ "pattern": "debate", "roles": { "claude": "proponent", "glm": "opponent" } }),
        "DISCUSSION_INVALID_ROLES roles: a debate needs a proponent, an opponent and a judge; nobody is judge",
    );
    refuses(
        &json!({ "roles": { "grok": "judge", "glm": "king" } }),
        "DISCUSSION_INVALID_ROLES roles: there is no role king, given to glm; there are proponent, opponent, judge, moderator, neutral, writer, manager, leader, specialist, user\n\
         DISCUSSION_INVALID_ROLES roles: grok does not take part; the participants are claude, glm, qwen, gemini",
    );
}

#[test]
fn b09_the_command_hands_out_the_roles_of_a_debate() {
    for (fields, expected) in [
        (json!({}), "claude writer, glm judge, qwen proponent, gemini opponent"),
        (json!({ "providers": ["ann", "bob"] }), "ann proponent, bob opponent, ann-judge judge"),
        (
            json!({ "providers": ["ann", "bob"], "synthesizer": "bob" }),
            "ann proponent, bob opponent, ann-judge judge",
        ),
        (json!({ "synthesizer": "gemini" }), "claude judge, glm proponent, qwen opponent, gemini writer"),
        (
            json!({ "roles": { "claude": "judge" } }),
            "claude judge, glm writer, qwen proponent, gemini opponent",
        ),
        (
            json!({ "providers": ["ann", "bob"], "roles": { "ann": "opponent", "bob": "proponent" } }),
            "ann opponent, bob proponent, ann-judge judge",
        ),
        (json!({ "judges": ["google", "qwen"] }), "claude proponent, glm opponent, qwen judge, gemini judge"),
        (
            json!({ "providers": ["a", "b", "c", "d", "e", "f"], "judges": ["d", "e", "f"] }),
            "a writer, b proponent, c opponent, d judge, e judge, f judge",
        ),
        (
            json!({ "providers": ["a", "b", "c", "d", "e", "f"] }),
            "a writer, b judge, c proponent, d opponent, e proponent, f opponent",
        ),
    ] {
        let mut fields = fields;
        fields["pattern"] = json!("debate");
        assert_eq!(table(&spec(&fields)), expected, "{fields}");
    }
}

#[test]
fn inv_disc_600_depth_is_bounded_and_needs_recursion() {
    let recursion = spec(&json!({ "recursive": true })).recursion.unwrap();
    assert_eq!((recursion.max_depth, recursion.strategy.name()), (2, "cascade"));
    accepts(&json!({ "recursive": true, "maxDepth": 0 }));
    accepts(&json!({ "recursive": true, "maxDepth": 4, "timeoutStrategy": "budget" }));
    refuses(&json!({ "recursive": true, "maxDepth": 5 }), "maxDepth: must be from 0 to 4, not 5");
    refuses(
        &json!({ "recursive": true, "timeoutStrategy": "slow" }),
        "timeoutStrategy: there is no strategy slow; there are fixed, cascade, budget",
    );
    refuses(
        &json!({ "maxDepth": 1 }),
        "maxDepth: applies only to sub-discussions; switch recursive on, or leave this out",
    );
}

#[test]
fn inv_disc_620_with_recursion_calls_and_time_are_capped() {
    let spec = spec(&json!({ "recursive": true }));
    assert_eq!(
        (spec.limits.calls, spec.timing.total_ms, spec.timing.reserve_ms),
        (Some(20), 180_000, 10_000)
    );
    let given = checked(&json!({ "recursive": true, "maxCalls": 50, "budgetMs": 12_000 }), LIBRARY).unwrap();
    assert_eq!(
        (given.limits.calls, given.timing.total_ms, given.timing.reserve_ms),
        (Some(50), 12_000, 6_000)
    );
    refuses(
        &json!({ "maxCalls": 0, "maxTokens": 0 }),
        "maxCalls: must be at least 1\nmaxTokens: must be at least 1",
    );
}

#[test]
fn inv_disc_621_a_budget_of_money_is_an_amount() {
    assert_eq!(spec(&json!({ "maxCost": 0.25 })).limits.usd.unwrap().dollars(), 0.25);
    refuses(&json!({ "maxCost": 0 }), "maxCost: must be an amount of USD above 0, not 0");
    refuses(&json!({ "maxCost": -1 }), "maxCost: must be an amount of USD above 0, not -1");
}

#[test]
fn inv_disc_622_early_exit_is_asked_for() {
    assert_eq!(spec(&json!({ "earlyExit": true })).early_exit, Some(0.9));
    assert_eq!(spec(&json!({ "earlyExit": true, "confidenceThreshold": 0.7 })).early_exit, Some(0.7));
    refuses(
        &json!({ "earlyExit": true, "confidenceThreshold": 1.1 }),
        "confidenceThreshold: must be from 0 to 1, not 1.1",
    );
    refuses(
        &json!({ "confidenceThreshold": 0.7 }),
        "confidenceThreshold: applies only to early exit; switch early exit on, or leave this out",
    );
}

#[test]
fn simulated_voices() {
    let spec =
        spec(&json!({ "seed": 7, "simulate": { "latencyMs": 0, "failure": 0.5, "dead": ["google"] } }));
    let simulation = spec.simulation.unwrap();
    assert_eq!((simulation.seed, simulation.latency_ms, simulation.failure), (7, 0, 0.5));
    assert_eq!(simulation.dead, ["gemini"]);
    refuses(&json!({ "simulate": { "failure": 2 } }), "simulate: must be from 0 to 1, not 2");
    refuses(
        &json!({ "simulate": { "dead": ["grok"] } }),
        "simulate: grok does not take part; the participants are claude, glm, qwen, gemini",
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    refuses(
        &json!({ "topic": "", "rounds": 0, "threshold": 2, "providers": ["a"], "temperature": 9 }),
        "providers: a discussion of this kind takes 2 to 6 providers; 1 is named\n\
         threshold: must be from 0 to 1, not 2\n\
         topic: is empty; give a question to discuss\n\
         rounds: must be from 1 to 10, not 0\n\
         temperature: must be from 0 to 2, not 9",
    );
}

#[test]
fn an_unknown_field_is_refused_with_the_nearest_name() {
    refuses(
        &json!({ "round": 3, "treshold": 0.5, "debate_format": "free-form", "zzz": null, "zzzz": 1 }),
        "debate_format: there is no such field; did you mean `debateFormat`?\n\
         round: there is no such field; did you mean `rounds`?\n\
         treshold: there is no such field; did you mean `threshold`?\n\
         zzzz: there is no such field",
    );
}

#[test]
fn mistakes_inside_a_field_are_refused() {
    let check = |inside: &str, expected: &str| {
        let error = serde_json::from_str::<Request>(&format!(r#"{{"topic":"x",{inside}}}"#)).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{inside}: {error}");
    };
    check(
        r#""participants":[{"person":"a","x":1}]"#,
        "unknown field `x`, expected one of `type`, `id`, `person`, `user`",
    );
    check(r#""participants":[["a"]]"#, "invalid type: sequence, expected who takes part");
    check(r#""simulate":[1]"#, "invalid type: sequence, expected an object");
    check(r#""roles":{"a":"judge","a":"judge"}"#, "duplicate field `a`");
    check(r#""providerPrompts":{"a":"x","a":"x"}"#, "duplicate field `a`");
    check(r#""threshold":0.5,"threshold":0.5"#, "duplicate field `threshold`");
    check(r#""stopSequences":{"a":[],"a":[]}"#, "duplicate field `a`");
    check(r#""positions":[{"participant":"a","participant":"a"}]"#, "duplicate field `participant`");
}

#[test]
fn mistakes_inside_an_option_are_refused_under_its_name() {
    let rows = |rows: Value, expected: &str| {
        let roles = json!({ "claude": "proponent", "glm": "opponent", "qwen": "judge" });
        let debate = json!({ "pattern": "debate", "roles": roles, "positions": rows });
        refuses(&debate, &format!("positions: {expected}"));
    };
    rows(
        json!([{ "participant": "claude", "position": "b", "x": 1 }]),
        "has an unknown key \"x\"; a row has participant, position, persona, keyArguments",
    );
    rows(json!([["claude", "b"]]), "has [\"claude\",\"b\"] where an object belongs");
    rows(json!([{ "participant": "claude" }]), "has a row without position");
}

#[test]
fn c03_stop_sequences_are_of_single_participants_at_a_roundtable() {
    let order = |stops: Value| json!({ "pattern": "roundtable", "stopSequences": stops });
    let settings = spec(&order(json!({ "anthropic": ["END", "\n\n"], "gemini": [] }))).settings;
    let stops = json!({ "claude": ["END", "\n\n"], "gemini": [] });
    assert_eq!(settings, Settings::default().with("stopSequences", stops));
    refuses(
        &order(json!({ "nobody": ["END"] })),
        "stopSequences: nobody does not take part; the participants are claude, gemini",
    );
    let limits = "stopSequences: takes up to 8 texts of 1 to 100 characters; those for claude don't fit";
    refuses(&order(json!({ "claude": [""] })), limits);
    refuses(&order(json!({ "claude": ["x".repeat(101)] })), limits);
    refuses(&order(json!({ "claude": vec!["x"; 9] })), limits);
    refuses(
        &json!({ "stopSequences": { "claude": ["END"] } }),
        "stopSequences: applies only to the pattern roundtable; choose it, or leave this out",
    );
}

#[test]
fn d06_aliases_of_a_provider_are_masked_too() {
    let seats = spec(&json!({ "providers": ["claude", "ollama/x"] })).participants;
    assert!(seats[0].aliases.contains(&"anthropic".to_owned()) && 1 < seats[0].aliases.len(), "{seats:?}");
    assert_eq!(seats[1].aliases, [""; 0], "`local` is a word like any other");
}

#[test]
fn four_thousand_seats_of_one_name_are_refused_with_one_complaint() {
    let told = "providers: a discussion of this kind takes 2 to 6 providers; 4000 are named";
    refuses(&json!({ "providers": vec!["a"; 4_000] }), told);
}

#[test]
fn names_and_roles_without_number_are_refused_in_a_few_words() {
    let names: Vec<String> = (0..2_300).map(|it| format!("name{it:05}")).collect();
    let roles: serde_json::Map<String, Value> =
        (0..2_300).map(|it| (format!("stranger{it:05}"), json!("judge"))).collect();
    let order = json!({ "providers": names, "roles": roles, "providerPrompts": roles });
    let told = checked(&order, LIBRARY).unwrap_err();
    assert!(told.len() < 4_000, "{told}");
    assert!(told.contains("roles: may have at most 6 fields; there are 2300"), "{told}");
}

#[test]
fn only_the_first_twenty_complaints_are_listed() {
    let fields: serde_json::Map<String, Value> =
        (0..90).map(|it| (format!("mood{it:02}"), json!(1))).collect();
    let told = checked(&Value::Object(fields), LIBRARY).unwrap_err();
    assert_eq!(told.lines().count(), 21);
    let last = "DISCUSSION_INVALID_REQUEST request: has 70 more mistakes, which are not listed";
    assert_eq!(told.lines().last(), Some(last));
}
