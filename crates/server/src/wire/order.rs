//! `POST /api/discussions`: the request of the door, described for the OpenAPI document.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use quorum::{
    OrderKey, Quorum, Request,
    model::{
        debate::{Diversity, Format, JudgeFailure, Judging, Mode},
        spec::{Overflow, TimeoutStrategy},
    },
    request::{LONGEST_CONTEXT, LONGEST_SYNTHESIS_PROMPT, LONGEST_TOPIC},
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{
            AdditionalProperties, ArrayBuilder, KnownFormat, Object, ObjectBuilder, OneOfBuilder,
            SchemaFormat, SchemaType, Type,
        },
    },
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
    /// One of these.
    Named(fn() -> Vec<&'static str>),
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

/// Every field of a request, with what may be written there.
const FIELDS: &[(&str, Form)] = &[
    ("topic", Form::Topic),
    ("pattern", Form::Named(|| Quorum::patterns().iter().map(|it| it.name).collect())),
    ("providers", Form::Texts(2, 6)),
    ("participants", Form::Table),
    ("rounds", Form::Whole(1, 10)),
    ("consensus", Form::Named(|| Quorum::methods().iter().map(|it| it.name).collect())),
    ("synthesizer", Form::Text),
    ("threshold", Form::Share(1.0)),
    ("includeDissent", Form::Flag),
    ("synthesisPrompt", Form::UpTo(LONGEST_SYNTHESIS_PROMPT)),
    ("votingOptions", Form::Texts(2, 10)),
    ("context", Form::UpTo(LONGEST_CONTEXT)),
    ("providerPrompts", Form::Words),
    ("stopSequences", Form::Anything),
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
    ("timeoutStrategy", Form::Named(|| TimeoutStrategy::ALL.map(TimeoutStrategy::name).to_vec())),
    ("earlyExit", Form::Flag),
    ("confidenceThreshold", Form::Share(1.0)),
    ("requireBothConsensus", Form::Flag),
    ("minRoundsBeforeConsensus", Form::Whole(1, 10)),
    ("debateFormat", Form::Named(|| Format::ALL.map(Format::name).to_vec())),
    ("mode", Form::Named(|| Mode::ALL.map(Mode::name).to_vec())),
    ("roundLimit", Form::Whole(1, 1_000)),
    ("judge", Form::Text),
    ("judging", Form::Named(|| Judging::ALL.map(Judging::name).to_vec())),
    ("judgeFailure", Form::Named(|| JudgeFailure::ALL.map(JudgeFailure::name).to_vec())),
    ("swapCheck", Form::Flag),
    ("positions", Form::Anything),
    ("casting", Form::Named(|| Diversity::ALL.map(Diversity::name).to_vec())),
    ("endOn", Form::Texts(0, 3)),
    ("windowStrategy", Form::Text),
    ("windowSummaries", Form::Flag),
    ("windowOverflow", Form::Named(|| Overflow::ALL.map(Overflow::name).to_vec())),
    ("offline", Form::Flag),
    ("seed", Form::Whole(0, MOST)),
    ("simulate", Form::Anything),
    ("preset", Form::Text),
    ("embeddings", Form::Text),
];

/// A request for a discussion, as the OpenAPI document describes it.
pub(crate) struct Order;

/// The same where everything may be left out.
pub(crate) struct Changes;

impl PartialSchema for Order {
    fn schema() -> RefOr<Schema> {
        described("What shall be discussed, by whom and how; everything but the topic has a default.")
            .required("topic")
            .examples([json!({ "topic": "Tabs or spaces?", "pattern": "debate", "providers": ["claude", "gemini", "glm"] })])
            .into()
    }
}

impl ToSchema for Order {
    fn name() -> Cow<'static, str> {
        "Order".into()
    }
}

impl PartialSchema for Changes {
    fn schema() -> RefOr<Schema> {
        described("What is to be different from a past discussion.").examples([json!({ "rounds": 3 })]).into()
    }
}

impl ToSchema for Changes {
    fn name() -> Cow<'static, str> {
        "Changes".into()
    }
}

fn described(description: &str) -> ObjectBuilder {
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(description))
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
    FIELDS.iter().fold(object, |object, (name, form)| object.property(*name, form.schema()))
}

impl Form {
    /// Everything but the topic may be null, which is the same as left out.
    fn schema(self) -> Schema {
        let of = |kind| ObjectBuilder::new().schema_type(SchemaType::from_iter([kind, Type::Null]));
        match self {
            Form::Topic => ObjectBuilder::new()
                .schema_type(Type::String)
                .min_length(Some(1))
                .max_length(Some(LONGEST_TOPIC))
                .pattern(Some(r"\S"))
                .into(),
            Form::Named(names) => {
                let values = names().into_iter().map(Value::from).chain([Value::Null]);
                of(Type::String).enum_values(Some(values)).into()
            }
            Form::Text => of(Type::String).into(),
            Form::UpTo(most) => of(Type::String).max_length(Some(most)).into(),
            Form::Id => of(Type::String).format(Some(SchemaFormat::Custom("uuid".to_owned()))).into(),
            Form::Flag => of(Type::Boolean).into(),
            Form::Whole(least, most) => of(Type::Integer)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
                .minimum(Some(least as f64))
                .maximum(Some(most as f64))
                .into(),
            Form::Share(most) => of(Type::Number).minimum(Some(0.0)).maximum(Some(most)).into(),
            Form::Texts(least, most) => ArrayBuilder::new()
                .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
                .items(Object::with_type(Type::String))
                .min_items(Some(least))
                .max_items(Some(most))
                .into(),
            Form::Words => {
                let text = AdditionalProperties::RefOr(Object::with_type(Type::String).into());
                of(Type::Object).additional_properties(Some(text)).into()
            }
            Form::Table => ArrayBuilder::new()
                .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
                .items(seat())
                .into(),
            Form::Anything => ObjectBuilder::new().schema_type(SchemaType::AnyValue).into(),
        }
    }
}

/// A model, written as on the command line, or a person's seat.
fn seat() -> OneOfBuilder {
    let text = || Object::with_type(Type::String);
    let person = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("person", text())
        .property("user", ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null])))
        .required("person")
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
    OneOfBuilder::new().item(text()).item(person)
}

/// The changes written in these fields.
pub(crate) fn changes(Fields(mut fields): Fields) -> Result<Request, Problem> {
    fields.entry("topic").or_insert_with(|| Value::String(String::new()));
    read(&serde_json::to_vec(&fields).unwrap_or_default())
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

    use super::*;

    #[test]
    fn every_field_of_a_request_is_described() {
        let unknown = serde_json::from_str::<Request>(r#"{"topic":"","nobody":1}"#).unwrap_err().to_string();
        let mut known: BTreeSet<&str> = unknown.split('`').skip(3).step_by(2).collect();
        // Another name of the same field.
        assert!(known.remove("consensusMethod"));
        let described: BTreeSet<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(described, known);
    }
}
