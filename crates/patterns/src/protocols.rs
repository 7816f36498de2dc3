//! The protocols that an evaluation compares by default: patterns and methods under fixed names.

/// A pattern with a method, under the name that evaluations have for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedProtocol {
    /// The name in a list of protocols.
    pub name: &'static str,
    /// The pattern.
    pub pattern: &'static str,
    /// The consensus method.
    pub method: &'static str,
    /// The number of rounds.
    pub rounds: u32,
}

/// The plain vote on first answers, with one vote each: the baseline of all comparisons.
pub const BASELINE: NamedProtocol =
    NamedProtocol { name: "majority", pattern: "voting", method: "majority", rounds: 1 };

/// The discussion that first answers to an open question are taken from, if no protocol of the
/// evaluation holds one.
pub const OPEN: NamedProtocol =
    NamedProtocol { name: "synthesis:1", pattern: "synthesis", method: "synthesis", rounds: 1 };

/// The protocols that are compared if none are named.
pub const USUAL: &[&str] = &["single", "majority", "self-consistency", "voting:2", "synthesis:2", "settle"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_protocols_are_registered() {
        let registry = crate::registry();
        for fixed in [BASELINE, OPEN] {
            assert!(registry.pattern(fixed.pattern).is_some() && registry.method(fixed.method).is_some());
        }
        let named = USUAL.iter().filter(|it| !["single", "majority", "self-consistency"].contains(it));
        for protocol in named {
            let pattern = protocol.split(':').next().unwrap_or_default();
            assert!(registry.pattern(pattern).is_some(), "{protocol}");
        }
    }
}
