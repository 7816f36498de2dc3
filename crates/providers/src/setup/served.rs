//! Asks a server on the user's own machine which models it has.

use std::{sync::Arc, thread, time::Duration};

use quorum_core::call::lane::{Lane, Width};
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    health::MAX_LIST_BYTES,
    http::{HttpClients, Remote, read_some},
    source::{Endpoint, Timeouts},
    wire::{Listing, Model, Quirks},
};

/// How long a server may take to list its models. Nothing else happens meanwhile.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Words in the names of models that are not for chat.
const NO_CHAT: [&str; 3] = ["embed", "rerank", "whisper"];

/// The models a server lists, in its order; none where it is not available.
pub(super) fn models(endpoint: &Arc<Endpoint>) -> Vec<String> {
    let Some(listing) = endpoint.wire.listing else { return Vec::new() };
    let endpoint = endpoint.clone();
    // A thread of its own, because the caller may be inside an async runtime, where nothing may
    // wait.
    let asking = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async { timeout(TIMEOUT, ask(endpoint, listing)).await }).ok()?
    });
    asking.join().ok().flatten().unwrap_or_default()
}

async fn ask(endpoint: Arc<Endpoint>, listing: Listing) -> Option<Vec<String>> {
    let remote = Remote {
        clients: HttpClients::default(),
        endpoint,
        model: Model { name: String::new(), quirks: Quirks::default(), window: 0 },
        timeouts: Timeouts::default(),
        health: Arc::default(),
        lane: Arc::new(Lane::new(Width::at_once(1))),
    };
    let response = remote.request(listing.path, None).ok()?.send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let list: Value = serde_json::from_str(&read_some(response, MAX_LIST_BYTES).await).ok()?;
    Some(conversing((listing.read)(&list)))
}

fn conversing(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| !NO_CHAT.iter().any(|it| name.to_lowercase().contains(it)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_are_not_for_chat_are_left_out() {
        let names = ["qwen3:8b", "nomic-embed-text:latest", "bge-Rerank", "gemma3:4b"];
        assert_eq!(conversing(names.map(str::to_owned).to_vec()), ["qwen3:8b", "gemma3:4b"]);
    }
}
