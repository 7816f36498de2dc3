//! What others implement: who answers, where facts are kept, what time it is. Small, with the contract in prose.

mod archive;
mod store;

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
    Archive, Cutoffs, Deed, Expired, GRACE_MS, Leap, Reservation, Retention, Session, Summary, TOLERANCE_MS,
    Wanted,
};
pub use store::{Append, Claim, Created, Store, StoreError, Then, admit};

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

    /// What its last check noticed that is no error: a model, say, that its server does not list.
    fn noticed(&self) -> Option<String> {
        None
    }
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

    /// The embedding model of this name, `provider/model`; `None` when there is none.
    fn embedder(&self, _spec: &Spec, _model: &str) -> Option<Arc<dyn Embedder>> {
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
