//! Runs of workflows: checked files become records of the pattern `workflow`.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    engine::handle::Handle,
    model::spec::{Spec, Tolerance},
    registry::MissingRoles,
};
use quorum_patterns::workflow::{
    plan::{Action, DiscussAction, Plan, PlanStep, walk},
    plan_of,
    template::{self, Piece, at, in_text, pieces},
};
use serde_json::{Map, Value};

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
            let topic = known(action.prompt.as_deref().unwrap_or("{{input}}"), &given);
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

/// What is known before the first step.
struct Given {
    input: Value,
    variables: Map<String, Value>,
}

impl template::Scope for Given {
    fn value(&self, path: &[String]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "input" => at(&self.input, rest),
            "variables" => at(self.variables.get(rest.first()?)?, &rest[1..]),
            name => self.variables.get(name).and_then(|it| at(it, rest)).or_else(|| at(&self.input, path)),
        }
    }
}

/// The text without the expressions that are not known yet.
fn known(text: &str, given: &Given) -> String {
    let piece = |it: Piece<'_>| match it {
        Piece::Text(text) => text.to_owned(),
        Piece::Expression(expression, _) => expression.value(given).as_ref().map(in_text).unwrap_or_default(),
    };
    pieces(text).into_iter().map(piece).collect()
}
