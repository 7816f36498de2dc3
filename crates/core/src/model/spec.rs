//! What was asked for: one discussion, fully described and checked, before anything ran.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    id::Tenant,
    money::Usd,
    participant::{Participant, Role},
    settings::Settings,
};

/// The time kept for the synthesis at every level (INV-DISC-611).
pub const SYNTHESIS_RESERVE_MS: u64 = 10_000;

/// A discussion as it was ordered. Made by checking a request once; trusted from then on, and part of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The question.
    pub topic: String,
    /// What everyone should know beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// The pattern's name.
    pub pattern: String,
    /// How many rounds at most.
    pub rounds: u32,
    /// The table, in seating order.
    pub participants: Vec<Participant>,
    /// What may be voted for; empty when the votes are on a proposal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// How a decision is made of what was said.
    pub consensus: ConsensusSpec,
    /// How freely and how long they speak.
    pub manner: Manner,
    /// How long things may take.
    pub timing: Timing,
    /// How much failure is borne.
    pub tolerance: Tolerance,
    /// How much may be spent, children included.
    #[serde(default)]
    pub limits: Limits,
    /// Whether and how sub-discussions may be convened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursion: Option<Recursion>,
    /// Stop asking a group once an answer is this confident (INV-DISC-622); never before the minimum of providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_exit: Option<f64>,
    /// The options that were given, by name; what they mean is declared by who reads them.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    /// How a talk that outgrows a model's window is shown (D09).
    pub window: WindowSpec,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uuid>,
    /// Whose it is, where several share one server.
    #[serde(default, skip_serializing_if = "Tenant::is_own")]
    pub tenant: Tenant,
    /// Set when the voices are simulated; then every result says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
}

impl Spec {
    /// Everyone who takes turns in the talk.
    #[must_use]
    pub fn speakers(&self) -> Vec<Participant> {
        self.participants.iter().filter(|it| !it.aside).cloned().collect()
    }

    /// Everyone who plays this part.
    #[must_use]
    pub fn playing(&self, role: &Role) -> Vec<Participant> {
        self.participants.iter().filter(|it| it.role == *role).cloned().collect()
    }

    /// The seat of that name.
    #[must_use]
    pub fn seat(&self, name: &str) -> Option<&Participant> {
        self.participants.iter().find(|it| it.name == name)
    }
}

/// How a decision is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsensusSpec {
    /// The method's name.
    pub method: String,
    /// Whether minority views are part of the result.
    pub include_dissent: bool,
}

/// How freely and how long participants speak.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Manner {
    /// 0 to 2.
    pub temperature: f64,
    /// Tokens a turn at most.
    pub max_tokens: u32,
}

/// How long things may take. All of it is active time: pauses and dead processes don't count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// One step of one participant, its retries and back-offs included (INV-DISC-102).
    pub step_ms: u64,
    /// The whole discussion, sub-discussions included.
    pub total_ms: u64,
    /// Kept of the total for deciding.
    pub reserve_ms: u64,
}

/// How much failure is borne.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tolerance {
    /// Whether the others go on when one fails.
    pub go_on: bool,
    /// How many must have taken part for a success.
    pub min_providers: u32,
}

/// Budgets; `None` is without limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Calls to providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// Tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<Usd>,
    /// Whether voices without a known price may speak under a budget of money.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_unpriced: bool,
}

/// How sub-discussions are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recursion {
    /// The deepest level allowed; the root is level 0.
    pub max_depth: u32,
    /// How the time is shared between levels.
    pub strategy: TimeoutStrategy,
}

/// How the total time is shared between the levels of a recursive discussion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutStrategy {
    /// Each level the same.
    Fixed,
    /// Each level half of the one above.
    #[default]
    Cascade,
    /// Earlier levels more, each 60 % of the one above, all of it shared out.
    Budget,
}

impl TimeoutStrategy {
    /// All of them.
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

    /// The time of one level out of `total_ms` (INV-DISC-613: the same rule at every level).
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

/// How a talk that outgrows a model's window is shown (D09).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSpec {
    /// The context strategy's name.
    pub strategy: String,
    /// What follows when a provider says that a request is too long all the same (D12): the name of
    /// the strategy for one more try with half the room, or [`WindowSpec::END`].
    pub overflow: String,
}

impl WindowSpec {
    /// The talk is wound up when a request is too long.
    pub const END: &'static str = "end";
}

/// How simulated voices behave. Part of the record, so that a resumed discussion hears the same voices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// Same seed, same discussion.
    pub seed: u64,
    /// How long a reply takes.
    pub latency_ms: u64,
    /// The share of replies that fail for a moment, 0 to 1.
    pub failure: f64,
    /// How rarely a voice changes its mind, 0 (always open) to 1 (never).
    pub stubbornness: f64,
    /// Providers that are dead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead: Vec<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An order for ann, bob and cyd, for the tests of this crate.
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
            simulation: None,
        }
    }

    fn levels(strategy: TimeoutStrategy) -> [u64; 3] {
        [0, 1, 2].map(|depth| strategy.level_ms(180_000, 2, depth))
    }

    #[test]
    fn inv_disc_613_the_strategies_have_the_printed_figures() {
        assert_eq!(levels(TimeoutStrategy::Fixed), [60_000, 60_000, 60_000]);
        assert_eq!(levels(TimeoutStrategy::Cascade), [90_000, 45_000, 22_500]);
        assert_eq!(levels(TimeoutStrategy::Budget), [91_836, 55_102, 33_061]);
    }
}
