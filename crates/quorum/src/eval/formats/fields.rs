//! The fields of a record, whatever the case of their names, with messages that name them.

use serde_json::{Map, Value};

use super::{Mistake, records::Record};

/// The fields of a record.
pub(super) struct Fields<'r> {
    pub(super) line: usize,
    fields: &'r Map<String, Value>,
}

impl<'r> Fields<'r> {
    pub(super) fn of(record: &'r Record) -> Self {
        Fields { line: record.line, fields: &record.fields }
    }

    /// The fields of an object inside the record.
    pub(super) fn inside(&self, name: &str) -> Option<Fields<'r>> {
        let fields = self.get(name)?.as_object()?;
        Some(Fields { line: self.line, fields })
    }

    /// All names, as they are written.
    pub(super) fn names(&self) -> impl Iterator<Item = &'r str> {
        self.fields.keys().map(String::as_str)
    }

    /// The value of a field that is there and not null. Case, spaces and underscores don't count.
    pub(super) fn get(&self, name: &str) -> Option<&'r Value> {
        let exact = self.fields.get(name);
        let value = exact.or_else(|| self.fields.iter().find(|it| plain(it.0) == plain(name)).map(|it| it.1));
        value.filter(|it| !it.is_null())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The first of these fields that is a text or a number, as text.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|it| text(self.get(it)?))
    }

    /// The same; a mistake if there is none.
    pub(super) fn required(&self, names: &[&str]) -> Result<String, Mistake> {
        let missing = || self.mistake(names[0], "is missing");
        let found = self.text(names).ok_or_else(missing)?;
        if found.trim().is_empty() { Err(self.mistake(names[0], "is empty")) } else { Ok(found) }
    }

    /// A list of texts, if there is one; a mistake if it holds anything else.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<String>>, Mistake> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(values)) => {
                let texts: Option<Vec<String>> = values.iter().map(text).collect();
                let wrong = || self.mistake(name, "must be a list of texts");
                texts.map(Some).ok_or_else(wrong)
            }
            Some(_) => Err(self.mistake(name, "must be a list of texts")),
        }
    }

    pub(super) fn mistake(&self, field: &str, message: impl Into<String>) -> Mistake {
        Mistake::new(self.line, field, message)
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|it| !" _-".contains(*it)).flat_map(char::to_lowercase).collect()
}

/// A text, a number or a boolean as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(it) => Some(it.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
