//! What others implement: who answers, where facts are kept, what time it is. Small, with the contract in prose.

use std::sync::Arc;

use futures::{future::BoxFuture, stream::BoxStream};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    call::{Call, lane::Lane},
    model::{
        command::{Command, CommandId},
        error::ProviderError,
        event::Fact,
        id::{DiscussionId, Seq, Tenant},
        lifecycle::Lifecycle,
        money::{Price, Usage, Usd},
        participant::Participant,
        spec::Spec,
        time::Timestamp,
        transcript::Finish,
        vacancy::{Ruling, Vacancy},
    },
};

/// A model that answers.
///
/// Streaming is the only path. The stream ends with [`Chunk::End`]; one that stops without it is an incomplete turn,
/// never a finished one. Dropping the stream cancels the call: nothing of it may live on. A provider never retries:
/// retries, deadlines and lanes are ours.
pub trait Provider: Send + Sync {
    /// Starts answering.
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>>;

    /// Whether it could answer for this participant now, without paying for it (INV-DISC-100).
    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>>;
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// Some more text.
    Text(String),
    /// The model asks for a sub-discussion on this topic before it goes on; only where the call allows it.
    Convene {
        /// What it shall be about.
        topic: String,
    },
    /// The answer is complete.
    End {
        /// Why it stopped.
        finish: Finish,
        /// What it used, where the provider says.
        usage: Option<Usage>,
        /// What the provider itself charges; wins over our price list.
        cost: Option<Usd>,
    },
}

/// A provider as the engine uses it: with its lane, its price and its window.
#[derive(Clone)]
pub struct Voice {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// Shared by all discussions of the process that use this provider.
    pub lane: Arc<Lane>,
    /// `None` is unpriced, which is not the same as free.
    pub price: Option<Price>,
    /// How many tokens the model can take in.
    pub window: u64,
    /// How many tokens it may think before it speaks, on top of what an answer may have; paid like those.
    pub thinking: u32,
}

/// Finds the voice behind a seat. `None` when there is none of that name.
pub trait Voices: Send + Sync {
    /// The voice for this participant of this discussion.
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice>;

    /// The embedding model this discussion was ordered with; `None` when there is none of that name.
    fn embedder(&self, _spec: &Spec) -> Option<Arc<dyn Embedder>> {
        None
    }
}

/// A model that makes vectors of texts, so that what means the same lies close together.
///
/// It answers with one vector for each text, in their order and all of one length. Dropping the future cancels the call. It never
/// retries: retries and deadlines are ours.
pub trait Embedder: Send + Sync {
    /// Makes the vectors.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embedded, ProviderError>>;

    /// What its tokens cost; `None` is unpriced, which is not the same as free.
    fn price(&self) -> Option<Price> {
        None
    }
}

/// What an embedding model answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One for each text.
    pub vectors: Vec<Vec<f32>>,
    /// What it used, where the provider says.
    pub usage: Option<Usage>,
    /// What the provider itself charges; wins over our price list.
    pub cost: Option<Usd>,
}

/// Time and chance, so that tests can hold both still.
pub trait Clock: Send + Sync {
    /// The wall clock. Durations never come from here.
    fn now(&self) -> Timestamp;
    /// A number nobody can guess.
    fn draw(&self) -> u64;
}

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
    /// holds for a ruling about the judge's seat, which [`admit`] looks at.
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
    #[error("there is no discussion {0}; `ax history` lists those there are")]
    Unknown(DiscussionId),
    /// Someone else runs it.
    #[error("discussion {id} is being run by {owner}; `ax pause`, `ax stop` and `ax abort` reach it there")]
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
    /// Nobody is asked what becomes of the judge's seat.
    #[error("no decision about the judge is awaited in discussion {0}; nothing was changed")]
    JudgeNotAwaited(DiscussionId),
    /// This one can't take the judge's seat.
    #[error("{name} can't judge here; {}; nothing was changed", able(.candidates))]
    CannotJudge {
        /// Who was to.
        name: String,
        /// Who could.
        candidates: Vec<String>,
    },
    /// The discussion is over.
    #[error("discussion {0} is over; nothing more can happen in it")]
    Over(DiscussionId),
    /// No such session.
    #[error(
        "there is no session {0}; `ax sessions` lists those there are, `ax sessions create NAME` makes one"
    )]
    UnknownSession(Uuid),
    /// The store can't be used now; what was to be written is not written. May work later.
    #[error("{0}")]
    Unavailable(String),
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

