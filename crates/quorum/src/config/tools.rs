//! `[tools.NAME]` and `[workflows]`: the programs that workflows may use, and the provider that
//! answers their prompts.

use toml::{Table, Value};

use super::{Config, Mistakes, unknown};

const TOOL_KEYS: [&str; 3] = ["command", "timeout_ms", "repeatable"];
const WORKFLOW_KEYS: [&str; 2] = ["tools", "provider"];

/// The longest time limit of a tool.
const LONGEST_MS: i64 = 3_600_000;

/// A program that workflows may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The program and its arguments. No shell is involved.
    pub command: Vec<String>,
    /// How long it may take, at most.
    pub timeout_ms: Option<u64>,
    /// Whether it may be used again if the process ended while it was under way.
    pub repeatable: bool,
}

/// What applies to all workflows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workflows {
    /// The declared tools that every run may use.
    pub tools: Vec<String>,
    /// The provider of prompts that name none.
    pub provider: Option<String>,
}

/// Reads all tool tables.
pub(super) fn read_tools(config: &mut Config, table: &Table) -> Result<(), Mistakes> {
    for (name, value) in table {
        let row = value.as_table().ok_or_else(|| format!("tools.{name} is a section: [tools.{name}]"))?;
        if crate::workflow::tools::MEMORY.contains(&name.as_str()) {
            return Err(format!("tools.{name} is built in; give yours another name").into());
        }
        config.tools.insert(name.clone(), tool(name, row)?);
    }
    Ok(())
}

fn tool(name: &str, row: &Table) -> Result<Tool, Mistakes> {
    let mut tool = Tool { command: Vec::new(), timeout_ms: None, repeatable: false };
    for (key, value) in row {
        match (key.as_str(), value) {
            ("command", Value::Array(_)) => {
                tool.command = texts(value).ok_or_else(|| not_a_command(name))?;
            }
            ("timeout_ms", Value::Integer(ms)) if (1..=LONGEST_MS).contains(ms) => {
                tool.timeout_ms = u64::try_from(*ms).ok();
            }
            ("repeatable", Value::Boolean(it)) => tool.repeatable = *it,
            ("command", _) => return Err(not_a_command(name).into()),
            ("timeout_ms", _) => {
                return Err(format!("tools.{name}.timeout_ms is a number from 1 to {LONGEST_MS}").into());
            }
            ("repeatable", _) => return Err(format!("tools.{name}.repeatable is true or false").into()),
            _ => return Err(unknown(&format!("key in [tools.{name}]"), key, TOOL_KEYS).into()),
        }
    }
    if tool.command.first().is_none_or(String::is_empty) {
        return Err(not_a_command(name).into());
    }
    Ok(tool)
}

fn not_a_command(name: &str) -> String {
    format!("tools.{name}.command is a list: the program, then its arguments")
}

/// Reads `[workflows]`.
pub(super) fn read_workflows(config: &mut Config, table: &Table) -> Result<(), Mistakes> {
    for (key, value) in table {
        match (key.as_str(), value) {
            ("tools", value) => {
                let names = texts(value);
                config.workflows.tools =
                    names.ok_or_else(|| "workflows.tools is a list of names".to_owned())?;
            }
            ("provider", Value::String(name)) => config.workflows.provider = Some(name.clone()),
            ("provider", _) => return Err("workflows.provider is a provider's name".to_owned().into()),
            _ => return Err(unknown("key in [workflows]", key, WORKFLOW_KEYS).into()),
        }
    }
    Ok(())
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
}
