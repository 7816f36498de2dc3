//! A picture of steps as SVG: a box for each with its state, lines for what waits for what, steps
//! inside others in frames. Without styles and scripts, for pages with a strict policy.

use std::{collections::BTreeMap, fmt::Write};

use crate::export::{
    escape::escape,
    transcript::steps::{Inside, StepBox},
};

/// The width that side-by-side steps may take before they continue below.
const WIDEST: i32 = 640;

const BOX: (i32, i32) = (176, 46);
const GAP: (i32, i32) = (16, 30);
const MARGIN: i32 = 12;
/// The height of a frame's title.
const TITLE: i32 = 34;
/// The height of the label above a list inside a frame.
const LABEL: i32 = 18;

/// The longest name that fits a box, in characters.
const LONGEST: usize = 21;

/// The picture. Steps that hold a discussion link to it, if links begin with something.
pub(super) fn svg(steps: &[StepBox], link: Option<&str>) -> String {
    let laid = list(steps, WIDEST);
    let (width, height) = (laid.width + 2, laid.height + 2);
    let mut drawing = Drawing { out: String::new(), link };
    drawing.block(&laid, 1, 1);
    format!(
        "<svg class=\"steps\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"The steps and what waits for what\">\n{}</svg>",
        drawing.out
    )
}

/// A step with its size and what is inside it.
struct Laid<'s> {
    step: &'s StepBox,
    width: i32,
    height: i32,
    inside: Vec<(Option<&'s str>, Block<'s>)>,
}

/// Steps with their places, and the lines between them.
struct Block<'s> {
    placed: Vec<(i32, i32, Laid<'s>)>,
    width: i32,
    height: i32,
}

fn laid(step: &StepBox, widest: i32) -> Laid<'_> {
    let within = |it: &'_ Inside| -> i32 { if it.steps.is_empty() { 0 } else { widest - 2 * MARGIN } };
    let inside: Vec<(Option<&str>, Block<'_>)> =
        step.inside.iter().map(|it| (it.label.as_deref(), list(&it.steps, within(it)))).collect();
    if inside.is_empty() {
        return Laid { step, width: BOX.0, height: BOX.1, inside };
    }
    let labels = |it: &(Option<&str>, Block<'_>)| if it.0.is_some() { LABEL } else { 0 };
    let width = inside.iter().map(|it| it.1.width).max().unwrap_or_default().max(BOX.0) + 2 * MARGIN;
    let height: i32 = inside.iter().map(|it| it.1.height + labels(it) + MARGIN).sum();
    Laid { step, width, height: TITLE + height, inside }
}

/// Steps in rows: each below everything it waits for.
fn list(steps: &[StepBox], widest: i32) -> Block<'_> {
    let mut rows: BTreeMap<usize, Vec<Laid<'_>>> = BTreeMap::new();
    let levels = levels(steps);
    for (step, level) in steps.iter().zip(levels) {
        rows.entry(level).or_default().push(laid(step, widest));
    }
    let rows: Vec<Vec<Laid<'_>>> = rows.into_values().flat_map(|row| wrapped(row, widest)).collect();
    let width_of = |row: &Vec<Laid<'_>>| row.iter().map(|it| it.width + GAP.0).sum::<i32>() - GAP.0;
    let width = rows.iter().map(width_of).max().unwrap_or(BOX.0);
    let (mut y, mut placed) = (0, Vec::new());
    for row in rows {
        let mut x = (width - width_of(&row)) / 2;
        let height = row.iter().map(|it| it.height).max().unwrap_or_default();
        for it in row {
            let step = it.width + GAP.0;
            placed.push((x, y, it));
            x += step;
        }
        y += height + GAP.1;
    }
    Block { placed, width, height: (y - GAP.1).max(0) }
}

/// The row of each step: one below the last step it waits for.
fn levels(steps: &[StepBox]) -> Vec<usize> {
    let mut levels: BTreeMap<&str, usize> = BTreeMap::new();
    // A step may come before one it waits for, so this goes on until nothing changes.
    for _ in 0..=steps.len() {
        for step in steps {
            let after = step.after.iter().filter_map(|it| levels.get(it.as_str())).max();
            let level = after.map_or(0, |it| it + 1).min(steps.len());
            levels.insert(&step.step_id, level);
        }
    }
    steps.iter().map(|it| levels.get(it.step_id.as_str()).copied().unwrap_or_default()).collect()
}

