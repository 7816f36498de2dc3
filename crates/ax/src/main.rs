//! The command. Reads what was typed, goes through the door, prints the result to stdout and everything else to stderr.

mod args;
mod discuss;
mod exit;
mod export;
mod input;
mod past;
mod render;
mod replay;
mod say;
mod serve;
mod steer;
mod telling;
mod turn;

use clap::Parser;
use quorum::{Config, Quorum};

use crate::{
    args::{Cli, Verb},
    exit::Exit,
};

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    match run(cli.verb) {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error).into(),
    }
}

fn run(verb: Verb) -> anyhow::Result<Exit> {
    if let Verb::Patterns(listed) = verb {
        return past::patterns(&listed);
    }
    if let Verb::Serve(args) = &verb {
        return serve::serve(args);
    }
    let quorum = Quorum::open(Config::load()?)?.assigning_roles();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(perform(&quorum, verb));
    // Nobody waits for what may still be under way: it is recorded, or it did not happen.
    runtime.shutdown_background();
    exit
}

async fn perform(quorum: &Quorum, verb: Verb) -> anyhow::Result<Exit> {
    match verb {
        Verb::Discuss(args) => discuss::discuss(quorum, &args).await,
        Verb::Resume(args) => steer::resume(quorum, &args).await,
        Verb::Pause(which) => steer::pause(quorum, &which).await,
        Verb::Stop(shown) => steer::stop(quorum, &shown).await,
        Verb::Abort(which) => steer::abort(quorum, &which).await,
        Verb::Say(args) => say::say(quorum, &args).await,
        Verb::Fork(args) => discuss::fork(quorum, &args).await,
        Verb::History(args) => past::history(quorum, &args).await,
        Verb::Show(args) => past::show(quorum, &args).await,
        Verb::Export(args) => export::export(quorum, &args).await,
        Verb::Replay(args) => replay::replay(quorum, &args).await,
        Verb::Serve(args) => serve::serve(&args),
        Verb::Patterns(listed) => past::patterns(&listed),
        Verb::Sessions(args) => past::sessions(quorum, &args).await,
    }
}
