//! A chat completion as chunks.

use axum::body::Bytes;
use quorum::model::{id::DiscussionId, state::State};
use serde_json::{Value, json};

use super::{chat::finish, created_at, usage};
use crate::v1::{
    answer::Answer,
    fault::Fault,
    fusion,
    stream::{Format, data},
};

pub(super) struct ChatStream {
    id: String,
    model: String,
    created: u64,
    has_usage: bool,
    has_fusion: bool,
}

impl ChatStream {
    pub(super) fn new(model: &str, id: DiscussionId, has_usage: bool, has_fusion: bool) -> Self {
        let (id, model, created) = (format!("chatcmpl-{id}"), model.to_owned(), created_at(id));
        ChatStream { id, model, created, has_usage, has_fusion }
    }

    /// Without a fingerprint: OpenRouter's own client refuses a chunk in which it is null.
    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model,
            "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }],
        })
    }
}

impl Format for ChatStream {
    fn open(&mut self) -> Vec<Bytes> {
        vec![data(&self.chunk(&json!({ "role": "assistant", "content": "" }), None))]
    }

    /// Some clients read one of the two fields, some the other.
    fn talk(&mut self, text: &str) -> Vec<Bytes> {
        vec![data(&self.chunk(&json!({ "reasoning_content": text, "reasoning": text }), None))]
    }

    fn answer(&mut self, text: &str) -> Vec<Bytes> {
        vec![data(&self.chunk(&json!({ "content": text }), None))]
    }

    fn alive(&mut self) -> Bytes {
        data(&self.chunk(&json!({}), None))
    }

    fn end(&mut self, answer: &Answer, state: &State) -> Vec<Bytes> {
        let mut last = self.chunk(&json!({}), Some(finish(answer.ended)));
        last["quorum"] = answer.quorum.clone();
        if self.has_fusion {
            last["fusion"] = fusion::item(&format!("fus_{}", state.id), state, Some(&answer.outcome));
        }
        let mut frames = vec![data(&last)];
        if self.has_usage {
            let mut used = self.chunk(&json!({}), None);
            (used["choices"], used["usage"]) = (json!([]), usage::of_chat(&answer.usage));
            // Some clients look for it on the last chunk, whichever that is.
            used["quorum"] = answer.quorum.clone();
            frames.push(data(&used));
        }
        frames.push(Bytes::from_static(DONE));
        frames
    }

    fn fail(&mut self, fault: &Fault, _state: Option<&State>) -> Vec<Bytes> {
        vec![data(&fault.openai()), Bytes::from_static(DONE)]
    }
}

const DONE: &[u8] = b"data: [DONE]\n\n";
