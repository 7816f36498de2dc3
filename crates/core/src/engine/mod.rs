//! The engine: opens, claims and runs discussions, and passes on people's commands.

pub mod begin;
pub(crate) mod conclude;
pub(crate) mod conduct;
pub mod handle;
mod heart;
mod member;
mod node;
mod observer;
mod order;
pub(crate) mod seating;

use std::{
    any::Any,
    collections::{BTreeSet, HashMap},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::Notify;

use crate::{
    engine::{
        conduct::{Ended, conduct, first_facts, read_state},
        handle::Handle,
        member::Member,
    },
    floor::{
        gate::least_cost,
        reuse::Source,
        work::{Reusable, Schedule, reusable},
    },
    model::{
        account::{CapReached, granted},
        command::{Command, CommandId, Say},
        error::{Code, Refusal},
        event::{Event, Fact, Fork},
        id::{DiscussionId, NodeId, Seq, Step},
        participant::Participant,
        spec::Spec,
    },
    record::{
        Record,
        control::Control,
        failure::Failure,
        feed::{Feed, FeedHandle},
        retry_store::{briefly, patiently},
    },
    registry::Snapshot,
    seams::{Claim, Created, Node, Queueing, Release, StoreError},
    vocabulary::option::Kind,
};

pub use crate::{floor::services, record::feed};
pub use node::NodeHealth;
pub use order::Order;

/// Why a discussion could not be opened. Nothing was spent.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OpenError {
    /// The order is not acceptable, for all of these reasons.
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

/// Why a run failed, apart from failures that the discussion itself records. What was recorded is
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
    claim: Claim,
    feed: Feed,
    control: Arc<Control>,
) -> Result<Ended, RunError> {
    let record = Box::new(Record::load(services.backing(), claim.id, claim, feed).await?);
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
    /// This process as a node of the store.
    pub(crate) member: Member,
    running: Mutex<HashMap<DiscussionId, Running>>,
    heart: std::sync::Once,
    /// Whether this process is to leave all discussions to others.
    leaving: AtomicBool,
    /// Notified when a run has ended.
    ended: Notify,
    /// How many discussions of one tenant may run on all nodes together.
    most_of_tenant: OnceLock<u64>,
}

/// A discussion that this process runs.
pub(crate) struct Running {
    pub(crate) control: Arc<Control>,
    /// `None` while it is being begun.
    pub(crate) claim: Option<Claim>,
}

impl Engine {
    /// An engine with these services. From its first claim on, the store and people know it as this
    /// node.
    #[must_use]
    pub fn new(services: services::Services, node: Node) -> Self {
        Engine(Arc::new(Inner {
            services: Arc::new(services),
            member: Member::new(node),
            running: Mutex::default(),
            heart: std::sync::Once::new(),
            leaving: AtomicBool::new(false),
            ended: Notify::new(),
            most_of_tenant: OnceLock::new(),
        }))
    }

    /// The services that the engine uses.
    #[must_use]
    pub fn services(&self) -> &Arc<services::Services> {
        &self.0.services
    }

    /// Checks an order and records it. Nothing runs yet, and nothing is spent.
    pub async fn open(&self, order: impl Into<Order>) -> Result<DiscussionId, OpenError> {
        let id = DiscussionId::fresh();
        self.open_as(id, order).await?;
        Ok(id)
    }

    /// Does the same under an id of the caller's; opening it twice changes nothing.
    pub async fn open_as(&self, id: DiscussionId, order: impl Into<Order>) -> Result<(), OpenError> {
        self.enqueue_as(id, order, Queueing::default()).await.map(drop)
    }

