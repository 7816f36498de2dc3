//! Declares every enumeration of the OpenAPI document once, under a name of its own, so that
//! generated clients have one type for it.

use serde_json::{Map, Value, json};

/// Where named schemas are.
const SCHEMAS: &str = "#/components/schemas/";

/// Moves enumerations to named schemas, and refers to them instead.
pub(crate) fn declare_once(document: &mut Value) {
    let schemas = document["components"]["schemas"].take();
    let mut named = schemas.as_object().cloned().unwrap_or_default();
    let names: Vec<String> = named.keys().cloned().collect();
    for name in names {
        let mut schema = named.get_mut(&name).map(Value::take).unwrap_or_default();
        // An enumeration that has a name is where it belongs.
        if schema.get("enum").is_none() {
            move_inner(&mut schema, &name, &mut named);
        }
        named.insert(name, schema);
    }
    if let Some(paths) = document["paths"].as_object_mut() {
        paths.values_mut().for_each(|it| move_parameters(it, &mut named));
    }
    document["components"]["schemas"] = Value::Object(named);
}

/// The parameters of all operations of a path.
fn move_parameters(methods: &mut Value, named: &mut Map<String, Value>) {
    let operations = methods.as_object_mut().into_iter().flat_map(|it| it.values_mut());
    let parameters = operations.filter_map(|it| it.get_mut("parameters")?.as_array_mut()).flatten();
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        move_inner(&mut parameter["schema"], &name, named);
    }
}

/// Moves the enumerations inside this schema, which is of a field of this name.
fn move_inner(schema: &mut Value, field: &str, named: &mut Map<String, Value>) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(|it| move_inner(it, field, named)),
        Value::Object(keys) => {
            if let Some(values) = keys.get("enum").and_then(Value::as_array).cloned() {
                refer(keys, &values, field, named);
                return;
            }
            for (key, inner) in keys.iter_mut() {
                match key.as_str() {
                    "properties" => {
                        let fields = inner.as_object_mut().into_iter().flatten();
                        fields.for_each(|(name, it)| move_inner(it, name, named));
                    }
                    "items" | "additionalProperties" | "oneOf" | "anyOf" | "allOf" => {
                        move_inner(inner, field, named);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Replaces an enumeration by a reference to a named one with the same values.
fn refer(keys: &mut Map<String, Value>, values: &[Value], field: &str, named: &mut Map<String, Value>) {
    let texts: Vec<Value> = values.iter().filter(|it| !it.is_null()).cloned().collect();
    // One value is a constant, and not worth a name.
    if texts.len() < 2 {
        return;
    }
    let is_nullable = texts.len() < values.len();
    keys.remove("enum");
    keys.remove("type");
    let reference = json!({ "$ref": format!("{SCHEMAS}{}", name_of(&texts, field, named)) });
    match is_nullable {
        true => keys.insert("oneOf".to_owned(), json!([reference, { "type": "null" }])),
        false => keys.insert("allOf".to_owned(), json!([reference])),
    };
}

/// The name of the enumeration with these values: a known one, or the field's in the style of
/// types.
fn name_of(texts: &[Value], field: &str, named: &mut Map<String, Value>) -> String {
    let has_same = |schema: &Value| schema["enum"].as_array().is_some_and(|it| it == texts);
    if let Some((name, _)) = named.iter().find(|(_, it)| has_same(it)) {
        return name.clone();
    }
    let mut name = as_type(field);
    while named.contains_key(&name) {
        name.push_str("Name");
    }
    named.insert(name.clone(), json!({ "type": "string", "enum": texts }));
    name
}

/// `window_strategy` and `windowStrategy` as `WindowStrategy`.
fn as_type(field: &str) -> String {
    let words = field.split(['_', '-']);
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    words.map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enumeration_in_two_places_becomes_one_type() {
        let colour = json!({ "type": "string", "enum": ["red", "blue"], "description": "Its colour" });
        let maybe = json!({ "type": ["string", "null"], "enum": ["red", "blue", null], "default": "red" });
        let mut document = json!({
            "paths": { "/cars": { "get": { "parameters": [{ "name": "colour", "schema": colour }] } } },
            "components": { "schemas": {
                "Car": { "type": "object", "properties": { "colour": colour, "roofColour": maybe } },
                "Kind": { "type": "string", "enum": ["van", "bus"] },
            } },
        });
        declare_once(&mut document);
        let reference = json!({ "$ref": "#/components/schemas/Colour" });
        let expected = json!({
            "paths": { "/cars": { "get": { "parameters": [
                { "name": "colour", "schema": { "allOf": [reference], "description": "Its colour" } },
            ] } } },
            "components": { "schemas": {
                "Car": { "type": "object", "properties": {
                    "colour": { "allOf": [reference], "description": "Its colour" },
                    "roofColour": { "oneOf": [reference, { "type": "null" }], "default": "red" },
                } },
                "Kind": { "type": "string", "enum": ["van", "bus"] },
                "Colour": { "type": "string", "enum": ["red", "blue"] },
            } },
        });
        assert_eq!(document, expected);
    }

    #[test]
    fn no_two_types_have_the_same_values() {
        let document = crate::openapi(&quorum::built_in(), &[]);
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let mut seen: Vec<(&String, &Value)> = Vec::new();
        for (name, schema) in schemas {
            let Some(values) = schema.get("enum") else { continue };
            let same = seen.iter().find(|(_, it)| *it == values);
            assert_eq!(same, None, "{name}");
            seen.push((name, values));
        }
        assert!(!document.to_string().contains("\"type\":[\"string\",\"null\"],\"enum\""), "an inline one");
    }
}
