//! Follows discussions and hands their spans to a processor.

use std::{
    collections::HashMap,
    env, fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use opentelemetry::trace::{SpanId, SpanKind};
use opentelemetry_sdk::trace::{Config, SamplingDecision, ShouldSample, SpanProcessor};
use quorum_core::{
    model::{event::Fact, id::DiscussionId},
    seams::{FactFollower, Telemetry},
};

use crate::{
    export::{self, Trouble},
    names,
    settings::{self, Content, SettingsError},
    spans::Spans,
};

/// How long sending what is left may take.
const LONGEST_FLUSH: Duration = Duration::from_secs(3);

/// Reports discussions as traces.
#[derive(Debug, Clone)]
pub struct Tracing(Arc<Shared>);

struct Shared {
    processor: Box<dyn SpanProcessor>,
    sampler: Box<dyn ShouldSample>,
    content: Content,
    trouble: Trouble,
    /// The discussions below those that are followed, each with the span it belongs to.
    below: Mutex<HashMap<DiscussionId, SpanId>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracing").field("content", &self.content).finish_non_exhaustive()
    }
}

impl Shared {
    fn below(&self) -> MutexGuard<'_, HashMap<DiscussionId, SpanId>> {
        self.below.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tracing {
    /// Sends spans as the standard `OTEL_*` variables say. Nothing is sent before the first span.
    pub fn from_environment() -> Result<Self, SettingsError> {
        let lookup = |name: &str| env::var(name).ok();
        settings::check_protocol(&lookup)?;
        Tracing::sending(None, settings::content(&lookup))
    }

    /// Sends spans to this address of a collector, `http://127.0.0.1:4318/v1/traces` for instance.
    /// The variables count for everything else but the content.
    pub fn sending_to(address: &str, content: Content) -> Result<Self, SettingsError> {
        Tracing::sending(Some(address), content)
    }

    fn sending(address: Option<&str>, content: Content) -> Result<Self, SettingsError> {
        let trouble = Trouble::default();
        let processor = Box::new(export::processor(address, &trouble)?);
        let (sampler, below) = (Config::default().sampler, Mutex::default());
        Ok(Tracing(Arc::new(Shared { processor, sampler, content, trouble, below })))
    }
}

impl Telemetry for Tracing {
    fn follow(&self, id: DiscussionId) -> Box<dyn FactFollower> {
        let above = self.0.below().get(&id).copied();
        let spans = Spans::new(id, above, self.0.content);
        Box::new(Follower { shared: self.0.clone(), spans, sampled: None, children: Vec::new() })
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), String>> {
        let shared = self.0.clone();
        Box::pin(async move {
            let trouble = shared.trouble.clone();
            let flushed = tokio::task::spawn_blocking(move || shared.processor.force_flush());
            match tokio::time::timeout(LONGEST_FLUSH, flushed).await {
                Ok(Ok(Ok(()))) => trouble.last().map_or(Ok(()), Err),
                Ok(Ok(Err(error))) => Err(error.to_string()),
                Ok(Err(panic)) => Err(panic.to_string()),
                Err(_) => Err(format!("the collector did not answer within {} s", LONGEST_FLUSH.as_secs())),
            }
        })
    }
}

struct Follower {
    shared: Arc<Shared>,
    spans: Spans,
    /// Whether the trace is sampled, once that was decided. The decision follows from its id, so
    /// all processes decide alike.
    sampled: Option<bool>,
    children: Vec<DiscussionId>,
}

impl Follower {
    fn is_sampled(&mut self) -> bool {
        let (sampler, trace) = (&self.shared.sampler, self.spans.trace());
        *self.sampled.get_or_insert_with(|| {
            let name = names::operation::WORKFLOW;
            let decided = sampler.should_sample(None, trace, name, &SpanKind::Internal, &[], &[]);
            decided.decision == SamplingDecision::RecordAndSample
        })
    }

    fn note_children(&mut self) {
        for (child, parent) in self.spans.take_children() {
            self.shared.below().insert(child, parent);
            self.children.push(child);
        }
    }
}

impl FactFollower for Follower {
    fn learn(&mut self, fact: &Fact) {
        drop(self.spans.fold(fact));
        self.note_children();
    }

    fn report(&mut self, fact: &Fact) {
        let ended = self.spans.fold(fact);
        self.note_children();
        if ended.is_empty() || !self.is_sampled() {
            return;
        }
        let trace = self.spans.trace();
        for span in ended {
            self.shared.processor.on_end(span.into_data(trace));
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut below = self.shared.below();
        for child in &self.children {
            below.remove(child);
        }
    }
}
