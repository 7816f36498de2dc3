//! A client that follows a discussion as a browser does: it connects again whenever the stream
//! ends, and says which event it has seen last.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use reqwest::{Client, StatusCode};
use tokio::{task::JoinHandle, time::sleep};

use super::node::{LONGEST, Node};

/// How long it waits before it connects again.
const PAUSE: Duration = Duration::from_millis(100);

/// What it has seen at the end of a discussion.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The ids of the events of the newest epoch.
    pub(crate) ids: Vec<String>,
    /// How often an event of another epoch came.
    pub(crate) epochs: u64,
}

impl Seen {
    fn add(&mut self, id: &str) {
        let epoch = |id: &str| id.split_once('-').map(|it| it.0.to_owned());
        if self.ids.last().is_some_and(|last| epoch(last) != epoch(id)) {
            self.ids.clear();
            self.epochs += 1;
        }
        self.ids.push(id.to_owned());
    }
}

/// Follows a discussion through this node until it is over, in a task of its own.
pub(crate) fn follow(node: &Node, id: &str) -> JoinHandle<Result<Seen>> {
    let url = node.url(&format!("/api/discussions/{id}/events"));
    tokio::spawn(async move {
        let (client, began, mut seen) = (Client::new(), Instant::now(), Seen::default());
        while !is_over(&client, &url, &mut seen).await.unwrap_or(false) {
            ensure!(began.elapsed() < LONGEST, "a follower sees no end after {:?}", seen.ids.last());
            sleep(PAUSE).await;
        }
        Ok(seen)
    })
}

/// Reads one stream to its end; says whether nothing more will come.
async fn is_over(client: &Client, url: &str, seen: &mut Seen) -> Result<bool> {
    let request = client.get(url).timeout(LONGEST);
    let request = match seen.ids.last() {
        Some(last) => request.header("last-event-id", last),
        None => request,
    };
    let mut answer = request.send().await?;
    if answer.status() == StatusCode::NO_CONTENT {
        return Ok(true);
    }
    ensure!(answer.status().is_success(), "{}", answer.status());
    let mut rest = Vec::new();
    while let Some(more) = answer.chunk().await? {
        rest.extend_from_slice(&more);
        while let Some(end) = rest.iter().position(|it| *it == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            let line = std::str::from_utf8(&line).context("events are UTF-8")?;
            if let Some(id) = line.strip_prefix("id: ") {
                seen.add(id.trim());
            }
        }
    }
    Ok(false)
}
