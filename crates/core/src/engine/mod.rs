//! The engine: opens, claims and runs discussions, and passes on people's commands.

pub mod begin;
pub(crate) mod conclude;
pub(crate) mod conduct;
pub mod handle;
mod lease;
pub(crate) mod seating;

use std::{
    any::Any,
    collections::{BTreeSet, HashMap},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::FutureExt;
use tokio::sync::Notify;

use crate::{
    engine::{
        conduct::{Ended, conduct, first_facts, read_state},
        handle::Handle,
    },
    floor::gate::least_cost,
    model::{
        account::{CapReached, granted},
        command::{Command, CommandId, Say},
        error::{Code, Refusal},
        event::{Event, Fact, Fork},
        id::{DiscussionId, Seq, Step},
        participant::Participant,
        spec::Spec,
    },
    record::{
        Record,
        control::Control,
        failure::Failure,
        feed::{Feed, FeedHandle},
    },
    registry::Snapshot,
    seams::{Claim, StoreError},
    vocabulary::option::Kind,
};

pub use crate::{floor::services, record::feed};

/// How long a claim is valid without renewal.
const LEASE_MS: u64 = 30_000;

/// Why a discussion could not be opened. Nothing was spent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OpenError {
    /// The order is not acceptable; has all reasons at once.
    #[error("{}", list(.0))]
    Refused(Vec<Refusal>),
    /// A spending cap of the account has no room for it.
    #[error("{0}")]
    SpendingCap(Box<CapReached>),
    /// It could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn answered(fact: &Fact) -> Option<&str> {
    let is_answer =
        matches!(fact.event, Event::TurnCompleted { .. } | Event::SubConcluded(_) | Event::ToolUsed(_));
    fact.step.as_ref().filter(|_| is_answer).map(Step::as_str)
}

fn list(refusals: &[Refusal]) -> String {
    refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n")
}

/// The longest turn a person may give, in characters.
pub const MOST_SAID: usize = 100_000;

/// Why a person's turn was not accepted. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SayError {
    /// The text is empty or too long.
    #[error("a turn must have 1 to {MOST_SAID} characters; this has {length}")]
    Length {
        /// The length of the text.
        length: usize,
    },
    /// There is no person with that name on the panel.
    #[error("there is no person named {participant} on this panel; its people are {}", if .people.is_empty() { "none".to_owned() } else { .people.join(", ") })]
    NoSeat {
        /// The name that was given.
        participant: String,
        /// The people on the panel.
        people: Vec<String>,
    },
    /// The seat belongs to another user.
    #[error("{participant}'s seat belongs to another user")]
    NotTheirs {
        /// The seat.
        participant: String,
    },
    /// It is not their turn, or the discussion is over or unknown.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a run failed, other than by a failure that the discussion records. What was recorded is
/// kept.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A spending cap has no room for it; nothing was changed.
    #[error("{0}")]
    SpendingCap(Box<CapReached>),
    /// A bug in this program.
    #[error("the discussion ended with an internal error: {0}; everything said so far is recorded")]
    Fault(String),
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => RunError::Store(error),
            Failure::SpendingCap(reached) => RunError::SpendingCap(reached),
            Failure::Illegal(_) | Failure::TakenTwice(_) | Failure::Unwritable(_) | Failure::Diverged(_) => {
                RunError::Fault(failure.to_string())
            }
        }
    }
}

async fn run_recorded(
    services: Arc<services::Services>,
    id: DiscussionId,
    claim: Claim,
    feed: Feed,
    control: Arc<Control>,
) -> Result<Ended, RunError> {
    let record = Box::new(Record::load(services.backing(), id, claim, feed).await?);
    Ok(conduct(services, record, control, None).await?)
}

fn fault(panic: &(dyn Any + Send)) -> RunError {
    let literal = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let message = literal.or_else(|| panic.downcast_ref::<String>().cloned());
    RunError::Fault(message.unwrap_or_else(|| "it panicked".to_owned()))
}

