//! A request as a checked order: for the panel, or for one voice.

use axum::http::StatusCode;
use quorum::{
    Request, Scope,
    model::{
        client::{ClientOrder, Utterance},
        spec::{Spec, Timing},
    },
    request::{OneVoice, limits::TOKENS_PER_TURN},
};
use serde_json::json;
use tokio::{
    task::spawn_blocking,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    app::App,
    problem::{self, Problem},
    routes::discussions::choose_voices,
    seeds,
    v1::{
        fault::Fault,
        fusion, ignored,
        names::{Listed, found},
        tasks,
        wanted::Wanted,
    },
};

/// The time limit of a discussion whose client gets nothing before the end: its own time-out is
/// usually 600 s.
const LONGEST_WAIT_MS: u64 = 540_000;

/// The usual token limit of a synthesis, and how much of it each token of the answer takes: the
/// list of arguments comes on top, and the length that is asked for leaves some room.
const SYNTHESIS_TOKENS: u32 = 3_072;
const OF_ANSWER: u32 = 4;

/// How the client waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// It gets nothing before the end.
    ForTheEnd,
    /// It reads a stream.
    OnStream,
    /// It asks again later.
    Not,
}

/// A checked order.
pub(crate) struct Ordered {
    pub(crate) spec: Spec,
}

/// Checks a request. `attended` is the digest by which its repetition is recognised, if it runs
/// only while its client waits.
pub(crate) async fn ordered(
    app: &App,
    scope: &Scope,
    wanted: &Wanted,
    attended: Option<String>,
    waiting: Waiting,
) -> Result<Ordered, Fault> {
    let mut listed = found(app, &wanted.model)?;
    if wanted.fusion.is_some() && matches!(listed, Listed::Voice(_) | Listed::Defaults) {
        listed = Listed::Fusion;
    }
    // A voice that was named answers its tasks itself.
    let task = if matches!(listed, Listed::Voice(_)) { None } else { tasks::voice(app, wanted) };
    let client = client_order(wanted, attended);
    let session = match &wanted.session {
        Some(name) => Some(scope.session_named(name).await?.to_string()),
        None => None,
    };
    let spec = match task.map_or(listed, Listed::Voice) {
        Listed::Voice(name) => {
            let request = Request { session_id: session, ..Request::default() };
            let question = Some(wanted.asked.question.clone());
            let client = Some(ClientOrder { question, ..client });
            let spec = one_voice(app, scope, wanted, &name, Request { client, ..request })?;
            enough(app, scope, &spec).await?;
            telling(spec, wanted, ignored::of_panel(&wanted.panel))
        }
        panel => {
            let request = Request { session_id: session, client: Some(client), ..Request::default() };
            let spec = of_panel(app, scope, wanted, panel_request(app, wanted, panel, request))?;
            without_people(&spec)?;
            enough(app, scope, &spec).await?;
            spec
        }
    };
    Ok(Ordered { spec: if waiting == Waiting::ForTheEnd { in_time(spec) } else { spec } })
}

/// Checks an order for the panel.
fn of_panel(app: &App, scope: &Scope, wanted: &Wanted, mut request: Request) -> Result<Spec, Fault> {
    choose_voices(app, &mut request);
    let request = within_configuration(scope, request);
    // Models that the panel itself names come before those of Fusion.
    let fusion = wanted.fusion.as_ref().filter(|_| wanted.panel.providers.is_none());
    let placed = |it: quorum::Error| fusion::at_models(Fault::from(it).in_panel(app.registry()), fusion);
    let spec = scope.check(&request).map_err(placed)?;
    let idle = ignored::without_effect(&wanted.panel, &spec, app.registry());
    let writer = fusion::unseated_writer(app, wanted.fusion.as_ref());
    Ok(telling(spec, wanted, idle.into_iter().chain(writer).collect()))
}

/// The order with the list of what was ignored, these fields among it.
fn telling(mut spec: Spec, wanted: &Wanted, mut more: Vec<String>) -> Spec {
    // Vendors aren't sent a seed: it would make voices of the same model answer alike, and many
    // compatible servers refuse a field that they don't know.
    more.extend(wanted.seed.filter(|_| spec.simulation.is_none()).map(|_| "seed".to_owned()));
    if let Some(client) = &mut spec.client {
        client.ignored = ignored::all(wanted, more);
    }
    spec
}

