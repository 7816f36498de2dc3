//! Input and output schemas of tools, made from the fields of a request and the registry.

use quorum::request::{
    fields,
    limits::{LONGEST_NAME, LONGEST_SEARCH, MOST_SAID},
};
use serde_json::{Map, Value, json};

use crate::{
    mcp::{Surface, answer::STATUSES, failure, run},
    wire::{meanings, order::LONGEST_KEY},
};

/// How long a call may wait before it answers with a handle, in milliseconds. Common clients give
/// up after 60 s.
pub(crate) const LONGEST_WAIT_MS: u64 = 50_000;

/// Other names of a field, which the first clients send.
pub(crate) const ALIASES: &[(&str, &str)] = &[
    ("consensusMethod", "consensus"),
    ("timeout", "providerTimeout"),
    ("agentWeightMultiplier", "agentWeight"),
];

/// The name of the time budget where sub-discussions are allowed.
pub(crate) const TOTAL_BUDGET: (&str, &str) = ("totalBudget", "budgetMs");

/// The fields of every answer about a discussion.
const IN_EVERY_ANSWER: &[&str] = &["discussionId", "status", "next"];

/// The fields of a handle.
const HANDLE: &[&str] = &[
    "discussionId",
    "status",
    "topic",
    "pattern",
    "round",
    "rounds",
    "phase",
    "speakersDone",
    "speakersMissing",
    "simulated",
    "elapsedMs",
    "costUsd",
    "awaits",
    "leftOut",
    "uri",
    "next",
];

/// The kinds of a participant written as an object.
pub(crate) const KINDS: &[&str] = &["provider", "agent", "person"];

/// The descriptions of fields where models need other words than readers of the HTTP API, and of
/// other names of fields. All other fields have their meaning there, or their own.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("participants", "All participants in seating order, people included; instead of providers"),
    ("task", "Only with agents: the kind of task, which selects their providers. The question is the topic"),
    ("consensus", "Another name of consensusMethod"),
    ("timeout", "The time limit for one answer, in milliseconds"),
    ("providerTimeout", "Another name of timeout"),
    ("maxCost", "The most it may cost, in USD: calls that don't fit are not made"),
    ("agentWeight", "Another name of agentWeightMultiplier"),
    ("agentWeightMultiplier", "How much more an agent's vote counts than a provider's"),
    ("offline", "Use simulated voices, which cost nothing and invent their answers"),
];

/// The schema of an order, with the fields that only a call has.
pub(crate) fn order(surface: &Surface<'_>) -> Value {
    let mut properties = order_fields(surface);
    properties.extend(call_fields());
    properties.insert("idempotencyKey".to_owned(), key());
    object(&properties, &["topic"])
}

/// The fields of a request: no null, since a field is left out; with descriptions and other names.
pub(crate) fn order_fields(surface: &Surface<'_>) -> Map<String, Value> {
    let registry = surface.registry;
    let mut fields: Map<String, Value> =
        fields::schemas(registry).into_iter().map(|(name, schema)| (name, without_null(schema))).collect();
    for (alias, field) in ALIASES {
        if let Some(schema) = fields.get(*field).filter(|_| !fields.contains_key(*alias)) {
            fields.insert((*alias).to_owned(), first_alternative(schema));
        }
    }
    allow_objects(&mut fields);
    describe(&mut fields, surface);
    fields
}

/// Of several forms of a value, the plain one.
fn first_alternative(schema: &Value) -> Value {
    schema["oneOf"].get(0).unwrap_or(schema).clone()
}

/// Participants may also be written as objects with a type and an id.
fn allow_objects(fields: &mut Map<String, Value>) {
    let items = fields.get_mut("participants").and_then(|it| it.get_mut("items")?.get_mut("oneOf"));
    if let Some(Value::Array(alternatives)) = items {
        // Instead of one form for each type: of several alternatives, only one may fit.
        alternatives.retain(|it| it.get("oneOf").is_none());
        alternatives.push(json!({
            "type": "object", "required": ["type", "id"], "additionalProperties": false,
            "properties": {
                "type": { "type": "string", "enum": KINDS },
                "id": { "type": "string", "minLength": 1, "maxLength": LONGEST_NAME },
            },
        }));
    }
}

