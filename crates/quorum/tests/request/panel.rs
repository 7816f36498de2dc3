//! Who sits on a panel: names, models, and what takes the place of missing providers.

use quorum::{
    Complaint, Origin, Remedy,
    model::error::Code,
    request::{Setting, SoleVendor, Voicing, check},
    setup::Missing,
};
use serde_json::json;

use crate::*;

#[test]
fn names_aliases_models_and_doubles() {
    let providers = json!({ "providers": ["anthropic", "claude", "claude/opus", " Google "] });
    let spec = spec(&providers);
    let seats: Vec<(&str, &str, Option<&str>)> = spec
        .participants
        .iter()
        .map(|it| (it.name.as_str(), it.provider.as_str(), it.model.as_deref()))
        .collect();
    let expected = [
        ("claude", "claude", None),
        ("claude-2", "claude", None),
        ("claude/opus", "claude", Some("opus")),
        ("gemini", "gemini", None),
    ];
    assert_eq!(seats, expected);
    refuses(
        &json!({ "providers": ["a", "", "b c", "\u{1b}[31m"] }),
        "providers: \"\" is not a provider's name; write claude, or claude/MODEL\n\
         providers: \"b c\" is not a provider's name; write claude, or claude/MODEL\n\
         providers: \"\\u{1b}[31m\" is not a provider's name; write claude, or claude/MODEL",
    );
}

#[test]
fn a_models_name_may_be_a_path_with_a_version() {
    for model in
        ["publishers/anthropic/models/claude-opus-4@20260514", "deepseek/deepseek-r1-distill-llama-70b:free"]
    {
        let written = format!("acme/{model}");
        let spec = spec(&json!({ "providers": ["claude", written] }));
        assert_eq!(spec.participants[1].model.as_deref(), Some(model));
    }
}

#[test]
fn the_default_panel_is_narrowed_to_available_providers() {
    let there = |names: &[&str]| Setting {
        available: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Setting::default()
    };
    let spec = check(&request(&json!({})), &there(&["gemini", "grok", "claude"])).unwrap();
    assert_eq!(table(&spec), "claude speaker, gemini speaker");
    assert_eq!(spec.simulation, None);
    let refusals = check(&request(&json!({})), &there(&["claude"])).unwrap_err();
    let message = "only claude is available, and a discussion takes 2";
    let remedies = [Remedy::SeatTwice { provider: "claude".to_owned() }, Remedy::Simulate];
    let expected = Complaint::new("providers", Code::InsufficientProviders, message).with(remedies);
    assert_eq!(refusals, [Complaint { origin: Some(Origin::DefaultPanel), ..expected }]);
    let spec = check(&request(&json!({})), &there(&["claude", "mistral", "mine"])).unwrap();
    assert_eq!(table(&spec), "claude speaker, mistral speaker");
    let offline = check(&request(&json!({ "offline": true })), &there(&["claude"])).unwrap();
    assert!(offline.simulation.is_some() && offline.participants.len() == 4);
}

#[test]
fn a_program_takes_both_seats_where_nothing_else_is_available() {
    let sole = |is_program, models: &[&str]| Setting {
        available: vec!["claude".to_owned()],
        sole_vendor: Some(SoleVendor {
            provider: "claude".to_owned(),
            models: models.iter().map(|it| (*it).to_owned()).collect(),
            is_program,
        }),
        ..Setting::default()
    };
    let seated = |setting: &Setting| check(&request(&json!({})), setting).map(|it| table(&it));
    assert_eq!(seated(&sole(true, &[])), Ok("claude speaker, claude-2 speaker".to_owned()));
    assert_eq!(seated(&sole(true, &["opus"])), Ok("claude speaker, claude-2 speaker".to_owned()));
    let two = "claude/opus speaker, claude/haiku speaker";
    assert_eq!(seated(&sole(true, &["opus", "haiku"])), Ok(two.to_owned()));
    assert!(seated(&sole(false, &["opus"])).is_err());
}

