//! The sources of each sentence of an answer, and the dissent that the answer leaves out.
//!
//! This says who said something, not whether it is true.

use serde::{Deserialize, Serialize};

use crate::model::id::Step;

/// A sentence of an answer, a code block or a table, and its sources. Offsets are in Unicode scalar
/// values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourcedSentence {
    /// Where it begins in the answer.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How much of it its sources cover.
    pub level: Support,
    /// The turns that it is based on, the strongest first; at most one entry for each turn and
    /// sentence of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SentenceSource>,
    /// The markers of its writer that the record does not confirm: `bob:7`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<String>,
}

/// How much of a sentence its sources cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Support {
    /// It repeats eight or more words in a row.
    #[serde(rename = "quoted")]
    Quoted,
    /// Its sources cover most of it.
    #[serde(rename = "supported")]
    Supported,
    /// Its sources cover some of it.
    #[serde(rename = "partly")]
    Partly,
    /// Its sources cover hardly any of it, or it has a number that no participant gave.
    #[serde(rename = "unsupported")]
    Unsupported,
    /// It seems to deny what its source says.
    #[serde(rename = "contradicted?")]
    Contradicted,
    /// A heading, a transition or a sentence that is too short to compare; it is not counted.
    #[serde(rename = "own")]
    Own,
}

impl Support {
    /// Every level, the strongest first.
    pub const ALL: [Support; 6] = [
        Support::Quoted,
        Support::Supported,
        Support::Partly,
        Support::Unsupported,
        Support::Contradicted,
        Support::Own,
    ];

    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Support::Quoted => "quoted",
            Support::Supported => "supported",
            Support::Partly => "partly",
            Support::Unsupported => "unsupported",
            Support::Contradicted => "contradicted?",
            Support::Own => "own",
        }
    }
}

/// A place in a turn that a sentence rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceSource {
    /// The participant that said it.
    pub participant: String,
    /// The round of the turn.
    pub round: u32,
    /// The step of the turn.
    pub step: Step,
    /// Where the words begin in the text of the turn, as people are shown it.
    pub start: usize,
    /// Where they end.
    pub end: usize,
    /// The share of the sentence that the turn covers, 0 to 1.
    pub score: f64,
    /// How the source was found.
    pub by: FoundBy,
}

/// How a source was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FoundBy {
    /// The writer named it in a marker, and the record agrees.
    Marker,
    /// By common words.
    Words,
    /// By the meaning of both sentences.
    Vectors,
}

/// A dissenting view or an argument that an answer leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedView {
    /// The participant that holds it.
    pub participant: String,
    /// The round in which it was last said.
    pub round: u32,
    /// The view.
    pub text: String,
}

/// What was found about the sources of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traced {
    /// The sentences of the answer, in order.
    pub provenance: Vec<SourcedSentence>,
    /// The views that it leaves out.
    pub dropped: Vec<DroppedView>,
}

/// How many sentences of an answer have sources, by level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SupportCount {
    /// All sentences that count.
    pub all: usize,
    /// Those that are quoted or supported.
    pub supported: usize,
    /// Those whose sources cover some of it.
    pub partly: usize,
    /// Those with hardly any source, or with a number that no participant gave.
    pub unsupported: usize,
    /// Those that may contradict their source.
    pub contradicted: usize,
}

impl SupportCount {
    /// Counts these sentences.
    #[must_use]
    pub fn of(sentences: &[SourcedSentence]) -> SupportCount {
        let count = |levels: &[Support]| sentences.iter().filter(|it| levels.contains(&it.level)).count();
        let supported = count(&[Support::Quoted, Support::Supported]);
        let (partly, unsupported) = (count(&[Support::Partly]), count(&[Support::Unsupported]));
        let contradicted = count(&[Support::Contradicted]);
        let all = supported + partly + unsupported + contradicted;
        SupportCount { all, supported, partly, unsupported, contradicted }
    }

    /// The share that is quoted or supported, 0 to 1; `None` if no sentence counts.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (0 < self.all).then(|| self.supported as f64 / self.all as f64)
    }
}
