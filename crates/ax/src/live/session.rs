//! A session at a running discussion: follows it, takes a person's turn, prints the result, and
//! reports how it ended. Every verb that runs a discussion uses it.

use std::io::IsTerminal;

use futures::Stream;
use quorum::{
    Discussion, Error, Finished, Handle, RunError, Scope, Signal, Snapshot, Steered,
    model::{
        id::DiscussionId,
        lifecycle::Lifecycle,
        outcome::{Outcome, ResultKind},
        participant::{Participant, Role},
    },
    text::count,
    workflow::plan_of,
};

use crate::{
    args::{Output, Shape},
    exit::{Exit, Requirement, Unmet, of_outcome, required, unmet},
    live::{
        Keys, Watch, elsewhere,
        events::{self, LoopEnd, PauseEnd, ProcessSignals},
        jsonl::JsonLines,
        turn::{self, Typed},
    },
    render::{
        WriteError,
        card::{self, AlreadyShown, Naming},
        closing, is_quiet,
        line::{DIM, Line},
        note, note_always, note_lines,
        output::{answer, print_discussion},
        print_json,
        result::Detail,
        role_name, usage,
    },
    terminal,
    verbs::watch::{interrupted, left},
};

const SIMULATED: &str = "The voices are simulated: no model is asked, and what they say is made up.";

/// How a session prints, and what it requires of the result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionOptions {
    pub(crate) output: Output,
    pub(crate) requirement: Requirement,
    pub(crate) greeting: Greeting,
    pub(crate) naming: Naming,
}

/// What is announced before a discussion begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// Everything.
    Whole,
    /// Everything except the notice that voices are simulated, which was printed before.
    WithoutSimulationNotice,
}

impl SessionOptions {
    /// Prints the result in this form, and requires nothing of it.
    pub(crate) fn shown(output: Output) -> SessionOptions {
        let (requirement, greeting) = (Requirement::NOTHING, Greeting::Whole);
        SessionOptions { output, requirement, greeting, naming: Naming::Last }
    }

    /// The same for a discussion that existed before and may not be the newest.
    pub(crate) fn of_past(output: Output) -> SessionOptions {
        SessionOptions { naming: Naming::ById, ..SessionOptions::shown(output) }
    }
}

/// Follows a running discussion to its end, or to a turn that no person here takes, and prints the
/// result. The signals must have been caught before the run began, so that none ends the process
/// while an answer is on its way.
pub(crate) async fn run(
    discussion: &Discussion,
    handle: Handle,
    signals: ProcessSignals,
    options: SessionOptions,
) -> anyhow::Result<Exit> {
    let mut session = Session::of(discussion, options, signals);
    session.all_runs(handle).await.map_err(|error| with_recorded_notice(error, discussion.id()))
}

/// The same after a person's turn or decision, if the discussion continues here.
pub(crate) async fn run_after(
    discussion: &Discussion,
    said: Steered,
    signals: ProcessSignals,
    options: SessionOptions,
) -> anyhow::Result<Exit> {
    match said {
        Steered::Here(handle) => run(discussion, handle, signals, options).await,
        Steered::Sent { to } => {
            note(&format!(
                "Sent. {to} continues the discussion; `ax watch {0}` shows it, `ax show {0}` prints the result.",
                discussion.id()
            ));
            Ok(Exit::Done)
        }
        Steered::Idle(_) | Steered::Recorded => Ok(Exit::Done),
    }
}

/// Watches a discussion that another process runs, until it is over, waits, or the person leaves.
pub(crate) async fn watch(
    scope: &Scope,
    discussion: &Discussion,
    mut signals: ProcessSignals,
    mut options: SessionOptions,
) -> anyhow::Result<Exit> {
    let state = discussion.state().await?;
    options.output.lines |= state.spec.plan.is_some();
    let facts = elsewhere::signals(scope, &state);
    let jsonl = options.output.shape() == Shape::Jsonl;
    let mut jsonl = jsonl.then(|| JsonLines::of(discussion.id(), state.registry()));
    if let Some(jsonl) = &mut jsonl {
        jsonl.catch_up(discussion).await?;
    }
    let mut watch = Watch::over(&state, options.output, Keys::Watched);
    let end = events::handle_all(discussion, facts, &mut watch, jsonl.as_mut(), &mut signals).await?;
    watch.close();
    match end {
        LoopEnd::Left => {
            left(discussion).await?;
            Ok(Exit::Done)
        }
        LoopEnd::Ended { .. } => {
            let state = discussion.state().await?;
            if !state.lifecycle.is_terminal() {
                return take_turn(discussion, options).await;
            }
            Session::of(discussion, options, signals).conclude(&state).await
        }
    }
}

