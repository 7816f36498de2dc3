//! Who sits at the table.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One seat: a name at the table and the voice behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Participant {
    /// Unique at this table; what others call it and what results show.
    pub name: String,
    /// Which provider answers for it.
    pub provider: String,
    /// Which of the provider's models, where it is not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its part in the discussion.
    #[serde(default)]
    pub role: Role,
    /// How much its vote weighs; 1 for a plain provider.
    pub weight: f64,
    /// Instructions for this one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// What its provider is good at; decides who synthesises when nobody was named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strengths: Vec<String>,
}

impl Participant {
    /// A seat of plain weight, named after its provider.
    #[must_use]
    pub fn of(provider: &str) -> Self {
        Participant {
            name: provider.to_owned(),
            provider: provider.to_owned(),
            model: None,
            role: Role::Speaker,
            weight: 1.0,
            brief: None,
            strengths: Vec::new(),
        }
    }

    /// The same seat in another part.
    #[must_use]
    pub fn playing(self, role: Role) -> Self {
        Participant { role, ..self }
    }
}

/// A part to play. Only a debate tells them apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// No particular part.
    #[default]
    Speaker,
    /// Argues for.
    Proponent,
    /// Argues against.
    Opponent,
    /// Weighs what was said.
    Judge,
    /// Leads to a decision.
    Moderator,
    /// Gives a balanced view.
    Neutral,
}

impl Role {
    /// Every part that can be assigned by name.
    pub const ASSIGNABLE: [Role; 5] =
        [Role::Proponent, Role::Opponent, Role::Judge, Role::Moderator, Role::Neutral];

    /// The name in requests, results and prompts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Speaker => "speaker",
            Role::Proponent => "proponent",
            Role::Opponent => "opponent",
            Role::Judge => "judge",
            Role::Moderator => "moderator",
            Role::Neutral => "neutral",
        }
    }

    /// The part of that name, unless there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Role> {
        Role::ASSIGNABLE.into_iter().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
