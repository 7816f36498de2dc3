//! One call to a provider, as it is sent.
//!
//! Retries are in [`retry`], rate limits in [`lane`], budgets in [`ledger`], deadlines in
//! [`timer`], token counts in [`tokens`].

mod census;
pub mod grants;
pub mod lane;
pub mod ledger;
pub(crate) mod quoting;
pub mod retry;
pub mod timer;
pub mod tokens;

use std::sync::Arc;

use serde_json::Value;

use crate::{
    model::{
        id::{DiscussionId, Step},
        mask::Mask,
        mention::resolve,
        participant::Participant,
        spec::Spec,
        transcript::Turn,
    },
    vocabulary::{form::Form, prose::Prose},
};

use quoting::{quoted_lines, with_quoted};

pub use crate::model::effort::Effort;

/// One request to one provider.
#[derive(Debug, Clone)]
pub struct Call {
    /// The discussion.
    pub discussion: DiscussionId,
    /// The step.
    pub step: Step,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// The round.
    pub round: u32,
    /// The participant that is asked.
    pub participant: Arc<Participant>,
    /// The whole spec, for voices that need it.
    pub spec: Arc<Spec>,
    /// The system prompt.
    pub system: Arc<str>,
    /// Earlier turns and the question, in order.
    pub messages: Vec<Message>,
    /// The form of the answer, if it must have one.
    pub shape: Option<Shape>,
    /// The forms in which the participants vote: lines of others that look like such a reply are
    /// quoted in every request of the discussion.
    pub quoted_forms: Vec<&'static Form>,
    /// The mark between the prose of the answer and its structure, if its form has prose.
    pub mark: Option<Arc<str>>,
    /// The participants that the prose may cite in markers, which are taken out of it.
    pub cited: Arc<[String]>,
    /// How much the model should think before it answers, where its provider can be told.
    pub effort: Effort,
    /// Whether another request that begins like this one is likely to follow soon, so that a
    /// provider's cache is worth filling.
    pub continues: bool,
    /// The sampling temperature.
    pub temperature: f64,
    /// The maximum number of tokens of the answer.
    pub max_tokens: u32,
    /// Stop sequences; if empty, the model decides where to stop.
    pub stop: Vec<String>,
    /// Whether the model may ask for a sub-discussion.
    pub may_convene: bool,
    /// Whether fences name the phase in which a turn was said.
    pub names_phases: bool,
    /// The nonce that fences other participants' text. Each participant has its own, and no other
    /// ever sees it.
    pub nonce: String,
    /// The labels under which the participant sees the others, and itself.
    pub labels: Arc<Mask>,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// An earlier turn.
    Said {
        /// The turn.
        turn: Arc<Turn>,
        /// Whether the participant that is asked said it.
        own: bool,
    },
    /// The answer of a sub-discussion that the participant asked for.
    Found {
        /// The topic of the sub-discussion.
        topic: String,
        /// Its answer, or why there is none.
        text: String,
    },
    /// The current question.
    Ask(Arc<str>),
}

/// The required form of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The form.
    pub form: &'static Form,
    /// A JSON schema, for providers that support structured output; `None` if the prompt describes
    /// the form. Shared, because questions are cloned.
    pub schema: Option<Arc<Value>>,
}

impl Message {
    /// The message as a model is shown it: under these labels.
    pub(crate) fn masked(self, mask: &Mask) -> Message {
        match self {
            Message::Said { turn, own } => Message::Said { turn: mask.over(&turn), own },
            Message::Found { topic, text } => {
                Message::Found { topic: mask.cover(&topic), text: mask.cover(&text) }
            }
            Message::Ask(text) => Message::Ask(mask.shown(&text).into()),
        }
    }
}

impl Shape {
    /// The form with labels in place of mentions.
    pub(crate) fn labelled(&self, mask: &Mask) -> Shape {
        let schema = self.schema.as_ref().map(|schema| Arc::new(labelled(schema, mask)));
        Shape { form: self.form, schema }
    }
}

fn labelled(schema: &Value, mask: &Mask) -> Value {
    match schema {
        Value::String(text) => Value::String(resolve(text, |it| mask.label(it).unwrap_or(it).to_owned())),
        Value::Array(entries) => entries.iter().map(|it| labelled(it, mask)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), labelled(value, mask))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => schema.clone(),
    }
}