    /// Checks an order and records it for any node to run, in the order of the queue.
    pub async fn enqueue_as(
        &self,
        id: DiscussionId,
        order: impl Into<Order>,
        queueing: Queueing,
    ) -> Result<Created, OpenError> {
        let order = order.into();
        let facts = self.ordered(&order)?;
        self.check_caps(&order.spec).await?;
        let store = &self.0.services.store;
        Ok(self.write_briefly(|| store.enqueue(id, facts.clone(), queueing)).await?)
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
    fn ordered(&self, Order { spec, caller }: &Order) -> Result<Vec<Fact>, OpenError> {
        let refusals = self.refusals(spec);
        let Some(pattern) = self.0.services.registry.pattern(&spec.pattern).filter(|_| refusals.is_empty())
        else {
            return Err(OpenError::Refused(refusals));
        };
        let (spec, caller) = (Arc::new(spec.clone()), *caller);
        let opened = Event::Opened { spec, flow: pattern.flow, lineage: None, fork: None, caller };
        Ok(first_facts(&self.0.services, opened))
    }

    /// Opens a discussion that continues another with a different spec. Answers up to the fork's
    /// step are taken over, and later ones if the question is the same; only the rest is asked.
    pub async fn fork(&self, fork: Fork, order: impl Into<Order>) -> Result<DiscussionId, OpenError> {
        let id = DiscussionId::fresh();
        self.fork_as(id, fork, order).await?;
        Ok(id)
    }

    /// Does the same under an id of the caller's; forking it twice changes nothing.
    pub async fn fork_as(
        &self,
        id: DiscussionId,
        fork: Fork,
        order: impl Into<Order>,
    ) -> Result<(), OpenError> {
        let facts = self.forked(fork, order.into()).await?;
        self.0.services.store.create(id, facts).await?;
        Ok(())
    }

    /// Records a fork for any node to run, in the order of the queue.
    pub async fn enqueue_fork(
        &self,
        id: DiscussionId,
        fork: Fork,
        order: impl Into<Order>,
        queueing: Queueing,
    ) -> Result<Created, OpenError> {
        let (facts, store) = (self.forked(fork, order.into()).await?, &self.0.services.store);
        Ok(self.write_briefly(|| store.enqueue(id, facts.clone(), queueing)).await?)
    }

    /// The first facts of a fork, or the reasons for refusing it.
    async fn forked(&self, fork: Fork, Order { spec, caller }: Order) -> Result<Vec<Fact>, OpenError> {
        let facts = self.0.services.store.read(fork.of, Seq::START, usize::MAX).await?;
        let steps: BTreeSet<&str> = facts.iter().filter_map(answered).collect();
        let mut refusals = self.refusals(&spec);
        if !steps.contains(fork.at.as_str()) {
            let known: Vec<&str> = steps.into_iter().collect();
            let message = match known.as_slice() {
                [] => "it has no answer yet that could be kept".to_owned(),
                known => format!("there is no answer at step {}; there are {}", fork.at, known.join(", ")),
            };
            refusals.push(Refusal::new("at", Code::InvalidRequest, message));
        }
        let Some(pattern) = self.0.services.registry.pattern(&spec.pattern).filter(|_| refusals.is_empty())
        else {
            return Err(OpenError::Refused(refusals));
        };
        self.check_caps(&spec).await?;
        let (spec, flow, fork) = (Arc::new(spec), pattern.flow, Some(fork));
        let opened = Event::Opened { spec, flow, lineage: None, fork, caller };
        Ok(first_facts(&self.0.services, opened))
    }

    /// The jobs that a fork of this discussion would take over, if there are any. Begins nothing.
    pub async fn reusable_jobs(
        &self,
        fork: Fork,
        schedule: &mut dyn Schedule,
    ) -> Result<Reusable, StoreError> {
        let services = &self.0.services;
        let source = Source::of_fork(Some(fork), None, &*services.store).await?;
        reusable(services, &source, schedule).await
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
        let claim = self.claim(id).await?;
        Ok(self.run_claimed(claim))
    }

    /// Claims a discussion for this process.
    pub async fn claim(&self, id: DiscussionId) -> Result<Claim, StoreError> {
        let store = &self.0.services.store;
        let claim = self.as_node(|node| store.claim(id, node)).await?;
        self.0.member.counts.claims.fetch_add(1, Ordering::Relaxed);
        Ok(claim)
    }

    /// Releases a claim that was not run; `how` says when other nodes may claim the discussion.
    pub async fn give_up(&self, claim: Claim, how: Release) {
        self.0.give_up(claim, how).await;
    }

    /// Runs a discussion that this process has claimed.
    #[must_use]
    pub fn run_claimed(&self, claim: Claim) -> Handle {
        let (feed, control) = (Feed::new(&self.0.member.suspicion), Arc::new(Control::unread()));
        self.register(&claim, &control);
        let feed_handle = feed.feed_handle();
        let run = run_recorded(self.0.services.clone(), claim.clone(), feed, control.clone());
        self.launch(claim, feed_handle, control, run)
    }

    /// Does something in the store as a node. Joins first, and again under a new id if the node was
    /// considered dead meanwhile. Retries while the store is briefly unavailable.
    pub(crate) async fn as_node<'s, T>(
        &'s self,
        act: impl Fn(NodeId) -> BoxFuture<'s, Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let inner = &self.0;
        let joined = || async {
            let node = inner.member.join(&*inner.services.store).await?;
            self.start_heart();
            let done = act(node).await;
            inner.member.note(&done);
            done
        };
        match briefly(joined).await {
            Err(StoreError::Gone(gone)) => {
                // Other nodes run its discussions now, whether a beat or a claim noticed it first.
                inner.lose_everything(gone);
                briefly(joined).await
            }
            done => done,
        }
    }

