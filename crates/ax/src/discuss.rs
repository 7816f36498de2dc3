//! `ax discuss`, and what every verb does that runs a discussion: follow it, heed Ctrl-C, print the result.

use anyhow::Context;
use futures::StreamExt;
use quorum::{
    Error, Finished, Handle, Quorum, RunError, Steered, StoreError,
    model::{
        command::Command,
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
        outcome::Outcome,
        participant::{Participant, Role},
        spec::Spec,
        state::State,
    },
    text::count,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    args::{Discuss, Fork, Output, Shape},
    detach,
    exit::{Demand, Exit, Usage, of_outcome},
    input::Input,
    plan,
    render::{
        closing, hush, is_hushed, note, print, print_json, progress, result::markdown, tell, usage, write,
    },
    telling::Telling,
    turn,
};

/// What to do with the end of a discussion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) output: Output,
    pub(crate) demand: Demand,
}

/// Starts a discussion and stays until it is over; or only says what it would come to, or leaves it to another process.
pub(crate) async fn discuss(quorum: &Quorum, args: &Discuss) -> anyhow::Result<Exit> {
    let (config, preset) = (quorum.config(), args.preset.as_deref());
    let output = args.output.or_configured(config, preset);
    let is_on = |long: &str| config.showing(preset, long) == Some(&serde_json::Value::Bool(true));
    if is_on("quiet") {
        hush();
    }
    // What is refused leaves everything as it was.
    let spec = order(quorum, args).await?;
    if args.dry_run {
        return plan::show(quorum, &spec, output).await;
    }
    forget_old(quorum).await;
    if args.detach {
        return detach::detach(quorum, spec, output).await;
    }
    let handle = quorum.begin(spec).await?;
    let demand = Demand::consensus_if(args.requires_consensus() || is_on("require-consensus"));
    attend(quorum, handle, Ending { output, demand }).await
}

/// What was ordered, checked.
async fn order(quorum: &Quorum, args: &Discuss) -> anyhow::Result<Spec> {
    let mut request = args.request();
    let input = Input { topic: args.topic.as_deref(), context: args.context.as_deref(), files: &args.files };
    let (topic, context) = input.with_stdin()?;
    (request.topic, request.context) = (topic.clone().unwrap_or_default(), context);
    if let Some(session) = &args.session {
        request.session_id = Some(quorum.find_session(session).await?.to_string());
    }
    match &args.again {
        Some(_) if topic.is_some_and(|it| it.trim().is_empty()) => {
            let message = "<topic>: is empty; leave it out to keep that of the past discussion";
            Err(Usage(message.to_owned()).into())
        }
        Some(past) => Ok(quorum.again(quorum.find(past).await?, &request).await?),
        None => Ok(quorum.check(&request)?),
    }
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

/// `ax fork`
pub(crate) async fn fork(quorum: &Quorum, args: &Fork) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.which.id).await?;
    let handle = quorum.fork(id, &args.forking()).await?;
    attend(quorum, handle, Ending { output: args.output, demand: Demand::Nothing }).await
}

/// Follows a running discussion to its end, or to where it waits and nobody here answers, and prints what came of it.
pub(crate) async fn attend(quorum: &Quorum, mut handle: Handle, ending: Ending) -> anyhow::Result<Exit> {
    greet(&quorum.state(handle.id()).await?);
    loop {
        match attend_once(quorum, &handle, ending).await? {
            Attended::Done(exit) => return Ok(exit),
            Attended::Answered { speaker, text } => {
                match quorum.say(handle.id(), Some(&speaker), &text, None).await? {
                    Steered::Here(next) => handle = next,
                    Steered::Sent { .. } | Steered::Idle(_) => return Ok(Exit::Done),
                }
            }
        }
    }
}

/// What became of one run.
enum Attended {
    /// There is nothing more to do here.
    Done(Exit),
    /// A person's turn came, and they took it.
    Answered { speaker: String, text: String },
}

