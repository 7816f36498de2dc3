//! The schemas of answers, read from the table in `answers.txt`. Every answer of the HTTP tests is
//! compared with them.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema, schema::ObjectBuilder},
};

const TABLE: &str = include_str!("answers.txt");

/// Names for the routes' descriptions; the table has their schemas.
macro_rules! answers {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the table.")]
            pub(crate) struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    ObjectBuilder::new().into()
                }
            }

            impl ToSchema for $name {
                fn name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
            }
        )*
    };
}

answers! {
    AgentEntry Calibration CapPeriod ChatCompletion DiscussionEntry DiscussionState EventName Health
    MethodEntry NamedEntry PatternEntry Plan PresetEntry Provider ReadyStatus Result Session StrategyEntry VendorMessage VendorModel VendorModels VendorResponse
}

/// The schemas by name.
pub(crate) fn schemas() -> Vec<(String, Value)> {
    let types = TABLE.split("\n## ").skip(1);
    let mut schemas: Vec<(String, Value)> = types.filter_map(schema).collect();
    schemas.extend(events(&schemas));
    schemas
}

/// The schema of one type: its heading, its description, and its fields.
fn schema(text: &str) -> Option<(String, Value)> {
    let mut lines = text.lines().filter(|it| !it.is_empty());
    let heading: Vec<&str> = lines.next()?.split(' ').collect();
    let about = lines.next()?;
    let (name, schema) = match heading.as_slice() {
        [name, "=", values @ ..] => (name, json!({ "type": "string", "enum": values })),
        [name, ":", kinds] => (name, of_kind(kinds)),
        [name, "on", events @ ..] => (name, with(object(lines), "x-events", json!(events))),
        [name, ..] => (name, object(lines)),
        [] => return None,
    };
    Some(((*name).to_owned(), with(schema, "description", json!(about))))
}

fn with(mut schema: Value, key: &str, value: Value) -> Value {
    schema[key] = value;
    schema
}

fn object<'t>(lines: impl Iterator<Item = &'t str>) -> Value {
    let (mut properties, mut required, mut is_open) = (Map::new(), Vec::new(), false);
    for line in lines {
        let mut words = line.split_whitespace();
        let (Some(name), Some(kind)) = (words.next(), words.next()) else { continue };
        if name == "*" {
            is_open = true;
            continue;
        }
        let about = words.collect::<Vec<_>>().join(" ");
        let field = name.strip_suffix('?').unwrap_or(name);
        if field == name {
            required.push(field);
        }
        properties.insert(field.to_owned(), with(of_kind(kind), "description", json!(about)));
    }
    json!({
        "type": "object", "required": required, "properties": properties, "additionalProperties": is_open,
    })
}

/// The schema of a field's type.
fn of_kind(kind: &str) -> Value {
    if kind.contains('|') {
        return json!({ "oneOf": kind.split('|').map(of_kind).collect::<Vec<_>>() });
    }
    if let Some(item) = kind.strip_suffix("[]") {
        return json!({ "type": "array", "items": of_kind(item) });
    }
    if let Some(value) = kind.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        return json!({ "type": "object", "additionalProperties": of_kind(value) });
    }
    match kind {
        "any" => json!({}),
        "object" => json!({ "type": "object", "additionalProperties": true }),
        "text" => json!({ "type": "string" }),
        "flag" => json!({ "type": "boolean" }),
        "number" => json!({ "type": "number", "format": "double" }),
        "whole" => json!({ "type": "integer", "format": "int64" }),
        "uuid" => json!({ "type": "string", "format": "uuid" }),
        "time" => json!({ "type": "string", "format": "date-time" }),
        name => json!({ "$ref": format!("#/components/schemas/{name}") }),
    }
}

/// The names of events, and the data of any of them.
fn events(schemas: &[(String, Value)]) -> [(String, Value); 2] {
    let about_events = || schemas.iter().filter(|(_, it)| it.get("x-events").is_some());
    let mut names: Vec<&Value> = Vec::new();
    for name in about_events().filter_map(|(_, it)| it["x-events"].as_array()).flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let data: Vec<Value> = about_events().map(|(name, _)| of_kind(name)).collect();
    let about = "The name of an event. `fact` comes only where facts were asked for.";
    [
        ("EventName".to_owned(), json!({ "type": "string", "enum": names, "description": about })),
        ("EventData".to_owned(), json!({ "anyOf": data, "description": "The data of an event." })),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use quorum::{
        model::{
            error::{Code, ErrorClass},
            lifecycle::Lifecycle,
            outcome::Outcome,
        },
        seeds::events::NAMES,
    };
    use serde::Serialize;

    use super::*;

    fn named(name: &str) -> Value {
        schemas().into_iter().find(|(it, _)| it == name).unwrap_or_else(|| panic!("no {name}")).1
    }

    fn values(name: &str) -> BTreeSet<String> {
        let values = named(name)["enum"].as_array().unwrap().clone();
        values.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    }

    fn written<T: Serialize>(all: impl IntoIterator<Item = T>) -> BTreeSet<String> {
        all.into_iter().map(|it| json!(it).as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_type_of_the_table_becomes_a_schema() {
        let (name, schema) =
            schema("Cake on baked\nA cake.\nname text Its name\nlayers? Layer[] Its layers\n*  any\n")
                .unwrap();
        let expected = json!({
            "type": "object", "required": ["name"], "additionalProperties": true, "x-events": ["baked"],
            "properties": {
                "name": { "type": "string", "description": "Its name" },
                "layers": {
                    "type": "array", "items": { "$ref": "#/components/schemas/Layer" }, "description": "Its layers",
                },
            },
            "description": "A cake.",
        });
        assert_eq!((name.as_str(), schema), ("Cake", expected));
    }

    #[test]
    fn enumerations_are_those_of_the_program() {
        assert_eq!(values("Lifecycle"), written(Lifecycle::ALL));
        assert_eq!(values("ErrorClass"), written(ErrorClass::ALL));
        let codes: Vec<Code> =
            values("ErrorCode").iter().map(|it| serde_json::from_value(json!(it)).unwrap()).collect();
        assert_eq!(written(codes), values("ErrorCode"));
        let mut events = values("EventName");
        assert!(events.remove("fact"));
        assert_eq!(events, NAMES.iter().map(|it| (*it).to_owned()).collect());
        let golden = include_str!("../../../core/tests/golden/facts.jsonl").lines();
        let golden = golden.map(|it| serde_json::from_str::<Value>(it).unwrap()["type"].clone());
        assert_eq!(values("FactType"), written(golden));
    }

    #[test]
    fn a_result_has_every_field_of_the_result_document() {
        let declared = named("Result")["properties"].as_object().unwrap().clone();
        let fields: Vec<&str> = declared.keys().map(String::as_str).collect();
        assert_eq!(fields, Outcome::FIELDS);
    }

    #[test]
    fn every_type_of_a_field_exists() {
        let all = crate::openapi::with_fields(crate::routes::document(), &quorum::built_in(), &[]);
        let text = all.to_string();
        let names = text.split("\"#/components/schemas/").skip(1).filter_map(|it| it.split('"').next());
        let missing: BTreeSet<&str> =
            names.filter(|it| all["components"]["schemas"].get(*it).is_none()).collect();
        assert_eq!(missing, BTreeSet::new());
    }
}
