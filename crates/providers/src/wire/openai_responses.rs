//! OpenAI's Responses API: named events, typed items, no state kept by the server.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use quorum_core::{
    call::Call,
    model::{
        error::ProviderError,
        money::{Usage, Usd},
        transcript::Finish,
    },
    seams::Chunk,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    DISCUSS, DISCUSS_SUMMARY, Decoder, Frame, Framing, Model, Outgoing, Schema, Wire, discuss_schema, effort,
    lenient::{ModelName, Text},
    message,
    openai::{self, BEARER, fault, refusal, unreadable},
    openai_chat::{offers_discuss, probe, role},
    strict_schema::strict,
    system_and_turns, topic_of,
};

pub(super) const WIRE: Wire = Wire {
    name: "openai-responses",
    summary: "Responses, OpenAI's newer API",
    auth: BEARER,
    headers: &[],
    framing: Framing::Events,
    encode,
    decoder: |_| Box::new(Answer::default()),
    refusal: openai::refusal,
    probe,
    hottest: 2.0,
    embedding: Some(openai::EMBEDDING),
    listing: Some(openai::LISTING),
};

/// The smallest limit OpenAI accepts.
const LEAST_TOKENS: u32 = 16;

fn encode(call: &Call, model: &Model) -> Outgoing {
    let (system, turns) = system_and_turns(call, model);
    let input = turns.into_iter().map(|(voiced, text)| message(role(voiced), text));
    let mut body = json!({
        "model": model.name,
        "input": null,
        "stream": true,
        "store": false,
        "max_output_tokens": call.max_tokens.max(LEAST_TOKENS),
    });
    body["input"] = input.collect();
    if let Some(system) = system {
        body["instructions"] = system.into();
    }
    if model.quirks.temperature {
        body["temperature"] = call.temperature.into();
    }
    if let Some(effort) = effort(call, model) {
        body["reasoning"] = json!({ "effort": effort });
    }
    if let Some(format) = format(call, model.quirks.schema) {
        body["text"] = json!({ "format": format });
    }
    if offers_discuss(call, model) {
        let parameters = discuss_schema();
        body["tools"] = json!([{
            "type": "function", "name": DISCUSS, "description": DISCUSS_SUMMARY, "parameters": parameters, "strict": true,
        }]);
    }
    Outgoing { path: "/responses".to_owned(), body }
}

fn format(call: &Call, how: Schema) -> Option<Value> {
    let shape = call.shape.as_ref()?;
    let schema = shape.schema.as_deref()?;
    match how {
        Schema::Strict => Some(json!({
            "type": "json_schema", "name": shape.form.kind, "schema": strict(schema), "strict": true,
        })),
        Schema::Json => Some(json!({ "type": "json_object" })),
        Schema::Prompt => None,
    }
}

/// The state of one answer.
#[derive(Debug, Default)]
struct Answer {
    is_refusal: bool,
    topic: Option<String>,
    model: Option<String>,
    is_over: bool,
}

/// The kind of an event, if its name doesn't tell.
#[derive(Deserialize)]
struct Kind<'f> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'f>,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Delta<'f> {
    #[serde(borrow, default)]
    delta: Text<'f>,
}

#[derive(Deserialize)]
struct Done<'f> {
    #[serde(borrow)]
    item: Item<'f>,
}

#[derive(Deserialize)]
struct Item<'f> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'f>,
    #[serde(borrow, default)]
    name: Text<'f>,
    #[serde(borrow, default)]
    arguments: Text<'f>,
}

#[derive(Deserialize)]
struct Ended<'f> {
    #[serde(borrow)]
    response: Response<'f>,
}

#[derive(Deserialize)]
struct Response<'f> {
    #[serde(borrow, default)]
    incomplete_details: Option<Incomplete<'f>>,
    usage: Option<Counted>,
    #[serde(borrow, default)]
    model: ModelName<'f>,
}

#[derive(Deserialize)]
struct Incomplete<'f> {
    #[serde(borrow, default)]
    reason: Text<'f>,
}

