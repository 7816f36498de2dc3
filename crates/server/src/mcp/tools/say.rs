//! Takes a person's turn.

use quorum::{Discussion, Steered, model::state::State};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::mcp::{
    Surface,
    answer::{Extent, is_settled, status},
    call::{Call, Reply},
    failure::Failure,
    schema,
    task::spoken,
    tools::{Effect, Form, Tool, without},
    wait::{EFFECT, told},
};

pub(crate) const TOOL: Tool = Tool {
    name: "say",
    title: "Speak in a discussion",
    description,
    effect: Effect::Spends,
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
    let result = surface.names.of("result");
    format!(
        "Takes the turn of a person whom a discussion waits for (awaits lists them), and lets it go on, \
         which asks models and costs money. Then call {result}. Refused if nobody is awaited."
    )
}

fn input(_: &Surface<'_>) -> Value {
    let fields = [
        ("id", schema::id()),
        ("text", schema::words("What the person says")),
        ("as", schema::name("The person who speaks, if several are awaited")),
    ];
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    schema::object(&fields, &["id", "text"])
}

async fn run(call: &Call) -> Result<Reply, Failure> {
    let discussion = call.discussion().await?;
    let before = discussion.state().await?;
    let said = spoken(&discussion, call.text("as"), call.text("text").unwrap_or_default()).await?;
    taken(call, &discussion, said, |it| is_as_before(it, &before)).await
}

/// Waits for a moment until an action has taken effect, and says where the discussion stands. It
/// has had none as long as `waits` is true of the state.
pub(crate) async fn taken(
    call: &Call,
    discussion: &Discussion,
    steered: Steered,
    waits: impl Fn(&State) -> bool,
) -> Result<Reply, Failure> {
    if let Steered::Here(handle) = steered {
        call.app.hub.follow(discussion, &handle);
    }
    let mut listener = call.app.hub.hear(discussion).await?;
    let until = Instant::now() + EFFECT;
    while listener.look(&waits) == Some(true) {
        if tokio::time::timeout_at(until, listener.changed()).await.is_err() {
            break;
        }
    }
    Ok(Reply::done(told(call, &listener, Extent::Compact)?))
}

/// Whether nothing has happened yet; where it waited for somebody, whether it still does.
pub(crate) fn is_as_before(state: &State, before: &State) -> bool {
    let waits_as_before = status(state) == status(before) && state.awaiting == before.awaiting;
    state.seq <= before.seq || (is_settled(before) && waits_as_before)
}
