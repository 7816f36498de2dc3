//! One streamed answer: sends the request, checks the response and reads it frame by frame, with
//! timeouts and a size limit.

use std::{
    collections::VecDeque,
    mem,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::{Duration, SystemTime},
};

use futures::{FutureExt, Stream, future::BoxFuture};
use jiff::Timestamp;
use quorum_core::{
    call::timer::Timer,
    model::error::{ErrorClass, ProviderError},
    seams::Chunk,
};
use reqwest::{
    RequestBuilder, Response,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    clean::cleaned,
    fenced::Filter,
    http::Remote,
    source::Endpoint,
    wire::{Decoder, Frames, Framing, Refused},
};

/// The largest answer in bytes, including the framing.
const MAX_ANSWER: usize = 64 << 20;

/// The most characters of a model's name.
const LONGEST_MODEL_NAME: usize = 128;

/// The most bytes read of an error response.
const MAX_ERROR_BODY: usize = 64 << 10;

/// Timeout for the body of an error response. The status says the most, and the step's time is
/// short.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a response may take to close after its end, so that its connection can be reused.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(50);

/// The same while its token count is missing: some servers send it after the end.
const USAGE_TIMEOUT: Duration = Duration::from_millis(200);

/// Ends a line and an event, for servers that omit this at the end of a response.
const TERMINATORS: &[u8] = b"\n\n";

/// The stream of one answer. It is polled for every piece, so nothing large is built or moved
/// between two pieces.
pub(super) struct AnswerStream(Stage);

enum Stage {
    /// The request is on its way.
    Sending(BoxFuture<'static, Result<Open, ProviderError>>),
    /// The response is being read.
    Open(Box<Open>),
    /// The answer is complete, and the rest of the response is being read.
    Closing(BoxFuture<'static, Chunk>),
    /// The stream has ended.
    Over,
}

impl AnswerStream {
    pub(super) fn of(unsent: Unsent) -> Self {
        AnswerStream(Stage::Sending(send(unsent).boxed()))
    }

    fn advance(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Chunk>, ProviderError>> {
        loop {
            self.0 = match &mut self.0 {
                Stage::Sending(sending) => Stage::Open(Box::new(ready!(sending.poll_unpin(context))?)),
                Stage::Open(open) => match ready!(open.poll_next(context))? {
                    Some(end @ Chunk::End { .. }) => match mem::replace(&mut self.0, Stage::Over) {
                        Stage::Open(open) => Stage::Closing(open.close(end).boxed()),
                        other => other,
                    },
                    Some(chunk) => return Poll::Ready(Ok(Some(chunk))),
                    // The stream stopped without an end; the engine reports that.
                    None => Stage::Over,
                },
                Stage::Closing(closing) => {
                    let end = ready!(closing.poll_unpin(context));
                    self.0 = Stage::Over;
                    return Poll::Ready(Ok(Some(end)));
                }
                Stage::Over => return Poll::Ready(Ok(None)),
            };
        }
    }
}

impl Stream for AnswerStream {
    type Item = Result<Chunk, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.advance(context));
        if next.is_err() {
            self.0 = Stage::Over;
        }
        Poll::Ready(next.transpose())
    }
}

/// A call that has not been sent yet.
pub(super) struct Unsent {
    pub(super) remote: Remote,
    pub(super) request: Result<RequestBuilder, ProviderError>,
    /// Set where the model can request a sub-discussion only in its text.
    pub(super) filter: Option<Filter>,
}

/// A response that is being read.
pub(super) struct Open {
    remote: Remote,
    response: Response,
    frames: Frames,
    decoder: Box<dyn Decoder>,
    /// Chunks that were read and not yet passed on.
    ready: VecDeque<Chunk>,
    filter: Option<Filter>,
    /// Whether the name of the answering model was passed on.
    has_named: bool,
    /// The error to return after the ready chunks.
    failed: Option<ProviderError>,
    has_spoken: bool,
    has_ended: bool,
    /// The wait for more output.
    silence: Timer,
    bytes: usize,
}

async fn send(unsent: Unsent) -> Result<Open, ProviderError> {
    let Unsent { remote, request, filter } = unsent;
    let request = request?;
    let deadline = Instant::now() + Duration::from_millis(remote.timeouts.first_ms);
    let sent = timeout_at(deadline, request.send()).await.map_err(|_| no_data(&remote))?;
    let response = sent.map_err(|error| remote.client_error(error))?;
    if response.status() != reqwest::StatusCode::OK {
        return Err(refused(&remote, response).await);
    }
    let response = checked(&remote, response).await?;
    let wire = remote.endpoint.wire;
    Ok(Open {
        frames: Frames::new(wire.framing),
        decoder: (wire.decoder)(&remote.model.quirks),
        ready: VecDeque::new(),
        filter,
        has_named: false,
        failed: None,
        has_spoken: false,
        has_ended: false,
        silence: Timer::until(deadline),
        bytes: 0,
        remote,
        response,
    })
}

impl Open {
    /// The next chunk; `None` at the end of the response.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Chunk>, ProviderError>> {
        loop {
            if let Some(model) = self.decoder.model().filter(|_| !self.has_named) {
                self.has_named = true;
                return Poll::Ready(Ok(Some(Chunk::AnsweredBy(model_name(model)))));
            }
            if let Some(chunk) = self.ready.pop_front() {
                match self.filtered(chunk) {
                    Some(chunk) => return Poll::Ready(Ok(Some(chunk))),
                    None => continue,
                }
            }
            if let Some(error) = self.failed.take() {
                return Poll::Ready(Err(error));
            }
            // Nothing is lost when this future is dropped before it is ready.
            let read = pin!(self.response.chunk()).poll(context);
            match read.map_err(|error| self.remote.client_error(error))? {
                Poll::Ready(Some(bytes)) => self.feed(&bytes),
                Poll::Ready(None) if self.finish() => return Poll::Ready(Ok(None)),
                Poll::Ready(None) => {}
                Poll::Pending => {
                    ready!(self.silence.poll(context));
                    return Poll::Ready(Err(self.timed_out()));
                }
            }
        }
    }

