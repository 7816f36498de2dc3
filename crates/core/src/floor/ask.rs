//! The question to one participant.

use std::sync::Arc;

use crate::{
    call::{Effort, Message, Shape, retry::Retries},
    model::{mask::Mask, transcript::Turn},
    seams::Voice,
};

/// A question to one participant. Everything but its text has a sensible default.
#[derive(Debug, Clone)]
pub struct Ask {
    pub(crate) system: Arc<str>,
    pub(crate) prompt: Arc<str>,
    pub(crate) hears: Hears,
    pub(crate) coverage: Coverage,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    /// The shortest length limit worth trying, set once the usual one has proved too short.
    pub(crate) least_tokens: Option<u32>,
    pub(crate) retries: Retries,
    /// How much the model should think, if not as its form says.
    pub(crate) effort: Option<Effort>,
    pub(crate) shape: Option<Shape>,
    /// Set beneath the floor: the mark between the prose of a structured reply and the rest.
    pub(crate) mark: Option<Arc<str>>,
    /// Set beneath the floor: the participants that this prose may cite in markers.
    pub(crate) cited: Arc<[String]>,
    /// Distinguishes this question from others to the same participant in the same phase.
    pub(crate) purpose: Option<&'static str>,
    /// Whether this asks for a first answer, whose step has the same name in every pattern.
    pub(crate) is_first: bool,
    /// Earlier messages of this step: an answer that could not be read, for instance.
    pub(crate) exchange: Vec<Message>,
    /// Stop sequences of a speech (C03); sent to the provider, and enforced on its answer.
    pub(crate) stop: Vec<String>,
    /// Hides the participants' names, if set.
    pub(crate) mask: Option<Arc<Mask>>,
    /// Set beneath the floor: whether an empty answer is a failed call or an unreadable reply.
    pub(crate) if_empty: IfEmpty,
    /// Set beneath the floor if this asks for a summary of a part of the talk.
    pub(crate) stretch: Option<Stretch>,
    /// Set beneath the floor if the answer is shown to the others afterwards.
    pub(crate) spoken: bool,
    /// The part of the answer that the others are shown, if not all of it.
    pub(crate) public: Option<fn(&str) -> String>,
    /// The topic, repeated before the prompt where much talk is shown.
    pub(crate) repeated: Option<Repeated>,
    /// What a small model is asked instead.
    pub(crate) compact: Option<Arc<CompactAsk>>,
    /// Set beneath the floor if the form is asked for as lines: the reminder for a reply that can't
    /// be read.
    pub(crate) lines_reminder: Option<&'static str>,
}

/// The topic as it is repeated before a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeated {
    pub(crate) text: Arc<str>,
    /// The talk after which it is repeated, in tokens.
    pub(crate) after: u64,
}

/// The talk after which the topic is repeated, in tokens.
const MUCH_TALK: u64 = 2_000;

/// The same question for a small model, whose window or attention has no room for long
/// instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactAsk {
    /// The system text.
    pub system: Arc<str>,
    /// The prompt.
    pub prompt: Arc<str>,
    /// The length limit of the answer, if not that of the usual question.
    pub max_tokens: Option<u32>,
    /// The form as lines, for a model that can't be held to a JSON schema.
    pub lines: Option<LineForm>,
}

/// A form that is asked for as lines of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineForm {
    /// The prompt.
    pub prompt: Arc<str>,
    /// The reminder for a reply that can't be read.
    pub reminder: &'static str,
}

/// The meaning of an empty answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfEmpty {
    /// A failed call.
    Fail,
    /// A reply that can't be read.
    Unreadable,
}

/// The turns that a summary adds to the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// How much of the talk a participant is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hears {
    /// All turns so far, in their order.
    Everything,
    /// All turns so far, for the writer of a synthesis: sorted by round, phase and provider, so
    /// that it doesn't depend on which participant was fastest (INV-DISC-012), and under labels
    /// drawn for it alone, the writer's own turns included.
    ForSynthesis,
    /// The turns from this place in the transcript on.
    Since(usize),
    /// Nothing but the question.
    Nothing,
}

/// Which turns must be shown if the talk doesn't fit the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// Every speaker's first and newest turns.
    Recent,
    /// All turns, at least in part, if there is room for that; else like `Recent`.
    EveryTurn,
    /// All turns, at least in part.
    EveryTurnRequired,
}

impl Ask {
    /// A question with this system text and this prompt.
    #[must_use]
    pub fn new(system: impl Into<Arc<str>>, prompt: impl Into<Arc<str>>) -> Self {
        Ask {
            system: system.into(),
            prompt: prompt.into(),
            hears: Hears::Everything,
            coverage: Coverage::Recent,
            temperature: None,
            max_tokens: None,
            least_tokens: None,
            retries: Retries::ByClass,
            effort: None,
            shape: None,
            mark: None,
            cited: Arc::default(),
            purpose: None,
            is_first: false,
            exchange: Vec::new(),
            stop: Vec::new(),
            mask: None,
            if_empty: IfEmpty::Fail,
            stretch: None,
            spoken: false,
            public: None,
            repeated: None,
            compact: None,
            lines_reminder: None,
        }
    }

