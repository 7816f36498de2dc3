//! Runs a workflow of the server's folders.

use quorum::{
    Request,
    config::nearest,
    model::excerpt::in_short,
    workflow::{RunError, RunOrder, find::folders},
};
use serde_json::{Map, Value};

use crate::{
    mcp::{
        Surface,
        arguments::Mistake,
        call::{Call, Reply},
        failure::Failure,
        order::{self, Work},
        schema,
        tools::{CAPS, Effect, Form, Tool, about_money, without},
    },
    routes::{
        discussions::choose_voices,
        workflows::{named, names},
    },
};

/// How many names are listed for one that is unknown.
const MOST_NAMES: usize = 20;

/// The fields of an order that apply to a whole run.
const OF_AN_ORDER: &[&str] = &["maxCalls", "maxCost", "offline"];

pub(crate) const TOOL: Tool = Tool {
    name: "workflow_run",
    title: "Run a workflow",
    description,
    effect: Effect::Spends,
    form: Form::Json,
    input,
    output: schema::described_run,
    run: |call, mistakes| {
        Box::pin(async move {
            without(&mistakes)?;
            run(call).await
        })
    },
};

fn description(surface: &Surface<'_>) -> String {
    format!(
        "Runs a workflow, which the user has written to a file, by its name, and returns the output of \
         its last step. Its steps may use memory and no other tool. An unknown name is refused with the \
         names that there are. {}",
        about_money(surface, CAPS)
    )
}

fn input(surface: &Surface<'_>) -> Value {
    let mut fields: Map<String, Value> = schema::order_fields(surface)
        .into_iter()
        .filter(|(name, _)| OF_AN_ORDER.contains(&name.as_str()))
        .collect();
    fields
        .insert("name".to_owned(), schema::name("The workflow's name: that of its file, without the ending"));
    fields.insert("input".to_owned(), schema::any("What the run is given: a text, an object, or a list"));
    fields.extend(schema::call_fields());
    fields.insert("idempotencyKey".to_owned(), schema::key());
    schema::object(&fields, &["name"])
}

async fn run(call: &Call) -> Result<Reply, Failure> {
    let name = call.text("name").unwrap_or_default();
    let folders = folders(&call.scope.quorum().config().file);
    let known = names(&folders);
    if !known.iter().any(|it| it == name) {
        return Err(unknown(name, &known));
    }
    let (file, text) = named(name, &folders)?;
    let mut request = Request {
        max_calls: call.whole("maxCalls").map(|it| it as u32),
        max_cost: call.arguments.get("maxCost").and_then(Value::as_f64),
        offline: call.arguments.get("offline").and_then(Value::as_bool),
        ..Request::default()
    };
    choose_voices(&call.app, &mut request);
    let order = RunOrder {
        file,
        text,
        input: call.arguments.get("input").cloned().unwrap_or_default(),
        request,
        how_to_allow: "only memory can be used here".to_owned(),
        ..RunOrder::default()
    };
    let spec = call.scope.plan_workflow(&order).map_err(refused)?;
    order::placed(call, &Work::Order(Box::new(spec)), digest(&order)).await
}

/// The failure for a name that no workflow has, with the names that there are.
fn unknown(name: &str, known: &[String]) -> Failure {
    let meant = nearest(name, known.iter().map(String::as_str));
    let meant = meant.map(|it| format!(" (did you mean {it}?)")).unwrap_or_default();
    let listed: Vec<&str> = known.iter().take(MOST_NAMES).map(String::as_str).collect();
    let there = match known.len().saturating_sub(MOST_NAMES) {
        _ if known.is_empty() => "; there are no workflows".to_owned(),
        0 => format!("; all workflows: {}", listed.join(", ")),
        others => format!("; workflows: {} and {others} more", listed.join(", ")),
    };
    let message = format!("there is no workflow named \"{}\"{meant}{there}", in_short(name));
    Failure::mistakes(&[Mistake { field: "name".to_owned(), message }])
}

/// The same file with the same input and limits is the same order.
fn digest(order: &RunOrder) -> String {
    let limits = serde_json::to_string(&order.request).unwrap_or_default();
    let text = String::from_utf8_lossy(&order.text);
    order::digest_of(&format!("workflow\n{limits}\n{}\n{}\n{text}", order.file, order.input))
}

fn refused(error: RunError) -> Failure {
    match error {
        RunError::Wrong(wrong) => {
            let mistake = |message| Mistake { field: "workflow".to_owned(), message };
            Failure::mistakes(&wrong.lines().into_iter().map(mistake).collect::<Vec<_>>())
        }
        RunError::Quorum(error) => error.into(),
    }
}