fn describe(fields: &mut Map<String, Value>, surface: &Surface<'_>) {
    let registry = surface.registry;
    let listed = |all: Vec<(&str, &str)>| {
        all.iter().map(|(name, summary)| format!("{name}: {summary}")).collect::<Vec<_>>().join("; ")
    };
    let patterns = listed(registry.patterns().iter().map(|it| (it.name, it.summary)).collect());
    let methods = listed(registry.methods().iter().map(|it| (it.name, it.summary)).collect());
    let models = surface.names.of("list_models");
    let providers = format!(
        "The models that take part: `claude`, or `claude/MODEL`; {models} lists them. Left out: the default panel"
    );
    let fixed = DESCRIPTIONS.iter().map(|(name, text)| (*name, (*text).to_owned()));
    let voting: Vec<&str> = registry.patterns().iter().filter(|it| it.votes).map(|it| it.name).collect();
    let options = format!("What can be voted for; needed with the patterns that vote: {}", voting.join(", "));
    let derived = [
        ("pattern", patterns),
        ("consensusMethod", methods),
        ("votingOptions", options),
        ("providers", providers),
    ];
    for (name, text) in fixed.chain(derived) {
        if let Some(Value::Object(schema)) = fields.get_mut(name) {
            schema.entry("description").or_insert(Value::String(text));
        }
    }
    meanings::add(fields);
}

/// The schema without null among its types and values.
fn without_null(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(keys) => {
            let kind = keys.get("type").and_then(Value::as_array);
            if let Some(kind) = kind.and_then(|all| all.iter().find(|it| *it != "null")).cloned() {
                keys.insert("type".to_owned(), kind);
            }
            if let Some(Value::Array(values)) = keys.get_mut("enum") {
                values.retain(|it| !it.is_null());
            }
            if let Some(Value::Array(alternatives)) = keys.get_mut("oneOf") {
                alternatives.retain(|it| it["type"] != "null");
            }
            // The check of the request words it better, and no model reads it.
            keys.retain(|key, value| key != "pattern" || !value.is_string());
            // Not every client knows this format of numbers.
            keys.retain(|key, value| key != "format" || value != "int64");
            keys.values_mut().for_each(|it| *it = without_null(it.take()));
        }
        Value::Array(values) => values.iter_mut().for_each(|it| *it = without_null(it.take())),
        _ => {}
    }
    schema
}

/// How long a call waits, and how much it answers with.
pub(crate) fn call_fields() -> Map<String, Value> {
    let fields = [
        ("maxWaitMs", wait()),
        ("fullOutput", flag("Answer with the whole result document instead of a compact one")),
    ];
    fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// A wait in milliseconds.
pub(crate) fn wait() -> Value {
    json!({
        "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT_MS, "default": LONGEST_WAIT_MS,
        "description": "How long to wait for the result, in milliseconds, before answering with a handle",
    })
}

pub(crate) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "default": false, "description": description })
}

pub(crate) fn key() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": LONGEST_KEY,
        "description": "Your own key for this order: the same key and order give the same discussion",
    })
}

/// A discussion's id. Any text is taken, so that a malformed id is as unknown as any other.
pub(crate) fn id() -> Value {
    json!({ "type": "string", "description": "The discussion's id" })
}

/// Words of a person.
pub(crate) fn words(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": MOST_SAID, "description": description })
}

pub(crate) fn name(description: &str) -> Value {
    json!({ "type": "string", "maxLength": LONGEST_NAME, "description": description })
}

/// Any value. Its kinds are named, because clients warn of a schema that says nothing.
pub(crate) fn any(description: &str) -> Value {
    let kinds = ["object", "array", "string", "number", "boolean"].map(|it| json!({ "type": it }));
    json!({ "anyOf": kinds, "description": description })
}

/// Words to search for.
pub(crate) fn query() -> Value {
    json!({ "type": "string", "maxLength": LONGEST_SEARCH, "description": "Words to search for" })
}

/// An input schema: these fields and no others.
pub(crate) fn object(properties: &Map<String, Value>, required: &[&str]) -> Value {
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

/// An output schema: these properties, or those of an error.
pub(crate) fn output(properties: Value, required: &[&str]) -> Value {
    let mut all = failure::properties();
    if let Value::Object(properties) = properties {
        all.extend(properties);
    }
    json!({
        "type": "object", "properties": all,
        "anyOf": [{ "required": required }, { "required": ["code", "message", "tool"] }],
    })
}

/// The output schema of the tool that describes a discussion's handle and result for all others:
/// clients show the whole list of tools to their models.
pub(crate) fn described_discussion(_: &Surface<'_>) -> Value {
    output(discussion_properties(), IN_EVERY_ANSWER)
}

/// The same without descriptions.
pub(crate) fn discussion(surface: &Surface<'_>) -> Value {
    without_descriptions(described_discussion(surface))
}

/// The same, of a discussion that may be the run of a workflow.
pub(crate) fn discussion_or_run(surface: &Surface<'_>) -> Value {
    without_descriptions(described_run(surface))
}

/// The same, with descriptions of a run's own fields.
pub(crate) fn described_run(surface: &Surface<'_>) -> Value {
    let mut schema = discussion(surface);
    if let (Some(all), Value::Object(of_a_run)) = (schema["properties"].as_object_mut(), run::properties()) {
        all.extend(of_a_run);
    }
    schema
}

/// The same for tools that usually answer with a handle: without what is inside the fields of a
/// result.
pub(crate) fn handle_or_result(surface: &Surface<'_>) -> Value {
    let mut schema = discussion_or_run(surface);
    let fields = schema["properties"].as_object_mut().into_iter().flatten();
    for (_, field) in fields.filter(|(name, _)| !HANDLE.contains(&name.as_str())) {
        if let Some(keys) = field.as_object_mut() {
            keys.retain(|key, _| !["properties", "required", "items"].contains(&key.as_str()));
        }
    }
    schema
}

/// The output schema of a tool that answers with a handle.
pub(crate) fn handle() -> Value {
    let mut properties = discussion_properties();
    if let Some(all) = properties.as_object_mut() {
        all.retain(|name, _| HANDLE.contains(&name.as_str()));
    }
    without_descriptions(output(properties, IN_EVERY_ANSWER))
}

fn without_descriptions(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(keys) => {
            keys.retain(|key, value| key != "description" || !value.is_string());
            keys.values_mut().for_each(|it| *it = without_descriptions(it.take()));
        }
        Value::Array(values) => values.iter_mut().for_each(|it| *it = without_descriptions(it.take())),
        _ => {}
    }
    schema
}