/// Runs discussions. Cheap to clone; all clones share the same state.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) services: Arc<services::Services>,
    /// The name that the store knows this engine by.
    owner: String,
    pub(crate) running: Mutex<HashMap<DiscussionId, Running>>,
    leases: std::sync::Once,
    /// Whether this process is to leave all discussions to others.
    leaving: AtomicBool,
    /// Notified when a run has ended.
    ended: Notify,
}

/// A discussion that this process runs.
pub(crate) struct Running {
    pub(crate) control: Arc<Control>,
    /// `None` while it is being begun.
    pub(crate) claim: Option<Claim>,
}

impl Engine {
    /// An engine with these services, known to the store by this name.
    #[must_use]
    pub fn new(services: services::Services, owner: impl Into<String>) -> Self {
        Engine(Arc::new(Inner {
            services: Arc::new(services),
            owner: owner.into(),
            running: Mutex::default(),
            leases: std::sync::Once::new(),
            leaving: AtomicBool::new(false),
            ended: Notify::new(),
        }))
    }

    /// The services that the engine uses.
    #[must_use]
    pub fn services(&self) -> &Arc<services::Services> {
        &self.0.services
    }

    /// Checks an order and records it. Nothing runs yet, and nothing is spent.
    pub async fn open(&self, spec: Spec) -> Result<DiscussionId, OpenError> {
        let id = DiscussionId::fresh();
        self.open_as(id, spec).await?;
        Ok(id)
    }

    /// Does the same under an id of the caller's; opening it twice changes nothing.
    pub async fn open_as(&self, id: DiscussionId, spec: Spec) -> Result<(), OpenError> {
        let facts = self.ordered(&spec)?;
        self.check_caps(&spec).await?;
        self.0.services.store.create(id, facts).await?;
        Ok(())
    }

    /// Refuses an order, new or to be resumed, for which the account's caps have too little left.
    pub async fn check_caps(&self, spec: &Spec) -> Result<(), OpenError> {
        let services = &self.0.services;
        let Some((account, caps)) = services.caps_of(spec) else { return Ok(()) };
        let (least, now) = (least_cost(services, spec), services.clock.now());
        let left = services.store.spending(account, caps, now).await?;
        granted(&left, least, now).map(drop).map_err(|reached| OpenError::SpendingCap(Box::new(reached)))
    }

    /// The first facts of an order, or the reasons for refusing it.
    fn ordered(&self, spec: &Spec) -> Result<Vec<Fact>, OpenError> {
        let refusals = self.refusals(spec);
        let Some(pattern) = self.0.services.registry.pattern(&spec.pattern).filter(|_| refusals.is_empty())
        else {
            return Err(OpenError::Refused(refusals));
        };
        let spec = Arc::new(spec.clone());
        let opened = Event::Opened { spec, flow: pattern.flow, lineage: None, fork: None };
        Ok(first_facts(&self.0.services, opened))
    }

    /// Opens a discussion that continues another with a different spec. Answers up to the fork's
    /// step are taken over, and later ones if the question is the same; only the rest is asked.
    pub async fn fork(&self, fork: Fork, spec: Spec) -> Result<DiscussionId, OpenError> {
        let id = DiscussionId::fresh();
        self.fork_as(id, fork, spec).await?;
        Ok(id)
    }

    /// Does the same under an id of the caller's; forking it twice changes nothing.
    pub async fn fork_as(&self, id: DiscussionId, fork: Fork, spec: Spec) -> Result<(), OpenError> {
        let facts = self.0.services.store.read(fork.of, Seq::START, usize::MAX).await?;
        let steps: BTreeSet<&str> = facts.iter().filter_map(answered).collect();
        let mut refusals = self.refusals(&spec);
        if !steps.contains(fork.at.as_str()) {
            let known: Vec<&str> = steps.into_iter().collect();
            let message = format!("there is no answer at step {}; there are {}", fork.at, known.join(", "));
            refusals.push(Refusal::new("at", Code::InvalidRequest, message));
        }
        let Some(pattern) = self.0.services.registry.pattern(&spec.pattern).filter(|_| refusals.is_empty())
        else {
            return Err(OpenError::Refused(refusals));
        };
        self.check_caps(&spec).await?;
        let opened =
            Event::Opened { spec: Arc::new(spec), flow: pattern.flow, lineage: None, fork: Some(fork) };
        self.0.services.store.create(id, first_facts(&self.0.services, opened)).await?;
        Ok(())
    }

