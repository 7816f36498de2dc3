//! A response as events: its items one after the other, and those of Fusion for clients that ask
//! for them.

use std::collections::BTreeMap;

use axum::body::Bytes;
use quorum::model::{
    event::Event,
    id::{DiscussionId, Step},
    state::State,
};
use serde_json::{Value, json};

use super::{
    responses::{About, failed_fusion_item, fusion_item, message_item, reasoning_item, status, with},
    responses_request::{FUSION, MESSAGE, REASONING},
};
use crate::{
    live::listener::Heard,
    v1::{
        answer::Answer,
        cut::Ended,
        fault::Fault,
        fusion::{self, model_of},
        stream::{Format, named},
    },
};

pub(super) struct ResponseStream {
    about: About,
    sequence: u64,
    /// The items so far, the last of which may be open.
    output: Vec<Value>,
    open: Option<Open>,
    /// Why the message ended, once that is known.
    ended: Ended,
    fusion: Option<Panel>,
}

/// The open item.
enum Open {
    Reasoning(String),
    Message(String),
}

/// The state of Fusion's item.
#[derive(Default)]
struct Panel {
    /// What was told of each speaker's turn while it was written.
    spoken: BTreeMap<Step, String>,
    is_analysed: bool,
}

impl ResponseStream {
    pub(super) fn new(about: About, has_fusion: bool) -> Self {
        let fusion = has_fusion.then(Panel::default);
        let ended = Ended::default();
        ResponseStream { about, sequence: 0, output: Vec::new(), open: None, ended, fusion }
    }

    fn event(&mut self, kind: &str, mut fields: Value) -> Bytes {
        fields["type"] = kind.into();
        fields["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        named(kind, &fields)
    }

    fn id(&self) -> DiscussionId {
        self.about.id
    }

    /// Closes the open item with its events.
    fn close(&mut self) -> Vec<Bytes> {
        let index = self.output.len();
        match self.open.take() {
            None => Vec::new(),
            Some(Open::Reasoning(text)) => {
                let item = reasoning_item(self.id(), text.trim_end());
                let at = json!({ "item_id": item["id"], "output_index": index, "summary_index": 0 });
                let done = with(&at, json!({ "text": text }));
                let part = with(&at, json!({ "part": { "type": "summary_text", "text": text } }));
                self.output.push(item.clone());
                vec![
                    self.event("response.reasoning_summary_text.done", done),
                    self.event("response.reasoning_summary_part.done", part),
                    self.event("response.output_item.done", json!({ "output_index": index, "item": item })),
                ]
            }
            Some(Open::Message(text)) => {
                let item = message_item(self.id(), &text, self.ended);
                let at = json!({ "item_id": item["id"], "output_index": index, "content_index": 0 });
                let done = with(&at, json!({ "text": text, "logprobs": [] }));
                let part = with(&at, json!({ "part": item["content"][0] }));
                self.output.push(item.clone());
                vec![
                    self.event("response.output_text.done", done),
                    self.event("response.content_part.done", part),
                    self.event("response.output_item.done", json!({ "output_index": index, "item": item })),
                ]
            }
        }
    }

    fn open_reasoning(&mut self) -> Vec<Bytes> {
        if matches!(self.open, Some(Open::Reasoning(_))) {
            return Vec::new();
        }
        let mut frames = self.close();
        self.open = Some(Open::Reasoning(String::new()));
        let (id, index) = (format!("{REASONING}{}", self.id()), self.output.len());
        let item = json!({ "id": id, "type": "reasoning", "summary": [] });
        frames.push(self.event("response.output_item.added", json!({ "output_index": index, "item": item })));
        let part = json!({
            "item_id": id, "output_index": index, "summary_index": 0, "part": { "type": "summary_text", "text": "" },
        });
        frames.push(self.event("response.reasoning_summary_part.added", part));
        frames
    }

    fn open_message(&mut self) -> Vec<Bytes> {
        if matches!(self.open, Some(Open::Message(_))) {
            return Vec::new();
        }
        let mut frames = self.close();
        self.open = Some(Open::Message(String::new()));
        let (id, index) = (format!("{MESSAGE}{}", self.id()), self.output.len());
        let item = json!({ "id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": [] });
        frames.push(self.event("response.output_item.added", json!({ "output_index": index, "item": item })));
        let part = json!({
            "item_id": id, "output_index": index, "content_index": 0,
            "part": { "type": "output_text", "text": "", "annotations": [] },
        });
        frames.push(self.event("response.content_part.added", part));
        frames
    }

    fn fusion_event(&mut self, name: &str, fields: &Value) -> Bytes {
        let id = format!("{FUSION}{}", self.id());
        let fields = with(fields, json!({ "item_id": id, "output_index": 0 }));
        self.event(&format!("response.fusion_call.{name}"), fields)
    }

    /// Fusion's events of a fact.
    fn of_fact(&mut self, event: &Event, step: Option<&Step>, state: &State) -> Vec<Bytes> {
        let model = |name: &str| model_of(state, name);
        match (event, step) {
            (Event::CallPlaced(placed), Some(step)) if placed.form.is_none() && placed.attempt == 1 => {
                if let Some(panel) = &mut self.fusion {
                    panel.spoken.insert(step.clone(), String::new());
                }
                vec![self.fusion_event("panel.added", &json!({ "model": model(&placed.participant) }))]
            }
            (Event::CallPlaced(placed), Some(step)) if step.is_deciding() => {
                if self.fusion.as_mut().is_none_or(|it| std::mem::replace(&mut it.is_analysed, true)) {
                    return Vec::new();
                }
                // Both names are needed: clients drop the event without either of them.
                let analyst = model(&placed.participant);
                let fields = json!({ "analyst_model": analyst, "judge_model": analyst });
                vec![self.fusion_event("analysis.in_progress", &fields)]
            }
            (Event::TurnCompleted { turn }, Some(step)) if turn.form.is_none() => {
                let (model, content) = (model(&turn.participant), turn.prose());
                // A short answer may be complete before the client is told of any of it.
                let told = self.fusion.as_mut().and_then(|it| it.spoken.remove(step));
                let rest = told.and_then(|it| content.strip_prefix(&*it)).filter(|it| !it.is_empty());
                let delta =
                    rest.map(|it| self.fusion_event("panel.delta", &json!({ "model": model, "delta": it })));
                let fields = json!({ "model": model, "content": content });
                delta.into_iter().chain([self.fusion_event("panel.completed", &fields)]).collect()
            }
            (Event::TurnFailed(failed), Some(step)) if !step.is_deciding() => {
                vec![self.fusion_event("panel.failed", &fusion::failed(state, failed))]
            }
            _ => Vec::new(),
        }
    }

    fn of_text(&mut self, step: &Step, offset: usize, text: &str, state: &State) -> Vec<Bytes> {
        let Some(told) = self.fusion.as_mut().and_then(|it| it.spoken.get_mut(step)) else {
            return Vec::new();
        };
        if offset != told.len() {
            return Vec::new();
        }
        told.push_str(text);
        let Some(placed) = state.under_way.get(step) else { return Vec::new() };
        let fields = json!({ "model": model_of(state, &placed.participant), "delta": text });
        vec![self.fusion_event("panel.delta", &fields)]
    }
}

impl Format for ResponseStream {
    fn open(&mut self) -> Vec<Bytes> {
        let response = self.about.unfinished("in_progress");
        let mut frames = vec![
            self.event("response.created", json!({ "response": response })),
            self.event("response.in_progress", json!({ "response": response })),
        ];
        if self.fusion.is_some() {
            let item = json!({ "type": "openrouter:fusion", "id": format!("{FUSION}{}", self.id()), "status": "in_progress" });
            self.output.push(item.clone());
            frames.push(self.event("response.output_item.added", json!({ "output_index": 0, "item": item })));
            frames.push(self.fusion_event("in_progress", &json!({})));
        }
        frames
    }

