//! Follows a discussion that another process runs, through the database they share.
//!
//! The database holds what is recorded, not text that is still arriving, so a turn appears when it
//! is complete.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::{Stream, stream};
use quorum::{
    Discussion, Scope, Signal, Snapshot,
    model::{
        event::{Event, Fact},
        id::{DiscussionId, Seq, Step},
        lifecycle::Lifecycle,
        state::State,
    },
};
use tokio::time::Instant;

/// How often the record is read: about as often as a person notices.
const BETWEEN_READS: Duration = Duration::from_millis(150);

/// How long nothing may be recorded before it is checked that a process still runs it.
const BETWEEN_CHECKS: Duration = Duration::from_secs(3);

/// The facts of a discussion and everything below it, as they are recorded. The stream ends when
/// the discussion is over, waits, or is run by no process any more.
pub(crate) fn signals(scope: &Scope, state: &Snapshot) -> impl Stream<Item = Signal> + use<> {
    let below = state.subs.iter().filter(|(_, sub)| sub.end.is_none());
    let below = below.map(|(step, _)| Followed { id: state.id.derived(step.as_str()), seen: None });
    let root = Followed { id: state.id, seen: Some(state.seq) };
    let follower = Follower {
        scope: scope.clone(),
        root: state.id,
        followed: std::iter::once(root).chain(below).collect(),
        ready: VecDeque::new(),
        checked: Instant::now(),
        is_over: false,
    };
    stream::unfold(follower, |mut it| async move { Some((it.next().await?, it)) })
}

/// Reads one discussion and those below it again and again.
struct Follower {
    scope: Scope,
    root: DiscussionId,
    followed: Vec<Followed>,
    ready: VecDeque<Signal>,
    checked: Instant,
    is_over: bool,
}

/// A discussion that is followed.
struct Followed {
    id: DiscussionId,
    /// The last fact that was passed on; `None` if those recorded before are to be skipped.
    seen: Option<Seq>,
}

impl Follower {
    async fn next(&mut self) -> Option<Signal> {
        loop {
            if let Some(signal) = self.ready.pop_front() {
                return Some(signal);
            }
            if self.is_over {
                return None;
            }
            self.read().await;
            if self.ready.is_empty() && !self.is_over {
                self.is_over = !self.is_run().await;
                tokio::time::sleep(BETWEEN_READS).await;
            }
        }
    }

    /// Takes in what is new. A read that fails is repeated: the record may be busy.
    async fn read(&mut self) {
        let mut begun = Vec::new();
        for it in &mut self.followed {
            let Ok(discussion) = self.scope.discussion(it.id).await else { continue };
            let Ok(facts) = discussion.facts(it.seen.unwrap_or(Seq::START)).await else { continue };
            let is_first = it.seen.is_none();
            it.seen = facts.last().map(|fact| fact.seq).or(it.seen);
            if is_first {
                continue;
            }
            begun.extend(facts.iter().filter_map(|fact| child(it.id, fact)));
            self.is_over |= it.id == self.root && facts.iter().any(ends);
            let signal = |fact| Signal::Fact { discussion: it.id, fact: Arc::new(fact) };
            self.ready.extend(facts.into_iter().map(signal));
        }
        let new = |id: DiscussionId| Followed { id, seen: Some(Seq::START) };
        self.followed.extend(begun.into_iter().map(new));
    }

    /// Whether a process still runs it. Asked now and then, while nothing is recorded.
    async fn is_run(&mut self) -> bool {
        if self.checked.elapsed() < BETWEEN_CHECKS {
            return true;
        }
        self.checked = Instant::now();
        match self.scope.discussion(self.root).await {
            Ok(discussion) => !matches!(discussion.runner().await, Ok(None)),
            Err(_) => false,
        }
    }
}

/// The discussion that begins with this fact, below the one it is a fact of.
fn child(of: DiscussionId, fact: &Fact) -> Option<DiscussionId> {
    let named = |step: &Option<Step>| step.as_ref().map(|step| of.derived(step.as_str()));
    match &fact.event {
        Event::SubRequested { turn, .. } => {
            Some(of.derived(fact.step.as_ref().unwrap_or(&turn.step).as_str()))
        }
        Event::ChildConvened(_) => named(&fact.step),
        _ => None,
    }
}

/// Whether nothing is recorded after this fact until a person acts.
fn ends(fact: &Fact) -> bool {
    match &fact.event {
        Event::LifecycleChanged { to, .. } => to.is_terminal() || *to == Lifecycle::Paused,
        _ => false,
    }
}

/// Whether a watched discussion is run, is over, or waits.
pub(crate) enum Standing {
    /// A process runs it.
    Runs { owner: String },
    /// It is over.
    Over,
    /// It waits for a person, is paused, or was left behind by a process.
    Waits,
}

/// Whether the discussion is run, is over, or waits.
pub(crate) async fn standing(discussion: &Discussion, state: &State) -> anyhow::Result<Standing> {
    if state.lifecycle.is_terminal() {
        return Ok(Standing::Over);
    }
    Ok(match discussion.runner().await? {
        Some(owner) => Standing::Runs { owner },
        None => Standing::Waits,
    })
}
