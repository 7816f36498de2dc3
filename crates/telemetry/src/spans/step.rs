//! A participant's step: everything from the first call, or the wait for a person, to its turn.

use std::borrow::Cow;

use opentelemetry::{
    KeyValue,
    trace::{SpanId, SpanKind},
};
use quorum_core::model::{
    event::{Abandoned, Awaited, FailedTurn},
    id::DiscussionId,
    time::Timestamp,
    transcript::Turn,
};

use super::call::{Call, abandoned, abandoned_error};
use crate::{ids, names, span_data::Span};

/// A step that is not over.
pub(super) struct StepSpan {
    step: String,
    from: Timestamp,
    /// The number of its first attempt; 0 for a person.
    first_attempt: u32,
    participant: String,
    provider: Option<String>,
    model: Option<String>,
    round: Option<u32>,
    phase: Option<String>,
    abandoned: Option<Abandoned>,
    /// The error of its last attempt.
    error: Option<Cow<'static, str>>,
}

impl StepSpan {
    /// The step of a model, which begins with this call.
    pub(super) fn model(step: String, call: &Call) -> Self {
        let mut parts = step.split('/');
        let round = parts.next().and_then(|it| it.parse().ok());
        let phase = round.and_then(|_: u32| parts.next().map(str::to_owned));
        StepSpan {
            from: call.from,
            first_attempt: call.attempt,
            participant: call.participant.clone(),
            provider: Some(call.provider.clone()),
            model: call.model.clone(),
            round,
            phase,
            abandoned: None,
            error: None,
            step,
        }
    }

    /// The step of a person, which begins when it is their turn.
    pub(super) fn person(awaited: &Awaited, at: Timestamp) -> Self {
        StepSpan {
            step: awaited.answers.to_string(),
            from: at,
            first_attempt: 0,
            participant: awaited.participant.clone(),
            provider: None,
            model: None,
            round: Some(awaited.round),
            phase: Some(awaited.phase.clone()),
            abandoned: None,
            error: None,
        }
    }

    pub(super) fn id(&self, discussion: DiscussionId) -> SpanId {
        ids::agent(discussion, &self.step, self.first_attempt)
    }

    /// Learns how its last call ended.
    pub(super) fn called(&mut self, call: &Span) {
        self.error.clone_from(&call.error);
    }

    pub(super) fn completed(&mut self, turn: &Turn) {
        (self.round, self.phase, self.error) = (Some(turn.round), Some(turn.phase.clone()), None);
    }

    pub(super) fn failed(&mut self, failed: &FailedTurn) {
        (self.round, self.phase) = (Some(failed.round), Some(failed.phase.clone()));
        self.error = Some(failed.class.name().into());
    }

    pub(super) fn abandoned(&mut self, why: Abandoned) {
        (self.abandoned, self.error) = (Some(why), abandoned_error(why));
    }

    /// The span of the step, below that of its discussion.
    pub(super) fn span(self, discussion: DiscussionId, parent: SpanId, to: Timestamp) -> Span {
        let id = self.id(discussion);
        let text = |name, value: Option<String>| value.map(|it| KeyValue::new(name, it));
        let name = format!("{} {}", names::operation::AGENT, self.participant);
        let mut attributes = vec![
            KeyValue::new(names::OPERATION, names::operation::AGENT),
            KeyValue::new(names::CONVERSATION, discussion.to_string()),
            KeyValue::new(names::AGENT_NAME, self.participant),
            KeyValue::new(names::STEP, self.step),
        ];
        attributes.extend(text(names::PROVIDER, self.provider));
        attributes.extend(text(names::REQUEST_MODEL, self.model));
        attributes.extend(self.round.map(|it| KeyValue::new(names::ROUND, i64::from(it))));
        attributes.extend(text(names::PHASE, self.phase));
        attributes.extend(self.abandoned.map(|it| KeyValue::new(names::ABANDONED, abandoned(it))));
        Span {
            id,
            parent,
            name,
            kind: SpanKind::Internal,
            from: self.from,
            to,
            attributes,
            error: self.error,
            link: None,
        }
    }
}
