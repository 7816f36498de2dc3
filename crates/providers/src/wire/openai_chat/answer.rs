//! Reads the frames of a chat completion.

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
    aloud::Aloud,
    grow,
    loose::Text,
    openai::{fault, refusal, unreadable},
    topic_of,
};

/// The vendor's end marker.
const DONE: &str = "[DONE]";

/// What was read of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    aloud: Aloud,
    finish: Option<Finish>,
    is_refusal: bool,
    asked: Option<Asked>,
    usage: Option<Counted>,
    is_over: bool,
}

/// The first call of our tool; a model that makes several at once gets one discussion.
#[derive(Debug)]
struct Asked {
    index: Option<u64>,
    id: String,
    arguments: String,
}

/// One frame. Thoughts (`reasoning_content`, `reasoning`) are among the fields that are passed over.
#[derive(Deserialize)]
struct Piece<'f> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'f>>>,
    usage: Option<Counted>,
    x_groq: Option<Groq>,
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

/// Groq's own field: its count, or why it broke off.
#[derive(Deserialize)]
struct Groq {
    usage: Option<Counted>,
    error: Option<IgnoredAny>,
}

/// Tokens and money as the vendors count them. Numbers are read as fractions, for some servers write `12.0`.
#[derive(Debug, Deserialize)]
struct Counted {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    total_tokens: Option<f64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for remembered tokens.
    prompt_cache_hit_tokens: Option<f64>,
    /// Moonshot's.
    cached_tokens: Option<f64>,
    /// A number of dollars with OpenRouter; others put other things here.
    cost: Option<Value>,
    /// Whether OpenRouter used a key of the user's own: then `cost` is only its fee.
    is_byok: Option<bool>,
    cost_details: Option<CostDetails>,
}

#[derive(Debug, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<f64>,
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
    fn take(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let data = frame.data.trim();
        if self.is_over || data.is_empty() {
            return Ok(());
        }
        if data == DONE {
            return self.end(out);
        }
        let piece: Piece<'_> = match serde_json::from_str(data) {
            Ok(piece) => piece,
            Err(_) if frame.event == "error" => return Err(fault(data, refusal)),
            // Chat has no names for its events: one that has is not part of the answer.
            Err(_) if !frame.event.is_empty() => return Ok(()),
            Err(error) => return Err(unreadable(&error)),
        };
        if frame.event == "error" || piece.is_error() {
            return Err(fault(data, refusal));
        }
        self.take_piece(piece, out)
    }
}

impl Piece<'_> {
    fn is_error(&self) -> bool {
        let in_choice = || self.choices.iter().flatten().any(|it| it.error.is_some());
        let at_groq = || self.x_groq.as_ref().is_some_and(|it| it.error.is_some());
        self.error.is_some() || self.object.0.eq_ignore_ascii_case("error") || at_groq() || in_choice()
    }
}

impl Answer {
    /// Of a model like this, from its first frame on.
    pub(super) fn of(quirks: &Quirks) -> Self {
        Answer { aloud: Aloud::of(quirks), ..Answer::default() }
    }

    fn take_piece(&mut self, piece: Piece<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let of_groq = piece.x_groq.and_then(|it| it.usage);
        self.usage = piece.usage.or(of_groq).or(self.usage.take());
        // One answer is asked for, so there is only a first.
        let first = piece.choices.into_iter().flatten().find(|it| it.index.unwrap_or(0) == 0);
        let Some(choice) = first else { return Ok(()) };
        self.usage = choice.usage.or(self.usage.take());
        if let Some(delta) = choice.delta {
            self.take_delta(delta, out);
        }
        self.finish = finish_of(&choice.finish_reason.0)?.or(self.finish);
        Ok(())
    }

    fn take_delta(&mut self, delta: Delta<'_>, out: &mut VecDeque<Chunk>) {
        self.is_refusal |= !delta.refusal.is_empty();
        for text in [self.aloud.take(&delta.content.0), delta.refusal.0.into_owned()] {
            say(text, out);
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.take_call(&call);
        }
    }

    /// A call's name comes first, its arguments in pieces with the same index. Servers that know no index tell calls apart by their ids.
    fn take_call(&mut self, call: &ToolCall<'_>) {
        let Some(function) = &call.function else { return };
        match &mut self.asked {
            None if function.name.0 == DISCUSS => {
                let (id, arguments) = (call.id.0.to_string(), function.arguments.0.to_string());
                self.asked = Some(Asked { index: call.index, id, arguments });
            }
            Some(asked) if asked.index == call.index && (call.id.is_empty() || call.id.0 == asked.id) => {
                grow(&mut asked.arguments, &function.arguments.0);
            }
            _ => {}
        }
    }

    /// An end without a reason is what a proxy makes of a connection it lost: the answer may be half of one.
    fn end(&mut self, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let Some(finish) = self.finish else {
            let message = "the answer ended without saying why; it may not be complete";
            return Err(ProviderError::new(ErrorClass::InvalidResponse, message));
        };
        self.is_over = true;
        say(self.aloud.end(), out);
        let asked = self.asked.take().and_then(|it| serde_json::from_str(&it.arguments).ok());
        if let Some(topic) = asked.as_ref().and_then(topic_of) {
            out.push_back(Chunk::Convene { topic });
        }
        let finish = if self.is_refusal { Finish::Refused } else { finish };
        let cost = self.usage.as_ref().and_then(Counted::cost);
        let usage = self.usage.as_ref().and_then(Counted::usage).map(|it| self.aloud.counted(it));
        out.push_back(Chunk::End { finish, usage, cost });
        Ok(())
    }
}

fn say(text: String, out: &mut VecDeque<Chunk>) {
    if !text.is_empty() {
        out.push_back(Chunk::Text(text));
    }
}

/// Why it stopped; `None` where it goes on. A reason nobody has heard of is still an end.
fn finish_of(reason: &str) -> Result<Option<Finish>, ProviderError> {
    match reason {
        "" | "null" => Ok(None),
        // Mistral and GLM have names of their own for a full window.
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            Ok(Some(Finish::Length))
        }
        "content_filter" | "sensitive" | "refusal" => Ok(Some(Finish::Refused)),
        "error" | "abort" | "network_error" | "insufficient_system_resource" => {
            let message = format!("the provider broke off ({reason})");
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
        // Grok counts thoughts beside what was said; the sum shows it.
        let is_beside = count(self.total_tokens) == prompt.saturating_add(written).saturating_add(thought);
        let completion = if is_beside { written.saturating_add(thought) } else { written };
        let in_details = self.prompt_tokens_details.as_ref().and_then(|it| it.cached_tokens);
        let cached = count(in_details.or(self.prompt_cache_hit_tokens).or(self.cached_tokens));
        Some(Usage { prompt, completion, cached: cached.min(prompt), reasoning: thought.min(completion) })
    }

    fn cost(&self) -> Option<Usd> {
        let told = self.cost.as_ref()?.as_f64()?;
        let upstream =
            self.cost_details.as_ref().and_then(|it| it.upstream_inference_cost).unwrap_or_default();
        Usd::from_dollars(if self.is_byok == Some(true) { told + upstream } else { told })
    }
}

/// Nonsense counts as nothing.
fn count(told: Option<f64>) -> u64 {
    told.unwrap_or_default() as u64
}
