//! The providers an agent may speak through, in the order in which they are tried: the one for its
//! task, its preferred ones, its fallback, any other if its strategy says so, and claude.

use std::collections::BTreeMap;

use quorum_core::model::agent::Reason;
use serde::{Deserialize, Serialize};

use crate::catalog;

/// The provider of last resort, for an agent without a preference or without an available one.
const DEFAULT_PROVIDER: &str = "claude";

/// The most preferred providers an agent may list.
pub const MAX_PREFERRED: usize = 6;

/// The part of an agent's profile about providers. A provider is written as everywhere else:
/// `claude`, or `claude/MODEL`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Affinity {
    /// Preferred providers, in the order in which they are tried.
    pub preferred: Vec<String>,
    /// The provider for each kind of task, such as `code-review`.
    #[serde(alias = "taskOverrides")]
    pub task_mapping: BTreeMap<String, String>,
    /// The provider used when none of the preferred ones is available.
    pub fallback: Option<String>,
    /// Providers that are never used, even where another field names them. A provider's name
    /// without a model excludes all its models.
    #[serde(alias = "excluded")]
    pub exclude: Vec<String>,
    /// The fallback when none of the named providers is available.
    pub fallback_strategy: Option<FallbackStrategy>,
    /// The sampling temperature with each provider.
    pub temperature_overrides: BTreeMap<String, f64>,
    /// The provider that should write the synthesis, if the order names none.
    pub default_synthesizer: Option<String>,
}

/// The fallback when none of the providers that a profile names is available. Without a strategy,
/// claude is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FallbackStrategy {
    /// Any provider that can be asked, after the fallback.
    Cascade,
    /// No other provider.
    Strict,
    /// Another name of the cascade.
    AnyAvailable,
}

/// A provider an agent may speak through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The provider's catalogue name.
    pub provider: String,
    /// Its model, if the profile names one.
    pub model: Option<String>,
    /// Why it is tried.
    pub reason: Reason,
}

impl Affinity {
    /// All providers it may speak through in a task of this kind, in the order in which they are
    /// tried (INV-AGT-PA-001, 002). `others` are those that can be asked here.
    #[must_use]
    pub fn candidates(&self, task: Option<&str>, others: &[String]) -> Vec<Wish> {
        let for_task = task.and_then(|task| Some((self.task_mapping.get(task)?, task)));
        let for_task = for_task.map(|(provider, task)| (provider.as_str(), Reason::Task(task.to_owned())));
        let named = |it: &'_ [String], reason: Reason| -> Vec<(String, Reason)> {
            it.iter().map(|it| (it.clone(), reason.clone())).collect()
        };
        let takes_any = matches!(
            self.fallback_strategy,
            Some(FallbackStrategy::Cascade | FallbackStrategy::AnyAvailable)
        );
        let any = if takes_any { named(others, Reason::Any) } else { Vec::new() };
        let is_strict = self.fallback_strategy == Some(FallbackStrategy::Strict);
        let usual = (!is_strict).then(|| (DEFAULT_PROVIDER.to_owned(), Reason::Usual));
        let all = for_task.map(|(it, reason)| (it.to_owned(), reason)).into_iter();
        let all = all.chain(named(&self.preferred, Reason::Preferred));
        let all = all.chain(named(self.fallback.as_slice(), Reason::Fallback)).chain(any).chain(usual);
        let mut candidates: Vec<Wish> = Vec::new();
        for (written, reason) in all.filter(|(it, _)| !self.is_excluded(it)) {
            let (provider, model) = parse(&written);
            if !candidates.iter().any(|it| it.provider == provider && it.model.as_deref() == model) {
                candidates.push(Wish { provider, model: model.map(str::to_owned), reason });
            }
        }
        candidates
    }

    /// The sampling temperature with this provider, if it has one of its own.
    #[must_use]
    pub fn temperature(&self, provider: &str) -> Option<f64> {
        let of_it = self.temperature_overrides.iter().find(|(written, _)| parse(written).0 == provider);
        of_it.map(|(_, temperature)| *temperature)
    }

    /// The catalogue name of the provider that should write the synthesis.
    #[must_use]
    pub fn writer(&self) -> Option<String> {
        self.default_synthesizer.as_deref().map(|it| parse(it).0)
    }

    fn is_excluded(&self, written: &str) -> bool {
        let matches = |excluded: &String| match excluded.contains('/') {
            true => parse(excluded) == parse(written),
            false => parse(excluded).0 == parse(written).0,
        };
        self.exclude.iter().any(matches)
    }
}

