//! The participants of a discussion.

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::model::{agent::Agent, excerpt::in_short};

/// The longest name of a seat, in characters. Some providers name the models of others by a whole
/// path.
pub const LONGEST_NAME: usize = 128;

/// The names a seat can be given in a request, as a pattern for JSON schemas: a provider's name, or
/// a provider's and a model's, like `claude` or `ollama/llama3:8b`.
pub const NAME_PATTERN: &str = r"^[^\W_][-\w.@~+]*(/[-\w.:/@~+]*[-\w.:@~+])?$";

/// Whether a seat can be given this name in a request.
#[must_use]
pub fn is_name(written: &str) -> bool {
    let plain = |it: char| it.is_alphanumeric() || "-_.:/@~+".contains(it);
    let begins = written.chars().next().is_some_and(char::is_alphanumeric);
    begins && !written.ends_with('/') && written.chars().count() <= LONGEST_NAME && written.chars().all(plain)
}

/// The complaint about a name that is not among the participants.
pub fn not_a_participant<'n>(name: &str, participants: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = participants.into_iter().map(in_short).collect();
    format!("{} does not take part; the participants are {}", in_short(name), names.join(", "))
}

/// One seat: a name in the panel and the voice behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Participant {
    /// Its name, unique in the panel; used by the other participants and in results.
    pub name: String,
    /// The provider that answers for it.
    pub provider: String,
    /// Other names of its provider. A masked view hides these too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The provider's name as the client wrote it, if that is an alias.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_as_written: Option<String>,
    /// The seat's name as the client wrote it, if a seat can't be called that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_as_written: Option<String>,
    /// The provider's model, if not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its role in the discussion.
    #[serde(default)]
    pub role: Role,
    /// The weight of its vote; 1 for a plain provider.
    pub weight: f64,
    /// Instructions for this participant alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// Set if a person sits here rather than a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Person>,
    /// Set if an agent sits here, with everything of its profile that the discussion needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<Agent>>,
    /// Set if it takes no turns in the talk, like a judge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
    /// What its provider is good at; selects the synthesizer if the request names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strengths: Vec<String>,
}

impl Participant {
    /// A seat of weight 1, named after its provider.
    #[must_use]
    pub fn of(provider: &str) -> Self {
        Participant {
            name: provider.to_owned(),
            provider: provider.to_owned(),
            aliases: Vec::new(),
            provider_as_written: None,
            name_as_written: None,
            model: None,
            role: Role::SPEAKER,
            weight: 1.0,
            brief: None,
            person: None,
            agent: None,
            aside: false,
            strengths: Vec::new(),
        }
    }

    /// A seat for a person of this name.
    #[must_use]
    pub fn person(name: &str) -> Self {
        Participant { person: Some(Person::default()), ..Participant::of(name) }
    }

    /// This name, with the first free number appended if the panel already has it.
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

    /// The same seat with this role.
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

/// A person in the panel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The user who may speak for this seat; `None` means anyone who can reach the discussion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// A role in the panel. Patterns declare the roles they distinguish.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Role(Cow<'static, str>);

impl Role {
    /// The default role.
    pub const SPEAKER: Role = Role::named("speaker");

    /// The person for whom the discussion is held.
    pub const USER: Role = Role::named("user");

    /// The role with this name.
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
