//! Lists the providers and their models.

use quorum::ProviderEntry;
use serde_json::{Map, Value, json};

use crate::mcp::{
    Surface,
    call::Reply,
    fit, schema,
    tools::{Effect, Form, Tool, without},
};

pub(crate) const TOOL: Tool = Tool {
    name: "list_models",
    title: "List models",
    description: |_| {
        "Lists the providers and their models: which are available here, what the others lack, context \
         windows, and prices in USD per million tokens. Costs nothing."
            .to_owned()
    },
    effect: Effect::Reads,
    form: Form::Json,
    input: |_| schema::object(&Map::new(), &[]),
    output,
    run: |call, mistakes| {
        Box::pin(async move {
            without(&mistakes)?;
            let listed: Vec<Value> = call.app.providers().iter().map(listed).collect();
            let answer = json!({ "providers": listed, "simulated": call.app.are_voices_simulated() });
            Ok(Reply::done(fit::compact(answer, "the list of providers")))
        })
    },
};

fn output(_: &Surface<'_>) -> Value {
    let properties = json!({
        "simulated": { "type": "boolean", "description": "Whether simulated voices answer for all" },
        "providers": { "type": "array", "items": {
            "type": "object", "required": ["name", "available", "models"],
            "properties": {
                "name": { "type": "string" }, "available": { "type": "boolean" },
                "lacks": { "type": "string" },
                "models": { "type": "array", "items": {
                    "type": "object", "required": ["name", "window"],
                    "properties": {
                        "name": { "type": "string" }, "window": { "type": "integer" },
                        "price": { "type": "object" },
                    },
                } },
            },
        } },
    });
    schema::output(properties, &["providers"])
}

fn listed(provider: &ProviderEntry) -> Value {
    let mut listed = json!({
        "name": provider.name, "available": provider.available, "models": provider.models,
    });
    if let Some(lacks) = &provider.lacks {
        listed["lacks"] = json!(lacks);
    }
    listed
}
