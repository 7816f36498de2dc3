//! Progress of a call, for clients that ask for it: one notification for each step that ends, and
//! one every few seconds in between. It is told from the facts of the discussion, each read once.

use std::{sync::Arc, time::Duration};

use quorum::{
    Discussion, Scope,
    model::{
        digest::Digest,
        event::{Event, Fact, Noted},
        id::Seq,
        money::Usd,
        spec::Spec,
        state::State,
        transcript::Turn,
    },
    patterns::workflow::report::STEP,
    workflow::{Status, StepResult},
};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::{Instant, sleep_until, timeout},
};

use crate::{app::App, live::listener::Listener, mcp::call::Call, routes::plan};

/// The longest silence between two notifications, less than the 10 s that are promised.
const SILENCE: Duration = Duration::from_secs(8);

/// How long a notification may take; a client that does not read must not delay its own answer.
const PATIENCE: Duration = Duration::from_millis(300);

/// How much a notification adds to the progress if no step has ended: it must always rise.
const CREEP: f64 = 0.001;

/// Where a discussion stands before its panel is seated.
const ASKING: &str = "asking who is there";

/// The steps that a call tells of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Since {
    /// Those that end after this fact.
    After(Seq),
    /// Those that end from now on.
    Now,
}

pub(crate) struct Progress<'p> {
    call: &'p Call,
    discussion: &'p Discussion,
    token: Option<ProgressToken>,
    /// The last fact that was there before the call.
    before: Seq,
    /// The discussion up to the last fact that was read.
    state: Option<State>,
    /// How many steps had ended by then.
    steps: u32,
    told: f64,
    at: Instant,
    total: Total,
}

/// The number of steps that the discussion usually takes.
enum Total {
    Unknown,
    Counting(JoinHandle<Option<u32>>),
    Known(u32),
}

impl<'p> Progress<'p> {
    /// Nothing is read, counted or sent unless the client gave a token.
    pub(crate) fn of(call: &'p Call, discussion: &'p Discussion, listener: &Listener, since: Since) -> Self {
        let token = call.context.meta.get_progress_token();
        let total = match (&token, listener.look(|it| it.spec.clone())) {
            (Some(_), Some(spec)) => counting(&call.app, call.scope.clone(), spec),
            _ => Total::Unknown,
        };
        let before = match since {
            Since::After(seq) => seq,
            Since::Now => listener.look(|it| it.seq).unwrap_or(Seq::START),
        };
        let (state, steps, told, at) = (None, 0, 0.0, Instant::now());
        Progress { call, discussion, token, before, state, steps, told, at, total }
    }

    /// Waits until the next notification is due, whatever happens; for ever if none is wanted.
    pub(crate) async fn due(&self) {
        match self.token {
            Some(_) => sleep_until(self.at + SILENCE).await,
            None => std::future::pending().await,
        }
    }

    /// Tells of every step that has ended since the last time, or if it is due, of where the
    /// discussion stands. The record reaches at least up to this fact.
    pub(crate) async fn tell(&mut self, up_to: Seq) {
        let Some(token) = self.token.clone() else { return };
        let mut is_read = true;
        for fact in self.unread(up_to).await {
            if let Some(line) = self.take(&fact).filter(|_| is_read) {
                is_read = self.send(&token, line).await;
            }
        }
        if self.at + SILENCE <= Instant::now() {
            let line = self.state.as_ref().map_or_else(|| ASKING.to_owned(), standing);
            self.send(&token, line).await;
        }
    }

    /// The facts that were not read yet. A record that can't be read now is read at the next time.
    async fn unread(&self, up_to: Seq) -> Vec<Fact> {
        let last = self.state.as_ref().map_or(Seq::START, |it| it.seq);
        if up_to <= last {
            return Vec::new();
        }
        self.discussion.facts(last).await.unwrap_or_default()
    }

