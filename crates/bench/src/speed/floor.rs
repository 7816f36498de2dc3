//! The floor: a minimal client that makes the calls of a discussion with reqwest and reads each
//! stream to its end. It parses and records nothing, and uses none of our code.

use anyhow::{Result, ensure};
use futures::future::try_join_all;

use crate::stamper::TAKES;

/// A client of a vendor.
#[derive(Clone)]
pub(super) struct FloorClient {
    client: reqwest::Client,
    address: String,
}

impl FloorClient {
    pub(super) fn new(url: &str) -> Self {
        // Fails only if a provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        FloorClient { client: reqwest::Client::new(), address: format!("{url}/v1/chat/completions") }
    }

    /// The calls of a discussion of three voices in two rounds with a synthesis.
    pub(super) async fn discussion(&self, call_ms: u64) -> Result<()> {
        for _ in 0..2 {
            try_join_all((0..3).map(|_| self.call(call_ms))).await?;
        }
        self.call(call_ms).await
    }

    async fn call(&self, call_ms: u64) -> Result<()> {
        let mut response = self.send(&format!("{TAKES}{call_ms} ms")).await?;
        let mut length = 0;
        while let Some(bytes) = response.chunk().await? {
            length += bytes.len();
        }
        ensure!(length > 0, "the answer is empty");
        Ok(())
    }

    /// Sends a request with this text among about a thousand bytes of others.
    pub(super) async fn send(&self, text: &str) -> Result<reqwest::Response> {
        let asked = "What does it cost? Say it in a few sentences, and build on what was said. ".repeat(12);
        let body = format!(
            r#"{{"model":"alpha-1","messages":[{{"role":"user","content":"{text}. {asked}"}}],"stream":true}}"#
        );
        let request = self.client.post(&self.address).header("content-type", "application/json");
        Ok(request.body(body).send().await?.error_for_status()?)
    }
}
