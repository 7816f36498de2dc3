//! The store of values that workflows keep between runs.

use serde_json::Value;

use crate::model::{id::Tenant, time::Timestamp};

/// A value to keep, as a new version of its key.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// The owner.
    pub tenant: Tenant,
    /// The namespace.
    pub namespace: String,
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The time.
    pub at: Timestamp,
    /// When it is no longer found.
    pub expires: Option<Timestamp>,
    /// The use of the tool that keeps it; the same use keeps it once.
    pub origin: String,
}

/// A kept value.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// The namespace.
    pub namespace: String,
    /// The key.
    pub key: String,
    /// The version, from 1.
    pub version: u64,
    /// The value.
    pub value: Value,
    /// When it was kept.
    pub at: Timestamp,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryQuery {
    /// Only in this namespace.
    pub namespace: Option<String>,
    /// Only under this key.
    pub key: Option<String>,
    /// Words that must all occur in the key or the value, whatever their case.
    pub words: Vec<String>,
    /// The most entries that are returned.
    pub limit: usize,
    /// The time, for values that expire.
    pub now: Timestamp,
}

impl MemoryQuery {
    /// Whether a value has all the words.
    #[must_use]
    pub fn fits(&self, found: &Remembered) -> bool {
        let text = format!("{} {}", found.key, found.value).to_lowercase();
        self.words.iter().all(|it| text.contains(&it.to_lowercase()))
    }
}
