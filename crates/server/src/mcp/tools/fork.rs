//! Forks a discussion: goes on from a past step in another way, asking only what is new.

use quorum::{Forking, request::limits::LONGEST_NAME, vocabulary::option::MOST_SEATS};
use serde_json::{Map, Value, json};

use crate::{
    body::Fields,
    mcp::{
        Surface,
        arguments::{self, Mistake},
        call::{Call, Reply},
        failure::Failure,
        order::{self, Work},
        request, schema,
        tools::{CAPS, Effect, Form, Tool, about_money, without},
    },
    wire::order::changes,
};

/// The longest name of a step, in characters.
const LONGEST_STEP: usize = 200;

/// How many fields may be changed at once.
const MOST_CHANGES: usize = 100;

pub(crate) const TOOL: Tool = Tool {
    name: "fork",
    title: "Fork a discussion",
    description,
    effect: Effect::Spends,
    form: Form::Json,
    input,
    output: schema::discussion_or_run,
    run: |call, mistakes| {
        Box::pin(async move {
            let (fields, twice) = request::renamed(changes_of(call));
            without(&[mistakes, mistaken_changes(call, twice)].concat())?;
            run(call, fields).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    let discuss = surface.names.of("discuss");
    format!(
        "Goes on from a past discussion in another way, as a new one: answers up to a step are kept and \
         cost nothing, the rest is asked anew. changes takes the fields of {discuss}. {}",
        about_money(surface, &format!("among the changes, {CAPS}"))
    )
}

fn input(surface: &Surface<'_>) -> Value {
    let discuss = surface.names.of("discuss");
    let mut fields = Map::new();
    fields.insert("id".to_owned(), schema::id());
    fields.insert(
        "at".to_owned(),
        json!({
            "type": "string", "maxLength": LONGEST_STEP,
            "description": "The step up to which answers are kept: round/phase/name. Left out: the last one",
        }),
    );
    fields.insert(
        "changes".to_owned(),
        json!({
            "type": "object", "maxProperties": MOST_CHANGES,
            "description": format!("The fields of {discuss} that change"),
        }),
    );
    fields.insert(
        "without".to_owned(),
        json!({
            "type": "array", "maxItems": MOST_SEATS, "description": "Participants that leave",
            "items": { "type": "string", "maxLength": LONGEST_NAME },
        }),
    );
    fields.extend(schema::call_fields());
    fields.insert("idempotencyKey".to_owned(), schema::key());
    schema::object(&fields, &["id"])
}

/// All mistakes in the changes. The listed schema doesn't repeat the fields of an order: clients
/// show the whole list of tools to their models.
fn mistaken_changes(call: &Call, twice: Vec<Mistake>) -> Vec<Mistake> {
    let surface = Surface { names: &call.app.mcp.names, registry: call.app.registry() };
    let order = schema::object(&schema::order_fields(&surface), &[]);
    let Some(order) = order.as_object() else { return twice };
    let found = arguments::mistakes(order, &arguments::given(Some(changes_of(call))));
    let found = found.into_iter().chain(twice);
    found.map(|it| Mistake { field: format!("changes.{}", it.field), ..it }).collect()
}

/// The changes as they were sent.
fn changes_of(call: &Call) -> Map<String, Value> {
    call.arguments.get("changes").and_then(Value::as_object).cloned().unwrap_or_default()
}

async fn run(call: &Call, changed: Map<String, Value>) -> Result<Reply, Failure> {
    let discussion = call.discussion().await?;
    let forking = forking(call, &discussion, changed).await?;
    let work = Work::Fork { of: &discussion, forking: &forking };
    order::placed(call, &work, order::fork_digest(discussion.id(), &call.arguments)).await
}

async fn forking(
    call: &Call,
    discussion: &quorum::Discussion,
    changed: Map<String, Value>,
) -> Result<Forking, Failure> {
    let at = match call.text("at") {
        Some(at) => at.to_owned(),
        None => {
            let state = discussion.state().await?;
            state.turns.last().map(|it| it.step.to_string()).unwrap_or_default()
        }
    };
    let without = call.arguments.get("without").and_then(Value::as_array).into_iter().flatten();
    let without = without.filter_map(|it| it.as_str().map(str::to_owned)).collect();
    let changes = changes(Fields(changed)).map_err(|it| it.within("changes"))?;
    Ok(Forking { at, without, changes })
}
