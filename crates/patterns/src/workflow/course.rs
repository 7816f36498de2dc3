//! The course of a run: which steps may begin, after every end of a job. It follows from the plan
//! and these ends alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quorum_core::{
    floor::work::{Job, JobEnd, JobNote, Schedule},
    model::{
        id::DiscussionId,
        outcome::Decision,
        time::{Timestamp, iso},
    },
};
use serde_json::{Map, Value, json};

use crate::workflow::{
    condition::Condition,
    job::{self, Came},
    plan::{Action, FirstRun, Plan, PlanStep, Turns, walk},
    report::{self, STEP, Status, StepError, StepResult},
    scope::{Frame, Turn, View, path_of},
};

pub(super) struct Course {
    plan: Arc<Plan>,
    run_id: String,
    started_at: String,
    loops: BTreeMap<String, Vec<String>>,
    /// The steps around each step.
    around: BTreeMap<String, Vec<String>>,
    results: BTreeMap<String, StepResult>,
    begun: BTreeMap<String, Begun>,
    /// Jobs that were begun before this process; they go on even if a step has failed since.
    open: BTreeSet<String>,
    branches: BTreeMap<String, bool>,
    items: BTreeMap<String, Vec<Value>>,
    jobs: Vec<Job>,
    notes: Vec<JobNote>,
}

/// A job that was begun, and how its end is to be read.
struct Begun {
    step: PlanStep,
    unresolved: Vec<String>,
}

/// How far a list of steps is.
struct Progress {
    over: bool,
    failed: Option<StepError>,
}

/// What a failure inside a list means for the rest of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnFailure {
    /// Nothing new begins.
    Stop,
    /// The others go on.
    GoOn,
}

