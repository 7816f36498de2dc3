//! A request for a discussion, as given in JSON or flags: everything is optional but the topic.

pub(crate) mod again;
mod agents;
mod bounds;
mod check;
pub mod fields;
pub mod flags;
pub mod limits;
mod one_voice;
mod panel;
pub(crate) mod recall;
mod seats;
pub(crate) mod settings;
pub mod size;
mod window;
pub mod written;

use std::collections::BTreeMap;

use quorum_core::{
    model::{client::ClientOrder, participant::Participant},
    registry::Registry,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{agents::Folders, setup::Missing};

pub(crate) use agents::leave_out_if_idle;
pub(crate) use check::{checked_with, defaults_of};
pub(crate) use seats::{agent_complaint, available_provider, place_of};
pub(crate) use window::default_window;

pub use quorum_core::registry::MissingRoles;

pub(crate) use panel::choice as panel_choice;

pub use panel::PanelChoice;
pub use recall::RecallRequest;

pub use check::{check, draft};
pub use one_voice::{OneVoice, one_voice};

/// An unchecked request for a discussion. [`check()`] makes a spec of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The question.
    pub topic: String,
    /// The pattern's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The participating models: `claude`, or `claude/MODEL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub providers: Option<Vec<String>>,
    /// All participants in seating order, including people; replaces `providers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub participants: Option<Vec<Seating>>,
    /// The task at hand, by which agents choose their provider and abilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The weight of every agent's vote, instead of that of its profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_weight: Option<f64>,
    /// The number of rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The consensus method's name.
    #[serde(alias = "consensusMethod", skip_serializing_if = "Option::is_none")]
    pub consensus: Option<String>,
    /// Whether minority views are part of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_dissent: Option<bool>,
    /// The options of a vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voting_options: Option<Vec<String>>,
    /// Background for all participants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Instructions for single participants.
    #[serde(default, deserialize_with = "written::once", skip_serializing_if = "Option::is_none")]
    pub provider_prompts: Option<BTreeMap<String, String>>,
    /// Roles in a debate, by participant.
    #[serde(default, deserialize_with = "written::once", skip_serializing_if = "Option::is_none")]
    pub roles: Option<BTreeMap<String, String>>,
    /// The time limit for one answer, retries included, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_timeout: Option<u64>,
    /// Whether the others continue when one participant fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_on_provider_failure: Option<bool>,
    /// How many providers must take part for a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_providers: Option<u32>,
    /// The sampling temperature, 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The maximum length of an answer, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_per_turn: Option<u32>,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The total time budget, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// The part of it that is kept for the synthesis at every level, in milliseconds; at most half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_synthesis_ms: Option<u64>,
    /// The maximum number of calls to providers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u32>,
    /// The maximum number of tokens, input and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The maximum cost in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Whether providers without a known price may take part under a cost limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unpriced: Option<bool>,
    /// Whether models see each other's names instead of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show_names: Option<bool>,
    /// Whether participants may convene sub-discussions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    /// The maximum depth of sub-discussions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// How the time is divided between the levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_strategy: Option<String>,
    /// Whether to stop waiting for a group once an answer is confident enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_exit: Option<bool>,
    /// The confidence that is enough, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_threshold: Option<f64>,
    /// How a discussion that outgrows a model's window is shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_strategy: Option<String>,
    /// The strategy to use when a provider still reports that a request is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_overflow: Option<String>,
    /// Whether to use simulated voices even if real ones are available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline: Option<bool>,
    /// The seed of simulated voices: the same seed gives the same discussion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The behaviour of simulated voices; setting this enables them.
    #[serde(default, deserialize_with = "written::named", skip_serializing_if = "Option::is_none")]
    pub simulate: Option<Simulate>,
    /// What to recall of past discussions; nothing, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<RecallRequest>,
    /// The discussion that this one follows: its id, the beginning of it, or `last`. Its panel and
    /// settings are kept where the request says nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
    /// The preset that fills in fields left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The options that patterns, methods and strategies declare, by name. An undeclared name is
    /// refused when the request is checked.
    #[serde(flatten, deserialize_with = "written::settings")]
    pub settings: BTreeMap<String, Value>,
    /// What a client that uses the panel as one model sent beside the question. No written request
    /// has it; with it, the question may have as many characters as such a client may send.
    #[serde(skip)]
    pub client: Option<ClientOrder>,
    /// The reference world that simulated voices are from. No written request has it: what is true
    /// in a world is known only to the program that gave it to its voices.
    #[serde(skip)]
    pub world: Option<String>,
    /// The question as far as it is known, where the topic only stands for it: agents choose their
    /// providers and abilities by it. No written request has it.
    #[serde(skip)]
    pub known_question: Option<String>,
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

/// A seat as written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Seating {
    /// `claude`, `claude/MODEL`, `reviewer:agent` or `me:person`.
    Written(String),
    /// A person, and which user may speak for the seat.
    Person(Seat),
    /// A provider or an agent by its id.
    Typed(TypedSeat),
    /// An agent's seat of a past discussion, with everything that was recorded of its profile. It
    /// has no written form.
    KeptAgent(Box<Participant>),
    /// A model's seat of a past discussion under its name there. It has no written form.
    Kept {
        /// The model: `claude`, or `claude/MODEL`.
        seat: String,
        /// The name: `claude-2`.
        name: String,
    },
}

