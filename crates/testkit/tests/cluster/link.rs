//! The connection of one node to the store: it may be cut, slow, or lose answers, and the node
//! itself may be stopped or dead.

use std::{sync::Arc, time::Duration};

use futures::{future::BoxFuture, stream::BoxStream};
use quorum_core::{
    memory::MemoryStore,
    model::{
        account::{Account, CapStatus, Caps},
        command::{Command, CommandId},
        event::Fact,
        id::{DiscussionId, NodeId, Seq},
        money::Usd,
        time::Timestamp,
    },
    seams::{
        Append, Claim, ClaimRequest, Created, Draw, Drawn, Duty, Node, NodeStatus, Nodes, Pulse, Queueing,
        Release, Runner, Store, StoreError, Taken, Then, Wake,
    },
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use super::history::{Chronicle, Deed};

/// How long a request waits for an answer that does not come.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The state of a node's process and of its connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// The process neither runs nor ends.
    pub(crate) stopped: bool,
    /// The process is gone.
    pub(crate) dead: bool,
    pub(crate) connection: Connection,
}

/// A connection, the better ones first: of two faults at a time the worse one counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Connection {
    #[default]
    Good,
    /// A delay in milliseconds in each direction.
    Slow(u64),
    /// Requests arrive, answers are swallowed.
    Mute,
    /// Every request is refused at once.
    Refused,
    /// Requests are swallowed.
    Swallowed,
}

/// The state of the database, as all nodes see it.
pub(crate) type Database = Arc<watch::Sender<Connection>>;

/// The state of one node, changed by the schedule.
#[derive(Debug)]
pub(crate) struct Line {
    own: watch::Sender<State>,
    database: Database,
}

impl Line {
    pub(crate) fn new(database: &Database) -> Arc<Self> {
        Arc::new(Line { own: watch::Sender::new(State::default()), database: database.clone() })
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut State)) {
        self.own.send_modify(change);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.own.borrow().dead
    }

    /// Waits until the process runs; forever if it is dead.
    pub(crate) async fn awake(&self) {
        self.reached(|it| !it.stopped && !it.dead).await;
    }

    async fn reached(&self, is_it: impl FnMut(&State) -> bool) {
        let _ = self.own.subscribe().wait_for(is_it).await;
    }

    fn connection(&self) -> Connection {
        // A database that is slow for everybody must not mend the cut of one node.
        self.own.borrow().connection.max(*self.database.borrow())
    }

    /// Waits for the end of a connection that swallows, or until the timeout.
    async fn swallowed(&self) {
        let passes = |it: &Connection| matches!(it, Connection::Good | Connection::Slow(_));
        let good = async {
            self.reached(|it| passes(&it.connection)).await;
            let _ = self.database.subscribe().wait_for(passes).await;
        };
        let _ = timeout(TIMEOUT, good).await;
    }
}

pub(crate) struct Link {
    pub(crate) number: u64,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) line: Arc<Line>,
    pub(crate) chronicle: Chronicle,
}

fn away() -> StoreError {
    StoreError::Unavailable("the database is away by script".to_owned())
}

impl Link {
    /// Sends a request over the line.
    async fn over<T>(&self, act: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        self.line.awake().await;
        match self.line.connection() {
            Connection::Refused => {
                sleep(Duration::from_millis(1)).await;
                return Err(away());
            }
            Connection::Swallowed => {
                self.line.swallowed().await;
                self.line.awake().await;
                return Err(away());
            }
            Connection::Slow(ms) => sleep(Duration::from_millis(ms)).await,
            Connection::Good | Connection::Mute => {}
        }
        let done = act.await;
        if let Connection::Slow(ms) = self.line.connection() {
            sleep(Duration::from_millis(ms)).await;
        }
        // An answer that was on its way when the connection was cut does not arrive.
        if matches!(self.line.connection(), Connection::Mute | Connection::Swallowed) {
            self.line.swallowed().await;
            self.line.awake().await;
            return Err(away());
        }
        self.line.awake().await;
        done
    }

    fn claimed(&self, claim: &Claim) {
        self.chronicle.write().history.deeds.push(Deed::Claimed { claim: claim.clone(), at: Instant::now() });
    }

