//! The order in which Gemini writes properties: that of `propertyOrdering`, else alphabetical.

use serde_json::{Map, Value};

use super::super::{fields::texts, schema};

/// Google's error for the orderings in a schema.
pub(super) fn complaint(schema: &Value, place: &str) -> Option<String> {
    let (context, message) = schema::walk(schema, &mut schema::Context::new(), &|object| {
        let listed = object.get("propertyOrdering")?;
        let Some(names) = listed.as_array() else {
            return Some(format!("propertyOrdering: a list is expected, but {listed} was found"));
        };
        let properties = object.get("properties").and_then(Value::as_object);
        let is_known =
            |name: &Value| name.as_str().is_some_and(|it| properties.is_some_and(|all| all.contains_key(it)));
        let at = names.iter().position(|name| !is_known(name))?;
        Some(format!("propertyOrdering[{at}]: property is not defined"))
    })?;
    let place = std::iter::once(place.to_owned()).chain(context).collect::<Vec<_>>().join(".");
    Some(format!("* GenerateContentRequest.{place}.{message}\n"))
}

/// The schema with its properties in the order in which Gemini writes them.
pub(super) fn ordered(schema: &Value) -> Value {
    match schema {
        Value::Array(list) => list.iter().map(ordered).collect(),
        Value::Object(fields) => {
            let listed = texts(fields.get("propertyOrdering"));
            fields
                .iter()
                .map(|(keyword, value)| match value {
                    Value::Object(named) if keyword == "properties" => {
                        (keyword.clone(), in_order(named, &listed))
                    }
                    _ => (keyword.clone(), ordered(value)),
                })
                .collect()
        }
        plain => plain.clone(),
    }
}

/// The properties with the listed ones first.
fn in_order(properties: &Map<String, Value>, listed: &[String]) -> Value {
    let place =
        |name: &String| (listed.iter().position(|it| it == name).unwrap_or(listed.len()), name.clone());
    let mut names: Vec<&String> = properties.keys().collect();
    names.sort_by_cached_key(|name| place(name));
    names.into_iter().map(|name| (name.clone(), ordered(&properties[name]))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_are_written_as_they_are_listed_and_else_by_the_alphabet() {
        let check = |schema: Value, expected: &str| assert_eq!(ordered(&schema).to_string(), expected);
        check(json!({ "properties": { "b": {}, "a": {} } }), r#"{"properties":{"a":{},"b":{}}}"#);
        check(
            json!({ "properties": { "a": {}, "c": {}, "b": {} }, "propertyOrdering": ["b"] }),
            r#"{"properties":{"b":{},"a":{},"c":{}},"propertyOrdering":["b"]}"#,
        );
        check(
            json!({ "items": { "anyOf": [{ "properties": { "properties": { "type": "string" }, "a": {} } }] } }),
            r#"{"items":{"anyOf":[{"properties":{"a":{},"properties":{"type":"string"}}}]}}"#,
        );
    }

    #[test]
    fn an_ordering_lists_properties_there_are() {
        let check = |schema: Value, expected: Option<&str>| {
            assert_eq!(complaint(&schema, "here").as_deref(), expected, "{schema}");
        };
        check(json!({ "properties": { "a": {} } }), None);
        check(json!({ "properties": { "a": {} }, "propertyOrdering": ["a"] }), None);
        let unknown = "* GenerateContentRequest.here.items.propertyOrdering[1]: property is not defined\n";
        let inner = json!({ "properties": { "a": {} }, "propertyOrdering": ["a", "b"] });
        check(json!({ "items": inner }), Some(unknown));
        let no_list =
            "* GenerateContentRequest.here.propertyOrdering: a list is expected, but \"a\" was found\n";
        check(json!({ "properties": { "a": {} }, "propertyOrdering": "a" }), Some(no_list));
    }
}
