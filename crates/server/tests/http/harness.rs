//! A server in a temporary directory, and a client for it.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::Duration,
};

use quorum::{
    Config, Quorum,
    memory::MemoryStore,
    registry::Pattern,
    setup::{self, Machine},
};
use quorum_server::{Limits, Server, Settings, Voices};
use reqwest::{Method, StatusCode, header::HeaderMap};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::oneshot, task::JoinHandle};

use crate::conforms;

/// A test step that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Voices that answer at once.
pub(crate) const FAST: &str = "[defaults]\nsimulate = \"latency=0ms\"\nseed = 7\n";

pub(crate) const ANN: &str = "anns-token-0123456789";
pub(crate) const BOB: &str = "bobs-token-0123456789";

/// Two tenants, and voices that answer at once.
pub(crate) fn tenants() -> String {
    format!(
        "{FAST}[server]\norigins = [\"https://panel.example.org\"]\ntokens = [\
         {{ name = \"ann's laptop\", tenant = \"ann\", token = \"{ANN}\" }}, {{ name = \"bob\", tenant = \"bob\", token = \"{BOB}\" }}]\n"
    )
}

pub(crate) struct TestServer {
    pub(crate) base: String,
    pub(crate) folder: PathBuf,
    _kept: Option<TempDir>,
    client: reqwest::Client,
    close: Option<oneshot::Sender<()>>,
    ended: Option<JoinHandle<()>>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub(crate) fn id(&self) -> String {
        self.json()["discussionId"].as_str().unwrap().to_owned()
    }
}

/// Settings for a server on any free port.
pub(crate) fn settings(config: &Config, limits: Limits) -> Settings {
    let listen = "127.0.0.1:0".parse().unwrap();
    Settings { listen, limits, voices: Voices::Simulated, ..Settings::of(config) }
}

pub(crate) fn client() -> reqwest::Client {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    reqwest::Client::builder().timeout(TIMEOUT).build().unwrap()
}

pub(crate) fn config(text: &str, folder: &Path) -> Config {
    Config::parse(text, &folder.join("config.toml"), folder.to_owned()).unwrap()
}

impl TestServer {
    pub(crate) async fn open(text: &str) -> TestServer {
        TestServer::with(text, Limits { burst: 100_000, ..Limits::default() }).await
    }

