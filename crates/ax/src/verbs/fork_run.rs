//! `ax fork` of a run: goes on with other input or a changed workflow, and does again only what
//! differs.

use quorum::{
    Discussion, Request, RunForking, Scope,
    workflow::{RunError, RunOrder, plan_of},
};
use serde_json::Value;

use crate::{
    args::Fork,
    exit::{Exit, Usage},
    live::{
        events::ProcessSignals,
        session::{self, SessionOptions},
    },
    render::note,
    verbs::{run, run_plan},
};

/// Checks the fork, then shows what it would do or runs it.
pub(super) async fn fork(scope: &Scope, past: &Discussion, args: &Fork) -> anyhow::Result<Exit> {
    if args.has_discussion_flags() {
        let message = "a run has no participants, rounds and options of its own; change --set, --input, \
                       --variables or --workflow";
        return Err(Usage(message.to_owned()).into());
    }
    let forking = forking(scope, past, args).await?;
    let forked = match past.check_run_fork(&forking).await {
        Ok(forked) => forked,
        Err(RunError::Wrong(wrong)) => return Ok(run::report(&wrong)),
        Err(RunError::Quorum(error)) => return Err(error.into()),
    };
    let kept = past.reusable_steps(&forked).await?;
    if args.dry_run {
        return run_plan::show(scope, forked.spec(), Some(&kept), args.output).await;
    }
    note(&format!("Kept from {}: {}.", past.id(), listed(&kept.kept)));
    let signals = ProcessSignals::new()?;
    let started = past.fork_run(forked, None).await?;
    match started.handle {
        Some(handle) => {
            session::run(&started.discussion, handle, signals, SessionOptions::shown(args.output)).await
        }
        None => Ok(Exit::Done),
    }
}

fn listed(steps: &[String]) -> String {
    if steps.is_empty() { "no step".to_owned() } else { steps.join(", ") }
}

async fn forking(scope: &Scope, past: &Discussion, args: &Fork) -> anyhow::Result<RunForking> {
    let mut order = match &args.workflow {
        Some(workflow) => run::order(scope, workflow, &args.allow_tools)?,
        None => RunOrder {
            allow_tools: args.allow_tools.clone(),
            how_to_allow: run::HOW_TO_ALLOW.to_owned(),
            declared_tools: true,
            ..RunOrder::default()
        },
    };
    order.request = Request { max_calls: args.max_calls, ..Request::default() };
    let input = if args.input.is_some() || !args.set.is_empty() {
        let before = plan_of(&past.state().await?.spec).map_or(Value::Null, |it| it.input);
        Some(run::input(args.input.as_deref(), &args.set, before)?)
    } else {
        None
    };
    Ok(RunForking {
        at: args.at.clone().unwrap_or_default(),
        input,
        variables: run::variables(args.variables.as_deref())?,
        order,
        rerun_tools: args.rerun_tools,
    })
}
