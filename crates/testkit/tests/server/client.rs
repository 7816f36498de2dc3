//! A raw HTTP client that works on bytes, so that nothing a server sends is corrected on the way.

use std::{net::SocketAddr, time::Duration};

use quorum_testkit::server::Server;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// How an answer ended, as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Whole,
    Unfinished,
    Reset,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The number of chunks it came in.
    pub(crate) chunks: usize,
    pub(crate) seen: Seen,
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().filter_map(|line| line.split_once(": ")).find(|it| it.0 == name).map(|it| it.1)
    }
}

pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    has_ended: Option<Seen>,
}

impl Client {
    pub(crate) async fn of(server: &Server) -> Self {
        Client::at(server.address()).await
    }

    pub(crate) async fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        Client { stream, buffer: Vec::new(), has_ended: None }
    }

    pub(crate) async fn send(&mut self, ask: &Ask) {
        let body = if ask.body.is_null() { String::new() } else { ask.body.to_string() };
        let mut head = format!("{} {} HTTP/1.1\r\nhost: here\r\n", ask.method, ask.path);
        for (name, value) in &ask.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        self.stream.write_all(head.as_bytes()).await.unwrap();
    }

    pub(crate) async fn ask(&mut self, ask: &Ask) -> Reply {
        self.send(ask).await;
        tokio::time::timeout(Duration::from_secs(30), self.reply()).await.unwrap()
    }

    async fn more(&mut self) -> bool {
        match self.stream.read_buf(&mut self.buffer).await {
            Ok(0) => self.has_ended = Some(Seen::Unfinished),
            Ok(_) => {}
            Err(_) => self.has_ended = Some(Seen::Reset),
        }
        self.has_ended.is_none()
    }

    /// Reads up to and including these bytes, and returns what came before them.
    async fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|it| it == end) {
                let before = self.buffer.drain(..at + end.len()).take(at).collect();
                return Some(before);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    pub(crate) async fn exactly(&mut self, count: usize) -> Vec<u8> {
        while self.buffer.len() < count && self.more().await {}
        let count = count.min(self.buffer.len());
        self.buffer.drain(..count).collect()
    }

    /// Reads the head alone, for tests that read the body byte by byte.
    pub(crate) async fn head(&mut self) -> String {
        String::from_utf8(self.until(b"\r\n\r\n").await.unwrap_or_default()).unwrap()
    }

    pub(crate) async fn reply(&mut self) -> Reply {
        let head = self.head().await;
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut reply = Reply { status, head, body: Vec::new(), chunks: 0, seen: Seen::Whole };
        match reply.header("content-length").map(|it| it.parse::<usize>().unwrap()) {
            Some(length) => {
                reply.body = self.exactly(length).await;
                if reply.body.len() < length {
                    reply.seen = self.has_ended.unwrap();
                }
            }
            None => self.chunks(&mut reply).await,
        }
        reply
    }

    async fn chunks(&mut self, reply: &mut Reply) {
        while let Some(mut chunk) = self.chunk().await {
            if chunk.is_empty() {
                return;
            }
            reply.chunks += 1;
            reply.body.append(&mut chunk);
        }
        reply.seen = self.has_ended.unwrap();
    }

    /// The next chunk; the last one is empty. `None` if the connection ends first.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.until(b"\r\n").await?;
        let size = usize::from_str_radix(std::str::from_utf8(&line).unwrap(), 16).unwrap();
        let chunk = self.exactly(size).await;
        (self.exactly(2).await.len() == 2).then_some(chunk)
    }
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

impl Ask {
    pub(crate) fn post(path: &str, body: Value) -> Self {
        Ask { method: "POST", path: path.to_owned(), headers: Vec::new(), body }
    }

    pub(crate) fn get(path: &str) -> Self {
        Ask { method: "GET", path: path.to_owned(), headers: Vec::new(), body: Value::Null }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same request with these fields set or, if null, removed.
    pub(crate) fn but(mut self, changes: Value) -> Self {
        let Value::Object(changes) = changes else { panic!("changes are fields: {changes}") };
        for (name, value) in changes {
            let body = self.body.as_object_mut().unwrap();
            match value {
                Value::Null => body.remove(&name),
                value => body.insert(name, value),
            };
        }
        self
    }

    pub(crate) async fn of(&self, server: &Server) -> Reply {
        Client::of(server).await.ask(self).await
    }
}

const QUESTION: &str = "Tabs or spaces?";

pub(crate) fn anthropic(model: &str) -> Ask {
    let messages = json!([{ "role": "user", "content": QUESTION }]);
    let body = json!({ "model": model, "max_tokens": 1_000, "messages": messages, "stream": true });
    Ask::post("/v1/messages", body).with("anthropic-version", "2023-06-01")
}

pub(crate) fn chat(model: &str) -> Ask {
    let messages =
        json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": QUESTION }]);
    let options = json!({ "include_usage": true });
    let body = json!({ "model": model, "messages": messages, "stream": true, "stream_options": options });
    Ask::post("/v1/chat/completions", body)
}

pub(crate) fn responses(model: &str) -> Ask {
    Ask::post("/v1/responses", json!({ "model": model, "input": QUESTION, "stream": true }))
}

pub(crate) fn gemini(model: &str) -> Ask {
    let contents = json!([{ "role": "user", "parts": [{ "text": QUESTION }] }]);
    let path = format!("/v1beta/models/{model}:streamGenerateContent?alt=sse");
    Ask::post(&path, json!({ "contents": contents }))
}

pub(crate) fn ollama(model: &str) -> Ask {
    let messages = json!([{ "role": "user", "content": QUESTION }]);
    Ask::post("/api/chat", json!({ "model": model, "messages": messages }))
}

/// A streamed question in every vendor's format, under the vendor's name.
pub(crate) fn all(model: &str) -> [(&'static str, Ask); 5] {
    [
        ("anthropic", anthropic(model)),
        ("openai-chat", chat(model)),
        ("openai-responses", responses(model)),
        ("gemini", gemini(model)),
        ("ollama", ollama(model)),
    ]
}
