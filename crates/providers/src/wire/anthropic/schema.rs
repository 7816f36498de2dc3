//! Anthropic's subset of JSON schema. A request with an unsupported keyword is rejected.

use serde_json::Value;

use crate::wire::subschemas::rewritten;

/// Unsupported bounds of numbers, texts and lists. Prompts state them as well, and the readers of
/// replies check them.
const UNSUPPORTED: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The schema without the unsupported keywords.
pub(super) fn accepted(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut fields = rewritten(fields, accepted);
    fields.retain(|name, _| !UNSUPPORTED.contains(&name.as_str()));
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_supported_keywords_are_sent() {
        let check = |schema: Value, expected: Value| assert_eq!(accepted(&schema), expected);
        check(
            json!({ "type": "number", "minimum": 0, "maximum": 1, "description": "How sure" }),
            json!({ "type": "number", "description": "How sure" }),
        );
        check(
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 2, "maxItems": 2 }),
            json!({ "type": "array", "items": { "type": "string" } }),
        );
        check(json!({ "type": ["string", "null"] }), json!({ "type": ["string", "null"] }));
    }

    #[test]
    fn a_field_may_have_the_name_of_a_bound() {
        let schema = json!({
            "type": "object",
            "properties": { "minimum": { "type": "number", "minimum": 0 } },
            "required": ["minimum"],
        });
        let expected = json!({
            "type": "object",
            "properties": { "minimum": { "type": "number" } },
            "required": ["minimum"],
        });
        assert_eq!(accepted(&schema), expected);
    }
}
