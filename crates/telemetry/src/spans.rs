//! Folds the facts of one discussion into spans: the discussion, its participants' steps, their
//! attempts, and the tools it uses. A span is returned by the fact that ends it.

mod call;
mod step;

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use opentelemetry::{
    KeyValue,
    trace::{SpanId, SpanKind, TraceId},
};
use quorum_core::model::{
    event::{Event, Fact, FailedTurn, Lineage, ToolPlaced, ToolUsed},
    id::{DiscussionId, Step},
    lifecycle::Lifecycle,
    likeness::Comparison,
    spec::Spec,
    time::Timestamp,
    traceparent::Traceparent,
    transcript::Turn,
};

use crate::{content, ids, names, settings::Content, span_data::Span};
use call::{Call, Ended};
use step::StepSpan;

/// The spans of one discussion that are open.
pub(crate) struct Spans {
    id: DiscussionId,
    content: Content,
    /// The span of the discussion above that has led to this one, if that is known here.
    above: Option<SpanId>,
    opened: Option<Opened>,
    /// How often the discussion was retried after an error.
    retries: u32,
    /// When the run of the discussion began that is not over.
    since: Option<Timestamp>,
    /// What is known of the end of that run.
    ending: Ending,
    /// By the name of the step, without the purposes of one turn.
    steps: BTreeMap<String, StepSpan>,
    calls: BTreeMap<Step, Call>,
    tools: BTreeMap<Step, (ToolPlaced, Timestamp)>,
    /// The discussions below this one, each with the span it belongs to.
    children: Vec<(DiscussionId, SpanId)>,
}

struct Opened {
    spec: Arc<Spec>,
    lineage: Option<Lineage>,
    caller: Option<Traceparent>,
}

#[derive(Default)]
struct Ending {
    attributes: Vec<KeyValue>,
    error: Option<Cow<'static, str>>,
}

impl Spans {
    pub(crate) fn new(id: DiscussionId, above: Option<SpanId>, content: Content) -> Self {
        Spans {
            id,
            content,
            above,
            opened: None,
            retries: 0,
            since: None,
            ending: Ending::default(),
            steps: BTreeMap::new(),
            calls: BTreeMap::new(),
            tools: BTreeMap::new(),
            children: Vec::new(),
        }
    }

    /// The trace that the discussion belongs to.
    pub(crate) fn trace(&self) -> TraceId {
        let lineage = self.opened.as_ref().and_then(|it| it.lineage.as_ref());
        ids::trace(lineage.map_or(self.id, |it| it.root))
    }

    /// The discussions that were begun below this one since the last call.
    pub(crate) fn take_children(&mut self) -> Vec<(DiscussionId, SpanId)> {
        std::mem::take(&mut self.children)
    }

    /// Folds a fact, and returns the spans that end with it.
    pub(crate) fn fold(&mut self, fact: &Fact) -> Vec<Span> {
        let at = fact.at;
        match (&fact.event, &fact.step) {
            (Event::Opened { spec, lineage, caller, .. }, _) => {
                let (spec, lineage, caller) = (spec.clone(), lineage.clone(), *caller);
                self.opened = Some(Opened { spec, lineage, caller });
                self.since = Some(at);
                Vec::new()
            }
            (Event::Retried(_), _) => {
                self.retries += 1;
                (self.since, self.ending) = (Some(at), Ending::default());
                Vec::new()
            }
            (Event::CallPlaced(placed), Some(step)) => self.placed(step, Call::new(placed, at)),
            (Event::CallFailed { class, broken, .. }, Some(step)) => {
                let bill = broken.as_ref().map(|it| &it.bill);
                self.end_call(step, &Ended::Failed { class: class.name(), bill }, at)
            }
            (Event::CallAbandoned { why, .. }, Some(step)) => {
                let call = self.end_call(step, &Ended::Abandoned(*why), at);
                self.with_step(call, step, |it| it.abandoned(*why), at)
            }
            (Event::TurnCompleted { turn }, Some(step)) => self.completed(step, turn, at),
            (Event::Summarised(summary), Some(step)) => match &summary.turn {
                Some(turn) => self.completed(step, turn, at),
                None => self.close_step(step, at),
            },
            (Event::TurnFailed(failed), Some(step)) => self.failed(step, failed, at),
            (Event::Compared(comparison), Some(step)) => self.compared(step, comparison, at),
            (Event::PersonAwaited(awaited), _) => {
                self.steps
                    .entry(turn_step(&awaited.answers))
                    .or_insert_with(|| StepSpan::person(awaited, at));
                Vec::new()
            }
            (Event::SubRequested { turn, .. }, Some(step)) => {
                let parent = self.step_span(step);
                self.children.push((self.id.derived(step.as_str()), parent));
                self.end_call(&turn.step, &Ended::Answered(turn), at)
            }
            (Event::ChildConvened(_), Some(step)) => {
                self.children.push((self.id.derived(step.as_str()), self.own()));
                Vec::new()
            }
            (Event::ToolPlaced(placed), Some(step)) => {
                self.tools.insert(step.clone(), (placed.clone(), at));
                Vec::new()
            }
            (Event::ToolUsed(used), Some(step)) => self.tool_used(step, used, at),
            (Event::LifecycleChanged { to, .. }, _) if is_end(*to) => self.end(at),
            (event, _) => {
                self.note_ending(event);
                Vec::new()
            }
        }
    }

