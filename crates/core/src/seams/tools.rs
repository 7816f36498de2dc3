//! Tools: what a pattern may use besides participants.

use futures::future::BoxFuture;
use serde_json::Value;

use crate::model::{
    event::ToolError,
    id::{DiscussionId, Step, Tenant},
};

/// One use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The discussion that uses it.
    pub discussion: DiscussionId,
    /// Its owner.
    pub tenant: Tenant,
    /// The step of the use. With the discussion, it identifies the use: a tool whose effect is
    /// repeatable can tell that it has happened already.
    pub step: Step,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as data.
    pub arguments: Value,
    /// How long it may take.
    pub timeout_ms: u64,
}

/// The tools of a program.
///
/// Dropping the future stops the tool. It never retries: retries and deadlines are the engine's
/// job.
pub trait Tools: Send + Sync {
    /// Uses a tool.
    fn use_tool(&self, used: ToolUse) -> BoxFuture<'static, Result<Value, ToolError>>;
}

/// No tools at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn use_tool(&self, used: ToolUse) -> BoxFuture<'static, Result<Value, ToolError>> {
        let message = format!("there is no tool named {}", used.tool);
        Box::pin(std::future::ready(Err(ToolError::new(ToolError::NOT_FOUND, message))))
    }
}
