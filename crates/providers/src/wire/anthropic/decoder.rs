//! Decodes the frames of Anthropic's answers.

use std::{borrow::Cow, collections::VecDeque};

use jiff::Timestamp;
use quorum_core::{
    model::{error::ProviderError, money::Usage, transcript::Finish},
    seams::Chunk,
};
use serde::{Deserialize, de::IgnoredAny};

use crate::wire::{
    DISCUSS, Decoder, Frame, Refused, lenient::ModelName, push_arguments, text::read, topic_of,
};

/// The state of one answer.
#[derive(Default)]
pub(super) struct StreamDecoder {
    /// The arguments so far of the tool that is being called.
    arguments: Option<String>,
    convenes: bool,
    tokens: Option<Tokens>,
    finish: Option<Finish>,
    model: Option<String>,
    is_over: bool,
}

impl Decoder for StreamDecoder {
    fn read_frame(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if self.is_over {
            return Ok(());
        }
        let named;
        let kind = if frame.event.is_empty() {
            // The data repeats the event's name, which imitations of the API may omit.
            named = read::<Named<'_>>(frame.data)?.kind;
            named.as_ref()
        } else {
            frame.event
        };
        match kind {
            "content_block_delta" => self.read_delta(read::<Grown<'_>>(frame.data)?.delta, out),
            "content_block_start" => self.begin(read::<Begun<'_>>(frame.data)?.content_block, out),
            "content_block_stop" => self.call_tool(out),
            "message_start" => self.start(&read::<Started<'_>>(frame.data)?.message),
            "message_delta" => self.conclude(&read(frame.data)?),
            "message_stop" => {
                // A partial frame is left of a stream that was cut.
                read::<IgnoredAny>(frame.data)?;
                self.end(out);
            }
            "error" => return Err(failure(frame.data)?),
            // Pings, and kinds that don't exist yet.
            _ => {}
        }
        Ok(())
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}

impl StreamDecoder {
    fn start(&mut self, message: &Message<'_>) {
        message.model.fill_in(&mut self.model);
        self.count(message.usage);
    }

    fn begin(&mut self, block: Block<'_>, out: &mut VecDeque<Chunk>) {
        match block.kind.as_ref() {
            "text" => push_text(block.text, out),
            "tool_use" if block.name == DISCUSS => self.arguments = Some(String::new()),
            // Thoughts are not part of the answer.
            _ => {}
        }
    }

    fn read_delta(&mut self, delta: Delta<'_>, out: &mut VecDeque<Chunk>) {
        match delta.kind.as_ref() {
            "text_delta" => push_text(delta.text, out),
            "input_json_delta" => {
                if let Some(arguments) = &mut self.arguments {
                    push_arguments(arguments, &delta.partial_json);
                }
            }
            _ => {}
        }
    }

    /// A tool call that was cut off or has no topic is ignored; the text beside it counts.
    fn call_tool(&mut self, out: &mut VecDeque<Chunk>) {
        let arguments = self.arguments.take().unwrap_or_default();
        let topic = serde_json::from_str(&arguments).ok().and_then(|it| topic_of(&it));
        self.convenes |= topic.is_some();
        out.extend(topic.map(|topic| Chunk::Convene { topic }));
    }

    fn conclude(&mut self, concluded: &Concluded<'_>) {
        self.finish = concluded.delta.stop_reason.as_deref().map(finish).or(self.finish);
        self.count(concluded.usage);
    }

    /// Later counts cover the whole answer and replace earlier ones.
    fn count(&mut self, tokens: Option<Tokens>) {
        let earlier = self.tokens.unwrap_or_default();
        self.tokens = tokens.map(|it| it.or(earlier)).or(self.tokens);
    }

    fn end(&mut self, out: &mut VecDeque<Chunk>) {
        self.is_over = true;
        let finish = match self.finish.unwrap_or(Finish::Stop) {
            Finish::Stop if self.convenes => Finish::Convene,
            finish => finish,
        };
        out.push_back(Chunk::End { finish, usage: self.tokens.map(Tokens::usage), cost: None });
    }
}

fn push_text(text: Cow<'_, str>, out: &mut VecDeque<Chunk>) {
    if !text.is_empty() {
        out.push_back(Chunk::Text(text.into_owned()));
    }
}

fn finish(stop_reason: &str) -> Finish {
    match stop_reason {
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refused,
        // `end_turn`, `stop_sequence`, `tool_use`, and reasons that don't exist yet.
        _ => Finish::Stop,
    }
}

/// Classifies an error inside a stream like an error response.
fn failure(data: &str) -> Result<ProviderError, ProviderError> {
    let status = read::<Failed<'_>>(data)?.error.status();
    Ok(Refused { status, header: &|_| None, body: data, now: Timestamp::UNIX_EPOCH }.usual())
}

#[derive(Deserialize)]
struct Named<'f> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'f, str>,
}

#[derive(Deserialize)]
struct Grown<'f> {
    #[serde(borrow)]
    delta: Delta<'f>,
}

#[derive(Deserialize)]
struct Delta<'f> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'f, str>,
    #[serde(borrow, default)]
    text: Cow<'f, str>,
    #[serde(borrow, default)]
    partial_json: Cow<'f, str>,
}

#[derive(Deserialize)]
struct Begun<'f> {
    #[serde(borrow)]
    content_block: Block<'f>,
}

