//! Resolves the paths of expressions at a step.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::workflow::{
    plan::Plan,
    report::{Status, StepResult},
    template::{Scope, at},
};

/// The iterations of the loops around a step, outermost first.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    pub(super) turns: Vec<Turn>,
    /// Whether a step failed, so that nothing new begins.
    pub(super) halted: bool,
    /// The active time at which everything here must be over.
    pub(super) deadline_ms: Option<u64>,
}

/// One iteration of a loop.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) of: String,
    /// Its number in the names of the steps inside.
    pub(super) index: usize,
    /// The value of `index` in this iteration.
    pub(super) shown: usize,
    pub(super) item: Value,
}

/// What a step can see.
pub(super) struct View<'c> {
    pub(super) plan: &'c Plan,
    pub(super) results: &'c BTreeMap<String, StepResult>,
    /// The loops around each step, outermost first.
    pub(super) loops: &'c BTreeMap<String, Vec<String>>,
    pub(super) frame: &'c Frame,
    pub(super) run_id: &'c str,
    pub(super) started_at: &'c str,
}

/// The name of a step in the run: its id, after the iterations of the loops around it.
pub(super) fn path_of(id: &str, loops: &BTreeMap<String, Vec<String>>, frame: &Frame) -> String {
    let mut path = String::new();
    for around in loops.get(id).into_iter().flatten() {
        let turn = frame.turns.iter().find(|it| it.of == *around);
        let index = turn.map_or_else(|| "*".to_owned(), |it| it.index.to_string());
        path.push_str(&format!("{around}/{index}/"));
    }
    path.push_str(id);
    path
}

impl View<'_> {
    fn result(&self, id: &str) -> Option<&StepResult> {
        self.results.get(&path_of(id, self.loops, self.frame))
    }

    /// The output of a step, if it has one.
    fn output(&self, id: &str, rest: &[String]) -> Option<Value> {
        let result = self.result(id).filter(|it| it.status != Status::Skipped)?;
        at(&result.output, rest)
    }

    fn bare(&self, path: &[String]) -> Option<Value> {
        let of_input = || at(&self.plan.input, path);
        let of_variables = self.plan.variables.get(&path[0]).and_then(|it| at(it, &path[1..]));
        of_variables.or_else(of_input).or_else(|| match path {
            [name] if name == "now" || name == "timestamp" => Some(self.started_at.into()),
            _ => None,
        })
    }
}

impl Scope for View<'_> {
    fn value(&self, path: &[String]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        let turn = self.frame.turns.last();
        match (first.as_str(), rest) {
            ("input", rest) => at(&self.plan.input, rest),
            ("steps", [id, what, rest @ ..]) => match what.as_str() {
                "output" => self.output(id, rest),
                "status" if rest.is_empty() => Some(self.result(id)?.status.name().into()),
                "error" => at(&serde_json::to_value(&self.result(id)?.error).ok()?, rest),
                _ => None,
            },
            ("previousOutputs", [id, rest @ ..]) => self.output(id, rest),
            ("variables", [name, rest @ ..]) => at(self.plan.variables.get(name)?, rest),
            ("item", rest) if turn.is_some() => at(&turn?.item, rest),
            ("index", []) if turn.is_some() => Some(turn?.shown.into()),
            ("run", [name]) if name == "id" => Some(self.run_id.into()),
            ("run", [name]) if name == "startedAt" => Some(self.started_at.into()),
            _ => self.bare(path),
        }
    }
}
