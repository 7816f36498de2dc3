//! The form of a synthesis, and its reader: prose first, then a mark, then its structure as JSON. A
//! structure that is missing or unreadable never spoils the prose.

use std::sync::Arc;

use quorum_core::{
    call::Effort,
    floor::reading::{Misread, Reader, Reminder},
    model::{
        language::Language,
        outcome::{Claim, Dissent, Structure},
        spec::Spec,
    },
    vocabulary::{form::Form, prose::Prose},
};
use serde_json::Value;

use crate::readers::{
    Synthesis,
    json::{Object, flag, last_object_with, may_hold, objects, text, texts, value},
    json_value, synthesis_mark,
};

/// The kind of a synthesis in the record.
pub(crate) const SYNTHESIS: &str = "synthesis";

/// The considered answer, with agreements and dissent.
pub(crate) static FORM: Form = Form::new(SYNTHESIS)
    .effort(Effort::High)
    .tell(|value| Some(told(value).to_owned()))
    .reason_at("/synthesis")
    .sample(crate::samples::synthesis::sample)
    .prose(PROSE)
    .recognises(|text| KEYS.iter().any(|key| may_hold(text, key)));

/// The same for an answer that must be a JSON value: it is shown once it was checked.
pub(crate) static VALUE_FORM: Form = Form::new(SYNTHESIS)
    .effort(Effort::High)
    .tell(|value| Some(told(value).to_owned()))
    .reason_at("/synthesis")
    .sample(crate::samples::synthesis::value_sample)
    .recognises(|text| KEYS.iter().any(|key| may_hold(text, key)));

const PROSE: Prose = Prose { key: SYNTHESIS, structure: STRUCTURE };

/// The keys of the structure.
const STRUCTURE: &[&str] = &["claims", "agreements", "dissent"];

/// Every key by which an object may be taken for a synthesis.
const KEYS: [&str; 4] = [SYNTHESIS, "claims", "agreements", "dissent"];

fn told(value: &Value) -> &'static str {
    let cut = value["cut"].as_bool().unwrap_or_default();
    if cut { "began the synthesis, which was cut off" } else { "wrote the synthesis" }
}

/// Reads syntheses of this panel's talk by one writer.
pub(crate) struct Syntheses {
    seated: Arc<[String]>,
    mark: Arc<str>,
    /// The schema of the answer, if it must be a JSON value.
    schema: Option<Value>,
    /// How lengths are told.
    language: Language,
}

impl Syntheses {
    pub(crate) fn of(spec: &Spec, writer: &str) -> Self {
        let seated = spec.participants.iter().map(|it| it.name.clone()).collect();
        let schema = spec.answer_schema().cloned();
        let (mark, language) = (synthesis_mark::mark(spec, writer).into(), Language::of(&spec.topic));
        Syntheses { seated, mark, schema, language }
    }

    /// Reads a reply whose text before the mark must be a JSON value.
    fn read_value(&self, schema: &Value, reply: &str) -> Result<Synthesis, Misread> {
        let (text, rest) = match reply.find(&*self.mark) {
            Some(at) => (&reply[..at], Some(&reply[at..])),
            None => (reply, None),
        };
        let synthesis = json_value::fitting(schema, text)?;
        let missing = if rest.is_some() { Structure::Unreadable } else { Structure::Absent };
        let found = rest.and_then(|rest| self.structure(rest));
        let read = found.unwrap_or(Synthesis { structure: missing, ..Synthesis::default() });
        Ok(Synthesis { synthesis, ..read })
    }

    /// The structure in this part of a reply: the last object with any of its keys.
    fn structure(&self, rest: &str) -> Option<Synthesis> {
        let object = KEYS.iter().find_map(|key| last_object_with(rest, key))?;
        Some(Synthesis {
            agreements: texts(&object, "agreements"),
            dissent: objects(&object, "dissent").filter_map(|it| self.dissent(it)).collect(),
            claims: objects(&object, "claims").filter_map(|it| self.claim(it)).collect(),
            ..Synthesis::default()
        })
    }

    /// The participant's name as it is on the panel, even if a round or something in brackets
    /// follows it; `None` if it is no participant.
    fn seat(&self, written: &str) -> Option<String> {
        let named = |name: &str| {
            let name = name.trim_matches([' ', '@', '*', '`']).to_lowercase();
            self.seated.iter().find(|it| it.to_lowercase() == name).cloned()
        };
        let whole = written.trim_matches([' ', '[', ']']);
        let before = |sign| named(whole.split_once(sign)?.0);
        named(whole).or_else(|| before(':')).or_else(|| before('('))
    }

    fn seats(&self, object: &Object, key: &str) -> Vec<String> {
        let written = texts(object, key);
        written.iter().flat_map(|it| it.split([',', ';'])).filter_map(|it| self.seat(it)).collect()
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
        if self.schema.is_some() { &VALUE_FORM } else { &FORM }
    }

    /// Never in the vendor's schema mode: the prose comes first.
    fn schema(&self) -> Option<Value> {
        None
    }

    fn mark(&self) -> Option<Arc<str>> {
        Some(self.mark.clone())
    }

    fn cited(&self) -> Arc<[String]> {
        if self.schema.is_some() { Arc::default() } else { self.seated.clone() }
    }

    fn read(&self, reply: &str) -> Result<Synthesis, Misread> {
        if let Some(schema) = &self.schema {
            return self.read_value(schema, reply);
        }
        let parts = PROSE.separate(&self.mark, &self.seated, reply);
        if parts.prose.is_empty() {
            return Err(Misread::new("there is no text before the mark"));
        }
        let missing = if parts.rest.is_some() { Structure::Unreadable } else { Structure::Absent };
        let found = parts.rest.and_then(|rest| self.structure(rest));
        let read = found.unwrap_or(Synthesis { structure: missing, ..Synthesis::default() });
        Ok(Synthesis { synthesis: parts.prose, markers: parts.markers, ..read })
    }

