//! Who sits at the table.

use std::{borrow::Cow, collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// The longest name of a seat, in characters. Some providers that serve models of others name them by a
/// whole path.
pub const LONGEST_NAME: usize = 128;

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
    /// Set where it takes no turns in the talk: a judge, for instance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
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
            role: Role::SPEAKER,
            weight: 1.0,
            brief: None,
            person: None,
            aside: false,
            strengths: Vec::new(),
        }
    }

    /// A seat for a person of this name.
    #[must_use]
    pub fn person(name: &str) -> Self {
        Participant { person: Some(Person::default()), ..Participant::of(name) }
    }

    /// This name, or the same with the first number that nobody at the table has.
    #[must_use]
    pub fn free_name(table: &[Participant], name: &str) -> String {
        let taken: BTreeSet<&str> = table.iter().map(|it| it.name.as_str()).collect();
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let names = std::iter::once(name.to_owned()).chain(numbered);
        names.into_iter().find(|it| !taken.contains(it.as_str())).unwrap_or_default()
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

    /// The same seat, taking no turns in the talk.
    #[must_use]
    pub fn aside(self) -> Self {
        Participant { aside: true, ..self }
    }
}

/// A person at the table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Who may speak for this seat; anybody who can reach the discussion, where nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// A part to play at the table. Patterns declare the roles they tell apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Role(Cow<'static, str>);

impl Role {
    /// No particular part.
    pub const SPEAKER: Role = Role::named("speaker");

    /// A person for whom the discussion is held.
    pub const USER: Role = Role::named("user");

    /// The role of this name.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Role(Cow::Borrowed(name))
    }

    /// The name in requests, results and prompts.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Default for Role {
    fn default() -> Self {
        Role::SPEAKER
    }
}

impl From<&str> for Role {
    fn from(name: &str) -> Self {
        Role(Cow::Owned(name.to_owned()))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
