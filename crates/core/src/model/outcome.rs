//! What the user gets: the decision, and the result document with the field names of requirement B04.

mod consensus;
mod integrity;
mod metadata;

use serde::{Deserialize, Serialize};

use crate::model::{
    ballot::Tally,
    debate::{Cast, Detection},
    error::Problem,
    event::Check,
    flips::{Flip, Position, RoundAgreement},
    id::DiscussionId,
    judgement::{Claim, Dissent, Synthesis, Verdict},
    judging::JudgingReport,
    lifecycle::Lifecycle,
};

pub use consensus::{BallotReport, ConsensusReport, DissentReport, FinalConsensus, VotingResults};
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
    /// How the votes fell, where there were votes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
    /// Why this is not the consensus the method demands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Whether it had to be made of less than was meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
}

impl Decision {
    /// A decision that is this synthesis by this participant.
    #[must_use]
    pub fn from_synthesis(synthesis: Synthesis, by: &str) -> Self {
        Decision {
            synthesis: synthesis.synthesis,
            synthesizer: Some(by.to_owned()),
            agreement: synthesis.agreement,
            agreements: synthesis.agreements,
            dissent: synthesis.dissent,
            claims: synthesis.claims,
            ..Decision::default()
        }
    }
}

/// Why a discussion ended: requirement A04's reasons and ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppingReason {
    /// The pattern went through to its end.
    Completed,
    /// The dialogue's partners agree.
    ConsensusReached,
    /// The dialogue's rounds are used up.
    MaxIterations,
    /// A person asked for the conclusion.
    UserStop,
    /// A person ended it.
    UserAbort,
    /// A budget is spent.
    Budget,
    /// The time is spent.
    Timeout,
    /// Too few are left to talk.
    ModelUnavailable,
    /// It could not go on.
    Error,
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
    /// How the votes fell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voting_results: Option<VotingResults>,
    /// The judge's final word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What a debate's judge said on the way, and whether it held in both orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<JudgingReport>,
    /// Who argued what, where positions were given out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positions: Option<Cast>,
    /// What the detectors noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detections: Vec<Detection>,
    /// What everyone held in each round, where the pattern has positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions_by_round: Vec<Position>,
    /// Every change of mind, where the pattern has positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flips: Vec<Flip>,
    /// How far they agreed after each round, where the pattern has positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreement_by_round: Vec<RoundAgreement>,
    /// A dialogue's consensus checks, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consensus_checks: Vec<Check>,
    /// What a dialogue agreed on, with both contributions (A16).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_consensus: Option<FinalConsensus>,
    /// Discussions convened on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_discussions: Vec<SubReport>,
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
