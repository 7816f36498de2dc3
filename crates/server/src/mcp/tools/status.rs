//! Says where discussions stand, without waiting.

use quorum::text::line;
use serde_json::{Map, Value, json};

use crate::mcp::{
    Surface,
    answer::STATUSES,
    call::{Call, Reply},
    failure::Failure,
    fit, schema,
    tools::{Effect, Form, Tool, without},
};

/// How many discussions are listed.
const MOST_LISTED: usize = 50;

pub(crate) const TOOL: Tool = Tool {
    name: "status",
    title: "See where discussions stand",
    description,
    effect: Effect::Reads,
    form: Form::Json,
    input,
    output,
    run: |call, mistakes| {
        Box::pin(async move {
            without(&mistakes)?;
            match call.arguments.contains_key("id") {
                true => one(call).await,
                false => all(call).await,
            }
        })
    },
};

fn description(_: &Surface<'_>) -> String {
    "Says where a discussion stands; without an id, which discussions run or wait for somebody. Never \
     waits, and costs nothing."
        .to_owned()
}

fn input(_: &Surface<'_>) -> Value {
    schema::object(&Map::from_iter([("id".to_owned(), schema::id())]), &[])
}

fn output(_: &Surface<'_>) -> Value {
    let mut schema = schema::handle();
    schema["properties"]["discussions"] = json!({
        "type": "array", "items": {
            "type": "object", "required": ["discussionId", "status", "topic"],
            "properties": {
                "discussionId": { "type": "string", "format": "uuid" },
                "status": { "type": "string", "enum": STATUSES },
                "topic": { "type": "string" },
            },
        },
    });
    if let Some(forms) = schema["anyOf"].as_array_mut() {
        forms.push(json!({ "required": ["discussions"] }));
    }
    schema
}

async fn one(call: &Call) -> Result<Reply, Failure> {
    let state = call.discussion().await?.state().await?;
    let told = call.writer().handle(&state);
    Ok(Reply::Done { structured: told, text: None, is_error: false })
}

async fn all(call: &Call) -> Result<Reply, Failure> {
    // One more shows whether there are others.
    let found = call.scope.unfinished(MOST_LISTED + 1).await?;
    let has_others = found.len() > MOST_LISTED;
    let mut handles = Vec::new();
    for entry in found.into_iter().take(MOST_LISTED) {
        // One that was removed in between is left out.
        let Ok(discussion) = call.scope.discussion(entry.discussion_id).await else { continue };
        handles.push(call.writer().handle(&*discussion.state().await?));
    }
    let entries = |longest: usize| handles.iter().map(|it| listed(it, longest)).collect();
    let mut listed = fit::list("discussions", entries);
    if has_others {
        listed["leftOut"] = json!(left_out(call, &listed));
    }
    Ok(Reply::Done { structured: listed, text: None, is_error: false })
}

/// Which discussions are not in this list, and how to see them.
fn left_out(call: &Call, listed: &Value) -> String {
    let listed = listed["discussions"].as_array().map_or(0, Vec::len);
    let status = call.app.mcp.names.of("status");
    format!("all but the {listed} newest; with an id, {status} tells of any other")
}

/// The handle in a few fields, with texts of at most this many characters.
fn listed(handle: &Value, longest: usize) -> Value {
    let fields = ["discussionId", "status", "topic", "pattern", "round", "rounds", "awaits", "next"];
    let mut listed: Map<String, Value> =
        fields.into_iter().filter_map(|it| Some((it.to_owned(), handle.get(it)?.clone()))).collect();
    let awaits = listed.get_mut("awaits").and_then(Value::as_array_mut).into_iter().flatten();
    awaits.filter_map(|it| it.get_mut("prompt")).for_each(|it| shorten(it, longest));
    listed.get_mut("topic").into_iter().for_each(|it| shorten(it, longest));
    Value::Object(listed)
}

fn shorten(text: &mut Value, longest: usize) {
    if let Some(short) = text.as_str().map(|it| line(it, longest)) {
        *text = json!(short);
    }
}
