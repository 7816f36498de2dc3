//! An agent behind a seat: everything of its profile that shapes a discussion, so that a resumed or
//! forked one needs no profile.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::participant::Participant;

/// The weight of an agent's vote, unless its profile or the order says otherwise (INV-DISC-642).
pub const AGENT_WEIGHT: f64 = 1.5;

/// An agent as it was when the discussion was ordered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id. The seat is named after it.
    pub id: String,
    /// Its name for people. Models see it in the agent's own system text only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What it is, in a few words: `security engineer`. Only its own system text has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its own part of the system text, under its heading; empty if the profile has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The heading of the rest of the system text, which says that the rest takes precedence on the
    /// form of replies.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rest: String,
    /// The abilities that are shown to the agent through at least one of its candidates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<Ability>,
    /// The abilities that the profile names and that were not found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The providers it may speak through, the best first. Excluded ones are not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// The longest answer in the talk, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The participant that should write the synthesis, if the order names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
}

/// An ability with the text that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ability {
    /// Its id.
    pub id: String,
    /// A hash of its file's text.
    pub digest: String,
    /// The text as it is shown, under its heading.
    pub text: String,
}

/// A provider that an agent may speak through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The provider.
    pub provider: String,
    /// The provider's model, if not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Other names of the provider and of the agent. A masked view hides these too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What the provider is good at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strengths: Vec<String>,
    /// Why it is a candidate.
    pub reason: Reason,
    /// The abilities that fit, in the order in which they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<String>,
    /// The abilities that are left out, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The sampling temperature, if not that of the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

/// An ability that is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The ability.
    pub id: String,
    /// Why it is left out.
    pub why: String,
}

/// Why a provider is a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The profile maps this task to it.
    Task(String),
    /// The profile prefers it.
    Preferred,
    /// It is the profile's fallback.
    Fallback,
    /// The profile accepts any available provider.
    Any,
    /// It is the default provider of agents.
    Usual,
}

/// The provider that an agent speaks through, as the panel was seated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeaksThrough {
    /// The provider.
    pub provider: String,
    /// Its model, if not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it was chosen.
    pub reason: Reason,
    /// The better candidates that could not be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
}

/// A candidate that could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// The candidate as it is written in requests: `claude`, or `claude/MODEL`.
    pub candidate: String,
    /// Why it could not be asked.
    pub message: String,
}

impl Candidate {
    /// The candidate as it is written in requests: `claude`, or `claude/MODEL`.
    #[must_use]
    pub fn written(&self) -> String {
        match &self.model {
            Some(model) => format!("{}/{model}", self.provider),
            None => self.provider.clone(),
        }
    }

    fn is_behind(&self, seat: &Participant) -> bool {
        (&self.provider, &self.model) == (&seat.provider, &seat.model)
    }
}

impl Agent {
    /// The candidate that this agent's seat speaks through.
    #[must_use]
    pub fn behind(&self, seat: &Participant) -> Option<&Candidate> {
        self.candidates.iter().find(|it| it.is_behind(seat))
    }

    /// What precedes the system text of every question to the agent in this seat: the abilities,
    /// the agent's own text, and the heading of the rest (INV-DISC-641).
    #[must_use]
    pub fn standing_text(&self, seat: &Participant) -> String {
        let shown = self.behind(seat).map(|it| it.abilities.as_slice()).unwrap_or_default();
        let abilities = shown.iter().filter_map(|id| self.abilities.iter().find(|it| it.id == *id));
        let texts = abilities.map(|it| it.text.as_str()).chain([self.text.as_str(), self.rest.as_str()]);
        texts.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

impl Participant {
    /// The same seat, speaking through this candidate.
    #[must_use]
    pub fn through(self, candidate: &Candidate) -> Self {
        let Candidate { provider, model, aliases, strengths, .. } = candidate.clone();
        Participant { provider, model, aliases, strengths, ..self }
    }

    /// The same seat, with its agent restricted to the current provider.
    #[must_use]
    pub(crate) fn settled(mut self) -> Self {
        let behind = self.agent.as_ref().and_then(|it| it.behind(&self)).cloned();
        if let (Some(agent), Some(behind)) = (&mut self.agent, behind) {
            Arc::make_mut(agent).candidates = vec![behind];
        }
        self
    }

    /// Lets the agent in this seat speak through the candidate that was chosen. Does nothing for a
    /// candidate that the agent does not have.
    pub(crate) fn seat_agent(&mut self, chosen: &SpeaksThrough) {
        let candidates = self.agent.iter().flat_map(|it| &it.candidates);
        let is_chosen = |it: &&Candidate| (&it.provider, &it.model) == (&chosen.provider, &chosen.model);
        if let Some(candidate) = candidates.into_iter().find(is_chosen).cloned() {
            *self = self.clone().through(&candidate);
        }
    }

    /// The sampling temperature of the agent in this seat, if it has one of its own.
    #[must_use]
    pub fn own_temperature(&self) -> Option<f64> {
        self.agent.as_ref()?.behind(self)?.temperature
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A candidate with this reason and these abilities.
    pub(crate) fn candidate(provider: &str, reason: Reason, abilities: &[&str]) -> Candidate {
        Candidate {
            provider: provider.to_owned(),
            model: None,
            aliases: Vec::new(),
            strengths: Vec::new(),
            reason,
            abilities: abilities.iter().map(|it| (*it).to_owned()).collect(),
            left_out: Vec::new(),
            temperature: None,
        }
    }

    fn ability(id: &str) -> Ability {
        Ability { id: id.to_owned(), digest: String::new(), text: format!("# {id}") }
    }

    #[test]
    fn inv_disc_641_abilities_come_before_the_agents_text_and_that_before_the_rest() {
        let agent = Agent {
            text: "# Own".to_owned(),
            rest: "# Rest".to_owned(),
            abilities: ["one", "two", "three"].map(ability).to_vec(),
            candidates: vec![
                candidate("claude", Reason::Preferred, &["two", "one"]),
                candidate("qwen", Reason::Fallback, &["three"]),
            ],
            ..Agent::default()
        };
        let seat = Participant { agent: Some(Arc::new(agent.clone())), ..Participant::of("claude") };
        assert_eq!(agent.standing_text(&seat), "# two\n\n# one\n\n# Own\n\n# Rest");
        let seat = seat.through(&agent.candidates[1]);
        assert_eq!(agent.standing_text(&seat), "# three\n\n# Own\n\n# Rest");
    }
}
