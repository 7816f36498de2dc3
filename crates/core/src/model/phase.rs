//! The phases of a running discussion, and the table of their transitions.

/// The phase in which a consensus method works, after the pattern's own phases.
pub const DECIDING: &str = "deciding";

/// The phase before the talk, in round 0, in which everyone may be asked for a first answer that
/// knows of no other.
pub const FIRST: &str = "first";

/// The phase of a round in which participants answer again without having heard anyone. Such an
/// answer is a second draw of the same voice, and no change of mind.
pub const REDRAW: Phase = Phase("redraw");

/// A named stage of a pattern, such as `speaking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase(pub &'static str);

/// The transitions a pattern may make. The floor rejects all others with `STATE_INVALID`.
#[derive(Debug, Clone, Copy)]
pub struct PhaseTable {
    /// The phases it may start in.
    pub first: &'static [Phase],
    /// The phases that may follow each phase.
    pub next: &'static [(Phase, &'static [Phase])],
}

impl PhaseTable {
    /// Whether the table allows this transition; `from` is `None` at the start.
    #[must_use]
    pub fn allows(&self, from: Option<&str>, to: Phase) -> bool {
        match from {
            None => self.first.contains(&to),
            Some(from) => self.next.iter().any(|(phase, targets)| phase.0 == from && targets.contains(&to)),
        }
    }
}
