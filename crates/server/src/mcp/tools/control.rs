//! Pauses, resumes, ends or annotates a discussion, and makes the decisions it waits for.

use quorum::{
    Discussion, Steered,
    model::{command::Command, ruling::Ruling, state::State},
};
use serde_json::{Map, Value, json};

use crate::{
    mcp::{
        Surface,
        answer::{is_settled, status},
        arguments::Mistake,
        call::{Call, Reply},
        failure::Failure,
        queue::Queued,
        schema,
        tools::{
            Effect, Form, Tool,
            say::{is_as_before, taken},
            without,
        },
    },
    problem::{self, Problem},
};

/// The actions that every discussion takes.
const ACTIONS: &[&str] = &["pause", "resume", "stop", "abort", "note"];

pub(crate) const TOOL: Tool = Tool {
    name: "control",
    title: "Control a discussion",
    description,
    effect: Effect::Controls,
    form: Form::Json,
    input,
    output: schema::handle_or_result,
    run: |call, mistakes| {
        Box::pin(async move {
            without(&mistakes)?;
            run(call).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    let rulings = surface.registry.rulings();
    let decisions: Vec<String> = rulings.iter().map(|it| format!("{}: {}", it.name, it.summary)).collect();
    format!(
        "pause lets the calls under way finish and asks nothing more; resume goes on, which costs money; \
         stop concludes with what was said, by one more call; abort ends it at once, without a conclusion; \
         note adds a remark that is shown to everyone asked from now on. Decisions a discussion may wait \
         for, with choice and candidate: {}.",
        decisions.join("; ")
    )
}

fn input(surface: &Surface<'_>) -> Value {
    let rulings = surface.registry.rulings();
    let decisions = rulings.iter().map(|it| it.name);
    let actions: Vec<&str> = ACTIONS.iter().copied().chain(decisions).collect();
    let mut choices: Vec<&str> = rulings.iter().flat_map(|it| it.choices).map(|it| it.name).collect();
    choices.sort_unstable();
    choices.dedup();
    let fields = [
        ("id", schema::id()),
        ("action", json!({ "type": "string", "enum": actions, "description": "What to do" })),
        ("text", schema::words("The remark; with note")),
        ("choice", json!({ "type": "string", "enum": choices, "description": "With a decision" })),
        ("candidate", schema::name("The participant that the choice names, if it names one")),
    ];
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    schema::object(&fields, &["id", "action"])
}

async fn run(call: &Call) -> Result<Reply, Failure> {
    let discussion = call.discussion().await?;
    let before = discussion.state().await?;
    let action = call.text("action").unwrap_or_default();
    let steered = match action {
        "pause" => steered(call, &discussion, Command::Pause).await?,
        "stop" => steered(call, &discussion, Command::Stop).await?,
        "abort" => steered(call, &discussion, Command::Abort).await?,
        "resume" if call.app.run_slot(call.scope.tenant()).await?.is_none() => {
            call.app.mcp.calls.take_pause(discussion.id());
            discussion.queue_resume(call.app.limits().queued()).await?;
            call.app.mcp.calls.begin_later(Queued::resume(&discussion, &before));
            return Ok(Reply::done(call.writer().queued(&*discussion.state().await?)));
        }
        "resume" => resumed(call, &discussion).await?,
        "note" => {
            discussion.note(needed(call, "text", "note")?).await?;
            return Ok(Reply::done(call.writer().handle(&*discussion.state().await?)));
        }
        kind => {
            let choice = needed(call, "choice", kind)?.to_owned();
            let candidate = call.text("candidate").map(str::to_owned);
            discussion.rule(Ruling { kind: kind.to_owned(), choice, candidate }).await?
        }
    };
    if let Steered::Idle(state) = &steered
        && status(state) != "paused"
    {
        let message = format!("the discussion is not running, so there is nothing to {action}");
        return Err(Problem::new(problem::WRONG_STATE, message).into());
    }
    taken(call, &discussion, steered, |now| has_no_effect(action, &before, now)).await
}

/// Whether the action shows no effect yet: an abort ends the discussion, and a pause or a stop is
/// noted until the calls under way are answered.
fn has_no_effect(action: &str, before: &State, now: &State) -> bool {
    match action {
        "abort" => !now.lifecycle.is_terminal(),
        "pause" | "stop" => is_as_before(now, before) || (now.pending.is_none() && !is_settled(now)),
        _ => is_as_before(now, before),
    }
}

/// Pauses, stops or aborts it. From now on, that is what its user wants: a call that is sent again
/// doesn't resume it.
async fn steered(call: &Call, discussion: &Discussion, command: Command) -> Result<Steered, Failure> {
    call.app.mcp.calls.take_pause(discussion.id());
    Ok(discussion.steer(command).await?)
}

async fn resumed(call: &Call, discussion: &Discussion) -> Result<Steered, Failure> {
    call.app.mcp.calls.take_pause(discussion.id());
    Ok(discussion.resume().await?)
}

/// An argument that this action needs.
fn needed<'c>(call: &'c Call, field: &str, action: &str) -> Result<&'c str, Failure> {
    let missing = || {
        let message = format!("is missing; {action} needs it");
        Failure::mistakes(&[Mistake { field: field.to_owned(), message }])
    };
    call.text(field).ok_or_else(missing)
}