fn able(candidates: &[String]) -> String {
    match candidates {
        [] => "nobody is left who could".to_owned(),
        candidates => format!("able to are {}", candidates.join(", ")),
    }
}

/// Whether a ruling about the judge's seat may be taken in; the same for every store.
pub fn admit(id: DiscussionId, vacancy: Option<&Vacancy>, ruling: &Ruling) -> Result<(), StoreError> {
    let vacancy = vacancy.ok_or(StoreError::JudgeNotAwaited(id))?;
    let (name, candidates) = (ruling.successor().unwrap_or_default().to_owned(), vacancy.candidates.clone());
    vacancy.admits(ruling).then_some(()).ok_or(StoreError::CannotJudge { name, candidates })
}

/// Past discussions: listed, searched, kept for a while (INV-DISC-630 to 632).
pub trait Archive: Send + Sync {
    /// Discussions people started, newest first.
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Those that have to do with these words, most relevant first (INV-DISC-631).
    fn search(&self, words: &str, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>>;

    /// Removes finished discussions that ended before this moment, with everything below them. Returns how many.
    fn forget(&self, ended_before: Timestamp) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Removes one discussion with everything below it, finished or not; [`StoreError::Held`] while somebody runs it.
    fn remove(&self, id: DiscussionId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Keeps an id for an order under the sender's key, unless that key has one already. Returns what stands then, whoever came
    /// first. It is forgotten with the discussion.
    fn reserve(&self, wanted: Reservation) -> BoxFuture<'_, Result<Reservation, StoreError>>;

    /// Writes down that somebody did something.
    fn log(&self, deed: Deed) -> BoxFuture<'_, Result<(), StoreError>>;

    /// What was done by this tenant's people, newest first, at most `limit`.
    fn deeds(&self, tenant: Tenant, limit: usize) -> BoxFuture<'_, Result<Vec<Deed>, StoreError>>;

    /// Makes a session.
    fn create_session(&self, session: Session) -> BoxFuture<'_, Result<(), StoreError>>;

    /// All sessions, newest first.
    fn sessions(&self) -> BoxFuture<'_, Result<Vec<Session>, StoreError>>;
}

/// Which discussions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// How many at most; 0 is all.
    pub limit: usize,
    /// Only those of this session.
    pub session: Option<Uuid>,
    /// Only those whose id begins so.
    pub prefix: Option<String>,
    /// Only those of this tenant; `None` is everybody's.
    pub tenant: Option<Tenant>,
}

/// An id that was kept for an order, so that sending the order twice orders once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Whose order.
    pub tenant: Tenant,
    /// The sender's name for it.
    pub key: String,
    /// A short name for what was ordered: another order under the same key is a mistake.
    pub digest: String,
    /// The discussion it is for, begun or not.
    pub id: DiscussionId,
}

/// Something that somebody did to a discussion, for those who must answer for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deed {
    /// When.
    #[serde(skip)]
    pub at: Timestamp,
    /// Whose people.
    #[serde(skip)]
    pub tenant: Tenant,
    /// Who, by the name of their token and never by the token.
    pub who: String,
    /// What: `pause`, `delete`.
    pub action: String,
    /// To which discussion.
    pub discussion: DiscussionId,
    /// What came of it.
    pub result: String,
}

/// A discussion in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Its id.
    pub id: DiscussionId,
    /// What it was about.
    pub topic: String,
    /// Its pattern.
    pub pattern: String,
    /// Where it stands.
    pub status: Lifecycle,
    /// When it was ordered.
    pub opened_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Whether it did what it was asked for; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// What it found, where it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Whether its voices were simulated.
    pub simulated: bool,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Uuid>,
}

/// A folder for discussions that belong together (INV-DISC-300).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub id: Uuid,
    /// What people call it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Tenant::is_own")]
    pub tenant: Tenant,
}
