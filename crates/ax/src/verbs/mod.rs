//! The verbs, one file each, and the table that runs the one that was typed.

mod annotate;
mod config;
mod demo;
mod detach;
mod discuss;
mod doctor;
mod export;
mod history;
mod judge;
mod keys;
mod models;
mod patterns;
mod plan;
mod replay;
mod restore;
mod say;
mod serve;
mod sessions;
mod shell;
mod steer;

use std::sync::Arc;

use quorum::{Config, Quorum};

use crate::{app::App, args::Verb, exit::Exit};

/// Runs the verb that was typed.
pub(crate) fn run(app: &App, verb: Verb) -> anyhow::Result<Exit> {
    // These need no store, and should work where it doesn't.
    match &verb {
        Verb::Patterns(listed) => return patterns::patterns(app, listed),
        Verb::Models(listed) => return models::models(listed),
        Verb::Prices(args) => return models::prices(args),
        Verb::Keys(args) => return keys::keys(args),
        Verb::Doctor(args) => return doctor::doctor(app, args),
        Verb::Config(args) => return config::config(&args.verb),
        Verb::Completions { shell } => return shell::completions(app, *shell),
        Verb::Man { verb, part } => return shell::man(app, verb.as_deref(), part.as_deref()),
        _ => {}
    }
    if let Verb::Serve(args) = &verb {
        return serve::serve(app, args);
    }
    let config = if matches!(verb, Verb::Demo(_)) { demo::config()? } else { Config::load()? };
    let quorum = Arc::new(app.open(config)?.assigning_roles());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(perform(app, &quorum, verb));
    // Nobody waits for what may still be under way: it is recorded, or it did not happen.
    runtime.shutdown_background();
    exit
}

async fn perform(app: &App, quorum: &Arc<Quorum>, verb: Verb) -> anyhow::Result<Exit> {
    match verb {
        Verb::Discuss(args) => discuss::discuss(quorum, &args).await,
        Verb::Resume(args) => steer::resume(quorum, &args).await,
        Verb::Pause(which) => steer::pause(quorum, &which).await,
        Verb::Stop(shown) => steer::stop(quorum, &shown).await,
        Verb::Abort(which) => steer::abort(quorum, &which).await,
        Verb::Say(args) => say::say(quorum, &args).await,
        Verb::Note(args) => annotate::note(quorum, &args).await,
        Verb::Rate(args) => annotate::rate(quorum, &args).await,
        Verb::Delete(args) => annotate::delete(quorum, &args).await,
        Verb::Restore(args) => restore::restore(quorum, &args).await,
        Verb::Judge(args) => judge::judge(quorum, &args).await,
        Verb::Fork(args) => discuss::fork(quorum, &args).await,
        Verb::History(args) => history::history(quorum, &args).await,
        Verb::Show(args) => history::show(quorum, &args).await,
        Verb::Export(args) => export::export(quorum, &args).await,
        Verb::Replay(args) => replay::replay(quorum, &args).await,
        Verb::Serve(args) => serve::serve(app, &args),
        Verb::Models(listed) => models::models(&listed),
        Verb::Prices(args) => models::prices(&args),
        Verb::Keys(args) => keys::keys(&args),
        Verb::Doctor(args) => doctor::doctor(app, &args),
        Verb::Sessions(args) => sessions::sessions(quorum, &args).await,
        Verb::Demo(args) => demo::demo(quorum, &args).await,
        Verb::Patterns(listed) => patterns::patterns(app, &listed),
        Verb::Config(args) => config::config(&args.verb),
        Verb::Completions { shell } => shell::completions(app, shell),
        Verb::Man { verb, part } => shell::man(app, verb.as_deref(), part.as_deref()),
    }
}
