//! The tools that workflows may use: memory, and programs that the user's configuration declares.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use quorum_core::{
    model::{
        error::ErrorClass,
        event::ToolError,
        time::{Timestamp, iso},
    },
    seams::{Archive, Clock, MemoryQuery, NewMemory, Remembered, StoreError, ToolUse, Tools},
};
use quorum_providers::command::{supervisor::Supervisor, tool::ToolProgram};
use serde_json::{Map, Value, json};

use crate::config::Tool;

/// The tools that are built in.
pub const MEMORY: [&str; 3] = ["memory_store", "memory_retrieve", "memory_search"];

/// The largest value that is kept, in bytes of JSON.
const LARGEST_VALUE: usize = 64 * 1024;

const LONGEST_KEY: usize = 256;
const USUAL_NAMESPACE: &str = "default";
const USUAL_LIMIT: u64 = 10;
const MOST_FOUND: u64 = 100;

/// Which tools a workflow may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolTable {
    declared: BTreeMap<String, bool>,
    allowed: BTreeSet<String>,
    how_to_allow: String,
}

impl ToolTable {
    /// The memory and these declared tools, of which these are allowed.
    #[must_use]
    pub fn new<'t>(
        declared: &BTreeMap<String, Tool>,
        allowed: impl IntoIterator<Item = &'t String>,
        how_to_allow: &str,
    ) -> Self {
        ToolTable {
            declared: declared.iter().map(|(name, it)| (name.clone(), it.repeatable)).collect(),
            allowed: allowed.into_iter().cloned().collect(),
            how_to_allow: how_to_allow.to_owned(),
        }
    }

    /// Whether the tool may be used again after a crash; the error is why it can't be used at all.
    pub(crate) fn find(&self, name: &str) -> Result<bool, String> {
        if MEMORY.contains(&name) {
            // A version is kept once for each use.
            return Ok(true);
        }
        match self.declared.get(name) {
            Some(repeatable) if self.allowed.contains(name) => Ok(*repeatable),
            Some(_) => {
                let how = self.how_to_allow.replace("NAME", name);
                Err(format!("{name} is declared but not allowed here; {how}"))
            }
            None => Err(format!("{name} is no tool here; declare [tools.{name}] in the configuration")),
        }
    }
}

/// The tools of this program.
pub(crate) struct ToolBox {
    pub(crate) archive: Arc<dyn Archive>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) declared: BTreeMap<String, Tool>,
    pub(crate) supervisor: Option<Supervisor>,
}

impl Tools for ToolBox {
    fn use_tool(&self, used: ToolUse) -> BoxFuture<'static, Result<Value, ToolError>> {
        let now = self.clock.now();
        let archive = self.archive.clone();
        match used.tool.as_str() {
            "memory_store" => Box::pin(async move { store(&*archive, &used, now).await }),
            "memory_retrieve" => Box::pin(async move { retrieve(&*archive, &used, now).await }),
            "memory_search" => Box::pin(async move { search(&*archive, &used, now).await }),
            name => match self.declared.get(name) {
                Some(tool) => Box::pin(run(tool.clone(), self.supervisor.clone(), used)),
                None => {
                    let message = format!("there is no tool named {name} here");
                    let error = ToolError::new(ToolError::NOT_FOUND, message);
                    Box::pin(std::future::ready(Err(error)))
                }
            },
        }
    }
}

fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::new("TOOL_ARGUMENTS_INVALID", message)
}

fn unavailable(error: &StoreError) -> ToolError {
    ToolError::new(ToolError::FAILED, format!("the memory can't be used: {error}")).transient()
}

/// The arguments, of which only these are known.
fn arguments<'u>(used: &'u ToolUse, known: &[&str]) -> Result<&'u Map<String, Value>, ToolError> {
    let arguments = used.arguments.as_object().ok_or_else(|| wrong("the arguments must be an object"))?;
    match arguments.keys().find(|it| !known.contains(&it.as_str())) {
        Some(name) => Err(wrong(format!("{} has no {name}; it takes {}", used.tool, known.join(", ")))),
        None => Ok(arguments),
    }
}

fn text(arguments: &Map<String, Value>, name: &str) -> Result<Option<String>, ToolError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= LONGEST_KEY => Ok(Some(text.clone())),
        Some(Value::String(_)) => Err(wrong(format!("{name} may have {LONGEST_KEY} characters"))),
        Some(_) => Err(wrong(format!("{name} must be a text"))),
    }
}

fn whole(arguments: &Map<String, Value>, name: &str) -> Result<Option<u64>, ToolError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(format!("{name} must be a whole number"))),
        },
    }
}

