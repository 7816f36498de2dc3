//! The form of a synthesis, and its reader. A reply without the form is kept as plain text.

use quorum_core::{
    floor::reading::{Misread, Reader, Reminder},
    model::{
        outcome::{Claim, Dissent},
        spec::Spec,
    },
    vocabulary::form::Form,
};
use serde_json::{Value, json};

use crate::readers::{
    Synthesis,
    json::{Object, flag, last_object_with, may_hold, objects, text, texts, value},
};

/// The kind of a synthesis in the record.
pub(crate) const SYNTHESIS: &str = "synthesis";

/// The considered answer, with agreements and dissent.
pub(crate) static FORM: Form = Form::new(SYNTHESIS)
    .tell(|_| Some("wrote the synthesis".to_owned()))
    .reason_at("/synthesis")
    .sample(crate::samples::synthesis::sample)
    .recognises(|text| may_hold(text, "synthesis"));

/// Reads syntheses of this panel's talk.
pub(crate) struct Syntheses {
    seated: Vec<String>,
}

impl Syntheses {
    pub(crate) fn of(spec: &Spec) -> Self {
        Syntheses { seated: spec.participants.iter().map(|it| it.name.clone()).collect() }
    }

    /// The participant's name as in the panel; `None` for anyone else.
    fn seat(&self, name: &str) -> Option<String> {
        let name = name.trim().to_lowercase();
        self.seated.iter().find(|it| it.to_lowercase() == name).cloned()
    }

    fn seats(&self, object: &Object, key: &str) -> Vec<String> {
        texts(object, key).iter().filter_map(|name| self.seat(name)).collect()
    }

    fn dissent(&self, object: &Object) -> Option<Dissent> {
        let participant = self.seat(&text(object, "participant")?)?;
        Some(Dissent { participant, position: text(object, "position")? })
    }

    fn claim(&self, object: &Object) -> Option<Claim> {
        Some(Claim {
            text: text(object, "text")?,
            supported_by: self.seats(object, "supported_by"),
            attacked_by: self.seats(object, "attacked_by"),
            unanswered: value(object, "unanswered").and_then(flag).unwrap_or_default(),
        })
    }
}

impl Reader for Syntheses {
    type Value = Synthesis;

    fn form(&self) -> &'static Form {
        &FORM
    }

    fn schema(&self) -> Option<Value> {
        Some(schema(&self.seated))
    }

    fn read(&self, reply: &str) -> Result<Synthesis, Misread> {
        let wrong = || Misread::new("there is no JSON object with a synthesis in it");
        let object = last_object_with(reply, "synthesis").ok_or_else(wrong)?;
        Ok(Synthesis {
            synthesis: text(&object, "synthesis").ok_or_else(wrong)?,
            agreements: texts(&object, "agreements"),
            dissent: objects(&object, "dissent").filter_map(|it| self.dissent(it)).collect(),
            claims: objects(&object, "claims").filter_map(|it| self.claim(it)).collect(),
        })
    }

    /// A person writes plain text, which counts as stated rather than inferred.
    fn read_from_person(&self, reply: &str) -> Result<Synthesis, Misread> {
        self.read(reply).or_else(|wrong| self.infer(reply).ok_or(wrong))
    }

    /// The reply was paid for and has the needed text; asking again for the form wouldn't improve
    /// it.
    fn infer(&self, reply: &str) -> Option<Synthesis> {
        let synthesis = reply.trim().to_owned();
        (!synthesis.is_empty()).then(|| Synthesis { synthesis, ..Synthesis::default() })
    }

    fn reminders(&self) -> &[Reminder] {
        &[]
    }
}

/// Built in one piece, because nesting a value in another would copy it.
fn schema(seated: &[String]) -> Value {
    json!({
        "type": "object",
        "properties": {
            "synthesis": { "type": "string", "description": "The considered answer, complete in itself" },
            "agreements": { "type": "array", "items": { "type": "string" } },
            "dissent": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "participant": { "type": "string", "enum": seated },
                        "position": { "type": "string" },
                    },
                    "required": ["participant", "position"],
                    "additionalProperties": false,
                },
                "description": "Who holds something else",
            },
            "claims": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": { "type": "string" },
                        "supported_by": { "type": "array", "items": { "type": "string", "enum": seated } },
                        "attacked_by": { "type": "array", "items": { "type": "string", "enum": seated } },
                        "unanswered": { "type": "boolean", "description": "Whether nobody took it up" },
                    },
                    "required": ["text", "supported_by", "attacked_by", "unanswered"],
                    "additionalProperties": false,
                },
                "description": "The arguments on the table",
            },
        },
        "required": ["synthesis", "agreements", "dissent", "claims"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    fn reader() -> Syntheses {
        Syntheses::of(&spec("synthesis"))
    }

    #[test]
    fn a_synthesis_is_read_by_its_form() {
        let reply = r#"Well: {"synthesis": " Tabs. ", "agreements": ["width", 3, ""],
            "dissent": [{"participant": "BOB", "position": "spaces"}, {"participant": "eve", "position": "none"}, 7],
            "claims": [{"text": "tabs adapt", "supported_by": ["ann", "eve"], "attacked_by": ["bob"], "unanswered": true},
                       {"supported_by": ["ann"]}]}"#;
        let claim = Claim {
            text: "tabs adapt".into(),
            supported_by: vec!["ann".into()],
            attacked_by: vec!["bob".into()],
            unanswered: true,
        };
        let expected = Synthesis {
            synthesis: "Tabs.".into(),
            agreements: vec!["width".into()],
            dissent: vec![Dissent { participant: "bob".into(), position: "spaces".into() }],
            claims: vec![claim],
        };
        assert_eq!(reader().read(reply), Ok(expected));
    }

    #[test]
    fn a_synthesis_without_form_is_kept_as_text() {
        for reply in ["Tabs, on the whole.", r#"{"agreement": 1}"#, r#"{"synthesis": ""}"#] {
            let wrong = Misread::new("there is no JSON object with a synthesis in it");
            assert_eq!(reader().read(reply), Err(wrong), "{reply}");
            let kept = reader().infer(reply).unwrap();
            assert_eq!(kept, Synthesis { synthesis: reply.to_owned(), ..Synthesis::default() });
        }
        assert!(reader().reminders().is_empty());
    }

    #[test]
    fn missing_fields_are_absent() {
        let read = reader().read(r#"{"synthesis": "Tabs."}"#);
        assert_eq!(read, Ok(Synthesis { synthesis: "Tabs.".into(), ..Synthesis::default() }));
    }
}