    pub(crate) async fn with(text: &str, limits: Limits) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let mut server = TestServer::at(text, limits, folder.path()).await;
        server._kept = Some(folder);
        server
    }

    pub(crate) async fn at(text: &str, limits: Limits, folder: &Path) -> TestServer {
        let config = config(text, folder);
        let quorum = Quorum::builder().user(config.clone()).simulated().assigning_roles().build().unwrap();
        TestServer::of(quorum, settings(&config, limits), folder).await
    }

    /// A server that shares this store with others.
    pub(crate) async fn sharing(store: Arc<MemoryStore>, text: &str, limits: Limits) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let config = config(text, folder.path());
        let builder = Quorum::builder().config(config.clone()).store(store).simulated().assigning_roles();
        let quorum = builder.build().unwrap();
        let mut server = TestServer::of(quorum, settings(&config, limits), folder.path()).await;
        server._kept = Some(folder);
        server
    }

    /// A server with a pattern of another crate.
    pub(crate) async fn knowing(pattern: &'static Pattern) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let config = config(FAST, folder.path());
        let builder = Quorum::builder().user(config.clone()).simulated().pattern(pattern);
        let quorum = builder.build().unwrap();
        let mut server = TestServer::of(quorum, settings(&config, Limits::default()), folder.path()).await;
        server._kept = Some(folder);
        server
    }

    /// A server with real voices, on a machine with nothing but this configuration.
    pub(crate) async fn voiced(text: &str) -> TestServer {
        TestServer::on(&Machine::bare(), text).await
    }

    /// The same on a machine with keys in these variables. All vendors' servers are unreachable.
    pub(crate) async fn keyed(keys: &'static [&str]) -> TestServer {
        let variable = move |name: &str| match name {
            "OPENAI_BASE_URL" => Some("http://127.0.0.1:9/v1".to_owned()),
            _ => keys.contains(&name).then(|| "a-key".to_owned()),
        };
        let vendors = ["claude", "gemini", "glm", "qwen", "grok", "mistral"];
        let unreachable = vendors.map(|it| format!("[providers.{it}]\nbase_url = \"http://127.0.0.1:9\"\n"));
        TestServer::on(&Machine { variable: &variable, ..Machine::bare() }, &unreachable.concat()).await
    }

    async fn on(machine: &Machine<'_>, text: &str) -> TestServer {
        let folder = tempfile::tempdir().unwrap();
        let config = config(text, folder.path());
        let setup = setup::load(&config, machine).unwrap();
        let builder = Quorum::builder().user(config.clone()).set_up(setup).assigning_roles();
        let quorum = builder.build().unwrap();
        let settings = Settings { voices: Voices::Available, ..settings(&config, Limits::default()) };
        let mut server = TestServer::of(quorum, settings, folder.path()).await;
        server._kept = Some(folder);
        server
    }

    pub(crate) async fn of(quorum: Quorum, settings: Settings, folder: &Path) -> TestServer {
        let server = Server::bind(quorum, settings).await.unwrap();
        server.go_on().await.unwrap();
        let base = format!("http://{}", server.address());
        let (close, closing) = oneshot::channel();
        let ended = tokio::spawn(server.run(async { drop(closing.await) }));
        let (close, ended) = (Some(close), Some(ended));
        TestServer { base, folder: folder.to_owned(), _kept: None, client: client(), close, ended }
    }

    /// Tells the server to close, and waits until it has.
    pub(crate) async fn close(&mut self) {
        self.close.take().unwrap().send(()).unwrap();
        self.ended.take().unwrap().await.unwrap();
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        self.client.request(Method::from_bytes(method.as_bytes()).unwrap(), format!("{}{path}", self.base))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        answered(self.request("GET", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        answered(self.posting(path, body)).await
    }

    pub(crate) fn posting(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.request("POST", path).header("content-type", "application/json").body(body.to_string())
    }

    /// Starts a discussion and waits until it is over.
    pub(crate) async fn held(&self, order: &Value) -> String {
        let id = self.ordered(order).await;
        self.get(&format!("/api/discussions/{id}/events")).await;
        id
    }

    pub(crate) async fn ordered(&self, order: &Value) -> String {
        let answer = self.post("/api/discussions", order).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        answer.id()
    }

    pub(crate) async fn state(&self, id: &str) -> Value {
        self.get(&format!("/api/discussions/{id}/state")).await.json()
    }
}

/// The answer, which must be as the OpenAPI document describes it.
pub(crate) async fn answered(request: reqwest::RequestBuilder) -> Answer {
    let (client, request) = request.build_split();
    let request = request.unwrap();
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let response = client.execute(request).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let answer = Answer { status, headers, text: response.text().await.unwrap() };
    let kind = answer.headers.get("content-type").and_then(|it| it.to_str().ok()).unwrap_or_default();
    conforms::check(&method, &path, status, kind, &answer.text);
    answer
}

/// A stream, and the text received so far.
pub(crate) struct Stream {
    pub(crate) status: StatusCode,
    response: reqwest::Response,
    heard: Vec<u8>,
}

impl Stream {
    pub(crate) async fn open(request: reqwest::RequestBuilder) -> Stream {
        let response = request.send().await.unwrap();
        Stream { status: response.status(), response, heard: Vec::new() }
    }

    /// Reads until this is enough, or the stream ends. Returns all text so far; its last character
    /// may be cut.
    pub(crate) async fn until(&mut self, is_enough: impl Fn(&str) -> bool) -> String {
        loop {
            let text = String::from_utf8_lossy(&self.heard).into_owned();
            if is_enough(&text) {
                return text;
            }
            let Some(chunk) = self.response.chunk().await.unwrap() else { return text };
            self.heard.extend(chunk);
        }
    }

    /// Reads to the end.
    pub(crate) async fn rest(&mut self) -> String {
        self.until(|_| false).await
    }
}

/// An order that finishes at once.
pub(crate) fn order() -> Value {
    json!({ "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini"] })
}

/// An order that takes a while.
pub(crate) fn slow() -> Value {
    json!({ "topic": "Tabs or spaces?", "pattern": "round-robin", "simulate": { "latencyMs": 2_000 } })
}

/// The events of a stream: number, name, data.
pub(crate) fn events(text: &str) -> Vec<(Option<u64>, String, Value)> {
    let blocks = text.split("\n\n").filter(|block| block.contains("data: "));
    blocks
        .map(|block| {
            let line = |start: &str| block.lines().find_map(|it| it.strip_prefix(start)).map(str::to_owned);
            let id = line("id: ").map(|it| it.parse().unwrap());
            (id, line("event: ").unwrap(), serde_json::from_str(&line("data: ").unwrap()).unwrap())
        })
        .collect()
}

/// Runs a test on its own runtime, whatever tasks are left on it at the end.
pub(crate) fn on_its_own<T>(test: impl Future<Output = T>) -> (T, Runtime) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    (runtime.block_on(test), runtime)
}