async fn attend_once(quorum: &Quorum, handle: &Handle, ending: Ending) -> anyhow::Result<Attended> {
    let signals = handle.signals();
    let mut telling = match ending.output.shape() {
        Shape::Jsonl => Some(Telling::begin(handle.id())?),
        Shape::Text | Shape::Md | Shape::Json => None,
    };
    match follow(quorum, handle, signals, telling.as_mut()).await? {
        Followed::Left => {
            note(&format!("Left. `ax resume {}` goes on where it was.", handle.id()));
            Ok(Attended::Done(Exit::Interrupted))
        }
        Followed::Ended { interrupted } => {
            let finished = finished(quorum, handle).await?;
            if let Some(telling) = &mut telling {
                telling.catch_up(quorum).await?;
            }
            let exit = match finished {
                Finished::Over(state) => {
                    if telling.is_none() {
                        show(quorum, &state, ending.output).await?;
                    }
                    conclude(&state, ending)
                }
                Finished::Waiting(state) => match turn::typed(&state).await? {
                    Some((speaker, text)) if !interrupted => {
                        return Ok(Attended::Answered { speaker, text });
                    }
                    Some(_) | None => wait(&state, ending.output)?,
                },
            };
            Ok(Attended::Done(if interrupted { Exit::Interrupted } else { exit }))
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
    mut telling: Option<&mut Telling>,
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
                Some(signal) => {
                    progress::of_signal(handle.id(), &signal).iter().for_each(|line| note(line));
                    if let Some(telling) = &mut telling {
                        telling.hear(quorum, &signal).await?;
                    }
                }
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

/// Says how a discussion ended, and finds its exit code.
pub(crate) fn conclude(state: &State, ending: Ending) -> Exit {
    let outcome = Outcome::of(state);
    closing::lines(&outcome).iter().for_each(|line| note(line));
    closing::of_fork(state).iter().for_each(|line| note(line));
    if let Some(problem) = outcome.error.as_ref().filter(|_| is_hushed()) {
        tell(&format!("{}: {}", problem.code, problem.message));
    }
    if ending.output.usage {
        tell(&usage::table(&outcome));
    }
    let threshold = state.spec.consensus.threshold;
    let exit = of_outcome(&outcome, threshold, ending.demand);
    if exit == Exit::NoConsensus {
        tell(&no_consensus(&outcome, threshold));
    }
    exit
}

fn no_consensus(outcome: &Outcome, threshold: f64) -> String {
    match outcome.consensus.agreement_score {
        Some(score) => format!("No consensus: the agreement is {score:.2}, and {threshold:.2} is required."),
        None => "No consensus: the agreement could not be measured.".to_owned(),
    }
}

/// Says how to go on with a discussion that waits.
fn wait(state: &State, output: Output) -> anyhow::Result<Exit> {
    if output.shape() == Shape::Json {
        print_json(&Outcome::of(state))?;
    }
    if !state.awaiting.is_empty() && state.lifecycle != Lifecycle::Paused {
        turn::announce(state);
        return Ok(Exit::Done);
    }
    let stands = if state.lifecycle == Lifecycle::Paused { "Paused" } else { "Resting after many turns" };
    note(&format!("{stands}. `ax resume {}` goes on.", state.id));
    Ok(Exit::Done)
}

/// Prints a discussion in the form asked for. No answer is no output.
pub(crate) async fn show(quorum: &Quorum, state: &State, output: Output) -> anyhow::Result<()> {
    let outcome = Outcome::of(state);
    match output.shape() {
        Shape::Json => print_json(&outcome),
        Shape::Md => print_export(quorum, state, "markdown").await,
        Shape::Jsonl => print_export(quorum, state, "jsonl").await,
        Shape::Text => {
            let text = markdown(&outcome, output.detail());
            if text.is_empty() { Ok(()) } else { print(&text) }
        }
    }
}

async fn print_export(quorum: &Quorum, state: &State, format: &str) -> anyhow::Result<()> {
    let format = quorum::export::named(format).context("there is no such format")?;
    write(&(format.write)(state, &quorum.facts(state.id, Seq::START).await?))
}