    /// Handles the end of the response, once; returns `true` if nothing is left. The last line may
    /// lack its terminator. An unreadable rest was cut off, so it is not an invalid response.
    fn finish(&mut self) -> bool {
        if std::mem::replace(&mut self.has_ended, true) {
            return true;
        }
        self.feed(TERMINATORS);
        self.failed = self.failed.take().filter(|it| it.class != ErrorClass::InvalidResponse);
        self.ready.is_empty() && self.failed.is_none()
    }

    /// The chunk without a sub-discussion request in its text. The held-back text and the request
    /// are emitted before the end.
    fn filtered(&mut self, chunk: Chunk) -> Option<Chunk> {
        match (&mut self.filter, chunk) {
            (Some(filter), Chunk::Text(text)) => {
                Some(filter.feed(&text)).filter(|it| !it.is_empty()).map(Chunk::Text)
            }
            (filter @ Some(_), end @ Chunk::End { .. }) => {
                let (rest, topic) = filter.take()?.end();
                self.ready.push_front(end);
                topic.into_iter().for_each(|topic| self.ready.push_front(Chunk::Convene { topic }));
                Some(rest).filter(|it| !it.is_empty()).map(Chunk::Text)
            }
            (_, chunk) => Some(chunk),
        }
    }

    /// Feeds bytes to the decoder. Chunks that were read before an error are passed on before it.
    fn feed(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let (decoder, ready) = (&mut self.decoder, &mut self.ready);
        let mut is_alive = false;
        let read = self.frames.feed(bytes, |frame| {
            is_alive = true;
            decoder.read_frame(frame, ready)
        });
        self.has_spoken |= !self.ready.is_empty();
        if is_alive && self.has_spoken {
            let idle = Duration::from_millis(self.remote.timeouts.idle_ms);
            self.silence.move_to(Instant::now() + idle);
        }
        let is_over = || self.ready.iter().any(|it| matches!(it, Chunk::End { .. }));
        let too_long = || self.bytes > MAX_ANSWER && !is_over();
        self.failed = match read {
            Err(error) => Some(self.remote.without_key(error)),
            Ok(()) if too_long() => {
                let message = format!("the answer is larger than {} MiB", MAX_ANSWER >> 20);
                Some(ProviderError::new(ErrorClass::InvalidResponse, message))
            }
            Ok(()) => None,
        };
    }

    /// Reads to the end of the response, so that the connection can be reused; one that does not
    /// end in time is closed. Returns the end chunk, with the token count if that came after it.
    async fn close(mut self: Box<Self>, end: Chunk) -> Chunk {
        let is_counted = matches!(&end, Chunk::End { usage: Some(_), .. });
        let wait = if is_counted { CLOSE_TIMEOUT } else { USAGE_TIMEOUT };
        // A timeout is ignored: the answer is complete.
        let _ = timeout(wait, self.read_out()).await;
        self.ready.drain(..).rfind(|it| matches!(it, Chunk::End { .. })).unwrap_or(end)
    }