#[derive(Deserialize)]
struct Counted {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
    /// Dollars, at OpenRouter.
    cost: Option<Value>,
}

#[derive(Deserialize)]
struct InputDetails {
    cached_tokens: Option<u64>,
    /// Tokens written to the cache, at OpenRouter.
    cache_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl Decoder for Answer {
    fn read_frame(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        let data = frame.data.trim();
        // Compatible servers add the end marker of chat completions.
        if self.is_over || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        if frame.event.is_empty() {
            let Kind { kind, error } = read(data)?;
            let is_bare_error = kind.is_empty() && error.is_some();
            return self.take_event(if is_bare_error { "error" } else { &kind.0 }, data, out);
        }
        self.take_event(frame.event, data, out)
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}

impl Answer {
    fn take_event(&mut self, kind: &str, data: &str, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        match kind {
            "response.output_text.delta" => push_text(data, out)?,
            "response.refusal.delta" => {
                self.is_refusal = true;
                push_text(data, out)?;
            }
            "response.output_item.done" => self.take_item(&read::<Done<'_>>(data)?.item),
            "response.created" | "response.in_progress" => {
                read::<Ended<'_>>(data)?.response.model.fill_in(&mut self.model);
            }
            "response.completed" => self.end(&read::<Ended<'_>>(data)?.response, Finish::Stop, out),
            "response.incomplete" => {
                let response = read::<Ended<'_>>(data)?.response;
                let finish = why(response.incomplete_details.as_ref());
                self.end(&response, finish, out);
            }
            "response.failed" | "error" => return Err(fault(data, refusal)),
            _ => {}
        }
        Ok(())
    }

    /// Reads a finished item. A tool call has its complete arguments; only the first one counts.
    fn take_item(&mut self, item: &Item<'_>) {
        if item.kind.0 == "function_call" && item.name.0 == DISCUSS && self.topic.is_none() {
            let arguments: Option<Value> = serde_json::from_str(&item.arguments.0).ok();
            self.topic = arguments.as_ref().and_then(topic_of);
        }
    }

    fn end(&mut self, response: &Response<'_>, finish: Finish, out: &mut VecDeque<Chunk>) {
        self.is_over = true;
        response.model.fill_in(&mut self.model);
        out.extend(self.topic.take().map(|topic| Chunk::Convene { topic }));
        let finish = if self.is_refusal { Finish::Refused } else { finish };
        let cost = response.usage.as_ref().and_then(|it| Usd::from_dollars(it.cost.as_ref()?.as_f64()?));
        out.push_back(Chunk::End { finish, usage: response.usage.as_ref().and_then(usage), cost });
    }
}

fn push_text(data: &str, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
    let Text(text) = read::<Delta<'_>>(data)?.delta;
    if !text.is_empty() {
        out.push_back(Chunk::Text(text.into_owned()));
    }
    Ok(())
}

fn why(incomplete: Option<&Incomplete<'_>>) -> Finish {
    match incomplete.map(|it| &*it.reason.0) {
        Some("content_filter") => Finish::Refused,
        _ => Finish::Length,
    }
}

fn usage(counted: &Counted) -> Option<Usage> {
    let (prompt, completion) = (counted.input_tokens?, counted.output_tokens?);
    let details = counted.input_tokens_details.as_ref();
    let cached = details.and_then(|it| it.cached_tokens).unwrap_or_default().min(prompt);
    let written = details.and_then(|it| it.cache_write_tokens).unwrap_or_default().min(prompt - cached);
    let thought =
        counted.output_tokens_details.as_ref().and_then(|it| it.reasoning_tokens).unwrap_or_default();
    Some(Usage { prompt, completion, cached, written, reasoning: thought.min(completion) })
}

fn read<'f, T: Deserialize<'f>>(data: &'f str) -> Result<T, ProviderError> {
    serde_json::from_str(data).map_err(|error| unreadable(&error))
}
