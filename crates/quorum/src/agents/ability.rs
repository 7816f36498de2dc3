//! An ability: knowledge for agents in a file of its own, Markdown with front matter or JSON.

use std::path::Path;

use quorum_patterns::agent_text;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{AgentError, document::Document, is_agent_id};
use quorum_core::model::excerpt::in_short;

/// An ability as written in its file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ability {
    pub(super) id: String,
    /// The text as it is shown, under its heading.
    pub(super) text: String,
    /// A hash of the file's text.
    pub(super) digest: String,
    /// If there isn't room for all abilities, those with a higher priority come first.
    pub(super) priority: i64,
    /// The agents it is for; empty means all.
    pub(super) applicable_to: Vec<String>,
    /// The agents it is not for.
    pub(super) exclude_from: Vec<String>,
    /// The abilities without which it is not shown.
    pub(super) requires: Vec<String>,
    /// The abilities it is not shown with.
    pub(super) conflicts: Vec<String>,
}

/// Any agent, in the lists of those an ability is for.
const ANY: [&str; 2] = ["*", "all"];

#[derive(Deserialize, Default)]
#[serde(default)]
struct Prompts {
    system: Option<String>,
    guidelines: Vec<String>,
}

impl Ability {
    /// The ability in this document, whose file has this text. Fields that are not read have no
    /// effect.
    pub(super) fn of(file: &Path, document: Document, written: &str) -> Result<Self, AgentError> {
        let Document { fields, body } = document;
        let wrong = |message: String| AgentError::Invalid { file: file.to_owned(), line: None, message };
        let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let id: String = get(&fields, "abilityId").map_err(wrong)?.unwrap_or_else(stem);
        if !is_agent_id(&id) {
            return Err(wrong(format!("{} is not an ability's id", in_short(format_args!("{id:?}")))));
        }
        let list = |name: &str| get(&fields, name).map_err(wrong).map(|it| it.unwrap_or_default());
        let text = text(&fields, body).map_err(wrong)?;
        if text.trim().is_empty() {
            return Err(wrong("has no text".to_owned()));
        }
        let name: Option<String> = get(&fields, "displayName").map_err(wrong)?;
        Ok(Ability {
            text: agent_text::ability(name.as_deref().unwrap_or(&id), &text),
            digest: Uuid::new_v5(&Uuid::NAMESPACE_OID, written.as_bytes()).simple().to_string(),
            priority: get::<f64>(&fields, "priority").map_err(wrong)?.unwrap_or_default() as i64,
            applicable_to: list("applicableTo")?,
            exclude_from: list("excludeFrom")?,
            requires: list("requires")?,
            conflicts: list("conflicts")?,
            id,
        })
    }

    /// Why this ability is not for this agent; `None` if it is.
    pub(super) fn unfit_for(&self, agent: &str) -> Option<String> {
        let names = |list: &[String]| list.iter().any(|it| it == agent || ANY.contains(&it.as_str()));
        if names(&self.exclude_from) {
            return Some("it is not for this agent".to_owned());
        }
        let is_for_all = self.applicable_to.is_empty() || names(&self.applicable_to);
        (!is_for_all).then(|| format!("it is for {}", self.applicable_to.join(", ")))
    }
}

/// The text after the front matter, or the prompts of a JSON file.
fn text(fields: &Map<String, Value>, body: Option<String>) -> Result<String, String> {
    if let Some(body) = body.filter(|it| !it.is_empty()) {
        return Ok(body);
    }
    if let Some(content) = get::<String>(fields, "content")? {
        return Ok(content);
    }
    let Prompts { system, guidelines } = get(fields, "prompts")?.unwrap_or_default();
    let guidelines: Vec<String> = guidelines.iter().map(|it| format!("- {it}")).collect();
    let parts = system.into_iter().chain(Some(guidelines.join("\n")).filter(|it| !it.is_empty()));
    Ok(parts.collect::<Vec<_>>().join("\n\n"))
}

fn get<T: DeserializeOwned>(fields: &Map<String, Value>, name: &str) -> Result<Option<T>, String> {
    let Some(value) = fields.get(name).filter(|it| !it.is_null()) else { return Ok(None) };
    serde_json::from_value(value.clone()).map(Some).map_err(|error| format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::document;

    fn ability(name: &str, text: &str) -> Result<Ability, String> {
        let file = Path::new(name);
        let read = document::read(file, text).and_then(|it| Ability::of(file, it, text));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn b08_an_ability_is_markdown_or_json() {
        let text = "---\nabilityId: diffs\ndisplayName: Reading diffs\ncategory: code\ntags: [x]\n\
                    priority: 80\n---\n# Diffs\n\nRead the tests first.";
        let read = ability("diffs.md", text).unwrap();
        assert_eq!(read.text, "# Ability: Reading diffs\n\n## Diffs\n\nRead the tests first.");
        assert_eq!((read.id.as_str(), read.priority, read.digest.len()), ("diffs", 80, 32));
        let json = r#"{ "abilityId": "diffs", "prompts": { "system": "Read.", "guidelines": ["Twice.", "Slowly."] } }"#;
        assert_eq!(
            ability("diffs.json", json).unwrap().text,
            "# Ability: diffs\n\nRead.\n\n- Twice.\n- Slowly."
        );
        assert_ne!(ability("diffs.json", json).unwrap().digest, read.digest);
        assert_eq!(ability("x.json", "{}"), Err("x.json: has no text".to_owned()));
        assert!(ability("x.json", r#"{ "priority": "high", "content": "x" }"#).is_err());
    }

    #[test]
    fn b08_an_ability_may_be_for_some_agents_only() {
        let with = |fields: &str| ability("x.json", &format!("{{ \"content\": \"x\" {fields} }}")).unwrap();
        let unfit = |fields: &str| with(fields).unfit_for("ann");
        assert_eq!(unfit(""), None);
        assert_eq!(unfit(r#", "applicableTo": ["ann"]"#), None);
        assert_eq!(unfit(r#", "applicableTo": ["*"]"#), None);
        assert_eq!(unfit(r#", "applicableTo": ["bob", "cyd"]"#), Some("it is for bob, cyd".to_owned()));
        assert_eq!(unfit(r#", "excludeFrom": ["ann"]"#), Some("it is not for this agent".to_owned()));
    }
}
