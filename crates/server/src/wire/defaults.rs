//! Moves defaults of the OpenAPI document into descriptions. Generated clients send a declared
//! default for every field that is left out, and an option of one pattern is refused with another.

use serde_json::Value;

/// Removes every default from the named schemas, and states it in words.
pub(crate) fn describe(document: &mut Value) {
    let schemas = document["components"]["schemas"].as_object_mut().into_iter().flatten();
    schemas.for_each(|(_, schema)| describe_inner(schema));
}

fn describe_inner(schema: &mut Value) {
    let Value::Object(keys) = schema else { return };
    if let Some(default) = keys.remove("default").filter(|it| !it.is_null()) {
        let about = keys.get("description").and_then(Value::as_str).unwrap_or_default();
        let about = format!("{} Default: {default}.", ended(about));
        keys.insert("description".to_owned(), about.trim_start().into());
    }
    for (key, inner) in keys.iter_mut() {
        match (key.as_str(), inner) {
            ("properties", Value::Object(fields)) => fields.values_mut().for_each(describe_inner),
            ("items" | "additionalProperties", inner) => describe_inner(inner),
            ("oneOf" | "anyOf" | "allOf", Value::Array(several)) => {
                several.iter_mut().for_each(describe_inner);
            }
            _ => {}
        }
    }
}

/// The text with a full stop.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_default_is_described_and_not_declared() {
        let mut document = json!({ "components": { "schemas": { "Cake": { "properties": {
            "layers": { "type": "integer", "default": 2, "description": "How many" },
            "cream": { "type": ["boolean", "null"], "default": null },
            "icing": { "properties": { "colour": { "default": "red" } } },
        } } } } });
        describe(&mut document);
        let expected = json!({
            "layers": { "type": "integer", "description": "How many. Default: 2." },
            "cream": { "type": ["boolean", "null"] },
            "icing": { "properties": { "colour": { "description": "Default: \"red\"." } } },
        });
        assert_eq!(document["components"]["schemas"]["Cake"]["properties"], expected);
    }

    #[test]
    fn a_generated_client_sends_nothing_by_itself() {
        let document = crate::openapi(&quorum::built_in(), &[]);
        assert!(!document["components"].to_string().contains("\"default\":"));
    }
}
