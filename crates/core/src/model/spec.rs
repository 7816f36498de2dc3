//! What was asked for: one discussion, fully described and checked, before anything ran.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    debate::DebateSpec,
    id::Tenant,
    money::Usd,
    participant::{Participant, Role},
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
    /// What only a dialogue looks at.
    #[serde(default)]
    pub dialogue: Dialogue,
    /// What only a debate looks at.
    #[serde(default, skip_serializing_if = "DebateSpec::is_default")]
    pub debate: DebateSpec,
    /// How a talk that outgrows a model's window is shown (D09).
    #[serde(default, skip_serializing_if = "WindowSpec::is_default")]
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
    /// Everyone who talks: all but the judges.
    #[must_use]
    pub fn speakers(&self) -> Vec<Participant> {
        self.participants.iter().filter(|it| it.role != Role::Judge).cloned().collect()
    }

    /// Everyone who plays this part.
    #[must_use]
    pub fn playing(&self, role: Role) -> Vec<Participant> {
        self.participants.iter().filter(|it| it.role == role).cloned().collect()
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
    /// Who synthesises or moderates; the strongest one present when nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesizer: Option<String>,
    /// The share that decides, 0 to 1.
    pub threshold: f64,
    /// Whether minority views are part of the result.
    pub include_dissent: bool,
    /// Instructions for the synthesis in place of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
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

/// What only a dialogue looks at (A02).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialogue {
    /// Whether both must agree, or either is enough.
    pub both_must_agree: bool,
    /// Rounds before the first consensus check.
    pub min_rounds: u32,
}

impl Default for Dialogue {
    fn default() -> Self {
        Dialogue { both_must_agree: true, min_rounds: 1 }
    }
}

/// How a talk that outgrows a model's window is shown (D09).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowSpec {
    /// The context strategy's name.
    pub strategy: String,
    /// Whether a strategy that can do without may pay for summaries.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub summaries: bool,
    /// What follows when a provider says that a request is too long all the same.
    pub overflow: Overflow,
}

impl Default for WindowSpec {
    fn default() -> Self {
        WindowSpec { strategy: "slide".to_owned(), summaries: false, overflow: Overflow::default() }
    }
}

impl WindowSpec {
    fn is_default(&self) -> bool {
        *self == WindowSpec::default()
    }
}

/// What follows when a provider says that a request is too long (D12).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// One more try with half the room, the newest turns alone.
    #[default]
    Truncate,
    /// One more try with half the room, what is older summed up.
    Summarise,
    /// The talk is wound up.
    End,
}

impl Overflow {
    /// All of them.
    pub const ALL: [Overflow; 3] = [Overflow::Truncate, Overflow::Summarise, Overflow::End];

    /// The name in requests; that of the context strategy for the second try, where there is one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Overflow::Truncate => "truncate",
            Overflow::Summarise => "summarise",
            Overflow::End => "end",
        }
    }
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
mod tests {
    use super::*;

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
