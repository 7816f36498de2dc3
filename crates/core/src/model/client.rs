//! The parts of a request, besides the question, from a client that uses the panel as one model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The order of such a client. Part of the spec, so that a repetition, a restart and a later
/// question about the answer find it in the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientOrder {
    /// The model's name as the client wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The question as the client sent it, where the topic has more than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The client's instructions for the answer: its system messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The part of the instructions that also applies to responses that continue this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
    /// The earlier messages of the conversation, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversation: Vec<Utterance>,
    /// The JSON schema that the answer must satisfy, if it must be a JSON value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The most tokens of the answer that the client wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The parameters that have no effect here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
    /// A digest of the whole order and its sender, by which a repetition is recognised. Set if the
    /// discussion goes on only while a client waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<String>,
    /// The id of the response that the client continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// How much of the talk the client is shown.
    #[serde(default, skip_serializing_if = "Thinking::is_full")]
    pub thinking: Thinking,
    /// Whether the client asked for an analysis of the arguments beside the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub analysis: bool,
    /// Parameters that the answer repeats as they were sent.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub repeated: Map<String, Value>,
}

impl ClientOrder {
    /// The texts beside the question that every participant is shown.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &str> {
        let said = self.conversation.iter().map(|it| it.text.as_str());
        self.instructions.as_deref().into_iter().chain(said)
    }

    /// Those that come from the user, its program or its tools, and not from an earlier answer.
    pub(crate) fn given(&self) -> impl Iterator<Item = &str> {
        let given = self.conversation.iter().filter(|it| it.by != Author::Assistant);
        self.instructions.as_deref().into_iter().chain(given.map(|it| it.text.as_str()))
    }
}

/// How much of the talk a client is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// All of it.
    #[default]
    Full,
    /// Who spoke.
    Progress,
    /// Nothing.
    Off,
}

impl Thinking {
    /// Whether all of the talk is shown.
    #[must_use]
    pub fn is_full(&self) -> bool {
        *self == Thinking::Full
    }
}

/// One earlier message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Utterance {
    /// Its author.
    pub by: Author,
    /// Its text.
    pub text: String,
}

/// The author of an earlier message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The user.
    User,
    /// The assistant.
    Assistant,
    /// A tool that the client called.
    Tool,
}

impl Author {
    /// The name in prompts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Author::User => "user",
            Author::Assistant => "assistant",
            Author::Tool => "tool",
        }
    }
}