/// A row in as many rows as it takes to fit.
fn wrapped(row: Vec<Laid<'_>>, widest: i32) -> Vec<Vec<Laid<'_>>> {
    let mut rows: Vec<(i32, Vec<Laid<'_>>)> = Vec::new();
    for it in row {
        match rows.last_mut() {
            Some((width, last)) if *width + GAP.0 + it.width <= widest => {
                *width += GAP.0 + it.width;
                last.push(it);
            }
            _ => rows.push((it.width, vec![it])),
        }
    }
    rows.into_iter().map(|it| it.1).collect()
}

struct Drawing<'l> {
    out: String,
    link: Option<&'l str>,
}

impl Drawing<'_> {
    fn block(&mut self, block: &Block<'_>, x: i32, y: i32) {
        let find = |id: &str| block.placed.iter().find(|it| it.2.step.step_id == id);
        for (left, top, it) in &block.placed {
            for (from_x, from_y, before) in it.step.after.iter().filter_map(|id| find(id)) {
                let from = (x + from_x + before.width / 2, y + from_y + before.height);
                self.edge(from, (x + left + it.width / 2, y + top));
            }
        }
        block.placed.iter().for_each(|(left, top, it)| self.step(it, x + left, y + top));
    }

    fn edge(&mut self, (x, y): (i32, i32), (to_x, to_y): (i32, i32)) {
        let (bend, end) = ((to_y - y) / 2, to_y - 5);
        let _ = writeln!(
            self.out,
            "<path class=\"edge\" d=\"M{x} {y}C{x} {} {to_x} {} {to_x} {end}m-4 0h8l-4 5z\"/>",
            y + bend,
            end - bend,
        );
    }

    fn step(&mut self, it: &Laid<'_>, x: i32, y: i32) {
        let step = it.step;
        let open = match (self.link, &step.discussion_id) {
            (Some(link), Some(id)) => format!("<a href=\"{link}{}\">", escape(id)),
            _ => "<g>".to_owned(),
        };
        let close = if open == "<g>" { "</g>" } else { "</a>" };
        let frame = if it.inside.is_empty() { "box" } else { "frame" };
        let (width, height) = (it.width, it.height);
        let status = escape(&step.status);
        let _ = writeln!(
            self.out,
            "{open}<title>{}</title><rect class=\"{frame} {status}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
             height=\"{height}\" rx=\"8\"/><circle class=\"{status}\" cx=\"{}\" cy=\"{}\" r=\"5\"/>\
             <text x=\"{}\" y=\"{}\">{}</text><text class=\"kind\" x=\"{}\" y=\"{}\">{}</text>{close}",
            escape(&described(step)),
            x + 14,
            y + 17,
            x + 26,
            y + 21,
            escape(&short(&step.step_id)),
            x + 26
                + if it.inside.is_empty() { 0 } else { 8 * step.step_id.chars().count().min(LONGEST) as i32 },
            if it.inside.is_empty() { y + 37 } else { y + 21 },
            escape(&aside(step)),
        );
        let mut top = y + TITLE;
        for (label, block) in &it.inside {
            if let Some(label) = label {
                let _ = writeln!(
                    self.out,
                    "<text class=\"kind\" x=\"{}\" y=\"{}\">{}</text>",
                    x + MARGIN,
                    top + 10,
                    escape(label)
                );
                top += LABEL;
            }
            self.block(block, x + (it.width - block.width) / 2, top);
            top += block.height + MARGIN;
        }
    }
}

fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// The text beside the name.
fn aside(step: &StepBox) -> String {
    let turns = match step.turns.len() {
        0 => String::new(),
        count => format!(", {count}×"),
    };
    format!("{}{turns} · {}", step.kind, step.status)
}

fn described(step: &StepBox) -> String {
    let why = step.error.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
    format!("{} ({}): {}{why}", step.step_id, step.kind, step.status)
}
