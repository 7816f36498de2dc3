//! The store of facts: its interface, its arguments and its errors.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::{future::BoxFuture, stream::BoxStream};
use uuid::Uuid;

use super::{ClaimRequest, Nodes, Queueing, Release, Runner, Taken, Wake};
use crate::call::grants::Grants;
use crate::model::{
    account::{Account, CapReached, CapStatus, Caps},
    command::{Command, CommandId},
    digest::Digest,
    event::Fact,
    id::{DiscussionId, NodeId, Seq},
    money::Usd,
    piece::Piece,
    ruling::{Ruling, RulingAwaited, RulingError},
    time::Timestamp,
};

/// A store of facts, for one machine or many.
///
/// - The log is the source of truth. `append` is atomic: it writes all facts and applies `then`, or
///   does nothing. It fails with [`StoreError::Fenced`] if the claim is no longer the newest, or if
///   `expected` is not the last number; the caller must then stop and write nothing more. Facts are
///   durable when it returns and not visible before.
/// - `create` is idempotent: for an existing id it returns [`Created::Existed`] and changes
///   nothing. So are `enqueue` and `begin`.
/// - A discussion is run by one node at a time; see [`Nodes`] for how long a claim holds. A
///   sub-discussion has no claim of its own: it is written under the claim of its root, and an
///   append to it locks the root as one to the root does.
/// - [`Then::Done`] ends the claim: a further append under it returns [`StoreError::Fenced`], which
///   is how a lost acknowledgement is recognised. A finished discussion can be claimed in order to
///   read it.
/// - Facts of a finished discussion never change (INV-DISC-630).
/// - Times that decide something (`ready_in_ms`, a back-off) are measured by the store's own clock.
pub trait Store: Nodes {
    /// Creates a discussion with its first facts. It can be claimed unless it is a sub-discussion.
    fn create(&self, id: DiscussionId, facts: Vec<Fact>) -> BoxFuture<'_, Result<Created, StoreError>>;

    /// Creates a discussion for any node to run. Among those that wait, tenants take turns: the
    /// order is that of start-time fair queueing, where each order costs its tenant one turn.
    /// Returns [`StoreError::QueueFull`] if too many of its tenant wait already.
    fn enqueue(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        queueing: Queueing,
    ) -> BoxFuture<'_, Result<Created, StoreError>>;

    /// Creates and claims in one step, for a caller that runs the discussion at once: no other node
    /// can claim it in between. Returns `None` and changes nothing if the id already exists, and
    /// [`StoreError::TenantFull`] if its tenant runs as many as it may.
    fn begin(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        runner: Runner,
    ) -> BoxFuture<'_, Result<Option<Claim>, StoreError>>;

    /// Adds facts to the claimed discussion or one below it. Returns the new last number.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Seq, StoreError>>;

