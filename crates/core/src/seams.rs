//! The interfaces that others implement: providers, stores and the clock. Each states its contract.

mod archive;
mod memory;
mod nodes;
mod outcomes;
mod queue;
mod store;
mod telemetry;
mod tools;
pub mod transfer;
mod wake;

use std::sync::Arc;

use futures::{future::BoxFuture, stream::BoxStream};

use crate::{
    call::{Call, lane::Lane},
    model::{
        error::ProviderError,
        money::{Price, Usage, Usd},
        participant::Participant,
        spec::Spec,
        time::Timestamp,
        transcript::Finish,
    },
};

pub use archive::{
    Archive, AuditEntry, AuditWanted, Cursor, Cutoffs, Expired, Found, GRACE_MS, Leap, Query, Recalling,
    Reservation, Retention, SLICE, Session, SessionsWanted, Summary, TOLERANCE_MS, Wanted,
};
pub use memory::{MemoryQuery, NewMemory, Remembered};
pub use nodes::{Beat, Duty, Node, NodeStatus, Nodes, Pulse};
pub use outcomes::{KnownOutcome, OutcomesWanted, Scored, ScoredAnswer};
pub use queue::{
    Abilities, Backlog, ClaimRequest, LONGEST_WAIT_MS, MOST_ATTEMPTS, Queueing, Release, RunStatus, Runner,
    Taken, backoff_ms, check_room, needs,
};
pub use store::{Append, Claim, Created, Draw, Drawn, Store, StoreError, StoreFigures, Then, admit};
pub use telemetry::{FactFollower, Telemetry};
pub use tools::{NoTools, ToolUse, Tools};
pub use wake::{LiveText, Wake};

/// A model that answers.
///
/// Streaming is the only path. The stream ends with [`Chunk::End`]; if it stops without it, the
/// turn is incomplete and never counts as finished. Dropping the stream cancels the call
/// completely. A provider never retries: retries, deadlines and lanes are the engine's job.
pub trait Provider: Send + Sync {
    /// Starts the answer.
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>>;

    /// Checks whether it could answer for this participant now, without costs (INV-DISC-100).
    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// What its last check noticed that is not an error: a model, say, that its server does not
    /// list.
    fn noticed(&self) -> Option<String> {
        None
    }
}

/// A piece of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// More text.
    Text(String),
    /// The model that answers, where the provider names it. Sent at most once, before the end.
    AnsweredBy(String),
    /// The model asks for a sub-discussion before it continues; only if the call allows it.
    Convene {
        /// The topic of the sub-discussion.
        topic: String,
    },
    /// The end of a complete answer.
    End {
        /// Why the model stopped.
        finish: Finish,
        /// The usage, if the provider reports it.
        usage: Option<Usage>,
        /// The cost, if the provider reports it; overrides our price list.
        cost: Option<Usd>,
    },
}

/// A provider as the engine uses it: with lane, price and context window.
#[derive(Clone)]
pub struct Voice {
    /// The provider.
    pub provider: Arc<dyn Provider>,
    /// The exact model that is asked; `None` where a program chooses its own.
    pub model: Option<String>,
    /// The lane, shared by all discussions of the process that use this provider.
    pub lane: Arc<Lane>,
    /// The price; `None` means unknown, not free.
    pub price: Option<Price>,
    /// The size of the model's context window in tokens.
    pub window: u64,
    /// How many tokens of reasoning it may produce beyond the limit of an answer; they are paid
    /// too.
    pub thinking: u32,
    /// Whether its window or the model itself is too small for the usual prompts.
    pub is_small: bool,
    /// Whether its server makes answers follow a JSON schema. Otherwise a small model is asked for
    /// lines instead.
    pub follows_schemas: bool,
}

impl Voice {
    /// The largest context window, in tokens, that is too small for the usual prompts.
    pub const SMALL_WINDOW: u64 = 8_192;

    /// The tokens of reasoning that a call may produce after one that was all reasoning: twice as
    /// many as usual, but at most half of the window.
    #[must_use]
    pub fn most_thinking(&self) -> u64 {
        let usual = u64::from(self.thinking);
        let doubled = if usual > 0 { 2 * usual } else { UNKNOWN_THINKING };
        doubled.min(self.window / 2).max(usual)
    }
}

/// The tokens of reasoning that are allowed to a model that turned out to reason, though nothing
/// said that it does.
const UNKNOWN_THINKING: u64 = 4_096;

/// Finds the voice for each seat.
pub trait Voices: Send + Sync {
    /// The voice for this participant of this discussion; `None` if there is none.
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice>;

    /// The providers it has a voice for; `None` if it can't tell before it is asked.
    fn providers(&self) -> Option<Vec<String>> {
        None
    }

    /// The embedding model with this name, `provider/model`; `None` if there is none.
    fn embedder(&self, _spec: &Spec, _model: &str) -> Option<Arc<dyn Embedder>> {
        None
    }
}

/// A model that turns texts into vectors, close together if the texts mean the same.
///
/// It returns one vector per text, in order and all of one length. Dropping the future cancels the
/// call. It never retries: retries and deadlines are the engine's job.
pub trait Embedder: Send + Sync {
    /// Embeds the texts.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embedded, ProviderError>>;

    /// The price of its tokens; `None` means unknown, not free.
    fn price(&self) -> Option<Price> {
        None
    }
}

/// The answer of an embedding model.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One vector per text.
    pub vectors: Vec<Vec<f32>>,
    /// The usage, if the provider reports it.
    pub usage: Option<Usage>,
    /// The cost, if the provider reports it; overrides our price list.
    pub cost: Option<Usd>,
}

/// Time and randomness, which tests replace.
pub trait Clock: Send + Sync {
    /// The wall-clock time. Never used for durations.
    fn now(&self) -> Timestamp;
    /// An unpredictable random number.
    fn draw(&self) -> u64;
}