    /// Applies the next fact. The line about it, if it ends a step of which this call tells.
    fn take(&mut self, fact: &Fact) -> Option<String> {
        match &mut self.state {
            Some(state) => state.apply(fact),
            None => self.state = State::opened(self.discussion.id(), fact),
        }
        let line = ended(self.state.as_ref()?, fact)?;
        self.steps += 1;
        (self.before < fact.seq).then_some(line)
    }

    /// Sends a notification; whether the client has read it.
    async fn send(&mut self, token: &ProgressToken, line: String) -> bool {
        self.told = f64::from(self.steps).max(self.told + CREEP);
        self.at = Instant::now();
        let mut progress = ProgressNotificationParam::new(token.clone(), self.told).with_message(line);
        if let Some(total) = self.counted().await {
            progress = progress.with_total(f64::from(total).max(self.told.ceil()));
        }
        timeout(PATIENCE, self.call.context.peer.notify_progress(progress)).await.is_ok()
    }

    async fn counted(&mut self) -> Option<u32> {
        if let Total::Counting(work) = &mut self.total
            && work.is_finished()
        {
            self.total = work.await.ok().flatten().map_or(Total::Unknown, Total::Known);
        }
        match self.total {
            Total::Known(total) => Some(total),
            Total::Unknown | Total::Counting(_) => None,
        }
    }
}

/// Counts the steps by a plan, on a thread of its own, if one may be made now.
fn counting(app: &App, scope: Scope, spec: Arc<Spec>) -> Total {
    let Ok(turn) = app.planners.clone().try_acquire_owned() else { return Total::Unknown };
    let time = app.limits().plan_time;
    Total::Counting(spawn_blocking(move || {
        let planned = plan::aside(&scope, &spec, time);
        drop(turn);
        planned.ok().map(|it| it.usual.calls)
    }))
}

/// The line about the step that this fact ends, if it ends one: `round 2/3 · gemini answered ·
/// $0.0200`. The state is that after the fact.
fn ended(state: &State, fact: &Fact) -> Option<String> {
    let (round, step) = match &fact.event {
        Event::TurnCompleted { turn } => (turn.round, answered(turn)),
        Event::TurnFailed(failed) => (failed.round, format!("{} failed", failed.participant)),
        // The discussions of a workflow are those of its steps, which have a line of their own.
        Event::SubConcluded(sub) if fact.step.as_ref().is_none_or(|it| it.job_name().is_none()) => {
            (state.round, format!("sub-discussion of {} ended", sub.participant))
        }
        Event::Noted(noted) => (noted.round, of_workflow(noted)?),
        _ => return None,
    };
    Some(line(state, round, Some(step)))
}

/// Where a discussion stands: its round, the last answer in that, and its cost so far.
pub(crate) fn standing(state: &State) -> String {
    let last = state.turns.last().filter(|it| it.round == state.round).map(|it| answered(it));
    let last = last.or_else(|| state.noted.iter().rev().find_map(of_workflow));
    let line = line(state, state.round, last);
    match line.is_empty() {
        true if state.seated.is_none() => ASKING.to_owned(),
        true => "no step has ended yet".to_owned(),
        false => line,
    }
}

fn line(state: &State, round: u32, step: Option<String>) -> String {
    let rounds = state.spec.rounds.max(round);
    let round = (round > 0).then(|| format!("round {round}/{rounds}"));
    // What is reserved for calls under way is not paid yet.
    let paid = Digest::of(state).cost.filter(|it| *it > Usd::ZERO);
    let paid = paid.map(|it| format!("${:.4}", it.dollars()));
    round.into_iter().chain(step).chain(paid).collect::<Vec<_>>().join(" · ")
}

fn answered(turn: &Turn) -> String {
    format!("{} answered", turn.participant)
}

/// The end of a workflow's step.
fn of_workflow(noted: &Noted) -> Option<String> {
    let step: StepResult = noted.read(STEP)?;
    (step.status != Status::Skipped).then(|| format!("step {} {}", step.path, step.status.name()))
}
