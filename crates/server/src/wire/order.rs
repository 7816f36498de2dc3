//! `POST /api/discussions`: the fields of an order as a JSON schema, and its idempotency key.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use quorum::{OrderKey, Registry, Request, request::fields};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema, schema::ObjectBuilder},
};
use uuid::Uuid;

use crate::{
    body::{Fields, read},
    problem::Problem,
    wire::meanings,
};

pub(crate) const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest idempotency key.
pub(crate) const LONGEST_KEY: usize = 255;

/// A request for a discussion, as named in the OpenAPI document. Its fields depend on the registry:
/// [`schemas`].
pub(crate) struct Order;

/// The same with every field optional.
pub(crate) struct Changes;

impl PartialSchema for Order {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().into()
    }
}

impl ToSchema for Order {
    fn name() -> Cow<'static, str> {
        "Order".into()
    }
}

impl PartialSchema for Changes {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().into()
    }
}

impl ToSchema for Changes {
    fn name() -> Cow<'static, str> {
        "Changes".into()
    }
}

/// The schemas of an order and of changes to one, by their names in the OpenAPI document.
pub(crate) fn schemas(registry: &Registry) -> [(Cow<'static, str>, Value); 2] {
    let mut properties = fields::schemas(registry);
    meanings::add(&mut properties);
    let order = json!({
        "type": "object", "required": ["topic"], "properties": properties, "additionalProperties": false,
        "description": "The question, its participants and how they discuss it; everything but the topic has a default.",
        "examples": [{ "topic": "Tabs or spaces?", "rounds": 2, "providers": ["claude", "gemini", "glm"] }],
    });
    let changes = json!({
        "type": "object", "properties": properties, "additionalProperties": false,
        "description": "The changes to a past discussion.", "examples": [{ "rounds": 3 }],
    });
    [(Order::name(), order), (Changes::name(), changes)]
}

/// The order in these fields. Options are not fields of [`Request`], so a duplicate key in one of
/// them is only found by a reader that reads all fields as strictly.
pub(crate) fn request(Fields(fields): &Fields) -> Result<Request, Problem> {
    let fields = with_consensus_spread(fields.clone())?;
    read(&serde_json::to_vec(&fields).unwrap_or_default())
}

/// The fields with `consensus` as the method's name. Requirement B's object has its options beside
/// the method: each is a field of its own here.
fn with_consensus_spread(mut fields: Map<String, Value>) -> Result<Map<String, Value>, Problem> {
    let Some(Value::Object(consensus)) = fields.get("consensus").cloned() else { return Ok(fields) };
    fields.remove("consensus");
    for (name, value) in consensus {
        let field = if name == "method" { "consensus" } else { name.as_str() };
        if field == "topic" || fields.contains_key(field) {
            let message = "is given twice: in consensus, and as a field of its own";
            return Err(Problem::field(field, message));
        }
        fields.insert(field.to_owned(), value);
    }
    Ok(fields)
}

/// The changes in these fields. A topic that is left out is that of the past discussion.
pub(crate) fn changes(Fields(mut fields): Fields) -> Result<Request, Problem> {
    if fields.get("topic").and_then(Value::as_str) == Some("") {
        return Err(Problem::field("topic", "is empty; leave it out to keep that of the past discussion"));
    }
    fields.entry("topic").or_insert_with(|| Value::String(String::new()));
    request(&Fields(fields))
}

/// The idempotency key of this order, if there is one.
pub(crate) fn order_key(
    headers: &HeaderMap,
    what: &str,
    body: &impl Serialize,
) -> Result<Option<OrderKey>, Problem> {
    let mut given = headers.get_all(KEY).iter();
    let Some(first) = given.next() else { return Ok(None) };
    let key = first.to_str().unwrap_or_default().trim();
    if key.is_empty() || key.len() > LONGEST_KEY || given.next().is_some() {
        let message = format!("is sent once and has 1 to {LONGEST_KEY} visible characters");
        return Err(Problem::parameter("Idempotency-Key", message));
    }
    // Every object of a body is read into a struct or a sorted map, so the order in which fields
    // were sent makes no difference.
    let order = format!("{what}\n{}", serde_json::to_string(body).unwrap_or_default());
    let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, order.as_bytes()).to_string();
    Ok(Some(OrderKey { key: key.to_owned(), digest }))
}

#[cfg(test)]
mod tests {
    use quorum::{
        registry::Pattern,
        vocabulary::option::{Declares, Opt},
    };

    use super::*;

    const LEGS: Opt<u32> = Opt::whole("legs", "How often it goes round", 1..=9, 2);

    /// A pattern of another crate.
    static RELAY: Pattern = Pattern { name: "relay", options: &[&LEGS], ..Pattern::PLAIN };

    #[test]
    fn an_option_of_a_foreign_pattern_is_a_field_of_an_order() {
        let registry = quorum::built_in().with_patterns([&RELAY]);
        let [(_, order), (_, changes)] = schemas(&registry);
        let expected = json!({
            "type": ["integer", "null"], "minimum": 1, "maximum": 9, "default": 2,
            "description": LEGS.declared().summary,
        });
        assert_eq!(order["properties"]["legs"], expected);
        assert_eq!(changes["properties"]["legs"], expected);
        let patterns = order["properties"]["pattern"]["enum"].as_array().unwrap();
        assert!(patterns.contains(&json!("relay")), "{patterns:?}");
        let [(_, built_in), _] = schemas(&quorum::built_in());
        assert_eq!(built_in["properties"].get("legs"), None);
    }
}
