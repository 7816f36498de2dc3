//! Signs of life, and the end of a long wait.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Panel, pieces, question, streamed};

#[tokio::test(start_paused = true)]
async fn a5_a_stream_is_never_silent_for_11_s_while_a_voice_thinks_for_60_s() {
    // A simulated voice says its first word after a third of its time.
    let panel = Panel::thinking(200);
    let empty = "\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":null}]";
    let input = json!({ "model": "quorum", "input": "Tabs or spaces?", "stream": true });
    for (path, body, sign) in [
        ("/v1/chat/completions", streamed(), empty),
        ("/v1/responses", input, ": keep-alive\n\n"),
        ("/v1/messages", streamed(), "event: ping\n"),
    ] {
        let began = Instant::now();
        let pieces = pieces(panel.post(path, &body).await).await;
        assert!(Duration::from_secs(400) <= began.elapsed(), "{path}: {:?}", began.elapsed());
        let longest = pieces.iter().map(|it| it.0).max().unwrap();
        assert!(longest <= Duration::from_secs(10), "{path} was silent for {longest:?}");
        let signs = pieces.iter().filter(|it| it.1.contains(sign)).count();
        assert!(10 <= signs, "{path}: {signs} signs of life in {pieces:?}");
        assert!(pieces.iter().all(|it| !it.1.contains("\nid:") && !it.1.starts_with("id:")), "{path}");
        let last = &pieces.last().unwrap().1;
        let is_end = ["[DONE]", "response.completed", "message_stop"].iter().any(|it| last.contains(it));
        assert!(is_end, "{path} ended with {last}");
    }
}

#[tokio::test(start_paused = true)]
async fn i19_a_plain_request_is_wound_up_at_540_s_and_says_that_it_is_degraded() {
    let panel = Panel::thinking(100);
    let mut body = question();
    body["quorum"] = json!({ "rounds": 10 });
    let began = Instant::now();
    let response = panel.post("/v1/chat/completions", &body).await;
    let took = began.elapsed();
    assert!((Duration::from_secs(300)..=Duration::from_secs(540)).contains(&took), "{took:?}");
    assert_eq!(response.status(), 200);
    let told = pieces(response).await.into_iter().map(|it| it.1).collect::<String>();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["quorum"]["degraded"], true, "{told}");
    assert!(!told["choices"][0]["message"]["content"].as_str().unwrap().is_empty(), "{told}");
}
