//! Decodes the frames of a chat completion.

use std::collections::VecDeque;

use quorum_core::{
    model::{
        error::{ErrorClass, ProviderError},
        money::{Usage, Usd},
        transcript::Finish,
    },
    seams::Chunk,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::super::{
    DISCUSS, Decoder, Frame, Quirks,
    lenient::{ModelName, Text},
    openai::{fault, refusal, unreadable},
    push_arguments,
    repeated::Repeated,
    think_filter::ThinkFilter,
    topic_of,
};

/// The vendor's end marker.
const DONE: &str = "[DONE]";

/// The state of one answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    filter: ThinkFilter,
    /// The last frame that had nothing but text.
    repeated: Repeated,
    finish: Option<Finish>,
    is_refusal: bool,
    discuss: Option<DiscussCall>,
    usage: Option<Counted>,
    model: Option<String>,
    is_over: bool,
}

/// The first call of our tool; further calls in the same answer are ignored.
#[derive(Debug)]
struct DiscussCall {
    index: Option<u64>,
    id: String,
    arguments: String,
}

/// One frame. Thoughts (`reasoning_content`, `reasoning`) are among the fields that are ignored.
#[derive(Deserialize)]
struct Piece<'f> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'f>>>,
    usage: Option<Counted>,
    x_groq: Option<Groq>,
    #[serde(borrow, default)]
    model: ModelName<'f>,
    error: Option<IgnoredAny>,
    #[serde(borrow, default)]
    object: Text<'f>,
}

#[derive(Deserialize)]
struct Choice<'f> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<Delta<'f>>,
    #[serde(borrow, default)]
    finish_reason: Text<'f>,
    usage: Option<Counted>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Delta<'f> {
    #[serde(borrow, default)]
    content: Text<'f>,
    #[serde(borrow, default)]
    refusal: Text<'f>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<ToolCall<'f>>>,
}

#[derive(Deserialize)]
struct ToolCall<'f> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Text<'f>,
    #[serde(borrow, default)]
    function: Option<Function<'f>>,
}

#[derive(Deserialize)]
struct Function<'f> {
    #[serde(borrow, default)]
    name: Text<'f>,
    #[serde(borrow, default)]
    arguments: Text<'f>,
}

/// Groq's own field: its usage, or why it stopped.
#[derive(Deserialize)]
struct Groq {
    usage: Option<Counted>,
    error: Option<IgnoredAny>,
}

/// Usage and cost as the vendors report them. Numbers are read as floats, since some servers write
/// `12.0`.
#[derive(Debug, Deserialize)]
struct Counted {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    total_tokens: Option<f64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for cached tokens.
    prompt_cache_hit_tokens: Option<f64>,
    /// Moonshot's name for cached tokens.
    cached_tokens: Option<f64>,
    /// Dollars at OpenRouter; others put other values here.
    cost: Option<Value>,
    /// Whether OpenRouter used the user's own key; `cost` is then only its fee.
    is_byok: Option<bool>,
    cost_details: Option<CostDetails>,
}

#[derive(Debug, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<f64>,
    /// Tokens written to the cache, at OpenRouter.
    cache_write_tokens: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct CostDetails {
    upstream_inference_cost: Option<f64>,
}

impl Decoder for Answer {
    fn read_frame(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let data = frame.data.trim();
        if self.is_over || data.is_empty() {
            return Ok(());
        }
        if data == DONE {
            return self.end(out);
        }
        if let Some(text) = self.repeated.text(data).filter(|_| frame.event.is_empty()) {
            push_text(self.filter.feed(text), out);
            return Ok(());
        }
        let piece: Piece<'_> = match serde_json::from_str(data) {
            Ok(piece) => piece,
            Err(_) if frame.event == "error" => return Err(fault(data, refusal)),
            // Chat events have no names, so a named one is not part of the answer.
            Err(_) if !frame.event.is_empty() => return Ok(()),
            Err(error) => return Err(unreadable(&error)),
        };
        if frame.event == "error" || piece.is_error() {
            return Err(fault(data, refusal));
        }
        if let Some(text) = piece.text_alone() {
            self.repeated.remember(data, text);
        }
        self.read_piece(piece, out)
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}

impl Piece<'_> {
    fn is_error(&self) -> bool {
        let in_choice = || self.choices.iter().flatten().any(|it| it.error.is_some());
        let at_groq = || self.x_groq.as_ref().is_some_and(|it| it.error.is_some());
        self.error.is_some() || self.object.0.eq_ignore_ascii_case("error") || at_groq() || in_choice()
    }
}

impl Piece<'_> {
    /// The text of a frame that has only text and the fields that every frame repeats.
    fn text_alone(&self) -> Option<&str> {
        let [Choice { index: None | Some(0), delta: Some(delta), finish_reason, usage: None, .. }] =
            self.choices.as_deref()?
        else {
            return None;
        };
        let is_alone = self.usage.is_none()
            && self.x_groq.is_none()
            && finish_reason.is_empty()
            && delta.refusal.is_empty()
            && delta.tool_calls.is_none();
        Some(&*delta.content.0).filter(|_| is_alone)
    }
}

