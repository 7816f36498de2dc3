//! What the user gets: the decision, and the result document with the field names of requirement B04.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    ballot::Tally,
    debate::{Cast, Detection},
    error::Problem,
    event::{Check, Tight},
    flips::{Flip, Position, RoundAgreement},
    id::DiscussionId,
    judgement::{Claim, Dissent, Synthesis, Verdict},
    judging::JudgingReport,
    lifecycle::Lifecycle,
};

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

/// How a decision was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsensusReport {
    /// The method.
    pub method: String,
    /// Who wrote the synthesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesizer: Option<String>,
    /// How far they agree, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement_score: Option<f64>,
    /// What they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// Who holds something else; present, though perhaps empty, unless switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dissent: Option<Vec<DissentReport>>,
    /// The arguments on the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// A minority view, under B04's names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DissentReport {
    /// Whose.
    pub provider: String,
    /// What it is.
    pub position: String,
}

/// How the votes fell, every vote included (INV-DISC-202).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VotingResults {
    /// The winner, unless it is a tie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<String>,
    /// The options that tie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie: Vec<String>,
    /// Heads by option.
    pub votes: BTreeMap<String, u32>,
    /// Weight by option.
    pub weighted_votes: BTreeMap<String, f64>,
    /// Every vote.
    pub ballots: Vec<BallotReport>,
}

/// One vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BallotReport {
    /// Who.
    pub provider: String,
    /// In which round.
    pub round: u32,
    /// For what.
    pub choice: String,
    /// How sure, 0 to 1.
    pub confidence: f64,
    /// Why.
    pub reasoning: String,
}

/// What a dialogue agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalConsensus {
    /// The solution.
    pub solution: String,
    /// In which round.
    pub achieved_at_round: u32,
    /// What A last said.
    pub model_a_contribution: String,
    /// What B last said.
    pub model_b_contribution: String,
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

/// When, how much, for how much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// ISO 8601, UTC.
    pub started_at: String,
    /// ISO 8601, UTC; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// All tokens, sub-discussions included.
    pub total_tokens: u64,
    /// All costs in USD; absent when any part is unpriced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_cost: Option<f64>,
    /// The same by provider (INV-DISC-644).
    pub cost_summary: CostSummary,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
}

/// Costs by provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostSummary {
    /// Calls placed, retries and sub-discussions included.
    pub total_calls: u32,
    /// Tokens.
    pub total_tokens: u64,
    /// USD for what is priced.
    pub estimated_cost_usd: f64,
    /// Who has no known price; what they cost is not in the sum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// Each one's share.
    pub by_provider: BTreeMap<String, ProviderCost>,
}

/// What one provider took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderCost {
    /// Calls placed.
    pub calls: u32,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Both.
    pub tokens: u64,
    /// USD; absent when unpriced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Whether the result is all that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Integrity {
    /// Who was meant to speak.
    pub expected: Vec<String>,
    /// Who did.
    pub spoke: Vec<String>,
    /// Who is missing, and why.
    pub missing: Vec<Missing>,
    /// Attempts that failed and were repeated.
    pub retries: u32,
    /// Calls cut off by the end of a process and repeated; they may have been paid twice.
    pub repeated_calls: u32,
    /// Calls let go because there was enough, or at an abort.
    pub abandoned_calls: u32,
    /// Votes and checks that were guessed from phrases.
    pub inferred_readings: u32,
    /// Votes and checks that could not be read at all.
    pub unread_replies: u32,
    /// Turns that did not fit someone's window, summed over all calls.
    pub truncations: u32,
    /// Summaries of what was said earlier, made for windows that had no room for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub summaries: u32,
    /// Participants whose window what was said came near to filling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tight_windows: Vec<Tight>,
    /// Replies that ran into their token limit.
    pub cut_short: u32,
    /// Rounds that were to be judged and have no assessment that counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unassessed_rounds: Vec<u32>,
    /// Yes when any of this made the result less than it was meant to be.
    pub degraded: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Someone who is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Who.
    pub provider: String,
    /// Why.
    pub reason: String,
}