    async fn append_now(&self, append: Append) -> Result<Seq, StoreError> {
        let (root, id, fence) = (append.claim.id, append.id, append.claim.fence);
        let (facts, is_done) = (append.facts.clone(), append.then == Then::Done);
        let last = self.store.append(append).await?;
        let deed = Deed::Appended { root, id, fence, facts, is_done };
        self.chronicle.write().history.deeds.push(deed);
        Ok(last)
    }
}

impl Store for Link {
    fn create(&self, id: DiscussionId, facts: Vec<Fact>) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(self.over(self.store.create(id, facts)))
    }

    fn enqueue(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        queueing: Queueing,
    ) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(self.over(self.store.enqueue(id, facts, queueing)))
    }

    fn begin(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        runner: Runner,
    ) -> BoxFuture<'_, Result<Option<Claim>, StoreError>> {
        Box::pin(self.over(async move {
            let begun = self.store.begin(id, facts, runner).await?;
            begun.iter().for_each(|claim| self.claimed(claim));
            Ok(begun)
        }))
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<Seq, StoreError>> {
        Box::pin(async move {
            let (id, facts) = (append.id, append.facts.clone());
            let last = self.over(self.append_now(append)).await?;
            self.chronicle.acknowledge(self.number, id, &facts);
            Ok(last)
        })
    }

    fn read(
        &self,
        id: DiscussionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Fact>, StoreError>> {
        Box::pin(self.over(self.store.read(id, after, limit)))
    }

    fn send(&self, id: DiscussionId, command: Command) -> BoxFuture<'_, Result<CommandId, StoreError>> {
        Box::pin(async move {
            let sent = self.over(self.store.send(id, command)).await?;
            self.chronicle.write().history.sent.entry(id).or_default().push(sent);
            Ok(sent)
        })
    }

    fn commands(
        &self,
        id: DiscussionId,
        after: CommandId,
    ) -> BoxFuture<'_, Result<Vec<(CommandId, Command)>, StoreError>> {
        Box::pin(self.over(self.store.commands(id, after)))
    }

    fn claim(&self, id: DiscussionId, node: NodeId) -> BoxFuture<'_, Result<Claim, StoreError>> {
        Box::pin(self.over(async move {
            let claim = self.store.claim(id, node).await?;
            self.claimed(&claim);
            Ok(claim)
        }))
    }

    fn claim_any(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Vec<Taken>, StoreError>> {
        Box::pin(self.over(async move {
            let taken = self.store.claim_any(request).await?;
            taken.iter().for_each(|it| self.claimed(&it.claim));
            Ok(taken)
        }))
    }

    fn held(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>> {
        Box::pin(self.over(self.store.held(node)))
    }

    fn release(&self, claim: Claim, how: Release) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.over(self.store.release(claim, how)))
    }

    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, StoreError>> {
        Box::pin(self.over(self.store.draw(draw)))
    }

    fn settle(&self, claim: Claim, spent: Usd) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.over(self.store.settle(claim, spent)))
    }

    fn spending(
        &self,
        account: Account,
        caps: Caps,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<CapStatus>, StoreError>> {
        Box::pin(self.over(self.store.spending(account, caps, at)))
    }

    fn watch(&self) -> BoxStream<'static, Wake> {
        self.store.watch()
    }
}

impl Nodes for Link {
    fn join(&self, node: Node) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.over(self.store.join(node)))
    }

    fn beat(&self, node: NodeId, duty: Duty) -> BoxFuture<'_, Result<Option<Pulse>, StoreError>> {
        Box::pin(self.over(self.store.beat(node, duty)))
    }

    fn reap(&self, node: NodeId, beat: u64) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.over(self.store.reap(node, beat)))
    }

    fn deregister(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.over(self.store.deregister(node)))
    }

    fn attach(&self, id: DiscussionId, client: Uuid, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.over(self.store.attach(id, client, node)))
    }

    fn detach(&self, id: DiscussionId, client: Uuid) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.over(self.store.detach(id, client)))
    }

    fn try_writing(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.over(self.store.try_writing()))
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<NodeStatus>, StoreError>> {
        Box::pin(self.over(self.store.nodes()))
    }
}
