//! Counts calls at the provider: no call is repeated because a client's time limit expires or a
//! process dies.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use quorum::{
    Quorum,
    memory::MemoryStore,
    model::{
        event::Event,
        id::{DiscussionId, Seq},
    },
    seams::Store,
};
use quorum_testkit::panel::{Panel, panel};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, time::Instant};

use crate::mcp::tests::client::{Client, pass};

/// One answer each, and the synthesis.
const EACH_ONCE: [&str; 3] =
    ["1/answering/scripted-ann", "1/answering/scripted-bob", "1/deciding/scripted-ann"];

/// The two voices.
const ANN: &str = "scripted-ann";
const BOB: &str = "scripted-bob";

/// A provider whose answers take this long.
fn provider(latency_ms: u64) -> Panel {
    panel().takes(ANN, latency_ms).takes(BOB, latency_ms)
}

/// A process whose voices are this provider's.
fn process(store: &Arc<MemoryStore>, provider: &Panel) -> Quorum {
    let voices = Arc::new(provider.clone());
    Quorum::builder().store(store.clone()).voices(voices).assigning_roles().build().unwrap()
}

async fn client(provider: &Panel) -> Client {
    Client::asking(process(&Arc::new(MemoryStore::new()), provider)).await
}

fn order() -> Value {
    json!({
        "topic": "Tabs or spaces?", "rounds": 1, "providers": [ANN, BOB], "timeout": 300_000,
    })
}

/// Every call so far, in the order of its name.
fn calls(provider: &Panel) -> Vec<String> {
    let mut steps = provider.steps();
    steps.sort();
    steps
}

/// Calls the tool until the discussion no longer runs.
async fn finished(client: &mut Client, id: &Value) -> Value {
    loop {
        let told = client.call("ax_result", json!({ "id": id })).await;
        if !["queued", "running"].contains(&told["status"].as_str().unwrap()) {
            return told;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn b10_a_provider_of_70_s_is_asked_once_by_each_voice() {
    let provider = provider(70_000);
    let mut client = client(&provider).await;
    let began = Instant::now();
    let handle = client.call("ax_discuss", order()).await;
    let took = began.elapsed();
    assert!((Duration::from_secs(50)..=Duration::from_secs(51)).contains(&took), "{took:?}");
    assert_eq!(handle["status"], "running", "{handle}");
    let told = finished(&mut client, &handle["discussionId"]).await;
    assert_eq!(told["status"], "completed", "{told}");
    assert_eq!(calls(&provider), EACH_ONCE);
}

#[tokio::test(start_paused = true)]
async fn b10_a_client_that_gives_up_after_1_s_pays_for_each_voice_once() {
    let provider = provider(5_000);
    let mut client = client(&provider).await;
    let call = client.calling("ax_discuss", order()).await;
    pass(Duration::from_secs(1)).await;
    let id = client.call("ax_status", json!({})).await["discussions"][0]["discussionId"].clone();
    client.cancel(call).await;
    client.until(&id, "paused").await;
    pass(Duration::from_secs(60)).await;
    assert_eq!(calls(&provider), EACH_ONCE[..2], "nothing more is asked while it is paused");
    client.call("ax_control", json!({ "id": id, "action": "resume" })).await;
    assert_eq!(finished(&mut client, &id).await["status"], "completed");
    assert_eq!(calls(&provider), EACH_ONCE);
}

/// A runtime that acts as a process: when it is dropped, everything in it ends at once, as in a
/// killed process.
fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// The steps whose answers are recorded.
async fn answered(store: &MemoryStore, id: DiscussionId) -> BTreeSet<String> {
    let facts = store.read(id, Seq::START, usize::MAX).await.unwrap();
    let turns = facts.into_iter().filter_map(|it| match it.event {
        Event::TurnCompleted { turn } => Some(turn.step.to_string()),
        _ => None,
    });
    turns.collect()
}

#[test]
fn b10_a_process_killed_at_any_time_repeats_no_answered_call() {
    // Ann answers after 2 s, Bob after 5 s, and the synthesis takes 2 s more.
    let provider = panel().takes(ANN, 2_000).takes(BOB, 5_000);
    let mut seen = BTreeSet::new();
    for killed_after in [500, 1_500, 2_500, 4_500, 5_500, 6_500] {
        let store = Arc::new(MemoryStore::new());
        let id = runtime().block_on(async {
            let mut client = Client::asking(process(&store, &provider.anew())).await;
            let mut at_once = order();
            at_once["maxWaitMs"] = json!(0);
            let id = client.call("ax_discuss", at_once).await["discussionId"].clone();
            pass(Duration::from_millis(killed_after)).await;
            id
        });
        runtime().block_on(async {
            let recorded = answered(&store, id.as_str().unwrap().parse().unwrap()).await;
            let second = provider.anew();
            let mut client = Client::asking(process(&store, &second)).await;
            let told = finished(&mut client, &id).await;
            assert_eq!(told["status"], "completed", "killed after {killed_after} ms: {told}");
            let asked: BTreeSet<String> = second.steps().into_iter().collect();
            let all: BTreeSet<String> = EACH_ONCE.map(str::to_owned).into();
            let missing: BTreeSet<String> = all.difference(&recorded).cloned().collect();
            assert_eq!(asked, missing, "killed after {killed_after} ms");
            assert_eq!(second.steps().len(), asked.len(), "each is asked once");
            seen.insert(recorded.len());
        });
    }
    assert_eq!(seen, BTreeSet::from([0, 1, 2]), "it was killed before and after each answer");
}
