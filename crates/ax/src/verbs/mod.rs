//! The verbs, one file each, and the table that dispatches to them.

mod agents;
mod annotate;
pub(crate) mod complete;
mod config;
mod db;
mod demo;
mod detach;
mod discuss;
mod doctor;
mod eval;
mod export;
mod fork_run;
mod history;
mod keys;
mod mcp;
mod models;
mod outcomes;
mod patterns;
mod plan;
mod prompts;
mod replay;
mod restore;
mod rule;
mod run;
mod run_plan;
mod say;
mod serve;
mod sessions;
mod shell;
mod signals;
mod steer;
mod telemetry;
pub(crate) mod watch;

use std::io::{IsTerminal, stdout};

use quorum::Quorum;

use crate::{
    app::{App, WithoutProviders},
    args::Verb,
    exit::Exit,
    local,
};

/// Runs the verb that was typed.
pub(crate) fn run(app: &App, verb: Verb) -> anyhow::Result<Exit> {
    // These need no store, and must work even if it can't be opened.
    match &verb {
        Verb::Patterns(listed) => return patterns::patterns(app, listed),
        Verb::Agents(args) => return agents::agents(app, args),
        Verb::Models(listed) => return models::models(app, listed),
        Verb::Prices(args) => return models::prices(app, args),
        Verb::Keys(args) => return keys::keys(app, args),
        Verb::Doctor(args) => return doctor::doctor(app, args),
        Verb::Config(args) => return config::config(app, &args.verb),
        Verb::Db(args) => return db::db(app, args),
        Verb::Completions { shell } => return shell::completions(app, *shell),
        Verb::Man { verb, part } => return shell::man(app, verb.as_deref(), part.as_deref()),
        _ => {}
    }
    if let Verb::Serve(args) = &verb {
        return serve::serve(app, args);
    }
    if let Verb::Mcp(args) = &verb {
        return mcp::mcp(app, args);
    }
    if let Verb::Eval(args) = &verb {
        return eval::eval(app, args);
    }
    let quorum = match &verb {
        Verb::Demo(args) => demo::open(app, args)?,
        _ => app.open_here(app.config()?, without_providers(&verb))?,
    };
    if runs_discussions(&verb) {
        telemetry::announce(&quorum);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(perform(app, &quorum, verb));
    runtime.block_on(telemetry::flush(&quorum));
    // Remaining work is not awaited: anything that isn't recorded didn't happen.
    runtime.shutdown_background();
    exit
}

/// Whether this verb runs a discussion, so that there is something to trace.
fn runs_discussions(verb: &Verb) -> bool {
    matches!(verb, Verb::Discuss(_) | Verb::Follow(_) | Verb::Run(_) | Verb::Resume(_) | Verb::Fork(_))
}

/// Simulates only for a person at a terminal, who sees that voices are simulated before using their
/// words.
fn without_providers(verb: &Verb) -> WithoutProviders {
    let is_asking = matches!(verb, Verb::Discuss(_) | Verb::Follow(_) | Verb::Run(_));
    let is_seen = is_asking && stdout().is_terminal();
    if is_seen { WithoutProviders::Simulate } else { WithoutProviders::Refuse }
}

async fn perform(app: &App, quorum: &Quorum, verb: Verb) -> anyhow::Result<Exit> {
    let scope = &local::scope(quorum);
    match verb {
        Verb::Discuss(args) => discuss::discuss(scope, &args).await,
        Verb::Follow(args) => discuss::discuss(scope, &args.into_discuss()).await,
        Verb::Run(args) => run::run(scope, &args).await,
        Verb::Workflow(args) => run::workflow(scope, &args),
        Verb::Resume(args) => match demo::open_left(app, scope, &args.shown.which.id).await? {
            Some(quorum) => steer::resume(&local::scope(&quorum), &args).await,
            None => steer::resume(scope, &args).await,
        },
        Verb::Watch(args) => watch::watch(scope, &args).await,
        Verb::Pause(which) => steer::pause(scope, &which).await,
        Verb::Stop(shown) => match demo::open_left(app, scope, &shown.which.id).await? {
            Some(quorum) => steer::stop(&local::scope(&quorum), &shown).await,
            None => steer::stop(scope, &shown).await,
        },
        Verb::Abort(which) => steer::abort(scope, &which).await,
        Verb::Say(args) => say::say(scope, &args).await,
        Verb::Note(args) => annotate::note(scope, &args).await,
        Verb::Rate(args) => annotate::rate(scope, &args).await,
        Verb::Resolve(args) => outcomes::resolve(scope, &args).await,
        Verb::Calibration(args) => outcomes::calibration(scope, &args).await,
        Verb::Delete(args) => annotate::delete(scope, &args).await,
        Verb::Restore(args) => restore::restore(scope, &args).await,
        Verb::Rule(args) => rule::rule(app, scope, &args).await,
        Verb::Fork(args) => discuss::fork(scope, &args).await,
        Verb::History(args) => history::history(scope, &args).await,
        Verb::Show(args) => history::show(scope, &args).await,
        Verb::Export(args) => export::export(scope, &args).await,
        Verb::Replay(args) => replay::replay(scope, &args).await,
        Verb::Eval(args) => eval::eval(app, &args),
        Verb::Serve(args) => serve::serve(app, &args),
        Verb::Mcp(args) => mcp::mcp(app, &args),
        Verb::Models(listed) => models::models(app, &listed),
        Verb::Prices(args) => models::prices(app, &args),
        Verb::Keys(args) => keys::keys(app, &args),
        Verb::Doctor(args) => doctor::doctor(app, &args),
        Verb::Sessions(args) => sessions::sessions(scope, &args).await,
        Verb::Demo(_) => demo::demo(app, quorum).await,
        Verb::Prompts(args) => prompts::prompts(scope, &args).await,
        Verb::Patterns(listed) => patterns::patterns(app, &listed),
        Verb::Agents(args) => agents::agents(app, &args),
        Verb::Config(args) => config::config(app, &args.verb),
        Verb::Db(args) => db::db(app, &args),
        Verb::Completions { shell } => shell::completions(app, shell),
        Verb::Man { verb, part } => shell::man(app, verb.as_deref(), part.as_deref()),
    }
}