#[test]
fn one_key_gets_one_seat_if_another_vendor_is_available() {
    let setting = Setting {
        available: ["openai", "codex", "mistral"].map(str::to_owned).to_vec(),
        same_vendor: [("codex".to_owned(), "openai".to_owned())].into(),
        ..Setting::default()
    };
    let spec = check(&request(&json!({})), &setting).unwrap();
    assert_eq!(table(&spec), "openai speaker, mistral speaker");
}

fn no_key() -> Missing {
    Missing::Key { names: vec!["ZAI_API_KEY".to_owned()], program: None }
}

#[test]
fn nothing_is_simulated_unless_the_request_or_the_program_says_so() {
    let simulated = |fields: &Value, voicing| {
        let setting = Setting { voicing, ..Setting::default() };
        check(&request(fields), &setting).unwrap().simulation.is_some()
    };
    assert!(!simulated(&json!({}), Voicing::Real));
    assert!(simulated(&json!({ "offline": true }), Voicing::Real));
    assert!(simulated(&json!({}), Voicing::Simulated));
    let lacking = [("claude".to_owned(), no_key())].into();
    let refused = check(&request(&json!({})), &Setting { lacking, ..Setting::default() }).unwrap_err();
    let message = "no provider is available";
    let provide = Remedy::Provide { provider: "claude".to_owned(), missing: no_key() };
    let expected = Complaint::new("providers", Code::InsufficientProviders, message);
    let expected = expected.with([Remedy::Simulate, provide]);
    assert_eq!(refused, [Complaint { origin: Some(Origin::DefaultPanel), ..expected }]);
}

#[test]
fn d02_only_available_providers_may_be_named() {
    let of = |available: &[&str]| Setting {
        available: available.iter().map(|name| (*name).to_owned()).collect(),
        lacking: [("glm".to_owned(), no_key())].into(),
        strengths: [("mine".to_owned(), vec!["law".to_owned()])].into(),
        ..Setting::default()
    };
    let said = |fields: &Value, setting: &Setting| match check(&request(fields), setting) {
        Ok(spec) => table(&spec),
        Err(refusals) => refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    };
    let real = of(&["claude", "mine"]);
    let named = |names: &[&str]| json!({ "providers": names });
    assert_eq!(said(&named(&["anthropic/opus", "mine"]), &real), "anthropic/opus speaker, mine speaker");
    let provide = Remedy::Provide { provider: "glm".to_owned(), missing: no_key() };
    let message = "glm is not available: there is no key in ZAI_API_KEY";
    let complaint =
        |code| Complaint::new("providers", code, message).with([provide.clone(), Remedy::Simulate]);
    let refused = check(&request(&named(&["claude", "glm"])), &real).unwrap_err();
    assert_eq!(refused, [complaint(Code::InsufficientProviders)]);
    let refused = check(&request(&named(&["claude", "glm", "mine"])), &real).unwrap_err();
    assert_eq!(refused, [complaint(Code::InvalidRequest)]);
    let typo = "providers: there is no provider named cluade; did you mean claude?";
    assert_eq!(said(&named(&["cluade", "mine"]), &real), typo);
    let offline = json!({ "providers": ["cluade", "glm"], "offline": true });
    assert_eq!(said(&offline, &real), "cluade speaker, glm speaker");
    let simulated = Setting { voicing: Voicing::Simulated, ..of(&[]) };
    assert_eq!(said(&named(&["glm", "glm"]), &simulated), "glm speaker, glm-2 speaker");
    let stranger = "providers: there is no provider named zzz; there are glm";
    assert_eq!(said(&named(&["glm", "zzz"]), &simulated), stranger);
    let spec = check(&request(&named(&["claude", "mine"])), &real).unwrap();
    assert_eq!(spec.participants[1].strengths, ["law"]);
}
