//! A finished span in the form that exporters take.

use std::{
    borrow::Cow,
    sync::LazyLock,
    time::{Duration, SystemTime},
};

use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use quorum_core::model::{time::Timestamp, traceparent::Traceparent};

use crate::names;

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub(crate) id: SpanId,
    /// The span above it; invalid for the root of a trace.
    pub(crate) parent: SpanId,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) attributes: Vec<KeyValue>,
    /// The class of the error that it ended with.
    pub(crate) error: Option<Cow<'static, str>>,
    /// The span of another trace that has caused it.
    pub(crate) link: Option<Traceparent>,
}

static SCOPE: LazyLock<InstrumentationScope> = LazyLock::new(|| {
    InstrumentationScope::builder(names::QUORUM)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_schema_url(names::SCHEMA)
        .build()
});

impl Span {
    pub(crate) fn into_data(self, trace: TraceId) -> SpanData {
        let mut attributes = self.attributes;
        let status = match &self.error {
            Some(class) => {
                attributes.push(KeyValue::new(names::ERROR_TYPE, class.to_string()));
                Status::error("")
            }
            None => Status::Unset,
        };
        let mut links = SpanLinks::default();
        links.links.extend(self.link.as_ref().map(linked));
        // Facts of two machines may come by two clocks.
        let to = self.to.max(self.from);
        SpanData {
            span_context: context(trace, self.id, TraceFlags::SAMPLED),
            parent_span_id: self.parent,
            parent_span_is_remote: false,
            span_kind: self.kind,
            name: self.name.into(),
            start_time: system_time(self.from),
            end_time: system_time(to),
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links,
            status,
            instrumentation_scope: SCOPE.clone(),
        }
    }
}

fn linked(caller: &Traceparent) -> Link {
    let (trace, span) = (TraceId::from_bytes(caller.trace()), SpanId::from_bytes(caller.span()));
    Link::with_context(context(trace, span, TraceFlags::new(caller.flags())))
}

fn context(trace: TraceId, span: SpanId, flags: TraceFlags) -> SpanContext {
    SpanContext::new(trace, span, flags, false, TraceState::NONE)
}

fn system_time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(at.0.try_into().unwrap_or_default())
}
