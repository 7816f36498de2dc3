//! The vendors' wire formats. Each wire is a pure translation, without a socket, a key or a clock.
//!
//! A wire is one file with a constant and one line in [`WIRES`]. It turns a [`Call`] into a
//! request, reads the frames of the answer, and classifies error responses. Keys, connections,
//! timeouts and size limits are the business of `http`.

mod anthropic;
mod frames;
mod gemini;
mod lenient;
mod limit;
mod ollama;
mod openai;
mod openai_chat;
mod openai_responses;
mod refusal;
mod repeated;
mod strict_schema;
mod subschemas;
#[cfg(test)]
mod testing;
mod text;
mod think_filter;

use std::collections::VecDeque;

use quorum_core::{
    call::{Call, Effort, MessageRole},
    model::error::ProviderError,
    seams::Chunk,
};
use serde_json::Value;

pub(crate) use frames::Frames;
pub use frames::{Frame, Framing};
pub use refusal::{Refused, retry_after_ms};

/// All wires.
pub const WIRES: &[Wire] =
    &[anthropic::WIRE, gemini::WIRE, ollama::WIRE, openai_chat::WIRE, openai_responses::WIRE];

/// The wire of that name.
#[must_use]
pub fn wire(name: &str) -> Option<&'static Wire> {
    WIRES.iter().find(|wire| wire.name == name)
}

/// One vendor's wire format.
#[derive(Debug)]
pub struct Wire {
    /// Its name in the configuration.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// How the key is sent.
    pub auth: Auth,
    /// Headers that every request carries.
    pub headers: &'static [(&'static str, &'static str)],
    /// How the answer is cut into frames.
    pub framing: Framing,
    /// The request for this call.
    pub encode: fn(&Call, &Model) -> Outgoing,
    /// Reads one answer, from its first frame on.
    pub decoder: fn(&Quirks) -> Box<dyn Decoder>,
    /// Classifies a response other than 200.
    pub refusal: fn(&Refused<'_>) -> ProviderError,
    /// The request that checks for free whether the model is available.
    pub probe: fn(&Model) -> Probe,
    /// The highest temperature it accepts; a higher one is lowered to it.
    pub hottest: f64,
    /// How embeddings are requested, if the vendor offers them.
    pub embedding: Option<Embedding>,
    /// How a server on the user's own machine lists its models.
    pub listing: Option<Listing>,
}

/// How a server lists its models.
#[derive(Debug, Clone, Copy)]
pub struct Listing {
    /// Where the list is, under the base address.
    pub path: &'static str,
    /// The names in it, each model once.
    pub read: fn(&Value) -> Vec<String>,
}

/// How embeddings are requested and read.
#[derive(Debug, Clone, Copy)]
pub struct Embedding {
    /// The request for the vectors of these texts.
    pub encode: fn(&Model, &[String]) -> Outgoing,
    /// The vectors in the answer, in the order of the texts, and how many tokens were read.
    pub decode: fn(&str) -> Option<Vectors>,
}

/// Vectors as a vendor sends them.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// One vector per text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens read, if the vendor reports them.
    pub tokens: Option<u64>,
}

/// How a key is sent: in a header, never in a URL, since URLs end up in logs and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Auth {
    /// The header.
    pub header: &'static str,
    /// The text before the key.
    pub prefix: &'static str,
}

/// The properties of a model that a wire needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its name at the vendor.
    pub name: String,
    /// Where it differs from what its wire usually takes.
    pub quirks: Quirks,
    /// Its context window in tokens; one wire has to request the window it needs.
    pub window: u64,
}

/// Where a model differs from what its wire usually takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// Whether it accepts system instructions separately; if not, they precede the first message.
    pub system: bool,
    /// Whether it accepts a temperature.
    pub temperature: bool,
    /// Whether it accepts stop sequences. They are enforced on the answer in any case.
    pub stop: bool,
    /// Whether it accepts tools.
    pub tools: bool,
    /// How it can be held to a form.
    pub schema: Schema,
    /// The name of the limit for an answer's length.
    pub limit: Limit,
    /// Whether it accepts the option to report usage in a stream; Mistral rejects the option and
    /// reports usage anyway.
    pub stream_options: bool,
    /// How many tokens it may spend on thinking. Vendors count them as part of the answer, so they
    /// are added to its limit.
    pub thinking: u32,
    /// Whether its answers may begin with thoughts that lack an opening tag, because that tag is
    /// part of its template. Text is held back until the closing tag or the end, so an answer
    /// without thoughts appears only when it is complete.
    pub unopened_thoughts: bool,
    /// Whether it takes a parameter for how much to think.
    pub effort: bool,
    /// The smallest beginning of a request, in tokens, that it caches if the request marks its end;
    /// 0 if it takes no marks. Most vendors find repeated beginnings by themselves.
    pub cache_marks: u32,
}

