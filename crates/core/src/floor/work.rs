//! Jobs: discussions and tools that a pattern runs side by side, each under a name of its own. The
//! pattern says which may begin; what is recorded is not done again.

mod end;
mod running;

pub use end::Reusable;
pub(crate) use end::reusable;

use serde_json::Value;

use crate::{
    floor::{Floor, halt::Halt},
    model::{
        event::{SubConcluded, ToolUsed},
        id::{DiscussionId, Step},
        retry_policy::RetryPolicy,
        spec::Spec,
        time::Timestamp,
    },
    registry::Snapshot,
};

/// A job: a discussion or the use of a tool.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its name, unique in the run; ids and steps are derived from it.
    pub name: String,
    /// What to do.
    pub work: Work,
    /// The active time of the run at which it must be over.
    pub deadline_ms: Option<u64>,
}

/// The action of a job.
#[derive(Debug, Clone)]
pub enum Work {
    /// Holds a discussion with this spec.
    Discussion(Box<Spec>),
    /// Uses a tool.
    Tool(ToolCall),
}

/// The use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// How long it may take.
    pub timeout_ms: u64,
    /// Whether it may be used again if the process ended while it was under way.
    pub repeatable: bool,
    /// Whether a fork may use it again if the arguments differ from the original's.
    pub again_in_forks: bool,
    /// How often it is tried; once, if not given.
    pub retry: Option<RetryPolicy>,
}

/// The end of a job.
#[derive(Debug, Clone)]
pub struct JobEnd {
    /// The active time of the run when it began.
    pub from_ms: u64,
    /// The result.
    pub result: JobResult,
}

/// The result of a job.
#[derive(Debug, Clone)]
pub enum JobResult {
    /// A discussion that is over.
    Discussion {
        /// Its report.
        end: Box<SubConcluded>,
        /// Its state; `None` if its record was removed.
        state: Option<Box<Snapshot>>,
    },
    /// A tool that was used.
    Tool(Box<ToolUsed>),
}

/// A value to record when a job or several have ended.
#[derive(Debug, Clone)]
pub struct JobNote {
    /// The kind of note.
    pub kind: &'static str,
    /// Distinguishes it from other notes of its kind.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The same in one line for people.
    pub told: Option<String>,
}

/// Decides which jobs begin when. It must follow from the plan and the ends of jobs alone, because
/// a replay asks it again.
pub trait Schedule: Send {
    /// The jobs that may begin now, each returned once.
    fn ready(&mut self) -> Vec<Job>;

    /// Takes the end of a job.
    fn ended(&mut self, name: &str, end: JobEnd);

    /// The notes that follow from the ends so far, each returned once.
    fn notes(&mut self) -> Vec<JobNote>;
}

impl Floor {
    /// Runs the jobs of a schedule, at most this many at once, until none is left.
    pub async fn work(&mut self, most: usize, schedule: &mut dyn Schedule) -> Result<(), Halt> {
        running::Running::of(self, most, schedule).run().await
    }

    /// The names of the jobs that were begun and have not ended. They continue in any case.
    #[must_use]
    pub fn open_jobs(&self) -> Vec<String> {
        let state = &self.record.state;
        let subs = state.subs.iter().filter(|(_, sub)| sub.end.is_none()).map(|(step, _)| step);
        let tools = state.tools.iter().filter(|(_, run)| run.end().is_none()).map(|(step, _)| step);
        subs.chain(tools).filter_map(Step::job_name).map(str::to_owned).collect()
    }

    /// The discussion's id.
    #[must_use]
    pub fn id(&self) -> DiscussionId {
        self.record.state.id
    }

    /// When the discussion was created, as recorded.
    #[must_use]
    pub fn opened_at(&self) -> Timestamp {
        self.record.state.opened_at
    }
}
