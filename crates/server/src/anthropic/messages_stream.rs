//! A message as events: a thinking block with the talk, then a text block with the answer.

use axum::body::Bytes;
use quorum::model::{id::DiscussionId, state::State};
use serde_json::{Value, json};

use super::messages::{stop_reason, usage};
use crate::v1::{
    answer::Answer,
    fault::Fault,
    stream::{Format, named},
};

pub(super) struct MessageStream {
    id: String,
    model: String,
    /// The number of the open block, or of the next one.
    index: u32,
    open: Option<Block>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Thinking,
    Text,
}

impl MessageStream {
    pub(super) fn new(model: &str, id: DiscussionId) -> Self {
        MessageStream { id: format!("msg_{id}"), model: model.to_owned(), index: 0, open: None }
    }

    fn event(kind: &str, mut fields: Value) -> Bytes {
        fields["type"] = kind.into();
        named(kind, &fields)
    }

    fn close(&mut self) -> Vec<Bytes> {
        if self.open.take().is_none() {
            return Vec::new();
        }
        let stop = MessageStream::event("content_block_stop", json!({ "index": self.index }));
        self.index += 1;
        vec![stop]
    }

    fn open(&mut self, block: Block) -> Vec<Bytes> {
        if self.open == Some(block) {
            return Vec::new();
        }
        let mut frames = self.close();
        self.open = Some(block);
        let content = match block {
            Block::Thinking => json!({ "type": "thinking", "thinking": "", "signature": "" }),
            Block::Text => json!({ "type": "text", "text": "" }),
        };
        let start = json!({ "index": self.index, "content_block": content });
        frames.push(MessageStream::event("content_block_start", start));
        frames
    }

    fn delta(&self, delta: &Value) -> Bytes {
        MessageStream::event("content_block_delta", json!({ "index": self.index, "delta": delta }))
    }
}

impl Format for MessageStream {
    fn open(&mut self) -> Vec<Bytes> {
        let usage = json!({
            "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        });
        let message = json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        });
        vec![MessageStream::event("message_start", json!({ "message": message }))]
    }

    fn talk(&mut self, text: &str) -> Vec<Bytes> {
        let mut frames = MessageStream::open(self, Block::Thinking);
        frames.push(self.delta(&json!({ "type": "thinking_delta", "thinking": text })));
        frames
    }

    fn answer(&mut self, text: &str) -> Vec<Bytes> {
        let mut frames = MessageStream::open(self, Block::Text);
        frames.push(self.delta(&json!({ "type": "text_delta", "text": text })));
        frames
    }

    fn alive(&mut self) -> Bytes {
        MessageStream::event("ping", json!({}))
    }

    fn end(&mut self, answer: &Answer, _: &State) -> Vec<Bytes> {
        let mut frames =
            if self.open == Some(Block::Text) { Vec::new() } else { MessageStream::open(self, Block::Text) };
        frames.extend(self.close());
        let delta = json!({
            "delta": { "stop_reason": stop_reason(answer.ended), "stop_sequence": answer.stop },
            "usage": usage(&answer.usage), "quorum": answer.quorum,
        });
        frames.push(MessageStream::event("message_delta", delta));
        frames.push(MessageStream::event("message_stop", json!({})));
        frames
    }

    fn fail(&mut self, fault: &Fault, _state: Option<&State>) -> Vec<Bytes> {
        vec![named("error", &fault.anthropic())]
    }
}
