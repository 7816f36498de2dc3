//! Profiles and abilities as they come: those of the repository, and a corpus in every format.

use std::path::{Path, PathBuf};

use quorum::{Finished, Scope, agents::AgentEntry};
use serde_json::json;

use crate::fixture::{Fixture, request};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Imports a folder without a mistake, and seats each of its agents once.
async fn seats_all(folder: &Path) -> Vec<AgentEntry> {
    let fixture = Fixture::new();
    let scope = fixture.offline();
    scope.quorum().import_agents(folder, false).unwrap();
    let (agents, wrong) = scope.quorum().agents();
    assert_eq!(wrong, []);
    for agent in agents.iter().filter(|it| it.enabled) {
        seats(&scope, &agent.id).await;
    }
    agents
}

async fn seats(scope: &Scope, id: &str) {
    let fields = json!({
        "participants": ["glm", format!("{id}:agent")], "rounds": 1, "simulate": { "latencyMs": 0 },
    });
    let (_, handle) = scope.start(scope.check(&request(&fields)).unwrap()).await.unwrap();
    let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("it waits") };
    let outcome = state.outcome();
    assert!(outcome.success && outcome.participating_providers.contains(&id.to_owned()), "{id}: {outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn b08_the_example_agents_can_be_imported_and_seated_with_both_abilities() {
    let examples = root().join("examples/agents");
    let agents = seats_all(&examples).await;
    let ids: Vec<&str> = agents.iter().map(|it| it.id.as_str()).collect();
    let expected = ["architect", "data-analyst", "editor", "product-manager", "sceptic", "security-reviewer"];
    assert_eq!(ids, expected);
    let fixture = Fixture::new();
    let scope = fixture.offline();
    scope.quorum().import_agents(&examples, false).unwrap();
    for id in ids {
        let shown = scope.quorum().agent(id, "").unwrap();
        assert_eq!((shown.abilities.len(), shown.missing.len(), shown.left_out.len()), (2, 0, 0), "{id}");
        assert!(
            shown.text.starts_with("# Ability: ") && shown.tokens < 2_500,
            "{id}: {} tokens",
            shown.tokens
        );
    }
}

#[tokio::test(start_paused = true)]
async fn b08_profiles_and_abilities_in_every_described_format_can_be_imported_and_seated() {
    let agents = seats_all(&root().join("crates/quorum/tests/agents/corpus")).await;
    assert_eq!(agents.len(), 12);
    assert!(agents.iter().any(|it| !it.enabled));
}
