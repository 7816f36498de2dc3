//! What people ask of a discussion while it exists.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::ruling::Ruling;

/// A command in a discussion's inbox. Whoever runs the discussion takes it and records that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// A person's turn, for a seat that is awaited.
    Say(Say),
    /// A decision of people, where one is awaited.
    Rule(Ruling),
    /// A remark that everyone asked from now on is shown; nobody's turn.
    Note(Note),
}

/// What a person says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// For which seat.
    pub participant: String,
    /// What is said.
    pub text: String,
}

/// A remark from outside the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What is remarked.
    pub text: String,
}

impl Command {
    /// For whom it speaks, if it is a turn.
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

/// A command's place in its discussion's inbox, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub u64);
