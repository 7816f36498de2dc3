//! Reads the frames of an answer of Gemini's.

use std::{borrow::Cow, collections::VecDeque};

use jiff::Timestamp;
use quorum_core::{
    model::{
        error::{ErrorClass, ProviderError},
        money::Usage,
        transcript::Finish,
    },
    seams::Chunk,
};
use serde::Deserialize;
use serde_json::Value;

use super::refusal;
use crate::wire::{DISCUSS, Decoder, Frame, Refused, text::read, topic_of};

/// An answer as far as it came.
#[derive(Default)]
pub(super) struct Reading {
    usage: Option<Usage>,
    convenes: bool,
    /// Why it ended, once it has.
    ended: Option<Finish>,
}

impl Decoder for Reading {
    fn take(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if let Some(finish) = self.ended {
            self.count_late(finish, frame, out);
            return Ok(());
        }
        let response: Response<'_> = read(frame.data)?;
        if let Some(error) = response.error {
            return Err(failure(status(&error), frame.data));
        }
        // Every frame counts the whole answer so far.
        self.usage = response.usage_metadata.map(Tokens::usage).or(self.usage);
        let blocked = response.prompt_feedback.and_then(|it| it.block_reason).map(|_| Finish::Refused);
        // Only one was asked for.
        let candidate = response.candidates.into_iter().next();
        let finish = match candidate {
            Some(candidate) => self.read(candidate, out)?,
            None => blocked,
        };
        if let Some(finish) = finish {
            self.end(finish, out);
        }
        Ok(())
    }
}

impl Reading {
    fn read(
        &mut self,
        candidate: Candidate<'_>,
        out: &mut VecDeque<Chunk>,
    ) -> Result<Option<Finish>, ProviderError> {
        for part in candidate.content.unwrap_or_default().parts {
            self.take_part(part, out);
        }
        candidate.finish_reason.as_deref().map_or(Ok(None), finish)
    }

    fn take_part(&mut self, part: Part<'_>, out: &mut VecDeque<Chunk>) {
        // Thoughts are not for others. A call without a topic asks for nothing.
        let is_call = part.function_call.as_ref().is_some_and(|it| it.name == DISCUSS);
        if let Some(topic) = part.function_call.filter(|_| is_call).and_then(|it| topic_of(&it.args)) {
            self.convenes = true;
            out.push_back(Chunk::Convene { topic });
        } else if !part.thought && !part.text.is_empty() {
            out.push_back(Chunk::Text(part.text.into_owned()));
        }
    }

    /// There is no mark after the frame that says why it ended. To wait for another one would be to take whole answers for broken
    /// ones.
    fn end(&mut self, finish: Finish, out: &mut VecDeque<Chunk>) {
        let finish = match finish {
            Finish::Stop if self.convenes => Finish::Convene,
            finish => finish,
        };
        self.ended = Some(finish);
        out.push_back(Chunk::End { finish, usage: self.usage, cost: None });
    }

    /// That frame usually has the final count; some servers send it in one of its own.
    fn count_late(&mut self, finish: Finish, frame: Frame<'_>, out: &mut VecDeque<Chunk>) {
        let counted = read::<Response<'_>>(frame.data).ok().and_then(|it| it.usage_metadata);
        if let Some(tokens) = counted {
            self.usage = Some(tokens.usage());
            out.push_back(Chunk::End { finish, usage: self.usage, cost: None });
        }
    }
}

/// `STOP` is the only good end. What was said before a bad one stands, unless the model lost its own thread.
fn finish(reason: &str) -> Result<Option<Finish>, ProviderError> {
    match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => Ok(None),
        "STOP" => Ok(Some(Finish::Stop)),
        "MAX_TOKENS" => Ok(Some(Finish::Length)),
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE" => {
            let message = format!("the model called a tool in a way that makes no sense ({reason})");
            Err(ProviderError::new(ErrorClass::InvalidResponse, message))
        }
        // `SAFETY`, `RECITATION`, `PROHIBITED_CONTENT`, `OTHER`, and filters there will be one day.
        _ => Ok(Some(Finish::Refused)),
    }
}

/// The status an error has as an answer of its own.
pub(super) fn status(error: &Value) -> u16 {
    let code = error.get("code").and_then(Value::as_u64).and_then(|it| u16::try_from(it).ok());
    code.unwrap_or(500)
}

/// An error inside a stream means what it means as an answer of its own.
fn failure(status: u16, body: &str) -> ProviderError {
    refusal(&Refused { status, header: &|_| None, body, now: Timestamp::UNIX_EPOCH })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response<'f> {
    #[serde(borrow, default)]
    candidates: Vec<Candidate<'f>>,
    #[serde(borrow)]
    prompt_feedback: Option<Feedback<'f>>,
    usage_metadata: Option<Tokens>,
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'f> {
    #[serde(borrow)]
    content: Option<Content<'f>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'f, str>>,
}

#[derive(Default, Deserialize)]
struct Content<'f> {
    #[serde(borrow, default)]
    parts: Vec<Part<'f>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'f> {
    #[serde(borrow, default)]
    text: Cow<'f, str>,
    #[serde(default)]
    thought: bool,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'f>>,
}

#[derive(Deserialize)]
struct FunctionCall<'f> {
    #[serde(borrow)]
    name: Cow<'f, str>,
    #[serde(default)]
    args: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback<'f> {
    #[serde(borrow)]
    block_reason: Option<Cow<'f, str>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tokens {
    prompt_token_count: u64,
    tool_use_prompt_token_count: u64,
    cached_content_token_count: u64,
    candidates_token_count: u64,
    thoughts_token_count: u64,
}

impl Tokens {
    /// The remembered ones are counted in the prompt, the thoughts are not in the candidates.
    fn usage(self) -> Usage {
        Usage {
            prompt: self.prompt_token_count.saturating_add(self.tool_use_prompt_token_count),
            completion: self.candidates_token_count.saturating_add(self.thoughts_token_count),
            cached: self.cached_content_token_count,
            reasoning: self.thoughts_token_count,
        }
    }
}
