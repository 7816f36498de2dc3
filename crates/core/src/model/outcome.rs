//! What the user gets: the decision, and the result document with the field names of requirement B04.

mod consensus;
mod integrity;
mod metadata;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{
    error::Problem,
    event::TalkEnd,
    flips::{Flip, Position, RoundAgreement},
    id::DiscussionId,
    lifecycle::Lifecycle,
};

pub use consensus::{ConsensusReport, DissentReport};
pub use integrity::{Integrity, Missing};
pub use metadata::{CostSummary, Metadata, ProviderCost};

/// What a consensus method, or the talk itself, made of a discussion.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The considered answer; never empty when anyone said anything.
    pub synthesis: String,
    /// Who wrote it, where someone did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesizer: Option<String>,
    /// How far they agree, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// What they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// Who holds something else (INV-DISC-201).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<Dissent>,
    /// The arguments on the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// What else the method found, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub found: Map<String, Value>,
    /// Why this is not the consensus the method demands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Whether it had to be made of less than was meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
}

/// A minority view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dissent {
    /// Whose.
    pub participant: String,
    /// What it is.
    pub position: String,
}

/// One argument on the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What is claimed.
    pub text: String,
    /// Who supports it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported_by: Vec<String>,
    /// Who attacks it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacked_by: Vec<String>,
    /// Whether nobody answered it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

/// Why a discussion ended: requirement A04's reasons and ours. Patterns may add their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoppingReason(Cow<'static, str>);

impl StoppingReason {
    /// The pattern went through to its end.
    pub const COMPLETED: StoppingReason = StoppingReason::named("completed");
    /// A person asked for the conclusion.
    pub const USER_STOP: StoppingReason = StoppingReason::named("user_stop");
    /// A person ended it.
    pub const USER_ABORT: StoppingReason = StoppingReason::named("user_abort");
    /// A budget is spent.
    pub const BUDGET: StoppingReason = StoppingReason::named("budget");
    /// The time is spent.
    pub const TIMEOUT: StoppingReason = StoppingReason::named("timeout");
    /// Too few are left to talk.
    pub const MODEL_UNAVAILABLE: StoppingReason = StoppingReason::named("model_unavailable");
    /// It could not go on.
    pub const ERROR: StoppingReason = StoppingReason::named("error");

    /// The reason of this name.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        StoppingReason(Cow::Borrowed(name))
    }

    /// The name in results.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// The result document. Absent values are left out, never null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Which discussion.
    pub discussion_id: DiscussionId,
    /// Where it stands.
    pub status: Lifecycle,
    /// Whether it did what it was asked for.
    pub success: bool,
    /// Whether the voices were simulated.
    pub simulated: bool,
    /// The pattern used.
    pub pattern: String,
    /// The question.
    pub topic: String,
    /// Who took part.
    pub participating_providers: Vec<String>,
    /// Who was meant to and did not, or did not to the end.
    pub failed_providers: Vec<String>,
    /// Everything that was said.
    pub rounds: Vec<Round>,
    /// The considered answer.
    pub synthesis: String,
    /// How it was reached.
    pub consensus: ConsensusReport,
    /// What everyone held in each round, where the pattern has positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions_by_round: Vec<Position>,
    /// Every change of mind, where the pattern has positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flips: Vec<Flip>,
    /// How far they agreed after each round, where the pattern has positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreement_by_round: Vec<RoundAgreement>,
    /// Discussions convened on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_discussions: Vec<SubReport>,
    /// How the talk ended by its pattern's own rules, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TalkEnd>,
    /// Why it ended; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopping_reason: Option<StoppingReason>,
    /// Active time in milliseconds.
    pub total_duration_ms: u64,
    /// When, how much, for how much.
    pub metadata: Metadata,
    /// Whether this is all that was asked for, and if not, what is missing.
    pub integrity: Integrity,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    /// The fields that the pattern and the method add, by name.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Outcome {
    /// The names of its own fields, which no pattern or method may give to one it adds.
    pub const FIELDS: &[&str] = &[
        "discussionId",
        "status",
        "success",
        "simulated",
        "pattern",
        "topic",
        "participatingProviders",
        "failedProviders",
        "rounds",
        "synthesis",
        "consensus",
        "positionsByRound",
        "flips",
        "agreementByRound",
        "subDiscussions",
        "ended",
        "stoppingReason",
        "totalDurationMs",
        "metadata",
        "integrity",
        "error",
    ];
}

/// One round with every response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// From 1.
    pub round_number: u32,
    /// In the order of the talk, seating order where they spoke at once.
    pub responses: Vec<Response>,
    /// A summary, where one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How long the round took (INV-DISC-501).
    pub duration_ms: u64,
}

/// One participant's response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// Who.
    pub provider: String,
    /// What was said; empty when it failed.
    pub content: String,
    /// In which round.
    pub round: u32,
    /// In which phase of the pattern.
    pub phase: String,
    /// In which part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// How sure, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// For what it voted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<String>,
    /// When it began to speak; ISO 8601, UTC.
    pub timestamp: String,
    /// How long it took.
    pub duration_ms: u64,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A sub-discussion as its parent reports it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubReport {
    /// Its id; absent when it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discussion_id: Option<DiscussionId>,
    /// Who asked for it.
    pub requested_by: String,
    /// What about.
    pub topic: String,
    /// What it found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Why there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
}
