//! Bad input about agents: each refusal names the mistake and the right spelling, and nothing is
//! spent.

use std::path::Path;

use quorum::{Complaint, Error, Fault, Origin, Remedy, agents::AgentError};
use serde_json::{Value, json};

use crate::fixture::{Fixture, request};

fn refused(fixture: &Fixture, fields: &Value) -> Complaint {
    let Err(Error::Refused(mut complaints)) = fixture.offline().check(&request(fields)) else {
        panic!("not refused: {fields}")
    };
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    complaints.remove(0)
}

/// The complaint about a panel of claude and this seat.
fn about(fixture: &Fixture, seat: &str) -> Complaint {
    refused(fixture, &json!({ "participants": ["claude", "gemini", seat] }))
}

#[test]
fn b08_an_unknown_agent_is_never_claude_in_silence() {
    let fixture = Fixture::with(&json!({}));
    let complaint = about(&fixture, "reviwer:agent");
    assert_eq!(complaint.message, "there is no agent named reviwer; did you mean reviewer?");
    let searched = vec![fixture.folder.path().join("agents")];
    assert_eq!(
        (complaint.remedies, complaint.fault),
        (vec![Remedy::FindAgents { searched }], Fault::Combination)
    );
}

#[test]
fn b08_the_other_way_round_is_refused_with_the_right_spelling() {
    let fixture = Fixture::with(&json!({}));
    let message = about(&fixture, "agent:reviewer").message;
    assert_eq!(message, "an agent's seat is written reviewer:agent, with the id first");
    let message = about(&fixture, "reviewer:robot").message;
    assert!(message.ends_with("there are person and agent"), "{message}");
    let complaint = refused(&fixture, &json!({ "providers": ["claude", "gemini", "reviewer:agent"] }));
    assert_eq!(complaint.message, "reviewer:agent is an agent, and not a provider");
    assert_eq!(complaint.remedies, [Remedy::NameWholePanel]);
}

#[test]
fn b08_a_refused_seat_is_not_told_as_a_missing_one_too() {
    let fixture = Fixture::with(&json!({}));
    for seat in ["reviwer:agent", "agent:reviewer", "../x:agent"] {
        assert_eq!(refused(&fixture, &json!({ "participants": ["claude", seat] })).field, "participants");
    }
    let alone = refused(&fixture, &json!({ "participants": ["claude"] })).message;
    assert!(alone.ends_with("1 is named"), "{alone}");
}

#[test]
fn b08_a_path_is_no_name() {
    let fixture = Fixture::with(&json!({}));
    for seat in ["../x:agent", "/etc/passwd:agent", "Reviewer:agent", "a b:agent"] {
        let complaint = about(&fixture, seat);
        assert!(complaint.message.contains("is not an agent's id"), "{seat}: {}", complaint.message);
        assert_eq!(complaint.fault, Fault::Value);
    }
}

#[test]
fn b08_a_profile_that_is_off_or_broken_is_refused_with_its_file() {
    let fixture = Fixture::with(&json!({ "enabled": false }));
    let complaint = about(&fixture, "reviewer:agent");
    assert_eq!(complaint.message, "the agent reviewer is switched off: its profile says enabled: false");
    let file = fixture.folder.path().join("agents/reviewer.json");
    assert_eq!(complaint.origin, Some(Origin::Profile { file }));
    fixture.write("agents/reviewer.json", "{\n\"agentId\": ,}");
    assert_eq!(about(&fixture, "reviewer:agent").message, "reviewer.json:2: expected value");
    fixture.write("agents/reviewer.json", &" ".repeat(1 << 20));
    assert_eq!(about(&fixture, "reviewer:agent").message, "reviewer.json: is larger than 256 KiB");
    fixture.agent("reviewer", &json!({ "weight": 3.1 }));
    assert_eq!(
        about(&fixture, "reviewer:agent").message,
        "reviewer.json: weight must be from 0.5 to 3, not 3.1"
    );
}

