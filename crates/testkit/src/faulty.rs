//! A store with faults at chosen writes: dead like a killed process, unreachable for a while, or
//! losing its replies.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{future::BoxFuture, stream::BoxStream};
use quorum_core::{
    model::{
        account::{Account, CapStatus, Caps},
        command::{Command, CommandId},
        event::Fact,
        id::{DiscussionId, NodeId, Seq},
        money::Usd,
        piece::Piece,
        time::Timestamp,
    },
    seams::{
        Append, Claim, ClaimRequest, Created, Draw, Drawn, Duty, Node, NodeStatus, Nodes, Pulse, Queueing,
        Release, Runner, Store, StoreError, Taken, Wake,
    },
};
use tokio::{sync::watch, time::sleep};
use uuid::Uuid;

/// A fault of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// The process is dead: nothing is written from now on.
    Dead,
    /// The store is unreachable; nothing is written.
    Away,
    /// It is written, but the reply is lost.
    LosesAnswer,
    /// It is written, but the reply is delayed.
    AnswersLate,
}

/// What becomes of heartbeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beats {
    /// They are written.
    Written,
    /// They fail at once.
    Refused,
    /// They get no answer.
    Swallowed,
}

/// The delay of a late reply.
const LATE: Duration = Duration::from_secs(1);

/// A store whose writes fail by their number, counted from 0.
pub struct Faulty {
    inner: Arc<dyn Store>,
    fault: Box<dyn Fn(u64) -> Fault + Send + Sync>,
    writes: AtomicU64,
    late: Mutex<Option<Command>>,
    beats: Option<watch::Receiver<Beats>>,
}

impl Faulty {
    /// Fails as this function of the write's number says.
    pub fn new(inner: Arc<dyn Store>, fault: impl Fn(u64) -> Fault + Send + Sync + 'static) -> Self {
        let (writes, late) = (AtomicU64::new(0), Mutex::default());
        Faulty { inner, fault: Box::new(fault), writes, late, beats: None }
    }

    /// Never fails, except for heartbeats.
    #[must_use]
    pub fn beating(inner: Arc<dyn Store>, beats: watch::Receiver<Beats>) -> Self {
        Faulty { beats: Some(beats), ..Faulty::new(inner, |_| Fault::None) }
    }

    /// Never fails, but a command arrives right after the first read of the inbox.
    #[must_use]
    pub fn hearing_late(inner: Arc<dyn Store>, command: Command) -> Self {
        Faulty { late: Mutex::new(Some(command)), ..Faulty::new(inner, |_| Fault::None) }
    }

    /// Accepts `writes` writes, then none, like a killed process.
    #[must_use]
    pub fn dying_after(inner: Arc<dyn Store>, writes: u64) -> Self {
        Faulty::new(inner, move |number| if number < writes { Fault::None } else { Fault::Dead })
    }

    fn next_fault(&self) -> Fault {
        (self.fault)(self.writes.fetch_add(1, Ordering::SeqCst))
    }
}

fn away() -> StoreError {
    StoreError::Unavailable("the store is away by script".to_owned())
}

async fn late<T>(write: impl Future<Output = T>) -> T {
    let written = write.await;
    sleep(LATE).await;
    written
}

