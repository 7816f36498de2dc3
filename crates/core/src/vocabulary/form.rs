//! Forms: structured replies with a name, a schema, a reader and a view.

use serde_json::Value;

use crate::{
    model::reading::Stance,
    vocabulary::{sample::Sample, view::View},
};

/// A form as every surface knows it.
#[derive(Clone, Copy)]
pub struct Form {
    /// The kind in the record: `ballot`.
    pub kind: &'static str,
    /// Raised when the meaning of the recorded value changes.
    pub version: u32,
    /// How a recorded value is drawn.
    pub view: View,
    /// The value in one line for people, without the participant's name: `votes for tabs (80 %)`.
    pub tell: fn(&Value) -> Option<String>,
    /// Where a value has the participant's reasons: a JSON pointer; empty for nowhere.
    pub reason_at: &'static str,
    /// The position that the value takes, where it takes one.
    pub stance: fn(&Value) -> Option<Stance>,
    /// A reply for simulated voices; `None` fills in the schema.
    pub sample: Option<Sample>,
    /// The reply of a dry run, after which a talk goes on for as long as it can.
    pub stub: Stub,
}

/// The reply of a dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stub {
    /// The schema, filled in as emptily as it allows.
    Filled,
    /// The same, with these properties true.
    FilledWith(&'static [&'static str]),
    /// This text, with a filler in the place of `{word}`.
    Text(&'static str),
}

impl Form {
    /// A form that is told and drawn as nothing in particular.
    #[must_use]
    pub const fn new(kind: &'static str) -> Self {
        Form {
            kind,
            version: 1,
            view: View::Hidden,
            tell: |_| None,
            reason_at: "",
            stance: |_| None,
            sample: None,
            stub: Stub::Filled,
        }
    }

    /// The same, told to people in this line.
    #[must_use]
    pub const fn tell(self, tell: fn(&Value) -> Option<String>) -> Self {
        Form { tell, ..self }
    }

    /// The same, with the participant's reasons at this place of the value.
    #[must_use]
    pub const fn reason_at(self, reason_at: &'static str) -> Self {
        Form { reason_at, ..self }
    }

    /// The same, drawn like this.
    #[must_use]
    pub const fn view(self, view: View) -> Self {
        Form { view, ..self }
    }

    /// The same, taking this position.
    #[must_use]
    pub const fn stance(self, stance: fn(&Value) -> Option<Stance>) -> Self {
        Form { stance, ..self }
    }

    /// The same with this reply of a dry run.
    #[must_use]
    pub const fn stub(self, stub: Stub) -> Self {
        Form { stub, ..self }
    }

    /// The same with this reply of simulated voices.
    #[must_use]
    pub const fn sample(self, sample: Sample) -> Self {
        Form { sample: Some(sample), ..self }
    }
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Form").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.version) == (other.kind, other.version)
    }
}
