//! The fields of every order and their values, as a JSON schema.
//!
//! The options that patterns, methods and strategies declare are added to these.

use std::ops::RangeInclusive;

use quorum_core::{
    model::{participant::NAME_PATTERN, spec::TimeoutStrategy},
    registry::Registry,
};
use serde_json::{Map, Value, json};

use crate::agents::{self, ID_PATTERN};
use crate::request::limits::{
    AGENT_WEIGHT, BUDGET_MS, COST, DEPTH, LATENCY_MS, LONGEST_CONTEXT, LONGEST_ID, LONGEST_NAME,
    LONGEST_OPTION, LONGEST_PROMPT, LONGEST_TOPIC, OPTIONS, PROVIDER_TIMEOUT, RECALLED, ROUNDS, SHARE,
    SYNTHESIS_MS, TEMPERATURE, TOKENS_PER_TURN, least_seats, most_seats,
};

/// The type of a field's value.
#[derive(Clone, Copy)]
enum Form {
    /// A text that is not blank.
    Topic,
    /// One of these names.
    Named(fn(&Registry) -> Vec<&'static str>),
    /// A method by name, or requirement B's object with its options beside the name.
    Consensus,
    /// A text with at most this many characters.
    Text(usize),
    Id,
    Flag,
    Whole(u64, u64),
    Number(f64, f64),
    /// A number of texts within these bounds, each with at most this many characters.
    Texts(RangeBounds, usize),
    /// Models by name.
    Providers,
    /// Models and people by name.
    Table,
    /// For some participants, a text with at most this many characters.
    TextBySeat(usize),
    /// For some participants, a role.
    RoleBySeat,
    Simulate,
    /// A number of discussions to recall, or an object with details.
    Recall,
    /// A discussion's id, the beginning of it, or `last`.
    Discussion,
}

/// Minimum and maximum; a pair, because a range is not `Copy`.
type RangeBounds = (usize, usize);

const fn whole(range: &RangeInclusive<u64>) -> Form {
    Form::Whole(*range.start(), *range.end())
}

const fn small(range: &RangeInclusive<u32>) -> Form {
    Form::Whole(*range.start() as u64, *range.end() as u64)
}

const fn number(range: &RangeInclusive<f64>) -> Form {
    Form::Number(*range.start(), *range.end())
}

/// A count without a bound of its own.
const COUNT: Form = Form::Whole(1, u32::MAX as u64);

/// The fields of every order.
const FIELDS: &[(&str, Form)] = &[
    ("topic", Form::Topic),
    ("pattern", Form::Named(|registry| registry.patterns().iter().map(|it| it.name).collect())),
    ("providers", Form::Providers),
    ("participants", Form::Table),
    ("task", Form::Text(LONGEST_NAME)),
    ("agentWeight", number(&AGENT_WEIGHT)),
    ("rounds", small(&ROUNDS)),
    ("consensus", Form::Consensus),
    ("includeDissent", Form::Flag),
    ("votingOptions", Form::Texts((*OPTIONS.start(), *OPTIONS.end()), LONGEST_OPTION)),
    ("context", Form::Text(LONGEST_CONTEXT)),
    ("providerPrompts", Form::TextBySeat(LONGEST_PROMPT)),
    ("roles", Form::RoleBySeat),
    ("providerTimeout", whole(&PROVIDER_TIMEOUT)),
    ("continueOnProviderFailure", Form::Flag),
    ("minProviders", COUNT),
    ("temperature", number(&TEMPERATURE)),
    ("maxTokensPerTurn", small(&TOKENS_PER_TURN)),
    ("sessionId", Form::Id),
    ("budgetMs", whole(&BUDGET_MS)),
    ("minSynthesisMs", whole(&SYNTHESIS_MS)),
    ("maxCalls", COUNT),
    ("maxTokens", Form::Whole(1, u64::MAX)),
    ("maxCost", number(&COST)),
    ("allowUnpriced", Form::Flag),
    ("recursive", Form::Flag),
    ("maxDepth", small(&DEPTH)),
    ("timeoutStrategy", Form::Named(|_| TimeoutStrategy::ALL.map(TimeoutStrategy::name).to_vec())),
    ("earlyExit", Form::Flag),
    ("confidenceThreshold", number(&SHARE)),
    ("windowStrategy", Form::Named(|registry| registry.strategies().iter().map(|it| it.name).collect())),
    ("windowOverflow", Form::Named(|registry| registry.overflows().collect())),
    ("showNames", Form::Flag),
    ("recall", Form::Recall),
    ("follows", Form::Discussion),
    ("offline", Form::Flag),
    ("seed", Form::Whole(0, u64::MAX)),
    ("simulate", Form::Simulate),
    ("preset", Form::Text(LONGEST_NAME)),
];

/// Something but blanks. U+0085 is a blank to us and none to ECMAScript's `\s`.
const NOT_BLANK: &str = r"[^\s\u0085]";

/// A provider's or model's name, or a person's name with the suffix of a person's seat.
const SEAT: &str =
    r"^[^\W_][-\w.@~+]*(/[-\w.:/@~+]*[-\w.:@~+])?$|^[^\W_][-\w.~+]*:person$|^[a-z][a-z0-9-]*:agent$";

/// A discussion's id, the beginning of one, or the newest.
const DISCUSSION: &str = "^([-0-9a-fA-F]+|last(~[0-9]{1,4})?)$";

/// A person's name.
const PERSON: &str = r"^[^\W_][-\w.~+]*$";

/// The names of the fields of every order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, _)| *name)
}