impl Course {
    pub(super) fn new(plan: Arc<Plan>, id: DiscussionId, started_at: Timestamp, open: Vec<String>) -> Self {
        let mut loops = BTreeMap::new();
        walk(&plan.steps, &mut |step, around| {
            loops.insert(step.id.clone(), around.iter().map(|it| (*it).to_owned()).collect());
        });
        let mut around = BTreeMap::new();
        enclosing(&plan.steps, &mut Vec::new(), &mut around);
        let first = plan.first_run.clone();
        let first = first.unwrap_or_else(|| FirstRun { id: id.to_string(), started_at: iso(started_at) });
        Course {
            plan,
            run_id: first.id,
            started_at: first.started_at,
            loops,
            around,
            results: BTreeMap::new(),
            begun: BTreeMap::new(),
            open: open.into_iter().collect(),
            branches: BTreeMap::new(),
            items: BTreeMap::new(),
            jobs: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What the run came to.
    pub(super) fn decision(&self) -> Decision {
        report::decision(&self.plan, &self.results)
    }

    fn path(&self, id: &str, frame: &Frame) -> String {
        path_of(id, &self.loops, frame)
    }

    fn view<'c>(&'c self, frame: &'c Frame) -> View<'c> {
        View {
            plan: &self.plan,
            results: &self.results,
            loops: &self.loops,
            frame,
            run_id: &self.run_id,
            started_at: &self.started_at,
        }
    }

    /// Advances a list of steps as far as it can go now.
    fn list(&mut self, steps: &[PlanStep], frame: &Frame, on_failure: OnFailure) -> Progress {
        loop {
            let before = self.results.len();
            for step in steps {
                self.consider(steps, step, frame, on_failure);
            }
            if self.results.len() == before {
                break;
            }
        }
        let mut ends = steps.iter().map(|it| self.results.get(&self.path(&it.id, frame)));
        let over = ends.clone().all(|it| it.is_some());
        let fatal = ends.find_map(|it| it.filter(|it| it.is_fatal()));
        Progress { over, failed: fatal.map(|it| it.error.clone().unwrap_or_else(unknown)) }
    }

    /// Begins a step if it may begin, goes on with it, or skips it.
    fn consider(&mut self, beside: &[PlanStep], step: &PlanStep, frame: &Frame, on_failure: OnFailure) {
        let path = self.path(&step.id, frame);
        if self.results.contains_key(&path) {
            return;
        }
        let result = |id: &String| self.results.get(&self.path(id, frame));
        let failed = |it: &PlanStep| result(&it.id).is_some_and(StepResult::is_fatal);
        let halted = frame.halted || (on_failure == OnFailure::Stop && beside.iter().any(failed));
        let blocking = step.after.iter().find(|it| result(it).is_some_and(StepResult::blocks));
        let waiting = step.after.iter().any(|it| result(it).is_none());
        if let Some(id) = blocking {
            let message = format!("it needs {id}, which has no output");
            return self.skip(step, frame, Some(message));
        }
        if halted && (waiting || !self.is_begun(step, &path)) {
            return self.skip(step, frame, Some("another step failed".to_owned()));
        }
        if !waiting {
            self.go_on(step, &Frame { halted, ..frame.clone() });
        }
    }

    /// Whether a job of this step, or of a step inside it, was begun.
    fn is_begun(&self, step: &PlanStep, path: &str) -> bool {
        let begun = |it: &String| {
            let id = it.rsplit('/').next().unwrap_or_default();
            it == path || self.around.get(id).is_some_and(|around| around.contains(&step.id))
        };
        self.begun.keys().any(begun) || self.open.iter().any(begun)
    }

    fn go_on(&mut self, step: &PlanStep, frame: &Frame) {
        match &step.action {
            Action::Prompt(action) => {
                self.begin(step, frame, |view| job::prompt(step, action, view));
            }
            Action::Discuss(action) => {
                self.begin(step, frame, |view| job::discuss(step, action, view));
            }
            Action::Tool(action) => {
                let again = self.plan.rerun_tools;
                self.begin(step, frame, |view| job::tool(step, action, view, again));
            }
            Action::Parallel { steps, fail_safe } => self.parallel(step, frame, steps, *fail_safe),
            Action::Conditional { condition, then, otherwise } => {
                self.conditional(step, frame, condition, (then, otherwise));
            }
            Action::Loop { over, steps, most, concurrency } => {
                let turns = if matches!(over, Turns::Items(_)) { *concurrency } else { 1 };
                self.turns(step, frame, (over, steps), (*most, turns));
            }
        }
    }

    fn begin(&mut self, step: &PlanStep, frame: &Frame, fill: impl FnOnce(&View<'_>) -> job::Filled) {
        let name = self.path(&step.id, frame);
        if self.begun.contains_key(&name) {
            return;
        }
        match fill(&self.view(frame)) {
            Ok((work, unresolved)) => {
                self.begun.insert(name.clone(), Begun { step: step.clone(), unresolved });
                self.jobs.push(Job { name, work, deadline_ms: frame.deadline_ms });
            }
            Err(error) => self.fail(step, frame, error),
        }
    }

    /// The frame of the steps inside a step with a time limit.
    fn inside(&self, step: &PlanStep, frame: &Frame) -> Frame {
        let Some(ms) = step.timeout_ms else { return frame.clone() };
        let path = self.path(&step.id, frame);
        let began = self.span(step, &path).map_or_else(|| self.now_ms(), |it| it.0);
        let deadline = began.saturating_add(ms);
        let deadline_ms = Some(frame.deadline_ms.map_or(deadline, |outer| outer.min(deadline)));
        Frame { deadline_ms, ..frame.clone() }
    }

    /// The active time when everything recorded so far had ended.
    fn now_ms(&self) -> u64 {
        self.results.values().map(|it| it.from_ms + it.duration_ms).max().unwrap_or_default()
    }

    /// When the first of the finished steps inside this one began, and when the last one ended.
    fn span(&self, step: &PlanStep, path: &str) -> Option<(u64, u64)> {
        let prefix = path.strip_suffix(step.id.as_str()).unwrap_or_default();
        let is_inside = |it: &&StepResult| {
            let around = self.around.get(&it.step_id);
            it.path.starts_with(prefix) && around.is_some_and(|around| around.contains(&step.id))
        };
        let ran = |it: &&StepResult| it.status != Status::Skipped;
        let spans = self.results.values().filter(is_inside).filter(ran);
        spans
            .map(|it| (it.from_ms, it.from_ms + it.duration_ms))
            .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    fn parallel(&mut self, step: &PlanStep, frame: &Frame, steps: &[PlanStep], fail_safe: bool) {
        let on_failure = if fail_safe { OnFailure::GoOn } else { OnFailure::Stop };
        let inside = self.inside(step, frame);
        let progress = self.list(steps, &inside, on_failure);
        if !progress.over {
            return;
        }
        let mut outputs = Map::new();
        let mut done = 0;
        for inner in steps {
            let Some(result) = self.results.get(&self.path(&inner.id, frame)) else { continue };
            done += usize::from(result.status == Status::Done);
            outputs.insert(inner.id.clone(), result.output.clone());
        }
        match progress.failed {
            Some(error) if !fail_safe || done == 0 => self.fail(step, frame, error),
            _ => self.finish(step, frame, Value::Object(outputs)),
        }
    }

    fn conditional(
        &mut self,
        step: &PlanStep,
        frame: &Frame,
        condition: &str,
        (then, otherwise): (&[PlanStep], &[PlanStep]),
    ) {
        let path = self.path(&step.id, frame);
        let is_true = match self.branches.get(&path) {
            Some(known) => *known,
            None => match self.holds(condition, frame) {
                Ok(is_true) => is_true,
                Err(error) => {
                    self.skip_all(then, frame);
                    self.skip_all(otherwise, frame);
                    return self.fail(step, frame, error);
                }
            },
        };
        self.branches.insert(path, is_true);
        let (chosen, other) = if is_true { (then, otherwise) } else { (otherwise, then) };
        self.skip_all(other, frame);
        let inside = self.inside(step, frame);
        let progress = self.list(chosen, &inside, OnFailure::Stop);
        if !progress.over {
            return;
        }
        let branch = match (is_true, chosen.is_empty()) {
            (true, _) => "then",
            (false, false) => "else",
            (false, true) => "none",
        };
        match progress.failed {
            Some(error) => self.fail(step, frame, error),
            None => self.finish(step, frame, json!({ "branch": branch })),
        }
    }

    fn holds(&self, condition: &str, frame: &Frame) -> Result<bool, StepError> {
        let wrong = |it: crate::workflow::condition::ConditionError| {
            StepError::new("CONDITION_INVALID", format!("the condition can't be evaluated: {it}"))
        };
        Condition::parse(condition).map_err(wrong)?.holds(&self.view(frame)).map_err(wrong)
    }

    fn turns(
        &mut self,
        step: &PlanStep,
        frame: &Frame,
        (over, steps): (&Turns, &[PlanStep]),
        (most, concurrency): (usize, usize),
    ) {
        let path = self.path(&step.id, frame);
        if let (Turns::Items(written), false) = (over, self.items.contains_key(&path)) {
            match self.listed(written, frame, most) {
                Ok(items) => drop(self.items.insert(path.clone(), items)),
                Err(error) => return self.fail(step, frame, error),
            }
        }
        let inside = self.inside(step, frame);
        let items = self.items.get(&path).cloned().unwrap_or_default();
        let (mut active, mut failed, mut outputs) = (0, None, Vec::new());
        for index in 0.. {
            let item = items.get(index).cloned().unwrap_or(Value::Null);
            let turn = self.turn(step, &inside, index, item);
            let is_begun = self.is_turn_begun(step, &turn);
            if !is_begun {
                if failed.is_some() || frame.halted || active >= concurrency {
                    break;
                }
                match self.has_turn(over, &inside, (step, index), (items.len(), most)) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            let turn = Frame { halted: frame.halted || failed.is_some(), ..turn };
            let progress = self.list(steps, &turn, OnFailure::Stop);
            active += usize::from(!progress.over);
            if !progress.over && matches!(over, Turns::While(_)) {
                break;
            }
            failed = failed.or(progress.failed);
            outputs.push(self.last_output(steps, &turn));
        }
        match failed {
            _ if active > 0 => {}
            Some(error) => self.fail(step, frame, error),
            None if frame.halted && outputs.len() < items.len() => {
                self.skip(step, frame, Some("another step failed".to_owned()));
            }
            None => self.finish(step, frame, Value::Array(outputs)),
        }
    }

    fn listed(&self, written: &Value, frame: &Frame, most: usize) -> Result<Vec<Value>, StepError> {
        let items = job::items(written, &self.view(frame), &mut Vec::new())?;
        if items.len() > most {
            let message = format!("there are {} items, and maxIterations is {most}", items.len());
            return Err(StepError::new("LOOP_TOO_LONG", message));
        }
        Ok(items)
    }

    fn turn(&self, step: &PlanStep, frame: &Frame, index: usize, item: Value) -> Frame {
        let mut turn = frame.clone();
        turn.turns.push(Turn { of: step.id.clone(), index, shown: index, item });
        turn
    }

    fn is_turn_begun(&self, step: &PlanStep, turn: &Frame) -> bool {
        let inside = self.around.iter().find(|(_, around)| around.last() == Some(&step.id));
        let Some((id, _)) = inside else { return false };
        let first = self.path(id, turn);
        let prefix = first.strip_suffix(id.as_str()).unwrap_or_default();
        let from = || prefix.to_owned()..;
        let begun = |it: Option<&String>| it.is_some_and(|it| it.starts_with(prefix));
        begun(self.begun.range(from()).next().map(|it| it.0))
            || begun(self.open.range(from()).next())
            || begun(self.results.range(from()).next().map(|it| it.0))
    }

    /// Whether there is a turn with this number.
    fn has_turn(
        &self,
        over: &Turns,
        frame: &Frame,
        (step, index): (&PlanStep, usize),
        (items, most): (usize, usize),
    ) -> Result<bool, StepError> {
        let Turns::While(condition) = over else { return Ok(index < items) };
        // The condition sees the outputs of the turn before.
        let mut before = self.turn(step, frame, index.saturating_sub(1), Value::Null);
        before.turns.iter_mut().rev().take(1).for_each(|it| it.shown = index);
        let holds = self.holds(condition, &before)?;
        if holds && index == most {
            let message = format!("the condition still holds after {most} turns, which is maxIterations");
            return Err(StepError::new("LOOP_TOO_LONG", message));
        }
        Ok(holds)
    }

    fn last_output(&self, steps: &[PlanStep], turn: &Frame) -> Value {
        let mut ends = steps.iter().rev().filter_map(|it| self.results.get(&self.path(&it.id, turn)));
        ends.find(|it| it.status == Status::Done).map_or(Value::Null, |it| it.output.clone())
    }

    fn finish(&mut self, step: &PlanStep, frame: &Frame, output: Value) {
        let result = StepResult { success: true, output, ..self.result(step, frame, Status::Done) };
        self.record(result);
    }

    fn fail(&mut self, step: &PlanStep, frame: &Frame, error: StepError) {
        for inside in step.action.inside() {
            if !matches!(step.action, Action::Loop { .. }) {
                self.skip_all(inside, frame);
            }
        }
        let result = self.result(step, frame, Status::Failed);
        self.record(StepResult { error: Some(error), continued: step.may_fail, ..result });
    }

    /// Skips a step and everything inside it, because of a failure or because its branch was not
    /// chosen.
    fn skip(&mut self, step: &PlanStep, frame: &Frame, why: Option<String>) {
        if !matches!(step.action, Action::Loop { .. }) {
            for inside in step.action.inside() {
                inside.iter().for_each(|it| self.skip(it, frame, why.clone()));
            }
        }
        if self.results.contains_key(&self.path(&step.id, frame)) {
            return;
        }
        let error = why.map(|it| StepError::new("STEP_SKIPPED", it));
        let result = StepResult { error, ..self.result(step, frame, Status::Skipped) };
        self.record(result);
    }

    /// Skips the steps of a branch that was not chosen.
    fn skip_all(&mut self, steps: &[PlanStep], frame: &Frame) {
        steps.iter().for_each(|it| self.skip(it, frame, None));
    }

    /// A result without an output.
    fn result(&self, step: &PlanStep, frame: &Frame, status: Status) -> StepResult {
        let path = self.path(&step.id, frame);
        let (from_ms, to_ms) = self.span(step, &path).unwrap_or_else(|| (self.now_ms(), self.now_ms()));
        StepResult {
            step_id: step.id.clone(),
            path,
            step_type: step.step_type.clone(),
            success: false,
            status,
            output: Value::Null,
            from_ms,
            duration_ms: to_ms - from_ms,
            retry_count: 0,
            discussion_id: None,
            error: None,
            unresolved: Vec::new(),
            continued: false,
        }
    }

    fn record(&mut self, result: StepResult) {
        let value = serde_json::to_value(&result).unwrap_or(Value::Null);
        let told = Some(result.told());
        self.notes.push(JobNote { kind: STEP, key: result.path.clone(), value, told });
        self.results.insert(result.path.clone(), result);
    }
}

impl Schedule for Course {
    fn ready(&mut self) -> Vec<Job> {
        let plan = self.plan.clone();
        self.list(&plan.steps, &Frame::default(), OnFailure::Stop);
        std::mem::take(&mut self.jobs)
    }

    fn ended(&mut self, name: &str, end: JobEnd) {
        let Some(Begun { step, unresolved }) = self.begun.get(name) else { return };
        let (as_prompt, json) = match &step.action {
            Action::Prompt(action) => (true, action.json),
            _ => (false, false),
        };
        let Came { output, from_ms, duration_ms, retry_count, child } = job::came(end, as_prompt, json);
        let (status, output, error) = match output {
            Ok(output) => (Status::Done, output, None),
            Err(error) => (Status::Failed, Value::Null, Some(error)),
        };
        let result = StepResult {
            step_id: step.id.clone(),
            path: name.to_owned(),
            step_type: step.step_type.clone(),
            success: status == Status::Done,
            status,
            output,
            from_ms,
            duration_ms,
            retry_count,
            discussion_id: child,
            error,
            unresolved: unresolved.clone(),
            continued: status == Status::Failed && step.may_fail,
        };
        self.record(result);
    }

    fn notes(&mut self) -> Vec<JobNote> {
        std::mem::take(&mut self.notes)
    }
}

fn enclosing(steps: &[PlanStep], around: &mut Vec<String>, found: &mut BTreeMap<String, Vec<String>>) {
    for step in steps {
        found.insert(step.id.clone(), around.clone());
        around.push(step.id.clone());
        step.action.inside().into_iter().for_each(|inside| enclosing(inside, around, found));
        around.pop();
    }
}

fn unknown() -> StepError {
    StepError::new("STEP_FAILED", "it failed")
}
