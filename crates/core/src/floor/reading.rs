//! Answers with a form: how they are read, and what happens when they can't be.

use crate::{
    call::Shape,
    model::{ballot::Source, event::Reading},
};

/// Reads one kind of structured reply. Reading is pure, so a replay reads the same.
///
/// The order is: `read`, then `infer`, then the next reminder, and when there is none left, `give_up`.
pub trait Reader: Send + Sync {
    /// What is read.
    type Value: Clone + Send + Sync;

    /// The form, for providers that can hold a model to it and for simulated voices.
    fn shape(&self) -> Shape;

    /// Reads a reply that has the form.
    fn read(&self, reply: &str) -> Option<Self::Value>;

    /// Reads what a person wrote, who need not know the form; the same unless the reader knows better.
    fn read_from_person(&self, reply: &str) -> Option<Self::Value> {
        self.read(reply)
    }

    /// Guesses at one that has not.
    fn infer(&self, _reply: &str) -> Option<Self::Value> {
        None
    }

    /// What the participant is told when its reply could not be read, one after the other: a step's purpose and the words.
    fn reminders(&self) -> &[Reminder];

    /// What is assumed when nothing helped; `None` leaves the participant out.
    fn give_up(&self) -> Option<Self::Value> {
        None
    }

    /// The reading as the record keeps it.
    fn fact(&self, value: &Self::Value) -> Reading;
}

/// A word to someone whose reply could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// The purpose in the step's name: `remind1`, `strict`.
    pub purpose: &'static str,
    /// What the participant is told.
    pub words: &'static str,
}

/// A structured reply, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Understood<V> {
    /// Who replied.
    pub participant: String,
    /// How it was understood.
    pub source: Source,
    /// What it says.
    pub value: V,
}
