//! The list of discussions that run or wait, among however many others.

use std::sync::Arc;

use quorum::memory::MemoryStore;
use quorum_testkit::conformance::store::fixture::{finish, open, second};
use serde_json::{Value, json};

use crate::{
    Limits,
    mcp::tests::client::{Client, process},
};

fn topics(told: &Value) -> Vec<&str> {
    told["discussions"].as_array().unwrap().iter().map(|it| it["topic"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn b10_a_discussion_that_waits_behind_two_hundred_others_was_not_listed() {
    let store = Arc::new(MemoryStore::new());
    open(&*store, "Tabs or spaces?", second(1)).await;
    for at in 2..=203 {
        finish(&*store, "vi or emacs?", "Both.", second(at)).await;
    }
    let mut client = Client::of(process(&store), Limits::default()).await;
    let told = client.call("ax_status", json!({})).await;
    assert_eq!((topics(&told), &told["leftOut"]), (vec!["Tabs or spaces?"], &Value::Null));
}

#[tokio::test(start_paused = true)]
async fn b10_sixty_that_wait_were_listed_as_fifty_without_a_word() {
    let store = Arc::new(MemoryStore::new());
    for at in 1..=60 {
        open(&*store, &format!("Question {at}?"), second(at)).await;
    }
    let mut client = Client::of(process(&store), Limits::default()).await;
    let told = client.call("ax_status", json!({})).await;
    let newest: Vec<String> = (11..=60).rev().map(|at| format!("Question {at}?")).collect();
    assert_eq!(topics(&told), newest);
    assert_eq!(told["leftOut"], "all but the 50 newest; with an id, ax_status tells of any other");
}
