//! The fields that our patterns and methods add to a result, as typed values.

use std::collections::BTreeMap;

use quorum_core::{
    model::{outcome::Outcome, spec::Spec},
    registry::Detection,
};
use quorum_patterns::{
    debate::{Cast, DebateSpec, JudgingReport, Verdict},
    readers::ConsensusVote,
};
use quorum_testkit::spec::spec;
use serde::{Deserialize, de::DeserializeOwned};

/// A result's fields under the names of requirements A, B and D.
pub(crate) trait Results {
    /// The field with this name; `None` if it was left out.
    fn field<T: DeserializeOwned>(&self, name: &str) -> Option<T>;

    fn verdict(&self) -> Option<Verdict> {
        self.field("verdict")
    }

    fn judging(&self) -> Option<JudgingReport> {
        self.field("judging")
    }

    fn positions(&self) -> Option<Cast> {
        self.field("positions")
    }

    fn detections(&self) -> Vec<Detection> {
        self.field("detections").unwrap_or_default()
    }

    fn voting_results(&self) -> Option<VotingResults> {
        self.field("votingResults")
    }

    fn consensus_checks(&self) -> Vec<Check> {
        self.field("consensusChecks").unwrap_or_default()
    }

    fn final_consensus(&self) -> Option<FinalConsensus> {
        self.field("finalConsensus")
    }
}

impl Results for Outcome {
    fn field<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value = self.fields.get(name)?.clone();
        Some(serde_json::from_value(value).unwrap_or_else(|error| panic!("{name}: {error}")))
    }
}

/// The votes (B04).
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VotingResults {
    pub(crate) winner: String,
    #[serde(default)]
    pub(crate) tie: Vec<String>,
    pub(crate) votes: BTreeMap<String, u32>,
    pub(crate) weighted_votes: BTreeMap<String, f64>,
    pub(crate) unanimous: bool,
    pub(crate) margin: f64,
    pub(crate) vote_records: Vec<Vote>,
}

/// One vote (B04).
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vote {
    pub(crate) provider: String,
    pub(crate) round: u32,
    pub(crate) choice: String,
    pub(crate) confidence: f64,
    #[serde(default)]
    pub(crate) reasoning: String,
    /// The weight of a seat that is no plain provider's.
    pub(crate) weight: Option<f64>,
}

/// A consensus check of a dialogue (A10).
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    pub(crate) round: u32,
    pub(crate) agreed: bool,
    #[serde(default)]
    pub(crate) skipped: bool,
    pub(crate) votes: Vec<(String, ConsensusVote)>,
    pub(crate) solution: Option<String>,
}

/// The agreed solution of a dialogue (A16).
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FinalConsensus {
    pub(crate) solution: String,
    pub(crate) achieved_at_round: u32,
    pub(crate) model_a_contribution: String,
    pub(crate) model_b_contribution: String,
}

/// The small debate of ann and bob before cyd, with these options.
pub(crate) fn ordered(debate: &DebateSpec) -> Spec {
    Spec { settings: debate.settings(), ..spec("debate") }
}
