//! Adds `propertyOrdering` to a JSON schema. Without it Gemini writes the properties of an object
//! in an order of its own, mostly the alphabetical one, whatever order the schema has.

use serde_json::{Map, Value};

use crate::wire::subschemas::rewritten;

/// The schema in which every object lists its properties in the order they are written in.
pub(super) fn ordered(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut fields = rewritten(fields, ordered);
    let properties = fields.get("properties").and_then(Value::as_object);
    let names: Vec<String> = properties.into_iter().flat_map(Map::keys).cloned().collect();
    if !names.is_empty() {
        fields.insert("propertyOrdering".to_owned(), names.into());
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_object_lists_its_properties() {
        let inner = json!({ "type": "object", "properties": { "why": {}, "choice": {} } });
        let schema = json!({
            "type": "object",
            "properties": { "votes": { "type": "array", "items": inner }, "first": { "anyOf": [inner, { "type": "null" }] } },
        });
        let inner =
            r#"{"type":"object","properties":{"why":{},"choice":{}},"propertyOrdering":["why","choice"]}"#;
        let expected = format!(
            r#"{{"type":"object","properties":{{"votes":{{"type":"array","items":{inner}}},"first":{{"anyOf":[{inner},{{"type":"null"}}]}}}},"propertyOrdering":["votes","first"]}}"#
        );
        assert_eq!(ordered(&schema).to_string(), expected);
    }
}
