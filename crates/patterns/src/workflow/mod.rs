//! Workflow: works through a checked plan of steps. It asks nobody itself: its steps are
//! discussions and tools below it. Hidden, because a plan comes from a workflow file and not from a
//! request.

pub mod condition;
mod course;
mod job;
pub mod overview;
pub mod plan;
pub mod report;
mod scope;
pub mod template;

use std::sync::Arc;

use quorum_core::{
    floor::{Floor, halt::Halt, work::Schedule},
    model::{
        error::{Code, Problem, Refusal},
        id::DiscussionId,
        outcome::Decision,
        phase::{Phase, PhaseTable},
        spec::Spec,
        state::State,
        time::Timestamp,
    },
    registry::{Defaults, Pattern},
};

use course::Course;
use plan::Plan;

const WORKING: Phase = Phase("working");

/// The most steps of a workflow, those inside others included.
pub const MOST_STEPS: usize = 200;

pub(crate) const PATTERN: Pattern = Pattern {
    name: "workflow",
    summary: "Works through the steps of a plan",
    hidden: true,
    decides: true,
    defaults: Defaults { rounds: 1, seats: (0, 0), ..Defaults::PLAIN },
    phases: PhaseTable { first: &[WORKING], next: &[] },
    results: report::FIELDS,
    check,
    best,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

/// The plan of this spec.
#[must_use]
pub fn plan_of(spec: &Spec) -> Option<Plan> {
    serde_json::from_value((**spec.plan.as_ref()?).clone()).ok()
}

/// The order in which the steps of a plan begin, for a look ahead.
#[must_use]
pub fn schedule(plan: Plan, id: DiscussionId, started_at: Timestamp) -> impl Schedule {
    Course::new(Arc::new(plan), id, started_at, Vec::new())
}

fn check(spec: &Spec) -> Vec<Refusal> {
    let refusal = |message: &str| vec![Refusal::new("plan", Code::InvalidRequest, message)];
    match plan_of(spec) {
        None => refusal("there is no plan that can be read"),
        Some(_) if !spec.participants.is_empty() => refusal("the steps of a plan name the participants"),
        Some(plan) => {
            let mut count = 0;
            plan::walk(&plan.steps, &mut |_, _| count += 1);
            if count > MOST_STEPS { refusal("there are too many steps") } else { Vec::new() }
        }
    }
}

/// What the finished steps came to, for a run that was stopped or ran out of something.
fn best(state: &State) -> Option<Decision> {
    let plan = plan_of(&state.spec)?;
    let mut decision = report::decision(&plan, &report::results(state));
    decision.degraded = true;
    Some(decision)
}

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(WORKING, 1).await?;
    let Some(plan) = plan_of(&floor.spec()) else {
        let problem = Some(Problem::new(Code::RecordDiverged, "the plan of this run can't be read"));
        return Ok(Some(Decision { problem, degraded: true, ..Decision::default() }));
    };
    let (plan, concurrency) = (Arc::new(plan.clone()), plan.concurrency);
    let mut course = Course::new(plan, floor.id(), floor.opened_at(), floor.open_jobs());
    floor.work(concurrency, &mut course).await?;
    Ok(Some(course.decision()))
}
