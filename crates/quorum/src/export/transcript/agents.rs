//! The section on agents: through whom each spoke, the weight of its vote, and its abilities.

use quorum_core::model::outcome::{AbilitiesReport, AgentReport, Outcome};

use super::{Block, Part, Table};
use crate::text;

/// The agents of a result, if any took part.
#[must_use]
pub fn agents(outcome: &Outcome) -> Option<Part> {
    let rows: Vec<Vec<String>> = outcome.agents.iter().map(|it| row(outcome, it)).collect();
    let head = ["participant", "agent", "through", "why", "weight", "abilities", "note"];
    (!rows.is_empty()).then(|| Part::new("Agents", vec![Block::Table(Table::new(&head, &rows))]))
}

fn row(outcome: &Outcome, agent: &AgentReport) -> Vec<String> {
    let AgentReport { participant, agent_id, display_name, provider, reason, weight, .. } = agent;
    let abilities = outcome.integrity.abilities.iter().find(|it| it.provider == *participant);
    let shown: Vec<&str> = abilities.iter().flat_map(|it| &it.shown).map(|it| it.id.as_str()).collect();
    vec![
        participant.clone(),
        display_name.clone().unwrap_or_else(|| agent_id.clone()),
        provider.clone().unwrap_or_default(),
        reason.as_ref().map(text::reason).unwrap_or_default(),
        weight.to_string(),
        shown.join(", "),
        notes(agent, abilities).join("; "),
    ]
}

/// The better candidates that could not be asked, and the abilities that were not shown.
fn notes(agent: &AgentReport, abilities: Option<&AbilitiesReport>) -> Vec<String> {
    let passed = agent.passed_over.iter().map(|it| format!("not {}: {}", it.candidate, it.message));
    let missing = abilities.map(|it| it.missing.join(", ")).filter(|it| !it.is_empty());
    let missing = missing.map(|it| format!("abilities not found: {it}"));
    let left_out = abilities.iter().flat_map(|it| &it.left_out);
    let left_out = left_out.map(|it| format!("{} left out, because {}", it.id, it.why));
    passed.chain(missing).chain(left_out).collect()
}