/// The provider's catalogue name, and the model if one is written: `anthropic/MODEL` is claude's.
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

    /// The first candidate that is there, as `gemini/gemini-2.5-pro preferred`.
    #[track_caller]
    fn check(affinity: &Affinity, task: Option<&str>, there: &[&str], expected: Option<&str>) {
        let others: Vec<String> = there.iter().map(|it| (*it).to_owned()).collect();
        let candidates = affinity.candidates(task, &others);
        let chosen = candidates.into_iter().find(|it| there.contains(&it.provider.as_str()));
        let chosen = chosen.map(|it| {
            let reason = match it.reason {
                Reason::Task(task) => format!("task {task}"),
                other => format!("{other:?}").to_lowercase(),
            };
            let model = it.model.map(|it| format!("/{it}")).unwrap_or_default();
            format!("{}{model} {reason}", it.provider)
        });
        assert_eq!(chosen.as_deref(), expected, "{task:?} of {there:?}");
    }

    #[test]
    fn inv_disc_640_an_agent_speaks_through_its_preferred_provider_or_claude() {
        let all = ["claude", "gemini", "openai", "codex", "mistral", "grok"];
        check(&affinity(), None, &all, Some("gemini/gemini-2.5-pro preferred"));
        check(&Affinity::default(), None, &all, Some("claude usual"));
        check(&Affinity::default(), None, &["gemini"], None);
    }

    #[test]
    fn inv_agt_pa_001_preferred_providers_are_tried_in_order() {
        check(&affinity(), None, &["gemini", "openai"], Some("gemini/gemini-2.5-pro preferred"));
        check(&affinity(), None, &["openai", "mistral", "claude"], Some("openai preferred"));
    }

    #[test]
    fn inv_agt_pa_002_the_fallback_is_used_when_all_preferred_fail() {
        check(&affinity(), None, &["mistral", "claude"], Some("mistral fallback"));
        check(&affinity(), None, &["claude", "grok"], Some("claude usual"));
        check(&affinity(), None, &["grok"], None);
    }

    #[test]
    fn b08_a_task_has_a_provider_of_its_own() {
        check(&affinity(), Some("code-review"), &["codex", "gemini"], Some("codex task code-review"));
        let preferred = Some("gemini/gemini-2.5-pro preferred");
        check(&affinity(), Some("code-review"), &["gemini"], preferred);
        check(&affinity(), Some("research"), &["codex", "gemini"], preferred);
    }

    #[test]
    fn b08_an_excluded_provider_is_never_chosen() {
        let without = |exclude: &[&str]| Affinity {
            exclude: exclude.iter().map(|it| (*it).to_owned()).collect(),
            ..affinity()
        };
        let all = ["claude", "gemini", "openai", "mistral"];
        check(&without(&["google"]), None, &all, Some("openai preferred"));
        check(&without(&["gemini/gemini-2.5-pro"]), None, &all, Some("openai preferred"));
        let preferred = Some("gemini/gemini-2.5-pro preferred");
        check(&without(&["gemini/gemini-3.8-flash"]), None, &all, preferred);
        check(&without(&["gemini", "openai", "mistral", "anthropic"]), None, &all, None);
    }

    #[test]
    fn b08_the_strategy_says_who_else_may_be_asked() {
        let with = |strategy| Affinity { fallback_strategy: Some(strategy), ..affinity() };
        for cascade in [FallbackStrategy::Cascade, FallbackStrategy::AnyAvailable] {
            check(&with(cascade), None, &["qwen", "mistral"], Some("mistral fallback"));
            check(&with(cascade), None, &["qwen", "claude"], Some("qwen any"));
            check(&with(cascade), None, &["grok"], None);
        }
        check(&with(FallbackStrategy::Strict), None, &["qwen", "mistral"], Some("mistral fallback"));
        check(&with(FallbackStrategy::Strict), None, &["qwen", "claude"], None);
    }

    #[test]
    fn b08_the_names_of_the_origin_are_accepted() {
        let profile = r#"{ "preferred": ["claude"], "taskOverrides": { "triage": "qwen" }, "excluded": ["grok"],
            "fallbackStrategy": "any-available", "temperatureOverrides": { "anthropic": 0.2 },
            "defaultSynthesizer": "anthropic" }"#;
        let affinity: Affinity = serde_json::from_str(profile).unwrap();
        check(&affinity, Some("triage"), &["qwen", "claude"], Some("qwen task triage"));
        check(&affinity, None, &["grok", "glm"], Some("glm any"));
        assert_eq!((affinity.temperature("claude"), affinity.temperature("qwen")), (Some(0.2), None));
        assert_eq!(affinity.writer().as_deref(), Some("claude"));
    }
}
