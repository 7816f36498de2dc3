//! The ways in which a talk may end by its own rules.

/// One way in which a talk may end before, or at, its last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// The name in the record and in results: `stable`.
    pub name: &'static str,
    /// One sentence that tells people why it ended.
    pub summary: &'static str,
    /// What results give as the stopping reason; `completed` unless the pattern says otherwise.
    pub stopping: &'static str,
}

impl Ending {
    /// An ending after which the discussion simply counts as completed.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Ending { name, summary, stopping: "completed" }
    }

    /// The same with a stopping reason of its own.
    #[must_use]
    pub const fn stopping(self, stopping: &'static str) -> Self {
        Ending { stopping, ..self }
    }
}
