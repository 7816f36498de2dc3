//! Detectors, and the course of a talk that they examine.

use std::sync::Arc;

/// A function that examines the course of a talk, for repetition for instance (D08).
#[derive(Clone, Copy)]
pub struct Detector {
    /// The name in requests.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// What it detects about the latest round. Pure.
    pub detect: fn(&Course) -> Vec<Detection>,
    /// When a detection may end the talk.
    pub ends: Ends,
}

/// When a detection may end a talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// On any detection.
    AtOnce,
    /// When there is a detection for everyone that spoke in the round.
    WhenOfAll,
}

/// The course of a talk, for detectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// The speeches, newest last; old ones are dropped.
    pub speeches: Vec<Speech>,
    /// The scores of rounds, if there are any.
    pub marks: Vec<RoundMarks>,
}

/// One speech.
#[derive(Debug, Clone, PartialEq)]
pub struct Speech {
    /// The speaker.
    pub participant: String,
    /// The round's number.
    pub round: u32,
    /// The speaker's own words, without quotations.
    pub text: Arc<str>,
    /// How much of it repeats the speaker's earlier words, 0 to 1, by each measure: `lexical`,
    /// `trigrams`, `embeddings`.
    pub repeats: Vec<(&'static str, f64)>,
}

/// The scores of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundMarks {
    /// The round's number.
    pub round: u32,
    /// The overall quality, 0 to 10.
    pub quality: f64,
    /// The novelty, 0 to 10.
    pub novelty: Option<f64>,
    /// The relevance to the topic, 0 to 10.
    pub relevance: Option<f64>,
    /// Whether the round was judged repetitive.
    pub repetitive: bool,
}

/// A detector's finding.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Detection {
    /// The round's number.
    pub round: u32,
    /// The detector's name.
    pub detector: String,
    /// The measure: `lexical`, `trigrams`, `embeddings`, `judge`.
    pub measure: String,
    /// The measured value.
    pub value: f64,
    /// The speaker, if it concerns one participant.
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
