//! `ax discuss`, and what every verb does that runs a discussion: follow it, heed Ctrl-C, print the result.

use futures::StreamExt;
use quorum::{
    Error, Finished, Handle, Quorum, RunError, StoreError,
    model::{
        command::Command,
        id::DiscussionId,
        lifecycle::Lifecycle,
        outcome::Outcome,
        participant::{Participant, Role},
        state::State,
    },
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    args::{Discuss, Output},
    exit::{Demand, Exit, of_outcome},
    input::with_stdin,
    render::{closing, figures::count, note, print, print_json, progress, result::markdown},
};

/// What to do with the end of a discussion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) output: Output,
    pub(crate) demand: Demand,
}

/// Starts a discussion and stays until it is over.
pub(crate) async fn discuss(quorum: &Quorum, args: &Discuss) -> anyhow::Result<Exit> {
    let mut request = args.request();
    (request.topic, request.context) = with_stdin(&args.topic, args.context.as_deref())?;
    if let Some(session) = &args.session {
        request.session_id = Some(quorum.find_session(session).await?.to_string());
    }
    // What is refused leaves everything as it was.
    quorum.check(&request)?;
    forget_old(quorum).await;
    let handle = quorum.start(&request).await?;
    let ending = Ending { output: args.output, demand: Demand::consensus_if(args.requires_consensus()) };
    attend(quorum, handle, ending).await
}

async fn forget_old(quorum: &Quorum) {
    match quorum.forget_old().await {
        Ok(0) => {}
        Ok(number) => {
            let days = quorum.config().retention_days.unwrap_or_default();
            let old = count(number, "discussion");
            note(&format!(
                "Forgot {old} that ended more than {days} days ago ([retention] in the configuration)."
            ));
        }
        Err(error) => note(&format!("warning: old discussions could not be forgotten: {error}")),
    }
}

/// Follows a running discussion to its end and prints what came of it.
pub(crate) async fn attend(quorum: &Quorum, handle: Handle, ending: Ending) -> anyhow::Result<Exit> {
    let signals = handle.signals();
    greet(&quorum.state(handle.id()).await?);
    match follow(quorum, &handle, signals).await? {
        Followed::Left => {
            note(&format!("Left. `ax resume {}` goes on where it was.", handle.id()));
            Ok(Exit::Interrupted)
        }
        Followed::Ended { interrupted } => {
            let exit = match finished(quorum, &handle).await? {
                Finished::Over(state) => conclude(&state, ending)?,
                Finished::Waiting(state) => wait(&state, ending)?,
            };
            Ok(if interrupted { Exit::Interrupted } else { exit })
        }
    }
}

fn greet(state: &State) {
    let spec = &state.spec;
    if spec.simulation.is_some() {
        note("The voices are simulated: no model is asked, and what they say is made up.");
    }
    let seat = |it: &Participant| match it.role {
        Role::Speaker => it.name.clone(),
        role => format!("{} ({role})", it.name),
    };
    let who: Vec<String> = spec.participants.iter().map(seat).collect();
    let rounds = count(u64::from(spec.rounds), "round");
    note(&format!("{}, at most {rounds}: {}", spec.pattern, who.join(", ")));
    note(&format!("id {0}  (from another terminal: ax pause, ax stop or ax abort {0})", state.id));
}

enum Followed {
    /// The run is over.
    Ended { interrupted: bool },
    /// This process is to go at once.
    Left,
}

async fn follow(
    quorum: &Quorum,
    handle: &Handle,
    signals: impl futures::Stream<Item = quorum::Signal>,
) -> anyhow::Result<Followed> {
    let (mut interrupt, mut terminate) = (caught(SignalKind::interrupt())?, caught(SignalKind::terminate())?);
    let mut signals = std::pin::pin!(signals);
    let mut interrupts = 0;
    loop {
        tokio::select! {
            // What was said before the end is shown before it.
            biased;
            _ = terminate.recv() => return Ok(Followed::Left),
            _ = interrupt.recv() => {
                interrupts += 1;
                if !heed(quorum, handle.id(), interrupts).await? {
                    return Ok(Followed::Left);
                }
            }
            signal = signals.next() => match signal {
                Some(signal) => progress::of_signal(handle.id(), &signal).iter().for_each(|line| note(line)),
                None => return Ok(Followed::Ended { interrupted: interrupts > 0 }),
            },
        }
    }
}

fn caught(kind: SignalKind) -> anyhow::Result<Signal> {
    Ok(signal(kind)?)
}

/// First stop, then abort, then leave. `false` when there is nothing gentler left to do.
async fn heed(quorum: &Quorum, id: DiscussionId, interrupts: u32) -> anyhow::Result<bool> {
    let command = match interrupts {
        1 => {
            note("Stopping: nobody else is asked, and what was said is concluded. Ctrl-C again aborts.");
            Command::Stop
        }
        2 => {
            note("Aborting. Ctrl-C again leaves at once.");
            Command::Abort
        }
        _ => return Ok(false),
    };
    match quorum.send(id, command).await {
        Ok(()) | Err(Error::Store(StoreError::Over(_))) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// How the run ended. One that another process took over goes on there.
async fn finished(quorum: &Quorum, handle: &Handle) -> anyhow::Result<Finished> {
    match handle.finished().await {
        Ok(finished) => Ok(finished),
        Err(RunError::Store(error)) => Err(Error::from(error).into()),
        Err(error) => {
            let state = quorum.state(handle.id()).await;
            match state {
                Ok(state) if state.lifecycle.is_terminal() => Ok(Finished::Over(Box::new(state))),
                Ok(_) | Err(_) => Err(Error::from(error).into()),
            }
        }
    }
}

/// Prints the result of a discussion that is over.
pub(crate) fn conclude(state: &State, ending: Ending) -> anyhow::Result<Exit> {
    let outcome = Outcome::of(state);
    show(&outcome, ending.output)?;
    closing::lines(&outcome).iter().for_each(|line| note(line));
    let threshold = state.spec.consensus.threshold;
    let exit = of_outcome(&outcome, threshold, ending.demand);
    if exit == Exit::NoConsensus {
        note(&no_consensus(&outcome, threshold));
    }
    Ok(exit)
}

fn no_consensus(outcome: &Outcome, threshold: f64) -> String {
    match outcome.consensus.agreement_score {
        Some(score) => format!("No consensus: the agreement is {score:.2}, and {threshold:.2} is required."),
        None => "No consensus: the agreement could not be measured.".to_owned(),
    }
}

/// Says how to go on with a discussion that waits.
fn wait(state: &State, ending: Ending) -> anyhow::Result<Exit> {
    if ending.output.json {
        print_json(&Outcome::of(state))?;
    }
    let stands = if state.lifecycle == Lifecycle::Paused { "Paused" } else { "Waiting" };
    note(&format!("{stands}. `ax resume {}` goes on.", state.id));
    Ok(Exit::Done)
}

/// Prints an outcome in the form asked for. No answer is no output.
pub(crate) fn show(outcome: &Outcome, output: Output) -> anyhow::Result<()> {
    if output.json {
        return print_json(outcome);
    }
    let text = markdown(outcome, output.into());
    if text.is_empty() { Ok(()) } else { print(&text) }
}
