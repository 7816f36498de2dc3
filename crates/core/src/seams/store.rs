//! Where facts are kept: the contract of a store, what it is given, and why it says no.

use std::sync::Arc;

use futures::{future::BoxFuture, stream::BoxStream};
use uuid::Uuid;

use crate::model::{
    command::{Command, CommandId},
    event::Fact,
    id::{DiscussionId, Seq},
    ruling::{Ruling, RulingAwaited, Unfit},
};

/// Where facts are kept, for one machine or many.
///
/// - The log is the truth. `append` is atomic: all of the facts and what follows from `then`, or nothing. It refuses with
///   [`StoreError::Fenced`] when the claim is no longer the newest one, or when `expected` is not the last number: then the
///   caller stops and writes nothing more. Facts are durable when it returns, and nobody sees them before.
/// - `create` is idempotent: the same id again answers [`Created::Existed`] and changes nothing. So is `begin`.
/// - A discussion is claimed by one owner at a time. A claim ends when it is released, when its lease runs out, or when
///   the store knows that its owner is dead. A sub-discussion is never claimed alone: it is written under the claim of its root.
/// - After [`Then::Done`] the claim is gone: a further append under it is [`StoreError::Fenced`], by which a lost acknowledgement is
///   recognised. A claim whose lease ran out is still good as long as nobody else came. A finished discussion may be claimed, to look at it.
/// - Facts of a finished discussion never change (INV-DISC-630).
pub trait Store: Send + Sync {
    /// Puts a new discussion there with its first facts; it becomes claimable unless it is a sub-discussion.
    fn create(&self, id: DiscussionId, facts: Vec<Fact>) -> BoxFuture<'_, Result<Created, StoreError>>;

    /// Creates and claims in one step, for whoever begins at once what it opens; a finished begin is claimed from the moment it
    /// is there. `None` when a discussion of that id was there already: then nothing has changed.
    fn begin<'a>(
        &'a self,
        id: DiscussionId,
        facts: Vec<Fact>,
        owner: &'a str,
        lease_ms: u64,
    ) -> BoxFuture<'a, Result<Option<Claim>, StoreError>>;

    /// Adds facts to the claimed discussion or one below it. Returns the new last number.
    fn append(&self, append: Append) -> BoxFuture<'_, Result<Seq, StoreError>>;

    /// The facts after this number, in order, at most `limit`. An unknown discussion is [`StoreError::Unknown`].
    fn read(
        &self,
        id: DiscussionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Fact>, StoreError>>;

    /// Puts a command into the inbox; refused for an unknown discussion and for one that is over. A person's turn is refused with
    /// [`StoreError::NotAwaited`] unless that seat is awaited, and again once one was taken in: the check and the writing are one. The same
    /// holds for a decision of people, which [`admit`] looks at.
    fn send(&self, id: DiscussionId, command: Command) -> BoxFuture<'_, Result<CommandId, StoreError>>;

    /// The commands after this one, in order.
    fn commands(
        &self,
        id: DiscussionId,
        after: CommandId,
    ) -> BoxFuture<'_, Result<Vec<(CommandId, Command)>, StoreError>>;

    /// Takes a discussion to run it. [`StoreError::Held`] when another owner has it; the owner of a claim may take it again,
    /// which fences the earlier one.
    fn claim(&self, id: DiscussionId, owner: &str, lease_ms: u64)
    -> BoxFuture<'_, Result<Claim, StoreError>>;

    /// Claims up to `max` discussions that could go on and that nobody runs, oldest first: not paused, not over.
    fn claim_any(
        &self,
        max: usize,
        owner: &str,
        lease_ms: u64,
    ) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>>;

    /// Prolongs these claims; returns those that are lost.
    fn extend(&self, claims: Vec<Claim>, lease_ms: u64) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>>;

    /// Gives a claim back.
    fn release(&self, claim: Claim) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Tells of discussions with new commands, from this process or another, within 200 ms. May tell too much, never too little.
    fn watch(&self) -> BoxStream<'static, DiscussionId>;
}

/// What to write.
#[derive(Debug, Clone)]
pub struct Append {
    /// By which right.
    pub claim: Claim,
    /// To the claimed discussion or one below it.
    pub id: DiscussionId,
    /// The last number the writer knows.
    pub expected: Seq,
    /// The facts, numbered from `expected` on; shared, for an append may be tried more than once.
    pub facts: Arc<[Fact]>,
    /// What becomes of the claim, in the same transaction.
    pub then: Then,
}

