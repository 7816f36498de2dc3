//! Checks a workflow file and makes a plan of it, or finds everything that is wrong with it.

use std::collections::BTreeMap;

use quorum_core::model::excerpt::in_short;
use quorum_patterns::workflow::{
    MOST_STEPS,
    plan::{Action, Plan, PlanStep},
};
use serde_json::{Map, Value};

use crate::{
    config::nearest,
    request::{Request, Setting},
    workflow::{
        given::Given,
        mistake::{Mistake, Wrong},
        node::{Node, Place, Tree},
        reader::{Fields, text},
        references::{self, Named},
        step::{STEPS, StepType},
        tools::ToolTable,
    },
};

/// The longest written prompt, in characters (B03).
pub const LONGEST_WRITTEN: usize = 10_000;

/// How deep steps may be nested.
const DEEPEST: usize = 5;

const LONGEST_ID: usize = 64;
const LONGEST_NAME: usize = 128;
const LONGEST_DESCRIPTION: usize = 512;

/// How many prompts, discussions and tools are under way at once, unless the file says otherwise.
const USUAL_CONCURRENCY: u64 = 5;

/// A workflow that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The workflow's id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its plan, with the input it was checked with.
    pub plan: Plan,
}

/// What a file is checked against.
pub(crate) struct Surroundings<'s> {
    pub(crate) setting: &'s Setting,
    /// What all steps have in common: simulation, seed.
    pub(crate) base: &'s Request,
    /// The provider of prompts that name none.
    pub(crate) provider: Option<&'s str>,
    pub(crate) tools: &'s ToolTable,
}

/// What is collected while a file is read.
pub(crate) struct Reading<'s> {
    pub(crate) at: &'s Surroundings<'s>,
    /// The input and the variables of the run.
    pub(crate) given: Given,
    pub(crate) wrong: Vec<Mistake>,
    /// The step whose fields are read: its time limit and retries apply to what is inside.
    pub(crate) common: Common,
    ids: BTreeMap<String, Place>,
    /// The place of each step, for mistakes that need the whole plan.
    pub(crate) places: BTreeMap<String, Place>,
    count: usize,
    depth: usize,
}

/// The fields of the step being read that its type needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Common {
    pub(crate) retry: Option<quorum_core::model::retry_policy::RetryPolicy>,
    pub(crate) tool: Option<String>,
}

/// Reads a file with this input.
pub(crate) fn check(
    file: &str,
    written: &[u8],
    around: &Surroundings<'_>,
    input: Value,
    variables: Map<String, Value>,
) -> Result<Checked, Wrong> {
    let node = Node::parse(written).map_err(|mistake| Wrong::new(file, written, vec![mistake]))?;
    let mut reading = Reading {
        at: around,
        given: Given { input, variables },
        wrong: Vec::new(),
        common: Common::default(),
        ids: BTreeMap::new(),
        places: BTreeMap::new(),
        count: 0,
        depth: 0,
    };
    let checked = reading.workflow(&node);
    match checked {
        Some(checked) if reading.wrong.is_empty() => Ok(checked),
        _ => Err(Wrong::new(file, written, reading.wrong)),
    }
}