/// Refuses a panel with people: nobody is told that it waits for them.
fn without_people(spec: &Spec) -> Result<(), Fault> {
    match spec.participants.iter().find(|it| it.is_person()) {
        Some(person) => {
            let message = format!("{} is a person; a model's answer waits for no people", person.name);
            Err(Fault::unsupported("quorum.participants", message))
        }
        None => Ok(()),
    }
}

/// The part of the order that only these clients have.
pub(crate) fn client_order(wanted: &Wanted, attended: Option<String>) -> ClientOrder {
    ClientOrder {
        model: wanted.model.clone(),
        question: None,
        instructions: wanted.asked.instructions.clone(),
        standing: wanted.asked.standing.clone(),
        conversation: wanted.asked.before.clone(),
        schema: wanted.schema.clone(),
        max_tokens: wanted.max_tokens,
        stop: wanted.stop.clone(),
        ignored: Vec::new(),
        attended,
        previous: wanted.previous.clone(),
        thinking: wanted.panel.thinking,
        analysis: wanted.fusion.is_some(),
        repeated: wanted.repeated.clone(),
    }
}

fn panel_request(app: &App, wanted: &Wanted, panel: Listed, request: Request) -> Request {
    let options = &wanted.panel;
    let fusion = wanted.fusion.clone().unwrap_or_default();
    let analysts: Vec<String> = fusion.models.iter().map(|it| fusion::voice(app, it)).collect();
    let mut settings = options.settings.clone();
    let writer = fusion.writer.map(|it| fusion::voice(app, &it)).filter(|it| analysts.contains(it));
    settings.extend(writer.map(|it| ("synthesizer".to_owned(), json!(it))));
    let room = wanted.max_tokens.map(|it| it.saturating_mul(OF_ANSWER).max(256));
    let room = room.filter(|it| *it < SYNTHESIS_TOKENS);
    if let Some(room) = room {
        settings.entry("synthesisTokens".to_owned()).or_insert(json!(room));
    }
    let request = Request {
        topic: wanted.asked.question.clone(),
        temperature: wanted.temperature.or(fusion.temperature),
        seed: wanted.seed,
        rounds: options.rounds,
        voting_options: options.options.clone(),
        providers: options.providers.clone().or(Some(analysts).filter(|it| !it.is_empty())),
        participants: options.participants.clone(),
        max_cost: options.max_cost,
        max_calls: options.max_calls,
        settings,
        ..request
    };
    match panel {
        Listed::Defaults | Listed::Voice(_) => request,
        Listed::Pattern(name) => Request { pattern: Some(name), ..request },
        Listed::Preset(name) => Request { preset: Some(name), ..request },
        Listed::Fusion => {
            let rounds = request.rounds.or(Some(1));
            Request { pattern: Some(seeds::FUSED.to_owned()), rounds, ..request }
        }
    }
}

/// The request with budgets that lower what the configuration allows, and never raise it.
fn within_configuration(scope: &Scope, request: Request) -> Request {
    if request.max_cost.is_none() && request.max_calls.is_none() && request.rounds.is_none() {
        return request;
    }
    let own = Request { max_cost: None, max_calls: None, rounds: None, ..request.clone() };
    let (configured, filled) = scope.quorum().config().fill(&own);
    let least = |given: Option<f64>, most: Option<f64>| match (given, most) {
        (Some(given), Some(most)) => Some(given.min(most)),
        (given, _) => given,
    };
    let rounds = configured.rounds.filter(|_| filled.iter().any(|it| it == "rounds"));
    Request {
        max_cost: least(request.max_cost, configured.max_cost),
        max_calls: request.max_calls.map(|it| configured.max_calls.map_or(it, |most| most.min(it))),
        rounds: request.rounds.map(|it| rounds.map_or(it, |most| most.min(it))),
        ..request
    }
}