impl Default for Quirks {
    fn default() -> Self {
        let (schema, limit) = (Schema::default(), Limit::default());
        Quirks {
            system: true,
            temperature: true,
            stop: true,
            tools: true,
            schema,
            limit,
            stream_options: true,
            thinking: 0,
            unopened_thoughts: false,
            effort: false,
            cache_marks: 0,
        }
    }
}

/// How a model can be held to a form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schema {
    /// By a JSON schema, in the vendor's own format.
    #[default]
    Strict,
    /// To JSON without a schema.
    Json,
    /// Only by instructions in the prompt.
    Prompt,
}

/// The name of the limit for an answer's length, on wires that have had two names for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// `max_tokens`, which most compatible servers accept.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer OpenAI models require.
    MaxCompletionTokens,
}

/// A request without its base URL and its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The path after the base URL: `/chat/completions`.
    pub path: String,
    /// The JSON body.
    pub body: Value,
}

/// A free request that checks whether a model is available.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// The path after the base URL.
    pub path: String,
    /// The body of a POST; `None` for a GET.
    pub body: Option<Value>,
    /// How the response shows whether the model is available.
    pub shows: Shows,
}

/// How the response to a probe shows whether the model is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// By its status: 200 means yes, 404 no.
    ByStatus,
    /// By its list of all models, as `data[].id`; a 404 proves nothing, since not every server has
    /// such a list.
    ByList,
}