/// Takes the turn that a discussion waits for, if its person can type here, and continues the
/// discussion. Otherwise prints what it waits for, or how to continue it.
pub(crate) async fn take_turn(discussion: &Discussion, options: SessionOptions) -> anyhow::Result<Exit> {
    let state = discussion.state().await?;
    let signals = ProcessSignals::new()?;
    let mut session = Session::of(discussion, options, signals);
    let is_waiting =
        !state.awaiting.is_empty() || state.ruling.is_some() || state.lifecycle == Lifecycle::Paused;
    if !is_waiting {
        note(&interrupted(&state));
        return Ok(Exit::Done);
    }
    match session.wait(&state, usize::MAX).await? {
        RunEnd::Answered { speaker, text } => {
            let said = discussion.say(Some(&speaker), &text, None).await?;
            run_after(discussion, said, session.signals, options).await
        }
        RunEnd::Done(_) if session.interrupted => Ok(Exit::Interrupted),
        RunEnd::Done(exit) => Ok(exit),
        RunEnd::Again(handle) => run(discussion, handle, session.signals, options).await,
    }
}

/// Adds to the error of a failed write that the discussion itself is recorded.
fn with_recorded_notice(error: anyhow::Error, id: DiscussionId) -> anyhow::Error {
    error.downcast::<WriteError>().map_or_else(|other| other, |it| it.of(id).into())
}

/// A session at one discussion, over one or more runs.
struct Session<'a> {
    discussion: &'a Discussion,
    options: SessionOptions,
    signals: ProcessSignals,
    jsonl: Option<JsonLines>,
    /// Whether Ctrl-C was pressed in any run.
    interrupted: bool,
}

/// How one run ended for the session.
enum RunEnd {
    /// There is nothing more to do here.
    Done(Exit),
    /// It was paused, and continues.
    Again(Handle),
    /// A person's turn came, and the person took it.
    Answered { speaker: String, text: String },
}

