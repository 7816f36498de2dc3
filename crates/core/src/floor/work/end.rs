//! The ends of jobs: those recorded here, and those of the discussion that this one was forked
//! from.

use super::{JobEnd, JobResult, Schedule, Work};
use crate::{
    floor::{
        Floor,
        reuse::{Source, digest_of},
        services::Services,
    },
    model::{
        event::{Ancestor, Convened, Event, Lineage, SubConcluded, ToolPlaced, ToolUsed},
        id::{DiscussionId, Seq, Step},
        money::Spent,
        spec::Spec,
        state::State,
    },
    record::Entry,
    registry::Snapshot,
    seams::StoreError,
};

impl Floor {
    /// The recorded end of a job.
    pub(super) async fn job_end(&self, step: &Step) -> Result<Option<JobEnd>, StoreError> {
        let state = &self.record.state;
        if let Some(sub) = state.subs.get(step) {
            let Some(end) = &sub.end else { return Ok(None) };
            let result = discussion_end(&self.services, end.clone()).await?;
            return Ok(Some(JobEnd { from_ms: sub.from_ms, result }));
        }
        let Some(run) = state.tools.get(step) else { return Ok(None) };
        let result = |used: &ToolUsed| JobResult::Tool(Box::new(used.clone()));
        Ok(run.end().map(|used| JobEnd { from_ms: run.from_ms, result: result(used) }))
    }

    /// The facts of a job that the original of this fork has done already; `None` if it has not.
    pub(super) fn reused_job(&self, name: &str, step: &Step, work: &Work) -> Option<Vec<Entry>> {
        match work {
            Work::Discussion(spec) => {
                let convened = convened(name, spec, None);
                let end = self.source.child(step, &convened.digest)?;
                let convened = Convened { child: end.child, ..convened };
                let end = SubConcluded { spent: Spent::default(), ..end.clone() };
                let facts = [Event::ChildConvened(convened), Event::SubConcluded(end)];
                Some(facts.map(|fact| (Some(step.clone()), fact)).to_vec())
            }
            Work::Tool(call) => {
                let used = self.source.tool(step, &call.arguments)?.clone();
                let placed = ToolPlaced {
                    name: name.to_owned(),
                    tool: call.tool.clone(),
                    attempt: used.attempt,
                    arguments: call.arguments.clone(),
                };
                let used = ToolUsed { reused: true, ..used };
                let facts = [Event::ToolPlaced(placed), Event::ToolUsed(used)];
                Some(facts.map(|fact| (Some(step.clone()), fact)).to_vec())
            }
        }
    }

    /// The lineage of a job's discussion. Sub-discussions count their depth from there.
    pub(super) fn lineage_of_job(&self, spec: &Spec, deadline_ms: Option<u64>) -> Lineage {
        let state = &self.record.state;
        let root = state.lineage.as_ref().map_or(state.id, |it| it.root);
        let mut chain = state.lineage.as_ref().map(|it| it.chain.clone()).unwrap_or_default();
        chain.push(Ancestor { id: state.id, topic: state.spec.topic.clone() });
        let total_ms = spec.timing.total_ms;
        let level_ms = spec
            .recursion
            .map_or(total_ms, |recursion| recursion.strategy.level_ms(total_ms, recursion.max_depth, 0));
        let left_ms = self.left_until(deadline_ms);
        Lineage { root, parent: state.id, depth: 0, chain, level_ms: level_ms.min(left_ms) }
    }

    /// The time left for the run, or until a job must be over.
    pub(super) fn left_until(&self, deadline_ms: Option<u64>) -> u64 {
        let active_ms = self.record.active_ms();
        let left = deadline_ms.map_or(u64::MAX, |deadline| deadline.saturating_sub(active_ms));
        self.remaining_ms().min(left)
    }
}

/// The fact that begins a job's discussion.
pub(super) fn convened(name: &str, spec: &Spec, child: Option<DiscussionId>) -> Convened {
    Convened { name: name.to_owned(), pattern: spec.pattern.clone(), digest: digest_of_spec(spec), child }
}

/// A short hash of a job's spec: jobs with the same hash ask the same.
fn digest_of_spec(spec: &Spec) -> String {
    let written = serde_json::to_string(spec).unwrap_or_default();
    digest_of([written.as_str()].into_iter())
}

/// The jobs that a fork takes over from its original.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reusable {
    /// The jobs that are taken over.
    pub kept: Vec<String>,
    /// The jobs that have all they need and are done again. Further ones may follow from them.
    pub fresh: Vec<String>,
}

/// Goes through a schedule with what the original has done, and begins nothing.
pub(crate) async fn reusable(
    services: &Services,
    source: &Source,
    schedule: &mut dyn Schedule,
) -> Result<Reusable, StoreError> {
    let mut found = Reusable::default();
    loop {
        let ready = schedule.ready();
        if ready.is_empty() {
            return Ok(found);
        }
        for job in ready {
            let step = Step::job(&job.name);
            let result = match &job.work {
                Work::Discussion(spec) => match source.child(&step, &digest_of_spec(spec)) {
                    Some(end) => Some(discussion_end(services, end.clone()).await?),
                    None => None,
                },
                Work::Tool(call) => {
                    let used = source.tool(&step, &call.arguments);
                    used.map(|it| JobResult::Tool(Box::new(it.clone())))
                }
            };
            match result {
                Some(result) => {
                    schedule.ended(&job.name, JobEnd { from_ms: 0, result });
                    found.kept.push(job.name);
                }
                None => found.fresh.push(job.name),
            }
        }
    }
}

/// The end of a job's discussion, with its state as recorded.
pub(super) async fn discussion_end(services: &Services, end: SubConcluded) -> Result<JobResult, StoreError> {
    let state = match end.child {
        Some(child) => child_state(services, child).await?,
        None => None,
    };
    let snapshot = |state| Box::new(Snapshot::new(Box::new(state), services.registry.clone()));
    Ok(JobResult::Discussion { end: Box::new(end), state: state.map(snapshot) })
}

async fn child_state(services: &Services, id: DiscussionId) -> Result<Option<State>, StoreError> {
    match services.store.read(id, Seq::START, usize::MAX).await {
        Ok(facts) => Ok(State::of(id, &facts)),
        Err(StoreError::Unknown(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
