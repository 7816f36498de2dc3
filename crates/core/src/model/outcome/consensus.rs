//! How a decision was reached, under B04's names: who agrees, who does not, who voted for what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::judgement::Claim;

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
