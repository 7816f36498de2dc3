//! An agent's profile: its fields as they are written, checked.

use std::{collections::BTreeMap, ops::RangeInclusive, path::Path};

use quorum_core::model::excerpt::in_short;
use quorum_providers::affinity::{Affinity, MAX_PREFERRED};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{AgentError, LONGEST_ID, WEIGHT, document::Document};
use crate::{
    config::nearest,
    request::limits::{LONGEST_PROMPT, TEMPERATURE, TOKENS_PER_TURN},
};

/// Fields of profiles written for other programs. They are accepted and have no effect.
const WITHOUT_EFFECT: &[&str] = &[
    "version",
    "team",
    "expertise",
    "capabilities",
    "workflow",
    "orchestration",
    "selectionMetadata",
    "tags",
    "priority",
    "capabilityMappings",
    "thinkingPatterns",
    "archetype",
    "metaAgent",
    "replaces",
    "orchestrates",
    "dynamicCapabilities",
    "taskClassifier",
    "reviewModes",
    "dependencies",
    "parallel",
    "collaboratesWith",
    "metadata",
    "canDelegateToArchetypes",
    "canDelegateToMetaAgents",
    "createdAt",
    "updatedAt",
];

/// The fields that are read.
const READ: &[&str] = &[
    "agentId",
    "displayName",
    "description",
    "role",
    "systemPrompt",
    "personality",
    "abilities",
    "providerAffinity",
    "temperature",
    "maxTokens",
    "weight",
    "enabled",
];

/// The fields with fields of their own, and the names of these. `decisionMaking` and `loadAll` have
/// no effect.
const NESTED: &[(&str, &[&str])] = &[
    ("personality", &["traits", "catchphrase", "communicationStyle", "decisionMaking"]),
    ("abilities", &["core", "taskBased", "loadAll"]),
    (
        "providerAffinity",
        &[
            "preferred",
            "taskMapping",
            "taskOverrides",
            "fallback",
            "exclude",
            "excluded",
            "fallbackStrategy",
            "temperatureOverrides",
            "defaultSynthesizer",
        ],
    ),
];

/// The longest name or role, in characters.
const LONGEST_LINE: usize = 1_000;

/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 2_000;

/// The most abilities that a profile may name.
const MOST_ABILITIES: usize = 100;

/// The most entries of a list or map of providers and tasks.
const MOST_ENTRIES: usize = 50;

/// A checked profile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// The agent's id.
    pub id: String,
    /// Its name for people.
    pub display_name: Option<String>,
    /// What it is for, in a sentence.
    pub description: Option<String>,
    /// What it is, in a few words.
    pub role: Option<String>,
    /// Its instructions.
    pub system_prompt: String,
    /// Its personality in one line.
    pub personality: Option<String>,
    /// The abilities it always has, in their order.
    pub core_abilities: Vec<String>,
    /// The abilities it has for some tasks.
    pub task_abilities: BTreeMap<String, Vec<String>>,
    /// The providers it may speak through.
    pub affinity: Affinity,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u32>,
    /// The weight of its vote.
    pub weight: Option<f64>,
    /// Whether it may be seated.
    pub enabled: bool,
}

