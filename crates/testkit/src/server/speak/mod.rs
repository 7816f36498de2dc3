//! The vendors' formats: each is one file with a constant, and one line in [`SPEECHES`].

mod anthropic;
mod embeddings;
mod fields;
mod gemini;
mod ollama;
mod openai;
mod openai_chat;
mod openai_responses;
mod schema;

use serde_json::Value;

use super::{
    answer::{self, Said},
    fault::Fault,
    play::Play,
    prompt_cache::Prompt,
    request::{Asked, Request},
    script::{Kind, Script},
    stage,
};

/// All vendors. Where two share a path, the first one that recognises the request by its headers
/// gets it.
const SPEECHES: &[Speech] = &[
    anthropic::SPEECH,
    gemini::SPEECH,
    ollama::SPEECH,
    openai_responses::SPEECH,
    embeddings::SPEECH,
    openai_chat::SPEECH,
];

/// One vendor's format.
pub(super) struct Speech {
    /// Its name in recorded requests.
    pub(super) name: &'static str,
    /// The topic of a request, if it is for this vendor.
    recognise: fn(&Request) -> Option<Topic>,
    /// The request's key.
    key: fn(&Request) -> Option<&str>,
    /// Reads the request as strictly as the vendor does.
    read: fn(&Request) -> Result<Asked, Refusal>,
    /// The prompt as the vendor's cache sees it; `None` if the vendor has none, or doesn't report
    /// what it reads.
    prompt: fn(&Value) -> Option<Prompt>,
    /// The answer as a stream; the last frame is the end marker.
    stream: fn(&Asked, &Said) -> Vec<Frame>,
    content_type: &'static str,
    /// The answer without streaming.
    whole: fn(&Asked, &Said) -> String,
    /// The description of a model.
    model: fn(&str) -> String,
    /// The list of all models.
    models: fn(&[String]) -> String,
    /// Status and body of an error response.
    refuse: fn(&Refusal) -> (u16, String),
    /// An error in the middle of a stream.
    error: fn(&Refusal) -> String,
}

/// The topic of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Topic {
    /// A completion by this model.
    Answer(String),
    /// The description of this model.
    Model(String),
    /// The list of models.
    Models,
}

/// An error response, in the vendor's own words where it has some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) why: Why,
    /// The problem with the request, or the missing model.
    pub(super) message: String,
    /// The field in question.
    pub(super) field: Option<String>,
    /// The vendor's own code.
    pub(super) code: Option<&'static str>,
    /// How long to wait, if the body contains it.
    pub(super) retry_in_ms: Option<u64>,
}

/// The kinds of error responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Invalid,
    NoKey,
    WrongKey,
    EchoedKey,
    UnknownModel,
    TooLong,
    RateLimited,
    Status(u16),
}

impl Refusal {
    pub(super) fn of(why: Why) -> Self {
        Refusal { why, message: String::new(), field: None, code: None, retry_in_ms: None }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Refusal { message: message.into(), ..Refusal::of(Why::Invalid) }
    }

    fn at(self, field: &str) -> Self {
        Refusal { field: Some(field.to_owned()), ..self }
    }

    fn coded(self, code: &'static str) -> Self {
        Refusal { code: Some(code), ..self }
    }

    /// The delay as a sentence, for vendors that send one.
    fn delay(&self) -> String {
        let seconds = |ms: u64| format!(" Please try again in {}s.", ms as f64 / 1_000.0);
        self.retry_in_ms.map(seconds).unwrap_or_default()
    }
}

/// A part of a body that is sent together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) bytes: Vec<u8>,
    /// Whether it carries a piece of the text, before which a paced answer pauses.
    pub(super) is_piece: bool,
}

impl Frame {
    pub(super) fn other(text: String) -> Self {
        Frame { bytes: text.into_bytes(), is_piece: false }
    }

    fn piece(text: String) -> Self {
        Frame { bytes: text.into_bytes(), is_piece: true }
    }
}

/// A response in a vendor's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) is_chunked: bool,
    pub(super) frames: Vec<Frame>,
}

impl Answer {
    pub(super) fn whole(status: u16, content_type: &str, body: String) -> Self {
        let headers =
            vec![("content-type", content_type.to_owned()), ("content-length", body.len().to_string())];
        Answer { status, headers, is_chunked: false, frames: vec![Frame::piece(body)] }
    }

    pub(super) fn refused(speech: &Speech, refusal: &Refusal) -> Self {
        let (status, body) = (speech.refuse)(refusal);
        Answer::whole(status, JSON, body)
    }

