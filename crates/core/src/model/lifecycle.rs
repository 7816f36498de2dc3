//! The lifecycle of a discussion: one transition table for every pattern.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::error::StateInvalid;

/// The lifecycle state of a discussion. The phases inside [`Lifecycle::Running`] are the pattern's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifecycle {
    /// Its spec is being written.
    #[default]
    Configuring,
    /// Its spec is being checked.
    Validating,
    /// Checked and ready to start.
    Ready,
    /// Checking which providers are available.
    Initializing,
    /// Talking.
    Running,
    /// Paused by a person: no task, nothing in memory, only the record.
    Paused,
    /// Deciding and concluding.
    Completing,
    /// Ended with a result.
    Completed,
    /// Failed; may be retried.
    Error,
    /// Aborted by a person, without further calls.
    Aborted,
}

impl Lifecycle {
    /// All states, in the order they usually occur.
    pub const ALL: [Lifecycle; 10] = [
        Lifecycle::Configuring,
        Lifecycle::Validating,
        Lifecycle::Ready,
        Lifecycle::Initializing,
        Lifecycle::Running,
        Lifecycle::Paused,
        Lifecycle::Completing,
        Lifecycle::Completed,
        Lifecycle::Error,
        Lifecycle::Aborted,
    ];

    /// Whether the table allows this transition.
    #[must_use]
    pub fn may_become(self, next: Lifecycle) -> bool {
        use Lifecycle::{
            Aborted, Completed, Completing, Configuring, Error, Initializing, Paused, Ready, Running,
            Validating,
        };
        let onward: &[Lifecycle] = match self {
            Configuring => &[Validating, Aborted],
            Validating => &[Ready, Configuring, Aborted],
            Ready => &[Initializing, Configuring, Aborted],
            Initializing => &[Running, Error, Aborted],
            Running => &[Paused, Completing, Error, Aborted],
            Paused => &[Running, Completing, Aborted],
            Completing => &[Completed, Error, Aborted],
            Error => &[Ready, Configuring, Aborted],
            Completed | Aborted => &[],
        };
        onward.contains(&next)
    }

    /// The next state, or an error if the transition is illegal.
    pub fn become_next(self, next: Lifecycle) -> Result<Lifecycle, StateInvalid> {
        if self.may_become(next) {
            Ok(next)
        } else {
            Err(StateInvalid { from: self.to_string(), to: next.to_string() })
        }
    }

    /// Whether it runs or would continue without a new start.
    #[must_use]
    pub fn is_active(self) -> bool {
        match self {
            Lifecycle::Initializing | Lifecycle::Running | Lifecycle::Paused | Lifecycle::Completing => true,
            Lifecycle::Configuring
            | Lifecycle::Validating
            | Lifecycle::Ready
            | Lifecycle::Completed
            | Lifecycle::Error
            | Lifecycle::Aborted => false,
        }
    }

    /// Whether it has ended. After an error it may still be retried.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Lifecycle::Completed | Lifecycle::Error | Lifecycle::Aborted => true,
            Lifecycle::Configuring
            | Lifecycle::Validating
            | Lifecycle::Ready
            | Lifecycle::Initializing
            | Lifecycle::Running
            | Lifecycle::Paused
            | Lifecycle::Completing => false,
        }
    }

    /// The name in states and events.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Lifecycle::Configuring => "configuring",
            Lifecycle::Validating => "validating",
            Lifecycle::Ready => "ready",
            Lifecycle::Initializing => "initializing",
            Lifecycle::Running => "running",
            Lifecycle::Paused => "paused",
            Lifecycle::Completing => "completing",
            Lifecycle::Completed => "completed",
            Lifecycle::Error => "error",
            Lifecycle::Aborted => "aborted",
        }
    }
}

impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d01_the_whole_table() {
        let mut table = String::new();
        for from in Lifecycle::ALL {
            let onward: Vec<&str> =
                Lifecycle::ALL.into_iter().filter(|to| from.may_become(*to)).map(Lifecycle::name).collect();
            table.push_str(&format!("{from}: {}\n", onward.join(" ")));
        }
        let expected = "\
configuring: validating aborted
validating: configuring ready aborted
ready: configuring initializing aborted
initializing: running error aborted
running: paused completing error aborted
paused: running completing aborted
completing: completed error aborted
completed: 
error: configuring ready aborted
aborted: 
";
        assert_eq!(table, expected);
    }

    #[test]
    fn a03_an_illegal_move_is_state_invalid() {
        let refused = Lifecycle::Completed.become_next(Lifecycle::Running).unwrap_err();
        assert_eq!(refused.to_string(), "a discussion can't go from completed to running");
    }
}
