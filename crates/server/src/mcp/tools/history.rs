//! Lists or searches past discussions.

use quorum::{listing::Entry, model::id::DiscussionId, text::line};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::mcp::{
    Surface,
    call::{Call, Reply},
    failure::Failure,
    fit, schema,
    tools::{Effect, Form, Tool, without},
};

const MOST: u64 = 50;
const USUAL: u64 = 20;

pub(crate) const TOOL: Tool = Tool {
    name: "history",
    title: "Find past discussions",
    description,
    effect: Effect::Reads,
    form: Form::Json,
    input,
    output,
    run: |call, mistakes| {
        Box::pin(async move {
            without(&mistakes)?;
            run(call).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    let result = surface.names.of("result");
    format!(
        "Lists past discussions, newest first, or those that match words, most relevant first. {result} \
         returns one of them. Costs nothing."
    )
}

fn input(_: &Surface<'_>) -> Value {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL,
        "description": "How many to list at most",
    });
    let session = json!({ "type": "string", "format": "uuid", "description": "Only those of this session" });
    let fields = [("query", schema::query()), ("limit", limit), ("sessionId", session)];
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    schema::object(&fields, &[])
}

fn output(_: &Surface<'_>) -> Value {
    let properties = json!({
        "discussions": { "type": "array", "items": {
            "type": "object", "required": ["discussionId", "topic", "pattern", "status", "startedAt"],
            "properties": {
                "discussionId": { "type": "string", "format": "uuid" },
                "topic": { "type": "string" }, "pattern": { "type": "string" },
                "status": { "type": "string" }, "startedAt": { "type": "string" },
                "simulated": { "type": "boolean" }, "success": { "type": "boolean" },
                "excerpt": { "type": "string", "description": "How the synthesis begins" },
                "uri": { "type": "string" },
            },
        } },
        "leftOut": { "type": "string", "description": "What did not fit" },
    });
    schema::output(properties, &["discussions"])
}

async fn run(call: &Call) -> Result<Reply, Failure> {
    let limit = call.whole("limit").unwrap_or(USUAL) as usize;
    let session = call.text("sessionId").and_then(|it| Uuid::parse_str(it).ok());
    let words = call.text("query").map(str::trim).filter(|it| !it.is_empty());
    let found = match words {
        Some(words) => call.scope.search(words, limit, session).await?,
        None => call.scope.list(limit, session).await?,
    };
    Ok(Reply::done(fit::list("discussions", |longest| found.iter().map(|it| listed(it, longest)).collect())))
}

/// An entry whose topic and beginning of the synthesis have at most this many characters.
fn listed(entry: &Entry, longest: usize) -> Value {
    let id: DiscussionId = entry.discussion_id;
    let mut listed = json!({
        "discussionId": id, "topic": line(&entry.topic, longest), "pattern": entry.pattern,
        "status": entry.status, "startedAt": entry.started_at, "simulated": entry.simulated,
        "uri": format!("discussion://{id}/result"),
    });
    if let Some(success) = entry.success {
        listed["success"] = json!(success);
    }
    if let Some(synthesis) = entry.synthesis.as_deref().filter(|it| !it.is_empty()) {
        listed["excerpt"] = json!(line(synthesis, longest));
    }
    listed
}
