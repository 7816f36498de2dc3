//! Endings: the ways in which a pattern's own rules may end the talk.

/// One way in which a talk may end, in its last round or earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// The name in the record and in results: `stable`.
    pub name: &'static str,
    /// A sentence for people on why it ended.
    pub summary: &'static str,
    /// The stopping reason in results; `completed` unless the pattern says otherwise.
    pub stopping: &'static str,
}

impl Ending {
    /// An ending after which the discussion counts as completed.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Ending { name, summary, stopping: "completed" }
    }

    /// The same with this stopping reason.
    #[must_use]
    pub const fn stopping(self, stopping: &'static str) -> Self {
        Ending { stopping, ..self }
    }
}
