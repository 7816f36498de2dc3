//! Forks of runs: go on with other input or a changed workflow, and do again only what differs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quorum_core::{
    floor::work::Reusable,
    model::{
        error::{Code, Refusal},
        event::{self, Event, Fact},
        id::{DiscussionId, Seq, Step},
        spec::Spec,
        state::State,
        time::iso,
    },
    seams::Created,
};
use quorum_patterns::workflow::{
    plan::{Action, FirstRun, Plan, PlanStep, walk},
    plan_of, schedule,
};
use serde_json::{Map, Value};

use super::workflows::{discussions, written};
use crate::{
    Discussion, Error, OrderKey, Request, Scope, Started,
    workflow::{RunError, RunOrder, tools::ToolTable},
};

/// The step at which a fork of a run branches off, and its changes.
#[derive(Debug, Clone, Default)]
pub struct RunForking {
    /// The step to branch off after.
    pub at: String,
    /// What the run is given now; as before if absent.
    pub input: Option<Value>,
    /// Values by name; as before if absent.
    pub variables: Option<Map<String, Value>>,
    /// The changed workflow, which tools are allowed, and the budgets. Without a text, the recorded
    /// plan is kept. Its own input and variables are not read.
    pub order: RunOrder,
    /// Whether tools may be used again.
    pub rerun_tools: bool,
}

/// A checked fork of a run. Nothing was asked for it yet.
#[derive(Debug, Clone)]
pub struct ForkedRun {
    fork: event::Fork,
    spec: Spec,
}

impl ForkedRun {
    /// The spec of the new run.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }
}

impl Discussion {
    /// Whether it is a run of a workflow.
    pub async fn is_run(&self) -> Result<bool, Error> {
        Ok(self.state().await?.spec.plan.is_some())
    }

    /// Checks a fork of this run. Costs nothing.
    pub async fn check_run_fork(&self, forking: &RunForking) -> Result<ForkedRun, RunError> {
        let past = self.state().await?;
        let facts = self.facts(Seq::START).await?;
        let Some(before) = plan_of(&past.spec) else {
            let message = "this is not a run of a workflow";
            return Err(refused("id", message).into());
        };
        let plan = self.scope.forked_plan(&past, &before, forking)?;
        let at = branch(&before, &facts, forking.at.trim())?;
        let spec = Spec { plan: Some(Arc::new(written(&plan)?)), ..past.spec.as_ref().clone() };
        let spec = self.scope.with_budgets(spec, &forking.order.request);
        let is_same = Plan { first_run: None, rerun_tools: false, ..plan.clone() }
            == Plan { first_run: None, rerun_tools: false, ..before };
        if is_same && past.outcome().success {
            let message = "nothing is changed and every step has its output, so nothing would be done; \
                           change the input, the variables or the workflow";
            return Err(refused("workflow", message).into());
        }
        Ok(ForkedRun { fork: event::Fork { of: past.id, at }, spec })
    }

    /// Which steps the fork takes over. Asks no model and uses no tool.
    pub async fn reusable_steps(&self, forked: &ForkedRun) -> Result<Reusable, Error> {
        let Some(plan) = plan_of(&forked.spec) else { return Ok(Reusable::default()) };
        let mut schedule = schedule(plan, self.id(), self.state().await?.opened_at);
        Ok(self.scope.quorum.0.engine.reusable_jobs(forked.fork.clone(), &mut schedule).await?)
    }

    /// Starts the fork; the same key with the same fork returns the same run.
    pub async fn fork_run(&self, forked: ForkedRun, key: Option<&OrderKey>) -> Result<Started, Error> {
        let started = self.scope.fork_run_once(forked, key).await;
        self.logged("fork", started).await
    }

    /// Records the fork for any node to run, once per key; at most `most` orders of a tenant may
    /// wait at the same time.
    pub async fn queue_fork_run(
        &self,
        forked: ForkedRun,
        key: Option<&OrderKey>,
        most: u64,
    ) -> Result<(Discussion, Created), Error> {
        let spec = self.scope.with_recalled(forked.spec).await?;
        let queued = self.scope.queue_fork((forked.fork, spec), key, most).await;
        self.logged("fork", queued).await
    }
}

