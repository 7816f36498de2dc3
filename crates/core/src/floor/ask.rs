//! What one participant is asked.

use std::sync::Arc;

use crate::{
    call::{Message, Shape, retry::Retries},
    model::mask::Mask,
};

/// A question to one participant. Everything but the words has a sensible default.
#[derive(Debug, Clone)]
pub struct Ask {
    pub(crate) system: Arc<str>,
    pub(crate) prompt: Arc<str>,
    pub(crate) hears: Hears,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) retries: Retries,
    pub(crate) shape: Option<Shape>,
    /// What tells this question from another one to the same participant in the same phase.
    pub(crate) purpose: Option<&'static str>,
    /// What went back and forth in this step already: an answer that could not be read, for instance.
    pub(crate) exchange: Vec<Message>,
    /// What the speech ends at (C03); sent to the provider, and enforced on what comes back.
    pub(crate) stop: Vec<String>,
    /// Set when nobody's name may be seen.
    pub(crate) mask: Option<Arc<Mask>>,
    /// Set beneath the floor when this is a summary of a part of what was said.
    pub(crate) stretch: Option<Stretch>,
    /// Set beneath the floor when the answer is heard by the others afterwards.
    pub(crate) spoken: bool,
}

/// The turns that a summary adds to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// How much of what was said a participant is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hears {
    /// Everything so far, in the order it was said.
    Everything,
    /// Everything so far, by round and then by name, so that a synthesis does not depend on who was fastest (INV-DISC-012).
    Alphabetically,
    /// Nothing but the question.
    Nothing,
}

impl Ask {
    /// Standing instructions and the question itself.
    #[must_use]
    pub fn new(system: impl Into<Arc<str>>, prompt: impl Into<Arc<str>>) -> Self {
        Ask {
            system: system.into(),
            prompt: prompt.into(),
            hears: Hears::Everything,
            temperature: None,
            max_tokens: None,
            retries: Retries::ByClass,
            shape: None,
            purpose: None,
            exchange: Vec::new(),
            stop: Vec::new(),
            mask: None,
            stretch: None,
            spoken: false,
        }
    }

    /// How much of what was said is shown with it.
    #[must_use]
    pub fn hearing(self, hears: Hears) -> Self {
        Ask { hears, ..self }
    }

    /// How freely it is answered, where not as the spec says.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        Ask { temperature: Some(temperature), ..self }
    }

    /// How long the answer may be, where not as the spec says.
    #[must_use]
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Ask { max_tokens: Some(max_tokens), ..self }
    }

    /// What the speech ends at.
    #[must_use]
    pub fn stopping_at(self, stop: Vec<String>) -> Self {
        Ask { stop, ..self }
    }

    /// What this is for, where the same participant is asked something else in the same phase.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Ask { purpose: Some(purpose), ..self }
    }

    /// Shows what was said under labels, round by round and in the labels' order, so that nobody can be favoured by name.
    #[must_use]
    pub fn masked(self, mask: &Arc<Mask>) -> Self {
        Ask { mask: Some(mask.clone()), ..self }
    }

    /// How often a failing call is repeated at most.
    #[must_use]
    pub fn retries(self, most: u32) -> Self {
        Ask { retries: Retries::AtMost(most), ..self }
    }
}