impl Reading<'_> {
    fn workflow(&mut self, node: &Node) -> Option<Checked> {
        let mut fields = Fields::of(node, "a workflow", &mut self.wrong)?;
        let place = fields.place();
        let id = fields.take_field(&["workflowId"], &mut self.wrong);
        let id = self.required(id, "workflowId", place).and_then(|it| self.id(it, "workflowId"));
        let version = fields.take_field(&["version"], &mut self.wrong);
        let version = self.required(version, "version", place).and_then(|it| self.version(it));
        let name = fields.short_text(&["name"], LONGEST_NAME, &mut self.wrong);
        let description = fields.short_text(&["description"], LONGEST_DESCRIPTION, &mut self.wrong);
        for known in ["category", "tags", "metadata"] {
            fields.take_field(&[known], &mut self.wrong);
        }
        let concurrency =
            fields.whole(&["concurrency"], 1..=20, &mut self.wrong).unwrap_or(USUAL_CONCURRENCY);
        let mut variables =
            match fields.take_field(&["variables"], &mut self.wrong).map(|it| (it.place, it.plain())) {
                None => Map::new(),
                Some((_, Value::Object(variables))) => variables,
                Some((place, _)) => {
                    self.wrong.push(Mistake::at(place, "variables must be a map of names and values"));
                    Map::new()
                }
            };
        // Those that the run is given replace those of the file.
        variables.append(&mut self.given.variables);
        self.given.variables = variables;
        let steps = fields.list(&["steps"], &mut self.wrong);
        fields.finish(&mut self.wrong);
        let Some((place, steps)) = steps else {
            self.wrong.push(Mistake::at(place, "steps is missing: a list of steps"));
            return None;
        };
        if steps.is_empty() {
            self.wrong.push(Mistake::at(place, "steps is empty; a workflow has at least one"));
        }
        let steps = self.steps(steps, Following::InOrder);
        references::check(&steps, &self.places, &mut self.wrong);
        let (id, version) = (id?, version?);
        let name = name.unwrap_or_else(|| id.clone());
        let plan = Plan {
            workflow: id.clone(),
            version: version.clone(),
            name: name.clone(),
            steps,
            input: self.given.input.clone(),
            variables: self.given.variables.clone(),
            concurrency: concurrency as usize,
            rerun_tools: false,
            first_run: None,
        };
        Some(Checked { id, version, name, description, plan })
    }

    fn required<'n>(&mut self, node: Option<&'n Node>, name: &str, place: Place) -> Option<&'n Node> {
        if node.is_none() {
            self.wrong.push(Mistake::at(place, format!("{name} is missing")));
        }
        node
    }

    fn id(&mut self, node: &Node, what: &str) -> Option<String> {
        let id = text(node, what, &mut self.wrong)?;
        let begins = id.starts_with(|it: char| it.is_ascii_lowercase());
        let fits = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        if begins && id.chars().all(fits) && id.len() <= LONGEST_ID {
            return Some(id);
        }
        let message = format!(
            "{what} must be a lowercase letter, then letters, digits and hyphens, at most {LONGEST_ID}; \
             not {}",
            in_short(&id)
        );
        self.wrong.push(Mistake::at(node.place, message));
        None
    }

    fn version(&mut self, node: &Node) -> Option<String> {
        let written = match &node.value {
            Tree::Text(text) => text.clone(),
            _ => node.plain().to_string(),
        };
        let numbers: Vec<&str> = written.split('.').collect();
        let fits = |it: &&str| !it.is_empty() && it.len() < 10 && it.bytes().all(|it| it.is_ascii_digit());
        if numbers.len() == 3 && numbers.iter().all(fits) {
            return Some(written);
        }
        let message = format!("version must be three numbers, like \"1.0.0\"; not {}", in_short(&written));
        self.wrong.push(Mistake::at(node.place, message));
        None
    }

    /// Reads a list of steps.
    pub(crate) fn steps(&mut self, nodes: &[Node], following: Following) -> Vec<PlanStep> {
        self.depth += 1;
        let mut steps: Vec<PlanStep> = Vec::new();
        let mut beside: Vec<Named> = Vec::new();
        for node in nodes {
            self.count += 1;
            if self.count == MOST_STEPS + 1 {
                let message =
                    format!("a workflow may have at most {MOST_STEPS} steps, including nested ones");
                self.wrong.push(Mistake::at(node.place, message));
            }
            if self.count > MOST_STEPS {
                continue;
            }
            if self.depth == DEEPEST + 1 {
                let message = format!("steps may be nested {DEEPEST} levels deep");
                self.wrong.push(Mistake::at(node.place, message));
                continue;
            }
            let before = steps.last().map(|it| it.id.clone());
            let (step, named) = self.step(node, before, following);
            beside.extend(named);
            steps.extend(step);
        }
        self.depth -= 1;
        references::beside(&beside, &mut self.wrong);
        steps
    }

    fn step(
        &mut self,
        node: &Node,
        before: Option<String>,
        following: Following,
    ) -> (Option<PlanStep>, Option<Named>) {
        let Some(mut fields) = Fields::of(node, "a step", &mut self.wrong) else { return (None, None) };
        let place = fields.place();
        let id = fields.take_field(&["stepId"], &mut self.wrong);
        let id = self.required(id, "stepId", place).and_then(|it| Some((self.id(it, "stepId")?, it.place)));
        if let Some((id, place)) = &id {
            if let Some(first) = self.ids.get(id) {
                let message = format!("there is another step {id}, in line {}", first.line);
                self.wrong.push(Mistake::at(*place, message));
            }
            self.ids.entry(id.clone()).or_insert(*place);
        }
        let kind = fields.take_field(&["type"], &mut self.wrong);
        let kind = self.required(kind, "type", place).and_then(|it| self.step_type(it));
        fields.short_text(&["name"], LONGEST_NAME, &mut self.wrong);
        fields.short_text(&["description"], LONGEST_DESCRIPTION, &mut self.wrong);
        let timeout_ms = fields.whole(&["timeout", "timeoutMs"], 1_000..=3_600_000, &mut self.wrong);
        let may_fail =
            fields.choice(&["onError"], &["fail", "continue"], &mut self.wrong) == Some("continue");
        let named = fields.list(&["dependencies"], &mut self.wrong);
        let named = named.map(|(_, items)| {
            let read = |it: &Node| Some((text(it, "dependencies", &mut self.wrong)?, it.place));
            items.iter().filter_map(read).collect::<Vec<_>>()
        });
        let retry = fields.take_field(&["retryPolicy"], &mut self.wrong).and_then(|it| self.retry_policy(it));
        let tool = fields.text(&["tool"], &mut self.wrong);
        let config = fields.take_field(&["config"], &mut self.wrong);
        fields.finish(&mut self.wrong);
        let outer = std::mem::replace(&mut self.common, Common { retry, tool });
        let empty = Node { place, value: Tree::Map(Vec::new()) };
        let action = kind.and_then(|it| (it.read)(self, config.unwrap_or(&empty)));
        self.common = outer;
        let Some((id, id_place)) = id else { return (None, None) };
        self.places.insert(id.clone(), id_place);
        let after = match (&named, following) {
            (Some(named), _) => named.iter().map(|it| it.0.clone()).collect(),
            (None, Following::InOrder) => before.into_iter().collect(),
            (None, Following::AtOnce) => Vec::new(),
        };
        let named = Some((id.clone(), id_place, named.unwrap_or_default()));
        let step = kind.zip(action).map(|(kind, action)| {
            let step_type = kind.name.to_owned();
            PlanStep { id, step_type, after, timeout_ms, may_fail, action }
        });
        (step, named)
    }

    fn step_type(&mut self, node: &Node) -> Option<&'static StepType> {
        let written = text(node, "type", &mut self.wrong)?;
        let known = STEPS.iter().find(|it| it.name == written);
        if known.is_none() {
            let names: Vec<&str> = STEPS.iter().map(|it| it.name).collect();
            let message = match nearest(&written, names.iter().copied()) {
                Some(near) => format!("there is no step type {}; did you mean {near}?", in_short(&written)),
                None => {
                    format!("there is no step type {}; there are {}", in_short(&written), names.join(", "))
                }
            };
            self.wrong.push(Mistake::at(node.place, message));
        }
        known
    }

    fn retry_policy(&mut self, node: &Node) -> Option<quorum_core::model::retry_policy::RetryPolicy> {
        let mut fields = Fields::of(node, "retryPolicy", &mut self.wrong)?;
        let max_attempts = fields.whole(&["maxAttempts"], 1..=10, &mut self.wrong).unwrap_or(3) as u32;
        let backoff_ms = fields.whole(&["backoffMs"], 100..=60_000, &mut self.wrong).unwrap_or(1_000);
        let multiplier = fields.number(&["backoffMultiplier"], 1.0..=5.0, &mut self.wrong).unwrap_or(2.0);
        let on = fields.list(&["retryOn"], &mut self.wrong).map(|it| it.1).unwrap_or_default();
        let on = on.iter().filter_map(|it| self.error_class(it)).collect();
        fields.finish(&mut self.wrong);
        Some(quorum_core::model::retry_policy::RetryPolicy { max_attempts, backoff_ms, multiplier, on })
    }

    fn error_class(&mut self, node: &Node) -> Option<quorum_core::model::error::ErrorClass> {
        use quorum_core::model::error::ErrorClass;
        let written = text(node, "retryOn", &mut self.wrong)?;
        let plain = written.to_lowercase().replace('-', "_");
        let known = ErrorClass::ALL.into_iter().find(|it| it.name() == plain);
        if known.is_none() {
            let names = ErrorClass::ALL.map(ErrorClass::name).join(", ");
            let message = format!("there is no error class {}; there are {names}", in_short(&written));
            self.wrong.push(Mistake::at(node.place, message));
        }
        known
    }

    /// A list of steps inside the step being read.
    pub(crate) fn inner(
        &mut self,
        fields: &mut Fields<'_>,
        name: &'static str,
        following: Following,
    ) -> Option<Vec<PlanStep>> {
        let (_, nodes) = fields.list(&[name], &mut self.wrong)?;
        Some(self.steps(nodes, following))
    }

    /// Adds a mistake.
    pub(crate) fn wrong(&mut self, place: Place, message: impl Into<String>) {
        self.wrong.push(Mistake::at(place, message));
    }
}

/// What a step without dependencies waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Following {
    /// The step before it.
    InOrder,
    /// Nothing.
    AtOnce,
}

/// What a step of this type does, read from its `config`.
pub(crate) type ReadStep = fn(&mut Reading<'_>, &Node) -> Option<Action>;
