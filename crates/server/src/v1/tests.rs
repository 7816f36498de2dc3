//! Time, as the clients of the panel see it: signs of life, departures and the end of a long wait.

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    http::Request,
    response::Response,
};
use futures::StreamExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use quorum::{
    Config, Quorum,
    memory::MemoryStore,
    model::{id::DiscussionId, lifecycle::Lifecycle},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    app::{App, AppState},
    openapi, routes,
    settings::{Settings, Voices},
    v1::answer::DISCUSSION,
};

/// A server without sockets, so that its clock can be a virtual one.
struct Panel {
    app: App,
    service: TowerToHyperService<Router>,
}

impl Panel {
    /// Three simulated voices that take this long for each answer.
    fn thinking(seconds: u64) -> Panel {
        let text = format!(
            "[defaults]\nsimulate = \"latency={seconds}s\"\nseed = 7\ntimeout = 300000\n\
             providers = [\"claude\", \"gemini\", \"glm\"]\n"
        );
        let config = Config::parse(&text, &PathBuf::from("config.toml"), PathBuf::new()).unwrap();
        let builder = Quorum::builder().user(config.clone()).store(Arc::new(MemoryStore::new()));
        let quorum = builder.simulated().assigning_roles().build().unwrap();
        let settings = Settings { voices: Voices::Simulated, ..Settings::of(&config) };
        let document = openapi::with_fields(routes::document(), quorum.registry(), &quorum.providers());
        let app = AppState::new(quorum, settings, &document);
        let service = TowerToHyperService::new(routes::router(app.clone()));
        Panel { app, service }
    }

    fn post(&self, path: &str, body: &Value) -> impl Future<Output = Response> + use<> {
        let request = Request::post(path)
            .header("host", "127.0.0.1:3000")
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        let response = self.service.call(request);
        async { response.await.unwrap() }
    }

    async fn lifecycle(&self, id: DiscussionId) -> Lifecycle {
        let discussion = self.app.scope(None).discussion(id).await.unwrap();
        discussion.state().await.unwrap().lifecycle
    }
}

fn question() -> Value {
    json!({ "model": "quorum", "messages": [{ "role": "user", "content": "Tabs or spaces?" }] })
}

fn streamed() -> Value {
    let mut body = question();
    body["stream"] = json!(true);
    body
}

fn discussion(response: &Response) -> DiscussionId {
    response.headers()[DISCUSSION].to_str().unwrap().parse().unwrap()
}

/// The pieces of a stream, with how long each was waited for.
async fn pieces(response: Response) -> Vec<(Duration, String)> {
    let mut body = response.into_body().into_data_stream();
    let (mut pieces, mut last) = (Vec::new(), Instant::now());
    while let Some(piece) = body.next().await {
        let piece: Bytes = piece.unwrap();
        pieces.push((last.elapsed(), String::from_utf8(piece.to_vec()).unwrap()));
        last = Instant::now();
    }
    pieces
}

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
async fn i19_a_discussion_is_aborted_60_s_after_its_last_client_left() {
    let panel = Panel::thinking(5);
    let left = panel.post("/v1/chat/completions", &streamed()).await;
    let id = discussion(&left);
    sleep(Duration::from_secs(1)).await;
    drop(left);
    sleep(Duration::from_secs(58)).await;
    assert!(!panel.lifecycle(id).await.is_terminal(), "a client could still come back");
    let returned = panel.post("/v1/chat/completions", &streamed()).await;
    assert_eq!(discussion(&returned), id, "an equal request joins it");
    drop(returned);
    sleep(Duration::from_secs(59)).await;
    assert!(!panel.lifecycle(id).await.is_terminal(), "the minute begins anew with each departure");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(panel.lifecycle(id).await, Lifecycle::Aborted);
    let another = panel.post("/v1/chat/completions", &streamed()).await;
    assert_ne!(discussion(&another), id, "an aborted one is not joined");
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
