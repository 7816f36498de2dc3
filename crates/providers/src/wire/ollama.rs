//! Ollama's native API. Its OpenAI-compatible endpoint has no field for the context window that is
//! needed, and silently cuts off everything that doesn't fit.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};

use quorum_core::{
    call::{Call, tokens},
    model::{
        error::{ErrorClass, ProviderError},
        money::Usage,
        transcript::Finish,
    },
    seams::Chunk,
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use super::{
    DISCUSS, Decoder, Embedding, Frame, Framing, Listing, Model, Outgoing, Probe, Refused, Schema, Shows,
    Vectors, Wire, effort,
    lenient::{ModelName, Text},
    openai::{BEARER, fault, unreadable},
    openai_chat::{discuss, messages, offers_discuss},
    refusal::said,
    strict_schema::strict,
    think_filter::ThinkFilter,
    topic_of,
};

pub(super) const WIRE: Wire = Wire {
    name: "ollama",
    summary: "Ollama's native API, in which the context window can be set",
    auth: BEARER,
    headers: &[],
    framing: Framing::Lines,
    encode,
    decoder: |quirks| Box::new(Answer { filter: ThinkFilter::of(quirks), ..Answer::default() }),
    refusal,
    probe,
    hottest: 2.0,
    embedding: Some(EMBEDDING),
    listing: Some(Listing { path: "/api/tags", read: listed }),
};

const EMBEDDING: Embedding = Embedding { encode: encode_texts, decode: decode_vectors };

fn encode_texts(model: &Model, texts: &[String]) -> Outgoing {
    let body = json!({ "model": model.name, "input": texts, "truncate": true });
    Outgoing { path: "/api/embed".to_owned(), body }
}

fn decode_vectors(body: &str) -> Option<Vectors> {
    #[derive(Deserialize)]
    struct Answer {
        embeddings: Vec<Vec<f32>>,
        prompt_eval_count: Option<u64>,
    }
    let Answer { embeddings, prompt_eval_count } = serde_json::from_str(body).ok()?;
    Some(Vectors { vectors: embeddings, tokens: prompt_eval_count })
}

/// The smallest context window. Each size reloads the model, so only this one and its doublings are
/// used.
const SMALLEST_WINDOW: u64 = 8_192;

/// Tokens for the model's own markup between messages, and our tool.
const MARKS: u64 = 512;

fn encode(call: &Call, model: &Model) -> Outgoing {
    let quirks = model.quirks;
    let messages = messages(call, model);
    let mut options = json!({ "num_ctx": window(call, model, &messages), "num_predict": call.max_tokens });
    if quirks.temperature {
        options["temperature"] = call.temperature.into();
    }
    let stops: Vec<&String> = call.stop.iter().filter(|it| !it.is_empty()).collect();
    if quirks.stop && !stops.is_empty() {
        options["stop"] = json!(stops);
    }
    let mut body = json!({
        "model": model.name, "messages": null, "stream": true, "options": options,
        // Fails if something doesn't fit; the default drops the oldest messages and answers anyway.
        "truncate": false, "shift": false,
    });
    body["messages"] = messages.into();
    if let Some(effort) = effort(call, model) {
        body["think"] = effort.into();
    }
    if let Some(format) = format(call, quirks.schema) {
        body["format"] = format;
    }
    if offers_discuss(call, model) {
        body["tools"] = json!([discuss()]);
    }
    Outgoing { path: "/api/chat".to_owned(), body }
}

fn format(call: &Call, how: Schema) -> Option<Value> {
    let schema = call.shape.as_ref()?.schema.as_deref()?;
    match how {
        Schema::Strict => Some(strict(schema)),
        Schema::Json => Some("json".into()),
        Schema::Prompt => None,
    }
}

/// A context window that fits the request and the longest answer, estimated pessimistically; at
/// most the model's own.
fn window(call: &Call, model: &Model, messages: &[Value]) -> u64 {
    let bytes: usize = messages.iter().map(|it| it["content"].as_str().map_or(0, str::len)).sum();
    let needed = tokens::at_worst(bytes) + u64::from(call.max_tokens) + MARKS;
    let rounded = needed.next_power_of_two().max(SMALLEST_WINDOW);
    rounded.min(model.window)
}

/// The names of its models. A model that has several names is listed under the first.
fn listed(list: &Value) -> Vec<String> {
    let models = list.get("models").and_then(Value::as_array).into_iter().flatten();
    let field = |model: &Value, name: &str| model.get(name).and_then(Value::as_str).map(str::to_owned);
    let (mut names, mut digests) = (Vec::new(), BTreeSet::new());
    for model in models {
        let is_new = field(model, "digest").is_none_or(|it| digests.insert(it));
        names.extend(field(model, "name").filter(|_| is_new));
    }
    names
}

fn probe(model: &Model) -> Probe {
    let body = Some(json!({ "model": model.name }));
    Probe { path: "/api/show".to_owned(), body, shows: Shows::ByStatus }
}

fn refusal(refused: &Refused<'_>) -> ProviderError {
    let inner = unwrapped(refused.body);
    let refused = Refused { body: inner.as_deref().unwrap_or(refused.body), ..*refused };
    let error = refused.usual();
    let body: Value = serde_json::from_str(refused.body).unwrap_or_default();
    let said = said(&body).unwrap_or_default();
    let advised =
        |advice: &str| ProviderError::new(ErrorClass::Validation, format!("{}; {advice}", error.message));
    match refused.status {
        404 if said.contains("not found") => {
            let name = said.split(['\'', '"']).nth(1).unwrap_or("MODEL");
            advised(&format!("fetch it with `ollama pull {name}`"))
        }
        400 if said.contains("does not support tools") => advised("set `tools = false` for this model"),
        // A retry would not find more memory.
        _ if said.contains("requires more system memory") => {
            advised("use a smaller model or a smaller window")
        }
        _ => error,
    }
}

/// The error of the inner server, which Ollama passes on as text.
fn unwrapped(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let inner = body.get("error")?.as_str().filter(|it| it.starts_with('{'))?;
    serde_json::from_str::<Value>(inner).ok().map(|it| it.to_string())
}

/// The state of one answer.
#[derive(Debug, Default)]
struct Answer {
    filter: ThinkFilter,
    topic: Option<String>,
    model: Option<String>,
    is_over: bool,
}

/// One line. Thoughts (`message.thinking`) are among the fields that are ignored.
#[derive(Deserialize)]
struct Line<'f> {
    #[serde(borrow, default)]
    model: ModelName<'f>,
    #[serde(borrow, default)]
    message: Option<Said<'f>>,
    #[serde(default)]
    done: bool,
    #[serde(borrow, default)]
    done_reason: Text<'f>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Said<'f> {
    #[serde(borrow, default)]
    content: Text<'f>,
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Decoder for Answer {
    fn read_frame(&mut self, frame: Frame<'_>, out: &mut VecDeque<Chunk>) -> Result<(), ProviderError> {
        if self.is_over {
            return Ok(());
        }
        let mut line: Line<'_> = serde_json::from_str(frame.data).map_err(|error| unreadable(&error))?;
        if line.error.is_some() {
            return Err(fault(frame.data, refusal));
        }
        line.model.fill_in(&mut self.model);
        if let Some(said) = line.message.take() {
            self.read_message(said, out);
        }
        if line.done {
            self.end(&line, out);
        }
        Ok(())
    }

    fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}

impl Answer {
    fn read_message(&mut self, said: Said<'_>, out: &mut VecDeque<Chunk>) {
        push_text(self.filter.feed(&said.content.0), out);
        let mut asked =
            said.tool_calls.into_iter().flatten().map(|it| it.function).filter(|it| it.name == DISCUSS);
        self.topic = self.topic.take().or_else(|| asked.find_map(|it| topic_of(&it.arguments)));
    }

    fn end(&mut self, line: &Line<'_>, out: &mut VecDeque<Chunk>) {
        self.is_over = true;
        push_text(self.filter.end(), out);
        out.extend(self.topic.take().map(|topic| Chunk::Convene { topic }));
        let finish = if line.done_reason.0 == "length" { Finish::Length } else { Finish::Stop };
        let is_counted = line.prompt_eval_count.is_some() || line.eval_count.is_some();
        let counted =
            || Usage::new(line.prompt_eval_count.unwrap_or_default(), line.eval_count.unwrap_or_default());
        let usage = is_counted.then(counted).map(|it| self.filter.counted(it));
        out.push_back(Chunk::End { finish, usage, cost: None });
    }
}

fn push_text(text: String, out: &mut VecDeque<Chunk>) {
    if !text.is_empty() {
        out.push_back(Chunk::Text(text));
    }
}
