//! Waits for the result of a discussion, and goes on with one that no process runs.

use serde_json::{Map, Value, json};

use crate::mcp::{
    Surface,
    answer::Extent,
    call::{Call, Reply},
    failure::Failure,
    progress::Since,
    schema,
    tools::{Effect, Form, Tool, without},
    wait::{Start, Wait, told},
};

const SECTIONS: &[&str] = &["synthesis", "sources", "dissent", "votes", "rounds"];

pub(crate) const TOOL: Tool = Tool {
    name: "result",
    title: "Get a result",
    description,
    effect: Effect::GoesOn,
    form: Form::Json,
    input,
    output: schema::discussion_or_run,
    run: |call, mistakes| {
        Box::pin(async move {
            without(&mistakes)?;
            run(call).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    let control = surface.names.of("control");
    format!(
        "Waits for the result of a discussion and returns it, or its handle if it goes on. Goes on with \
         a discussion that no process runs, which costs what is left of it; what was paused stays paused \
         until {control} resumes it. section returns one part of a long result."
    )
}

fn input(_: &Surface<'_>) -> Value {
    let round = json!({
        "type": "integer", "minimum": 1, "description": "Only this round; with the section rounds",
    });
    let fields = [
        ("id", schema::id()),
        ("waitMs", schema::wait()),
        ("fullOutput", schema::flag("The whole result document instead of a compact one")),
        ("section", json!({ "type": "string", "enum": SECTIONS, "description": "Only this part" })),
        ("round", round),
    ];
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    schema::object(&fields, &["id"])
}

async fn run(call: &Call) -> Result<Reply, Failure> {
    let discussion = call.discussion().await?;
    let until = call.until("waitMs");
    let wait = Wait { call, discussion: &discussion, until, start: Start::AsItIs, since: Since::Now };
    let (_, listener) = wait.end().await?;
    let Some(section) = call.text("section") else {
        return Ok(Reply::done(told(call, &listener, Extent::of(&call.arguments))?));
    };
    let part = listener.look(|state| call.writer().section(state, section, call.whole("round")));
    Ok(Reply::done(part.ok_or_else(Failure::no_such_discussion)?))
}
