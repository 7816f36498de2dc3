//! The check of a critique's last draft: which objections are still open, and whether it is ready.

use quorum_core::{
    call::Effort,
    floor::reading::{Misread, Reader, Reminder},
    vocabulary::{
        form::Form,
        view::{Cell, Column, View},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    prompts::counted,
    readers::{
        json::{Object, flag, last_object_with, may_hold, text, value},
        lines,
    },
};

/// The kind of a check in the record.
pub(crate) const CHECK: &str = "check";

/// The check of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftCheck {
    /// The objections that are still open.
    pub open: Vec<Objection>,
    /// Whether the draft is ready.
    pub ready: bool,
    /// The open objections as a text, for participants that are told of the check.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
}

/// An objection to a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    /// The objection.
    pub objection: String,
    /// What fails because of it; may be empty.
    #[serde(default)]
    pub breaks: String,
}

/// Whether a draft is ready.
pub(crate) static FORM: Form = Form::new(CHECK)
    .effort(Effort::Low)
    .tell(|value| {
        let DraftCheck { open, ready, .. } = serde_json::from_value(value.clone()).ok()?;
        let verdict = if ready { "ready" } else { "not ready" };
        let open = if open.is_empty() { "no objection".to_owned() } else { counted(open.len(), "objection") };
        Some(format!("checked the last draft: {verdict}, {open} open"))
    })
    .reason_at("/account")
    .view(View::Table {
        columns: &[Column::of("ready", "/ready", Cell::YesNo), Column::text("still open", "/account")],
    })
    .sample(crate::samples::draft_check::sample)
    .recognises(|text| may_hold(text, "ready") || may_hold(text, "open") || lines::may_hold(text, "ready"));

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "remind1",
    words: "Send it again as one JSON object and nothing else, keys in this order: \
            {\"open\": [{\"objection\": …, \"breaks\": …}], \"ready\": true or false}.",
}];

/// Reads checks.
pub(crate) struct Checks;

impl Reader for Checks {
    type Value = DraftCheck;

    fn form(&self) -> &'static Form {
        &FORM
    }

    fn schema(&self) -> Option<Value> {
        Some(schema())
    }

    fn read(&self, reply: &str) -> Result<DraftCheck, Misread> {
        read(reply)
    }

    fn wrong_in_lines(&self, reply: &str, wrong: Misread) -> Misread {
        let undecided = || lines::undecided(reply, &["Ready"]);
        lines::missing(reply, &["Ready"]).or_else(undecided).unwrap_or(wrong)
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }
}

fn schema() -> Value {
    let words = |what: &str| json!({ "type": "string", "description": what });
    json!({
        "type": "object",
        "properties": {
            "open": {
                "type": "array",
                "description": "The objections of weight that are still open",
                "items": {
                    "type": "object",
                    "properties": {
                        "objection": words("The objection"),
                        "breaks": words("What fails because of it"),
                    },
                    "required": ["objection", "breaks"],
                    "additionalProperties": false,
                },
            },
            "ready": { "type": "boolean", "description": "Whether the draft is ready for use" },
        },
        "required": ["open", "ready"],
        "additionalProperties": false,
    })
}

fn read(reply: &str) -> Result<DraftCheck, Misread> {
    let object = last_object_with(reply, "ready").or_else(|| last_object_with(reply, "open"));
    let object = object.or_else(|| of_lines(reply));
    let object = object.ok_or(Misread::new("there is no JSON object with open and ready in it"))?;
    let open = objections(&object)?;
    let ready = match value(&object, "ready") {
        Some(ready) => flag(ready).ok_or(Misread::new("ready is neither true nor false"))?,
        None => open.is_empty(),
    };
    let line = |it: &Objection| match it.breaks.as_str() {
        "" => format!("- {}", it.objection),
        breaks => format!("- {}: {breaks}", it.objection),
    };
    let account = open.iter().map(line).collect::<Vec<_>>().join("\n");
    Ok(DraftCheck { open, ready, account })
}

/// A check as lines: `Open: …` for each objection, and `Ready: yes`.
fn of_lines(reply: &str) -> Option<Object> {
    let lines = lines::lines(reply);
    let ready = lines::only(&lines, "ready")?.split([' ', ',', '.']).next()?;
    let open = lines::values(&lines, "open").into_iter().filter(|it| !lines::is_nothing(it));
    json!({ "open": open.collect::<Vec<_>>(), "ready": ready }).as_object().cloned()
}

