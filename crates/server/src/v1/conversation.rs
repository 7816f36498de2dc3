//! The messages of a request: instructions, the conversation so far, and the question.

use axum::http::StatusCode;
use quorum::{
    model::{
        client::{Author, Utterance},
        excerpt::in_short,
    },
    request::limits::LONGEST_CONVERSATION,
};
use serde_json::Value;

use crate::v1::{fault::Fault, given::few_fields};

/// The most messages of a request.
pub(crate) const MOST_MESSAGES: usize = 1_000;

/// The messages so far.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    instructions: Vec<String>,
    /// Instructions for the rest of the conversation, too.
    standing: Vec<String>,
    said: Vec<Utterance>,
}

/// A conversation that ends with a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) question: String,
    /// All instructions, the standing ones last.
    pub(crate) instructions: Option<String>,
    /// Those that also apply to responses that continue this one.
    pub(crate) standing: Option<String>,
    pub(crate) before: Vec<Utterance>,
}

impl Conversation {
    pub(crate) fn instruct(&mut self, text: &str) {
        self.instructions.extend(instruction(text));
    }

    /// Adds instructions that are part of the conversation, so that they also apply to what
    /// continues it.
    pub(crate) fn instruct_from_now_on(&mut self, text: &str) {
        self.standing.extend(instruction(text));
    }

    pub(crate) fn say(&mut self, by: Author, text: &str) {
        self.said.push(Utterance { by, text: clean(text) });
    }

    /// Adds what was said in an earlier discussion, and the instructions in it, before everything
    /// else.
    pub(crate) fn follow(&mut self, standing: Option<&str>, before: Vec<Utterance>) {
        self.standing.splice(0..0, standing.and_then(instruction));
        self.said.splice(0..0, before);
    }

    /// Separates the question from what was said before. `param` is the parameter that holds the
    /// messages.
    pub(crate) fn asked(self, param: &str) -> Result<Asked, Fault> {
        let Conversation { mut instructions, standing, mut said } = self;
        let refused =
            |message: &str| Fault::new(StatusCode::BAD_REQUEST, "invalid_request_error", message).at(param);
        let Some(last) = said.pop() else { return Err(refused("there is no message by the user")) };
        if last.by != Author::User {
            return Err(refused("the last message must be the user's; an answer can't be continued"));
        }
        if last.text.trim().is_empty() {
            return Err(refused("the user's last message is empty"));
        }
        said.retain(|it| !it.text.trim().is_empty());
        let together = |texts: &[String]| Some(texts.join("\n\n")).filter(|it| !it.is_empty());
        let asked_standing = together(&standing);
        instructions.extend(standing);
        let length = |text: &String| text.chars().count();
        let all = length(&last.text)
            + instructions.iter().map(length).sum::<usize>()
            + said.iter().map(|it| length(&it.text)).sum::<usize>();
        if LONGEST_CONVERSATION < all {
            let message =
                format!("the messages have {all} characters; at most {LONGEST_CONVERSATION} are accepted");
            let code = "context_length_exceeded";
            return Err(Fault::new(StatusCode::BAD_REQUEST, code, message).at(param));
        }
        let instructions = together(&instructions);
        Ok(Asked { question: last.text, instructions, standing: asked_standing, before: said })
    }
}

/// Refuses too many messages, and messages with too many fields.
pub(crate) fn bounded<'m>(messages: &'m [Value], param: &str) -> Result<&'m [Value], Fault> {
    if MOST_MESSAGES < messages.len() {
        let message = format!("there are {} messages; at most {MOST_MESSAGES} are accepted", messages.len());
        return Err(Fault::invalid(param, message));
    }
    for (index, message) in messages.iter().enumerate() {
        let place = format!("{param}[{index}]");
        let Some(fields) = message.as_object() else {
            return Err(Fault::invalid(&place, "must be an object with a role and content"));
        };
        few_fields(fields, &place)?;
    }
    Ok(messages)
}

/// The role of a message. `param` is its place.
pub(crate) fn role_of<'m>(message: &'m Value, param: &str) -> Result<&'m str, Fault> {
    let place = format!("{param}.role");
    match message.get("role") {
        None | Some(Value::Null) => Err(Fault::invalid(&place, "is missing")),
        Some(role) => role.as_str().ok_or_else(|| Fault::invalid(&place, "must be a text")),
    }
}

/// The refusal of a role that the format doesn't have.
pub(crate) fn unknown_role(role: &str, param: &str) -> Fault {
    let message = format!("there is no role {}", in_short(format_args!("{role:?}")));
    Fault::invalid(&format!("{param}.role"), message)
}

/// Instructions, if there are any in this text.
fn instruction(text: &str) -> Option<String> {
    Some(clean(text)).filter(|it| !it.trim().is_empty())
}

/// The text without characters that can't be stored.
fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The content of a message as text: a text, or a list of parts with text. `param` is its place.
pub(crate) fn text_of(content: Option<&Value>, param: &str) -> Result<String, Fault> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let parts = parts.iter().enumerate();
            let texts = parts.map(|(index, it)| part(it, &format!("{param}[{index}]")));
            Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
        }
        Some(_) => Err(Fault::invalid(param, "must be a text or a list of parts")),
    }
}

/// The text of one part. `param` is its place.
pub(crate) fn part(part: &Value, param: &str) -> Result<String, Fault> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let text = |key: &str| part.get(key).and_then(Value::as_str).map(str::to_owned);
    part.as_object().map_or(Ok(()), |it| few_fields(it, param))?;
    match kind {
        "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" => {
            text("text").ok_or_else(|| Fault::invalid(param, "has no text"))
        }
        "refusal" => Ok(text("refusal").unwrap_or_default()),
        _ => Err(unsupported_content(kind, param)),
    }
}

/// The refusal of a part that is no text.
pub(crate) fn unsupported_content(kind: &str, param: &str) -> Fault {
    let kind: String = kind.chars().take(50).collect();
    let message = format!("content of the type {kind:?} is not supported; send text");
    Fault::new(StatusCode::BAD_REQUEST, "unsupported_content", message).at(param)
}

/// A tool call as text, for a conversation in which a tool was called.
pub(crate) fn called(name: &Value, arguments: &Value) -> String {
    let plain = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    format!("[called {}({})]", plain(name), plain(arguments))
}
