//! Debates: options, parts, judging and endings (requirement D).

pub(crate) mod assessment;
mod assessment_form;
pub(crate) mod assessment_reader;
pub(crate) mod bench;
pub(crate) mod casting;
pub(crate) mod concession;
pub(crate) mod course;
pub(crate) mod formats;
pub(crate) mod judging;
mod labels;
mod line_form;
mod median;
mod options;
pub(crate) mod remarks;
pub(crate) mod rubric;
mod score_lines;
pub(crate) mod seating;
pub(crate) mod sides;
pub(crate) mod verdict;
pub(crate) mod verdict_reader;
pub(crate) mod verdict_report;
pub(crate) mod writer;

use serde::{Deserialize, Serialize};

pub use assessment::{Assessment, Criteria, Flags, Rated};
pub use concession::Concession;
pub use judging::{JudgedRound, JudgingReport, PanelMark};
pub use options::{DebateSpec, Diversity, Format, JudgeFailure, Judging, Mode};
pub(crate) use options::{EMBEDDINGS, HIGHEST_LIMIT, MOST_DEBATERS, OPTIONS, POSITIONS};
pub use verdict::{KeyPoints, Verdict, Winner};
pub use verdict_report::{AgainstMarks, JudgesWinner, VerdictReport};

/// What one debater argues, and in which persona.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The participant's name.
    pub participant: String,
    /// The position it argues.
    pub position: String,
    /// The persona; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub persona: String,
    /// Arguments for the position, if given.
    #[serde(default, rename = "keyArguments", skip_serializing_if = "Vec::is_empty")]
    pub key_arguments: Vec<String>,
}

/// The parts of all debaters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cast {
    /// One part for each debater.
    pub parts: Vec<Part>,
    /// Where the parts come from.
    pub origin: CastOrigin,
    /// The model's participant that assigned them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reasons of that participant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// How they are spread, by name, if the user did not give them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<String>,
}

/// The origin of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CastOrigin {
    /// The user gave them.
    Given,
    /// A model assigned them.
    Assigned,
    /// Defaults, because no model could.
    Fallback,
}

/// A judge that failed, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeChange {
    /// The round's number.
    pub round: u32,
    /// The judge that failed.
    pub from: String,
    /// The new judge; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The rule that was applied, from the spec or from a ruling.
    pub rule: JudgeFailure,
    /// How the judge was lost.
    pub why: JudgeLoss,
}

/// How a judge was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeLoss {
    /// Its provider failed.
    Failed,
    /// Its reply could not be read, even after a reminder.
    Unread,
}

/// Positions and personas as a model assigned them (D05).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CastList {
    /// One part for each debater.
    pub parts: Vec<Part>,
    /// The model's reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}
