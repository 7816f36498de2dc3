//! Commands that people send to a discussion while it exists.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::ruling::Ruling;

/// A command in a discussion's inbox. The process that runs the discussion takes it and records
/// that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "command")]
pub enum Command {
    /// Finish the calls under way, then pause.
    Pause,
    /// Continue after a pause.
    Resume,
    /// Finish the calls under way, make no new ones, conclude.
    Stop,
    /// End at once and drop the calls under way.
    Abort,
    /// A person's turn, for a seat whose turn it is.
    Say(Say),
    /// A decision by people, where one is awaited.
    Rule(Ruling),
    /// A remark that is shown in every later prompt. It is not a turn.
    Note(Note),
}

/// A person's turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// The seat it speaks for.
    pub participant: String,
    /// The text of the turn.
    pub text: String,
}

/// A remark from outside the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The text of the remark.
    pub text: String,
}

impl Command {
    /// The seat it speaks for, if it is a turn.
    #[must_use]
    pub fn speaker(&self) -> Option<&str> {
        match self {
            Command::Say(say) => Some(&say.participant),
            Command::Pause
            | Command::Resume
            | Command::Stop
            | Command::Abort
            | Command::Rule(_)
            | Command::Note(_) => None,
        }
    }

    /// The name on the command line and in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Command::Pause => "pause",
            Command::Resume => "resume",
            Command::Stop => "stop",
            Command::Abort => "abort",
            Command::Say(_) => "say",
            Command::Rule(_) => "rule",
            Command::Note(_) => "note",
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A command's number in its discussion's inbox, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub u64);