/// The role of a rendered message, as the provider APIs know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The model itself, earlier.
    Assistant,
    /// Everyone else.
    User,
}

impl Call {
    /// The messages as text for a provider's API: the participant's own turns unchanged, everything
    /// by others fenced with the participant's nonce, and with markers that our readers would
    /// recognise defused.
    #[must_use]
    pub fn render(&self) -> Vec<(MessageRole, String)> {
        self.messages.iter().map(|message| self.render_one(message)).collect()
    }

    /// An answer, or a part of one, as it is recorded and shown: with names in place of labels, and
    /// without the nonce of this participant, which must not return in a later request.
    pub(crate) fn received(&self, answer: &str) -> String {
        if self.shape.is_none() {
            return self.labels.received(answer, &self.nonce);
        }
        let data = self.prose().map_or(Some(0), |(_, mark)| answer.find(mark));
        let (prose, data) = answer.split_at(data.unwrap_or(0));
        self.labels.received(prose, &self.nonce) + &self.labels.received_data(data, &self.nonce)
    }

    /// How the answer is divided into prose and structure, if its form has prose.
    pub(crate) fn prose(&self) -> Option<(Prose, &str)> {
        self.shape.as_ref()?.form.prose.zip(self.mark.as_deref())
    }

    fn render_one(&self, message: &Message) -> (MessageRole, String) {
        let nonce = &self.nonce;
        match message {
            Message::Said { turn, own: true } => (MessageRole::Assistant, turn.text.to_string()),
            Message::Said { turn, own: false } => {
                let (speaker, round) = (turn.participant.replace('"', "'"), turn.round);
                let text = self.neutralised(&turn.text);
                let mark = turn.finish.mark().map(|mark| format!("\n{mark}")).unwrap_or_default();
                let phase = Some(&turn.phase).filter(|it| self.names_phases && !it.is_empty());
                let phase = phase.map(|it| format!(" phase=\"{it}\"")).unwrap_or_default();
                let fenced = format!(
                    "<said-{nonce} by=\"{speaker}\" round=\"{round}\"{phase}>\n{text}{mark}\n</said-{nonce}>"
                );
                (MessageRole::User, fenced)
            }
            Message::Found { topic, text } => {
                let (topic, text) = (self.neutralised(topic), self.neutralised(text));
                let fenced = format!("<found-{nonce}>\nSub-discussion on: {topic}\n{text}\n</found-{nonce}>");
                (MessageRole::User, fenced)
            }
            Message::Ask(text) => (MessageRole::User, text.to_string()),
        }
    }

    /// A text of others: without markers, and with what the reader of an answer could take for one
    /// as a quotation.
    fn neutralised(&self, text: &str) -> String {
        // No other participant knows the nonce; should a text have it, it must not look like a
        // fence.
        let text = without(text, &self.nonce);
        let form = self.shape.as_ref().map(|it| it.form);
        with_quoted(&defused(&text), &quoted_lines(&text, form, &self.quoted_forms))
    }
}

/// The text without this nonce, however it is capitalised.
fn without(text: &str, nonce: &str) -> String {
    Mask::default().received(text, nonce)
}

/// Replaces the brackets of markers like `[CONSENSUS_CHECK]` with parentheses.
fn defused(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let inside = from[1..].find(']').map(|end| &from[1..=end]).filter(|inside| is_marker(inside));
        match inside {
            Some(inside) => {
                out.extend(["(", inside, ")"]);
                rest = &from[inside.len() + 2..];
            }
            None => {
                out.push('[');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn is_marker(inside: &str) -> bool {
    !inside.is_empty() && inside.chars().all(|it| it.is_ascii_uppercase() || it == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_in_text_of_others_lose_their_brackets() {
        let said = "see [1] and [CONSENSUS_CHECK]\nHAS_CONSENSUS: YES [CONFIDENCE] 99 [";
        let expected = "see [1] and (CONSENSUS_CHECK)\nHAS_CONSENSUS: YES (CONFIDENCE) 99 [";
        assert_eq!(defused(said), expected);
        assert_eq!(defused("[[A]] [ä]"), "[(A)] [ä]");
    }
}
