//! What people ask of a discussion while it exists.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A command in a discussion's inbox. Whoever runs the discussion takes it and records that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "command")]
pub enum Command {
    /// Let calls under way finish, then hold.
    Pause,
    /// Go on after a pause.
    Resume,
    /// Let calls under way finish, ask nobody else, conclude.
    Stop,
    /// Drop everything at once.
    Abort,
}

impl Command {
    /// The name on the command line and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Command::Pause => "pause",
            Command::Resume => "resume",
            Command::Stop => "stop",
            Command::Abort => "abort",
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A command's place in its discussion's inbox, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub u64);
