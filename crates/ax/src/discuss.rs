//! `ax discuss`, and what every verb does that runs a discussion: follow it, heed Ctrl-C, print the result.

use std::io::IsTerminal;

use anyhow::Context;
use futures::Stream;
use quorum::{
    Error, Finished, Handle, Quorum, RunError, Signal, Steered,
    model::{
        id::Seq,
        lifecycle::Lifecycle,
        outcome::Outcome,
        participant::{Participant, Role},
        spec::Spec,
        state::State,
    },
    text::count,
};

use crate::{
    args::{Discuss, Fork, Output, Shape},
    detach,
    exit::{Demand, Exit, Usage, of_outcome},
    follow::{Followed, follow, hold},
    input::Input,
    live::{Keys, Watch, terminal},
    plan,
    render::{
        card::{self, Told},
        closing, hush, insist, is_hushed,
        line::{DIM, Line},
        note, print_json, print_markdown,
        result::{Detail, markdown},
        tell, usage, write,
    },
    telling::Telling,
    turn,
};

const SIMULATED: &str = "The voices are simulated: no model is asked, and what they say is made up.";

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
    let mut greeted = false;
    loop {
        // Who listens before anything else is awaited misses nothing.
        let signals = handle.signals();
        let state = quorum.state(handle.id()).await?;
        if !std::mem::replace(&mut greeted, true) {
            greet(&state, ending.output);
        }
        match attend_once(quorum, &handle, state, signals, ending).await? {
            Attended::Done(exit) => return Ok(exit),
            Attended::Again(next) => handle = next,
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
    /// It was held, and goes on.
    Again(Handle),
    /// A person's turn came, and they took it.
    Answered { speaker: String, text: String },
}

async fn attend_once(
    quorum: &Quorum,
    handle: &Handle,
    state: State,
    signals: impl Stream<Item = Signal>,
    ending: Ending,
) -> anyhow::Result<Attended> {
    let mut telling = match ending.output.shape() {
        Shape::Jsonl => Some(Telling::begin(handle.id())?),
        Shape::Text | Shape::Md | Shape::Json => None,
    };
    let before = state.turns.len();
    let mut watch = Watch::over(state, ending.output, Keys::OfDiscussion);
    let followed = follow(quorum, handle.id(), signals, &mut watch, telling.as_mut()).await?;
    let Followed::Ended { interrupted, paused } = followed else {
        watch.close();
        note(&format!("Left. `ax resume {}` goes on where it was.", handle.id()));
        return Ok(Attended::Done(Exit::Interrupted));
    };
    let finished = finished(quorum, handle).await?;
    if let Some(telling) = &mut telling {
        telling.catch_up(quorum).await?;
    }
    let held = |state: &State| paused && !interrupted && state.lifecycle == Lifecycle::Paused;
    if matches!(&finished, Finished::Waiting(state) if held(state))
        && let Some(next) = hold(quorum, handle.id(), &mut watch).await?
    {
        watch.close();
        return Ok(Attended::Again(next));
    }
    // On a screen this run's turns were to be seen already.
    let unseen = if matches!(watch, Watch::Screen(_)) { before } else { usize::MAX };
    watch.close();
    let exit = match finished {
        Finished::Over(state) => conclude_run(quorum, &state, ending).await?,
        Finished::Waiting(state) => match turn::typed(&state, unseen).await? {
            Some((speaker, text)) if !interrupted => return Ok(Attended::Answered { speaker, text }),
            Some(_) | None => wait(&state, ending.output)?,
        },
    };
    Ok(Attended::Done(if interrupted { Exit::Interrupted } else { exit }))
}

/// Prints the result, unless its events went out as they happened, and says how it ended.
async fn conclude_run(quorum: &Quorum, state: &State, ending: Ending) -> anyhow::Result<Exit> {
    let told = told(ending.output);
    if told != Told::Nothing && Watch::is_screen(ending.output) {
        tell(&[card::rule("result", terminal::size().columns), Line::default()]);
    }
    if ending.output.shape() != Shape::Jsonl {
        show(quorum, state, ending.output).await?;
    }
    Ok(conclude(state, ending))
}

/// What of the result is to be seen on the terminal where the card goes.
fn told(output: Output) -> Told {
    match (output.shape(), output.detail()) {
        _ if !std::io::stdout().is_terminal() => Told::Nothing,
        (Shape::Text, Detail::Answer) => Told::Answer,
        (Shape::Text, Detail::Course | Detail::Everything) | (Shape::Md, _) => Told::Everything,
        (Shape::Json | Shape::Jsonl, _) => Told::Nothing,
    }
}

fn greet(state: &State, output: Output) {
    let spec = &state.spec;
    let simulated = spec.simulation.as_ref().map(|_| SIMULATED);
    if Watch::is_screen(output) {
        let id = format!("id {}", state.id);
        let lines = simulated.into_iter().chain([&*id]).map(|text| Line::of(text, DIM));
        let lines = lines.flat_map(|line| line.wrapped(terminal::size().columns));
        return tell(&lines.chain([Line::default()]).collect::<Vec<_>>());
    }
    simulated.into_iter().for_each(note);
    let seat = |it: &Participant| match it.role {
        Role::Speaker => it.name.clone(),
        role => format!("{} ({role})", it.name),
    };
    let who: Vec<String> = spec.participants.iter().map(seat).collect();
    let rounds = count(u64::from(spec.rounds), "round");
    note(&format!("{}, at most {rounds}: {}", spec.pattern, who.join(", ")));
    note(&format!("id {0}  (from another terminal: ax pause, ax stop or ax abort {0})", state.id));
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
    let threshold = state.spec.consensus.threshold;
    if Watch::is_screen(ending.output) {
        tell(&card::lines(&outcome, threshold, told(ending.output), terminal::size().columns));
    } else {
        closing::lines(&outcome).iter().for_each(|line| note(line));
    }
    closing::of_fork(state).iter().for_each(|line| note(line));
    if let Some(problem) = outcome.error.as_ref().filter(|_| is_hushed()) {
        insist(&format!("{}: {}", problem.code, problem.message));
    }
    if ending.output.usage {
        insist(&usage::table(&outcome));
    }
    let exit = of_outcome(&outcome, threshold, ending.demand);
    if exit == Exit::NoConsensus {
        insist(&no_consensus(&outcome, threshold));
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
    if turn::announce(state) {
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
            if text.is_empty() { Ok(()) } else { print_markdown(&text) }
        }
    }
}

async fn print_export(quorum: &Quorum, state: &State, format: &str) -> anyhow::Result<()> {
    let format = quorum::export::named(format).context("there is no such format")?;
    write(&(format.write)(state, &quorum.facts(state.id, Seq::START).await?))
}
