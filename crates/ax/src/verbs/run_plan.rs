//! `ax run --dry-run` and `ax fork --dry-run` of a run: the steps, and the most calls they make.

use anyhow::Context;
use quorum::{
    Scope,
    floor::work::Reusable,
    model::spec::Spec,
    patterns::workflow::plan::{Action, PlanStep},
    text::count,
    workflow::plan_of,
};
use serde_json::{Value, json};

use crate::{
    args::{Output, Shape},
    exit::Exit,
    render::{print, print_json},
};

/// Shows the steps and the most calls they make. A fork makes none for steps that it takes over.
pub(super) async fn show(
    scope: &Scope,
    spec: &Spec,
    kept: Option<&Reusable>,
    output: Output,
) -> anyhow::Result<Exit> {
    let plan = plan_of(spec).context("the plan can't be read")?;
    let mut rows = Vec::new();
    let nothing = Reusable::default();
    let counting = Counting { scope, kept: kept.unwrap_or(&nothing) };
    let (calls, typical) = counting.figures(&plan.steps, 1, 0, &mut rows).await?;
    let limit = spec.limits.calls.map_or(calls, |it| it.min(calls));
    if output.shape() == Shape::Json {
        let mut document = json!({
            "workflowId": plan.workflow, "version": plan.version,
            "steps": rows.iter().map(Row::in_json).collect::<Vec<Value>>(), "maxCalls": limit,
            "typicalCostUsd": typical,
        });
        if let Some(kept) = kept {
            document["kept"] = json!(kept.kept);
            document["again"] = json!(kept.fresh);
        }
        print_json(&document)?;
        return Ok(Exit::Done);
    }
    print(&format!("{} {} ({})", plan.workflow, plan.version, plan.name))?;
    for it in &rows {
        print(&it.line())?;
    }
    if let Some(kept) = kept {
        let again = if kept.fresh.is_empty() { "none".to_owned() } else { kept.fresh.join(", ") };
        print(&format!(
            "{} kept. The first to be done again: {again}.",
            count(kept.kept.len() as u64, "step")
        ))?;
    }
    // What simulated voices say costs nothing.
    let cost = if typical > 0.0 { format!(", typically ${typical:.4}") } else { String::new() };
    let calls = count(u64::from(limit), "call");
    print(&format!("At most {calls} if nothing is retried{cost}. Nothing was asked."))?;
    Ok(Exit::Done)
}

struct Row {
    id: String,
    kind: String,
    depth: usize,
    calls: u32,
    asks: String,
    kept: u32,
}

impl Row {
    fn line(&self) -> String {
        let after = if self.asks.is_empty() { String::new() } else { format!("  {}", self.asks) };
        let kept = match self.kept {
            0 => "",
            _ if self.calls == 0 => "  kept",
            _ => "  kept in part",
        };
        format!("{}{} ({}){after}{kept}", "  ".repeat(self.depth + 1), self.id, self.kind)
    }

    fn in_json(&self) -> Value {
        json!({
            "stepId": self.id, "type": self.kind, "calls": self.calls, "asks": self.asks, "kept": self.kept,
        })
    }
}

struct Counting<'r> {
    scope: &'r Scope,
    kept: &'r Reusable,
}

impl Counting<'_> {
    /// How many jobs of this step are taken over: several in a loop.
    fn kept(&self, id: &str) -> u32 {
        let is_it = |it: &&String| it.rsplit('/').next() == Some(id);
        self.kept.kept.iter().filter(is_it).count() as u32
    }

    /// The most calls of these steps, each times its number of runs, and their typical cost in USD.
    async fn figures(
        &self,
        steps: &[PlanStep],
        times: u32,
        depth: usize,
        rows: &mut Vec<Row>,
    ) -> anyhow::Result<(u32, f64)> {
        let (mut sum, mut usd) = (0_u32, 0.0);
        for step in steps {
            let place = rows.len();
            let (kind, id, kept) = (step.step_type.clone(), step.id.clone(), self.kept(&step.id));
            rows.push(Row { id, kind, depth, calls: 0, asks: String::new(), kept });
            let left = times.saturating_sub(kept);
            let ((calls, cost), asks) = match &step.action {
                Action::Prompt(action) => {
                    let plan = self.scope.plan(&action.spec).await?;
                    ((left, plan.typical.cost_usd * f64::from(left)), names(&action.spec))
                }
                Action::Discuss(action) => {
                    let plan = self.scope.plan(&action.spec).await?;
                    let cost = plan.typical.cost_usd * f64::from(left);
                    ((plan.usual.calls.saturating_mul(left), cost), names(&action.spec))
                }
                Action::Tool(action) => ((0, 0.0), action.tool.clone()),
                Action::Parallel { steps, .. } => {
                    (Box::pin(self.figures(steps, times, depth + 1, rows)).await?, String::new())
                }
                Action::Conditional { then, otherwise, condition } => {
                    let one = Box::pin(self.figures(then, times, depth + 1, rows)).await?;
                    let other = Box::pin(self.figures(otherwise, times, depth + 1, rows)).await?;
                    ((one.0.max(other.0), one.1.max(other.1)), format!("if {condition}"))
                }
                Action::Loop { steps, most, .. } => {
                    let times = times.saturating_mul(*most as u32);
                    let figures = Box::pin(self.figures(steps, times, depth + 1, rows)).await?;
                    (figures, format!("up to {most} times"))
                }
            };
            rows[place].calls = calls;
            rows[place].asks = asks;
            sum = sum.saturating_add(calls);
            usd += cost;
        }
        Ok((sum, usd))
    }
}

fn names(spec: &Spec) -> String {
    spec.participants.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
}