#[derive(Deserialize)]
struct Block<'f> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'f, str>,
    #[serde(borrow, default)]
    text: Cow<'f, str>,
    #[serde(borrow, default)]
    name: Cow<'f, str>,
}

#[derive(Deserialize)]
struct Started<'f> {
    #[serde(borrow)]
    message: Message<'f>,
}

#[derive(Deserialize)]
struct Message<'f> {
    #[serde(borrow, default)]
    model: ModelName<'f>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Concluded<'f> {
    #[serde(borrow)]
    delta: Conclusion<'f>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Conclusion<'f> {
    #[serde(borrow)]
    stop_reason: Option<Cow<'f, str>>,
}

#[derive(Deserialize)]
pub(super) struct Failed<'f> {
    #[serde(borrow)]
    pub(super) error: Failure<'f>,
}

#[derive(Deserialize)]
pub(super) struct Failure<'f> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'f, str>,
}

impl Failure<'_> {
    /// The HTTP status of the corresponding error response.
    pub(super) fn status(&self) -> u16 {
        match self.kind.as_ref() {
            "invalid_request_error" => 400,
            "authentication_error" => 401,
            "billing_error" => 402,
            "permission_error" => 403,
            "not_found_error" => 404,
            "request_too_large" => 413,
            "rate_limit_error" => 429,
            "timeout_error" => 504,
            "overloaded_error" => 529,
            // `api_error`, and errors that don't exist yet.
            _ => 500,
        }
    }
}

/// Token counts, as far as they were reported.
#[derive(Clone, Copy, Default, Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<Details>,
}

#[derive(Clone, Copy, Deserialize)]
struct Details {
    thinking_tokens: Option<u64>,
}

impl Tokens {
    fn or(self, earlier: Tokens) -> Tokens {
        Tokens {
            input_tokens: self.input_tokens.or(earlier.input_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .or(earlier.cache_creation_input_tokens),
            cache_read_input_tokens: self.cache_read_input_tokens.or(earlier.cache_read_input_tokens),
            output_tokens: self.output_tokens.or(earlier.output_tokens),
            output_tokens_details: self.output_tokens_details.or(earlier.output_tokens_details),
        }
    }

    /// `input_tokens` excludes tokens read from or written to the cache; `output_tokens` includes
    /// all.
    fn usage(self) -> Usage {
        let count = Option::unwrap_or_default;
        let (cached, written) =
            (count(self.cache_read_input_tokens), count(self.cache_creation_input_tokens));
        let prompt = [self.input_tokens, Some(written), Some(cached)];
        Usage {
            prompt: prompt.into_iter().flatten().fold(0, u64::saturating_add),
            completion: count(self.output_tokens),
            cached,
            written,
            reasoning: count(self.output_tokens_details.and_then(|it| it.thinking_tokens)),
        }
    }
}
