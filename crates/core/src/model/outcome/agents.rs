//! Agents in a result: through whom each spoke, with which weight, and which abilities it had.

use serde::{Deserialize, Serialize};

use crate::model::{
    agent::{Agent, LeftOut, PassedOver, Reason},
    participant::Participant,
    state::State,
};

/// An agent that had a seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentReport {
    /// The seat's name.
    pub participant: String,
    /// The agent's id.
    pub agent_id: String,
    /// The agent's name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The provider it spoke through; absent if none could be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Why this provider was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The better candidates that could not be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
    /// The weight of its votes and positions.
    pub weight: f64,
}

/// The abilities of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AbilitiesReport {
    /// The seat's name.
    pub provider: String,
    /// The abilities that were part of its system text, in their order.
    pub shown: Vec<ShownAbility>,
    /// The abilities that its profile names and that were not found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The abilities that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// An ability that was part of a system text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownAbility {
    /// The ability.
    pub id: String,
    /// A hash of its file's text.
    pub digest: String,
}

impl AgentReport {
    /// The reports of all agents, in seating order.
    pub(crate) fn all(state: &State) -> Vec<Self> {
        agents(state).map(|(seat, agent)| AgentReport::of(state, seat, agent)).collect()
    }

    fn of(state: &State, seat: &Participant, agent: &Agent) -> Self {
        let chosen = state.agents.get(&seat.name);
        let written = |provider: &String, model: &Option<String>| match model {
            Some(model) => format!("{provider}/{model}"),
            None => provider.clone(),
        };
        AgentReport {
            participant: seat.name.clone(),
            agent_id: agent.id.clone(),
            display_name: agent.display_name.clone(),
            provider: chosen.map(|it| written(&it.provider, &it.model)),
            reason: chosen.map(|it| it.reason.clone()),
            passed_over: chosen.map(|it| it.passed_over.clone()).unwrap_or_default(),
            weight: seat.weight,
        }
    }
}

impl AbilitiesReport {
    /// The reports of all agents whose profiles name abilities, in seating order.
    pub(crate) fn all(state: &State) -> Vec<Self> {
        let reports = agents(state).map(|(seat, agent)| AbilitiesReport::of(seat, agent));
        reports.filter(|it| !it.is_empty()).collect()
    }

    /// The abilities of the agent in this seat.
    #[must_use]
    pub fn of(seat: &Participant, agent: &Agent) -> Self {
        let candidate = agent.behind(seat);
        let shown = candidate.map(|it| it.abilities.as_slice()).unwrap_or_default();
        let shown = shown.iter().filter_map(|id| agent.abilities.iter().find(|it| it.id == *id));
        AbilitiesReport {
            provider: seat.name.clone(),
            shown: shown.map(|it| ShownAbility { id: it.id.clone(), digest: it.digest.clone() }).collect(),
            missing: agent.missing.clone(),
            left_out: candidate.map(|it| it.left_out.clone()).unwrap_or_default(),
        }
    }

    fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.missing.is_empty() && self.left_out.is_empty()
    }
}

fn agents(state: &State) -> impl Iterator<Item = (&Participant, &Agent)> {
    state.spec.participants.iter().filter_map(|seat| Some((seat, seat.agent.as_deref()?)))
}