impl Answer {
    /// The decoder of an answer by a model with these quirks.
    pub(super) fn of(quirks: &Quirks) -> Self {
        Answer { filter: ThinkFilter::of(quirks), ..Answer::default() }
    }

    fn read_piece(&mut self, piece: Piece<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        piece.model.fill_in(&mut self.model);
        let of_groq = piece.x_groq.and_then(|it| it.usage);
        self.usage = piece.usage.or(of_groq).or(self.usage.take());
        // Only one choice was requested.
        let first = piece.choices.into_iter().flatten().find(|it| it.index.unwrap_or(0) == 0);
        let Some(choice) = first else { return Ok(()) };
        self.usage = choice.usage.or(self.usage.take());
        if let Some(delta) = choice.delta {
            self.read_delta(delta, out);
        }
        self.finish = finish_of(&choice.finish_reason.0)?.or(self.finish);
        Ok(())
    }

    fn read_delta(&mut self, delta: Delta<'_>, out: &mut VecDeque<Chunk>) {
        self.is_refusal |= !delta.refusal.is_empty();
        for text in [self.filter.feed(&delta.content.0), delta.refusal.0.into_owned()] {
            push_text(text, out);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.read_call(&call);
        }
    }

    /// Reads a piece of a tool call. The name comes first, then the arguments in pieces with the
    /// same index. Servers without an index identify calls by their ids.
    fn read_call(&mut self, call: &ToolCall<'_>) {
        let Some(function) = &call.function else { return };
        match &mut self.discuss {
            None if function.name.0 == DISCUSS => {
                let (id, arguments) = (call.id.0.to_string(), function.arguments.0.to_string());
                self.discuss = Some(DiscussCall { index: call.index, id, arguments });
            }
            Some(asked) if asked.index == call.index && (call.id.is_empty() || call.id.0 == asked.id) => {
                push_arguments(&mut asked.arguments, &function.arguments.0);
            }
            _ => {}
        }
    }

    /// Ends the answer. An end without a reason is an error: a proxy that lost its connection sends
    /// it, so the answer may be incomplete.
    fn end(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let Some(finish) = self.finish else {
            let message = "the answer ended without a finish reason; it may be incomplete";
            return Err(ProviderError::new(ErrorClass::InvalidResponse, message));
        };
        self.is_over = true;
        push_text(self.filter.end(), out);
        let asked = self.discuss.take().and_then(|it| serde_json::from_str(&it.arguments).ok());
        if let Some(topic) = asked.as_ref().and_then(topic_of) {
            out.push_back(Chunk::Convene { topic });
        }
        let finish = if self.is_refusal { Finish::Refused } else { finish };
        let cost = self.usage.as_ref().and_then(Counted::cost);
        let usage = self.usage.as_ref().and_then(Counted::usage).map(|it| self.filter.counted(it));
        out.push_back(Chunk::End { finish, usage, cost });
        Ok(())
    }
}

fn push_text(text: String, out: &mut VecDeque<Chunk>) {
    if !text.is_empty() {
        out.push_back(Chunk::Text(text));
    }
}

/// The finish reason; `None` while the answer goes on. An unknown reason still ends it.
fn finish_of(reason: &str) -> Result<Option<Finish>, ProviderError> {
    match reason {
        "" | "null" => Ok(None),
        // Mistral and GLM have their own names for a full context window.
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            Ok(Some(Finish::Length))
        }
        "content_filter" | "sensitive" | "refusal" => Ok(Some(Finish::Refused)),
        "error" | "abort" | "network_error" | "insufficient_system_resource" => {
            let message = format!("the provider stopped with an error ({reason})");
            Err(ProviderError::new(ErrorClass::ApiError, message))
        }
        _ => Ok(Some(Finish::Stop)),
    }
}

impl Counted {
    fn usage(&self) -> Option<Usage> {
        let (prompt, written) = (self.prompt_tokens, self.completion_tokens);
        if prompt.is_none() && written.is_none() {
            return None;
        }
        let (prompt, written) = (count(prompt), count(written));
        let thought = count(self.completion_tokens_details.as_ref().and_then(|it| it.reasoning_tokens));
        // Grok excludes thoughts from the completion count; its total shows that.
        let is_beside = count(self.total_tokens) == prompt.saturating_add(written).saturating_add(thought);
        let completion = if is_beside { written.saturating_add(thought) } else { written };
        let details = self.prompt_tokens_details.as_ref();
        let in_details = details.and_then(|it| it.cached_tokens);
        let cached = count(in_details.or(self.prompt_cache_hit_tokens).or(self.cached_tokens)).min(prompt);
        let written = count(details.and_then(|it| it.cache_write_tokens)).min(prompt - cached);
        Some(Usage { prompt, completion, cached, written, reasoning: thought.min(completion) })
    }

    fn cost(&self) -> Option<Usd> {
        let told = self.cost.as_ref()?.as_f64()?;
        let upstream =
            self.cost_details.as_ref().and_then(|it| it.upstream_inference_cost).unwrap_or_default();
        Usd::from_dollars(if self.is_byok == Some(true) { told + upstream } else { told })
    }
}

/// A count as an integer; missing or invalid values are 0.
fn count(told: Option<f64>) -> u64 {
    told.unwrap_or_default() as u64
}