    /// The span of this discussion.
    fn own(&self) -> SpanId {
        ids::workflow(self.id, self.retries)
    }

    /// The span of the step that this one is a part of; that of the discussion if there is none.
    fn step_span(&self, step: &Step) -> SpanId {
        self.steps.get(&turn_step(step)).map_or_else(|| self.own(), |it| it.id(self.id))
    }

    fn placed(&mut self, step: &Step, call: Call) -> Vec<Span> {
        // The process that made the call before ended without an answer.
        let cut_off = self.end_call(step, &Ended::Interrupted, call.from);
        if !is_comparison(step) {
            let name = turn_step(step);
            self.steps.entry(name.clone()).or_insert_with(|| StepSpan::model(name, &call));
        }
        self.calls.insert(step.clone(), call);
        cut_off
    }

    fn end_call(&mut self, step: &Step, ended: &Ended<'_>, at: Timestamp) -> Vec<Span> {
        let Some(call) = self.calls.remove(step) else { return Vec::new() };
        let mut span = call.span((self.id, step), ended, self.content);
        (span.parent, span.to) = (self.step_span(step), at);
        if let Some(step) = self.steps.get_mut(&turn_step(step)) {
            step.called(&span);
        }
        vec![span]
    }

    fn completed(&mut self, step: &Step, turn: &Turn, at: Timestamp) -> Vec<Span> {
        let call = self.end_call(step, &Ended::Answered(turn), at);
        self.with_step(call, step, |it| it.completed(turn), at)
    }

    fn failed(&mut self, step: &Step, failed: &FailedTurn, at: Timestamp) -> Vec<Span> {
        let bill = failed.broken.as_ref().map(|it| &it.bill);
        let call = self.end_call(step, &Ended::Failed { class: failed.class.name(), bill }, at);
        self.with_step(call, step, |it| it.failed(failed), at)
    }

    /// Ends a step that has no turn.
    fn close_step(&mut self, step: &Step, at: Timestamp) -> Vec<Span> {
        let call = self.end_call(step, &Ended::Unknown, at);
        self.with_step(call, step, |_| {}, at)
    }

    fn compared(&mut self, step: &Step, comparison: &Comparison, at: Timestamp) -> Vec<Span> {
        self.end_call(step, &Ended::Compared(comparison), at)
    }

    /// Ends the step of these calls.
    fn with_step(
        &mut self,
        mut spans: Vec<Span>,
        step: &Step,
        learn: impl FnOnce(&mut StepSpan),
        at: Timestamp,
    ) -> Vec<Span> {
        if let Some(mut ended) = self.steps.remove(&turn_step(step)) {
            learn(&mut ended);
            spans.push(ended.span(self.id, self.own(), at));
        }
        spans
    }

    fn tool_used(&mut self, step: &Step, used: &ToolUsed, at: Timestamp) -> Vec<Span> {
        let Some((placed, from)) = self.tools.remove(step) else { return Vec::new() };
        let tool = placed.tool;
        vec![Span {
            id: ids::attempt(self.id, step.as_str(), used.attempt),
            parent: self.own(),
            name: format!("{} {tool}", names::operation::TOOL),
            kind: SpanKind::Internal,
            from,
            to: at,
            attributes: vec![
                KeyValue::new(names::OPERATION, names::operation::TOOL),
                KeyValue::new(names::CONVERSATION, self.id.to_string()),
                KeyValue::new(names::TOOL_NAME, tool),
                KeyValue::new(names::STEP, step.to_string()),
                KeyValue::new(names::ATTEMPT, i64::from(used.attempt)),
            ],
            error: used.error.as_ref().map(|it| it.code.clone().into()),
            link: None,
        }]
    }

