//! Progress of a call, for clients that ask for it: one notification for each finished turn, and
//! one every few seconds in between.

use std::{sync::Arc, time::Duration};

use quorum::{
    Scope,
    model::{spec::Spec, state::State},
};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::{Instant, sleep_until, timeout},
};

use crate::{app::App, mcp::call::Call, routes::plan};

/// The longest silence between two notifications, less than the 10 s that are promised.
const SILENCE: Duration = Duration::from_secs(8);

/// How long a notification may take; a client that does not read must not delay its own answer.
const PATIENCE: Duration = Duration::from_millis(300);

/// How much a notification adds to the progress if no turn was finished: it must always rise.
const CREEP: f64 = 0.001;

pub(crate) struct Progress<'p> {
    call: &'p Call,
    token: Option<ProgressToken>,
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
    /// Nothing is counted or sent unless the client gave a token.
    pub(crate) fn of(call: &'p Call, spec: Option<Arc<Spec>>) -> Self {
        let token = call.context.meta.get_progress_token();
        let total = match (&token, spec) {
            (Some(_), Some(spec)) => counting(&call.app, call.scope.clone(), spec),
            _ => Total::Unknown,
        };
        Progress { call, token, told: 0.0, at: Instant::now(), total }
    }

    /// Waits until the next notification is due, whatever happens; for ever if none is wanted.
    pub(crate) async fn due(&self) {
        match self.token {
            Some(_) => sleep_until(self.at + SILENCE).await,
            None => std::future::pending().await,
        }
    }

    /// Sends a notification if turns were finished since the last one, or if it is due.
    pub(crate) async fn tell(&mut self, steps: usize, line: String) {
        let Some(token) = self.token.clone() else { return };
        let is_due = self.at + SILENCE <= Instant::now();
        let steps = steps as f64;
        if steps <= self.told && !is_due {
            return;
        }
        self.told = steps.max(self.told + CREEP);
        self.at = Instant::now();
        let mut progress = ProgressNotificationParam::new(token, self.told).with_message(line);
        if let Some(total) = self.counted().await {
            progress = progress.with_total(f64::from(total).max(self.told.ceil()));
        }
        let _ = timeout(PATIENCE, self.call.context.peer.notify_progress(progress)).await;
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

/// How many steps are done: turns, and participants that failed.
pub(crate) fn steps(state: &State) -> usize {
    state.turns.len() + state.failures.len()
}

/// The last step in one line: `round 2/3 · gemini answered · $0.0200`.
pub(crate) fn line(state: &State) -> String {
    let rounds = state.spec.rounds.max(state.round);
    let round = (state.round > 0).then(|| format!("round {}/{rounds}", state.round));
    let last = state.turns.last().map(|it| format!("{} answered", it.participant));
    let spent = state.spent.usd.dollars();
    let cost = (spent > 0.0).then(|| format!("${spent:.4}"));
    let parts: Vec<String> = round.into_iter().chain(last).chain(cost).collect();
    if parts.is_empty() { "asking who is there".to_owned() } else { parts.join(" · ") }
}