#[test]
fn b08_a_task_or_weight_without_an_agent_that_has_it_is_refused() {
    let fixture = Fixture::with(&json!({ "abilities": { "taskBased": { "triage": [] } } }));
    let panel = ["claude", "reviewer:agent"];
    let message = refused(&fixture, &json!({ "participants": panel, "task": "triag" })).message;
    assert_eq!(message, "no agent here has the task triag; did you mean triage?");
    let message = refused(&fixture, &json!({ "task": "triage" })).message;
    assert_eq!(message, "applies only to agents, and none takes part; leave this out");
    let message = refused(&fixture, &json!({ "agentWeight": 1.5 })).message;
    assert_eq!(message, "applies only to agents, and none takes part; leave this out");
    for weight in [0.4, 3.1] {
        let message = refused(&fixture, &json!({ "participants": panel, "agentWeight": weight })).message;
        assert_eq!(message, format!("must be from 0.5 to 3, not {weight}"));
    }
}

#[test]
fn b08_an_agent_whose_file_has_another_name_is_seated_with_a_remark() {
    let fixture = Fixture::with(&json!({}));
    fixture.write("agents/else.json", r#"{ "agentId": "bob" }"#);
    let remarks = |seats: Value| -> Vec<String> {
        let scope = fixture.offline();
        let spec = scope.check(&request(&json!({ "participants": seats }))).unwrap();
        scope.remarks(&spec).iter().map(|it| format!("{}: {}", it.field, it.message)).collect()
    };
    let expected = ["participants: bob: its file is named else, and not bob"];
    assert_eq!(remarks(json!(["claude", "bob:agent", "bob:agent", "reviewer:agent"])), expected);
    assert_eq!(remarks(json!(["claude", "reviewer:agent"])), Vec::<String>::new());
}

#[test]
fn b08_an_ability_whose_file_has_another_name_is_found_with_a_warning() {
    let fixture = Fixture::with(&json!({ "abilities": { "core": ["diffs", "gone"] } }));
    fixture.write("abilities/guide.md", "---\nabilityId: diffs\n---\nRead the tests first.\n");
    let scope = fixture.offline();
    let spec = scope.check(&request(&json!({ "participants": ["claude", "reviewer:agent"] }))).unwrap();
    let agent = spec.participants[1].agent.clone().unwrap();
    let abilities: Vec<&str> = agent.abilities.iter().map(|it| it.id.as_str()).collect();
    assert_eq!((abilities, agent.missing.as_slice()), (vec!["diffs"], ["gone".to_owned()].as_slice()));
    let remarks: Vec<String> = scope.remarks(&spec).into_iter().map(|it| it.message).collect();
    let warning = "the file of its ability diffs is named guide";
    assert_eq!(remarks, [format!("reviewer: {warning}")]);
    let (listed, _) = scope.quorum().agents();
    assert_eq!(listed[0].warning.as_deref(), Some(warning));
    // It is not registered twice.
    let other = "---\nabilityId: diffs\n---\nRead nothing.\n";
    assert!(matches!(scope.quorum().register(None, other, false), Err(AgentError::Exists { .. })));
    scope.quorum().register(None, other, true).unwrap();
    assert!(!fixture.folder.path().join("abilities/guide.md").exists());
}

#[test]
fn b08_a_seat_as_an_object_has_the_fields_of_one_kind() {
    let read = |seat: Value| {
        let read: Result<quorum::Request, _> =
            serde_json::from_value(json!({ "topic": "x", "participants": [seat] }));
        read.map_err(|error| error.to_string())
    };
    assert!(read(json!({ "type": "agent", "id": "x" })).is_ok());
    assert!(read(json!({ "person": "me", "user": null })).is_ok());
    assert_eq!(read(json!({ "type": "agent" })), Err("missing field `id`".to_owned()));
    assert_eq!(read(json!({ "id": "x" })), Err("missing field `type`".to_owned()));
    assert_eq!(read(json!({})), Err("missing field `person`".to_owned()));
    assert!(read(json!({ "type": "robot", "id": "x" })).is_err());
    assert!(read(json!({ "type": "agent", "id": "x", "person": "me" })).is_err());
}

#[test]
fn b08_registering_checks_first_and_overwrites_only_when_told() {
    let fixture = Fixture::new();
    let scope = fixture.offline();
    let quorum = scope.quorum();
    let profile = "---\nagentId: ann\n---\nBe brief.";
    let kept = quorum.register(None, profile, false).unwrap();
    assert_eq!(kept.file, fixture.folder.path().join("agents/ann.md"));
    assert_eq!(quorum.register(None, profile, false).unwrap(), kept, "the same again is no change");
    let other = r#"{ "agentId": "ann", "systemPrompt": "Be long." }"#;
    assert!(matches!(quorum.register(None, other, false), Err(AgentError::Exists { .. })));
    let kept = quorum.register(None, other, true).unwrap();
    assert_eq!(quorum.agent("ann", "").unwrap().file, kept.file);
    assert!(matches!(quorum.register(None, "agentId: ../x", false), Err(AgentError::Invalid { .. })));
    let long = format!("agentId: bob\n{}", "# \n".repeat(1 << 17));
    assert!(matches!(quorum.register(None, &long, false), Err(AgentError::File { .. })));
    assert_eq!(quorum.remove_agent("ann").unwrap(), kept.file);
    assert!(matches!(quorum.remove_agent("ann"), Err(AgentError::Unknown { .. })));
}

#[test]
fn b08_an_import_is_whole_or_a_list_of_what_is_wrong() {
    let (fixture, other) = (Fixture::new(), Fixture::new());
    other.agent("ann", &json!({}));
    other.agent("bob", &json!({ "weight": 9 }));
    other.write("agents/broken.yaml", "a: [");
    let scope = fixture.offline();
    let told = |folder: &Path| -> Vec<String> {
        let wrong = scope.quorum().import_agents(folder, false).unwrap_err();
        wrong.iter().map(ToString::to_string).collect()
    };
    assert_eq!(told(&other.folder.path().join("nowhere")), ["nowhere: does not exist"]);
    assert_eq!(told(&other.folder.path().join("agents/ann.json")), ["ann.json: is not a folder"]);
    let wrong = scope.quorum().import_agents(other.folder.path(), false).unwrap_err();
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(scope.quorum().agents().0.is_empty(), "nothing is imported");
    assert_eq!(scope.quorum().import_agents(Fixture::new().folder.path(), false).unwrap_err().len(), 1);
}

#[test]
fn b08_an_ability_in_both_formats_is_imported_once_and_can_be_imported_again() {
    let (fixture, other) = (Fixture::new(), Fixture::new());
    other.agent("ann", &json!({ "abilities": { "core": ["diffs"] } }));
    other.ability("diffs", "The newer text.");
    other.write("abilities/diffs.json", r#"{ "abilityId": "diffs", "content": "The older text." }"#);
    let scope = fixture.offline();
    let quorum = scope.quorum();
    for _ in 0..2 {
        let imported = quorum.import_agents(other.folder.path(), false).unwrap();
        let kept: Vec<_> = imported.abilities.iter().map(|it| it.file.clone()).collect();
        assert_eq!(kept, [fixture.folder.path().join("abilities/diffs.md")]);
        let text = quorum.agent("ann", "").unwrap().text;
        assert!(text.contains("The newer text."), "{text}");
    }
}

#[test]
fn b08_an_agent_in_a_file_of_another_name_is_not_registered_twice() {
    let fixture = Fixture::new();
    let scope = fixture.offline();
    let quorum = scope.quorum();
    fixture.write("agents/else.yaml", "agentId: ann\nweight: 2\n");
    let other = r#"{ "agentId": "ann", "weight": 3 }"#;
    assert!(matches!(quorum.register(None, other, false), Err(AgentError::Exists { .. })));
    quorum.register(None, other, true).unwrap();
    assert_eq!(quorum.agent("ann", "").unwrap().entry.weight, 3.0);
    assert!(!fixture.folder.path().join("agents/else.yaml").exists());
}

#[test]
fn b08_a_file_whose_name_says_no_format_is_registered_by_its_content() {
    let fixture = Fixture::new();
    let scope = fixture.offline();
    let quorum = scope.quorum();
    for (name, text, kept) in [
        ("ann.txt", "---\nagentId: ann\n---\nBe brief.", "agents/ann.md"),
        ("bob", r#"{ "agentId": "bob" }"#, "agents/bob.json"),
        ("stdin", "agentId: cyd", "agents/cyd.yaml"),
    ] {
        let registered = quorum.register(Some(Path::new(name)), text, false).unwrap();
        assert_eq!(registered.file, fixture.folder.path().join(kept));
        assert_eq!(quorum.agent(&registered.id, "").unwrap().file, registered.file);
    }
}
