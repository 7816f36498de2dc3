//! One answer as it comes in: sent, opened, read frame by frame, under three deadlines and a cap.

use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use quorum_core::{
    model::error::{ErrorClass, ProviderError},
    seams::Chunk,
};
use reqwest::{
    RequestBuilder, Response,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    fenced::Filter,
    http::Remote,
    source::Endpoint,
    wire::{Decoder, Frames, Framing, Refused},
};

/// No honest answer is longer, with everything around its words.
const LONGEST_ANSWER: usize = 64 << 20;

/// As much of a refusal as is read.
const LONGEST_REFUSAL: usize = 64 << 10;

/// How long the rest of a refusal is waited for. Its status has told the most, and the step's time is short.
const REFUSAL: Duration = Duration::from_secs(1);

/// How long after its end an answer may take to close, so that its connection can be used again.
const CLOSING: Duration = Duration::from_millis(50);

/// The same where its count of tokens has not come yet: some servers send it after the end.
const COUNTING: Duration = Duration::from_millis(200);

/// What ends every line and every event, for servers that leave it out at the end of an answer.
const LAST_ENDS: &[u8] = b"\n\n";

/// How far a call has come.
pub(super) enum Stage {
    /// Not sent.
    Unsent(Box<Unsent>),
    /// Being answered.
    Open(Box<Open>),
    /// Over.
    Over,
}

/// A call that is about to be sent.
pub(super) struct Unsent {
    pub(super) remote: Remote,
    pub(super) request: Result<RequestBuilder, ProviderError>,
    /// Where the model can ask for a sub-discussion in its text alone.
    pub(super) filter: Option<Filter>,
}

/// An answer under way.
pub(super) struct Open {
    remote: Remote,
    response: Response,
    frames: Frames,
    decoder: Box<dyn Decoder>,
    /// What was read and not yet passed on.
    ready: VecDeque<Chunk>,
    filter: Option<Filter>,
    /// What is to be said after that.
    failed: Option<ProviderError>,
    has_spoken: bool,
    has_ended: bool,
    /// Until when something must have come.
    patient_until: Instant,
    bytes: usize,
}

/// The next piece of the answer, and where it stands then.
pub(super) async fn next(mut stage: Stage) -> Result<Option<(Chunk, Stage)>, ProviderError> {
    loop {
        stage = match stage {
            Stage::Unsent(unsent) => Stage::Open(Box::new(send(*unsent).await?)),
            Stage::Open(mut open) => match open.next().await? {
                Some(end @ Chunk::End { .. }) => {
                    let end = open.close(end).await;
                    return Ok(Some((end, Stage::Over)));
                }
                Some(chunk) => return Ok(Some((chunk, Stage::Open(open)))),
                // It stopped without its end; the engine says so.
                None => Stage::Over,
            },
            Stage::Over => return Ok(None),
        }
    }
}

async fn send(unsent: Unsent) -> Result<Open, ProviderError> {
    let Unsent { remote, request, filter } = unsent;
    let request = request?;
    let patient_until = Instant::now() + Duration::from_millis(remote.patience.first_ms);
    let sent = timeout_at(patient_until, request.send()).await.map_err(|_| silent(&remote, "nothing"))?;
    let response = sent.map_err(|error| remote.trouble(error))?;
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
        failed: None,
        has_spoken: false,
        has_ended: false,
        patient_until,
        bytes: 0,
        remote,
        response,
    })
}

