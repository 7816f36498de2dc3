//! Embeddings over HTTP.

use futures::future::BoxFuture;
use quorum_core::{
    call::{lane::Closed, tokens},
    model::{
        error::{ErrorClass, ProviderError},
        money::{Price, Usage},
    },
    seams::{Embedded, Embedder},
};

use crate::{
    http::{Remote, read_some, refused},
    wire::Embedding,
};

/// The most bytes read of a response. Twenty vectors of three thousand numbers each are less than a
/// megabyte.
const MAX_RESPONSE: usize = 16 << 20;

/// An embedding model over HTTP.
pub(crate) struct HttpEmbedder {
    pub(crate) remote: Remote,
    pub(crate) embedding: Embedding,
    pub(crate) price: Option<Price>,
}

impl HttpEmbedder {
    /// Waits in the provider's lane, like every other call, and then asks.
    async fn wait_and_ask(&self, texts: &[String]) -> Result<Embedded, ProviderError> {
        let bytes = texts.iter().map(String::len).sum();
        let _place = self.remote.lane.enter(tokens::at_worst(bytes)).await.map_err(closed)?;
        self.ask(texts).await
    }

    async fn ask(&self, texts: &[String]) -> Result<Embedded, ProviderError> {
        let outgoing = (self.embedding.encode)(&self.remote.model, texts);
        let request = self.remote.request(&outgoing.path, Some(&outgoing.body))?;
        let response = request.send().await.map_err(|error| self.remote.client_error(error))?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(refused(&self.remote, response).await);
        }
        let wrong = |message| ProviderError::new(ErrorClass::InvalidResponse, message);
        let body = read_some(response, MAX_RESPONSE).await;
        let read = (self.embedding.decode)(&body).ok_or_else(|| wrong("its vectors can't be read"))?;
        if read.vectors.len() != texts.len() {
            return Err(wrong("the number of its vectors differs from the number of texts"));
        }
        let usage = read.tokens.map(|tokens| Usage::new(tokens, 0));
        Ok(Embedded { vectors: read.vectors, usage, cost: None })
    }
}

impl Embedder for HttpEmbedder {
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embedded, ProviderError>> {
        Box::pin(async move { self.wait_and_ask(&texts).await })
    }

    fn price(&self) -> Option<Price> {
        self.price
    }
}

fn closed(Closed(wait): Closed) -> ProviderError {
    let message = format!("rate-limited by the provider for {} s", wait.as_secs());
    let retry_after_ms = u64::try_from(wait.as_millis()).ok();
    ProviderError { retry_after_ms, ..ProviderError::new(ErrorClass::RateLimit, message) }
}