    async fn read_out(&mut self) {
        let mut left = MAX_ERROR_BODY;
        while let (1.., Ok(Some(bytes))) = (left, self.response.chunk().await) {
            left = left.saturating_sub(bytes.len());
            self.feed(&bytes);
        }
    }

    fn timed_out(&self) -> ProviderError {
        if self.has_spoken { no_more_data(self.remote.timeouts.idle_ms) } else { no_data(&self.remote) }
    }
}

/// A model's name, cleaned and shortened: a server may send anything.
pub(crate) fn model_name(named: &str) -> String {
    cleaned(named).chars().take(LONGEST_MODEL_NAME).collect()
}

fn no_data(remote: &Remote) -> ProviderError {
    ProviderError::new(ErrorClass::Timeout, format!("no data for {} ms", remote.timeouts.first_ms))
}

fn no_more_data(idle_ms: u64) -> ProviderError {
    ProviderError::new(ErrorClass::Timeout, format!("no more data for {idle_ms} ms"))
}

/// Checks that the response is a stream; otherwise reads the error from it.
async fn checked(remote: &Remote, response: Response) -> Result<Response, ProviderError> {
    let encoding =
        response.headers().get(CONTENT_ENCODING).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let encoding = encoding.to_owned();
    let media_type = media_type(&response);
    let wrong = |message: String| Err(ProviderError::new(ErrorClass::InvalidResponse, message));
    if !encoding.is_empty() && encoding != "identity" {
        let advice = "turn off compression in the proxy or gateway in between";
        return wrong(format!("the response is compressed ({encoding}), which was not requested; {advice}"));
    }
    if let Some(error) = web_page(&response) {
        return Err(error);
    }
    let is_stream = matches!(media_type.as_str(), "" | "text/event-stream" | "application/x-ndjson")
        || (remote.endpoint.wire.framing == Framing::Lines && media_type == "application/json");
    match media_type.as_str() {
        _ if is_stream => Ok(response),
        "application/json" => Err(refused(remote, response).await),
        _ => wrong(format!("it answered with {media_type}, which is not a stream")),
    }
}

/// The media type of a response: `text/event-stream`.
fn media_type(response: &Response) -> String {
    let media_type = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    media_type.split(';').next().unwrap_or_default().trim().to_lowercase()
}

/// The error for a web page, which no provider responds with.
pub(crate) fn web_page(response: &Response) -> Option<ProviderError> {
    let is_page = response.status() == reqwest::StatusCode::OK && media_type(response) == "text/html";
    let message = "it answered with a web page; is base_url right, or is a login needed?";
    is_page.then(|| ProviderError::new(ErrorClass::InvalidResponse, message))
}

/// The error for a response that is not a stream.
pub(crate) async fn refused(remote: &Remote, response: Response) -> ProviderError {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    let mut body = Vec::new();
    // Whatever arrived in time is used.
    let _ = timeout(ERROR_BODY_TIMEOUT, read_into(&mut body, response, MAX_ERROR_BODY)).await;
    let body = String::from_utf8_lossy(&body);
    let now = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH);
    let refused = Refused { status, header: &header, body: &body, now };
    let error = (remote.endpoint.wire.refusal)(&refused);
    tracing::debug!(status, class = error.class.name(), "refused");
    if let Some(told) = error.retry_after_ms {
        remote.lane.close_for(Duration::from_millis(told));
    }
    remote.without_key(with_advice(error, &remote.endpoint))
}

/// Adds to an authentication error that no key was sent.
fn with_advice(mut error: ProviderError, endpoint: &Endpoint) -> ProviderError {
    if error.class == ErrorClass::Authentication && endpoint.key.is_none() {
        let names = endpoint.key_names.join(" or ");
        error.message = format!("{}; no key was sent, and {names} is not set", error.message);
    }
    error
}

/// The beginning of a body. The caller sets the timeout.
pub(crate) async fn read_some(response: Response, most: usize) -> String {
    let mut body = Vec::new();
    read_into(&mut body, response, most).await;
    String::from_utf8_lossy(&body).into_owned()
}

async fn read_into(body: &mut Vec<u8>, mut response: Response, most: usize) {
    while let Ok(Some(bytes)) = response.chunk().await {
        let room = most - body.len();
        body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if body.len() == most {
            break;
        }
    }
}
