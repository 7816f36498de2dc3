//! Decisions that a pattern asks people for during a talk, such as who replaces a judge.

/// A kind of decision that a pattern may ask people for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulingKind {
    /// The name on the command line and in requests: `judge`.
    pub name: &'static str,
    /// One sentence for help and schemas.
    pub summary: &'static str,
    /// The possible choices.
    pub choices: &'static [RulingChoice],
}

/// One possible choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RulingChoice {
    /// The name on the command line and in requests: `swap`.
    pub name: &'static str,
    /// Its effect, in one line.
    pub summary: &'static str,
    /// Whether one of the candidates must be named with it.
    pub takes_candidate: bool,
}

impl RulingKind {
    /// The choice of that name.
    #[must_use]
    pub fn choice(&self, name: &str) -> Option<&'static RulingChoice> {
        self.choices.iter().find(|it| it.name == name)
    }
}
