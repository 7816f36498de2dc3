//! Reference worlds: voices whose accuracy, correlated errors and persuadability are set by the
//! world. They measure patterns on questions with known answers.
//!
//! Only the world knows the right answers: they are set with [`WorldVoices::know`] and are never
//! part of a prompt. A voice's answer is derived from the world's seed, the question, the voice and
//! the number of the draw; what it heard is taken from the call's messages.

mod draws;
mod named;
mod talk;
mod voice;

pub use draws::{Drawn, Lots, normal_share};
pub use named::{CONFIDENCES, PANELS, TALKS};
pub use talk::{Heard, persuaded};
pub use voice::WorldVoices;

/// The names of the voices, in the order of a panel.
pub const NAMES: [&str; 4] = ["ann", "bob", "cyd", "dan"];

/// A world.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// How one voice persuades another.
    pub talk: Talk,
    /// The chances of the voices to be right.
    pub panel: Panel,
    /// How strongly the voices' errors are correlated: the correlation of a Gaussian copula.
    pub correlation: f64,
    /// How a stated confidence depends on the chance to be right.
    pub confidence: Stating,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

/// How one voice persuades another in a round of talk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Talk {
    /// Its name.
    pub name: &'static str,
    /// The chance to adopt a right answer that is heard.
    pub by_truth: f64,
    /// The chance to adopt a wrong one.
    pub by_error: f64,
    /// The chance to follow the others if they are two ahead.
    pub conformity: f64,
}

/// The chances of the voices to be right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Panel {
    /// Its name.
    pub name: &'static str,
    /// One chance for each voice.
    pub chances: [f64; 4],
}

/// How a stated confidence follows from the chance of an answer: expit(slope · logit(q) + offset).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stating {
    /// Its name.
    pub name: &'static str,
    /// The slope.
    pub slope: f64,
    /// The offset.
    pub offset: f64,
    /// How concentrated a voice's chance is over all questions: the sum of the two parameters of a
    /// Beta distribution.
    pub concentration: f64,
}
