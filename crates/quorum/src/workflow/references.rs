//! What steps refer to: dependencies, `steps.ID` in texts and conditions, and the run's input.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::model::excerpt::in_short;
use quorum_patterns::workflow::{
    condition::Condition,
    plan::{Action, PlanStep, Turns, walk},
    template::{Piece, pieces},
};
use serde_json::Value;

use crate::{
    config::nearest,
    workflow::{given::INPUT, mistake::Mistake, node::Place},
};

/// A step, its place, and the dependencies it names.
pub(crate) type Named = (String, Place, Vec<(String, Place)>);

/// Checks the dependencies within one list of steps: each is beside the step, and none depends on
/// itself in the end.
pub(crate) fn beside(steps: &[Named], wrong: &mut Vec<Mistake>) {
    let ids: Vec<&str> = steps.iter().map(|it| it.0.as_str()).collect();
    for (id, _, named) in steps {
        for (dependency, place) in named {
            let message = if dependency == id {
                format!("{id} depends on itself")
            } else if ids.contains(&dependency.as_str()) {
                continue;
            } else {
                let near = nearest(dependency, ids.iter().copied());
                let near = near.map(|it| format!("; did you mean {it}?")).unwrap_or_default();
                format!("there is no step {} beside {id}{near}", in_short(dependency))
            };
            wrong.push(Mistake::at(*place, message));
        }
    }
    // In the order in which they could run; what is left over is a circle.
    let mut left: Vec<&Named> = steps.iter().collect();
    let open = |left: &[&Named], it: &Named| {
        it.2.iter().any(|(named, _)| *named != it.0 && left.iter().any(|other| other.0 == *named))
    };
    loop {
        let next: Vec<&Named> = left.iter().copied().filter(|it| open(&left, it)).collect();
        if next.len() == left.len() {
            break;
        }
        left = next;
    }
    if let Some((_, place, _)) = left.first() {
        let circle: Vec<&str> = left.iter().map(|it| it.0.as_str()).collect();
        wrong.push(Mistake::at(*place, format!("these steps wait for each other: {}", circle.join(", "))));
    }
}

/// Checks that every `steps.ID` is over when it is read.
pub(crate) fn check(steps: &[PlanStep], places: &BTreeMap<String, Place>, wrong: &mut Vec<Mistake>) {
    within(steps, &BTreeSet::new(), places, wrong);
}

fn within(
    steps: &[PlanStep],
    outside: &BTreeSet<String>,
    places: &BTreeMap<String, Place>,
    wrong: &mut Vec<Mistake>,
) {
    for step in steps {
        let mut over = outside.clone();
        let mut open: Vec<&str> = step.after.iter().map(String::as_str).collect();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        while let Some(id) = open.pop() {
            let Some(before) = steps.iter().find(|it| it.id == id).filter(|_| seen.insert(id)) else {
                continue;
            };
            visible(before, &mut over);
            open.extend(before.after.iter().map(String::as_str));
        }
        for id in named(step) {
            if over.contains(&id) || wrong.len() > 1_000 {
                continue;
            }
            let place = places.get(&step.id).copied().unwrap_or_default();
            let message = if places.contains_key(&id) {
                format!("{} uses steps.{id}, which can't be over by then; name it in dependencies", step.id)
            } else {
                let near = nearest(&id, places.keys().map(String::as_str));
                let near = near.map(|it| format!("; did you mean {it}?")).unwrap_or_default();
                format!("{} uses steps.{}, and there is no such step{near}", step.id, in_short(&id))
            };
            wrong.push(Mistake::at(place, message));
        }
        for inside in step.action.inside() {
            within(inside, &over, places, wrong);
        }
    }
}

/// A finished step and what is inside it. The turns of a loop are not visible from outside.
fn visible(step: &PlanStep, over: &mut BTreeSet<String>) {
    over.insert(step.id.clone());
    if !matches!(step.action, Action::Loop { .. }) {
        step.action.inside().into_iter().flatten().for_each(|it| visible(it, over));
    }
}

/// The steps that the texts of a step name.
fn named(step: &PlanStep) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    written_in(step, &mut |written| {
        for piece in pieces(written) {
            if let Piece::Expression(expression, _) = piece {
                found.extend(of_path(&expression.path));
            }
        }
    });
    // The condition of a loop sees the steps inside, as they were in the turn before.
    if let Action::Conditional { condition, .. } = &step.action
        && let Ok(condition) = Condition::parse(condition)
    {
        condition.paths().into_iter().for_each(|it| found.extend(of_path(it)));
    }
    found
}

/// A use of the run's input in a text of a step, without a default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputUse<'p> {
    /// The step.
    pub step: &'p str,
    /// The expression, as it is written.
    pub written: String,
    /// Whether it is the whole input, and not a field of it.
    pub is_whole: bool,
}

/// Every use of the run's input in these steps, without a default.
#[must_use]
pub fn uses_of_input(steps: &[PlanStep]) -> Vec<InputUse<'_>> {
    let mut found = Vec::new();
    walk(steps, &mut |step, _| {
        written_in(step, &mut |text| {
            for piece in pieces(text) {
                let Piece::Expression(expression, written) = piece else { continue };
                let is_input = expression.path.first().is_some_and(|it| it == "input");
                if is_input && !expression.has_default() {
                    let (written, is_whole) = (written.to_owned(), expression.path.len() == 1);
                    found.push(InputUse { step: &step.id, written, is_whole });
                }
            }
        });
    });
    found
}

/// Shows every text of a step in which expressions are replaced.
fn written_in(step: &PlanStep, seen: &mut dyn FnMut(&str)) {
    match &step.action {
        Action::Prompt(action) => {
            seen(action.prompt.as_deref().unwrap_or(INPUT));
            action.system.iter().for_each(|it| seen(it));
        }
        Action::Discuss(action) => {
            seen(action.prompt.as_deref().unwrap_or(INPUT));
            action.context.iter().for_each(|it| seen(it));
            action.spec.options.iter().for_each(|it| seen(it));
            action.spec.participants.iter().filter_map(|it| it.brief.as_ref()).for_each(|it| seen(it));
        }
        Action::Tool(action) => texts(&action.arguments, seen),
        Action::Loop { over: Turns::Items(items), .. } => texts(items, seen),
        Action::Loop { over: Turns::While(_), .. } | Action::Parallel { .. } | Action::Conditional { .. } => {
        }
    }
}

fn of_path(path: &[String]) -> Option<String> {
    match path {
        [root, id, ..] if root == "steps" || root == "previousOutputs" => Some(id.clone()),
        _ => None,
    }
}

fn texts(value: &Value, seen: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => seen(text),
        Value::Array(items) => items.iter().for_each(|it| texts(it, seen)),
        Value::Object(fields) => fields.values().for_each(|it| texts(it, seen)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
