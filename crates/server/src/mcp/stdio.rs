//! The protocol over standard input and output, or any other pair of streams: one JSON message per
//! line. A line that can't be read is answered with an error, and the connection goes on.

use std::{sync::Arc, time::Duration};

use quorum::{Quorum, Scope};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage,
    },
    service::{ServerInitializeError, serve_server},
    transport::{Transport, stdio_pipes},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::Mutex,
    time::sleep,
};

use crate::{
    app::{self, App, AppState},
    mcp::{
        handler::{Caller, Handler},
        queue,
    },
    openapi, routes,
    settings::Settings,
};

/// The longest line, in bytes.
const LONGEST_LINE: usize = 4 << 20;

/// How long calls under way may take to be recorded at the end: the whole end takes at most 5 s.
const LEAVE_TIME: Duration = Duration::from_millis(3_500);

/// How long answers may take to be written at the end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves the protocol on standard input and output until the input ends or it is told to close.
pub async fn on_standard_streams(
    quorum: Quorum,
    settings: Settings,
    scope: Scope,
    close: impl Future<Output = ()>,
) {
    let (reader, writer) = stdio_pipes();
    converse((quorum, settings, scope), (reader, writer), close).await;
}

/// The same on any pair of streams. Nothing is aborted at the end: discussions that still run are
/// left to the next process.
pub async fn converse<R, W>(
    (quorum, settings, scope): (Quorum, Settings, Scope),
    (reader, writer): (R, W),
    close: impl Future<Output = ()>,
) where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let providers = app::usable(quorum.providers(), settings.voices);
    let document = openapi::with_fields(routes::document(), quorum.registry(), &providers);
    let app = AppState::new(quorum, settings, &document);
    let handler = Handler { app: app.clone(), caller: Caller::Local(scope) };
    let versions = handler.supported_protocol_versions().into_owned();
    let lines = Lines::new(app.clone(), versions, (reader, writer));
    let queue = tokio::spawn(queue::begin_queued(app.clone(), app.mcp.calls.open_queue()));
    let serving = async {
        match serve_server(handler, lines).await {
            Ok(service) => drop(service.waiting().await),
            // A client may leave before it has said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => tracing::error!(%error, "the connection could not be opened"),
        }
    };
    let time_is_up = async {
        tokio::select! {
            () = close => app.hub.close(),
            // At the end of the input.
            _ = app.hub.until_closing(std::future::pending::<()>()) => {}
        }
        sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = serving => {}
        // A client that reads nothing more must not keep this process.
        () = time_is_up => {}
    }
    app.hub.close();
    let _ = queue.await;
    app.leave(LEAVE_TIME).await;
}

/// The transport: messages as lines.
struct Lines<R, W> {
    app: App,
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line that was too long is being skipped.
    is_skipping: bool,
    /// The versions of the protocol that are served.
    versions: Vec<ProtocolVersion>,
    /// Whether a request has opened the connection. Before that, the library takes requests alone
    /// and gives up at any other message, so those are dropped; they refer to nothing yet.
    has_begun: bool,
    writer: Arc<Mutex<W>>,
}

/// What was read from a line.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    fn new(app: App, versions: Vec<ProtocolVersion>, (reader, writer): (R, W)) -> Self {
        let (reader, writer) = (BufReader::new(reader), Arc::new(Mutex::new(writer)));
        Lines { app, reader, line: Vec::new(), is_skipping: false, versions, has_begun: false, writer }
    }

    /// Reads up to the end of a line. Nothing is lost if the future is dropped: what was read so
    /// far is in `self`.
    async fn read_line(&mut self) -> Read {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok([]) | Err(_) => return self.read_last_line(),
                Ok(available) => available,
            };
            let end = available.iter().position(|it| *it == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.is_skipping {
                self.line.extend_from_slice(&available[..end.unwrap_or(taken)]);
            }
            self.reader.consume(taken);
            if self.line.len() > LONGEST_LINE {
                self.line = Vec::new();
                self.is_skipping = true;
            }
            if end.is_some() {
                let was_skipped = std::mem::take(&mut self.is_skipping);
                return if was_skipped { Read::TooLong } else { Read::Line };
            }
        }
    }

    /// What was read before the end of the input: a last line may lack its end.
    fn read_last_line(&mut self) -> Read {
        match std::mem::take(&mut self.is_skipping) {
            true => Read::TooLong,
            false if self.line.is_empty() => Read::End,
            false => Read::Line,
        }
    }

    /// The message of the line that was read, or the error to answer it with; `None` for a blank
    /// line.
    fn message(&mut self) -> Option<Result<ClientJsonRpcMessage, ServerJsonRpcMessage>> {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii();
        if text.is_empty() {
            return None;
        }
        Some(serde_json::from_slice(text).map_err(|_| unreadable(text)))
    }

    /// Whether the message may be passed on.
    fn counts(&mut self, message: &ClientJsonRpcMessage) -> bool {
        let JsonRpcMessage::Request(request) = message else { return self.has_begun };
        self.has_begun = self.has_begun || opens(&request.request, &self.versions);
        true
    }
}

/// Whether the request opens a connection: a handshake does, and so does a request that says what a
/// handshake would say. A ping and a discovery are answered before.
fn opens(request: &ClientRequest, versions: &[ProtocolVersion]) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let is_complete = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
            is_complete && meta.protocol_version().is_some_and(|it| versions.contains(&it))
        }
    }
}

/// The error for a line or a body that is no message, with the id that it has, so that a client
/// which waits for an answer gets one.
pub(super) fn unreadable(line: &[u8]) -> ServerJsonRpcMessage {
    let read = serde_json::from_slice::<Value>(line);
    let id = read.as_ref().ok().and_then(|it| serde_json::from_value(it.get("id")?.clone()).ok());
    let error = match read {
        Ok(Value::Array(_)) => ErrorData::invalid_request("send one message at a time, not a batch", None),
        Ok(_) => ErrorData::invalid_request("this is no JSON-RPC message", None),
        Err(_) => ErrorData::parse_error("this is no JSON in UTF-8", None),
    };
    JsonRpcMessage::error(error, id)
}

async fn write<W: AsyncWrite + Unpin>(
    writer: Arc<Mutex<W>>,
    message: ServerJsonRpcMessage,
) -> Result<(), std::io::Error> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), std::io::Error>> + Send + 'static {
        write(self.writer.clone(), message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let error = match self.read_line().await {
                Read::Line => match self.message() {
                    Some(Ok(message)) if self.counts(&message) => return Some(message),
                    Some(Ok(_)) | None => continue,
                    Some(Err(error)) => error,
                },
                Read::TooLong => {
                    let most = LONGEST_LINE >> 20;
                    let error = ErrorData::invalid_request(format!("a message has at most {most} MiB"), None);
                    JsonRpcMessage::error(error, None)
                }
                Read::End => {
                    // Calls that wait are answered at once, while their answers can be written.
                    self.app.hub.close();
                    return None;
                }
            };
            // A task of its own: this future may be dropped halfway through a line.
            let told = tokio::spawn(write(self.writer.clone(), error));
            told.await.ok()?.ok()?;
        }
    }

    async fn close(&mut self) -> Result<(), std::io::Error> {
        self.writer.lock().await.flush().await
    }
}
