//! A client that speaks lines over a stream in memory.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use quorum::{Config, Quorum, Scope, memory::MemoryStore, model::id::Tenant};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split},
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, timeout},
};

use crate::{
    mcp::{converse, tests::schemas},
    settings::{Limits, Settings, Voices},
};

pub(super) const MODERN: &str = "2026-07-28";

/// A client, the server it talks to, and what it was told beside its answers.
pub(super) struct Client {
    writer: Option<WriteHalf<DuplexStream>>,
    reader: BufReader<ReadHalf<DuplexStream>>,
    last_id: u64,
    answers: BTreeMap<u64, Value>,
    /// Notifications, with the time at which they came.
    pub(super) told: Vec<(Instant, Value)>,
    /// The `_meta` of every request.
    meta: Value,
    outputs: BTreeMap<String, Value>,
    close: Option<oneshot::Sender<()>>,
    ended: JoinHandle<()>,
}

/// Quorum in memory, with simulated voices.
pub(super) fn simulated() -> Quorum {
    process(&Arc::new(MemoryStore::new()))
}

/// A process of its own on this store.
pub(super) fn process(store: &Arc<MemoryStore>) -> Quorum {
    Quorum::builder().store(store.clone()).simulated().assigning_roles().build().unwrap()
}

/// Lets this much virtual time pass, with everything that is due in it.
pub(super) async fn pass(time: Duration) {
    // It sleeps because the paused clock then moves only while all tasks are idle; `advance` would
    // leap over what they are about to begin.
    tokio::time::sleep(time).await;
}

fn settings() -> Settings {
    Settings { voices: Voices::Simulated, ..Settings::of(&Config::default()) }
}

impl Client {
    /// A client of the era with a handshake.
    pub(super) async fn legacy() -> Client {
        Client::of(simulated(), Limits::default()).await
    }

    /// The same with these capabilities.
    pub(super) async fn legacy_with(capabilities: Value) -> Client {
        Client::unannounced(simulated(), settings()).introduced(capabilities).await
    }

    pub(super) async fn of(quorum: Quorum, limits: Limits) -> Client {
        Client::unannounced(quorum, Settings { limits, ..settings() }).introduced(json!({})).await
    }

    /// The same of a server that asks its own voices.
    pub(super) async fn asking(quorum: Quorum) -> Client {
        Client::asking_within(quorum, Limits::default()).await
    }

    /// The same with these limits.
    pub(super) async fn asking_within(quorum: Quorum, limits: Limits) -> Client {
        let settings = Settings { voices: Voices::Available, limits, ..settings() };
        Client::unannounced(quorum, settings).introduced(json!({})).await
    }

    /// A client before its handshake.
    pub(super) fn silent() -> Client {
        Client::unannounced(simulated(), settings())
    }

    /// This client after its handshake.
    pub(super) async fn introduced(mut self, capabilities: Value) -> Client {
        let client = &mut self;
        let about = json!({ "name": "a test", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": about });
        client.request("initialize", hello).await;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client.learn().await;
        self
    }

    /// A client of the era without one, with these capabilities in every request.
    pub(super) async fn modern(quorum: Quorum, capabilities: Value) -> Client {
        Client::modern_of(quorum, Limits::default(), capabilities).await
    }

    pub(super) async fn modern_of(quorum: Quorum, limits: Limits, capabilities: Value) -> Client {
        Client::unannounced(quorum, Settings { limits, ..settings() }).stateless(capabilities).await
    }

    /// The same of a server that asks its own voices.
    pub(super) async fn modern_asking(quorum: Quorum, capabilities: Value) -> Client {
        let settings = Settings { voices: Voices::Available, ..settings() };
        Client::unannounced(quorum, settings).stateless(capabilities).await
    }

    /// This client with these capabilities in every request.
    async fn stateless(mut self, capabilities: Value) -> Client {
        self.meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
        });
        self.learn().await;
        self
    }

