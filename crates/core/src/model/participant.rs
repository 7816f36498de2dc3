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
    /// What else its provider is called; whoever may not know who it is must not hear that either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
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
    /// Set when a person sits here, not a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// What its speeches end at, where the pattern sends such; `None` is the pattern's own list (C03).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Vec<String>>,
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
            aliases: Vec::new(),
            model: None,
            role: Role::Speaker,
            weight: 1.0,
            brief: None,
            person: None,
            stop: None,
            strengths: Vec::new(),
        }
    }

    /// A seat for a person of this name.
    #[must_use]
    pub fn person(name: &str) -> Self {
        Participant { person: Some(Person::default()), ..Participant::of(name) }
    }

    /// Whether a person sits here.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.person.is_some()
    }

    /// The same seat in another part.
    #[must_use]
    pub fn playing(self, role: Role) -> Self {
        Participant { role, ..self }
    }
}

/// A person at the table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Who may speak for this seat; anybody who can reach the discussion, where nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// A part to play. A debate and a roundtable tell them apart.
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
    /// Runs the table.
    Manager,
    /// Leads a part of the work.
    Leader,
    /// Knows a subject.
    Specialist,
    /// The person for whom it is held.
    User,
}

impl Role {
    /// Every part that can be assigned by name.
    pub const ASSIGNABLE: [Role; 9] = [
        Role::Proponent,
        Role::Opponent,
        Role::Judge,
        Role::Moderator,
        Role::Neutral,
        Role::Manager,
        Role::Leader,
        Role::Specialist,
        Role::User,
    ];

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
            Role::Manager => "manager",
            Role::Leader => "leader",
            Role::Specialist => "specialist",
            Role::User => "user",
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
