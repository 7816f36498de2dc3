//! `POST /api/discussions`: the fields of an order as a JSON schema, and its sender's key.
//!
//! The fields that every discussion has are listed here; the rest is what the registered patterns,
//! methods and strategies declare.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use quorum::{
    OrderKey, Registry, Request,
    model::spec::TimeoutStrategy,
    request::{LONGEST_CONTEXT, LONGEST_TOPIC},
};
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
};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest key of a sender.
const LONGEST_KEY: usize = 255;

/// How a field is written.
#[derive(Clone, Copy)]
enum Form {
    Topic,
    /// One of these names.
    Named(fn(&Registry) -> Vec<&'static str>),
    Text,
    UpTo(usize),
    Id,
    Flag,
    Whole(u64, u64),
    Share(f64),
    Texts(usize, usize),
    Words,
    Table,
    Anything,
}

const MOST: u64 = u32::MAX as u64;

/// The fields of every order, with what may be written there.
const FIELDS: &[(&str, Form)] = &[
    ("topic", Form::Topic),
    ("pattern", Form::Named(|registry| registry.patterns().iter().map(|it| it.name).collect())),
    ("providers", Form::Texts(2, 6)),
    ("participants", Form::Table),
    ("rounds", Form::Whole(1, 10)),
    ("consensus", Form::Named(|registry| registry.methods().iter().map(|it| it.name).collect())),
    ("includeDissent", Form::Flag),
    ("votingOptions", Form::Texts(2, 10)),
    ("context", Form::UpTo(LONGEST_CONTEXT)),
    ("providerPrompts", Form::Words),
    ("roles", Form::Words),
    ("providerTimeout", Form::Whole(5_000, 300_000)),
    ("continueOnProviderFailure", Form::Flag),
    ("minProviders", Form::Whole(1, 6)),
    ("temperature", Form::Share(2.0)),
    ("maxTokensPerTurn", Form::Whole(1, MOST)),
    ("sessionId", Form::Id),
    ("budgetMs", Form::Whole(1, MOST)),
    ("maxCalls", Form::Whole(1, MOST)),
    ("maxTokens", Form::Whole(1, MOST)),
    ("maxCost", Form::Share(1e6)),
    ("allowUnpriced", Form::Flag),
    ("recursive", Form::Flag),
    ("maxDepth", Form::Whole(1, 4)),
    ("timeoutStrategy", Form::Named(|_| TimeoutStrategy::ALL.map(TimeoutStrategy::name).to_vec())),
    ("earlyExit", Form::Flag),
    ("confidenceThreshold", Form::Share(1.0)),
    ("windowStrategy", Form::Named(|registry| registry.strategies().iter().map(|it| it.name).collect())),
    ("windowOverflow", Form::Named(|registry| registry.overflows().collect())),
    ("offline", Form::Flag),
    ("seed", Form::Whole(0, MOST)),
    ("simulate", Form::Anything),
    ("preset", Form::Text),
];

/// A request for a discussion, as the OpenAPI document names it. What is in it depends on the registry:
/// [`schemas`].
pub(crate) struct Order;

/// The same where everything may be left out.
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

/// The schemas of an order and of changes to one, by the names they have in the OpenAPI document.
pub(crate) fn schemas(registry: &Registry) -> [(Cow<'static, str>, Value); 2] {
    let properties = properties(registry);
    let order = json!({
        "type": "object", "required": ["topic"], "properties": properties, "additionalProperties": false,
        "description": "What shall be discussed, by whom and how; everything but the topic has a default.",
        "examples": [{ "topic": "Tabs or spaces?", "rounds": 2, "providers": ["claude", "gemini", "glm"] }],
    });
    let changes = json!({
        "type": "object", "properties": properties, "additionalProperties": false,
        "description": "What is to be different from a past discussion.", "examples": [{ "rounds": 3 }],
    });
    [(Order::name(), order), (Changes::name(), changes)]
}

/// The fields of every order, then one for each option that is declared.
fn properties(registry: &Registry) -> Map<String, Value> {
    let built_in = FIELDS.iter().map(|(name, form)| ((*name).to_owned(), form.schema(registry)));
    let detectors: Vec<&str> = registry.detectors().iter().map(|it| it.name).collect();
    let options = registry.options().into_iter();
    let declared = options.map(|it| (it.name.to_owned(), nullable(it.schema(&detectors))));
    built_in.chain(declared).collect()
}

/// The same, or null, which is the same as left out.
fn nullable(mut schema: Value) -> Value {
    if let Some(kind) = schema.get("type").cloned() {
        schema["type"] = json!([kind, "null"]);
    }
    if let Some(names) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        names.push(Value::Null);
    }
    schema
}

impl Form {
    /// Everything but the topic may be null.
    fn schema(self, registry: &Registry) -> Value {
        match self {
            Form::Topic => {
                json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_TOPIC, "pattern": r"\S" })
            }
            Form::Named(names) => nullable(json!({ "type": "string", "enum": names(registry) })),
            Form::Text => nullable(json!({ "type": "string" })),
            Form::UpTo(most) => nullable(json!({ "type": "string", "maxLength": most })),
            Form::Id => nullable(json!({ "type": "string", "format": "uuid" })),
            Form::Flag => nullable(json!({ "type": "boolean" })),
            Form::Whole(least, most) => {
                nullable(json!({ "type": "integer", "format": "int64", "minimum": least, "maximum": most }))
            }
            Form::Share(most) => nullable(json!({ "type": "number", "minimum": 0, "maximum": most })),
            Form::Texts(least, most) => nullable(json!({
                "type": "array", "items": { "type": "string" }, "minItems": least, "maxItems": most,
            })),
            Form::Words => {
                nullable(json!({ "type": "object", "additionalProperties": { "type": "string" } }))
            }
            Form::Table => nullable(json!({ "type": "array", "items": seat() })),
            Form::Anything => json!({}),
        }
    }
}

/// A model, written as on the command line, or a person's seat.
fn seat() -> Value {
    let person = json!({
        "type": "object", "required": ["person"], "additionalProperties": false,
        "properties": { "person": { "type": "string" }, "user": { "type": ["string", "null"] } },
    });
    json!({ "oneOf": [{ "type": "string" }, person] })
}

/// The order written in these fields. Options are no fields of a [`Request`], so what is written twice in
/// one of them is found only by whoever reads all fields as strictly.
pub(crate) fn request(fields: &Fields) -> Result<Request, Problem> {
    read(&serde_json::to_vec(fields).unwrap_or_default())
}

/// The changes written in these fields.
pub(crate) fn changes(Fields(mut fields): Fields) -> Result<Request, Problem> {
    fields.entry("topic").or_insert_with(|| Value::String(String::new()));
    request(&Fields(fields))
}

/// The sender's key for this order, if there is one.
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
    use std::collections::BTreeSet;

    use quorum::{
        registry::Pattern,
        request::flags,
        vocabulary::option::{Declares, Opt},
    };

    use super::*;

    const LEGS: Opt<u32> = Opt::whole("legs", "How often it goes round", 1..=9, 2);

    /// A pattern of somebody else's crate.
    static RELAY: Pattern = Pattern { name: "relay", options: &[&LEGS], ..Pattern::PLAIN };

    #[test]
    fn every_field_of_a_request_is_described() {
        let described: BTreeSet<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        let showing: BTreeSet<&str> = flags::SHOWING.iter().map(|it| it.long).collect();
        let known = flags::reserved().into_iter().filter(|it| !showing.contains(it)).collect();
        assert_eq!(described, known);
    }

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