impl Scope {
    /// The plan of the fork: the changed workflow or the recorded one, with what it is given.
    fn forked_plan(&self, past: &State, before: &Plan, forking: &RunForking) -> Result<Plan, RunError> {
        let input = forking.input.clone().unwrap_or_else(|| before.input.clone());
        let variables = forking.variables.clone().unwrap_or_else(|| before.variables.clone());
        let first_run = before.first_run.clone();
        let first_run = first_run
            .unwrap_or_else(|| FirstRun { id: past.id.to_string(), started_at: iso(past.opened_at) });
        let mut plan = if forking.order.text.is_empty() {
            self.may_use_tools(&before.steps, &forking.order)?;
            Plan { input, variables, ..before.clone() }
        } else {
            let voices = Request::of(&past.spec, self.quorum.registry());
            let request = Request {
                offline: voices.offline,
                seed: voices.seed,
                simulate: voices.simulate,
                ..Request::default()
            };
            let order = RunOrder { input, variables, request, ..forking.order.clone() };
            self.check_workflow(&order)?.plan
        };
        keep_recalled(&before.steps, &mut plan.steps);
        plan.rerun_tools = forking.rerun_tools;
        plan.first_run = Some(first_run);
        Ok(plan)
    }

    /// Refuses a recorded plan with tools that may not be used now.
    fn may_use_tools(&self, steps: &[PlanStep], order: &RunOrder) -> Result<(), Error> {
        let (config, none) = (self.quorum.config(), BTreeMap::new());
        let declared = if order.declared_tools { &config.tools } else { &none };
        let allowed = order.allow_tools.iter().chain(&config.workflows.tools);
        let tools = ToolTable::new(declared, allowed, &order.how_to_allow);
        let mut wrong = None;
        walk(steps, &mut |step, _| {
            if let Action::Tool(action) = &step.action {
                wrong = wrong.take().or_else(|| tools.find(&action.tool).err());
            }
        });
        wrong.map_or(Ok(()), |message| Err(refused("workflow", message)))
    }

    /// The spec with the newly given budgets.
    fn with_budgets(&self, spec: Spec, request: &Request) -> Spec {
        let mut spec = self.as_own(spec);
        spec.limits.calls = request.max_calls.or(spec.limits.calls);
        spec.limits.tokens = request.max_tokens.or(spec.limits.tokens);
        if let Some(ms) = request.budget_ms {
            spec.timing.total_ms = ms;
        }
        spec
    }

    async fn fork_run_once(&self, forked: ForkedRun, key: Option<&OrderKey>) -> Result<Started, Error> {
        self.quorum.switched_on()?;
        let spec = self.with_recalled(forked.spec).await?;
        let (id, began) = match key {
            Some(_) => self.place(key).await?,
            None => (DiscussionId::fresh(), false),
        };
        let _locked = self.quorum.0.locks.lock(id).await;
        if began && let Ok(discussion) = self.discussion(id).await {
            return Ok(Started { discussion, handle: None });
        }
        let (discussion, handle) = self.fork_as(id, forked.fork, spec).await?;
        Ok(Started { discussion, handle: Some(handle) })
    }
}

/// A discussion of the fork shows what the one at the same step of the original showed: nothing is
/// looked up again.
fn keep_recalled(before: &[PlanStep], steps: &mut [PlanStep]) {
    let mut shown = BTreeMap::new();
    walk(before, &mut |step, _| {
        if let Action::Discuss(action) = &step.action {
            shown.insert(step.id.clone(), action.spec.recalled.clone());
        }
    });
    for (id, action) in discussions(steps) {
        if action.spec.recall.is_some() && action.spec.recalled.is_none() {
            action.spec.recalled = shown.get(id).cloned().flatten();
        }
    }
}

/// The recorded step at which the fork branches off: the one of this name, or the last one inside
/// it.
fn branch(plan: &Plan, facts: &[Fact], wanted: &str) -> Result<Step, Error> {
    let ended = facts.iter().filter(|it| matches!(it.event, Event::SubConcluded(_) | Event::ToolUsed(_)));
    let names: Vec<&str> = ended.filter_map(|it| it.step.as_ref()?.job_name()).collect();
    let inside = within(&plan.steps, wanted);
    let is_it = |name: &&&str| {
        let id = name.rsplit('/').next().unwrap_or_default();
        **name == wanted || inside.iter().any(|it| it == id)
    };
    match names.iter().rev().find(is_it) {
        Some(name) => Ok(Step::job(name)),
        None if names.is_empty() => Err(refused("at", "no step of this run has ended yet")),
        None => {
            let known: BTreeSet<&str> = names.into_iter().collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            Err(refused("at", format!("no step {wanted} has ended in this run; there are {known}")))
        }
    }
}

/// The ids of the steps inside the step with this id.
fn within(steps: &[PlanStep], wanted: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(steps, &mut |step, _| {
        if step.id == wanted {
            for inside in step.action.inside() {
                walk(inside, &mut |it, _| found.push(it.id.clone()));
            }
        }
    });
    found
}

fn refused(field: &str, message: impl Into<String>) -> Error {
    Error::refused(Refusal::new(field, Code::InvalidRequest, message))
}
