//! Runs of workflows: checked files become records of the pattern `workflow`.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    engine::handle::Handle,
    model::spec::{Spec, Tolerance},
    registry::MissingRoles,
};
use quorum_patterns::workflow::plan::{Action, PlanStep, walk};

use crate::{
    Complaint, Discussion, Error, Request, Scope,
    request::{Setting, draft},
    workflow::{Checked, RunError, RunOrder, check, tools::ToolTable},
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
        Ok(check::check(&order.file, &order.text, &around, input, variables)?)
    }

    /// The spec of a run, or everything that is wrong with it.
    pub fn plan_workflow(&self, order: &RunOrder) -> Result<Spec, RunError> {
        let checked = self.check_workflow(order)?;
        let request = Request { topic: checked.name.clone(), ..order.request.clone() };
        let (spec, complaints) = draft(&request, &self.quorum.0.setting);
        let mut complaints: Vec<Complaint> =
            complaints.into_iter().filter(|it| OF_A_RUN.contains(&it.field.as_str())).collect();
        let plan = serde_json::to_value(&checked.plan)
            .map_err(|error| Error::Fault(format!("the plan can't be written: {error}")))?;
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

    /// Starts a run.
    pub async fn run_workflow(&self, order: &RunOrder) -> Result<(Discussion, Handle), RunError> {
        let spec = self.plan_workflow(order)?;
        Ok(self.start(spec).await?)
    }
}
