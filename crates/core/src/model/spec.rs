//! The specification of a discussion, complete and checked before anything runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::model::{
    account::CappedAccount,
    client::ClientOrder,
    id::Tenant,
    known_voices::KnownVoices,
    money::Usd,
    participant::{Participant, Role},
    recall::{Follows, Recall, Recalled},
    retry_policy::RetryPolicy,
    settings::Settings,
};

/// The time reserved for the synthesis at every level (INV-DISC-611).
pub const SYNTHESIS_RESERVE_MS: u64 = 10_000;

/// The specification of a discussion. Checked once when it is made from a request, then trusted;
/// part of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The question.
    pub topic: String,
    /// Background that every participant is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// The pattern's name.
    pub pattern: String,
    /// The maximum number of rounds.
    pub rounds: u32,
    /// The participants in seating order.
    pub participants: Vec<Participant>,
    /// The options of a vote; empty if the votes are on a proposal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// How a decision is reached.
    pub consensus: ConsensusSpec,
    /// The temperature and length of turns.
    pub manner: Manner,
    /// The time limits.
    pub timing: Timing,
    /// How many failures are tolerated.
    pub tolerance: Tolerance,
    /// The budgets, including sub-discussions.
    #[serde(default)]
    pub limits: Limits,
    /// The limits of sub-discussions; `None` if none may be convened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursion: Option<Recursion>,
    /// The confidence of an answer at which a group stops early (INV-DISC-622), though never before
    /// the minimum number of providers has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_exit: Option<f64>,
    /// The option values given, by name. The pattern, method or strategy that reads an option
    /// declares it.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    /// How the talk is fitted into a context window (D09).
    pub window: WindowSpec,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uuid>,
    /// The owner, where several share one server.
    #[serde(default, skip_serializing_if = "Tenant::is_own")]
    pub tenant: Tenant,
    /// The account it is charged to, if that has spending caps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<CappedAccount>,
    /// Whether models see the names of the others instead of labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub show_names: bool,
    /// Set if the voices are simulated; results then say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
    /// What is to be recalled of past discussions; `None` if nothing (INV-DISC-016).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<Recall>,
    /// The discussion that this one follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<Follows>,
    /// What everyone is shown of past discussions: first those that this one follows, oldest first,
    /// then what was recalled, best first. `None` until they are looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<Vec<Recalled>>,
    /// Set if the client uses the panel as if it were one model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientOrder>,
    /// How failed calls are retried, in place of the table by error class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Whether the answer will be graded, so that everyone is asked for a first answer before the
    /// talk even if there are no options.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub graded: bool,
    /// What was known of the voices from earlier outcomes when the discussion was opened. Part of
    /// the record, so that later outcomes don't change what it decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_voices: Option<KnownVoices>,
    /// The document that a pattern works through instead of discussing the topic. Only the pattern
    /// reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Arc<Value>>,
}

impl Spec {
    /// The JSON schema of the answer, if it must be a JSON value.
    #[must_use]
    pub fn answer_schema(&self) -> Option<&serde_json::Value> {
        self.client.as_ref()?.schema.as_ref()
    }

    /// Everyone that takes turns in the talk.
    #[must_use]
    pub fn speakers(&self) -> Vec<Participant> {
        self.participants.iter().filter(|it| !it.aside).cloned().collect()
    }

    /// Everyone with this role.
    #[must_use]
    pub fn playing(&self, role: &Role) -> Vec<Participant> {
        self.participants.iter().filter(|it| it.role == *role).cloned().collect()
    }

    /// Everything the user gave with the question, and what is recalled of past discussions: texts
    /// that all participants are shown as they are.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        let own = [&self.topic].into_iter().chain(&self.background).chain(&self.options);
        let client = self.client.iter().flat_map(ClientOrder::shown);
        own.map(String::as_str).chain(client).chain(self.shown().iter().map(|it| it.text.as_str()))
    }

    /// What is shown of past discussions.
    #[must_use]
    pub fn shown(&self) -> &[Recalled] {
        self.recalled.as_deref().unwrap_or_default()
    }

    /// The participant with this name.
    #[must_use]
    pub fn seat(&self, name: &str) -> Option<&Participant> {
        self.participants.iter().find(|it| it.name == name)
    }
}

/// How a decision is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsensusSpec {
    /// The method's name.
    pub method: String,
    /// Whether the result includes minority views.
    pub include_dissent: bool,
}

/// The temperature and length of turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Manner {
    /// The sampling temperature, 0 to 2.
    pub temperature: f64,
    /// The maximum number of tokens of a turn.
    pub max_tokens: u32,
}

/// The time limits, in active time: pauses and dead processes don't count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// One step of one participant, its retries and back-offs included (INV-DISC-102).
    pub step_ms: u64,
    /// The whole discussion, including sub-discussions.
    pub total_ms: u64,
    /// The part of the total reserved for deciding.
    pub reserve_ms: u64,
}

