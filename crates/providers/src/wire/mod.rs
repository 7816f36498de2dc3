//! How the vendors speak: each wire is a pure translation, without a socket, a key or a clock.
//!
//! A wire is one file with a constant and one line in [`WIRES`]. It makes a request of a [`Call`], reads the frames of the
//! answer, and says what a refusal means. Keys, connections, deadlines and caps are `http.rs`'s.

mod aloud;
mod anthropic;
mod frames;
mod gemini;
mod loose;
mod ollama;
mod openai;
mod openai_chat;
mod openai_responses;
mod refusal;
mod strict;
mod subschemas;
#[cfg(test)]
mod testing;
mod text;

use std::collections::VecDeque;

use quorum_core::{
    call::{Call, Voiced},
    model::error::ProviderError,
    seams::Chunk,
};
use serde_json::Value;

pub(crate) use frames::Frames;
pub use frames::{Frame, Framing};
pub use refusal::{Refused, retry_after_ms};

/// The wires there are.
pub const WIRES: &[Wire] =
    &[anthropic::WIRE, gemini::WIRE, ollama::WIRE, openai_chat::WIRE, openai_responses::WIRE];

/// The wire of that name.
#[must_use]
pub fn wire(name: &str) -> Option<&'static Wire> {
    WIRES.iter().find(|wire| wire.name == name)
}

/// One vendor's way of speaking.
#[derive(Debug)]
pub struct Wire {
    /// What the configuration calls it.
    pub name: &'static str,
    /// What it is, in a line.
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
    /// What an answer other than 200 means.
    pub refusal: fn(&Refused<'_>) -> ProviderError,
    /// Where to look whether the model is there; costs nothing.
    pub probe: fn(&Model) -> Probe,
    /// How texts are made vectors, where the vendor does that.
    pub embedding: Option<Embedding>,
    /// How a server on the user's own machine tells which models it has.
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

/// How a vendor makes vectors of texts.
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
    /// In the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens read, where the vendor says.
    pub tokens: Option<u64>,
}

/// How a key is sent: in a header, never in an address, for addresses end up in logs and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Auth {
    /// The header.
    pub header: &'static str,
    /// What stands before the key in it.
    pub prefix: &'static str,
}

/// What a wire must know of the model it speaks to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// What the vendor calls it.
    pub name: String,
    /// Where it differs from what its wire usually takes.
    pub quirks: Quirks,
    /// How many tokens it takes in; one wire has to ask for as much as it needs.
    pub window: u64,
}

/// Where a model differs from what its wire usually takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// Whether standing instructions have a place of their own; where not, they stand before the first message.
    pub system: bool,
    /// Whether it may be told how freely to speak.
    pub temperature: bool,
    /// Whether it takes stop sequences. Where not, they are enforced on what comes back all the same.
    pub stop: bool,
    /// Whether it can be offered a tool.
    pub tools: bool,
    /// How it can be held to a form.
    pub schema: Schema,
    /// What the limit of an answer's length is called.
    pub limit: Limit,
    /// Whether it may be asked to count tokens in a stream; Mistral refuses the question and counts all the same.
    pub stream_options: bool,
    /// How many tokens it may think before it speaks. Vendors count them as part of the answer, so they come on top of its limit.
    pub thinking: u32,
    /// Whether its answers may begin with thoughts that nothing opens, because the opening mark stands in its template. They are held
    /// back until the mark that ends them, or the answer's end, so nothing is seen of an answer without thoughts before it is whole.
    pub unopened_thoughts: bool,
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
        }
    }
}

/// How a model can be held to a form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schema {
    /// By a JSON schema, in its vendor's own way.
    #[default]
    Strict,
    /// To JSON, but to no schema.
    Json,
    /// Only by what the prompt says.
    Prompt,
}

/// What the limit of an answer's length is called, on wires that have had two names for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// `max_tokens`, which most compatible servers know.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer models of OpenAI demand.
    MaxCompletionTokens,
}

/// A request without its address and its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// What comes after the base address: `/chat/completions`.
    pub path: String,
    /// What is sent.
    pub body: Value,
}

/// A question about a model that costs nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// What comes after the base address, and what is sent, if anything.
    pub path: String,
    /// Sent where the question is a POST; a GET otherwise.
    pub body: Option<Value>,
    /// How the answer shows that there is such a model.
    pub shows: Shows,
}

/// How the answer to a probe shows that there is such a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// 200 says yes, 404 says no.
    ByStatus,
    /// It lists all there are, as `data[].id`; a server without such a list (404) tells nothing.
    ByList,
}

/// Reads the frames of one answer.
pub trait Decoder: Send {
    /// Adds what this frame means to `out`. [`Chunk::End`] is added at the vendor's own end marker and never before: an answer that
    /// stops without it is not finished. Frames of unknown kinds are passed over; a frame that can't be read is an
    /// `InvalidResponse`, and an error inside a stream is the error it says. What comes after the end counts only where it says what
    /// the answer used: then the end is added once more, with that.
    fn take(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError>;
}

/// The messages of a call as every vendor takes them: the model's own and the others' in turn, the others first.
#[must_use]
pub fn turns(call: &Call) -> Vec<(Voiced, String)> {
    let mut turns: Vec<(Voiced, String)> = Vec::new();
    for (voiced, text) in call.render() {
        match turns.last_mut() {
            Some((last, so_far)) if *last == voiced => {
                so_far.push_str("\n\n");
                so_far.push_str(&text);
            }
            Some(_) => turns.push((voiced, text)),
            None if voiced == Voiced::Assistant => {
                turns.push((Voiced::User, OPENING.to_owned()));
                turns.push((voiced, text));
            }
            None => turns.push((voiced, text)),
        }
    }
    turns
}

/// The standing instructions, where the model has a place for them, and the messages; where it has none, they stand before the first.
#[must_use]
pub fn system_and_turns(call: &Call, model: &Model) -> (Option<String>, Vec<(Voiced, String)>) {
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

/// Stands before a model's own first words, for no vendor lets a model begin.
const OPENING: &str = "The discussion so far:";

/// The tool by which a model asks for a sub-discussion, where a call allows it.
pub const DISCUSS: &str = "discuss";

/// What the tool is for, as the model reads it.
pub const DISCUSS_SUMMARY: &str = "Ask the other participants to discuss one narrower question first, and get what they found. \
     Use it only where your answer depends on it.";

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

/// More of a tool call's arguments is not kept: no question is that long, and they come in pieces without end.
const LONGEST_ARGUMENTS: usize = 64 << 10;

/// Adds a piece to a tool call's arguments. Those that grow too long are no JSON any more, and ask for nothing.
fn grow(arguments: &mut String, piece: &str) {
    if arguments.len() <= LONGEST_ARGUMENTS {
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

    #[test]
    fn f7_arguments_without_end_are_not_kept() {
        let mut arguments = String::new();
        (0..1_000_000).for_each(|_| grow(&mut arguments, "{\"topic\":"));
        assert!(arguments.len() < LONGEST_ARGUMENTS + 100, "{}", arguments.len());
    }
}
