//! The Model Context Protocol: discussions as tools, resources and prompts for other programs.
//!
//! Both eras of the protocol are served, and no protocol state is kept: every request says what it
//! needs, and what lasts is in the record of a discussion.
//!
//! # Layout
//! - `handler`: what the protocol library calls; `http` and `stdio`: the two transports
//! - `tools`: one file for each tool, and their list
//! - `call`: one call of a tool; `request`: reads an order from its arguments; `order`: starts or
//!   joins a discussion; `wait`: waits for it within the time of the call; `progress`: tells the
//!   client of every step that ends meanwhile
//! - `calls`: what the calls of a process share: recent orders, who waits, who may be cancelled;
//!   `queue`: begins what they queued
//! - `schema`, `arguments`: input schemas from the fields of a request, and the check against them
//! - `answer`, `run`, `fit`, `failure`: what a tool answers with, and how long that may be
//! - `task`, `resources`, `prompts`, `completion`: the other parts of the protocol

mod answer;
mod arguments;
mod call;
mod calls;
mod completion;
mod failure;
mod fit;
mod handler;
pub(crate) mod http;
mod order;
mod progress;
mod prompts;
mod queue;
mod request;
mod resources;
mod run;
mod schema;
mod stdio;
mod task;
mod tools;
mod wait;

use std::sync::Arc;

use quorum::Registry;
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::mcp::{
    calls::Calls,
    tools::{TOOLS, Tool},
};

pub use stdio::{converse, on_standard_streams};

/// The tools as they are listed, and what their calls share.
pub(crate) struct Mcp {
    pub(crate) names: ToolNames,
    pub(crate) calls: Calls,
    listed: Vec<ListedTool>,
}

/// A tool with its schemas.
pub(crate) struct ListedTool {
    pub(crate) tool: &'static Tool,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input: Arc<JsonObject>,
    pub(crate) output: Arc<JsonObject>,
}

/// The names of the tools: a prefix, and the tool's own name.
#[derive(Debug, Clone)]
pub(crate) struct ToolNames {
    prefix: String,
}

/// What descriptions and schemas of tools are made from.
pub(crate) struct Surface<'s> {
    pub(crate) names: &'s ToolNames,
    pub(crate) registry: &'s Registry,
}

impl Mcp {
    pub(crate) fn new(registry: &Registry, prefix: &str) -> Mcp {
        let names = ToolNames { prefix: prefix.to_owned() };
        let surface = Surface { names: &names, registry };
        let listed = TOOLS.iter().map(|tool| ListedTool::of(tool, &surface)).collect();
        Mcp { names, calls: Calls::default(), listed }
    }

    pub(crate) fn tools(&self) -> &[ListedTool] {
        &self.listed
    }

    /// The tool with this name, with or without the prefix.
    pub(crate) fn tool(&self, name: &str) -> Option<&ListedTool> {
        self.listed.iter().find(|it| it.name == name || it.tool.name == name)
    }
}

impl ListedTool {
    fn of(tool: &'static Tool, surface: &Surface<'_>) -> ListedTool {
        ListedTool {
            tool,
            name: surface.names.of(tool.name),
            description: (tool.description)(surface),
            input: object((tool.input)(surface)),
            output: object((tool.output)(surface)),
        }
    }
}

fn object(schema: Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    })
}

impl ToolNames {
    /// The name of this tool in lists and sentences.
    pub(crate) fn of(&self, tool: &str) -> String {
        if self.prefix.is_empty() { tool.to_owned() } else { format!("{}_{tool}", self.prefix) }
    }
}

#[cfg(test)]
mod tests;