impl Store for Faulty {
    fn create(&self, id: DiscussionId, facts: Vec<Fact>) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move {
            match self.next_fault() {
                Fault::None => self.inner.create(id, facts).await,
                Fault::Dead => Err(StoreError::Fenced(id)),
                Fault::Away => Err(away()),
                Fault::LosesAnswer => self.inner.create(id, facts).await.and(Err(away())),
                Fault::AnswersLate => late(self.inner.create(id, facts)).await,
            }
        })
    }

    fn enqueue(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        queueing: Queueing,
    ) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move {
            match self.next_fault() {
                Fault::None => self.inner.enqueue(id, facts, queueing).await,
                Fault::Dead => Err(StoreError::Fenced(id)),
                Fault::Away => Err(away()),
                Fault::LosesAnswer => self.inner.enqueue(id, facts, queueing).await.and(Err(away())),
                Fault::AnswersLate => late(self.inner.enqueue(id, facts, queueing)).await,
            }
        })
    }

    fn begin(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        runner: Runner,
    ) -> BoxFuture<'_, Result<Option<Claim>, StoreError>> {
        Box::pin(async move {
            match self.next_fault() {
                Fault::None => self.inner.begin(id, facts, runner).await,
                Fault::Dead => Err(StoreError::Fenced(id)),
                Fault::Away => Err(away()),
                Fault::LosesAnswer => self.inner.begin(id, facts, runner).await.and(Err(away())),
                Fault::AnswersLate => late(self.inner.begin(id, facts, runner)).await,
            }
        })
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<Seq, StoreError>> {
        Box::pin(async move {
            match self.next_fault() {
                Fault::None => self.inner.append(append).await,
                Fault::Dead => Err(StoreError::Fenced(append.id)),
                Fault::Away => Err(away()),
                Fault::LosesAnswer => self.inner.append(append).await.and(Err(away())),
                Fault::AnswersLate => late(self.inner.append(append)).await,
            }
        })
    }

    fn read(
        &self,
        id: DiscussionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Fact>, StoreError>> {
        self.inner.read(id, after, limit)
    }

    fn send(&self, id: DiscussionId, command: Command) -> BoxFuture<'_, Result<CommandId, StoreError>> {
        self.inner.send(id, command)
    }

    fn commands(
        &self,
        id: DiscussionId,
        after: CommandId,
    ) -> BoxFuture<'_, Result<Vec<(CommandId, Command)>, StoreError>> {
        let late = self.late.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let found = self.inner.commands(id, after).await;
            if let Some(command) = late {
                self.inner.send(id, command).await?;
                // Watchers are notified before this call returns.
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
            }
            found
        })
    }

    fn claim(&self, id: DiscussionId, node: NodeId) -> BoxFuture<'_, Result<Claim, StoreError>> {
        self.inner.claim(id, node)
    }

    fn claim_any(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Vec<Taken>, StoreError>> {
        self.inner.claim_any(request)
    }

    fn held(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>> {
        self.inner.held(node)
    }

    fn release(&self, claim: Claim, how: Release) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.release(claim, how)
    }

    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, StoreError>> {
        Box::pin(async move {
            match self.next_fault() {
                Fault::None => self.inner.draw(draw).await,
                Fault::Dead => Err(StoreError::Fenced(draw.claim.id)),
                Fault::Away => Err(away()),
                Fault::LosesAnswer => self.inner.draw(draw).await.and(Err(away())),
                Fault::AnswersLate => late(self.inner.draw(draw)).await,
            }
        })
    }

    fn settle(&self, claim: Claim, spent: Usd) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            match self.next_fault() {
                Fault::None => self.inner.settle(claim, spent).await,
                Fault::Dead => Err(StoreError::Fenced(claim.id)),
                Fault::Away => Err(away()),
                Fault::LosesAnswer => self.inner.settle(claim, spent).await.and(Err(away())),
                Fault::AnswersLate => late(self.inner.settle(claim, spent)).await,
            }
        })
    }

    fn spending(
        &self,
        account: Account,
        caps: Caps,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<CapStatus>, StoreError>> {
        self.inner.spending(account, caps, at)
    }

    fn watch(&self) -> BoxStream<'static, Wake> {
        self.inner.watch()
    }

    fn follow(&self, id: DiscussionId) {
        self.inner.follow(id);
    }

    fn delta(&self, piece: &Arc<Piece>) {
        self.inner.delta(piece);
    }
}

impl Nodes for Faulty {
    fn join(&self, node: Node) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.join(node)
    }

    fn beat(&self, node: NodeId, duty: Duty) -> BoxFuture<'_, Result<Option<Pulse>, StoreError>> {
        let beats = self.beats.clone();
        Box::pin(async move {
            if let Some(mut beats) = beats {
                let answer = beats.wait_for(|it| *it != Beats::Swallowed).await.map(|it| *it);
                if answer.is_ok_and(|it| it == Beats::Refused) {
                    return Err(away());
                }
            }
            self.inner.beat(node, duty).await
        })
    }

    fn reap(&self, node: NodeId, beat: u64) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.inner.reap(node, beat)
    }

    fn deregister(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.deregister(node)
    }

    fn attach(&self, id: DiscussionId, client: Uuid, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        self.inner.attach(id, client, node)
    }

    fn detach(&self, id: DiscussionId, client: Uuid) -> BoxFuture<'_, Result<bool, StoreError>> {
        self.inner.detach(id, client)
    }

    /// Fails if the store is unreachable for the next write. Other faults are ignored.
    fn try_writing(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        match (self.fault)(self.writes.load(Ordering::SeqCst)) {
            Fault::Away => Box::pin(std::future::ready(Err(away()))),
            Fault::None | Fault::Dead | Fault::LosesAnswer | Fault::AnswersLate => self.inner.try_writing(),
        }
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<NodeStatus>, StoreError>> {
        self.inner.nodes()
    }
}