fn discussion_properties() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let amount = json!({ "type": "number", "minimum": 0 });
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "synthesis": { "type": "string", "description": "The panel's answer" },
        "discussionId": { "type": "string", "format": "uuid" },
        "status": { "type": "string", "enum": STATUSES },
        "outcome": outcome(),
        "success": { "type": "boolean" },
        "degraded": { "type": "boolean", "description": "Whether less went into it than was planned" },
        "simulated": { "type": "boolean", "description": "Whether the answers are made up" },
        "pattern": { "type": "string" },
        "topic": { "type": "string" },
        "agreementScore": { "type": "number", "minimum": 0, "maximum": 1 },
        "dissent": { "type": "array", "items": {
            "type": "object", "required": ["provider", "position"],
            "properties": { "provider": { "type": "string" }, "position": { "type": "string" } },
        } },
        "votes": { "type": "object", "description": "The votes, where the panel voted" },
        "support": { "type": "string", "description": "How many sentences of the answer rest on what was said" },
        "dropped": { "type": "array", "description": "Views that the answer leaves out", "items": {
            "type": "object", "required": ["participant", "round", "text"],
            "properties": {
                "participant": { "type": "string" }, "round": count, "text": { "type": "string" },
            },
        } },
        "provenance": {
            "type": "array", "items": { "type": "object" },
            "description": "Each sentence of the answer by its place, with its level and its sources",
        },
        "agents": {
            "type": "array", "items": { "type": "object" },
            "description": "The provider that answered for each agent, and why",
        },
        "recalled": {
            "type": "array", "items": { "type": "object" },
            "description": "The past discussions that were shown to the panel, if any were asked for",
        },
        "participatingProviders": texts, "failedProviders": texts,
        "costSummary": { "type": "object", "properties": {
            "totalCalls": count, "totalTokens": count, "estimatedCostUsd": amount,
        } },
        "totalDurationMs": count,
        "error": { "type": "object", "required": ["code", "message"], "properties": {
            "code": { "type": "string" }, "message": { "type": "string" },
        } },
        "round": count,
        "rounds": {
            "description": "The number of rounds while it runs, or the rounds themselves",
            // A list of types would be shorter, and not every client knows one.
            "anyOf": [{ "type": "integer" }, { "type": "array" }],
        },
        "phase": { "type": "string" },
        "speakersDone": texts, "speakersMissing": texts,
        "costUsd": amount, "elapsedMs": count,
        "awaits": { "type": "array", "items": {
            "type": "object", "required": ["participant", "prompt"],
            "properties": { "participant": { "type": "string" }, "prompt": { "type": "string" } },
        } },
        "section": { "type": "string" },
        "leftOut": { "type": "string", "description": "What did not fit" },
        "joined": { "type": "boolean", "description": "Whether an equal order was running already" },
        "panel": { "type": "string", "description": "How the panel differs from the default panel" },
        "uri": { "type": "string", "description": "The resource with everything" },
        "next": { "type": "string", "description": "What to call now" },
    })
}

fn outcome() -> Value {
    json!({
        "type": "object", "required": ["kind", "degraded", "simulated"],
        "properties": {
            "kind": { "type": "string" },
            "for": { "type": "integer" }, "of": { "type": "integer" },
            "degraded": { "type": "boolean" }, "simulated": { "type": "boolean" },
        },
        "description": "What the result is: answered, adopted, not_adopted, tie or no_consensus",
    })
}
