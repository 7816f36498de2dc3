//! Check 6: what one node runs is steered and watched through another.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::{
    Effort, Found,
    node::{LONGEST, Node},
    stand::{Setup, Stand},
};

/// Looks at the state through this node until it is as wanted.
async fn until(node: &Node, id: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value> {
    let looking = async {
        loop {
            let state = node.get(&format!("/api/discussions/{id}/state")).await?;
            if is_it(&state) {
                return anyhow::Ok(state);
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONGEST, looking).await.context("timed out waiting for a state")?
}

async fn act(node: &Node, id: &str, action: &str, body: Value) -> Result<()> {
    node.post(&format!("/api/discussions/{id}/{action}"), &body).await.map(drop)
}

fn pieces(stream: &str) -> usize {
    stream.lines().filter(|it| it.starts_with("event: ") && it.contains("chunk")).count()
}

/// The ids of the events of a stream.
pub(crate) fn ids(stream: &str) -> Vec<&str> {
    stream.lines().filter_map(|it| it.strip_prefix("id: ")).collect()
}

pub(crate) async fn from_elsewhere(folder: PathBuf, _: Effort) -> Result<Found> {
    let setup = Setup { latency: Duration::from_millis(500), ..Setup::default() };
    let stand = Stand::start(&folder, setup).await?;
    let (own, other) = watched(&stand).await?;
    ensure!(ids(&own) == ids(&other), "the events of the two nodes differ");
    paused_and_stopped(&stand).await?;
    said(&stand).await?;
    judged(&stand).await?;
    stand.until_over().await?;
    let (here, there) = (pieces(&own), pieces(&other));
    let counts = format!(
        "{} events equal on both nodes, {there} of {here} pieces of text seen elsewhere; pause, note, resume, stop, \
         say and ruling taken from elsewhere",
        ids(&own).len()
    );
    // The first pieces may come as a whole, before the other node has asked for the text.
    Found::of(&stand, &counts, 2 * here <= 3 * there, 0)
}

/// The streams of one discussion from the node that runs it and from another.
async fn watched(stand: &Stand) -> Result<(String, String)> {
    let order = json!({
        "topic": "Tabs or spaces?", "pattern": "round-robin", "rounds": 3, "providers": ["alpha", "beta"],
    });
    let id = stand.place(0, &order).await?;
    let (own, other) = tokio::join!(stand.nodes[0].events(&id, ""), stand.nodes[1].events(&id, ""));
    Ok((own?, other?))
}

async fn paused_and_stopped(stand: &Stand) -> Result<()> {
    let order = json!({
        "topic": "Tabs or spaces?", "pattern": "round-robin", "rounds": 5, "providers": ["alpha", "beta"],
    });
    let id = stand.place(0, &order).await?;
    let other = &stand.nodes[1];
    until(other, &id, |it| !it["conversationHistory"][0].is_null()).await?;
    act(other, &id, "pause", json!({})).await?;
    until(&stand.nodes[0], &id, |it| it["lifecycle"] == "paused").await?;
    act(other, &id, "note", json!({ "text": "Be brief." })).await?;
    act(&stand.nodes[2], &id, "resume", json!({})).await?;
    until(other, &id, |it| it["lifecycle"] == "running").await?;
    act(other, &id, "stop", json!({})).await?;
    until(&stand.nodes[0], &id, |it| it["lifecycle"] == "completed").await.map(drop)
}

async fn said(stand: &Stand) -> Result<()> {
    let order = json!({
        "topic": "What shall we build?", "pattern": "roundtable", "participants": ["alpha", "me:person"],
        "rounds": 1,
    });
    let id = stand.place(0, &order).await?;
    until(&stand.nodes[0], &id, |it| it["awaiting"][0].is_object()).await?;
    act(&stand.nodes[1], &id, "say", json!({ "text": "A boat." })).await?;
    let is_said =
        |it: &Value| it["awaiting"].as_array().is_some_and(Vec::is_empty) || it["lifecycle"] == "completed";
    until(&stand.nodes[2], &id, is_said).await?;
    act(&stand.nodes[1], &id, "stop", json!({})).await.or_else(|error| {
        // It may be over already.
        if error.to_string().contains("409") { Ok(()) } else { Err(error) }
    })
}

async fn judged(stand: &Stand) -> Result<()> {
    let order = json!({
        "topic": "Tabs or spaces?", "pattern": "debate", "participants": ["claude", "gemini", "glm"],
        "judge": "glm", "judgeFailure": "ask", "offline": true, "simulate": { "latencyMs": 0, "dead": ["glm"] },
    });
    let id = stand.place(0, &order).await?;
    let state = until(&stand.nodes[0], &id, |it| it["rulingAwaited"].is_object()).await?;
    let candidate = state["rulingAwaited"]["candidates"][0].clone();
    act(&stand.nodes[1], &id, "ruling", json!({ "choice": "swap", "candidate": candidate })).await?;
    until(&stand.nodes[2], &id, |it| it["lifecycle"] == "completed").await.map(drop)
}
