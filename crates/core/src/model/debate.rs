//! What only a debate has: how it was ordered, who argues what, who judges, and how it came to its end (requirement D).

use serde::{Deserialize, Serialize};

use crate::model::{
    event::Event,
    likeness::Comparison,
    participant::{Participant, Role},
    spec::Spec,
    vacancy::Vacancy,
};

/// How a debate was ordered (D03). The default is a structured debate before a judge who looks at every round.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DebateSpec {
    /// How it goes and when it ends.
    pub format: Format,
    /// Whether they speak in turn or at once.
    pub mode: Mode,
    /// Rounds at most, 1 to 1,000. A structured debate takes the spec's rounds instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_limit: Option<u32>,
    /// How often the judge is heard.
    pub judging: Judging,
    /// What happens when the judge fails (D13).
    pub judge_failure: JudgeFailure,
    /// Whether every judgement is made in both orders, and counts only where both say the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub swap_check: bool,
    /// The detectors that may end it, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub end_on: Vec<String>,
    /// The model that measures whether speeches mean the same, as `provider/model`; words are compared where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<String>,
    /// What each debater argues, where the user says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<Part>,
    /// Let a model give out positions and personas, spread like this (D05).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub casting: Option<Diversity>,
}

impl DebateSpec {
    /// Whether nothing was asked for; then nothing is written.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == DebateSpec::default()
    }
}

/// How a debate goes and when it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Openings, rebuttals, closings.
    #[default]
    StructuredRounds,
    /// As it comes, until the judge has heard enough.
    FreeForm,
    /// A number of rounds, no more and no fewer.
    RoundLimited,
    /// Until they meet, or nothing new comes.
    ConvergenceSeeking,
}

impl Format {
    /// All of them, the default first.
    pub const ALL: [Format; 4] =
        [Format::StructuredRounds, Format::FreeForm, Format::RoundLimited, Format::ConvergenceSeeking];

    /// The name in requests and prompts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::StructuredRounds => "structured-rounds",
            Format::FreeForm => "free-form",
            Format::RoundLimited => "round-limited",
            Format::ConvergenceSeeking => "convergence-seeking",
        }
    }

    /// One line for help and schemas.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Format::StructuredRounds => "openings, rebuttals, closings",
            Format::FreeForm => "as it comes, until the judge has heard enough",
            Format::RoundLimited => "exactly as many rounds as ordered",
            Format::ConvergenceSeeking => "until they meet, or nothing new comes",
        }
    }
}

/// Whether debaters speak in turn or at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In turn, each having heard those before; only the openings of a structured debate are made at once.
    #[default]
    Sequential,
    /// At once; nobody hears the others before the round is over.
    Simultaneous,
}

impl Mode {
    /// All of them, the default first.
    pub const ALL: [Mode; 2] = [Mode::Sequential, Mode::Simultaneous];

    /// The name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Sequential => "sequential",
            Mode::Simultaneous => "simultaneous",
        }
    }
}

/// How often the judge is heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judging {
    /// After every round, and at the end.
    #[default]
    EveryRound,
    /// At the end alone.
    VerdictOnly,
}

impl Judging {
    /// All of them, the default first.
    pub const ALL: [Judging; 2] = [Judging::EveryRound, Judging::VerdictOnly];

    /// The name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Judging::EveryRound => "every-round",
            Judging::VerdictOnly => "verdict-only",
        }
    }
}

/// What happens when the judge fails (D13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeFailure {
    /// The next one able to judge takes the seat.
    Swap,
    /// The debate goes on without a judge.
    #[default]
    GoWithout,
    /// The debate is concluded.
    End,
    /// The debate waits until people say which of these it shall be.
    Ask,
}

impl JudgeFailure {
    /// All of them.
    pub const ALL: [JudgeFailure; 4] =
        [JudgeFailure::Swap, JudgeFailure::GoWithout, JudgeFailure::End, JudgeFailure::Ask];

    /// The name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            JudgeFailure::Swap => "swap",
            JudgeFailure::GoWithout => "go-without",
            JudgeFailure::End => "end",
            JudgeFailure::Ask => "ask",
        }
    }
}

/// How positions are spread over the debaters (D05).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Diversity {
    /// For and against.
    Binary,
    /// From one end of opinion to the other.
    Spectrum,
    /// Different angles that need not be opposed.
    MultiPerspective,
}

impl Diversity {
    /// All of them.
    pub const ALL: [Diversity; 3] = [Diversity::Binary, Diversity::Spectrum, Diversity::MultiPerspective];

    /// The name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Diversity::Binary => "binary",
            Diversity::Spectrum => "spectrum",
            Diversity::MultiPerspective => "multi-perspective",
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_ones_on_disk() {
        let on_disk = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let written = |it: Format| on_disk(serde_json::json!(it));
        assert_eq!(Format::ALL.map(written), Format::ALL.map(Format::name));
        assert_eq!(Mode::ALL.map(|it| on_disk(serde_json::json!(it))), Mode::ALL.map(Mode::name));
        assert_eq!(Judging::ALL.map(|it| on_disk(serde_json::json!(it))), Judging::ALL.map(Judging::name));
        let failures = JudgeFailure::ALL.map(|it| on_disk(serde_json::json!(it)));
        assert_eq!(failures, JudgeFailure::ALL.map(JudgeFailure::name));
        let spreads = Diversity::ALL.map(|it| on_disk(serde_json::json!(it)));
        assert_eq!(spreads, Diversity::ALL.map(Diversity::name));
    }

    #[test]
    fn d03_an_order_from_before_formats_is_a_structured_debate() {
        let order: DebateSpec = serde_json::from_str("{}").unwrap();
        assert!(order.is_default());
        assert_eq!((order.format, order.mode), (Format::StructuredRounds, Mode::Sequential));
    }
}