/// The open objections: objects, or plain texts.
fn objections(object: &Object) -> Result<Vec<Objection>, Misread> {
    let list = match value(object, "open") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.clone(),
        Some(single @ (Value::String(_) | Value::Object(_))) => vec![single.clone()],
        Some(_) => return Err(Misread::new("open is no list")),
    };
    let objection = |it: &Value| match it {
        Value::String(objection) => {
            Some(Objection { objection: objection.trim().to_owned(), breaks: String::new() })
        }
        Value::Object(it) => {
            let (objection, breaks) = (text(it, "objection")?, text(it, "breaks").unwrap_or_default());
            Some(Objection { objection, breaks })
        }
        _ => None,
    };
    let read: Option<Vec<Objection>> = list.iter().map(objection).collect();
    let read = read.ok_or(Misread::new("an open objection has no text under the key objection"))?;
    Ok(read.into_iter().filter(|it| !it.objection.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use quorum_core::floor::reading::recorded;

    use super::*;

    #[track_caller]
    fn check(reply: &str, ready: bool, open: &[(&str, &str)]) {
        let check = Checks.read(reply).unwrap();
        let found: Vec<(&str, &str)> =
            check.open.iter().map(|it| (it.objection.as_str(), it.breaks.as_str())).collect();
        assert_eq!((check.ready, found), (ready, open.to_vec()), "{reply}");
    }

    #[track_caller]
    fn refuses(reply: &str, wrong: &'static str) {
        assert_eq!(Checks.read(reply), Err(Misread::new(wrong)), "{reply}");
    }

    #[test]
    fn a_check_is_read_in_any_order_and_with_some_leniency() {
        check(r#"{"open": [], "ready": true}"#, true, &[]);
        let open = r#"{"ready": false, "open": [{"breaks": "the budget", "objection": "no price"}]}"#;
        check(open, false, &[("no price", "the budget")]);
        check(r#"Well: {"Open": ["no price"], "ready": "no"}"#, false, &[("no price", "")]);
        check(r#"{"open": "no price", "ready": false}"#, false, &[("no price", "")]);
        check(r#"{"open": [{"objection": "no price"}]}"#, false, &[("no price", "")]);
        check(r#"{"ready": true}"#, true, &[]);
        check(r#"{"open": [], "ready": false} no, {"open": [], "ready": true}"#, true, &[]);
    }

    #[test]
    fn a_critic_is_told_what_was_wrong_with_its_check() {
        refuses("It is ready.", "there is no JSON object with open and ready in it");
        refuses("> {\"open\": [], \"ready\": true}", "there is no JSON object with open and ready in it");
        refuses(r#"{"open": [], "ready": 1}"#, "ready is neither true nor false");
        refuses(r#"{"open": 2, "ready": true}"#, "open is no list");
        let in_lines = |reply: &str| Checks.wrong_in_lines(reply, Misread::new("something else")).0;
        assert_eq!(in_lines("It is ready."), "there is no line `Ready: …`");
        assert_eq!(in_lines("Ready: maybe"), "the line `Ready: …` says neither yes nor no");
        assert_eq!(in_lines("Ready: no"), "something else");
        refuses(
            r#"{"open": [{"what": "no"}], "ready": true}"#,
            "an open objection has no text under the key objection",
        );
    }

    #[test]
    fn the_schema_asks_for_the_objections_before_the_verdict() {
        let schema = Checks.schema().unwrap();
        assert_eq!(schema["required"], json!(["open", "ready"]));
        assert_eq!(schema["properties"]["open"]["items"]["required"], json!(["objection", "breaks"]));
    }

    #[test]
    fn a_check_is_told_in_one_line() {
        let told = |reply: &str| recorded(&Checks, &Checks.read(reply).unwrap());
        let ready = told(r#"{"open": [], "ready": true}"#);
        assert_eq!(ready.told.as_deref(), Some("checked the last draft: ready, no objection open"));
        let open =
            told(r#"{"open": [{"objection": "no price", "breaks": "it"}, "no date"], "ready": false}"#);
        assert_eq!(open.told.as_deref(), Some("checked the last draft: not ready, 2 objections open"));
        assert_eq!(open.reason(), "- no price: it\n- no date");
    }
}
