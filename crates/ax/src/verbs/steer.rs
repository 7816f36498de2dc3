//! Going on with discussions, and steering those that run elsewhere.

use quorum::{
    Quorum, Resumed, Steered,
    model::{command::Command, lifecycle::Lifecycle},
};

use tokio::signal::unix::{SignalKind, signal};

use crate::{
    args::{Resume, Shown, Which},
    exit::{Demand, Exit},
    live::session::{self, Ending},
    render::{note, output::print_discussion},
};

/// `ax resume`
pub(crate) async fn resume(quorum: &Quorum, args: &Resume) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.shown.which.id).await?;
    // Once it is caught, it no longer ends the process.
    let _hangup = args.detached.then(|| signal(SignalKind::hangup())).transpose()?;
    let demand = Demand::consensus_if(args.require_consensus);
    let ending = Ending { output: args.shown.output, demand };
    match quorum.resume(id).await? {
        Resumed::Running(handle) => session::run(quorum, handle, ending).await,
        Resumed::Over(state) => {
            note("This discussion is over; here is its result.");
            print_discussion(quorum, &state, ending.output).await?;
            Ok(session::conclude(&state, ending))
        }
    }
}

/// `ax pause`
pub(crate) async fn pause(quorum: &Quorum, which: &Which) -> anyhow::Result<Exit> {
    let id = quorum.find(&which.id).await?;
    match quorum.steer(id, Command::Pause).await? {
        Steered::Sent { to } => {
            note(&format!("Told {to} to pause once the calls under way are done. `ax resume {id}` goes on."));
        }
        Steered::Idle(state) if state.lifecycle == Lifecycle::Paused => {
            note(&format!("Discussion {id} is paused already. `ax resume {id}` goes on."));
        }
        Steered::Idle(_) | Steered::Here(_) => {
            note(&format!(
                "Nobody runs discussion {id}, so there is nothing to pause. `ax resume {id}` goes on."
            ));
        }
    }
    Ok(Exit::Done)
}

/// `ax stop`
pub(crate) async fn stop(quorum: &Quorum, args: &Shown) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.which.id).await?;
    match quorum.steer(id, Command::Stop).await? {
        Steered::Sent { to } => {
            note(&format!("Told {to} to stop; the result is printed there, and by `ax show {id}`."));
            Ok(Exit::Done)
        }
        Steered::Here(handle) => session::run(quorum, handle, Ending::shown(args.output)).await,
        Steered::Idle(_) => Ok(Exit::Done),
    }
}

/// `ax abort`
pub(crate) async fn abort(quorum: &Quorum, which: &Which) -> anyhow::Result<Exit> {
    let id = quorum.find(&which.id).await?;
    match quorum.steer(id, Command::Abort).await? {
        Steered::Sent { to } => note(&format!("Told {to} to abort.")),
        Steered::Here(handle) => {
            handle.finished().await.map_err(quorum::Error::from)?;
            note(&format!("Aborted. `ax show {id}` has what was said."));
        }
        Steered::Idle(_) => {}
    }
    Ok(Exit::Done)
}
