//! An order to run a workflow.

use serde_json::{Map, Value};

use crate::{Error, Request, workflow::Wrong};

/// An order to run a workflow.
#[derive(Debug, Clone, Default)]
pub struct RunOrder {
    /// The file's name, for mistakes.
    pub file: String,
    /// The file.
    pub text: Vec<u8>,
    /// What the run is given.
    pub input: Value,
    /// Values by name.
    pub variables: Map<String, Value>,
    /// Budgets, deadline, session and simulation of the whole run; its other fields are not read.
    pub request: Request,
    /// The declared tools that this run may use, besides those that the configuration allows.
    pub allow_tools: Vec<String>,
    /// What a user does to allow a tool, with `NAME` for its name.
    pub how_to_allow: String,
    /// Whether declared tools may be used at all; memory always may.
    pub declared_tools: bool,
}

/// Why a workflow can't be run. Nothing was asked.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The file has mistakes.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    /// Anything else.
    #[error(transparent)]
    Quorum(#[from] Error),
}
