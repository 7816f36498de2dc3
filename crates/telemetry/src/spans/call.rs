//! One attempt: a call to a provider, from the fact that it was placed to the fact that ended it.

use std::borrow::Cow;

use opentelemetry::{
    Array, KeyValue, StringValue, Value,
    trace::{SpanId, SpanKind},
};
use quorum_core::model::{
    event::{Abandoned, Placed},
    id::{DiscussionId, Step},
    likeness::Comparison,
    money::{Usage, Usd},
    time::Timestamp,
    transcript::{Bill, Turn},
};

use super::is_comparison;
use crate::{content, ids, names, settings::Content, span_data::Span};

/// A call under way.
pub(super) struct Call {
    pub(super) from: Timestamp,
    pub(super) attempt: u32,
    pub(super) participant: String,
    pub(super) provider: String,
    pub(super) model: Option<String>,
    max_tokens: u32,
}

/// How a call has ended.
pub(super) enum Ended<'f> {
    /// With a reply.
    Answered(&'f Turn),
    /// With vectors, or with none.
    Compared(&'f Comparison),
    /// With an error of this class; what had arrived may have cost something.
    Failed { class: &'static str, bill: Option<&'f Bill> },
    /// Without a reply, because it was given up.
    Abandoned(Abandoned),
    /// Without a trace: the process that made it ended.
    Interrupted,
    /// The record doesn't say.
    Unknown,
}

impl Call {
    pub(super) fn new(placed: &Placed, at: Timestamp) -> Self {
        Call {
            from: at,
            attempt: placed.attempt,
            participant: placed.participant.clone(),
            provider: names::provider(&placed.provider).to_owned(),
            model: placed.model.clone(),
            max_tokens: placed.max_tokens,
        }
    }

    /// The span of the call, without its parent and its end.
    pub(super) fn span(self, (id, step): (DiscussionId, &Step), ended: &Ended<'_>, content: Content) -> Span {
        let operation =
            if is_comparison(step) { names::operation::EMBEDDINGS } else { names::operation::CHAT };
        let target = self.model.as_deref().unwrap_or(&self.provider);
        let name = format!("{operation} {target}");
        let mut attributes = vec![
            KeyValue::new(names::OPERATION, operation),
            KeyValue::new(names::CONVERSATION, id.to_string()),
            KeyValue::new(names::PROVIDER, self.provider),
            KeyValue::new(names::STEP, step.to_string()),
            KeyValue::new(names::ATTEMPT, i64::from(self.attempt)),
        ];
        attributes.extend(self.model.map(|it| KeyValue::new(names::REQUEST_MODEL, it)));
        if 0 < self.max_tokens {
            attributes.push(KeyValue::new(names::REQUEST_MAX_TOKENS, i64::from(self.max_tokens)));
        }
        attributes.extend(ended.attributes(content));
        Span {
            id: ids::attempt(id, step.as_str(), self.attempt),
            parent: SpanId::INVALID,
            name,
            kind: SpanKind::Client,
            from: self.from,
            to: self.from,
            attributes,
            error: ended.error(),
            link: None,
        }
    }
}

impl Ended<'_> {
    fn attributes(&self, content: Content) -> Vec<KeyValue> {
        match self {
            Ended::Answered(turn) => {
                let mut all = used(turn.bill.usage, turn.bill.cost, turn.bill.estimated);
                let finish = StringValue::from(turn.finish.name());
                all.push(KeyValue::new(names::FINISH_REASONS, Value::Array(Array::String(vec![finish]))));
                all.extend(turn.answered_by.clone().map(|it| KeyValue::new(names::RESPONSE_MODEL, it)));
                if content == Content::Captured {
                    all.push(content::answered(&turn.text, turn.finish.name()));
                }
                all
            }
            Ended::Compared(comparison) => used(comparison.usage, comparison.cost, false),
            Ended::Failed { bill: Some(bill), .. } => used(bill.usage, bill.cost, bill.estimated),
            Ended::Abandoned(why) => vec![KeyValue::new(names::ABANDONED, abandoned(*why))],
            Ended::Failed { bill: None, .. } | Ended::Interrupted | Ended::Unknown => Vec::new(),
        }
    }

    fn error(&self) -> Option<Cow<'static, str>> {
        match self {
            Ended::Failed { class, .. } => Some((*class).into()),
            Ended::Compared(comparison) => comparison.problem.as_ref().map(|_| "embedding_failed".into()),
            Ended::Abandoned(why) => abandoned_error(*why),
            Ended::Interrupted => Some(names::error::INTERRUPTED.into()),
            Ended::Answered(_) | Ended::Unknown => None,
        }
    }
}

fn used(usage: Usage, cost: Option<Usd>, estimated: bool) -> Vec<KeyValue> {
    let count = |name, tokens: u64| KeyValue::new(name, i64::try_from(tokens).unwrap_or(i64::MAX));
    let mut all =
        vec![count(names::INPUT_TOKENS, usage.prompt), count(names::OUTPUT_TOKENS, usage.completion)];
    all.extend((0 < usage.cached).then(|| count(names::CACHE_READ_TOKENS, usage.cached)));
    all.extend((0 < usage.written).then(|| count(names::CACHE_WRITE_TOKENS, usage.written)));
    all.extend(estimated.then(|| KeyValue::new(names::ESTIMATED, true)));
    all.extend(cost.map(|it| KeyValue::new(names::COST, it.dollars())));
    all
}

pub(super) fn abandoned(why: Abandoned) -> &'static str {
    match why {
        Abandoned::Enough => "enough",
        Abandoned::Deadline => "deadline",
        Abandoned::Aborted => "aborted",
        Abandoned::Crashed => "crashed",
    }
}

/// The error that a call which was given up counts as; none if it was only not needed any more.
pub(super) fn abandoned_error(why: Abandoned) -> Option<Cow<'static, str>> {
    match why {
        Abandoned::Deadline => Some(names::error::TIMEOUT.into()),
        Abandoned::Crashed => Some(names::error::INTERRUPTED.into()),
        Abandoned::Enough | Abandoned::Aborted => None,
    }
}
