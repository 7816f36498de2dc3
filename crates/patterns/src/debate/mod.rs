//! What only a debate has: its order, who argues what, who judges, and how it came to its end
//! (requirement D).

pub(crate) mod assessment;
mod assessment_form;
pub(crate) mod assessment_reader;
pub(crate) mod bench;
pub(crate) mod casting;
pub(crate) mod course;
pub(crate) mod formats;
pub(crate) mod judging;
mod order;
mod score_lines;
pub(crate) mod seating;
pub(crate) mod verdict;
pub(crate) mod verdict_reader;

use serde::{Deserialize, Serialize};

pub use assessment::{Assessment, Criteria, Flags, Rated};
pub use judging::{JudgedRound, JudgingReport};
pub use order::{DebateSpec, Diversity, Format, JudgeFailure, Judging, Mode};
pub(crate) use order::{EMBEDDINGS, HIGHEST_LIMIT, MOST_DEBATERS, OPTIONS};
pub use verdict::{KeyPoints, Verdict, Winner};

/// What one debater argues, and as whom.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Who.
    pub participant: String,
    /// What it argues.
    pub position: String,
    /// As whom; empty for as itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub persona: String,
    /// What speaks for it, where somebody has thought of that already.
    #[serde(default, rename = "keyArguments", skip_serializing_if = "Vec::is_empty")]
    pub key_arguments: Vec<String>,
}

/// The parts as they were given out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cast {
    /// One for each debater.
    pub parts: Vec<Part>,
    /// Whether a model thought of them, or ours had to do.
    pub origin: CastOrigin,
    /// Who thought of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why these, in the words of who thought of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// Where parts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CastOrigin {
    /// The user said so.
    Given,
    /// A model gave them out.
    Assigned,
    /// No model could, so they are ours.
    Fallback,
}

/// A judge who failed, and what became of the seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeChange {
    /// In which round.
    pub round: u32,
    /// Who judged until now.
    pub from: String,
    /// Who judges now; nobody when it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What was ordered for this case, beforehand or when people were asked.
    pub rule: JudgeFailure,
}

/// Positions and personas as a model gave them out (D05).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastList {
    /// One for each debater.
    pub parts: Vec<Part>,
    /// Why these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}
