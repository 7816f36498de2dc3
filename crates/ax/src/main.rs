//! The command. Reads what was typed, goes through the door, prints the result to stdout and everything else to stderr.

mod args;
mod attend;
mod config;
mod demo;
mod detach;
mod discuss;
mod doctor;
mod exit;
mod export;
mod follow;
mod input;
mod judge;
mod keep;
mod keys;
mod live;
mod models;
mod past;
mod plan;
mod render;
mod replay;
mod say;
mod serve;
mod shell;
mod steer;
mod telling;
mod turn;
mod unseen;

use std::sync::Arc;

use quorum::{Config, Quorum};

use crate::{args::Verb, exit::Exit};

fn main() -> std::process::ExitCode {
    // A supervisor starts before every local program, and must do nothing else.
    if let Some(code) = quorum::setup::supervisor::serve() {
        return code;
    }
    let (cli, verb) = args::parse();
    if cli.quiet {
        render::hush();
    }
    match run(cli.verb) {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error, &verb).into(),
    }
}

fn run(verb: Verb) -> anyhow::Result<Exit> {
    // These need no store, and should work where it doesn't.
    match &verb {
        Verb::Patterns(listed) => return past::patterns(listed),
        Verb::Models(listed) => return models::models(listed),
        Verb::Prices(args) => return models::prices(args),
        Verb::Keys(args) => return keys::keys(args),
        Verb::Doctor(args) => return doctor::doctor(args),
        Verb::Config(args) => return config::config(&args.verb),
        Verb::Completions { shell } => return shell::completions(*shell),
        Verb::Man { verb, part } => return shell::man(verb.as_deref(), part.as_deref()),
        _ => {}
    }
    if let Verb::Serve(args) = &verb {
        return serve::serve(args);
    }
    let config = if matches!(verb, Verb::Demo(_)) { demo::config()? } else { Config::load()? };
    let quorum = Arc::new(Quorum::open(config)?.assigning_roles());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(perform(&quorum, verb));
    // Nobody waits for what may still be under way: it is recorded, or it did not happen.
    runtime.shutdown_background();
    exit
}

async fn perform(quorum: &Arc<Quorum>, verb: Verb) -> anyhow::Result<Exit> {
    match verb {
        Verb::Discuss(args) => discuss::discuss(quorum, &args).await,
        Verb::Resume(args) => steer::resume(quorum, &args).await,
        Verb::Pause(which) => steer::pause(quorum, &which).await,
        Verb::Stop(shown) => steer::stop(quorum, &shown).await,
        Verb::Abort(which) => steer::abort(quorum, &which).await,
        Verb::Say(args) => say::say(quorum, &args).await,
        Verb::Note(args) => keep::note(quorum, &args).await,
        Verb::Rate(args) => keep::rate(quorum, &args).await,
        Verb::Delete(args) => keep::delete(quorum, &args).await,
        Verb::Judge(args) => judge::judge(quorum, &args).await,
        Verb::Fork(args) => discuss::fork(quorum, &args).await,
        Verb::History(args) => past::history(quorum, &args).await,
        Verb::Show(args) => past::show(quorum, &args).await,
        Verb::Export(args) => export::export(quorum, &args).await,
        Verb::Replay(args) => replay::replay(quorum, &args).await,
        Verb::Serve(args) => serve::serve(&args),
        Verb::Models(listed) => models::models(&listed),
        Verb::Prices(args) => models::prices(&args),
        Verb::Keys(args) => keys::keys(&args),
        Verb::Doctor(args) => doctor::doctor(&args),
        Verb::Sessions(args) => past::sessions(quorum, &args).await,
        Verb::Demo(args) => demo::demo(quorum, &args).await,
        Verb::Patterns(listed) => past::patterns(&listed),
        Verb::Config(args) => config::config(&args.verb),
        Verb::Completions { shell } => shell::completions(shell),
        Verb::Man { verb, part } => shell::man(verb.as_deref(), part.as_deref()),
    }
}