    /// All reasons for refusing this order.
    #[must_use]
    pub fn refusals(&self, spec: &Spec) -> Vec<Refusal> {
        let mut refusals = self.0.services.registry.refusals(spec);
        refusals.extend(self.no_such_embedder(spec));
        refusals.extend(self.unpriced(spec));
        refusals
    }

    fn no_such_embedder(&self, spec: &Spec) -> Vec<Refusal> {
        let voices = &self.0.services.voices;
        let missing = self.embedders(spec).filter(|(_, model)| voices.embedder(spec, model).is_none());
        let refusal = |(option, model): (&str, &str)| {
            let message =
                format!("no provider has the embedding model {model}; leave it out to compare words");
            Refusal::new(option, Code::InvalidRequest, message)
        };
        missing.map(refusal).collect()
    }

    /// The embedding models in the spec, each with its option.
    fn embedders<'s>(&'s self, spec: &'s Spec) -> impl Iterator<Item = (&'static str, &'s str)> {
        let declared = self.0.services.registry.options().into_iter();
        let models = declared.filter(|it| it.kind == Kind::Embedder).map(|it| it.name);
        models.filter_map(|name| Some((name, spec.settings.get(name)?.as_str()?)))
    }

    /// Refuses a budget in money, or an account with caps, if a participant's price is unknown.
    fn unpriced(&self, spec: &Spec) -> Option<Refusal> {
        let capped = self.0.services.caps_need_prices(spec);
        if !capped && !spec.limits.needs_prices() {
            return None;
        }
        let voices = &self.0.services.voices;
        let is_unpriced = |who: &&Participant| {
            // An agent may speak through any candidate; one without a price is not chosen.
            let candidates = who.agent.iter().flat_map(|it| &it.candidates);
            let seats = candidates.map(|it| (*who).clone().through(it)).chain([(*who).clone()]);
            let mut prices = seats.filter_map(|it| voices.voice(spec, &it)).map(|it| it.price).peekable();
            prices.peek().is_some() && prices.all(|it| it.is_none())
        };
        let seated = spec.participants.iter().filter(is_unpriced).map(|it| it.name.as_str());
        let is_free = |model: &str| voices.embedder(spec, model).is_some_and(|it| it.price().is_none());
        let embedders = self.embedders(spec).map(|it| it.1).filter(|model| is_free(model));
        let names: Vec<&str> = seated.chain(embedders).collect();
        let (limit, field) =
            if capped { ("a spending cap", "providers") } else { ("a budget in USD", "maxCost") };
        let message = format!(
            "the price of {} is unknown, so {limit} can't be enforced; leave them out, or allow unpriced providers",
            names.join(", ")
        );
        (!names.is_empty()).then(|| Refusal::new(field, Code::InvalidRequest, message))
    }

    /// Claims a discussion and runs it in a task of its own: from its beginning, or from where its
    /// record ends; there is no difference.
    pub async fn run(&self, id: DiscussionId) -> Result<Handle, RunError> {
        let claim = self.0.services.store.claim(id, &self.0.owner, LEASE_MS).await?;
        self.keep_leases();
        let (feed, control) = (Feed::new(), Arc::new(Control::unread()));
        self.register(&claim, &control);
        let feed_handle = feed.feed_handle();
        let run = run_recorded(self.0.services.clone(), id, claim.clone(), feed, control);
        Ok(self.launch(claim, feed_handle, run))
    }

    /// Runs a claimed discussion in a task of its own.
    fn launch(
        &self,
        claim: Claim,
        feed_handle: FeedHandle,
        run: impl Future<Output = Result<Ended, RunError>> + Send + 'static,
    ) -> Handle {
        let (id, engine) = (claim.id, self.clone());
        let early = feed_handle.listen();
        // Boxed, because a task holds an unboxed future twice, before and after its start.
        let run = Box::pin(run);
        let task = tokio::spawn(async move {
            // A panic must not keep the claim: no process could go on.
            let ended =
                AssertUnwindSafe(run).catch_unwind().await.unwrap_or_else(|panic| Err(fault(&*panic)));
            engine.unregister(id, Some(&claim));
            if ended.is_err() {
                // Released, so that other processes need not wait for the lease to expire.
                let _ = engine.0.services.store.release(claim).await;
            }
            ended
        });
        let end = task.map(|joined| joined.unwrap_or_else(|panic| Err(RunError::Fault(panic.to_string()))));
        Handle::new(id, (feed_handle, early), &self.0.services, end.boxed())
    }

    /// Whether this process runs it.
    #[must_use]
    pub fn is_running(&self, id: DiscussionId) -> bool {
        self.running().contains_key(&id)
    }

    /// Leaves a discussion to another process: nothing new begins in it here, and its run ends when
    /// what is under way is recorded.
    pub fn release(&self, id: DiscussionId) {
        if let Some(running) = self.running().get(&id) {
            running.control.leave();
        }
    }

    /// Does the same for every discussion that this process runs, or is about to run. Returns when
    /// no run is left.
    pub async fn leave(&self) {
        self.0.leaving.store(true, Ordering::SeqCst);
        self.running().values().for_each(|it| it.control.leave());
        loop {
            let ended = self.0.ended.notified();
            if self.running().is_empty() {
                return;
            }
            ended.await;
        }
    }

    /// Sends a command to the process that runs the discussion, this one or another.
    pub async fn send(&self, id: DiscussionId, command: Command) -> Result<CommandId, StoreError> {
        self.0.services.store.send(id, command).await
    }

    /// Gives a person's turn. Refused, with nothing changed, if it is not that person's turn, if
    /// the user may not speak for the seat, or if the text is empty or too long.
    pub async fn say(&self, id: DiscussionId, say: Say, user: Option<&str>) -> Result<CommandId, SayError> {
        let length = say.text.chars().count();
        if say.text.trim().is_empty() || length > MOST_SAID {
            return Err(SayError::Length { length });
        }
        let state = self.state(id).await?;
        let seat = state.spec.seat(&say.participant);
        let Some(person) = seat.and_then(|it| it.person.as_ref()) else {
            let people = state.spec.participants.iter().filter(|it| it.is_person()).map(|it| it.name.clone());
            return Err(SayError::NoSeat { participant: say.participant, people: people.collect() });
        };
        if person.user.is_some() && person.user.as_deref() != user {
            return Err(SayError::NotTheirs { participant: say.participant });
        }
        Ok(self.send(id, Command::Say(say)).await?)
    }

    /// The state of a discussion so far, whichever process runs it (A16).
    pub async fn state(&self, id: DiscussionId) -> Result<Snapshot, StoreError> {
        let state = read_state(&self.0.services, id).await?.ok_or(StoreError::Unknown(id))?;
        Ok(Snapshot::new(Box::new(state), self.0.services.registry.clone()))
    }

    pub(crate) fn running(&self) -> std::sync::MutexGuard<'_, HashMap<DiscussionId, Running>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a run for commands. Of two runs that were begun together, the one with the newer
    /// claim gets them.
    fn register(&self, claim: &Claim, control: &Arc<Control>) {
        let mut running = self.running();
        let held = running.get(&claim.id).and_then(|it| it.claim.as_ref());
        if held.is_none_or(|held| held.fence < claim.fence) {
            running.insert(claim.id, Running { control: control.clone(), claim: Some(claim.clone()) });
        }
        drop(running);
        if self.0.leaving.load(Ordering::SeqCst) {
            control.leave();
        }
    }

    /// Removes a run. A run that was fenced doesn't remove the one that took over.
    fn unregister(&self, id: DiscussionId, claim: Option<&Claim>) {
        let mut running = self.running();
        if running.get(&id).is_some_and(|it| it.claim.as_ref() == claim) {
            running.remove(&id);
            self.0.ended.notify_waiters();
        }
    }

    fn keep_leases(&self) {
        self.0.leases.call_once(|| {
            // Subscribes now, not when the task first runs.
            let news = self.0.services.store.watch();
            drop(tokio::spawn(lease::renew_leases(Arc::downgrade(&self.0), news)));
        });
    }
}