/// Reads the frames of one answer.
pub trait Decoder: Send {
    /// Reads a frame and adds its chunks to `out`. [`Chunk::End`] is added only at the vendor's own
    /// end marker: an answer that stops without it is incomplete. Frames of unknown kinds are
    /// ignored; an unreadable frame is an `InvalidResponse`, and an error inside a stream keeps its
    /// own class. After the end, only a frame that reports usage counts: the end is then added once
    /// more, with that usage.
    fn read_frame(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError>;

    /// The model that answers, as the frames so far name it; `None` if they don't.
    fn model(&self) -> Option<&str>;
}

/// The messages of a call as every vendor expects them: alternating between user and model, the
/// user first.
#[must_use]
pub fn turns(call: &Call) -> Vec<(MessageRole, String)> {
    blocks(call).into_iter().map(|(voiced, texts)| (voiced, joined(texts))).collect()
}

fn joined(mut texts: Vec<String>) -> String {
    match texts.len() {
        1 => texts.remove(0),
        _ => texts.concat(),
    }
}

/// The same messages, each as the texts it is made of. A text has the same bytes in every request
/// that begins with the same turns, whatever follows it.
fn blocks(call: &Call) -> Vec<(MessageRole, Vec<String>)> {
    let mut messages: Vec<(MessageRole, Vec<String>)> = Vec::new();
    for (voiced, text) in call.render() {
        match messages.last_mut() {
            Some((last, texts)) if *last == voiced => texts.push(format!("\n\n{text}")),
            Some(_) => messages.push((voiced, vec![text])),
            None if voiced == MessageRole::Assistant => {
                messages.push((MessageRole::User, vec![OPENING.to_owned()]));
                messages.push((voiced, vec![text]));
            }
            None => messages.push((voiced, vec![text])),
        }
    }
    messages
}

/// A message as most vendors take it. The text is moved into it; `json!` would copy it. For the
/// same reason a body gets its list of messages only after `json!` has set their place in it.
fn message(role: &str, text: String) -> Value {
    let fields = [("role", Value::from(role)), ("content", Value::String(text))];
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// The vendors' name for the effort that a call wants; `None` if the model is to decide, or can't
/// be told.
fn effort(call: &Call, model: &Model) -> Option<&'static str> {
    match call.effort {
        _ if !model.quirks.effort => None,
        Effort::Low => Some("low"),
        Effort::ModelDefault => None,
        Effort::High => Some("high"),
    }
}

/// The system instructions, if the model accepts them separately, and the messages; otherwise the
/// instructions precede the first message.
#[must_use]
pub fn system_and_turns(call: &Call, model: &Model) -> (Option<String>, Vec<(MessageRole, String)>) {
    let (system, mut turns) = (call.system.trim(), turns(call));
    match turns.first_mut() {
        _ if system.is_empty() => (None, turns),
        Some((_, first)) if !model.quirks.system => {
            first.insert_str(0, &format!("{}\n\n", call.system));
            (None, turns)
        }
        Some(_) | None => (Some(call.system.to_string()), turns),
    }
}

/// Precedes the model's own first message, since no vendor lets a model begin.
const OPENING: &str = "The discussion so far:";

/// The tool by which a model requests a sub-discussion, if a call allows it.
pub const DISCUSS: &str = "discuss";

/// What the tool is for, as the model reads it.
pub const DISCUSS_SUMMARY: &str = "Ask the others to discuss one narrower question first and get what they found. Only where your \
     answer depends on it and talk can settle it; one question, complete in itself. It costs calls and time.";

/// The tool's arguments.
#[must_use]
pub fn discuss_schema() -> Value {
    serde_json::json!({
        "type": "object",
        "properties": { "topic": { "type": "string", "description": "The question, complete in itself." } },
        "required": ["topic"],
        "additionalProperties": false,
    })
}

/// The most bytes kept of a tool call's arguments. No question is that long, and a broken stream
/// may never end.
const MAX_ARGUMENTS: usize = 64 << 10;

/// Adds a piece to a tool call's arguments. Arguments beyond the limit are no longer valid JSON and
/// are ignored.
fn push_arguments(arguments: &mut String, piece: &str) {
    if arguments.len() <= MAX_ARGUMENTS {
        arguments.push_str(piece);
    }
}

/// The topic in a tool call's arguments.
#[must_use]
pub fn topic_of(arguments: &Value) -> Option<String> {
    let topic = arguments.get("topic")?.as_str()?.trim();
    (!topic.is_empty()).then(|| topic.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_a_place_for_instructions_reads_them_first() {
        let without = Quirks { system: false, ..Quirks::default() };
        for wire in WIRES {
            let sent = |quirks: Quirks| {
                (wire.encode)(&testing::call(), &testing::model("m", quirks)).body.to_string()
            };
            let (usual, first) = (sent(Quirks::default()), sent(without));
            assert!(
                usual.contains("\"Be brief.\"") && !usual.contains("Be brief.\\n\\n"),
                "{}: {usual}",
                wire.name
            );
            assert!(first.contains("\"Be brief.\\n\\nThe discussion so far:\""), "{}: {first}", wire.name);
            assert_eq!(first.matches("Be brief.").count(), 1, "{}: {first}", wire.name);
        }
    }

    /// Where each wire says how much the model should think.
    const EFFORTS: [(&str, &str); 5] = [
        ("anthropic", "/output_config/effort"),
        ("gemini", "/generationConfig/thinkingConfig/thinkingLevel"),
        ("ollama", "/think"),
        ("openai-chat", "/reasoning_effort"),
        ("openai-responses", "/reasoning/effort"),
    ];

    #[test]
    fn a_model_that_takes_an_effort_is_told_one_and_no_other() {
        let with = Quirks { effort: true, ..Quirks::default() };
        let efforts =
            [(Effort::Low, Some("low")), (Effort::ModelDefault, None), (Effort::High, Some("high"))];
        assert_eq!(EFFORTS.map(|it| it.0).to_vec(), WIRES.iter().map(|it| it.name).collect::<Vec<_>>());
        for (name, place) in EFFORTS {
            let shape = testing::shape(serde_json::json!({ "type": "object", "properties": {} }));
            for shape in [None, shape] {
                let sent = |effort, quirks| {
                    let call = Call { effort, shape: shape.clone(), ..testing::call() };
                    (wire(name).unwrap().encode)(&call, &testing::model("m", quirks)).body
                };
                for (effort, expected) in efforts {
                    let body = sent(effort, with);
                    let told = body.pointer(place).and_then(Value::as_str);
                    assert_eq!(told, expected, "{name}: {body}");
                    assert_eq!(sent(effort, Quirks::default()), sent(Effort::ModelDefault, with), "{name}");
                }
            }
        }
    }

    #[test]
    fn f7_arguments_without_end_are_not_kept() {
        let mut arguments = String::new();
        (0..1_000_000).for_each(|_| push_arguments(&mut arguments, "{\"topic\":"));
        assert!(arguments.len() < MAX_ARGUMENTS + 100, "{}", arguments.len());
    }
}
