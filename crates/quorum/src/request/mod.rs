//! What a user asks for, as JSON and flags say it: everything is optional but the topic.

pub(crate) mod again;
mod bounds;
mod check;
pub mod fields;
pub mod flags;
pub mod limits;
mod panel;
mod seats;
pub(crate) mod settings;
pub mod size;
mod window;
pub mod written;

use std::collections::BTreeMap;

use quorum_core::registry::Registry;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::setup::Missing;

pub(crate) use check::{checked_with, usual};
pub(crate) use seats::place_of;
pub(crate) use window::usual as usual_window;

pub use quorum_core::registry::MissingRoles;

pub(crate) use panel::choice as panel_choice;

pub use panel::PanelChoice;

pub use check::{check, draft};

/// A request for a discussion, as it came and unchecked. [`check()`] makes a spec of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The question.
    pub topic: String,
    /// The pattern's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Who takes part: `claude`, or `claude/MODEL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub providers: Option<Vec<String>>,
    /// The whole table in seating order, people among them; in the place of `providers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participants: Option<Vec<Seating>>,
    /// How many rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The consensus method's name.
    #[serde(alias = "consensusMethod", skip_serializing_if = "Option::is_none")]
    pub consensus: Option<String>,
    /// Whether minority views are part of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_dissent: Option<bool>,
    /// What may be voted for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voting_options: Option<Vec<String>>,
    /// What everyone should know beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Instructions for single participants.
    #[serde(default, deserialize_with = "written::once", skip_serializing_if = "Option::is_none")]
    pub provider_prompts: Option<BTreeMap<String, String>>,
    /// The parts in a debate, by participant.
    #[serde(default, deserialize_with = "written::once", skip_serializing_if = "Option::is_none")]
    pub roles: Option<BTreeMap<String, String>>,
    /// How long one answer may take, retries included, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_timeout: Option<u64>,
    /// Whether the others go on when one fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_on_provider_failure: Option<bool>,
    /// How many must have taken part for a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_providers: Option<u32>,
    /// How freely they speak, 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How long an answer may get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_per_turn: Option<u32>,
    /// The session it shall belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The time for everything, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// Calls to providers at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u32>,
    /// Tokens at most, read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// USD at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Whether providers without a known price may take part under a budget of money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unpriced: Option<bool>,
    /// Whether participants may convene sub-discussions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    /// How deep sub-discussions may go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// How the time is shared between the levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_strategy: Option<String>,
    /// Whether a group is not waited for once an answer is confident enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_exit: Option<bool>,
    /// How confident that is, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_threshold: Option<f64>,
    /// How a talk that outgrows a model's window is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_strategy: Option<String>,
    /// What follows when a provider says that a request is too long all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_overflow: Option<String>,
    /// Whether to use simulated voices although real ones could be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline: Option<bool>,
    /// Simulated voices: the same seed gives the same discussion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How simulated voices behave; setting this asks for them.
    #[serde(default, deserialize_with = "written::named", skip_serializing_if = "Option::is_none")]
    pub simulate: Option<Simulate>,
    /// The preset of the configuration that fills in what is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The options that patterns, methods and strategies declare, by name. A name that nobody declares
    /// is refused when the request is checked.
    #[serde(flatten, deserialize_with = "written::settings")]
    pub settings: BTreeMap<String, Value>,
}

impl Request {
    /// A request with nothing but a topic.
    #[must_use]
    pub fn on(topic: &str) -> Self {
        Request { topic: topic.to_owned(), ..Request::default() }
    }

    /// Whether it asks for simulated voices.
    pub(crate) fn wants_simulation(&self) -> bool {
        self.offline == Some(true) || self.simulate.is_some()
    }
}

/// A seat at the table, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Seating {
    /// `claude`, `claude/MODEL`, or `me:person`.
    Written(String),
    /// A person, and who may speak for the seat.
    Person(Seat),
    /// A model's seat of a past discussion under the name it had there. Nobody writes this.
    Kept {
        /// `claude`, or `claude/MODEL`.
        seat: String,
        /// `claude-2`
        name: String,
    },
}

/// A person's seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// What others call this person.
    pub person: String,
    /// Who may speak for the seat; anybody, where nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// How simulated voices behave.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Simulate {
    /// How long a reply takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// The share of replies that fail for a moment, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<f64>,
    /// How rarely a voice changes its mind, 0 (always open) to 1 (never).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stubbornness: Option<f64>,
    /// Providers that never answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead: Vec<String>,
}

/// What a request is checked against, beside itself.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The patterns, methods, strategies and detectors there are.
    pub registry: Registry,
    /// Who answers where a request does not say.
    pub voicing: Voicing,
    /// Providers with a real voice, in the order in which they fill a panel.
    pub available: Vec<String>,
    /// The only vendor that can be asked, whose models make up the usual panel then.
    pub sole_vendor: Option<SoleVendor>,
    /// Providers that are known but can't be asked here, and what each lacks.
    pub lacking: BTreeMap<String, Missing>,
    /// What providers are good at by the user's word.
    pub strengths: BTreeMap<String, Vec<String>>,
    /// What to do about roles that a pattern needs and nobody has.
    pub missing_roles: MissingRoles,
}

impl Default for Setting {
    /// The vocabulary that comes with this crate, and nobody to ask.
    fn default() -> Self {
        Setting {
            registry: quorum_patterns::registry(),
            voicing: Voicing::default(),
            available: Vec::new(),
            sole_vendor: None,
            lacking: BTreeMap::new(),
            strengths: BTreeMap::new(),
            missing_roles: MissingRoles::default(),
        }
    }
}

/// The only vendor that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoleVendor {
    /// The provider its models are asked through.
    pub provider: String,
    /// Different models of it, in seating order.
    pub models: Vec<String>,
}

/// Who answers where a request does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Voicing {
    /// The providers themselves.
    #[default]
    Real,
    /// Simulated voices.
    Simulated,
}