    /// Notes what a fact says about how the discussion ends.
    fn note_ending(&mut self, event: &Event) {
        let ending = &mut self.ending;
        match event {
            Event::Decided { decision } if self.content == Content::Captured => {
                ending.attributes.push(content::answered(&decision.synthesis, "stop"));
            }
            Event::Concluded(end) => {
                ending.attributes.push(KeyValue::new(names::SUCCESS, end.success));
                ending.attributes.push(KeyValue::new(names::STOPPING, end.stopping.name().to_owned()));
                ending.error = end.problem.as_ref().map(|it| it.code.to_string().into());
            }
            Event::Failed { problem, .. } => {
                ending.attributes.push(KeyValue::new(names::SUCCESS, false));
                ending.error = Some(problem.code.to_string().into());
            }
            _ => {}
        }
    }

    /// Ends what is open, and the discussion.
    fn end(&mut self, at: Timestamp) -> Vec<Span> {
        let Some(from) = self.since.take() else { return Vec::new() };
        let open: Vec<Step> = self.calls.keys().cloned().collect();
        let mut spans: Vec<Span> =
            open.iter().flat_map(|step| self.end_call(step, &Ended::Interrupted, at)).collect();
        let own = self.own();
        spans.extend(std::mem::take(&mut self.steps).into_values().map(|it| it.span(self.id, own, at)));
        self.tools.clear();
        let Ending { attributes, error } = std::mem::take(&mut self.ending);
        let Some(opened) = &self.opened else { return spans };
        let pattern = &opened.spec.pattern;
        let mut all = vec![
            KeyValue::new(names::OPERATION, names::operation::WORKFLOW),
            KeyValue::new(names::CONVERSATION, self.id.to_string()),
            KeyValue::new(names::WORKFLOW_NAME, pattern.clone()),
        ];
        if self.content == Content::Captured {
            all.push(content::asked(&opened.spec.topic));
        }
        all.extend(attributes);
        let above = || opened.lineage.as_ref().map(|it| ids::workflow(it.parent, 0));
        spans.push(Span {
            id: own,
            parent: self.above.or_else(above).unwrap_or(SpanId::INVALID),
            name: format!("{} {pattern}", names::operation::WORKFLOW),
            kind: SpanKind::Internal,
            from,
            to: at,
            attributes: all,
            error,
            link: opened.caller,
        });
        spans
    }
}

/// Whether speeches are compared by meaning at this step.
fn is_comparison(step: &Step) -> bool {
    step.is_aside() && !step.is_summary()
}

fn is_end(lifecycle: Lifecycle) -> bool {
    lifecycle.is_terminal() || lifecycle == Lifecycle::Error
}

/// The step of the turn that a call or a sub-discussion is a part of: one turn may ask for
/// sub-discussions (`…/sub1`) and go on after them (`…/after1`).
fn turn_step(step: &Step) -> String {
    let is_numbered = |purpose: &str| {
        let number = purpose.strip_prefix("sub").or_else(|| purpose.strip_prefix("after"));
        number.is_some_and(|it| !it.is_empty() && it.bytes().all(|digit| digit.is_ascii_digit()))
    };
    match step.as_str().rsplit_once('/') {
        Some((base, last)) if is_numbered(last) && 2 <= base.matches('/').count() => base.to_owned(),
        _ => step.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_turn_belong_to_its_step() {
        let check = |step: &str, expected: &str| assert_eq!(turn_step(&Step::from(step)), expected);
        check("1/speaking/ann", "1/speaking/ann");
        check("1/speaking/ann/sub1", "1/speaking/ann");
        check("1/speaking/ann/after12", "1/speaking/ann");
        check("1/speaking/ann/remind1/after1", "1/speaking/ann/remind1");
        check("1/speaking/ann/remind1", "1/speaking/ann/remind1");
        check("1/speaking/ann/subtle", "1/speaking/ann/subtle");
        check("1/speaking/sub1", "1/speaking/sub1");
        check("summary/12", "summary/12");
    }
}