/// Whether this can be an agent's or an ability's id.
#[must_use]
pub fn is_agent_id(written: &str) -> bool {
    let begins = written.starts_with(|it: char| it.is_ascii_lowercase());
    let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    begins && written.len() <= LONGEST_ID && written.chars().all(plain)
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Personality {
    traits: Vec<String>,
    catchphrase: Option<String>,
    communication_style: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Abilities {
    core: Vec<String>,
    task_based: BTreeMap<String, Vec<String>>,
}

impl Profile {
    /// The profile in this document, or what is wrong with it.
    pub(super) fn of(file: &Path, document: Document) -> Result<Self, AgentError> {
        let fields = Fields { file, fields: document.fields };
        fields.known()?;
        let id: String = fields.get("agentId")?.ok_or_else(|| fields.wrong("agentId is missing"))?;
        if !is_agent_id(&id) {
            return Err(
                fields.wrong(AgentError::NotAnId { written: in_short(format_args!("{id:?}")) }.to_string())
            );
        }
        let abilities: Abilities = fields.get("abilities")?.unwrap_or_default();
        fields.abilities(&abilities)?;
        let weight = fields.within("weight", WEIGHT)?;
        Ok(Profile {
            id,
            display_name: fields.text("displayName", LONGEST_LINE)?,
            description: fields.text("description", LONGEST_DESCRIPTION)?,
            role: fields.text("role", LONGEST_LINE)?,
            system_prompt: fields.system_prompt(document.body)?,
            personality: fields.get::<Personality>("personality")?.and_then(Personality::line),
            core_abilities: abilities.core,
            task_abilities: abilities.task_based,
            affinity: fields.affinity()?,
            temperature: fields.within("temperature", TEMPERATURE)?,
            max_tokens: fields.within("maxTokens", TOKENS_PER_TURN)?,
            weight,
            enabled: fields.get("enabled")?.unwrap_or(true),
        })
    }

    /// The tasks it knows: those with a provider or with abilities of their own.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.affinity.task_mapping.keys().chain(self.task_abilities.keys()).map(String::as_str)
    }
}

impl Personality {
    /// The personality in one line; `None` if it says nothing.
    fn line(self) -> Option<String> {
        let traits = Some(self.traits.join(", ")).filter(|it| !it.is_empty());
        let style = self.communication_style.filter(|it| !it.trim().is_empty());
        let phrase = self.catchphrase.filter(|it| !it.trim().is_empty());
        let phrase = phrase.map(|it| format!("often says \"{}\"", it.trim()));
        let parts: Vec<String> = [traits, style, phrase].into_iter().flatten().collect();
        let line = parts.join("; ").split_whitespace().collect::<Vec<_>>().join(" ");
        Some(line.chars().take(LONGEST_LINE).collect()).filter(|it: &String| !it.is_empty())
    }
}

/// The fields of a file, with its name for messages.
struct Fields<'f> {
    file: &'f Path,
    fields: Map<String, Value>,
}

