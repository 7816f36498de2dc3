//! A provider that counts what it answers, and can keep all answers back for a moment.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use quorum_testkit::proxy::low_listener;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::sleep,
};

/// The pieces in which an answer is streamed.
const PIECES: usize = 5;

/// The provider, until it is dropped.
#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    /// When each call came, and the model that it named.
    came: Mutex<Vec<(Instant, String)>>,
    under_way: AtomicU64,
    /// Answers that were sent completely to a client that was still there.
    answered: AtomicU64,
    latency_ms: AtomicU64,
    /// Whether answers are kept back.
    closed: watch::Sender<bool>,
}

/// Counts a call while it is under way.
struct UnderWay(Arc<Shared>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Provider {
    pub(crate) fn start(latency: Duration) -> Result<Self> {
        let listener = low_listener();
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            came: Mutex::default(),
            under_way: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            latency_ms: AtomicU64::new(latency.as_millis() as u64),
            closed: watch::Sender::new(false),
        });
        let (listener, serving) = (TcpListener::from_std(listener)?, shared.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = serving.clone();
                tokio::spawn(async move { drop(serve(stream, shared).await) });
            }
        });
        Ok(Provider { port, shared })
    }

    pub(crate) fn answered(&self) -> u64 {
        self.shared.answered.load(Ordering::SeqCst)
    }

    pub(crate) fn under_way(&self) -> u64 {
        self.shared.under_way.load(Ordering::SeqCst)
    }

    /// When calls for this model came.
    pub(crate) fn came(&self, model: &str) -> Vec<Instant> {
        let came = self.shared.came.lock().unwrap_or_else(PoisonError::into_inner);
        came.iter().filter(|it| it.1 == model).map(|it| it.0).collect()
    }

    /// Keeps all answers back, or lets them go.
    pub(crate) fn keep_back(&self, closed: bool) {
        self.shared.closed.send_replace(closed);
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        stream.read_line(&mut head).await?;
        if head.is_empty() {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().context("a length")?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        if head.starts_with("POST ") {
            let body: Value = serde_json::from_slice(&body)?;
            let model = body["model"].as_str().unwrap_or_default().to_owned();
            shared.came.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), model));
            answer(stream.get_mut(), &shared).await?;
        } else {
            let list = "{\"object\":\"list\",\"data\":[]}";
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                list.len()
            );
            stream.get_mut().write_all((head + list).as_bytes()).await?;
        }
    }
}

/// Streams an answer. It counts as answered when its end was sent and the client was there.
async fn answer(stream: &mut TcpStream, shared: &Arc<Shared>) -> Result<()> {
    shared.under_way.fetch_add(1, Ordering::SeqCst);
    let _under_way = UnderWay(shared.clone());
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let pause = Duration::from_millis(shared.latency_ms.load(Ordering::SeqCst)) / PIECES as u32;
    for number in 0..PIECES {
        sleep(pause).await;
        send(stream, &piece(&format!("{{\"content\":\"Word {number}. \"}}"), "null")).await?;
    }
    let mut closed = shared.closed.subscribe();
    tokio::select! {
        // A client sends nothing while it waits, so whatever can be read is its end.
        biased;
        _ = stream.readable() => anyhow::bail!("the client has left"),
        open = closed.wait_for(|closed| !*closed) => drop(open?),
    }
    let end = piece("{}", "\"stop\"")
        + "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[],\
           \"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":15}}\n\ndata: [DONE]\n\n";
    shared.answered.fetch_add(1, Ordering::SeqCst);
    send(stream, &end).await?;
    stream.write_all(b"0\r\n\r\n").await?;
    Ok(())
}

fn piece(delta: &str, finish: &str) -> String {
    format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
         \"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
    )
}

async fn send(stream: &mut TcpStream, text: &str) -> Result<()> {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await?;
    Ok(())
}
