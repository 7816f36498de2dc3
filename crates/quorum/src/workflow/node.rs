//! A workflow file as a tree in which every value knows its place.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Spanned, budget, options, options::DuplicateKeyPolicy};

use crate::workflow::mistake::Mistake;

/// The largest workflow file, in bytes.
pub const LARGEST_FILE: usize = 256 * 1024;

/// A place in the file, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Tree,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// With duplicate keys, so that all of them are reported.
    Map(Vec<(Node, Node)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Tree>::deserialize(deserializer)?;
        let place = Place { line: spanned.referenced.line(), column: spanned.referenced.column() };
        Ok(Node { place, value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Tree, E> {
        Number::from_f64(value).map(Tree::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Tree::Map(map))
    }
}

/// The parser's complaint in one sentence; those about our bounds in our own words.
fn worded(message: &str) -> String {
    let first = message.lines().next().unwrap_or("the file can't be read");
    if first.contains("recursion limit") || first.contains("Depth") {
        return "values may be nested 32 levels deep, and here they are nested deeper".to_owned();
    }
    if first.contains("Nodes") || first.contains("Events") {
        let most = "a workflow may have 20,000 values, counted again wherever an alias repeats them";
        return format!("{most}, and this file has more");
    }
    if first.contains("budget breached") {
        return "a workflow may have 100 anchors, 100 aliases and one document, and this file has more"
            .to_owned();
    }
    // The place is reported beside the message.
    first.rsplit_once(" at line ").map_or(first, |it| it.0).to_owned()
}

impl Node {
    /// Reads a file, YAML or JSON, within bounds.
    pub(crate) fn parse(text: &[u8]) -> Result<Node, Mistake> {
        let whole = |message: String| Mistake::at(Place { line: 1, column: 1 }, message);
        if text.len() > LARGEST_FILE {
            let (size, most) = (text.len() / 1024, LARGEST_FILE / 1024);
            return Err(whole(format!("the file has {size} KiB, and a workflow may have {most} KiB")));
        }
        let text = std::str::from_utf8(text).map_err(|error| {
            let line = text[..error.valid_up_to()].iter().filter(|it| **it == b'\n').count() as u64 + 1;
            Mistake::at(Place { line, column: 1 }, "the file is not in UTF-8 from here on")
        })?;
        if let Some(at) = text.find('\0') {
            let line = text[..at].matches('\n').count() as u64 + 1;
            return Err(Mistake::at(Place { line, column: 1 }, "there is a NUL character here"));
        }
        let bounds = budget! {
            max_nodes: 20_000,
            max_events: 80_000,
            max_depth: 32,
            max_aliases: 100,
            max_anchors: 100,
            max_documents: 1,
        };
        let options = options! {
            budget: bounds,
            duplicate_keys: DuplicateKeyPolicy::LastWins,
            // `n` and `on` are texts, as in YAML 1.2.
            strict_booleans: true,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let place = error
                .location()
                .map_or(Place { line: 1, column: 1 }, |it| Place { line: it.line(), column: it.column() });
            let message = error.without_snippet().to_string();
            Mistake::at(place, worded(&message))
        })
    }

    /// The value without its places. Keys that are not texts are written as JSON.
    pub(crate) fn plain(&self) -> Value {
        match &self.value {
            Tree::Null => Value::Null,
            Tree::Bool(it) => Value::Bool(*it),
            Tree::Number(it) => Value::Number(it.clone()),
            Tree::Text(it) => Value::String(it.clone()),
            Tree::List(items) => Value::Array(items.iter().map(Node::plain).collect()),
            Tree::Map(entries) => {
                let key = |it: &Node| match &it.value {
                    Tree::Text(text) => text.clone(),
                    _ => it.plain().to_string(),
                };
                Value::Object(entries.iter().map(|(name, it)| (key(name), it.plain())).collect::<Map<_, _>>())
            }
        }
    }

    /// Whether this is `{{…}}` without quotes, which YAML reads as a map in a map.
    pub(crate) fn is_bare_expression(&self) -> bool {
        match &self.value {
            Tree::Map(entries) => entries.iter().any(|(key, _)| matches!(key.value, Tree::Map(_))),
            _ => false,
        }
    }
}