    fn talk(&mut self, text: &str) -> Vec<Bytes> {
        let mut frames = self.open_reasoning();
        if let Some(Open::Reasoning(so_far)) = &mut self.open {
            so_far.push_str(text);
        }
        let (id, index) = (format!("{REASONING}{}", self.id()), self.output.len());
        let delta = json!({ "item_id": id, "output_index": index, "summary_index": 0, "delta": text });
        frames.push(self.event("response.reasoning_summary_text.delta", delta));
        frames
    }

    fn answer(&mut self, text: &str) -> Vec<Bytes> {
        let mut frames = self.open_message();
        if let Some(Open::Message(so_far)) = &mut self.open {
            so_far.push_str(text);
        }
        let (id, index) = (format!("{MESSAGE}{}", self.id()), self.output.len());
        let delta = json!({ "item_id": id, "output_index": index, "content_index": 0, "delta": text, "logprobs": [] });
        frames.push(self.event("response.output_text.delta", delta));
        frames
    }

    fn heard(&mut self, heard: &Heard, state: &State) -> Vec<Bytes> {
        if self.fusion.is_none() {
            return Vec::new();
        }
        match heard {
            Heard::Fact(fact) => self.of_fact(&fact.event, fact.step.as_ref(), state),
            Heard::Text { spoken, offset } => self.of_text(&spoken.step, *offset, &spoken.text, state),
        }
    }

    fn alive(&mut self) -> Bytes {
        Bytes::from_static(b": keep-alive\n\n")
    }

    fn end(&mut self, answer: &Answer, state: &State) -> Vec<Bytes> {
        let mut frames = self.open_message();
        self.ended = answer.ended;
        frames.extend(self.close());
        if self.fusion.is_some() {
            let item = fusion_item(state, answer);
            if let Some(analysis) = item.get("analysis") {
                frames.push(self.fusion_event("analysis.completed", &json!({ "analysis": analysis })));
            }
            frames.push(self.fusion_event("completed", &json!({ "item": item })));
            frames.push(self.event("response.output_item.done", json!({ "output_index": 0, "item": item })));
            self.output[0] = item;
        }
        let mut response = self.about.finished(answer, Vec::new());
        response["output"] = std::mem::take(&mut self.output).into();
        let kind = format!("response.{}", status(answer.ended));
        frames.push(self.event(&kind, json!({ "response": response })));
        frames
    }

    fn fail(&mut self, fault: &Fault, state: Option<&State>) -> Vec<Bytes> {
        // A message that was begun stays incomplete.
        self.ended = Ended::Length;
        let mut frames = self.close();
        if let (Some(_), Some(state)) = (&self.fusion, state) {
            let item = failed_fusion_item(state, fault);
            frames.push(self.event("response.output_item.done", json!({ "output_index": 0, "item": item })));
            self.output[0] = item;
        }
        let response = self.about.failed(fault, std::mem::take(&mut self.output));
        frames.push(self.event("response.failed", json!({ "response": response })));
        frames
    }
}
