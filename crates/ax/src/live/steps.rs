//! The steps of a workflow run on the screen: a line for each.

use quorum::{
    model::{id::Step, state::State},
    patterns::workflow::overview::{StepState, overview},
    text::time,
};

use crate::render::line::{BAD, DIM, GOOD, Line, PLAIN, WORRY};

/// A line of the screen: a step, and how deep it is nested.
#[derive(Debug, Clone)]
pub(super) struct StepRow {
    depth: usize,
    step: StepState,
}

/// The rows of a workflow run in this state; none for a discussion.
pub(super) fn rows(state: &State) -> Vec<StepRow> {
    let mut rows = Vec::new();
    put(&overview(state).unwrap_or_default(), 0, &mut rows);
    rows
}

/// The iterations of a loop replace the rows of its steps.
fn put(steps: &[StepState], depth: usize, rows: &mut Vec<StepRow>) {
    for step in steps {
        if step.turns.is_empty() {
            rows.push(StepRow { depth, step: step.clone() });
            step.inside.iter().for_each(|it| put(&it.steps, depth + 1, rows));
        } else {
            put(&step.turns, depth, rows);
        }
    }
}

/// As many lines as there is room for, around the running steps.
pub(super) fn lines(rows: &[StepRow], state: &State, active_ms: u64, room: usize) -> Vec<Line> {
    let running = rows.iter().position(|it| it.step.status == "running" && it.step.inside.is_empty());
    let over = || rows.iter().rposition(|it| it.step.duration_ms.is_some());
    let middle = running.or_else(over).unwrap_or_default();
    let from = middle.saturating_sub(room / 3).min(rows.len().saturating_sub(room));
    let widest = rows.iter().map(|it| 2 * it.depth + it.step.path.len()).max().unwrap_or_default();
    rows.iter().skip(from).take(room).map(|it| line(it, state, active_ms, widest)).collect()
}

fn line(StepRow { depth, step }: &StepRow, state: &State, active_ms: u64, widest: usize) -> Line {
    let (mark, style) = match step.status {
        "done" => ("✓", GOOD),
        "running" => ("●", WORRY),
        "failed" => ("✗", BAD),
        "skipped" => ("–", DIM),
        _ => ("·", DIM),
    };
    let faint = matches!(step.status, "skipped" | "waiting");
    let name = format!("{}{}", "  ".repeat(*depth), step.path);
    let name = format!("{name}{}", " ".repeat(widest.saturating_sub(name.len())));
    let line = Line::of(" ", PLAIN).and(mark, style).and(" ", PLAIN);
    let line = line.and(&name, if faint { DIM } else { PLAIN });
    line.and(&format!("  {:<11} ", step.step_type), DIM).and(&status_text(step, state, active_ms), style)
}

/// The state in words, with its time or reason.
fn status_text(step: &StepState, state: &State, active_ms: u64) -> String {
    let job = Step::job(&step.path);
    let began = state.subs.get(&job).map(|it| it.from_ms);
    let began = began.or_else(|| state.tools.get(&job).map(|it| it.from_ms));
    match (step.status, step.duration_ms, began, &step.error) {
        ("done", Some(ms), ..) => format!("done in {}", time(ms)),
        ("running", _, Some(began), _) => format!("running for {}", time(active_ms.saturating_sub(began))),
        (status, _, _, Some(why)) => format!("{status}: {why}"),
        (status, ..) => status.to_owned(),
    }
}
