//! Minimal replies to a form, for dry runs and for tests without a script.

use serde_json::{Map, Value, json};

use super::form::{Form, Stub};

impl Form {
    /// A readable reply that keeps the talk going as long as possible, with `word` for every
    /// string.
    #[must_use]
    pub fn stubbed(&self, schema: Option<&Value>, word: &str) -> String {
        self.stubbed_at(schema, word, 0)
    }

    /// The same, with this one of several choices, so that replies can differ.
    #[must_use]
    pub fn stubbed_at(&self, schema: Option<&Value>, word: &str, place: usize) -> String {
        let filled = |named| schema.map(|it| Filling { word, named }.instance(it, ("", place)).to_string());
        let filled = match self.stub {
            Stub::Text(text) => Some(text.replace("{word}", word)),
            Stub::Filled => filled(&[][..]),
            Stub::FilledWith(named) => filled(named),
        };
        filled.unwrap_or_else(|| word.to_owned())
    }
}

/// Fills in a schema.
struct Filling<'f> {
    /// The word used for strings.
    word: &'f str,
    /// The properties to set to true.
    named: &'f [&'f str],
}

impl Filling<'_> {
    /// A value that the schema allows; `place` makes the items of a list differ.
    fn instance(&self, schema: &Value, (name, place): (&str, usize)) -> Value {
        if let Some(values) = schema["enum"].as_array() {
            return values.get(place).or(values.first()).cloned().unwrap_or_default();
        }
        match kind(schema) {
            "object" => Value::Object(self.object(schema, place)),
            "array" => {
                (0..items(schema)).map(|place| self.instance(&schema["items"], (name, place))).collect()
            }
            "boolean" => json!(self.named.contains(&name)),
            "number" | "integer" => schema.get("minimum").cloned().unwrap_or(json!(0)),
            _ => json!(format!("{} {place}", self.word)),
        }
    }

    fn object(&self, schema: &Value, place: usize) -> Map<String, Value> {
        let fields = schema["properties"].as_object().into_iter().flatten();
        fields.map(|(name, field)| (name.clone(), self.instance(field, (name, place)))).collect()
    }
}

fn kind(schema: &Value) -> &str {
    let several = schema["type"].as_array().and_then(|kinds| kinds.first());
    several.unwrap_or(&schema["type"]).as_str().unwrap_or_default()
}

/// How many items a list gets: one for each name that an item may have, if the schema lists names.
fn items(schema: &Value) -> usize {
    let names = |field: &Value| field["enum"].as_array().map(Vec::len);
    let fields = schema["items"]["properties"].as_object();
    let named = fields.and_then(|fields| fields.values().filter_map(names).max());
    named.or_else(|| Some(schema["minItems"].as_u64()? as usize)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_filled_in_with_minimal_values() {
        let schema = json!({
            "type": "object",
            "properties": {
                "who": { "type": "string", "enum": ["ann", "bob"] },
                "goesOn": { "type": "boolean" },
                "mark": { "type": "number", "minimum": 1 },
                "each": {
                    "type": "array",
                    "items": { "type": "object", "properties": { "who": { "enum": ["ann", "bob"] } } },
                },
            },
        });
        let filled =
            |form: Form| -> Value { serde_json::from_str(&form.stubbed(Some(&schema), "word")).unwrap() };
        let mut expected = json!({
            "who": "ann", "goesOn": false, "mark": 1, "each": [{ "who": "ann" }, { "who": "bob" }],
        });
        assert_eq!(filled(Form::new("a")), expected);
        expected["goesOn"] = json!(true);
        assert_eq!(filled(Form::new("a").stub(Stub::FilledWith(&["goesOn"]))), expected);
        assert_eq!(Form::new("a").stub(Stub::Text("NO {word}")).stubbed(Some(&schema), "yet"), "NO yet");
        assert_eq!(Form::new("a").stubbed(None, "word"), "word");
        let other: Value =
            serde_json::from_str(&Form::new("a").stubbed_at(Some(&schema), "word", 1)).unwrap();
        assert_eq!(other["who"], json!("bob"));
    }
}
