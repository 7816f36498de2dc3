//! Phases inside a running discussion, and the table that says which may follow which.

/// The phase in which a consensus method works, after every pattern.
pub const DECIDING: &str = "deciding";

/// A named stretch of a pattern, such as `speaking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase(pub &'static str);

/// The moves a pattern may make; the floor refuses all others with `STATE_INVALID`.
#[derive(Debug, Clone, Copy)]
pub struct PhaseTable {
    /// Where it may begin.
    pub first: &'static [Phase],
    /// Where it may go from each phase.
    pub next: &'static [(Phase, &'static [Phase])],
}

impl PhaseTable {
    /// Whether the table has this move; `from` is `None` at the beginning.
    #[must_use]
    pub fn allows(&self, from: Option<&str>, to: Phase) -> bool {
        match from {
            None => self.first.contains(&to),
            Some(from) => self.next.iter().any(|(phase, targets)| phase.0 == from && targets.contains(&to)),
        }
    }
}
