//! A scripted embedding model: finds all texts alike unless told otherwise, and can fail.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use quorum_core::{
    model::{
        error::{ErrorClass, ProviderError},
        money::{Price, Usage},
    },
    seams::{Embedded, Embedder},
};

/// The script, and the texts it was asked to embed.
#[derive(Debug, Clone, Default)]
pub struct ScriptedEmbedder {
    vectors: BTreeMap<String, Vec<f32>>,
    fails: Option<(ErrorClass, usize)>,
    hangs: bool,
    price: Option<Price>,
    asked: Arc<Mutex<Vec<Vec<String>>>>,
}

impl ScriptedEmbedder {
    /// Sets the vector of this text; all others share one.
    #[must_use]
    pub fn sees(mut self, text: &str, vector: &[f32]) -> Self {
        self.vectors.insert(text.to_owned(), vector.to_vec());
        self
    }

    /// Fails this many times with this class, then answers.
    #[must_use]
    pub fn fails_first(self, class: ErrorClass, times: usize) -> Self {
        ScriptedEmbedder { fails: Some((class, times)), ..self }
    }

    /// Accepts the call and never answers.
    #[must_use]
    pub fn hangs(self) -> Self {
        ScriptedEmbedder { hangs: true, ..self }
    }

    /// Sets the price of its tokens.
    #[must_use]
    pub fn priced(self, price: Price) -> Self {
        ScriptedEmbedder { price: Some(price), ..self }
    }

    pub(crate) fn anew(&self) -> Self {
        ScriptedEmbedder { asked: Arc::default(), ..self.clone() }
    }

    pub(crate) fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Embedder for ScriptedEmbedder {
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embedded, ProviderError>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(texts.clone());
        let failed = self.fails.filter(|(_, times)| asked.len() <= *times);
        drop(asked);
        Box::pin(async move {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            if let Some((class, _)) = failed {
                return Err(ProviderError::new(class, "the embedder failed by script"));
            }
            let vector =
                |text: &String| self.vectors.get(text).cloned().unwrap_or_else(|| vec![1.0, 0.0, 0.0]);
            let usage = Some(Usage::new(10 * texts.len() as u64, 0));
            Ok(Embedded { vectors: texts.iter().map(vector).collect(), usage, cost: None })
        })
    }

    fn price(&self) -> Option<Price> {
        self.price
    }
}
