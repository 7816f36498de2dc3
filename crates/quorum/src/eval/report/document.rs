//! The report as a document: what is printed as JSON, and what text and page are made from.

use serde::Serialize;

use super::{About, compared};
use crate::eval::{Answers, Evaluation, statistics::Interval};

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The file of questions.
    pub file: String,
    /// Its format.
    pub format: String,
    /// The id of the run.
    pub run: String,
    /// The session of its discussions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether the voices were simulated: then nothing follows for real models.
    pub simulated: bool,
    /// The reference world that they were from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// The seed.
    pub seed: u64,
    /// How often each question was asked.
    pub repeat: u32,
    /// Whether every protocol asked for first answers of its own.
    pub independent: bool,
    /// The number of questions.
    pub questions: usize,
    /// Questions that every protocol which fits them has answered.
    pub complete: usize,
    /// Records of the file that were left out.
    pub skipped: usize,
    /// The panel.
    pub panel: Vec<String>,
    /// The protocol that all others are compared with.
    pub baseline: String,
    /// The reason why it did not finish: `budget` or `user`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<&'static str>,
    /// Every protocol.
    pub protocols: Vec<ProtocolReport>,
    /// Every voice, by its first answers.
    pub voices: Vec<VoiceReport>,
    /// The share of questions for which some first answer was right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<f64>,
    /// How many independent voices the panel is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_eff: Option<EffectiveReport>,
    /// Calls that were made.
    pub calls: u64,
    /// Calls that the protocols would have made alone.
    pub calls_alone: u64,
    /// The amount spent, in USD.
    pub spent_usd: f64,
    /// The part of it that the grading model cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grader: Option<GraderReport>,
    /// Whether costs are counted in US dollars; otherwise in calls.
    pub cost_in_usd: bool,
    /// The corners of what can be had without talk, as cost and accuracy.
    pub frontier: Vec<[f64; 2]>,
    /// Discussions that failed: their ids and the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<[String; 2]>,
    /// Questions on which protocols differ.
    pub differing: Vec<DifferingQuestion>,
    /// How many of those are not listed.
    pub differing_unlisted: usize,
}

/// The model that graded answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GraderReport {
    /// Its name.
    pub name: String,
    /// Answers that it graded.
    pub answers: usize,
    /// Its calls, two for each description: one in each order.
    pub calls: u64,
    /// Descriptions on which it said yes in one order and no in the other; these count as not met.
    pub disagreed: usize,
    /// Its cost in USD, part of what was spent.
    pub usd: f64,
}

/// One protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolReport {
    /// Its name.
    pub name: String,
    /// What should be known about it: which voice it used, and how that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The questions it answered.
    pub questions: usize,
    /// The questions it should have answered and did not.
    pub missing: usize,
    /// The questions it can't be used for.
    pub unfit: usize,
    /// The share of right answers.
    pub accuracy: f64,
    /// Its 95 % interval (Wilson).
    pub interval: Interval,
    /// Answers that could not be read; they count as wrong.
    pub unread: usize,
    /// Ties that a lot decided.
    pub ties: usize,
    /// Calls for one question.
    pub calls: f64,
    /// Tokens for one question.
    pub tokens: f64,
    /// USD for one question; absent if a price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Seconds for one question.
    pub seconds: f64,
    /// The comparison with the baseline; absent for the baseline itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<VersusReport>,
    /// Its accuracy minus what can be had without talk at the same cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_equal_cost: Option<f64>,
    /// Changes of mind, for protocols with positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips: Option<FlipReport>,
    /// The Brier score of its stated probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brier: Option<f64>,
    /// The calibration error of it; absent with too few answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ece: Option<f64>,
    /// The answers by stated probability, in ten classes.
    pub bins: Vec<CalibrationBin>,
}

/// A comparison with the baseline, on the questions that both answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersusReport {
    /// The number of questions.
    pub questions: usize,
    /// The difference in accuracy.
    pub difference: f64,
    /// Its 95 % interval (paired bootstrap).
    pub interval: Interval,
    /// The p value of the exact McNemar test.
    pub p: f64,
    /// Questions that only this protocol got right.
    pub won: u32,
    /// Questions that only the baseline got right.
    pub lost: u32,
    /// The conclusion.
    pub conclusion: Conclusion,
    /// How many questions would be needed, where these are too few.
    // Readers of the JSON document know it under this name.
    #[serde(rename = "wouldTell", skip_serializing_if = "Option::is_none")]
    pub questions_needed: Option<u64>,
}

/// The conclusion from a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Better than the baseline.
    Better,
    /// Worse than the baseline.
    Worse,
    /// The interval includes 0.
    CannotTell,
}

/// Changes of mind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlipReport {
    /// From right to wrong.
    pub right_to_wrong: u32,
    /// From wrong to right.
    pub wrong_to_right: u32,
    /// The positions that could have changed.
    pub of: u32,
}

/// One class of stated probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CalibrationBin {
    /// How many answers are in it.
    pub count: usize,
    /// Their mean stated probability.
    pub stated: f64,
    /// The share of them that was right.
    pub right: f64,
}

/// One voice, by its first answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VoiceReport {
    /// Its name.
    pub voice: String,
    /// Its first answers.
    pub questions: usize,
    /// The share that was right.
    pub accuracy: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The mean confidence it stated.
    pub stated: f64,
    /// The Brier score of its confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brier: Option<f64>,
    /// The calibration error of it; absent with too few answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ece: Option<f64>,
    /// Its answers by stated confidence, in ten classes.
    pub bins: Vec<CalibrationBin>,
}

/// How many independent voices a panel is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectiveReport {
    /// The number of voices.
    pub voices: usize,
    /// As many independent ones are worth as much.
    pub effective: f64,
    /// The lower bound of its 90 % interval.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The questions it is known from.
    pub outcomes: usize,
}

/// A question on which protocols differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DifferingQuestion {
    /// Its id.
    pub id: String,
    /// The question.
    pub question: String,
    /// The right answer.
    pub right: String,
    /// The answer of each protocol.
    pub answers: Vec<AnswerReport>,
}

/// The answer of a protocol to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerReport {
    /// The protocol.
    pub protocol: String,
    /// Its answer.
    pub answer: String,
    /// Whether it was right.
    pub is_right: bool,
    /// The discussion.
    pub discussion: String,
}

impl Report {
    /// The report of these answers.
    #[must_use]
    pub fn of(evaluation: &Evaluation, answers: &Answers, about: &About) -> Report {
        compared::report(evaluation, answers, about)
    }
}
