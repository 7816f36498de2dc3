//! The fields of a request, taken one by one. What is left has no effect, and is listed as ignored.

use std::ops::RangeInclusive;

use quorum::model::excerpt::in_short;
use serde_json::{Map, Value};

use crate::v1::fault::Fault;

/// The most fields of the body, and of each object in it that we read.
pub(crate) const MOST_FIELDS: usize = 100;

/// How many ignored parameters are listed.
const MOST_LISTED: usize = 50;

/// The fields of an object that were not taken yet, and the path of that object.
pub(crate) struct Given {
    fields: Map<String, Value>,
    /// The path with its dot: `quorum.`; empty for the body.
    path: String,
    ignored: Vec<String>,
}

impl Given {
    pub(crate) fn body(fields: Map<String, Value>) -> Result<Self, Fault> {
        few_fields(&fields, "body")?;
        Ok(Given { fields, path: String::new(), ignored: Vec::new() })
    }

    /// The fields of an object in the body.
    pub(crate) fn within(name: &str, fields: Map<String, Value>) -> Self {
        Given { fields, path: format!("{name}."), ignored: Vec::new() }
    }

    /// The parameter's name as errors give it.
    pub(crate) fn param(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    /// Takes a field; null counts as left out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name).filter(|it| !it.is_null())
    }

    /// Takes a field of this kind, or refuses one of another kind.
    fn of_kind<T>(
        &mut self,
        name: &str,
        kind: &str,
        read: impl Fn(Value) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let read = read(value).ok_or_else(|| Fault::invalid(&self.param(name), format!("must be {kind}")))?;
        Ok(Some(read))
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Fault> {
        let read = |it| if let Value::String(text) = it { Some(text) } else { None };
        self.of_kind(name, "a text", read)
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, Fault> {
        self.of_kind(name, "true or false", |it| it.as_bool())
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Option<Vec<Value>>, Fault> {
        let read = |it| if let Value::Array(list) = it { Some(list) } else { None };
        self.of_kind(name, "a list", read)
    }

    /// Takes an object, whose fields are then taken one by one.
    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Given>, Fault> {
        let read = |it| if let Value::Object(fields) = it { Some(fields) } else { None };
        let path = format!("{}.", self.param(name));
        let Some(fields) = self.of_kind(name, "an object", read)? else { return Ok(None) };
        few_fields(&fields, &self.param(name))?;
        Ok(Some(Given { fields, path, ignored: Vec::new() }))
    }

    pub(crate) fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, Fault> {
        let kind = format!("a number from {} to {}", range.start(), range.end());
        self.of_kind(name, &kind, |it| it.as_f64().filter(|it| range.contains(it)))
    }

    pub(crate) fn whole(&mut self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, Fault> {
        let kind = format!("a whole number from {} to {}", range.start(), range.end());
        self.of_kind(name, &kind, |it| it.as_u64().filter(|it| range.contains(it)))
    }

    pub(crate) fn integer(&mut self, name: &str) -> Result<Option<i64>, Fault> {
        self.of_kind(name, "a whole number", |it| it.as_i64())
    }

    /// A text or a list of texts.
    pub(crate) fn texts(&mut self, name: &str, most: usize) -> Result<Vec<String>, Fault> {
        let read = |it: Value| match it {
            Value::String(text) => Some(vec![text]),
            Value::Array(list) => list.into_iter().map(|it| it.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        let kind = format!("a text or a list of at most {most} texts");
        let read = |it| read(it).filter(|it: &Vec<String>| it.len() <= most);
        Ok(self.of_kind(name, &kind, read)?.unwrap_or_default())
    }

    /// Takes an object of which only some fields have an effect: these are read, and the others
    /// are listed as ignored.
    pub(crate) fn parts<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Given) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        let Some(mut object) = self.object(name)? else { return Ok(None) };
        let read = read(&mut object)?;
        self.ignored.extend(object.ignored());
        Ok(Some(read))
    }

    /// Lists a parameter as ignored.
    pub(crate) fn ignore(&mut self, name: &str) {
        self.fields.remove(name);
        self.ignored.push(self.param(name));
    }

    /// The names of all parameters without effect.
    pub(crate) fn ignored(self) -> Vec<String> {
        let Given { fields, path, mut ignored } = self;
        let rest = fields.into_iter().filter(|(_, it)| !it.is_null());
        ignored.extend(rest.take(MOST_LISTED).map(|(name, _)| in_short(format_args!("{path}{name}"))));
        ignored.sort();
        ignored.truncate(MOST_LISTED);
        ignored
    }
}

/// Refuses an object with too many fields.
pub(crate) fn few_fields(fields: &Map<String, Value>, param: &str) -> Result<(), Fault> {
    if fields.len() <= MOST_FIELDS {
        return Ok(());
    }
    Err(Fault::invalid(param, format!("has {} fields; at most {MOST_FIELDS} are accepted", fields.len())))
}
