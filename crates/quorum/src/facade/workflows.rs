//! Runs of workflows: checked files become records of the pattern `workflow`.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    engine::handle::Handle,
    model::{
        error::Code,
        spec::{Spec, Tolerance},
    },
    registry::MissingRoles,
};
use quorum_patterns::workflow::{
    plan::{Action, DiscussAction, Plan, PlanStep, walk},
    plan_of,
};
use serde_json::Value;

use crate::{
    Complaint, Discussion, Error, Origin, Request, Scope,
    request::{Setting, draft},
    workflow::{Checked, RunError, RunOrder, check, given::Given, tools::ToolTable, uses_of_input},
};

/// The pattern that runs a plan.
const WORKFLOW: &str = "workflow";

/// How long a run may take unless it says otherwise: a day of active time.
const USUAL_TOTAL_MS: u64 = 24 * 60 * 60 * 1_000;

/// The fields of a request that apply to a whole run.
const OF_A_RUN: &[&str] = &["maxCalls", "maxTokens", "maxCost", "budgetMs", "sessionId", "simulate", "seed"];

impl Scope {
    /// Checks a workflow without asking anyone.
    pub fn check_workflow(&self, order: &RunOrder) -> Result<Checked, RunError> {
        let setting = Setting { missing_roles: MissingRoles::Refuse, ..self.quorum.0.setting.clone() };
        let base = Request {
            offline: order.request.offline,
            seed: order.request.seed,
            simulate: order.request.simulate.clone(),
            ..Request::default()
        };
        let config = self.quorum.config();
        let none = BTreeMap::new();
        // Programs are for the user of this machine alone.
        let declared = if order.declared_tools { &config.tools } else { &none };
        let allowed = order.allow_tools.iter().chain(&config.workflows.tools);
        let around = check::Surroundings {
            setting: &setting,
            base: &base,
            provider: config.workflows.provider.as_deref(),
            tools: &ToolTable::new(declared, allowed, &order.how_to_allow),
        };
        let (input, variables) = (order.input.clone(), order.variables.clone());
        check::check(&order.file, &order.text, &around, input, variables).map_err(|wrong| {
            // Without any provider, no place in the file is to blame.
            let is_of_machine = |it: &Complaint| it.origin == Some(Origin::DefaultPanel);
            match wrong.lacks_providers() && wrong.lacking.iter().all(is_of_machine) {
                true => RunError::Quorum(Error::Refused(wrong.lacking)),
                false => RunError::Wrong(wrong),
            }
        })
    }

    /// The spec of a run, or everything that is wrong with it.
    pub fn plan_workflow(&self, order: &RunOrder) -> Result<Spec, RunError> {
        let checked = self.check_workflow(order)?;
        let request = Request { topic: checked.name.clone(), ..order.request.clone() };
        let (spec, complaints) = draft(&request, &self.quorum.0.setting);
        let mut complaints: Vec<Complaint> =
            complaints.into_iter().filter(|it| OF_A_RUN.contains(&it.field.as_str())).collect();
        let plan = written(&checked.plan)?;
        let mut timing = spec.timing;
        if order.request.budget_ms.is_none() {
            timing.total_ms = USUAL_TOTAL_MS;
        }
        let spec = Spec {
            pattern: WORKFLOW.to_owned(),
            rounds: 1,
            background: None,
            participants: Vec::new(),
            options: Vec::new(),
            tolerance: Tolerance { go_on: true, min_providers: 0 },
            recursion: None,
            early_exit: None,
            settings: Default::default(),
            tenant: self.tenant.clone(),
            timing,
            plan: Some(Arc::new(plan)),
            ..spec
        };
        complaints.extend(without_input(&checked.plan));
        complaints.extend(self.unpriced(&spec, &checked.plan.steps));
        let refusals = self.quorum.0.engine.refusals(&spec);
        complaints.extend(refusals.into_iter().map(Complaint::from));
        if complaints.is_empty() { Ok(spec) } else { Err(Error::Refused(complaints).into()) }
    }

    /// The steps whose price is unknown, if there is a budget in money.
    fn unpriced(&self, run: &Spec, steps: &[PlanStep]) -> Vec<Complaint> {
        let mut found: Vec<Complaint> = Vec::new();
        walk(steps, &mut |step, _| {
            let spec = match &step.action {
                Action::Prompt(action) => &action.spec,
                Action::Discuss(action) => &action.spec,
                Action::Tool(_)
                | Action::Parallel { .. }
                | Action::Conditional { .. }
                | Action::Loop { .. } => {
                    return;
                }
            };
            let limited = Spec { limits: run.limits, ..spec.clone() };
            let refusals = self.quorum.0.engine.refusals(&limited).into_iter();
            let of_cost = refusals.filter(|it| it.field == "maxCost").map(Complaint::from);
            found.extend(of_cost.filter(|it| found.is_empty() || !found.contains(it)).collect::<Vec<_>>());
        });
        found
    }

    /// The run with what its discussions ask for of past ones, looked up once, before the first
    /// step. A question is looked up as far as it is known by then: without the outputs of steps.
    pub(super) async fn with_recalled_steps(&self, run: Spec) -> Result<Spec, Error> {
        let Some(mut plan) = plan_of(&run) else { return Ok(run) };
        let given = Given { input: plan.input.clone(), variables: plan.variables.clone() };
        let mut found = false;
        for (_, action) in discussions(&mut plan.steps) {
            if action.spec.recall.is_none() || action.spec.recalled.is_some() {
                continue;
            }
            let topic = given.question(action.prompt.as_deref());
            let step = Spec { topic, tenant: run.tenant.clone(), ..action.spec.clone() };
            action.spec.recalled = self.with_recalled(step).await?.recalled;
            found = true;
        }
        if !found {
            return Ok(run);
        }
        Ok(Spec { plan: Some(Arc::new(written(&plan)?)), ..run })
    }

    /// Starts a run.
    pub async fn run_workflow(&self, order: &RunOrder) -> Result<(Discussion, Handle), RunError> {
        let spec = self.plan_workflow(order)?;
        Ok(self.start(spec).await?)
    }
}

/// The complaint about a run without the input that a step asks about.
fn without_input(plan: &Plan) -> Option<Complaint> {
    let uses = uses_of_input(&plan.steps);
    let first = uses.iter().find(|it| it.is_whole).filter(|_| plan.input.is_null())?;
    let message = format!(
        "is missing, and the step {} uses {}; a file can have a default for it: \
         {{{{input | default: 'TEXT'}}}}",
        first.step, first.written
    );
    Some(Complaint::new("input", Code::InvalidRequest, message).in_combination())
}

pub(super) fn written(plan: &Plan) -> Result<Value, Error> {
    serde_json::to_value(plan).map_err(|error| Error::Fault(format!("the plan can't be written: {error}")))
}

/// All discussions of these steps, with the ids of their steps.
pub(super) fn discussions(steps: &mut [PlanStep]) -> Vec<(&str, &mut DiscussAction)> {
    let mut found = Vec::new();
    for PlanStep { id, action, .. } in steps {
        match action {
            Action::Discuss(action) => found.push((id.as_str(), &mut **action)),
            Action::Parallel { steps, .. } | Action::Loop { steps, .. } => found.extend(discussions(steps)),
            Action::Conditional { then, otherwise, .. } => {
                found.extend(discussions(then));
                found.extend(discussions(otherwise));
            }
            Action::Prompt(_) | Action::Tool(_) => {}
        }
    }
    found
}
