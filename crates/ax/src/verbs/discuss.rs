//! `ax discuss`, `ax follow` and `ax fork`: check a request and start the discussion.

use std::collections::BTreeSet;

use quorum::{
    Complaint, Discussion, Error, Request, Scope,
    model::{error::Refusal, spec::Spec},
    workflow::plan_of,
};

use crate::{
    args::{Discuss, Fork, Output, Shape, input::Input},
    exit::{Exit, Requirement, THRESHOLD, Usage},
    live::{
        events::ProcessSignals,
        session::{self, Greeting, SessionOptions},
    },
    render::{note, note_always, print, set_quiet, wording},
    verbs::{
        detach, fork_run,
        plan::{self, Forecast},
        restore::expire_old,
    },
};

const NO_PROVIDER: &str = "\
    Simulated: no provider is available, so everything below is made up. For real answers set a \
    key such as ANTHROPIC_API_KEY, start Ollama, or log in to the claude command; `ax doctor` says \
    more.";

/// Starts a discussion and stays until it is over; or only shows its plan, or leaves it to another
/// process.
pub(crate) async fn discuss(scope: &Scope, args: &Discuss) -> anyhow::Result<Exit> {
    let (config, preset) = (scope.quorum().config(), args.preset.as_deref());
    let output = args.output.or_configured(config, preset);
    let is_on = |long: &str| config.showing(preset, long) == Some(&serde_json::Value::Bool(true));
    if is_on("quiet") {
        set_quiet();
    }
    // A refused request must change nothing.
    let spec = order(scope, args).await?;
    let greeting = announce(scope, args, output)?;
    wording::earlier(&spec).iter().for_each(|line| note(line));
    let consensus = args.requires_consensus() || is_on("require-consensus");
    let configured = || config.showing(preset, "require-support")?.as_f64();
    let requirement = Requirement { consensus, support: args.requires_support().or_else(configured) };
    for remark in scope.remarks(&spec).iter().filter(|it| !is_used_here(it, requirement)) {
        note(&wording::remark(remark, scope.quorum().registry()));
    }
    if args.dry_run {
        return plan::show(&scope.plan(&spec).await?, output, Forecast::worst_if(args.worst_case));
    }
    expire_old(scope.quorum()).await;
    if args.detach {
        return detach::detach(scope, spec, output).await;
    }
    let signals = ProcessSignals::new()?;
    let (discussion, handle) = scope.start(spec).await?;
    let options = SessionOptions { requirement, greeting, ..SessionOptions::shown(output) };
    session::run(&discussion, handle, signals, options).await
}

/// Whether a value without effect on the discussion has one on the exit code: required consensus is
/// measured by the threshold.
fn is_used_here(remark: &Refusal, requirement: Requirement) -> bool {
    remark.field == THRESHOLD && requirement.consensus
}

/// Announces the panel if it is not the default one: simulated without being requested, or made up
/// of the available providers.
fn announce(scope: &Scope, args: &Discuss, output: Output) -> anyhow::Result<Greeting> {
    let request = args.request();
    // A past request names its panel.
    let has_past = args.again.is_some() || request.follows.is_some();
    if let Some(choice) = scope.panel_choice(&request).filter(|_| !has_past) {
        note(&wording::panel(&choice));
    }
    announce_simulation(scope, &request, output)
}

/// Says that the voices are simulated, where the request doesn't ask for that.
pub(super) fn announce_simulation(
    scope: &Scope,
    request: &Request,
    output: Output,
) -> anyhow::Result<Greeting> {
    if !scope.simulates_unasked(request) {
        return Ok(Greeting::Whole);
    }
    match output.shape() {
        Shape::Text | Shape::Md => print(NO_PROVIDER)?,
        // A JSON document says so itself, and nothing may be printed beside it.
        Shape::Json | Shape::Jsonl => note_always(NO_PROVIDER),
    }
    Ok(Greeting::WithoutSimulationNotice)
}

/// The checked request.
async fn order(scope: &Scope, args: &Discuss) -> anyhow::Result<Spec> {
    let mut request = args.request();
    request.voting_options = args.options().map_err(|wrong| Usage(format!("--options: {wrong}")))?;
    let input = Input { topic: args.topic.as_deref(), context: args.context.as_deref(), files: &args.files };
    let (topic, context) = input.with_stdin()?;
    (request.topic, request.context) = (topic.clone().unwrap_or_default(), context);
    if let Some(session) = &args.session {
        request.session_id = Some(scope.find_session(session).await?.to_string());
    }
    match &args.again {
        Some(_) if topic.is_some_and(|it| it.trim().is_empty()) => {
            let message = "<topic>: is empty; leave it out to keep that of the past discussion";
            Err(Usage(message.to_owned()).into())
        }
        Some(past) => {
            let spec = scope.find(past).await?.again(&request).await?;
            Ok(scope.with_recalled(spec).await?)
        }
        None if args.is_follow => Ok(scope.order(&request).await.map_err(named_as_in_follow)?),
        None => Ok(scope.order(&request).await?),
    }
}

/// A refusal that names the arguments of `ax follow`, which are flags or named otherwise elsewhere.
fn named_as_in_follow(error: Error) -> Error {
    let argument = |field: String| match field.as_str() {
        "follows" => "ID".to_owned(),
        "topic" => "QUESTION".to_owned(),
        _ => field,
    };
    match error {
        Error::Refused(all) => {
            Error::Refused(all.into_iter().map(|it| Complaint { field: argument(it.field), ..it }).collect())
        }
        other => other,
    }
}

/// The steps that a fork can continue from.
async fn steps(past: &Discussion) -> anyhow::Result<String> {
    let state = past.state().await?;
    let steps: BTreeSet<String> = match plan_of(&state.spec) {
        Some(plan) => plan.steps.iter().map(|it| it.id.clone()).collect(),
        None => state.turns.iter().map(|it| it.step.as_str().to_owned()).collect(),
    };
    let steps: Vec<String> = steps.into_iter().collect();
    Ok(if steps.is_empty() {
        "it has no step yet".to_owned()
    } else {
        format!("there are {}", steps.join(", "))
    })
}

/// `ax fork`
pub(crate) async fn fork(scope: &Scope, args: &Fork) -> anyhow::Result<Exit> {
    let past = scope.find(&args.which.id).await?;
    if args.at.is_none() {
        return Err(Usage(format!("--at STEP is missing; {}", steps(&past).await?)).into());
    }
    if past.is_run().await? {
        return fork_run::fork(scope, &past, args).await;
    }
    if let Some(flag) = args.workflow_flags().first() {
        return Err(Usage(format!("{flag}: applies only to workflow runs, and this is a discussion")).into());
    }
    if args.dry_run {
        let plan = past.plan_fork(&args.forking()).await?;
        return plan::show(&plan, args.output, Forecast::worst_if(args.worst_case));
    }
    let signals = ProcessSignals::new()?;
    let (discussion, handle) = past.fork(&args.forking()).await?;
    session::run(&discussion, handle, signals, SessionOptions::shown(args.output)).await
}
