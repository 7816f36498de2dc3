//! The prompts of an agent, and what the others' prompts don't reveal about it.

use quorum_testkit::panel::{AskedCall, panel};
use serde_json::json;

use crate::fixture::Fixture;

/// A text of about this many tokens.
fn long(tokens: usize) -> String {
    "word ".repeat(tokens * 9 / 10)
}

fn fixture() -> Fixture {
    let fixture = Fixture::with(&json!({
        "displayName": "Ada Prufer", "role": "security reviewer", "systemPrompt": "Trust nothing.",
        "personality": { "traits": ["calm"], "catchphrase": "Prove it." },
        "abilities": { "core": ["diffs", "gone", "huge"], "taskBased": { "tabs": ["tabs"], "other": ["unused"] } },
        "providerAffinity": { "preferred": ["scripted-one"], "fallbackStrategy": "strict" },
    }));
    fixture.ability("diffs", "Read the tests first.");
    fixture.ability("tabs", "A tab has no width.");
    fixture.ability("unused", "Never shown.");
    fixture.ability("huge", &long(12_000));
    fixture
}

fn of_reviewer(calls: &[AskedCall]) -> Vec<&AskedCall> {
    calls.iter().filter(|it| it.call.participant.name == "reviewer").collect()
}

#[tokio::test(start_paused = true)]
async fn inv_disc_641_abilities_come_first_then_the_profile_then_our_text() {
    let panel = panel();
    let fields = json!({ "participants": ["scripted", "reviewer:agent"], "synthesizer": "reviewer" });
    let state = fixture().held(&panel, &fields).await;
    let calls = panel.asked();
    let asked = of_reviewer(&calls);
    assert_eq!(asked.len(), 3, "two rounds and the synthesis");
    let standing = "# Ability: diffs\n\nRead the tests first.\n\n# Ability: tabs\n\nA tab has no width.\n\n\
                    # Your profile\n\nYour profile is that of Ada Prufer: security reviewer.\n\n\
                    Manner: calm; often says \"Prove it.\"\n\nTrust nothing.\n\n# The discussion\n\n";
    for call in asked {
        assert!(call.call.system.starts_with(standing), "{}", call.call.system);
        assert!(call.call.system.contains("prevails on form"));
        let rest = call.call.system.strip_prefix(standing).unwrap();
        assert!(!rest.contains("# Ability") && rest.contains("# The question"), "{rest}");
    }
    let abilities = &state.outcome().integrity.abilities;
    let left_out: Vec<&str> = abilities[0].left_out.iter().map(|it| it.id.as_str()).collect();
    let shown: Vec<&str> = abilities[0].shown.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(
        (shown, abilities[0].missing.as_slice()),
        (vec!["diffs", "tabs"], ["gone".to_owned()].as_slice())
    );
    assert_eq!((left_out, abilities.len()), (vec!["huge"], 1));
    let record = state.spec.participants[1].agent.as_ref().unwrap();
    assert!(!serde_json::to_string(record).unwrap().contains("word word"), "what is not shown is not kept");
}

#[tokio::test(start_paused = true)]
async fn b08_others_are_told_neither_the_agents_id_nor_its_name() {
    let spoken = "As Ada Prufer, the reviewer, I say no. @reviewer said so.";
    let panel = panel().says("reviewer", spoken);
    let fields = json!({
        "participants": ["scripted", "scripted", "scripted", "reviewer:agent"], "pattern": "debate",
        "roles": { "scripted": "judge", "reviewer": "proponent", "scripted-2": "opponent", "scripted-3": "neutral" },
        // A scripted casting would write plain names, which no model is shown.
        "rounds": 2, "noCasting": true,
    });
    let state = fixture().held(&panel, &fields).await;
    assert!(state.outcome().success, "{:?}", state.outcome().error);
    let calls = panel.asked();
    let others: Vec<&AskedCall> = calls.iter().filter(|it| it.call.participant.name != "reviewer").collect();
    let judged = others.iter().filter(|it| it.call.participant.role.name() == "judge").count();
    assert!(judged > 0 && others.len() > judged);
    for call in others {
        let sent = call.sent();
        for hidden in ["reviewer", "Ada Prufer", "Trust nothing", "# Ability", "security reviewer"] {
            assert!(!sent.contains(hidden), "{} is told {hidden}:\n{sent}", call.step);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b08_an_agent_with_a_one_word_id_named_itself_to_the_judge() {
    let fixture = Fixture::new();
    fixture.agent(
        "architect",
        &json!({
            "displayName": "Architect", "role": "Infrastructure engineer", "systemPrompt": "Trust nothing.",
            "providerAffinity": { "preferred": ["scripted-one"], "fallbackStrategy": "strict" },
        }),
    );
    for spoken in [
        "**Architect:** I hold it.",
        "# Architect\n\nIt holds.",
        "Architect here. It holds.",
        "This is the architect speaking.",
        "My role as architect is to hold it.",
        "It holds.\n\n— Architect",
        "It holds. Signed, the architect",
        "[Architect] It holds.",
        "As the architect and infrastructure engineer, I hold it.",
    ] {
        let panel = panel().says("architect", spoken);
        let fields = json!({
            "participants": ["scripted", "scripted", "architect:agent"], "pattern": "debate",
            "roles": { "scripted": "judge", "architect": "proponent", "scripted-2": "opponent" },
            "rounds": 1, "noCasting": true,
        });
        fixture.held(&panel, &fields).await;
        let calls = panel.asked();
        let judged = calls.iter().filter(|it| it.call.participant.role.name() == "judge");
        let sent: Vec<String> = judged.map(|it| it.sent().to_lowercase()).collect();
        assert!(!sent.is_empty());
        for sent in sent {
            let hidden = ["architect", "infrastructure engineer"];
            assert!(hidden.iter().all(|it| !sent.contains(it)), "{spoken}:\n{sent}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b08_a_judge_may_be_an_agent_and_keeps_its_own_text() {
    let panel = panel();
    let fields = json!({
        "participants": ["scripted", "scripted", "reviewer:agent"], "pattern": "debate", "judge": "reviewer",
    });
    fixture().held(&panel, &fields).await;
    let calls = panel.asked();
    let judging = of_reviewer(&calls);
    assert!(!judging.is_empty() && judging.iter().all(|it| it.call.system.starts_with("# Ability: diffs\n")));
    assert!(judging.iter().any(|it| it.call.system.contains("You judge a debate")));
}

#[tokio::test(start_paused = true)]
async fn b08_a_ballot_after_the_talk_has_the_standing_text_once() {
    let panel = panel();
    let fields = json!({
        "participants": ["scripted", "reviewer:agent"], "pattern": "round-robin", "consensus": "majority",
        "rounds": 1, "votingOptions": ["tabs", "spaces"],
    });
    fixture().held(&panel, &fields).await;
    let calls = panel.asked();
    let asked = of_reviewer(&calls);
    assert!(asked.len() > 1);
    for call in asked {
        assert_eq!(call.call.system.matches("Trust nothing.").count(), 1, "{}", call.step);
    }
}