    /// Runs a claimed discussion in a task of its own.
    fn launch(
        &self,
        claim: Claim,
        feed_handle: FeedHandle,
        control: Arc<Control>,
        run: impl Future<Output = Result<Ended, RunError>> + Send + 'static,
    ) -> Handle {
        let (id, engine) = (claim.id, self.clone());
        let early = feed_handle.listen();
        // Boxed, because a task holds an unboxed future twice, before and after its start.
        let run = Box::pin(run);
        let task = tokio::spawn(async move {
            // A panic must not keep the claim: no process could go on.
            let guarded = AssertUnwindSafe(run).catch_unwind();
            let ended = tokio::select! {
                ended = guarded => ended.unwrap_or_else(|panic| Err(fault(&*panic))),
                // Another node runs it now. Dropping the run drops its calls.
                () = control.cancelled() => Err(StoreError::Fenced(id).into()),
            };
            engine.unregister(id, Some(&claim));
            match &ended {
                Ok(_) => {}
                Err(RunError::Store(StoreError::Fenced(_))) => {
                    engine.0.member.was_fenced();
                    engine.0.give_up(claim, Release::Failed).await;
                }
                // Released, so that other nodes can go on.
                Err(error) => {
                    tracing::warn!(%id, %error, "a run ended before its discussion was over");
                    engine.0.give_up(claim, Release::Failed).await;
                }
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
    pub fn release(&self, id: DiscussionId, how: Release) {
        if let Some(running) = self.running().get(&id) {
            running.control.leave(how);
        }
    }

    /// Does the same for every discussion that this process runs, or is about to run. Returns when
    /// no run is left. From the beginning on, others see that this node is draining.
    pub async fn leave(&self) {
        self.0.leaving.store(true, Ordering::SeqCst);
        self.0.member.soon.notify_one();
        self.running().values().for_each(|it| it.control.leave(Release::Now));
        loop {
            let ended = self.0.ended.notified();
            if self.running().is_empty() {
                return;
            }
            ended.await;
        }
    }

    /// Ends this node: whatever it still holds can be claimed by others at once.
    pub async fn deregister(&self) -> Result<(), StoreError> {
        match self.0.member.joined() {
            Some(node) => self.0.services.store.deregister(node).await,
            None => Ok(()),
        }
    }

    /// Sends a command to the process that runs the discussion, this one or another.
    pub async fn send(&self, id: DiscussionId, command: Command) -> Result<CommandId, StoreError> {
        let store = &self.0.services.store;
        match command {
            // Sending one of these twice has the same effect as once.
            Command::Pause | Command::Resume | Command::Stop | Command::Abort => {
                briefly(|| store.send(id, command.clone())).await
            }
            Command::Say(_) | Command::Rule(_) | Command::Note(_) => store.send(id, command).await,
        }
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

    pub(crate) fn running(&self) -> MutexGuard<'_, HashMap<DiscussionId, Running>> {
        self.0.running()
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
            control.leave(Release::Now);
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

    fn start_heart(&self) {
        self.0.heart.call_once(|| {
            // Subscribes now, not when the task first runs.
            let news = self.0.services.store.watch();
            drop(tokio::spawn(heart::beat_on(Arc::downgrade(&self.0), news)));
        });
    }
}

impl Inner {
    pub(crate) fn running(&self) -> MutexGuard<'_, HashMap<DiscussionId, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases a claim. If the store is unavailable, that continues in the background: a claim
    /// that nothing runs under would keep others from running the discussion.
    pub(crate) async fn give_up(&self, claim: Claim, how: Release) {
        let store = self.services.store.clone();
        if let Err(StoreError::Unavailable(_)) = store.release(claim.clone(), how).await {
            let feed = Feed::new(&self.member.suspicion);
            tokio::spawn(async move {
                drop(patiently(&feed, || store.release(claim.clone(), how)).await);
            });
        }
    }
}
