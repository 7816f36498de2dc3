//! Chooses the provider for an agent: the one for its task, else its preferred ones in order, else
//! its fallback, else claude.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog;

/// The provider of last resort, for an agent without a preference or without an available one.
const DEFAULT_PROVIDER: &str = "claude";

/// The most preferred providers an agent may list.
pub const MAX_PREFERRED: usize = 6;

/// The part of an agent's profile about providers. A provider is written as everywhere else:
/// `claude`, or `claude/MODEL`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Affinity {
    /// Preferred providers, in the order in which they are tried.
    pub preferred: Vec<String>,
    /// The provider for each kind of task, such as `code-review`.
    pub task_mapping: BTreeMap<String, String>,
    /// The provider used when none of the preferred ones is available.
    pub fallback: Option<String>,
    /// Providers that are never used, even where another field names them. A provider's name
    /// without a model excludes all its models.
    pub exclude: Vec<String>,
}

impl Affinity {
    /// The provider for a task of this kind, as it was written in the profile; `None` if none of
    /// the candidates is available. `is_available` gets each provider's catalogue name.
    #[must_use]
    pub fn choose(&self, task: Option<&str>, is_available: impl Fn(&str) -> bool) -> Option<&str> {
        self.candidates(task).find(|it| is_available(&provider_of(it)))
    }

    /// All candidate providers that are not excluded, in the order in which they are tried.
    pub fn candidates(&self, task: Option<&str>) -> impl Iterator<Item = &str> {
        let for_task = task.and_then(|task| self.task_mapping.get(task));
        let listed = for_task.into_iter().chain(&self.preferred).chain(&self.fallback).map(String::as_str);
        listed.chain([DEFAULT_PROVIDER]).filter(|it| !self.is_excluded(it))
    }

    fn is_excluded(&self, written: &str) -> bool {
        let matches = |excluded: &String| match excluded.contains('/') {
            true => parse(excluded) == parse(written),
            false => provider_of(excluded) == provider_of(written),
        };
        self.exclude.iter().any(matches)
    }
}

/// The provider's catalogue name: `anthropic/MODEL` is `claude`.
fn provider_of(written: &str) -> String {
    parse(written).0
}

fn parse(written: &str) -> (String, Option<&str>) {
    let (provider, model) =
        written.split_once('/').map_or((written, None), |(provider, model)| (provider, Some(model)));
    (catalog::row(provider).map_or_else(|| provider.to_owned(), |row| row.name.clone()), model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affinity() -> Affinity {
        let profile = r#"{ "preferred": ["gemini/gemini-2.5-pro", "openai"], "taskMapping": { "code-review": "codex" },
            "fallback": "mistral", "exclude": ["grok"] }"#;
        serde_json::from_str(profile).unwrap()
    }

    #[track_caller]
    fn check(affinity: &Affinity, task: Option<&str>, there: &[&str], expected: Option<&str>) {
        assert_eq!(affinity.choose(task, |it| there.contains(&it)), expected, "{task:?} of {there:?}");
    }

    #[test]
    fn inv_disc_640_an_agent_speaks_through_its_preferred_provider_or_claude() {
        let all = ["claude", "gemini", "openai", "codex", "mistral", "grok"];
        check(&affinity(), None, &all, Some("gemini/gemini-2.5-pro"));
        check(&Affinity::default(), None, &all, Some("claude"));
        check(&Affinity::default(), None, &["gemini"], None);
    }

    #[test]
    fn b08_preferred_providers_are_tried_in_order_and_then_the_fallback() {
        check(&affinity(), None, &["openai", "mistral", "claude"], Some("openai"));
        check(&affinity(), None, &["mistral", "claude"], Some("mistral"));
        check(&affinity(), None, &["claude", "grok"], Some("claude"));
        check(&affinity(), None, &["grok"], None);
    }

    #[test]
    fn b08_a_task_has_a_provider_of_its_own() {
        check(&affinity(), Some("code-review"), &["codex", "gemini"], Some("codex"));
        check(&affinity(), Some("code-review"), &["gemini"], Some("gemini/gemini-2.5-pro"));
        check(&affinity(), Some("research"), &["codex", "gemini"], Some("gemini/gemini-2.5-pro"));
    }

    #[test]
    fn b08_an_excluded_provider_is_never_chosen() {
        let without = |exclude: &[&str]| Affinity {
            exclude: exclude.iter().map(|it| (*it).to_owned()).collect(),
            ..affinity()
        };
        let all = ["claude", "gemini", "openai", "mistral"];
        check(&without(&["google"]), None, &all, Some("openai"));
        check(&without(&["gemini/gemini-2.5-pro"]), None, &all, Some("openai"));
        check(&without(&["gemini/gemini-3.8-flash"]), None, &all, Some("gemini/gemini-2.5-pro"));
        check(&without(&["gemini", "openai", "mistral", "anthropic"]), None, &all, None);
    }
}