    /// The facts after this number, in order, at most `limit`. Returns [`StoreError::Unknown`] for
    /// an unknown discussion.
    fn read(
        &self,
        id: DiscussionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Fact>, StoreError>>;

    /// Puts a command into the inbox, unless the discussion is unknown or over. A person's turn is
    /// refused with [`StoreError::NotAwaited`] unless it is that seat's turn, and again once a turn
    /// was accepted; check and write are atomic. A ruling is checked in the same way, by [`admit`].
    /// What waits for a person, or was put aside, can be claimed again.
    fn send(&self, id: DiscussionId, command: Command) -> BoxFuture<'_, Result<CommandId, StoreError>>;

    /// The commands after this one, in order.
    fn commands(
        &self,
        id: DiscussionId,
        after: CommandId,
    ) -> BoxFuture<'_, Result<Vec<(CommandId, Command)>, StoreError>>;

    /// Claims a discussion in order to run it, whether or not it waits for something. Returns
    /// [`StoreError::Held`] if another node has it. The same node may claim it again, which fences
    /// the earlier claim.
    fn claim(&self, id: DiscussionId, node: NodeId) -> BoxFuture<'_, Result<Claim, StoreError>>;

    /// Claims discussions that could go on (not paused, not over, not stuck, not waiting for their
    /// time), that no node runs and this one is able to, in the order of their turns.
    fn claim_any(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Vec<Taken>, StoreError>>;

    /// The claims that a node holds: without those it has lost, and with those whose
    /// acknowledgement was lost.
    fn held(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>>;

    /// Gives up a claim; does nothing if it is lost.
    fn release(&self, claim: Claim, how: Release) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Sets money aside for a claimed discussion, out of its account's caps; see [`Draw`]. Atomic
    /// over all processes. If a cap has no room, it first settles what discussions without a living
    /// node had set aside: their claims end, and what their records say they spent is counted.
    /// Returns [`StoreError::Fenced`] if the claim is no longer the newest.
    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, StoreError>>;

    /// Counts what a discussion and everything below it spent in all, and gives back the rest of
    /// what it had set aside under this claim. Does nothing if that was settled already. The claim
    /// may have ended.
    fn settle(&self, claim: Claim, spent: Usd) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The state of these caps of an account, once what discussions without a living node had set
    /// aside is settled.
    fn spending(
        &self,
        account: Account,
        caps: Caps,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<CapStatus>, StoreError>>;

    /// The epoch of the log, if the store can lose facts that it had acknowledged: it grows when a
    /// replica takes over, and numbers of facts from before may mean others since. `None` if that
    /// can't happen.
    fn epoch(&self) -> Option<u64> {
        None
    }

    /// What grants the time of providers, if processes that share this store also share those;
    /// `None` if each process counts by itself.
    fn grants(&self) -> Option<Arc<dyn Grants>> {
        None
    }

    /// What this process did with the store, if it counts that.
    fn figures(&self) -> Option<StoreFigures> {
        None
    }

    /// A stream of [news](Wake), of this process and of others, as far as the store can tell. It
    /// yields [`Wake::Resync`] after it may have missed something. Commands are reported within
    /// 200 ms in the usual case.
    fn watch(&self) -> BoxStream<'static, Wake>;

    /// Follows a discussion that another process runs: [`Wake::Facts`] and [`Wake::Text`] of it are
    /// wanted for the next 30 s. Callers repeat it every 10 s while a client watches. Never waits.
    fn follow(&self, _id: DiscussionId) {}

    /// Passes text of a turn under way on to processes that follow its discussion, if the store can
    /// carry it. Never waits and may lose it: the finished turn contains the text.
    fn delta(&self, _piece: &Arc<Piece>) {}
}

/// An append to a discussion.
#[derive(Debug, Clone)]
pub struct Append {
    /// The writer's claim.
    pub claim: Claim,
    /// The claimed discussion or one below it.
    pub id: DiscussionId,
    /// The last fact number that the writer knows.
    pub expected: Seq,
    /// The facts, numbered after `expected`; shared, because an append may be retried.
    pub facts: Arc<[Fact]>,
    /// What happens to the claim, in the same transaction.
    pub then: Then,
    /// What lists show from now on; `None` if that does not change.
    pub digest: Option<Arc<Digest>>,
}

/// What a process did with its store since it opened it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreFigures {
    /// Appends that were answered.
    pub appends: u64,
    /// The time from the order of an append to its answer, of all of them together.
    pub append_time: Duration,
    /// Statements that wrote appends.
    pub batches: u64,
    /// How often the connection that listens for news was made again.
    pub reconnects: u64,
    /// Bags of news for other processes.
    pub bags: u64,
    /// Pieces of live text that were not sent because too much waited.
    pub dropped_texts: u64,
    /// Jobs that had to wait for a connection.
    pub pool_waits: u64,
    /// How often time of each provider was granted.
    pub grants: BTreeMap<String, u64>,
}

/// A request to set money aside for a discussion and everything below it.
///
/// Amounts count from the beginning of the discussion, so that a repeated request changes nothing.
/// What is set aside counts on the day of the first request, until it is settled or a request of
/// another day or another claim replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// The claim of the root.
    pub claim: Claim,
    /// The account.
    pub account: Account,
    /// Its caps.
    pub caps: Caps,
    /// The time.
    pub at: Timestamp,
    /// What was spent so far, without calls that are under way.
    pub settled: Usd,
    /// What may have been spent in all once what is needed now is spent.
    pub target: Usd,
}

/// The answer to a [`Draw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// It may spend up to this amount in all, which is the target or more.
    UpTo(Usd),
    /// A cap has no room for it; nothing was set aside.
    Short(CapReached),
}

/// What happens to a claim after an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It continues.
    Continue,
    /// It ends, and the discussion waits for a command. If there is already one newer than `seen`,
    /// the discussion can be claimed at once.
    Park {
        /// The last command taken.
        seen: CommandId,
    },
    /// It ends, and the discussion is over.
    Done,
}

/// The right to run a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The discussion.
    pub id: DiscussionId,
    /// The node.
    pub node: NodeId,
    /// A number that grows with every claim of the discussion; older claims can't write any more.
    pub fence: u64,
}

/// Whether a discussion was created or existed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It was created.
    New,
    /// It existed; nothing changed.
    Existed,
}