impl<'a> Session<'a> {
    fn of(discussion: &'a Discussion, options: SessionOptions, signals: ProcessSignals) -> Session<'a> {
        Session { discussion, options, signals, jsonl: None, interrupted: false }
    }

    async fn all_runs(&mut self, mut handle: Handle) -> anyhow::Result<Exit> {
        let mut greeted = false;
        loop {
            // Subscribe before anything is awaited, so that no signal is missed.
            let signals = handle.signals();
            let state = self.discussion.state().await?;
            if !std::mem::replace(&mut greeted, true) {
                self.jsonl = (self.options.output.shape() == Shape::Jsonl)
                    .then(|| JsonLines::of(self.discussion.id(), state.registry()));
                greet(&state, self.options);
            }
            match self.one_run(&handle, state, signals).await? {
                RunEnd::Done(_) if self.interrupted => return Ok(Exit::Interrupted),
                RunEnd::Done(exit) => return Ok(exit),
                RunEnd::Again(next) => handle = next,
                RunEnd::Answered { speaker, text } => {
                    match self.discussion.say(Some(&speaker), &text, None).await? {
                        Steered::Here(next) => handle = next,
                        Steered::Sent { .. } | Steered::Idle(_) | Steered::Recorded => return Ok(Exit::Done),
                    }
                }
            }
        }
    }

    /// Follows one run.
    async fn one_run(
        &mut self,
        handle: &Handle,
        state: Snapshot,
        signals: impl Stream<Item = Signal>,
    ) -> anyhow::Result<RunEnd> {
        let before = state.turns.len();
        let mut watch = Watch::over(&state, self.options.output, Keys::Discussion);
        let (jsonl, to_process) = (self.jsonl.as_mut(), &mut self.signals);
        let end = events::handle_all(self.discussion, signals, &mut watch, jsonl, to_process).await?;
        let LoopEnd::Ended { interrupted, paused } = end else {
            watch.close();
            note(&format!("Left. `ax resume {}` continues it.", handle.id()));
            return Ok(RunEnd::Done(Exit::Interrupted));
        };
        self.interrupted |= interrupted;
        let finished = finished(self.discussion, handle).await?;
        if let Some(jsonl) = &mut self.jsonl {
            jsonl.catch_up(self.discussion).await?;
        }
        // The screen has shown this run's turns already.
        let unseen = if matches!(watch, Watch::Screen(_)) { before } else { usize::MAX };
        match finished {
            Finished::Over(state) => {
                watch.close();
                Ok(RunEnd::Done(self.conclude(&state).await?))
            }
            Finished::Waiting(state) if paused && state.lifecycle == Lifecycle::Paused => {
                self.hold_pause(&state, watch).await
            }
            Finished::Waiting(state) => {
                watch.close();
                self.wait(&state, unseen).await
            }
        }
    }

    /// Waits at a discussion paused here, until the person resumes or leaves it.
    async fn hold_pause(&mut self, state: &Snapshot, mut watch: Watch) -> anyhow::Result<RunEnd> {
        let held = if self.interrupted {
            PauseEnd::Left
        } else {
            events::wait_while_paused(self.discussion, &mut watch).await?
        };
        watch.close();
        match held {
            PauseEnd::GoesOn(handle) => return Ok(RunEnd::Again(handle)),
            PauseEnd::Over(state) => return Ok(RunEnd::Done(self.conclude(&state).await?)),
            PauseEnd::Elsewhere => {
                note(&format!("Another process continues it; `ax watch {}` shows it.", state.id));
            }
            PauseEnd::Left => report_waiting(state, self.options.output)?,
            PauseEnd::Interrupted => {
                self.interrupted = true;
                report_waiting(state, self.options.output)?;
            }
        }
        Ok(RunEnd::Done(Exit::Done))
    }

    /// Asks the person whose turn it is, if that person is at this terminal.
    async fn wait(&mut self, state: &Snapshot, unseen: usize) -> anyhow::Result<RunEnd> {
        match turn::typed(state, unseen).await? {
            Typed::Answer { speaker, text } => return Ok(RunEnd::Answered { speaker, text }),
            Typed::Nothing => report_waiting(state, self.options.output)?,
            Typed::Left => self.interrupted = true,
        }
        Ok(RunEnd::Done(Exit::Done))
    }

    /// Prints the result, unless it was written as JSON lines, and reports how the discussion
    /// ended.
    async fn conclude(&self, state: &Snapshot) -> anyhow::Result<Exit> {
        let output = self.options.output;
        let silent = output.shape() == Shape::Text && answer(state, output).is_empty();
        if already_shown(output) != AlreadyShown::Nothing && Watch::is_screen(output) && !silent {
            note_lines(&[card::rule("result", terminal::size().columns), Line::default()]);
        }
        if output.shape() != Shape::Jsonl {
            print_discussion(self.discussion, state, output).await?;
        }
        for (participant, noticed) in self.discussion.noticed(state) {
            note(&format!("warning: {participant}: {noticed}"));
        }
        Ok(conclude(state, self.options))
    }
}

fn greet(state: &Snapshot, SessionOptions { output, greeting, .. }: SessionOptions) {
    let spec = &state.spec;
    let is_news = spec.simulation.is_some() && greeting == Greeting::Whole;
    let simulated = is_news.then_some(SIMULATED);
    if Watch::is_screen(output) {
        let id = format!("id {}", state.id);
        let lines = simulated.into_iter().chain([&*id]).map(|text| Line::of(text, DIM));
        let lines = lines.flat_map(|line| line.wrapped(terminal::size().columns));
        return note_lines(&lines.chain([Line::default()]).collect::<Vec<_>>());
    }
    simulated.into_iter().for_each(note);
    if let Some(plan) = plan_of(spec) {
        note(&format!("{} {}: {}", plan.workflow, plan.version, count(plan.steps.len() as u64, "step")));
        return note(&format!(
            "id {0}  (from another terminal: ax pause, ax stop or ax abort {0})",
            state.id
        ));
    }
    let seat = |it: &Participant| match &it.role {
        role if *role == Role::SPEAKER => it.name.clone(),
        role => format!("{} ({})", it.name, role_name(role.name())),
    };
    let who: Vec<String> = spec.participants.iter().map(seat).collect();
    let rounds = count(u64::from(state.registry().most_rounds(spec)), "round");
    note(&format!("{}, at most {rounds}: {}", spec.pattern, who.join(", ")));
    note(&format!("id {0}  (from another terminal: ax pause, ax stop or ax abort {0})", state.id));
}

/// How the run ended. A run that another process took over continues there.
async fn finished(discussion: &Discussion, handle: &Handle) -> anyhow::Result<Finished> {
    match handle.finished().await {
        Ok(finished) => Ok(finished),
        Err(error @ (RunError::Store(_) | RunError::SpendingCap(_))) => Err(Error::from(error).into()),
        Err(error) => {
            let state = discussion.state().await;
            match state {
                Ok(state) if state.lifecycle.is_terminal() => Ok(Finished::Over(state)),
                Ok(_) | Err(_) => Err(Error::from(error).into()),
            }
        }
    }
}

/// Reports how a discussion ended, and returns its exit code.
pub(crate) fn conclude(state: &Snapshot, options: SessionOptions) -> Exit {
    let outcome = state.outcome();
    let on_screen = Watch::is_screen(options.output);
    if on_screen {
        let columns = terminal::size().columns;
        note_lines(&card::lines(state, already_shown(options.output), options.naming, columns));
    } else {
        closing::lines(&outcome).iter().for_each(|line| note(line));
    }
    closing::of_fork(state).iter().for_each(|line| note(line));
    if let Some(problem) = outcome.error.as_ref().filter(|_| is_quiet()) {
        note_always(&closing::failure(problem));
    }
    // The card contains the same table.
    if options.output.usage && !on_screen {
        note_always(&usage::table(&outcome));
    }
    let exit = of_outcome(state, options.requirement);
    match unmet(state, options.requirement).filter(|_| exit == Exit::NoConsensus) {
        Some(Unmet::Consensus) => note_always(&no_consensus(&outcome, required(state.registry(), state))),
        Some(Unmet::Support { share, required }) => note_always(&little_support(share, required)),
        None => {}
    }
    exit
}

/// How much of the result is already on the terminal that shows the card.
fn already_shown(output: Output) -> AlreadyShown {
    match (output.shape(), output.detail()) {
        _ if !std::io::stdout().is_terminal() => AlreadyShown::Nothing,
        (Shape::Text, Detail::Answer) => AlreadyShown::Answer,
        (Shape::Text, Detail::Course | Detail::Everything) | (Shape::Md, _) => AlreadyShown::Everything,
        (Shape::Json | Shape::Jsonl, _) => AlreadyShown::Nothing,
    }
}

fn no_consensus(outcome: &Outcome, required: f64) -> String {
    let standing = outcome.outcome.map(|it| it.standing).unwrap_or_default();
    match (standing.kind, standing.in_favour.zip(standing.of), outcome.consensus.agreement_score) {
        (ResultKind::Tie, ..) => "No consensus: the vote is tied.".to_owned(),
        (_, Some((votes, of)), _) => format!("No consensus: {votes} of {of} agreed."),
        (_, None, Some(score)) => {
            format!("No consensus: the agreement is {score:.2}, and {required:.2} is required.")
        }
        (_, None, None) => {
            "No consensus: there are no votes and no positions to measure agreement by.".to_owned()
        }
    }
}

fn little_support(share: Option<f64>, required: f64) -> String {
    match share {
        Some(share) => format!(
            "Too little support: {share:.2} of the answer's sentences have a source in the discussion, and {required:.2} is required."
        ),
        None => "Too little support: no sentence of the answer could be compared with the talk.".to_owned(),
    }
}

/// Reports the state of a discussion that waits, and how to continue it.
fn report_waiting(state: &Snapshot, output: Output) -> anyhow::Result<()> {
    if output.shape() == Shape::Json {
        print_json(&state.outcome())?;
    }
    if !turn::announce(state) {
        let stands = if state.lifecycle == Lifecycle::Paused { "Paused" } else { "Paused after many turns" };
        note(&format!("{stands}. `ax resume {}` continues it.", state.id));
    }
    Ok(())
}