impl Open {
    async fn next(&mut self) -> Result<Option<Chunk>, ProviderError> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                match self.filtered(chunk) {
                    Some(chunk) => return Ok(Some(chunk)),
                    None => continue,
                }
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            let read = timeout_at(self.patient_until, self.response.chunk()).await;
            let read = read.map_err(|_| silent(&self.remote, self.what_was_heard()))?;
            match read.map_err(|error| self.remote.trouble(error))? {
                Some(bytes) => self.take(&bytes),
                None if self.is_drained() => return Ok(None),
                None => {}
            }
        }
    }

    /// Takes in what came last, once; `true` when there is nothing more. The last line may be one that nothing ends. What can't be
    /// read is the rest of something that broke off, and no nonsense.
    fn is_drained(&mut self) -> bool {
        if std::mem::replace(&mut self.has_ended, true) {
            return true;
        }
        self.take(LAST_ENDS);
        self.failed = self.failed.take().filter(|it| it.class != ErrorClass::InvalidResponse);
        self.ready.is_empty() && self.failed.is_none()
    }

    /// The chunk without a request in its text; at the end, what was held back and what was asked for come before it.
    fn filtered(&mut self, chunk: Chunk) -> Option<Chunk> {
        match (&mut self.filter, chunk) {
            (Some(filter), Chunk::Text(text)) => {
                Some(filter.take(&text)).filter(|it| !it.is_empty()).map(Chunk::Text)
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

    /// What was said before an error is passed on before it.
    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let (decoder, ready) = (&mut self.decoder, &mut self.ready);
        let mut is_alive = false;
        let read = self.frames.feed(bytes, |frame| {
            is_alive = true;
            decoder.take(frame, ready)
        });
        self.has_spoken |= !self.ready.is_empty();
        if is_alive && self.has_spoken {
            self.patient_until = Instant::now() + Duration::from_millis(self.remote.patience.idle_ms);
        }
        let is_over = || self.ready.iter().any(|it| matches!(it, Chunk::End { .. }));
        let too_long = || self.bytes > LONGEST_ANSWER && !is_over();
        self.failed = match read {
            Err(error) => Some(self.remote.without_key(error)),
            Ok(()) if too_long() => {
                let message = format!("the answer went on for more than {} MiB", LONGEST_ANSWER >> 20);
                Some(ProviderError::new(ErrorClass::InvalidResponse, message))
            }
            Ok(()) => None,
        };
    }

    /// Reads on to where the connection is free for the next request. Who does not close in time loses it. Returns the end, with
    /// the count of tokens where that came after it.
    async fn close(&mut self, end: Chunk) -> Chunk {
        let is_counted = matches!(&end, Chunk::End { usage: Some(_), .. });
        let patience = if is_counted { CLOSING } else { COUNTING };
        // Being too late is not worth a word: the answer is complete.
        let _ = timeout(patience, self.read_out()).await;
        self.ready.drain(..).rfind(|it| matches!(it, Chunk::End { .. })).unwrap_or(end)
    }

    async fn read_out(&mut self) {
        let mut left = LONGEST_REFUSAL;
        while let (1.., Ok(Some(bytes))) = (left, self.response.chunk().await) {
            left = left.saturating_sub(bytes.len());
            self.take(&bytes);
        }
    }

    fn what_was_heard(&self) -> &'static str {
        if self.has_spoken { "nothing more" } else { "nothing" }
    }
}

fn silent(remote: &Remote, what: &str) -> ProviderError {
    let ms = if what == "nothing" { remote.patience.first_ms } else { remote.patience.idle_ms };
    ProviderError::new(ErrorClass::Timeout, format!("{what} came for {ms} ms"))
}

/// An answer that is no stream says why, or is somebody else's.
async fn checked(remote: &Remote, response: Response) -> Result<Response, ProviderError> {
    let packed = response.headers().get(CONTENT_ENCODING).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let packed = packed.to_owned();
    let kind = kind(&response);
    let wrong = |message: String| Err(ProviderError::new(ErrorClass::InvalidResponse, message));
    if !packed.is_empty() && packed != "identity" {
        let advice = "switch compression off at whatever stands in between";
        return wrong(format!("the answer came packed ({packed}), which nobody asked for; {advice}"));
    }
    if let Some(error) = web_page(&response) {
        return Err(error);
    }
    let is_stream = matches!(kind.as_str(), "" | "text/event-stream" | "application/x-ndjson")
        || (remote.endpoint.wire.framing == Framing::Lines && kind == "application/json");
    match kind.as_str() {
        _ if is_stream => Ok(response),
        "application/json" => Err(refused(remote, response).await),
        _ => wrong(format!("it answered with {kind}, which is no stream of words")),
    }
}

/// What is said to be in an answer: `text/event-stream`.
fn kind(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_lowercase()
}

/// A page for people, with which no provider answers.
pub(crate) fn web_page(response: &Response) -> Option<ProviderError> {
    let is_page = response.status() == reqwest::StatusCode::OK && kind(response) == "text/html";
    let message = "it answered with a web page; is base_url right, or is a login needed?";
    is_page.then(|| ProviderError::new(ErrorClass::InvalidResponse, message))
}

/// What an answer other than a stream means.
pub(crate) async fn refused(remote: &Remote, response: Response) -> ProviderError {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    let mut body = Vec::new();
    // What came in time is enough to go by.
    let _ = timeout(REFUSAL, read_into(&mut body, response, LONGEST_REFUSAL)).await;
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

/// Who was shown no key may want one.
fn with_advice(mut error: ProviderError, endpoint: &Endpoint) -> ProviderError {
    if error.class == ErrorClass::Authentication && endpoint.key.is_none() {
        let names = endpoint.key_names.join(" or ");
        error.message = format!("{}; it was shown no key, and {names} is not set", error.message);
    }
    error
}

/// The beginning of a body. Whoever asks says how long that may take.
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