    /// The same question with this text before its system text.
    pub(crate) fn after(self, standing: &str) -> Self {
        Ask { system: format!("{standing}\n\n{}", self.system).into(), ..self }
    }

    /// The system text, with mentions.
    #[must_use]
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The prompt, with mentions.
    #[must_use]
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The text for people in an answer whose form has prose.
    pub(crate) fn prose_of(&self, answer: &str) -> Option<String> {
        let (prose, mark) = self.shape.as_ref()?.form.prose.zip(self.mark.as_deref())?;
        Some(prose.separate(mark, &self.cited, answer).prose)
    }

    /// Sets how much of the talk is shown with it.
    #[must_use]
    pub fn hearing(self, hears: Hears) -> Self {
        Ask { hears, ..self }
    }

    /// Asks for a part of every turn rather than for the newest turns alone: for a question whose
    /// answer judges or sums up the talk.
    #[must_use]
    pub fn about_every_turn(self) -> Self {
        Ask { coverage: Coverage::EveryTurn, ..self }
    }

    /// Sets the temperature, if not the spec's.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        Ask { temperature: Some(temperature), ..self }
    }

    /// Sets how much the model should think before it answers, if not as the form says.
    #[must_use]
    pub fn effort(self, effort: Effort) -> Self {
        Ask { effort: Some(effort), ..self }
    }

    /// How much the model should think before it answers.
    pub(crate) fn effort_wanted(&self) -> Effort {
        let of_form = || self.shape.as_ref().map(|it| it.form.effort);
        self.effort.or_else(of_form).unwrap_or_default()
    }

    /// Sets the length limit of the answer, if not the spec's.
    #[must_use]
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Ask { max_tokens: Some(max_tokens), ..self }
    }

    /// Repeats this text, the topic, before the prompt once more than 2,000 tokens of talk stand
    /// between it and the system text. A small model reads it again after any talk.
    #[must_use]
    pub fn repeating(self, topic: impl Into<Arc<str>>) -> Self {
        Ask { repeated: Some(Repeated { text: topic.into(), after: MUCH_TALK }), ..self }
    }

    /// Shows the others only what this makes of the answer.
    #[must_use]
    pub fn shown_as(self, public: fn(&str) -> String) -> Self {
        Ask { public: Some(public), ..self }
    }

    /// Sets what a small model is asked instead.
    #[must_use]
    pub fn for_small_models(self, compact: CompactAsk) -> Self {
        Ask { compact: Some(Arc::new(compact)), ..self }
    }

    /// The question to a small model, if it differs.
    #[must_use]
    pub fn compact(&self) -> Option<&CompactAsk> {
        self.compact.as_deref()
    }

    /// The answer as the others are shown it.
    pub(crate) fn public_turn(&self, turn: &Arc<Turn>) -> Arc<Turn> {
        match self.public {
            None => turn.clone(),
            Some(public) => Arc::new(Turn { text: public(&turn.text).into(), ..(**turn).clone() }),
        }
    }

    /// The question as this small model is asked it.
    pub(crate) fn compacted(self, voice: &Voice) -> Self {
        let Some(CompactAsk { system, prompt, max_tokens, lines }) = self.compact.as_deref().cloned() else {
            return self;
        };
        let repeated = self.repeated.map(|it| Repeated { after: 0, ..it });
        let max_tokens = max_tokens.or(self.max_tokens);
        let lines = lines.filter(|_| !voice.follows_schemas);
        let lines_reminder = lines.as_ref().map(|it| it.reminder);
        let prompt = lines.map_or(prompt, |it| it.prompt);
        Ask { system, prompt, max_tokens, repeated, compact: None, lines_reminder, ..self }
    }

    /// Sets the stop sequences of the speech.
    #[must_use]
    pub fn stopping_at(self, stop: Vec<String>) -> Self {
        Ask { stop, ..self }
    }

    /// Sets the purpose, if the same participant is asked something else in the same phase.
    #[must_use]
    pub fn purpose(self, purpose: &'static str) -> Self {
        Ask { purpose: Some(purpose), ..self }
    }

    /// Asks for a first answer, which knows of no other: its step has the same name in every
    /// pattern, so that a fork with another pattern finds it.
    #[must_use]
    pub fn as_first_answer(self) -> Self {
        Ask { is_first: true, hears: Hears::Nothing, ..self }
    }

    /// Shows the turns under labels, round by round and in the order of the labels, so that no
    /// participant can be favoured by name.
    #[must_use]
    pub fn masked(self, mask: &Arc<Mask>) -> Self {
        Ask { mask: Some(mask.clone()), ..self }
    }

    /// Sets how often a failing call is retried at most.
    #[must_use]
    pub fn retries(self, most: u32) -> Self {
        Ask { retries: Retries::AtMost(most), ..self }
    }
}
