//! Decisions that a pattern asks people for in the middle of a talk, such as who replaces a judge.

/// A kind of decision that a pattern may ask people for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulingKind {
    /// The name on the command line and in requests: `judge`.
    pub name: &'static str,
    /// One sentence for help and schemas.
    pub summary: &'static str,
    /// What may be decided.
    pub choices: &'static [RulingChoice],
}

/// One thing that may be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulingChoice {
    /// The name on the command line and in requests: `swap`.
    pub name: &'static str,
    /// What follows from it.
    pub summary: &'static str,
    /// Whether it names one of the candidates.
    pub takes_candidate: bool,
}

impl RulingKind {
    /// The choice of that name.
    #[must_use]
    pub fn choice(&self, name: &str) -> Option<&'static RulingChoice> {
        self.choices.iter().find(|it| it.name == name)
    }
}
