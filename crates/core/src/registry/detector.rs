//! What a detector is, and the course of a talk as it sees it.

use std::sync::Arc;

/// Something that watches the course of a talk (D08).
#[derive(Clone, Copy)]
pub struct Detector {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// What it notices about the latest round. Pure.
    pub detect: fn(&Course) -> Vec<Detection>,
    /// When what it noticed may end the talk.
    pub ends: Ends,
}

/// When what a detector noticed may end a talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// As soon as it notices something.
    AtOnce,
    /// When it notices something about everyone who spoke in the round.
    WhenOfAll,
}

/// The course of a talk as detectors see it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// What was said, the newest last; old speeches are forgotten.
    pub speeches: Vec<Speech>,
    /// How rounds were marked, where somebody marks them.
    pub marks: Vec<RoundMarks>,
}

/// One speech in the course of a talk.
#[derive(Debug, Clone, PartialEq)]
pub struct Speech {
    /// Whose.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// In the speaker's own words, without quotations.
    pub text: Arc<str>,
    /// How much of it its speaker said before, 0 to 1, by each measure: `lexical`, `trigrams`,
    /// `embeddings`.
    pub repeats: Vec<(&'static str, f64)>,
}

/// How a round was marked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundMarks {
    /// Which round.
    pub round: u32,
    /// The round as a whole, 0 to 10.
    pub quality: f64,
    /// How new it was, 0 to 10.
    pub novelty: Option<f64>,
    /// How much it was about the question, 0 to 10.
    pub relevance: Option<f64>,
    /// Whether it was found repetitive.
    pub repetitive: bool,
}

/// Something a detector noticed.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
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

impl Course {
    /// The round of the newest speech; 0 before the first.
    #[must_use]
    pub fn latest_round(&self) -> u32 {
        self.speeches.last().map_or(0, |it| it.round)
    }

    /// The speeches of this round.
    pub fn of_round(&self, round: u32) -> impl Iterator<Item = &Speech> {
        self.speeches.iter().filter(move |it| it.round == round)
    }
}
