//! A server without sockets, so that its clock can be a virtual one.

mod leaving;
mod times;

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
    model::{
        event::Event,
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
    },
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    app::{App, AppState},
    openapi, routes,
    settings::{Settings, Voices},
    v1::answer::DISCUSSION,
};

struct Panel {
    app: App,
    service: TowerToHyperService<Router>,
}

impl Panel {
    /// Three simulated voices that take this long for each answer.
    fn thinking(seconds: u64) -> Panel {
        Panel::on(&Arc::new(MemoryStore::new()), Duration::from_secs(seconds))
    }

    /// The same with its discussions in this store.
    fn on(store: &Arc<MemoryStore>, latency: Duration) -> Panel {
        let latency = latency.as_millis();
        let text = format!(
            "[defaults]\nsimulate = \"latency={latency}ms\"\nseed = 7\ntimeout = 300000\n\
             providers = [\"claude\", \"gemini\", \"glm\"]\n"
        );
        let config = Config::parse(&text, &PathBuf::from("config.toml"), PathBuf::new()).unwrap();
        let builder = Quorum::builder().user(config.clone()).store(store.clone());
        let quorum = builder.simulated().assigning_roles().build().unwrap();
        let settings = Settings { voices: Voices::Simulated, ..Settings::of(&config) };
        let document = openapi::with_fields(routes::document(), quorum.registry(), &quorum.providers());
        let app = AppState::new(quorum, settings, &document);
        let service = TowerToHyperService::new(routes::router(app.clone()));
        Panel { app, service }
    }

    fn post(&self, path: &str, body: &Value) -> impl Future<Output = Response> + use<> {
        self.repeat(path, body, 0)
    }

    /// The same as this repetition, counted from 1, by one of the vendors' own clients.
    fn repeat(&self, path: &str, body: &Value, count: u32) -> impl Future<Output = Response> + use<> {
        let request = Request::post(path)
            .header("host", "127.0.0.1:3000")
            .header("content-type", "application/json")
            .header("x-stainless-retry-count", count)
            .body(Body::from(body.to_string()))
            .unwrap();
        let response = self.service.call(request);
        async { response.await.unwrap() }
    }

    /// The same with an idempotency key.
    fn keyed(&self, path: &str, body: &Value, key: &str) -> impl Future<Output = Response> + use<> {
        let request = Request::post(path)
            .header("host", "127.0.0.1:3000")
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(Body::from(body.to_string()))
            .unwrap();
        let response = self.service.call(request);
        async { response.await.unwrap() }
    }

    /// Closes it, as at shutdown.
    async fn close(&self) {
        self.app.hub.close();
        self.app.leave(std::time::Duration::from_secs(60)).await;
    }

    /// All discussions, the newest first.
    async fn discussions(&self) -> Vec<DiscussionId> {
        let request = Request::get("/api/discussions").header("host", "127.0.0.1:3000");
        let response = self.service.call(request.body(Body::empty()).unwrap()).await.unwrap();
        let told = pieces(response).await.into_iter().map(|it| it.1).collect::<String>();
        let listed: Vec<Value> = serde_json::from_str(&told).unwrap();
        listed.iter().map(|it| it["discussionId"].as_str().unwrap().parse().unwrap()).collect()
    }

    /// The steps of all calls that were placed, in order.
    async fn calls(&self, id: DiscussionId) -> Vec<String> {
        let discussion = self.app.scope(None).discussion(id).await.unwrap();
        let facts = discussion.facts(Seq::START).await.unwrap();
        let placed = facts.iter().filter(|it| matches!(it.event, Event::CallPlaced(_)));
        placed.map(|it| it.step.as_ref().unwrap().to_string()).collect()
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
