//! Holds a short discussion and answers in plain text.

use quorum::{
    model::{id::DiscussionId, outcome::Outcome, state::State},
    text::standing,
};
use serde_json::{Map, Value, json};

use crate::mcp::{
    Surface,
    answer::{STATUSES, is_lost, uri},
    call::{Call, Reply},
    failure::Failure,
    fit, order, request, schema,
    tools::{Effect, Form, Tool, about_money},
};

/// The longest topic, in characters.
const LONGEST_TOPIC: usize = 2_000;

pub(crate) const TOOL: Tool = Tool {
    name: "discuss_quick",
    title: "Ask several models quickly",
    description,
    effect: Effect::Spends,
    form: Form::Text,
    input,
    output,
    run: |call, mistakes| {
        Box::pin(async move {
            let request = request::read(call, one_round(call), mistakes)?;
            let reply = order::held(call, &request).await?;
            in_plain_text(call, reply).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    let caps = format!("to cap it, call {} with maxCost", surface.names.of("discuss"));
    format!(
        "Puts a question to several models for one round and returns their common answer as plain text. {}",
        about_money(surface, &caps)
    )
}

fn input(_: &Surface<'_>) -> Value {
    let topic = json!({
        "type": "string", "minLength": 1, "maxLength": LONGEST_TOPIC, "description": "The question",
    });
    schema::object(&Map::from_iter([("topic".to_owned(), topic)]), &["topic"])
}

fn output(_: &Surface<'_>) -> Value {
    let properties = json!({
        "discussionId": { "type": "string", "format": "uuid" },
        "status": { "type": "string", "enum": STATUSES },
        "success": { "type": "boolean" },
        "synthesis": { "type": "string", "description": "The panel's answer; empty while it runs" },
        "next": { "type": "string", "description": "What to call now" },
    });
    schema::output(properties, &["discussionId", "status", "success", "synthesis"])
}

/// One round of the first pattern, decided by the first method.
fn one_round(call: &Call) -> Map<String, Value> {
    let registry = call.app.registry();
    let mut fields = call.arguments.clone();
    fields.insert("rounds".to_owned(), json!(1));
    if let Some(pattern) = registry.patterns().first() {
        fields.insert("pattern".to_owned(), json!(pattern.name));
    }
    if let Some(method) = registry.methods().first() {
        fields.insert("consensus".to_owned(), json!(method.name));
    }
    fields
}

async fn in_plain_text(call: &Call, reply: Reply) -> Result<Reply, Failure> {
    let Reply::Done { structured, is_error, .. } = reply else { return Ok(reply) };
    let id = structured["discussionId"].as_str().and_then(|it| it.parse().ok());
    let id: DiscussionId = id.ok_or_else(Failure::no_such_discussion)?;
    let state = call.scope.discussion(id).await?.state().await?;
    let outcome = state.outcome();
    let is_over = state.lifecycle.is_terminal();
    let is_error = is_error || (is_over && is_lost(&outcome));
    let text = match structured["status"].as_str() {
        _ if is_error => {
            let problem = outcome.error.as_ref().map(|it| it.message.clone()).unwrap_or_default();
            format!("Error: {problem}")
        }
        Some("completed" | "aborted") => plain(&state, &outcome),
        // The id as well: many clients show a model the text alone.
        status => {
            format!("No answer yet ({}). Discussion {id}: {}", status.unwrap_or_default(), next(&structured))
        }
    };
    let quick = json!({
        "discussionId": structured["discussionId"], "status": structured["status"],
        "success": outcome.success, "synthesis": structured["synthesis"].as_str().unwrap_or_default(),
        "next": next(&structured),
    });
    Ok(Reply::Done { structured: quick, text: Some(text), is_error })
}

fn next(structured: &Value) -> &str {
    structured["next"].as_str().unwrap_or_default()
}

/// The synthesis. If it isn't simply the panel's answer, a line above it says what it is.
fn plain(state: &State, outcome: &Outcome) -> String {
    let is_plain =
        outcome.outcome.is_none_or(|it| it.standing.kind.is_answer() && !it.degraded && !it.simulated);
    let line = if is_plain { None } else { standing(outcome) };
    let line = line.map(|it| it + "\n\n").unwrap_or_default();
    let room = fit::LONGEST - line.chars().count().min(fit::LONGEST / 2);
    line + &fit::cut(&outcome.synthesis, room, &uri(state, "result"))
}