    /// A person writes plain text, and is not asked for anything else.
    fn read_from_person(&self, reply: &str) -> Result<Synthesis, Misread> {
        self.read(reply).map(|read| Synthesis { structure: Structure::Given, ..read })
    }

    fn keep(&self, beginning: &str) -> Option<Synthesis> {
        if self.schema.is_some() {
            return None;
        }
        let parts = PROSE.separate(&self.mark, &self.seated, beginning);
        let is_kept = parts.is_open && !parts.prose.is_empty();
        is_kept.then(|| Synthesis {
            synthesis: parts.prose,
            markers: parts.markers,
            structure: Structure::Absent,
            cut: true,
            ..Synthesis::default()
        })
    }

    fn finishing(&self) -> &'static str {
        match self.language.has_spaces {
            true => {
                "Your answer was cut off. Repeat the sentence that was cut off, finish in at most 120 words from \
                 there, and then write the line with the mark and the JSON object as asked."
            }
            false => {
                "Your answer was cut off. Repeat the sentence that was cut off, finish in at most 240 characters \
                 from there, and then write the line with the mark and the JSON object as asked."
            }
        }
    }

    fn reminders(&self) -> &[Reminder] {
        if self.schema.is_some() {
            return json_value::REMINDERS;
        }
        const REMINDERS: &[Reminder] = &[Reminder {
            purpose: "remind1",
            words: "Send it again: the text first, then the line with the mark, then one JSON object with the keys claims, \
                    agreements and dissent, in this order.",
        }];
        REMINDERS
    }
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    const MARK: &str = "[STRUCTURE_ABCDEF]";

    fn reader() -> Syntheses {
        Syntheses { mark: MARK.into(), ..Syntheses::of(&spec("synthesis"), "ann") }
    }

    fn text(synthesis: &str, structure: Structure) -> Synthesis {
        Synthesis { synthesis: synthesis.to_owned(), structure, ..Synthesis::default() }
    }

    #[test]
    fn a_synthesis_is_read_by_its_form() {
        let structure = r#"{"agreements": ["width", 3, ""],
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
            ..Synthesis::default()
        };
        let in_json = structure.replacen('{', r#"{"synthesis": " Tabs. ", "#, 1);
        for reply in [
            format!("Tabs.\n\n{MARK}\n{structure}"),
            format!("Tabs.\n{MARK}\n```json\n{structure}\n```"),
            format!("Tabs.\n\n```json\n{structure}\n```"),
            format!("Well: {in_json}"),
            in_json,
        ] {
            assert_eq!(reader().read(&reply).as_ref(), Ok(&expected), "{reply}");
            assert_eq!(reader().keep(&reply), None, "{reply}");
        }
    }

    #[test]
    fn names_in_the_structure_that_are_cited_with_a_round_are_read() {
        let check = |names: &str, expected: &[&str]| {
            let structure =
                format!(r#"{{"claims": [{{"text": "tabs adapt", "supportedBy": {names}}}], "dissent": []}}"#);
            let read = reader().read(&format!("Tabs.\n{MARK}\n{structure}")).unwrap();
            assert_eq!(read.claims[0].supported_by, expected, "{names}");
        };
        check(r#"["ann", "Bob"]"#, &["ann", "bob"]);
        check(r#"["@ann:2", "[bob:1]"]"#, &["ann", "bob"]);
        check(r#"["ann (round 2)", "bob: at first"]"#, &["ann", "bob"]);
        check(r#""@ann, @bob""#, &["ann", "bob"]);
        check(r#"["[ann:1, bob:2]"]"#, &["ann", "bob"]);
        check(r#"["all", "eve:1", "not ann", "annabel"]"#, &[]);
    }

    #[test]
    fn a_missing_structure_is_told() {
        let check =
            |reply: &str, expected: Synthesis| assert_eq!(reader().read(reply), Ok(expected), "{reply}");
        check("Tabs, on the whole.", text("Tabs, on the whole.", Structure::Absent));
        check(r#"{"agreement": 1}"#, text(r#"{"agreement": 1}"#, Structure::Absent));
        check(&format!("Tabs.\n{MARK}\nnone"), text("Tabs.", Structure::Unreadable));
        check(&format!("Tabs.\n{MARK}\n{{\"claims\": [{{"), text("Tabs.", Structure::Unreadable));
        check(r#"{"synthesis": "Tabs."}"#, text("Tabs.", Structure::Given));
    }

    #[test]
    fn a_person_is_not_asked_for_a_structure() {
        assert_eq!(reader().read_from_person("Tabs."), Ok(text("Tabs.", Structure::Given)));
    }

    #[test]
    fn a_reply_without_text_is_not_a_synthesis() {
        let structure = r#"{"claims": [], "dissent": []}"#;
        for reply in ["", r#"{"synthesis": ""}"#, structure, &format!("{MARK}\n{structure}")] {
            let wrong = Misread::new("there is no text before the mark");
            assert_eq!(reader().read(reply), Err(wrong), "{reply}");
            assert_eq!((reader().infer(reply), reader().keep(reply)), (None, None), "{reply}");
        }
    }

    #[test]
    fn the_beginning_of_a_cut_reply_is_kept() {
        let begun = Synthesis { cut: true, ..text("Tabs are", Structure::Absent) };
        for reply in ["Tabs are", r#"{"synthesis": "Tabs are"#] {
            assert_eq!(reader().keep(reply).as_ref(), Some(&begun), "{reply}");
        }
    }
}
