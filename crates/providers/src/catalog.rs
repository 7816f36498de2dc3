//! The catalogue: what is known of each provider before it is asked anything. A row in `catalog.toml` is a provider.

use std::sync::LazyLock;

use serde::Deserialize;

/// Who sits at the table when nobody was named.
pub const DEFAULT_PANEL: [&str; 4] = ["claude", "glm", "qwen", "gemini"];

/// One provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What results call it.
    pub name: String,
    /// What else people call it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it is good at, best first.
    pub strengths: Vec<String>,
    /// How many tokens it can take in.
    pub window: u64,
}

#[derive(Deserialize)]
struct Catalog {
    provider: Vec<Row>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program and a test reads it")]
static CATALOG: LazyLock<Catalog> =
    LazyLock::new(|| toml::from_str(include_str!("../catalog.toml")).expect("catalog.toml is readable"));

/// All rows, in the file's order.
#[must_use]
pub fn rows() -> &'static [Row] {
    &CATALOG.provider
}

/// The row of that name or alias, however it is capitalised.
#[must_use]
pub fn row(name: &str) -> Option<&'static Row> {
    let is = |it: &String| it.eq_ignore_ascii_case(name);
    rows().iter().find(|row| is(&row.name) || row.aliases.iter().any(is))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_aliases_mean_one_row_each() {
        let all: Vec<&String> = rows().iter().flat_map(|row| row.aliases.iter().chain([&row.name])).collect();
        let different: BTreeSet<&&String> = all.iter().collect();
        assert_eq!(all.len(), different.len());
        assert!(rows().iter().all(|row| row.window > 0 && !row.strengths.is_empty()));
    }

    #[test]
    fn rows_are_found_by_alias() {
        let name = |asked: &str| row(asked).map(|row| row.name.as_str());
        assert_eq!(name("anthropic"), Some("claude"));
        assert_eq!(name("Google"), Some("gemini"));
        assert_eq!(name("nobody"), None);
    }

    #[test]
    fn the_default_panel_is_in_the_catalogue() {
        assert!(DEFAULT_PANEL.iter().all(|name| row(name).is_some()));
    }
}
