//! Forms: kinds of structured replies, with schema, reader and view.

use serde_json::Value;

use crate::{
    model::{effort::Effort, reading::Stance},
    vocabulary::{prose::Prose, sample::Sample, view::View},
};

/// A form, as far as other crates need to know it.
#[derive(Clone, Copy)]
pub struct Form {
    /// The kind's name in the record: `ballot`.
    pub kind: &'static str,
    /// The version, raised when the meaning of the recorded value changes.
    pub version: u32,
    /// How a recorded value is displayed.
    pub view: View,
    /// Renders the value as one line for people, without the participant's name: `votes for tabs
    /// (80 %)`.
    pub tell: fn(&Value) -> Option<String>,
    /// A JSON pointer to the participant's reasons within the value; empty if there are none.
    pub reason_at: &'static str,
    /// The position that the value takes, if any.
    pub stance: fn(&Value) -> Option<Stance>,
    /// Makes a reply for simulated voices; `None` fills in the schema.
    pub sample: Option<Sample>,
    /// The reply in a dry run. It keeps the talk going as long as possible.
    pub stub: Stub,
    /// Whether a text holds anything that the form's reader could take for a reply. If somebody
    /// else wrote it, it is shown as a quotation, which readers ignore: a participant that repeats
    /// what it was shown must not vote or judge by that.
    pub recognises: fn(&str) -> bool,
    /// How much of such a text is quoted.
    pub quotes: Quotes,
    /// The part of a reply that is text for people, shown as it arrives. `None` if a reply is all
    /// data; people are then shown what was read from it.
    pub prose: Option<Prose>,
    /// How much a model should think before it replies.
    pub effort: Effort,
}

/// How much is quoted of a text by somebody else that looks like a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// The whole text, where this form is asked for.
    Text,
    /// The lines that look like a reply, in every request of a discussion that ends with such
    /// replies: the request for one then begins like the speeches before it, which is what
    /// providers' caches need.
    Lines,
}

/// The reply of a form in a dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stub {
    /// The schema, filled in with minimal values.
    Filled,
    /// The same, with these properties set to true.
    FilledWith(&'static [&'static str]),
    /// This text, with a filler word in place of `{word}`.
    Text(&'static str),
}

impl Form {
    /// A form without a line for people, a position or a view.
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
            recognises: |_| false,
            quotes: Quotes::Text,
            prose: None,
            effort: Effort::ModelDefault,
        }
    }

    /// The same with this line for people.
    #[must_use]
    pub const fn tell(self, tell: fn(&Value) -> Option<String>) -> Self {
        Form { tell, ..self }
    }

    /// The same with the participant's reasons at this JSON pointer.
    #[must_use]
    pub const fn reason_at(self, reason_at: &'static str) -> Self {
        Form { reason_at, ..self }
    }

    /// The same with this view.
    #[must_use]
    pub const fn view(self, view: View) -> Self {
        Form { view, ..self }
    }

    /// The same with this function for the position.
    #[must_use]
    pub const fn stance(self, stance: fn(&Value) -> Option<Stance>) -> Self {
        Form { stance, ..self }
    }

    /// The same with this test for texts of others that look like a reply.
    #[must_use]
    pub const fn recognises(self, recognises: fn(&str) -> bool) -> Self {
        Form { recognises, ..self }
    }

    /// The same with only the lines quoted that look like a reply, and in all requests alike.
    #[must_use]
    pub const fn quoted_by_line(self) -> Self {
        Form { quotes: Quotes::Lines, ..self }
    }

    /// The same with replies that begin with prose for people.
    #[must_use]
    pub const fn prose(self, prose: Prose) -> Self {
        Form { prose: Some(prose), ..self }
    }

    /// The same for a model that should think this much before it replies.
    #[must_use]
    pub const fn effort(self, effort: Effort) -> Self {
        Form { effort, ..self }
    }

    /// The same with this reply in a dry run.
    #[must_use]
    pub const fn stub(self, stub: Stub) -> Self {
        Form { stub, ..self }
    }

    /// The same with this sample reply for simulated voices.
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