    pub(super) fn with(mut self, header: Option<(&'static str, String)>) -> Self {
        self.headers.extend(header);
        self
    }

    fn stream(content_type: &str, frames: Vec<Frame>) -> Self {
        let headers = vec![
            ("content-type", content_type.to_owned()),
            ("cache-control", "no-cache".to_owned()),
            ("transfer-encoding", "chunked".to_owned()),
        ];
        Answer { status: 200, headers, is_chunked: true, frames }
    }
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";

/// The vendor and the topic of a request.
pub(super) fn recognised(request: &Request) -> Option<(&'static Speech, Topic)> {
    SPEECHES.iter().find_map(|speech| Some((speech, (speech.recognise)(request)?)))
}

/// The completion request, if it is one.
pub(super) fn asked(request: &Request) -> Option<Asked> {
    let (speech, Topic::Answer(_)) = recognised(request)? else { return None };
    (speech.read)(request).ok()
}

/// The model a request names.
pub(super) fn model_of(topic: &Topic) -> &str {
    match topic {
        Topic::Answer(model) | Topic::Model(model) => model,
        Topic::Models => "",
    }
}

/// The response to a request. `nth` counts requests of a kind.
pub(super) fn answer(script: &Script, request: &Request, nth: impl FnOnce(String) -> u64) -> Play {
    let Some((speech, topic)) = recognised(request) else {
        let nothing = Answer::whole(404, "text/plain; charset=utf-8", "404 page not found\n".to_owned());
        return stage::response_steps(nothing, None, None, 0);
    };
    let model = model_of(&topic);
    let (kind, counted_as) = match topic {
        Topic::Answer(_) => (Kind::Answer, model.to_owned()),
        Topic::Model(_) | Topic::Models => (Kind::Probe, format!("{model} is there")),
    };
    let fault = script.fault_of(model, kind, nth(counted_as));
    let pace = script.pace(model).filter(|_| kind == Kind::Answer);
    let key = (speech.key)(request);
    if let Some(instead) = fault.and_then(|fault| fault.instead(speech, key)) {
        return Play { is_spoilt: true, ..stage::response_steps(instead, None, None, 0) };
    }
    let made = admitted(script, key).and_then(|()| made(speech, script, request, &topic, fault));
    let answer = made.unwrap_or_else(|refusal| Answer::refused(speech, &refusal));
    stage::response_steps(answer, pace, fault, request.number)
}

fn admitted(script: &Script, key: Option<&str>) -> Result<(), Refusal> {
    match (script.wanted_key(), key) {
        (None, _) => Ok(()),
        (Some(wanted), Some(shown)) if wanted == shown => Ok(()),
        (Some(_), Some(_)) => Err(Refusal::of(Why::WrongKey)),
        (Some(_), None) => Err(Refusal::of(Why::NoKey)),
    }
}

fn made(
    speech: &Speech,
    script: &Script,
    request: &Request,
    topic: &Topic,
    fault: Option<&Fault>,
) -> Result<Answer, Refusal> {
    let unknown = |model: &str| Refusal { message: model.to_owned(), ..Refusal::of(Why::UnknownModel) };
    let is_known = |model: &str| script.known().is_none_or(|known| known.iter().any(|it| it == model));
    match topic {
        Topic::Models => {
            let known = script.known().ok_or(Refusal::of(Why::Status(404)))?;
            Ok(Answer::whole(200, JSON, (speech.models)(known)))
        }
        Topic::Model(model) if is_known(model) => Ok(Answer::whole(200, JSON, (speech.model)(model))),
        Topic::Answer(model) => {
            let asked = (speech.read)(request)?;
            if !is_known(model) {
                return Err(unknown(model));
            }
            Ok(spoken(speech, script, &asked, request, fault))
        }
        Topic::Model(model) => Err(unknown(model)),
    }
}

fn spoken(
    speech: &Speech,
    script: &Script,
    asked: &Asked,
    request: &Request,
    fault: Option<&Fault>,
) -> Answer {
    let mut said = answer::said(script, asked, request.number);
    let prompt = (speech.prompt)(&request.body);
    if let Some(cached) = prompt.and_then(|it| script.cached(&asked.model, &it)) {
        said.used.cached = cached.read.min(said.used.prompt);
        said.used.written = cached.written.min(said.used.prompt - said.used.cached);
    }
    if let Some(fault) = fault {
        fault.change_content(&mut said);
    }
    let trouble = Refusal::of(Why::Status(500));
    if !asked.is_streamed {
        return match fault {
            Some(Fault::ErrorEvent) => Answer::refused(speech, &trouble),
            _ => Answer::whole(200, JSON, (speech.whole)(asked, &said)),
        };
    }
    let mut frames = (speech.stream)(asked, &said);
    if fault == Some(&Fault::ErrorEvent) {
        frames.truncate(frames.len().div_ceil(2));
        frames.push(Frame::other((speech.error)(&trouble)));
    }
    Answer::stream(if asked.is_list { JSON } else { speech.content_type }, frames)
}

/// These fields of a request in this order, as seen by a cache that recognises common prefixes by
/// itself.
fn plain_prompt(body: &Value, fields: &[&str]) -> Option<Prompt> {
    let texts = fields.iter().filter_map(|name| body.pointer(name)).map(Value::to_string);
    Some(Prompt::Plain(texts.collect()))
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The model's name at the end of a path, after this prefix.
fn named_after(route: &str, words: &str) -> Option<String> {
    let (_, name) = route.rsplit_once(words)?;
    (!name.is_empty()).then(|| decoded(name))
}

/// Decodes a name, in which slashes and colons are escaped.
fn decoded(name: &str) -> String {
    let pairs = [("%2F", "/"), ("%2f", "/"), ("%3A", ":"), ("%3a", ":"), ("%40", "@")];
    pairs.iter().fold(name.to_owned(), |name, (escape, sign)| name.replace(escape, sign))
}

/// The model a body names, or an empty text.
fn named_in(body: &Value) -> String {
    body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned()
}
