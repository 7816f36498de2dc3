//! What only a debate has: its order, who argues what, who judges, and how it came to its end (requirement D).

mod order;

use serde::{Deserialize, Serialize};

use crate::model::{
    event::Event,
    likeness::Comparison,
    participant::{Participant, Role},
    spec::Spec,
    vacancy::Vacancy,
};

pub use order::{DebateSpec, Diversity, Format, JudgeFailure, Judging, Mode};

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

/// Something a detector noticed (D08).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// In which round.
    pub round: u32,
    /// Which detector.
    pub detector: String,
    /// By which measure: `lexical`, `trigrams`, `embeddings`, `judge`.
    pub measure: String,
    /// What it measured.
    pub value: f64,
    /// Whose speech, where it is one participant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
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

/// A debate that ended before its last round, by its own rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TalkEnd {
    /// After which round.
    pub round: u32,
    /// Why.
    pub why: EndedBy,
    /// The detector, where one ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detector: Option<String>,
}

/// What ended a debate before its last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// The judge has heard enough.
    Judge,
    /// The judge finds that they have met.
    Convergence,
    /// The judge finds that nothing new comes.
    DiminishingReturns,
    /// A detector that was allowed to.
    Detector,
    /// The judge failed, and that was to end it.
    JudgeLost,
    /// Fewer than two debaters are left.
    TooFewDebaters,
}

/// What a debate's own facts amount to so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DebateState {
    /// The parts, where any were given out.
    pub cast: Option<Cast>,
    /// What an embedding model found alike, round by round.
    pub comparisons: Vec<Comparison>,
    /// Everything the detectors noticed.
    pub detections: Vec<Detection>,
    /// Every change on the bench.
    pub judges: Vec<JudgeChange>,
    /// The judge's seat, while it is for people to say what becomes of it.
    pub vacancy: Option<Vacancy>,
    /// Why it ended before its last round.
    pub ended: Option<TalkEnd>,
}

impl DebateState {
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::PartsCast(cast) => self.cast = Some(cast.clone()),
            Event::Compared(comparison) => self.comparisons.push(comparison.clone()),
            Event::Detected(detection) => self.detections.push(detection.clone()),
            Event::JudgeAwaited(vacancy) => self.vacancy = Some(vacancy.clone()),
            Event::JudgeChanged(change) => {
                self.vacancy = None;
                self.judges.push(change.clone());
            }
            Event::TalkEnded(end) => self.ended = Some(end.clone()),
            _ => {}
        }
    }
}

impl Spec {
    /// Those who argue in a debate: proponents and opponents, in seating order.
    #[must_use]
    pub fn debaters(&self) -> Vec<Participant> {
        let sides = [Role::Proponent, Role::Opponent];
        self.participants.iter().filter(|it| sides.contains(&it.role)).cloned().collect()
    }
}
