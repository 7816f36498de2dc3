//! Lenient reading of a text: a string, null, or a list of parts. Borrowed from the frame where
//! possible.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

/// A text; null means an empty one.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Text<'t>(pub(super) Cow<'t, str>);

impl Text<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A part of a text. Parts of other kinds, such as thoughts, are left out.
#[derive(Deserialize)]
struct Part<'t> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'t>,
    #[serde(borrow, default)]
    text: Text<'t>,
}

impl<'de: 't, 't> Deserialize<'de> for Text<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut whole = String::new();
        while let Some(part) = parts.next_element::<Part<'de>>()? {
            if part.kind.0 == "text" {
                whole.push_str(&part.text.0);
            }
        }
        Ok(Text(Cow::Owned(whole)))
    }

    /// Some servers send a tool's arguments as an object instead of a string.
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let object = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Text(Cow::Owned(object.to_string())))
    }
}

/// The name of the model that answers; empty if the server sends something else in its place. It
/// must never spoil an answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ModelName<'t>(Cow<'t, str>);

impl ModelName<'_> {
    /// Fills in the name, if it isn't known yet.
    pub(super) fn fill_in(&self, known: &mut Option<String>) {
        if known.is_none() && !self.0.is_empty() {
            *known = Some(self.0.to_string());
        }
    }
}

impl<'de: 't, 't> Deserialize<'de> for ModelName<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = ModelName<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a model's name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(ModelName(Cow::Borrowed(name)))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(ModelName(Cow::Owned(name.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(ModelName::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(ModelName::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(ModelName::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(ModelName::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(ModelName::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        while parts.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ModelName::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ModelName::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_texts_come_in_many_forms() {
        let check = |json: &str, expected: Option<&str>| {
            let read = serde_json::from_str::<Text<'_>>(json).ok();
            assert_eq!(read.as_ref().map(|it| &*it.0), expected, "{json}");
        };
        check(r#""plain""#, Some("plain"));
        check(r#""with \"escapes\" ü""#, Some("with \"escapes\" ü"));
        check("null", Some(""));
        check(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, Some("ab"));
        check(r#"[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]"#, Some(""));
        check(r#"{"topic":"x"}"#, Some(r#"{"topic":"x"}"#));
        check("7", None);
        check("[7]", None);
    }

    #[test]
    fn f4_a_strange_model_name_does_not_spoil_an_answer() {
        let check = |json: &str, expected: Option<&str>| {
            let mut known = None;
            serde_json::from_str::<ModelName<'_>>(json).unwrap().fill_in(&mut known);
            assert_eq!(known.as_deref(), expected, "{json}");
        };
        check("\"alpha-1\"", Some("alpha-1"));
        for odd in ["null", "7", "-7", "0.5", "true", "[\"a\"]", "{\"a\":{\"b\":1}}", "\"\""] {
            check(odd, None);
        }
    }

    #[test]
    fn a_plain_text_is_not_copied() {
        let read: Text<'_> = serde_json::from_str(r#""plain""#).unwrap();
        assert!(matches!(read.0, Cow::Borrowed("plain")));
    }
}