impl Fields<'_> {
    fn wrong(&self, message: impl Into<String>) -> AgentError {
        AgentError::Invalid { file: self.file.to_owned(), line: None, message: message.into() }
    }

    /// Refuses a field that no profile has.
    fn known(&self) -> Result<(), AgentError> {
        self.only(&self.fields, "", &[READ, WITHOUT_EFFECT].concat())?;
        let nested = NESTED.iter().filter_map(|(name, known)| Some((name, known, self.fields.get(*name)?)));
        for (name, known, value) in nested {
            value.as_object().map_or(Ok(()), |fields| self.only(fields, &format!("{name}."), known))?;
        }
        Ok(())
    }

    /// Refuses a field that is none of these.
    fn only(&self, fields: &Map<String, Value>, prefix: &str, known: &[&str]) -> Result<(), AgentError> {
        let Some(unknown) = fields.keys().find(|it| !known.contains(&it.as_str())) else { return Ok(()) };
        let meant = nearest(unknown, known.iter().copied());
        let meant = meant.map(|it| format!("; did you mean {prefix}{it}?")).unwrap_or_default();
        Err(self.wrong(format!("there is no field {prefix}{}{meant}", in_short(unknown))))
    }

    /// The value of a field; null means left out.
    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, AgentError> {
        let Some(value) = self.fields.get(name).filter(|it| !it.is_null()) else { return Ok(None) };
        let read = serde_json::from_value(value.clone());
        read.map(Some).map_err(|error| self.wrong(format!("{name}: {error}")))
    }

    fn text(&self, name: &str, longest: usize) -> Result<Option<String>, AgentError> {
        let Some(text) = self.get::<String>(name)? else { return Ok(None) };
        let length = text.chars().count();
        if longest < length {
            let message = format!("{name} may have at most {longest} characters; this has {length}");
            return Err(self.wrong(message));
        }
        Ok(Some(text.trim().to_owned()).filter(|it| !it.is_empty()))
    }

    fn within<T>(&self, name: &str, range: RangeInclusive<T>) -> Result<Option<T>, AgentError>
    where
        T: DeserializeOwned + PartialOrd + std::fmt::Display,
    {
        let value: Option<T> = self.get(name)?;
        match value {
            Some(value) if !range.contains(&value) => {
                let (least, most) = (range.start(), range.end());
                Err(self.wrong(format!("{name} must be from {least} to {most}, not {value}")))
            }
            other => Ok(other),
        }
    }

    /// The instructions: the field, or the text after the front matter.
    fn system_prompt(&self, body: Option<String>) -> Result<String, AgentError> {
        let field = self.text("systemPrompt", LONGEST_PROMPT)?;
        let body = body.filter(|it| !it.is_empty());
        match (field, body) {
            (Some(_), Some(_)) => {
                Err(self.wrong("has a systemPrompt and a text after the front matter; keep one"))
            }
            (None, Some(body)) if LONGEST_PROMPT < body.chars().count() => {
                let length = body.chars().count();
                let message = format!(
                    "the text after the front matter may have at most {LONGEST_PROMPT} characters; this has {length}"
                );
                Err(self.wrong(message))
            }
            (field, body) => Ok(field.or(body).unwrap_or_default()),
        }
    }

    fn affinity(&self) -> Result<Affinity, AgentError> {
        let affinity: Affinity = self.get("providerAffinity")?.unwrap_or_default();
        let count = affinity.preferred.len();
        if MAX_PREFERRED < count {
            let message = format!(
                "providerAffinity.preferred may have at most {MAX_PREFERRED} providers; there are {count}"
            );
            return Err(self.wrong(message));
        }
        let tasks = &affinity.task_mapping;
        let counts = [tasks.len(), affinity.exclude.len(), affinity.temperature_overrides.len()];
        if counts.into_iter().any(|it| MOST_ENTRIES < it) {
            return Err(
                self.wrong(format!("a list in providerAffinity has more than {MOST_ENTRIES} entries"))
            );
        }
        let named = affinity.preferred.iter().chain(&affinity.fallback).chain(&affinity.exclude);
        let named = named.chain(tasks.values()).chain(&affinity.default_synthesizer);
        if let Some(wrong) = named.into_iter().find(|it| !quorum_core::model::participant::is_name(it)) {
            let wrong = in_short(format_args!("{wrong:?}"));
            return Err(self.wrong(format!("providerAffinity: {wrong} is not a provider's name")));
        }
        if let Some((name, value)) =
            affinity.temperature_overrides.iter().find(|(_, it)| !TEMPERATURE.contains(it))
        {
            let (least, most) = (TEMPERATURE.start(), TEMPERATURE.end());
            let name = in_short(name);
            let message = format!(
                "providerAffinity.temperatureOverrides.{name} must be from {least} to {most}, not {value}"
            );
            return Err(self.wrong(message));
        }
        Ok(affinity)
    }

    fn abilities(&self, abilities: &Abilities) -> Result<(), AgentError> {
        let named = || abilities.core.iter().chain(abilities.task_based.values().flatten());
        if MOST_ABILITIES < named().count() {
            return Err(self.wrong(format!("may name at most {MOST_ABILITIES} abilities")));
        }
        if let Some(wrong) = named().find(|it| !is_agent_id(it)) {
            let wrong = in_short(format_args!("{wrong:?}"));
            return Err(self.wrong(format!("abilities: {wrong} is not an ability's id")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn profile(fields: &Value) -> Result<Profile, String> {
        let document = Document { fields: fields.as_object().cloned().unwrap_or_default(), body: None };
        Profile::of(Path::new("x.json"), document).map_err(|error| error.to_string())
    }

    #[test]
    fn b08_the_fields_of_a_profile_are_read() {
        let read = profile(&json!({
            "agentId": "reviewer", "displayName": "Ada", "version": "1.0.0", "description": "Reads code.",
            "role": "reviewer", "team": "quality", "expertise": ["code"], "capabilities": ["review"],
            "systemPrompt": " Read closely. ", "workflow": [{ "stepId": "one" }],
            "personality": { "traits": ["calm", "exact"], "catchphrase": "Prove it.", "communicationStyle": "terse" },
            "abilities": { "core": ["diffs"], "taskBased": { "security": ["threats"] } },
            "providerAffinity": { "preferred": ["claude"], "taskOverrides": { "triage": "qwen" },
                "defaultSynthesizer": "claude", "fallbackStrategy": "cascade" },
            "orchestration": { "maxDelegationDepth": 1 }, "selectionMetadata": {}, "tags": ["x"], "enabled": true,
            "temperature": 0.2, "maxTokens": 900, "priority": 3, "weight": 2, "reviewModes": [], "replaces": null,
        }))
        .unwrap();
        assert_eq!(read.personality.as_deref(), Some("calm, exact; terse; often says \"Prove it.\""));
        assert_eq!(read.system_prompt, "Read closely.");
        assert_eq!((read.temperature, read.max_tokens, read.weight), (Some(0.2), Some(900), Some(2.0)));
        assert_eq!(read.tasks().collect::<Vec<_>>(), ["triage", "security"]);
        assert_eq!(read.affinity.preferred, ["claude"]);
    }

    #[test]
    fn b08_further_fields_of_the_origins_profiles_are_accepted() {
        let with = |fields: Value| {
            let mut all = json!({ "agentId": "ann" });
            all.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
            profile(&all)
        };
        let plain = with(json!({})).unwrap();
        let ignored = with(json!({
            "dependencies": ["bob"], "parallel": true, "collaboratesWith": ["cyd"], "metadata": { "a": 1 },
            "canDelegateToArchetypes": ["lead"], "canDelegateToMetaAgents": ["executor"],
            "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z",
            "personality": { "decisionMaking": "by evidence" }, "abilities": { "loadAll": true },
        }));
        assert_eq!(ignored, Ok(plain.clone()));
        let long = "ä".repeat(2_000);
        let described = Profile { description: Some(long.clone()), ..plain };
        assert_eq!(with(json!({ "description": long })), Ok(described));
        let message = "x.json: description may have at most 2000 characters; this has 2001";
        assert_eq!(with(json!({ "description": "ä".repeat(2_001) })), Err(message.to_owned()));
    }

    #[test]
    fn b08_a_wrong_field_is_named_with_what_is_right() {
        let check = |fields: Value, expected: &str| {
            let mut all = json!({ "agentId": "ann" });
            all.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
            let error = profile(&all).unwrap_err();
            assert_eq!(error, format!("x.json: {expected}"));
        };
        let id = "is not an agent's id; it has lower-case letters, digits and hyphens, at most 50";
        check(json!({ "agentId": "../x" }), &format!("\"../x\" {id}"));
        check(json!({ "agentId": "Ann" }), &format!("\"Ann\" {id}"));
        check(json!({ "agentId": null }), "agentId is missing");
        check(json!({ "sytemPrompt": "x" }), "there is no field sytemPrompt; did you mean systemPrompt?");
        let nested = [
            ("personality", "trait", "traits"),
            ("abilities", "cores", "core"),
            ("providerAffinity", "prefered", "preferred"),
            ("providerAffinity", "taskOveride", "taskOverrides"),
        ];
        for (field, written, meant) in nested {
            let message = format!("there is no field {field}.{written}; did you mean {field}.{meant}?");
            check(json!({ field: { written: [] } }), &message);
        }
        check(json!({ "abilities": { "zzz": [] } }), "there is no field abilities.zzz");
        check(json!({ "weight": 0.4 }), "weight must be from 0.5 to 3, not 0.4");
        check(json!({ "weight": 3.1 }), "weight must be from 0.5 to 3, not 3.1");
        check(json!({ "temperature": 2.5 }), "temperature must be from 0 to 2, not 2.5");
        let seven = ["a", "b", "c", "d", "e", "f", "g"];
        let message = "providerAffinity.preferred may have at most 6 providers; there are 7";
        check(json!({ "providerAffinity": { "preferred": seven } }), message);
        let long = "x".repeat(10_001);
        let message = "systemPrompt may have at most 10000 characters; this has 10001";
        check(json!({ "systemPrompt": long }), message);
        check(json!({ "abilities": { "core": ["../x"] } }), "abilities: \"../x\" is not an ability's id");
    }

    #[test]
    fn b08_an_id_is_plain() {
        for (written, expected) in [
            ("a", true),
            ("a-1", true),
            ("", false),
            ("1a", false),
            ("A", false),
            ("a_b", false),
            ("ä", false),
        ] {
            assert_eq!(is_agent_id(written), expected, "{written}");
        }
        assert!(is_agent_id(&"a".repeat(50)) && !is_agent_id(&"a".repeat(51)));
    }
}