    fn unannounced(quorum: Quorum, settings: Settings) -> Client {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (close, closing) = oneshot::channel::<()>();
        let scope: Scope = quorum.scope(Tenant::default(), "ann");
        let server = (quorum, settings, scope);
        let ended = tokio::spawn(converse(server, split(theirs), async {
            // A client that goes away closes nothing.
            if closing.await.is_err() {
                std::future::pending::<()>().await;
            }
        }));
        let (reader, writer) = split(ours);
        Client {
            writer: Some(writer),
            reader: BufReader::new(reader),
            last_id: 0,
            answers: BTreeMap::new(),
            told: Vec::new(),
            meta: json!({}),
            outputs: BTreeMap::new(),
            close: Some(close),
            ended,
        }
    }

    /// Learns the output schema of every tool.
    async fn learn(&mut self) {
        let listed = self.request("tools/list", json!({})).await;
        for tool in listed["result"]["tools"].as_array().unwrap() {
            self.outputs.insert(tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone());
        }
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes()).await;
    }

    pub(super) async fn send_line(&mut self, line: &[u8]) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(line).await.unwrap();
        writer.write_all(b"\n").await.unwrap();
    }

    /// Sends a request, and returns its id without waiting.
    pub(super) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        let mut meta = self.meta.clone();
        for (name, value) in params["_meta"].as_object().into_iter().flatten() {
            meta[name] = value.clone();
        }
        params["_meta"] = meta;
        let message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.send(&message).await;
        self.last_id
    }

    /// The next message from the server; `None` when it has closed.
    pub(super) async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.reader.read_line(&mut line).await.unwrap();
        (length > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}")))
    }

    /// The answer to this request.
    pub(super) async fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let message = self.read().await.expect("the server has closed");
            match message["id"].as_u64() {
                Some(other) => drop(self.answers.insert(other, message)),
                None => self.told.push((Instant::now(), message)),
            }
        }
    }

    pub(super) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Begins a call of a tool.
    pub(super) async fn calling(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// The result of a call, which must fit the tool's output schema.
    pub(super) async fn result(&mut self, tool: &str, id: u64) -> Value {
        let answer = self.answer(id).await;
        let result = answer["result"].clone();
        assert!(result.is_object(), "{answer}");
        let structured = &result["structuredContent"];
        if !structured.is_null() {
            let problems = schemas::problems(&self.outputs[tool], structured);
            assert_eq!(problems, Vec::<String>::new(), "{tool}: {structured}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.chars().count() <= 24_000 || structured["leftOut"].is_string(), "{}", text.len());
        }
        result
    }

    /// Calls a tool and returns its structured answer.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.calling(tool, arguments).await;
        self.result(tool, id).await["structuredContent"].clone()
    }

    pub(super) async fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id, "reason": "timeout" });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    }

    /// Calls the tool until the discussion has this status, for an hour at most.
    pub(super) async fn until(&mut self, id: &Value, status: &str) -> Value {
        let begun = Instant::now();
        loop {
            let told = self.call("ax_status", json!({ "id": id })).await;
            if told["status"] == status {
                return told;
            }
            assert!(begun.elapsed() < Duration::from_secs(3_600), "it never is {status}: {told}");
            tokio::time::advance(Duration::from_millis(100)).await;
        }
    }

    /// Ends the input, and waits until the server has left.
    pub(super) async fn hang_up(&mut self) {
        self.writer.take().unwrap().shutdown().await.unwrap();
        while self.read().await.is_some() {}
        (&mut self.ended).await.unwrap();
    }

    /// Sends a last message without the end of its line, ends the input, and returns the answer.
    pub(super) async fn finally(&mut self, message: &Value) -> Option<Value> {
        let mut writer = self.writer.take().unwrap();
        writer.write_all(message.to_string().as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
        self.read().await
    }

    /// Ends the input and reads nothing more; whether the server has left within 5 s.
    pub(super) async fn abandon(&mut self) -> bool {
        self.writer.take().unwrap().shutdown().await.unwrap();
        timeout(Duration::from_secs(5), &mut self.ended).await.is_ok()
    }

    /// Tells the server to close, and waits until it has left.
    pub(super) async fn close(&mut self) {
        self.close.take().unwrap().send(()).unwrap();
        (&mut self.ended).await.unwrap();
    }
}