/// How many failures are tolerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Whether the discussion continues when a participant fails.
    pub go_on: bool,
    /// How many participants must have spoken for a success.
    pub min_providers: u32,
}

/// The budgets; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Calls to providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// Tokens, prompt and completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<Usd>,
    /// Whether voices without a known price may be used under a cost budget.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_unpriced: bool,
}

impl Limits {
    /// Whether only voices with a known price may be asked.
    #[must_use]
    pub fn needs_prices(&self) -> bool {
        self.usd.is_some() && !self.allow_unpriced
    }
}

/// The limits of sub-discussions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recursion {
    /// The deepest level allowed; the root is level 0.
    pub max_depth: u32,
    /// How the time is divided among levels.
    pub strategy: TimeoutStrategy,
}

/// How the total time is divided among the levels of nested discussions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutStrategy {
    /// The same for each level.
    Fixed,
    /// For each level half as much as for the one above.
    #[default]
    Cascade,
    /// For each level 60 % of the one above; together they use all of the time.
    Budget,
}

impl TimeoutStrategy {
    /// All strategies.
    pub const ALL: [TimeoutStrategy; 3] =
        [TimeoutStrategy::Fixed, TimeoutStrategy::Cascade, TimeoutStrategy::Budget];

    /// The name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TimeoutStrategy::Fixed => "fixed",
            TimeoutStrategy::Cascade => "cascade",
            TimeoutStrategy::Budget => "budget",
        }
    }

    /// The time for one level out of `total_ms` (INV-DISC-613: the same rule at every level).
    #[must_use]
    pub fn level_ms(self, total_ms: u64, max_depth: u32, depth: u32) -> u64 {
        let total = total_ms as f64;
        let share = match self {
            TimeoutStrategy::Fixed => 1.0 / f64::from(max_depth + 1),
            TimeoutStrategy::Cascade => 0.5_f64.powi(depth as i32 + 1),
            TimeoutStrategy::Budget => {
                let all: f64 = (0..=max_depth).map(|level| 0.6_f64.powi(level as i32)).sum();
                0.6_f64.powi(depth as i32) / all
            }
        };
        (total * share) as u64
    }
}

/// How the talk is fitted into a context window (D09).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSpec {
    /// The context strategy's name.
    pub strategy: String,
    /// What happens if a provider still rejects a request as too long (D12): the name of the
    /// strategy for one more attempt with a smaller request, [`WindowSpec::END`] or
    /// [`WindowSpec::ASK`].
    pub overflow: String,
}

impl WindowSpec {
    /// Ends the talk when a request is too long.
    pub const END: &'static str = "end";
    /// Lets people decide when a request is too long.
    pub const ASK: &'static str = "ask";
}

/// The behaviour of simulated voices. Part of the record, so a resumed discussion has the same
/// voices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// The random seed: the same seed gives the same discussion.
    pub seed: u64,
    /// How long a reply takes, in milliseconds.
    pub latency_ms: u64,
    /// The share of replies that fail transiently, 0 to 1.
    pub failure: f64,
    /// How rarely a voice changes its mind, 0 (always open) to 1 (never).
    pub stubbornness: f64,
    /// Providers that are simulated as unavailable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead: Vec<String>,
    /// The reference world that the voices are from, as it is written; `None` for voices that talk
    /// without knowing what is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A spec with ann, bob and cyd, for the tests of this crate.
    pub(crate) fn order() -> Spec {
        Spec {
            topic: "tabs or spaces?".to_owned(),
            background: None,
            pattern: "talk".to_owned(),
            rounds: 2,
            participants: ["ann", "bob", "cyd"].map(Participant::of).to_vec(),
            options: Vec::new(),
            consensus: ConsensusSpec { method: "vote".to_owned(), include_dissent: true },
            manner: Manner { temperature: 0.7, max_tokens: 200 },
            timing: Timing { step_ms: 60_000, total_ms: 180_000, reserve_ms: SYNTHESIS_RESERVE_MS },
            tolerance: Tolerance { go_on: true, min_providers: 2 },
            limits: Limits::default(),
            recursion: None,
            early_exit: None,
            settings: Settings::default(),
            window: WindowSpec { strategy: "plain".to_owned(), overflow: WindowSpec::END.to_owned() },
            session: None,
            tenant: Tenant::default(),
            account: None,
            show_names: false,
            simulation: None,
            recall: None,
            follows: None,
            recalled: None,
            client: None,
            retry: None,
            graded: false,
            known_voices: None,
            plan: None,
        }
    }

    fn levels(strategy: TimeoutStrategy) -> [u64; 3] {
        [0, 1, 2].map(|depth| strategy.level_ms(180_000, 2, depth))
    }

    #[test]
    fn inv_disc_613_the_strategies_have_the_published_figures() {
        assert_eq!(levels(TimeoutStrategy::Fixed), [60_000, 60_000, 60_000]);
        assert_eq!(levels(TimeoutStrategy::Cascade), [90_000, 45_000, 22_500]);
        assert_eq!(levels(TimeoutStrategy::Budget), [91_836, 55_102, 33_061]);
    }
}