/// Refuses a budget that is too small for one round and a decision.
async fn enough(app: &App, scope: &Scope, spec: &Spec) -> Result<(), Fault> {
    if spec.limits.calls.is_none() && spec.limits.usd.is_none() {
        return Ok(());
    }
    let mut least = Spec { rounds: 1, ..spec.clone() };
    (least.limits.calls, least.limits.usd, least.limits.tokens) = (None, None, None);
    let figures = planned(app, scope, least).await?;
    let too_small = |param: &str, message: String| {
        Err(Fault::new(StatusCode::BAD_REQUEST, "budget_too_small", message).at(param))
    };
    if let Some(calls) = spec.limits.calls.filter(|it| *it < figures.calls) {
        let least = figures.calls;
        let message =
            format!("a budget of {calls} is too small; one round and its decision take {least} calls");
        return too_small("quorum.max_calls", message);
    }
    if let Some(usd) = spec.limits.usd.filter(|it| it.dollars() < figures.cost_usd) {
        let least = figures.cost_usd;
        let usd = usd.dollars();
        let message = format!("${usd:.6} is too little; one round and its decision can cost ${least:.6}");
        return too_small("quorum.max_cost", message);
    }
    Ok(())
}

/// The most that this takes if nothing fails. Planned on a thread of its own.
async fn planned(app: &App, scope: &Scope, spec: Spec) -> Result<quorum::Figures, Fault> {
    let latest = Instant::now() + app.limits().plan_time;
    let turn = timeout_at(latest, app.planners.clone().acquire_owned()).await;
    let Ok(Ok(turn)) = turn else {
        let message = "too many plans are being made at the moment; try again later";
        return Err(Problem::new(problem::TOO_MANY, message).after(5).into());
    };
    let (scope, time) = (scope.clone(), latest.saturating_duration_since(Instant::now()));
    let planned = spawn_blocking(move || {
        let _turn = turn;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().ok()?;
        runtime.block_on(async { timeout(time, scope.plan(&spec)).await }).ok()
    });
    match planned.await {
        Ok(Some(Ok(plan))) => Ok(plan.usual),
        Ok(Some(Err(error))) => Err(error.into()),
        Ok(None) | Err(_) => {
            Err(Problem::new(problem::UNAVAILABLE, "the plan took too long; try again later").after(5).into())
        }
    }
}

fn one_voice(app: &App, scope: &Scope, wanted: &Wanted, name: &str, request: Request) -> Result<Spec, Fault> {
    let length = wanted.max_tokens.map(|it| it.clamp(*TOKENS_PER_TURN.start(), *TOKENS_PER_TURN.end()));
    let mut request = Request {
        providers: Some(vec![name.to_owned()]),
        temperature: wanted.temperature,
        seed: wanted.seed,
        max_tokens_per_turn: length,
        max_cost: wanted.panel.max_cost,
        max_calls: wanted.panel.max_calls,
        ..request
    };
    choose_voices(app, &mut request);
    let request = within_configuration(scope, request);
    let asked = &wanted.asked;
    let form = wanted.schema.as_ref().map(|it| {
        format!("Answer with one JSON value and no other text. It must satisfy this JSON Schema:\n\n```json\n{it}\n```")
    });
    let system = asked.instructions.iter().cloned().chain(form).collect::<Vec<_>>().join("\n\n");
    let voice = OneVoice {
        text: with_conversation(&asked.before, &asked.question),
        system: Some(system).filter(|it| !it.is_empty()),
        request,
    };
    Ok(scope.check_one_voice(&voice)?)
}

/// The question after the conversation so far, quoted.
fn with_conversation(before: &[Utterance], question: &str) -> String {
    if before.is_empty() {
        return question.to_owned();
    }
    let said = before.iter().map(|it| {
        let quoted: Vec<String> = it.text.lines().map(|line| format!("> {line}")).collect();
        format!("{}:\n{}", it.by.name(), quoted.join("\n"))
    });
    let said = said.collect::<Vec<_>>().join("\n\n");
    format!("The conversation so far:\n\n{said}\n\nThe user's next message:\n\n{question}")
}

/// The order with a time limit that its client waits for.
fn in_time(spec: Spec) -> Spec {
    let total_ms = spec.timing.total_ms.min(LONGEST_WAIT_MS);
    let reserve_ms = spec.timing.reserve_ms.min(total_ms / 2);
    Spec { timing: Timing { total_ms, reserve_ms, ..spec.timing }, ..spec }
}