/// A seat whose kind is a field of its own: `{"type": "agent", "id": "reviewer"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "id", rename_all = "lowercase")]
pub enum TypedSeat {
    /// A provider: `claude`, or `claude/MODEL`.
    Provider(String),
    /// An agent.
    Agent(String),
}

/// A person's seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// The person's name in the discussion.
    pub person: String,
    /// The user who may speak for the seat; anyone, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// The behaviour of simulated voices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Simulate {
    /// The latency of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// The fraction of replies that fail temporarily, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<f64>,
    /// How rarely a voice changes its mind, 0 (always open) to 1 (never).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stubbornness: Option<f64>,
    /// Providers that never answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead: Vec<String>,
}

/// The environment a request is checked against.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The registered patterns, methods, strategies and detectors.
    pub registry: Registry,
    /// Which voices answer if a request does not say.
    pub voicing: Voicing,
    /// Providers with a real voice, in the order in which they fill a panel.
    pub available: Vec<String>,
    /// The vendor, if only one is available; its models make up the default panel then.
    pub sole_vendor: Option<SoleVendor>,
    /// The available providers that take the same key as one before them, and the first such one.
    pub same_vendor: BTreeMap<String, String>,
    /// Known providers that are not available, and what each lacks.
    pub lacking: BTreeMap<String, Missing>,
    /// The providers' strengths as configured by the user.
    pub strengths: BTreeMap<String, Vec<String>>,
    /// What to do about roles that a pattern needs and no participant has.
    pub missing_roles: MissingRoles,
    /// The folders that agents' profiles are read from.
    pub agents: Folders,
}

impl Default for Setting {
    /// The built-in vocabulary without any providers.
    fn default() -> Self {
        Setting {
            registry: quorum_patterns::registry(),
            voicing: Voicing::default(),
            available: Vec::new(),
            sole_vendor: None,
            same_vendor: BTreeMap::new(),
            lacking: BTreeMap::new(),
            strengths: BTreeMap::new(),
            missing_roles: MissingRoles::default(),
            agents: Folders::default(),
        }
    }
}

/// The only available vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoleVendor {
    /// The provider its models are asked through.
    pub provider: String,
    /// Different models of this vendor, in seating order.
    pub models: Vec<String>,
    /// Whether a program on this machine answers. It chooses its model itself, so it may take
    /// several seats.
    pub is_program: bool,
}

/// Which voices answer if a request does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Voicing {
    /// Those of the providers.
    #[default]
    Real,
    /// Simulated voices.
    Simulated,
}
