//! The tools. A tool is one file with a constant at its top, and one line in [`TOOLS`].

mod control;
mod discuss;
mod fork;
mod history;
mod list_models;
mod quick;
mod recursive;
mod result;
mod say;
mod status;
mod workflow_run;

use futures::future::BoxFuture;
use rmcp::model::ToolAnnotations;
use serde_json::Value;

use crate::mcp::{
    Surface,
    arguments::Mistake,
    call::{Call, Reply},
    failure::Failure,
};

/// Every tool, in the order in which they are listed.
pub(crate) const TOOLS: &[&Tool] = &[
    &discuss::TOOL,
    &quick::TOOL,
    &recursive::TOOL,
    &result::TOOL,
    &status::TOOL,
    &say::TOOL,
    &control::TOOL,
    &fork::TOOL,
    &history::TOOL,
    &list_models::TOOL,
    &workflow_run::TOOL,
];

/// A tool.
pub(crate) struct Tool {
    /// Its name without the prefix.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// What it does, for models.
    pub(crate) description: fn(&Surface<'_>) -> String,
    pub(crate) effect: Effect,
    /// Whether its answer is JSON or plain text.
    pub(crate) form: Form,
    pub(crate) input: fn(&Surface<'_>) -> Value,
    pub(crate) output: fn(&Surface<'_>) -> Value,
    /// Runs it. The arguments may have mistakes by the schema; a tool that checks them further
    /// reports them together.
    pub(crate) run: Run,
}

type Run = for<'c> fn(&'c Call, Vec<Mistake>) -> BoxFuture<'c, Result<Reply, Failure>>;

/// The form of a tool's text content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Text,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It asks models, which costs money; a second call costs it again.
    Spends,
    /// It may go on with what no process runs; a second call changes nothing more.
    GoesOn,
    /// It may end what cannot be brought back.
    Controls,
    /// It only reads.
    Reads,
}

impl Effect {
    pub(crate) fn annotations(self, title: &str) -> ToolAnnotations {
        let annotations = ToolAnnotations::with_title(title);
        match self {
            Effect::Spends => {
                annotations.read_only(false).destructive(false).idempotent(false).open_world(true)
            }
            Effect::GoesOn => {
                annotations.read_only(false).destructive(false).idempotent(true).open_world(true)
            }
            Effect::Controls => {
                annotations.read_only(false).destructive(true).idempotent(false).open_world(true)
            }
            Effect::Reads => annotations.read_only(true).open_world(false),
        }
    }
}

/// Refuses arguments with mistakes, for tools that check nothing further.
pub(crate) fn without(mistakes: &[Mistake]) -> Result<(), Failure> {
    if mistakes.is_empty() { Ok(()) } else { Err(Failure::mistakes(mistakes)) }
}

/// How the cost of an order is capped.
pub(crate) const CAPS: &str = "maxCost caps it in USD, maxCalls in calls";

/// The sentences about money in the descriptions of tools that ask models, with how to cap it.
pub(crate) fn about_money(surface: &Surface<'_>, caps: &str) -> String {
    let result = surface.names.of("result");
    format!(
        "Every answer of a model costs money: {caps}. Answers within 50 s: with the result, or with a \
         handle for {result}."
    )
}