/// An error of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No such discussion.
    #[error("there is no discussion {0}")]
    Unknown(DiscussionId),
    /// Another node runs it.
    #[error("discussion {id} is being run by {owner}")]
    Held {
        /// The discussion.
        id: DiscussionId,
        /// The name of the node that runs it.
        owner: String,
    },
    /// The node has no row: it never joined, or it was considered dead.
    #[error("another process considered this one dead; it continues under a new id")]
    Gone(NodeId),
    /// Too many orders of the tenant wait.
    #[error("{waiting} discussions are waiting to be run, and at most {most} may; try again later")]
    QueueFull {
        /// How many wait.
        waiting: u64,
        /// How many may.
        most: u64,
    },
    /// The tenant runs as many discussions as it may.
    #[error(
        "{running} discussions are running, and at most {most} may on all servers together; try again later"
    )]
    TenantFull {
        /// How many run.
        running: u64,
        /// How many may.
        most: u64,
    },
    /// The claim was lost, or another process wrote first. The caller must stop and write nothing.
    #[error("discussion {0} has been taken over by another process; this one has stopped writing to it")]
    Fenced(DiscussionId),
    /// It is not that person's turn.
    #[error("{}", not_awaited(.awaited, .participant))]
    NotAwaited {
        /// The participant that wanted to speak.
        participant: String,
        /// The participants whose turn it is.
        awaited: Vec<String>,
    },
    /// No ruling of this kind is awaited.
    #[error("no decision of the kind `{kind}` is awaited in discussion {id}; nothing was changed")]
    RulingNotAwaited {
        /// The discussion.
        id: DiscussionId,
        /// The kind of ruling.
        kind: String,
    },
    /// This choice doesn't exist.
    #[error("`{choice}` can't be decided here; the choices are {}; nothing was changed", .choices.join(", "))]
    NoSuchChoice {
        /// The choice that was sent.
        choice: String,
        /// The possible choices.
        choices: Vec<String>,
    },
    /// The participant named is not a candidate.
    #[error("{}; {}; nothing was changed", not_a_candidate(.name.as_deref()), able(.candidates))]
    NoSuchCandidate {
        /// The participant named.
        name: Option<String>,
        /// The possible candidates.
        candidates: Vec<String>,
    },
    /// The discussion is over.
    #[error("discussion {0} is over; nothing more can happen in it")]
    Over(DiscussionId),
    /// No such session.
    #[error("there is no session {0}")]
    UnknownSession(Uuid),
    /// Discussions belong to the session, so it can't be removed.
    #[error("session {id} has {}; nothing was changed", how_many(*.discussions))]
    SessionInUse {
        /// The session.
        id: Uuid,
        /// How many discussions belong to it, hidden ones included.
        discussions: u64,
    },
    /// The store can't be used now. Nothing was written, unless only the answer was lost, and then
    /// the message says so. A retry may help.
    #[error("{0}")]
    Unavailable(String),
    /// The stored data is damaged. Part of it may be recoverable.
    #[error("{0}")]
    Damaged(String),
    /// This program can't use the store at all.
    #[error("{0}")]
    Unusable(String),
    /// The same for a store in a database server, whose address the user gave.
    #[error("{0}")]
    UnusableServer(String),
}

fn how_many(discussions: u64) -> String {
    let ending = if discussions == 1 { "" } else { "s" };
    format!("{discussions} discussion{ending}")
}

fn not_awaited(awaited: &[String], participant: &str) -> String {
    match awaited {
        [] => format!("it is not {participant}'s turn: no person is awaited; nothing was changed"),
        awaited => {
            format!("it is not {participant}'s turn but that of {}; nothing was changed", awaited.join(", "))
        }
    }
}

fn not_a_candidate(name: Option<&str>) -> String {
    name.map_or_else(
        || "the choice names no candidate".to_owned(),
        |name| format!("{name} is not a candidate"),
    )
}

fn able(candidates: &[String]) -> String {
    match candidates {
        [] => "there are no candidates".to_owned(),
        candidates => format!("candidates are {}", candidates.join(", ")),
    }
}

/// Checks whether a ruling may be accepted; the same for every store.
pub fn admit(id: DiscussionId, awaited: Option<&RulingAwaited>, ruling: &Ruling) -> Result<(), StoreError> {
    let not_awaited = || StoreError::RulingNotAwaited { id, kind: ruling.kind.clone() };
    let awaited = awaited.ok_or_else(not_awaited)?;
    awaited.admits(ruling).map_err(|unfit| match unfit {
        RulingError::NotAwaited => not_awaited(),
        RulingError::NoSuchChoice => StoreError::NoSuchChoice {
            choice: ruling.choice.clone(),
            choices: awaited.choices.iter().map(|it| it.name.clone()).collect(),
        },
        RulingError::NoSuchCandidate => StoreError::NoSuchCandidate {
            name: ruling.candidate.clone(),
            candidates: awaited.candidates.clone(),
        },
    })
}
