//! Resumes discussions, and steers those that run in other processes.

use quorum::{
    Error, Scope, Steered, StoreError,
    model::{command::Command, lifecycle::Lifecycle},
};

use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::{Resume, Shown, Which},
    exit::{Exit, Requirement},
    live::{
        events::ProcessSignals,
        session::{self, SessionOptions},
    },
    render::{note, output::print_discussion},
};

/// `ax resume`
pub(crate) async fn resume(scope: &Scope, args: &Resume) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.shown.which.id).await?;
    // Once SIGHUP is caught, it no longer ends the process.
    let _hangup = args.detached.then(|| signal(SignalKind::hangup())).transpose()?;
    let requirement = Requirement { consensus: args.require_consensus, support: args.require_support };
    let options = SessionOptions { requirement, ..SessionOptions::of_past(args.shown.output) };
    let signals = ProcessSignals::new()?;
    // The audit records who started a detached discussion; this is no resumption by a person.
    let resumed =
        if args.detached { discussion.run_prepared().await } else { discussion.resume_here().await };
    match resumed {
        Ok(handle) => session::run(&discussion, handle, signals, options).await,
        Err(Error::Store(StoreError::Over(_))) => {
            let state = discussion.state().await?;
            note("This discussion is over; here is its result.");
            print_discussion(&discussion, &state, options.output).await?;
            Ok(session::conclude(&state, options))
        }
        Err(error) => Err(error.into()),
    }
}

/// `ax pause`
pub(crate) async fn pause(scope: &Scope, which: &Which) -> anyhow::Result<Exit> {
    let discussion = scope.find(&which.id).await?;
    let id = discussion.id();
    match discussion.steer(Command::Pause).await? {
        Steered::Sent { to } => {
            note(&format!(
                "Sent the pause to {to}; it takes effect after the calls under way. `ax resume {id}` continues it."
            ));
        }
        Steered::Idle(state) if state.lifecycle == Lifecycle::Paused => {
            note(&format!("Discussion {id} is already paused. `ax resume {id}` continues it."));
        }
        Steered::Recorded => {
            note(&format!(
                "Discussion {id} is not running; the pause is recorded, and the next process that runs it \
                 obeys it. `ax resume {id}` continues it."
            ));
        }
        Steered::Idle(_) | Steered::Here(_) => {
            note(&format!(
                "Discussion {id} is not running, so there is nothing to pause. `ax resume {id}` continues it."
            ));
        }
    }
    Ok(Exit::Done)
}

/// `ax stop`
pub(crate) async fn stop(scope: &Scope, args: &Shown) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    let id = discussion.id();
    let signals = ProcessSignals::new()?;
    match discussion.steer(Command::Stop).await? {
        Steered::Sent { to } => {
            note(&format!("Sent the stop to {to}; the result is printed there, and by `ax show {id}`."));
            Ok(Exit::Done)
        }
        Steered::Here(handle) => {
            session::run(&discussion, handle, signals, SessionOptions::of_past(args.output)).await
        }
        Steered::Idle(_) | Steered::Recorded => Ok(Exit::Done),
    }
}

/// `ax abort`
pub(crate) async fn abort(scope: &Scope, which: &Which) -> anyhow::Result<Exit> {
    let discussion = scope.find(&which.id).await?;
    let id = discussion.id();
    match discussion.steer(Command::Abort).await? {
        Steered::Sent { to } => note(&format!("Sent the abort to {to}.")),
        Steered::Here(handle) => {
            handle.finished().await.map_err(quorum::Error::from)?;
            note(&format!("Aborted. `ax show {id}` prints what was said."));
        }
        Steered::Idle(_) | Steered::Recorded => {}
    }
    Ok(Exit::Done)
}
