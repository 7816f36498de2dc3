//! Scores of participants, as lines: from the result fields drawn as scores, or else from such
//! forms.

use quorum::{
    Registry,
    model::{outcome::Outcome, reading::Source, spec::Spec, state::State},
    vocabulary::view::{Section, View},
};
use serde_json::Value;

use crate::render::line::{BOLD, DIM, Line, PLAIN};

/// Scores that one participant gave at once, for one round.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoreRow {
    /// What is scored: the title of the field, or the kind of the form.
    pub(crate) label: String,
    round: Option<u64>,
    marks: Vec<(String, f64)>,
    whole: Option<f64>,
}

/// The scores in a result.
pub(crate) fn of_outcome(registry: &Registry, spec: &Spec, outcome: &Outcome) -> Vec<ScoreRow> {
    let fields = registry.results_of(spec).into_iter();
    let drawn = fields.filter_map(|field| Some((field, outcome.fields.get(field.name)?)));
    drawn.flat_map(|(field, value)| rows(&field.title.to_lowercase(), &field.view, value)).collect()
}

/// The scores so far, in a discussion that may still be running.
pub(crate) fn of_state(registry: &Registry, state: &State) -> Vec<ScoreRow> {
    let fields = registry.results_of(&state.spec).into_iter().filter(|it| has_scores(&it.view));
    let mut found = fields.peekable();
    if found.peek().is_none() {
        return of_readings(registry, state);
    }
    let drawn = found.filter_map(|field| Some((field, (field.of)(state)?)));
    drawn.flat_map(|(field, value)| rows(&field.title.to_lowercase(), &field.view, &value)).collect()
}

/// The scores in the forms read, for patterns that add no such field to the result.
fn of_readings(registry: &Registry, state: &State) -> Vec<ScoreRow> {
    let forms = registry.forms();
    let read = state.readings.iter().filter(|it| it.source != Source::Assumed);
    let drawn = read.filter_map(|it| Some((it, forms.iter().find(|form| form.kind == it.reading.kind)?)));
    let rows = drawn.flat_map(|(it, form)| {
        let rows = rows(form.kind, &form.view, &it.reading.value);
        rows.into_iter().map(|row| ScoreRow { round: Some(u64::from(it.round)), ..row })
    });
    rows.collect()
}

fn has_scores(view: &View) -> bool {
    match view {
        View::Scores { .. } => true,
        View::Sections { sections } => sections.iter().any(|it| has_scores(it.view)),
        _ => false,
    }
}

fn rows(label: &str, view: &View, value: &Value) -> Vec<ScoreRow> {
    match view {
        View::Scores { entries, participant, score, whole, .. } => {
            let groups = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let row = |group: &Value| {
                let entries = group.pointer(entries)?.as_array()?;
                let mark = |it: &Value| {
                    Some((it.pointer(participant)?.as_str()?.to_owned(), it.pointer(score)?.as_f64()?))
                };
                let whole = whole.and_then(|at| group.pointer(at)?.as_f64());
                let round = group.pointer("/round").and_then(Value::as_u64);
                let marks = entries.iter().filter_map(mark).collect();
                Some(ScoreRow { label: label.to_owned(), round, marks, whole })
            };
            groups.iter().filter_map(row).collect()
        }
        View::Sections { sections } => {
            let below = |it: &Section| Some(rows(label, it.view, value.pointer(it.at)?));
            sections.iter().filter_map(below).flatten().collect()
        }
        _ => Vec::new(),
    }
}

impl ScoreRow {
    /// `R2  ann 9.0 · bob 8.5 · as a whole 7.5`, with the best score in bold.
    pub(crate) fn line(&self) -> Line {
        let best = self.marks.iter().map(|it| it.1).fold(f64::MIN, f64::max);
        let start = self.round.map_or_else(Line::default, |it| Line::of(&format!("R{it}  "), PLAIN));
        let mark = |line: Line, (at, (name, score)): (usize, &(String, f64))| {
            let style = if best <= *score { BOLD } else { PLAIN };
            let gap = if at == 0 { "" } else { " · " };
            line.and(gap, DIM).and(name, PLAIN).and(&format!(" {score:.1}"), style)
        };
        let marks = self.marks.iter().enumerate().fold(start, mark);
        match self.whole {
            Some(whole) => marks.and(" · ", DIM).and(&format!("as a whole {whole:.1}"), DIM),
            None => marks,
        }
    }
}
