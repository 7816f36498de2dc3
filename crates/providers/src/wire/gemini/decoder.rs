//! Decodes the frames of Gemini's answers.

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
use crate::wire::{DISCUSS, Decoder, Frame, Refused, lenient::ModelName, text::read, topic_of};

/// The state of one answer.
#[derive(Default)]
pub(super) struct StreamDecoder {
    usage: Option<Usage>,
    convenes: bool,
    model: Option<String>,
    /// The finish reason, once the answer has ended.
    ended: Option<Finish>,
}

impl Decoder for StreamDecoder {
    fn read_frame(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if let Some(finish) = self.ended {
            self.count_late(finish, frame, out);
            return Ok(());
        }
        let response: Response<'_> = read(frame.data)?;
        if let Some(error) = response.error {
            return Err(failure(status(&error), frame.data));
        }
        response.model_version.fill_in(&mut self.model);
        // Every frame reports the usage of the whole answer so far.
        self.usage = response.usage_metadata.map(Tokens::usage).or(self.usage);
        let blocked = response.prompt_feedback.and_then(|it| it.block_reason).map(|_| Finish::Refused);
        // Only one candidate was requested.
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

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}

impl StreamDecoder {
    fn read(
        &mut self,
        candidate: Candidate<'_>,
        out: &mut VecDeque<Chunk>,
    ) -> Result<Option<Finish>, ProviderError> {
        for part in candidate.content.unwrap_or_default().parts {
            self.read_part(part, out);
        }
        candidate.finish_reason.as_deref().map_or(Ok(None), finish)
    }

    fn read_part(&mut self, part: Part<'_>, out: &mut VecDeque<Chunk>) {
        // Thoughts are not part of the answer. A tool call without a topic is ignored.
        let is_call = part.function_call.as_ref().is_some_and(|it| it.name == DISCUSS);
        if let Some(topic) = part.function_call.filter(|_| is_call).and_then(|it| topic_of(&it.args)) {
            self.convenes = true;
            out.push_back(Chunk::Convene { topic });
        } else if !part.thought && !part.text.is_empty() {
            out.push_back(Chunk::Text(part.text.into_owned()));
        }
    }

    /// Ends the answer at the frame with the finish reason. No end marker follows it, so waiting
    /// for one would make complete answers look cut off.
    fn end(&mut self, finish: Finish, out: &mut VecDeque<Chunk>) {
        let finish = match finish {
            Finish::Stop if self.convenes => Finish::Convene,
            finish => finish,
        };
        self.ended = Some(finish);
        out.push_back(Chunk::End { finish, usage: self.usage, cost: None });
    }

    /// Reads usage after the end: the last frame usually contains it, but some servers send it in a
    /// frame of its own.
    fn count_late(&mut self, finish: Finish, frame: Frame<'_>, out: &mut VecDeque<Chunk>) {
        let counted = read::<Response<'_>>(frame.data).ok().and_then(|it| it.usage_metadata);
        if let Some(tokens) = counted {
            self.usage = Some(tokens.usage());
            out.push_back(Chunk::End { finish, usage: self.usage, cost: None });
        }
    }
}

/// The finish reason. `STOP` is the only regular one. Text before another one counts, unless the
/// model's output is malformed.
fn finish(reason: &str) -> Result<Option<Finish>, ProviderError> {
    match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => Ok(None),
        "STOP" => Ok(Some(Finish::Stop)),
        "MAX_TOKENS" => Ok(Some(Finish::Length)),
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE" => {
            let message = format!("the model made an invalid tool call ({reason})");
            Err(ProviderError::new(ErrorClass::InvalidResponse, message))
        }
        // `SAFETY`, `RECITATION`, `PROHIBITED_CONTENT`, `OTHER`, and filters that don't exist yet.
        _ => Ok(Some(Finish::Refused)),
    }
}

/// The HTTP status of the corresponding error response.
pub(super) fn status(error: &Value) -> u16 {
    let code = error.get("code").and_then(Value::as_u64).and_then(|it| u16::try_from(it).ok());
    code.unwrap_or(500)
}

/// Classifies an error inside a stream like an error response.
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
    #[serde(borrow, default)]
    model_version: ModelName<'f>,
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
    /// The prompt count includes cached tokens; the candidates count excludes thoughts.
    fn usage(self) -> Usage {
        Usage {
            prompt: self.prompt_token_count.saturating_add(self.tool_use_prompt_token_count),
            completion: self.candidates_token_count.saturating_add(self.thoughts_token_count),
            cached: self.cached_content_token_count,
            written: 0,
            reasoning: self.thoughts_token_count,
        }
    }
}
