//! Who could take part.

use quorum_providers::catalog;
use serde::Serialize;

use crate::Quorum;

/// A provider in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEntry {
    /// What results call it.
    pub name: &'static str,
    /// What else it may be called.
    pub aliases: &'static [String],
    /// What it is good at, best first.
    pub strengths: &'static [String],
    /// How many tokens it takes in.
    pub window: u64,
    /// Whether it has a real voice here; without one it is simulated.
    pub available: bool,
}

impl Quorum {
    /// Every provider there is, usable here or not.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderEntry> {
        let entry = |row: &'static catalog::Row| ProviderEntry {
            name: &row.name,
            aliases: &row.aliases,
            strengths: &row.strengths,
            window: row.window,
            available: self.setting.available.contains(&row.name),
        };
        catalog::rows().iter().map(entry).collect()
    }
}
