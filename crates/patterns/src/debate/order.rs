//! How a debate was ordered (D03): its format, who speaks when, how it is judged.

use serde::{Deserialize, Serialize};

use crate::model::debate::Part;

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