/// The schemas of all fields of an order: those of every order, then those of the declared options.
#[must_use]
pub fn schemas(registry: &Registry) -> Map<String, Value> {
    let built_in = FIELDS.iter().map(|(name, form)| ((*name).to_owned(), form.schema(registry)));
    let detectors: Vec<&str> = registry.detectors().iter().map(|it| it.name).collect();
    let options = registry.options().into_iter();
    let declared = options.map(|it| (it.name.to_owned(), nullable(it.schema(&detectors))));
    built_in.chain(declared).collect()
}

/// The same, or null, which means left out.
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
    /// The schema of the field. Every field but the topic may be null.
    fn schema(self, registry: &Registry) -> Value {
        match self {
            Form::Topic => text(LONGEST_TOPIC, NOT_BLANK),
            _ => nullable(self.given(registry)),
        }
    }

    /// The schema of a value that is not null.
    fn given(self, registry: &Registry) -> Value {
        match self {
            Form::Topic => text(LONGEST_TOPIC, NOT_BLANK),
            Form::Named(names) => json!({ "type": "string", "enum": names(registry) }),
            Form::Consensus => consensus(registry),
            Form::Text(longest) => json!({ "type": "string", "maxLength": longest }),
            Form::Id => json!({ "type": "string", "format": "uuid" }),
            Form::Flag => json!({ "type": "boolean" }),
            Form::Whole(least, most) => {
                json!({ "type": "integer", "format": "int64", "minimum": least, "maximum": most })
            }
            Form::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
            Form::Texts((least, most), longest) => {
                let items = text(longest, NOT_BLANK);
                json!({ "type": "array", "items": items, "minItems": least, "maxItems": most, "uniqueItems": true })
            }
            Form::Providers => table(registry, &text(LONGEST_NAME, NAME_PATTERN)),
            Form::Table => {
                table(registry, &json!({ "oneOf": [text(LONGEST_NAME, SEAT), person(), typed()] }))
            }
            Form::TextBySeat(longest) => {
                by_seat(registry, &json!({ "type": "string", "maxLength": longest }))
            }
            Form::RoleBySeat => {
                let names: Vec<&str> = registry.roles().into_iter().map(|it| it.name).collect();
                by_seat(registry, &json!({ "type": "string", "enum": names }))
            }
            Form::Simulate => simulate(registry),
            Form::Recall => recall(registry),
            Form::Discussion => text(LONGEST_ID, DISCUSSION),
        }
    }
}

fn consensus(registry: &Registry) -> Value {
    let methods: Vec<&str> = registry.methods().iter().map(|it| it.name).collect();
    let method = json!({ "type": "string", "enum": methods });
    let options = registry.methods().iter().flat_map(|it| it.options).map(|it| it.declared());
    let options = options.map(|it| (it.name.to_owned(), nullable(it.schema(&[]))));
    let mut properties: Map<String, Value> = options.collect();
    properties.insert("includeDissent".to_owned(), nullable(Form::Flag.given(registry)));
    properties.insert("method".to_owned(), method.clone());
    let object = json!({
        "type": "object", "required": ["method"], "additionalProperties": false, "properties": properties,
    });
    json!({ "oneOf": [method, object, { "type": "null" }] })
}

fn text(longest: usize, pattern: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": longest, "pattern": pattern })
}

fn table(registry: &Registry, item: &Value) -> Value {
    let (least, most) = (least_seats(registry), most_seats(registry));
    json!({ "type": "array", "items": item, "minItems": least, "maxItems": most })
}

/// A person's seat, and which user may speak for it.
fn person() -> Value {
    json!({
        "type": "object", "required": ["person"], "additionalProperties": false,
        "properties": {
            "person": text(LONGEST_NAME, PERSON),
            "user": { "type": ["string", "null"], "maxLength": LONGEST_NAME },
        },
    })
}

/// A provider or an agent by its id.
fn typed() -> Value {
    let one = |kind: &str, id: Value| {
        json!({
            "type": "object", "required": ["type", "id"], "additionalProperties": false,
            "properties": { "type": { "type": "string", "enum": [kind] }, "id": id },
        })
    };
    let agent = one("agent", text(agents::LONGEST_ID, ID_PATTERN));
    json!({ "oneOf": [agent, one("provider", text(LONGEST_NAME, NAME_PATTERN))] })
}

fn by_seat(registry: &Registry, value: &Value) -> Value {
    let most = most_seats(registry);
    json!({ "type": "object", "maxProperties": most, "additionalProperties": value })
}

fn recall(registry: &Registry) -> Value {
    let most = whole(&RECALLED).given(registry);
    let from = json!({ "type": "array", "maxItems": RECALLED.end(), "items": text(LONGEST_ID, DISCUSSION) });
    let object = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "most": nullable(most.clone()), "from": nullable(from), "session": nullable(Form::Id.given(registry)),
        },
    });
    json!({ "oneOf": [most, object, { "type": "null" }] })
}

fn simulate(registry: &Registry) -> Value {
    let share = nullable(number(&SHARE).given(registry));
    json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "latencyMs": nullable(whole(&LATENCY_MS).given(registry)),
            "failure": share, "stubbornness": share,
            "dead": {
                "type": "array", "maxItems": most_seats(registry),
                "items": text(LONGEST_NAME, NAME_PATTERN),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::request::flags;

    #[test]
    fn every_field_of_a_request_is_described() {
        let described: BTreeSet<&str> = names().collect();
        let showing: BTreeSet<&str> = flags::SHOWING.iter().map(|it| it.long).collect();
        let known = flags::reserved().into_iter().filter(|it| !showing.contains(it)).collect();
        assert_eq!(described, known);
    }
}