fn found(it: &Remembered) -> Value {
    json!({
        "namespace": it.namespace, "key": it.key, "value": it.value, "version": it.version,
        "storedAt": iso(it.at),
    })
}

async fn store(archive: &dyn Archive, used: &ToolUse, now: Timestamp) -> Result<Value, ToolError> {
    let given = arguments(used, &["namespace", "key", "value", "ttl", "merge"])?;
    let namespace = text(given, "namespace")?.unwrap_or_else(|| USUAL_NAMESPACE.to_owned());
    let key = text(given, "key")?.filter(|it| !it.is_empty()).ok_or_else(|| wrong("key is missing"))?;
    let mut value = given.get("value").cloned().ok_or_else(|| wrong("value is missing"))?;
    let expires = whole(given, "ttl")?.map(|seconds| now.plus_ms(seconds.saturating_mul(1_000)));
    let tenant = used.tenant.clone();
    if given.get("merge") == Some(&Value::Bool(true)) {
        let query = MemoryQuery {
            namespace: Some(namespace.clone()),
            key: Some(key.clone()),
            words: Vec::new(),
            limit: 1,
            now,
        };
        let before = archive.remembered(tenant.clone(), query).await.map_err(|it| unavailable(&it))?;
        if let (Some(Value::Object(before)), Value::Object(new)) =
            (before.into_iter().next().map(|it| it.value), &value)
        {
            let merged = before.into_iter().chain(new.clone());
            value = Value::Object(merged.collect());
        }
    }
    let size = value.to_string().len();
    if size > LARGEST_VALUE {
        return Err(wrong(format!("the value has {size} bytes, and at most {LARGEST_VALUE} can be stored")));
    }
    let origin = format!("{}/{}", used.discussion, used.step);
    let new =
        NewMemory { tenant, namespace: namespace.clone(), key: key.clone(), value, at: now, expires, origin };
    let version = archive.remember(new).await.map_err(|it| unavailable(&it))?;
    Ok(json!({ "stored": true, "namespace": namespace, "key": key, "version": version }))
}

async fn retrieve(archive: &dyn Archive, used: &ToolUse, now: Timestamp) -> Result<Value, ToolError> {
    let given = arguments(used, &["namespace", "key"])?;
    let namespace = text(given, "namespace")?.unwrap_or_else(|| USUAL_NAMESPACE.to_owned());
    let key = text(given, "key")?.filter(|it| !it.is_empty()).ok_or_else(|| wrong("key is missing"))?;
    let query = MemoryQuery {
        namespace: Some(namespace.clone()),
        key: Some(key.clone()),
        words: Vec::new(),
        limit: 1,
        now,
    };
    let all = archive.remembered(used.tenant.clone(), query).await.map_err(|it| unavailable(&it))?;
    Ok(match all.first() {
        Some(it) => {
            let mut entry = found(it);
            entry["found"] = json!(true);
            entry
        }
        None => json!({ "found": false, "namespace": namespace, "key": key, "value": null }),
    })
}

async fn search(archive: &dyn Archive, used: &ToolUse, now: Timestamp) -> Result<Value, ToolError> {
    let given = arguments(used, &["namespace", "query", "limit"])?;
    let words = text(given, "query")?.unwrap_or_default();
    let limit = whole(given, "limit")?.unwrap_or(USUAL_LIMIT).min(MOST_FOUND) as usize;
    let words = words.split_whitespace().map(str::to_owned).collect();
    let query = MemoryQuery { namespace: text(given, "namespace")?, key: None, words, limit, now };
    let all = archive.remembered(used.tenant.clone(), query).await.map_err(|it| unavailable(&it))?;
    Ok(json!({ "count": all.len(), "results": all.iter().map(found).collect::<Vec<Value>>() }))
}

/// Runs a declared program: the arguments as JSON on its standard input, JSON or text back.
async fn run(tool: Tool, supervisor: Option<Supervisor>, used: ToolUse) -> Result<Value, ToolError> {
    let limit = Duration::from_millis(tool.timeout_ms.unwrap_or(u64::MAX).min(used.timeout_ms));
    let program = ToolProgram { command: tool.command, supervisor };
    let output = program.run(used.arguments.to_string().into_bytes(), limit).await.map_err(|error| {
        let code = if error.class == ErrorClass::Timeout { ToolError::TIMEOUT } else { ToolError::FAILED };
        let failed = ToolError::new(code, error.message);
        if error.class.is_transient() { failed.transient() } else { failed }
    })?;
    let text = String::from_utf8(output)
        .map_err(|_| ToolError::new(ToolError::FAILED, "the output of the program is not UTF-8"))?;
    Ok(serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.trim_end().to_owned())))
}