/// What becomes of a claim after an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It goes on.
    Continue,
    /// It ends; the discussion waits for a command. If one newer than `seen` is there already, it stays claimable at once.
    Park {
        /// The last command taken.
        seen: CommandId,
    },
    /// It ends; the discussion is over.
    Done,
}

/// The right to run a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Which discussion.
    pub id: DiscussionId,
    /// Who has it.
    pub owner: String,
    /// Grows with every claim of the discussion; an older one writes nothing any more.
    pub fence: u64,
}

/// Whether a discussion was there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It is new.
    New,
    /// It was there; nothing changed.
    Existed,
}

/// Why a store says no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No such discussion.
    #[error("there is no discussion {0}")]
    Unknown(DiscussionId),
    /// Someone else runs it.
    #[error("discussion {id} is being run by {owner}")]
    Held {
        /// Which.
        id: DiscussionId,
        /// By whom.
        owner: String,
    },
    /// The claim was lost, or another wrote first. Stop, and write nothing.
    #[error("discussion {0} has been taken over by another process; this one has stopped writing to it")]
    Fenced(DiscussionId),
    /// It is not that person's turn.
    #[error("{}", not_awaited(.awaited, .participant))]
    NotAwaited {
        /// Who wanted to speak.
        participant: String,
        /// Whose turn it is.
        awaited: Vec<String>,
    },
    /// No decision of this kind is awaited.
    #[error("no decision of the kind `{kind}` is awaited in discussion {id}; nothing was changed")]
    RulingNotAwaited {
        /// Which discussion.
        id: DiscussionId,
        /// Which kind of decision.
        kind: String,
    },
    /// This can't be decided here.
    #[error("`{choice}` can't be decided here; possible are {}; nothing was changed", .choices.join(", "))]
    NoSuchChoice {
        /// What was to be decided.
        choice: String,
        /// What could be.
        choices: Vec<String>,
    },
    /// The participant named is no candidate.
    #[error("{}; {}; nothing was changed", not_a_candidate(.name.as_deref()), able(.candidates))]
    NoSuchCandidate {
        /// Who was named.
        name: Option<String>,
        /// Who could be.
        candidates: Vec<String>,
    },
    /// The discussion is over.
    #[error("discussion {0} is over; nothing more can happen in it")]
    Over(DiscussionId),
    /// No such session.
    #[error("there is no session {0}")]
    UnknownSession(Uuid),
    /// The store can't be used now; what was to be written is not written. May work later.
    #[error("{0}")]
    Unavailable(String),
    /// What the store has written is damaged. It may be possible to save a part of it.
    #[error("{0}")]
    Damaged(String),
    /// The store can't be used at all by this program.
    #[error("{0}")]
    Unusable(String),
}

fn not_awaited(awaited: &[String], participant: &str) -> String {
    match awaited {
        [] => format!("it is not {participant}'s turn: nobody is awaited; nothing was changed"),
        awaited => {
            format!("it is not {participant}'s turn but that of {}; nothing was changed", awaited.join(", "))
        }
    }
}

fn not_a_candidate(name: Option<&str>) -> String {
    name.map_or_else(|| "the choice names no candidate".to_owned(), |name| format!("{name} is no candidate"))
}

fn able(candidates: &[String]) -> String {
    match candidates {
        [] => "there are no candidates".to_owned(),
        candidates => format!("candidates are {}", candidates.join(", ")),
    }
}

/// Whether a decision of people may be taken in; the same for every store.
pub fn admit(id: DiscussionId, awaited: Option<&RulingAwaited>, ruling: &Ruling) -> Result<(), StoreError> {
    let not_awaited = || StoreError::RulingNotAwaited { id, kind: ruling.kind.clone() };
    let awaited = awaited.ok_or_else(not_awaited)?;
    awaited.admits(ruling).map_err(|unfit| match unfit {
        Unfit::NotAwaited => not_awaited(),
        Unfit::NoSuchChoice => StoreError::NoSuchChoice {
            choice: ruling.choice.clone(),
            choices: awaited.choices.iter().map(|it| it.name.clone()).collect(),
        },
        Unfit::NoSuchCandidate => StoreError::NoSuchCandidate {
            name: ruling.candidate.clone(),
            candidates: awaited.candidates.clone(),
        },
    })
}
