//! The span of a client, which the trace of its discussion is linked to.

use std::sync::Arc;

use quorum::{
    memory::MemoryStore,
    model::{event::Event, id::Seq},
    seams::Store,
};
use serde_json::json;

use crate::{
    Limits,
    mcp::tests::client::{Client, process},
};

#[tokio::test(start_paused = true)]
async fn the_span_of_a_client_is_recorded_with_the_discussion() {
    let store = Arc::new(MemoryStore::new());
    let mut client = Client::of(process(&store), Limits::default()).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let arguments = json!({ "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"] });
    let meta = json!({ "traceparent": parent });
    let params = json!({ "name": "ax_discuss", "arguments": arguments, "_meta": meta });
    let id = client.begin("tools/call", params).await;
    let told = client.result("ax_discuss", id).await["structuredContent"].clone();
    let discussion = told["discussionId"].as_str().unwrap().parse().unwrap();
    let facts = store.read(discussion, Seq::START, 1).await.unwrap();
    let Event::Opened { caller, .. } = &facts[0].event else { panic!("{facts:?}") };
    assert_eq!(caller.map(|it| it.to_string()).as_deref(), Some(parent));
}
