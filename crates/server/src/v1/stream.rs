//! An answer as server-sent events, in whichever format: the talk while it happens, the answer as
//! it is written, and never silence.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures::{Stream, stream};
use quorum::{
    Discussion, Registry,
    model::{client::Thinking, id::DiscussionId, state::State},
};
use tokio::time::{Instant, timeout_at};

use crate::{
    app::{App, StreamSlot},
    live::listener::{Heard, Listener},
    v1::{
        answer::{Answer, DISCUSSION, answer},
        attendance::Client,
        cut::Cut,
        fault::Fault,
        told::{Said, Teller},
    },
};

/// How long a stream is silent at most.
const SILENCE: Duration = Duration::from_secs(10);

/// Renders a stream in one format.
pub(crate) trait Format: Send + 'static {
    /// The first events, before anything has happened.
    fn open(&mut self) -> Vec<Bytes>;
    /// Some of the talk.
    fn talk(&mut self, text: &str) -> Vec<Bytes>;
    /// Some of the answer.
    fn answer(&mut self, text: &str) -> Vec<Bytes>;
    /// A fact, for formats that tell more than the talk.
    fn heard(&mut self, _heard: &Heard, _state: &State) -> Vec<Bytes> {
        Vec::new()
    }
    /// A sign of life.
    fn alive(&mut self) -> Bytes;
    /// The end of a stream whose answer was told.
    fn end(&mut self, answer: &Answer, state: &State) -> Vec<Bytes>;
    /// The end of a stream that failed, with what is known of the discussion.
    fn fail(&mut self, fault: &Fault, state: Option<&State>) -> Vec<Bytes>;
}

/// A stream under way.
struct Live<F> {
    format: F,
    listener: Listener,
    teller: Teller,
    registry: Registry,
    cut: Option<Cut>,
    /// The answer as the client has it.
    told: String,
    /// Whether the line before it was told.
    is_opened: bool,
    waiting: VecDeque<Bytes>,
    silent_until: Instant,
    is_over: bool,
    /// Whether the client got all there is. Otherwise its repetition finds the same discussion.
    is_served: bool,
    /// Leaves when the stream ends or its client does.
    reader: Reader,
    _slot: StreamSlot,
}

/// The client of a stream.
pub(crate) enum Reader {
    /// The discussion runs for it.
    Attending(Client),
    /// It only looks on, and the discussion doesn't wait for it.
    LookingOn(Discussion),
}

impl From<Client> for Reader {
    fn from(client: Client) -> Self {
        Reader::Attending(client)
    }
}

impl Reader {
    fn discussion(&self) -> &Discussion {
        match self {
            Reader::Attending(client) => client.discussion(),
            Reader::LookingOn(discussion) => discussion,
        }
    }

    /// Notes that it got its answer.
    fn served(&mut self) {
        if let Reader::Attending(client) = self {
            client.served();
        }
    }
}

/// The response that streams the discussion of this client.
pub(crate) async fn streamed<F: Format>(
    app: &App,
    reader: impl Into<Reader>,
    slot: StreamSlot,
    thinking: Thinking,
    mut format: F,
) -> Result<Response, Fault> {
    let reader = reader.into();
    let id = reader.discussion().id();
    let listener = app.hub.hear(reader.discussion()).await?;
    let registry = app.registry().clone();
    let live = Live {
        waiting: format.open().into(),
        format,
        listener,
        teller: Teller::new(id, registry.clone(), thinking),
        registry,
        cut: None,
        told: String::new(),
        is_opened: false,
        silent_until: Instant::now() + SILENCE,
        is_over: false,
        is_served: false,
        reader,
        _slot: slot,
    };
    let mut response = Body::from_stream(frames(live)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    name_discussion(&mut response, id);
    Ok(response)
}

/// Adds the header with the discussion's id.
pub(crate) fn name_discussion(response: &mut Response, id: DiscussionId) {
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(DISCUSSION, value);
    }
}

fn frames<F: Format>(live: Live<F>) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
    stream::unfold(live, |mut live| async move { live.next().await.map(|frame| (Ok(frame), live)) })
}

impl<F: Format> Live<F> {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                self.silent_until = Instant::now() + SILENCE;
                return Some(frame);
            }
            if self.is_over {
                if self.is_served {
                    self.reader.served();
                }
                return None;
            }
            match timeout_at(self.silent_until, self.listener.next()).await {
                Err(_) => self.waiting.push_back(self.format.alive()),
                Ok(Some(heard)) => self.hear(&heard),
                Ok(None) => {
                    let message = "the server is closing; repeat the request to go on";
                    self.fail(&Fault::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message));
                }
            }
        }
    }

    fn hear(&mut self, heard: &Heard) {
        let said = self.teller.hear(heard);
        if let Some(state) = self.teller.state() {
            self.waiting.extend(self.format.heard(heard, state));
        }
        for said in said {
            match said {
                Said::Talk(text) => self.waiting.extend(self.format.talk(&text)),
                Said::Opening(line) => {
                    self.is_opened = true;
                    self.pass(&line);
                }
                Said::Answer(text) => self.answer(&text),
                Said::Over => self.over(),
            }
        }
    }

    fn answer(&mut self, text: &str) {
        let order = self.teller.state().and_then(|it| it.spec.client.as_ref());
        let passed = self.cut.get_or_insert_with(|| Cut::of(order)).push(text);
        self.told.push_str(&passed);
        self.pass(&passed);
    }

    fn pass(&mut self, text: &str) {
        if !text.is_empty() {
            self.waiting.extend(self.format.answer(text));
        }
    }

    /// Tells what is left of the answer. If it turned out to be another one than was told, the
    /// stream ends with an error, and its repetition gets the recorded answer.
    fn over(&mut self) {
        (self.is_over, self.is_served) = (true, true);
        let Some(state) = self.teller.state().cloned() else { return };
        let answer = match answer(&state, &self.registry) {
            Ok(answer) => answer,
            Err(fault) => return self.fail(&fault),
        };
        // What shows only at the end is not put before an answer that was begun.
        let rest = if self.told.is_empty() && !self.is_opened {
            Some(answer.content())
        } else {
            answer.text.strip_prefix(self.told.as_str()).map(str::to_owned)
        };
        match rest {
            Some(rest) => {
                self.pass(&rest);
                self.waiting.extend(self.format.end(&answer, &state));
            }
            None => {
                self.is_served = false;
                let message = "the answer was written anew after a part of it was sent; repeat the request";
                self.fail(&Fault::new(StatusCode::SERVICE_UNAVAILABLE, "answer_rewritten", message));
            }
        }
    }

    fn fail(&mut self, fault: &Fault) {
        self.is_over = true;
        self.waiting.extend(self.format.fail(fault, self.teller.state()));
    }
}

/// One event with this data.
pub(crate) fn data(value: &serde_json::Value) -> Bytes {
    format!("data: {value}\n\n").into()
}

/// The same with a name.
pub(crate) fn named(name: &str, value: &serde_json::Value) -> Bytes {
    format!("event: {name}\ndata: {value}\n\n").into()
}
