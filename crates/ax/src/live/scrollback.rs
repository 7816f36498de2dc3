//! The scrollback above the screen: finished turns, and events worth a line.

use std::ops::Range;

use quorum::{
    Signal,
    model::{
        event::{Event, Fact},
        participant::Role,
        reading::{Reading, Source},
        state::State,
        transcript::Turn,
    },
    text::{count, time},
};

use crate::{
    live::{columns::money, voice::colour},
    render::{
        line::{BAD, BOLD, Colour, DIM, Line, PLAIN},
        markdown,
        progress::{ProgressLines, UNREAD, dropped_out},
        role_name,
    },
};

/// Wider lines are hard to read.
const WIDEST: usize = 100;
const MARGIN: &str = "  ";

/// Lines that go above the screen with the next frame.
#[derive(Debug, Default)]
pub(crate) struct Scrollback {
    lines: Vec<Line>,
    /// Whether the last line was a remark. Anything but a remark needs a blank line after it.
    remarked: bool,
}

impl Scrollback {
    /// Handles a signal of this discussion. The state includes it already.
    pub(crate) fn handle_signal(
        &mut self,
        state: &State,
        progress: &ProgressLines,
        signal: &Signal,
        columns: usize,
    ) {
        // The screen has a line for each step; what happens inside them has records of its own.
        let is_on_screen = |fact: &Fact| {
            matches!(fact.event, Event::ChildConvened(_) | Event::ToolPlaced(_) | Event::PhaseEntered { .. })
        };
        let lines = match signal {
            Signal::Fact { discussion, fact }
                if state.spec.plan.is_some() && (*discussion != state.id || is_on_screen(fact)) =>
            {
                return;
            }
            Signal::Fact { discussion, fact } if *discussion == state.id => {
                of_fact(state, fact, columns).unwrap_or_else(|| remark(progress, signal, columns))
            }
            Signal::Fact { fact, .. } if is_passing(&fact.event) => return,
            Signal::Fact { .. } | Signal::Trouble(_) => remark(progress, signal, columns),
            Signal::Piece(_) => return,
        };
        let remarks = |line: &Line| line.rendered(Colour::Off).starts_with(MARGIN);
        if self.remarked && lines.first().is_some_and(|line| !remarks(line)) {
            self.lines.push(Line::default());
        }
        self.remarked = lines.last().map_or(self.remarked, remarks);
        self.lines.extend(lines);
    }

    /// Adds a remark.
    pub(crate) fn remark(&mut self, text: &str, columns: usize) {
        self.lines.extend(indented(text, columns));
        self.remarked = true;
    }

    /// The remaining lines, with a blank line if the last was a remark.
    pub(crate) fn end(&mut self) -> Vec<Line> {
        let gap = self.remarked.then(Line::default);
        self.take_lines().into_iter().chain(gap).collect()
    }

    /// Takes the lines collected so far.
    pub(crate) fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }
}

/// The lines of a fact that has its own form.
fn of_fact(state: &State, fact: &Fact, columns: usize) -> Option<Vec<Line>> {
    match &fact.event {
        Event::RoundOpened { round } => {
            Some(vec![heading(&format!("round {round}"), columns), Line::default()])
        }
        Event::TurnCompleted { turn } => Some(said(state, turn, columns)),
        Event::ReplyRead { participant, source, reading, .. } => {
            let words = read(speaker(state, participant), *source, reading);
            Some(words.map(|words| paragraph(&words, columns)).unwrap_or_default())
        }
        Event::TurnFailed(failed) => {
            let text = dropped_out(failed);
            Some(paragraph(&Line::of("✖ ", BAD).and(text.trim(), PLAIN), columns))
        }
        event if is_passing(event) => Some(Vec::new()),
        _ => None,
    }
}

/// Whether the screen itself shows this event while it lasts. Such events of sub-discussions are
/// not shown at all.
fn is_passing(event: &Event) -> bool {
    matches!(
        event,
        Event::PhaseEntered { .. }
            | Event::LifecycleChanged { .. }
            | Event::CallPlaced(_)
            | Event::CallFailed { .. }
    )
}

/// The lines of a signal as they would be without a screen.
fn remark(progress: &ProgressLines, signal: &Signal, columns: usize) -> Vec<Line> {
    let text = progress.line(signal);
    text.iter().flat_map(|text| text.lines()).flat_map(|text| indented(text, columns)).collect()
}

fn indented(text: &str, columns: usize) -> Vec<Line> {
    let rows = Line::of(text.trim_start(), DIM).wrapped(columns.saturating_sub(4).max(1));
    rows.into_iter().map(|row| Line::of(MARGIN, PLAIN).then(row)).collect()
}

fn heading(text: &str, columns: usize) -> Line {
    let rest = columns.min(WIDEST).saturating_sub(text.chars().count() + 4);
    Line::of("── ", DIM).and(text, BOLD).and(&format!(" {}", "─".repeat(rest)), DIM).cut(columns)
}

/// These turns, formatted for the scrollback.
pub(crate) fn said_between(state: &State, places: Range<usize>, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut round = places.start.checked_sub(1).and_then(|at| state.turns.get(at)).map(|it| it.round);
    for turn in state.turns.iter().take(places.end).skip(places.start) {
        if round.replace(turn.round) != Some(turn.round) {
            lines.extend([heading(&format!("round {}", turn.round), columns), Line::default()]);
        }
        lines.extend(said(state, turn, columns));
    }
    lines
}

/// A turn with its speaker. A filled-in form is shown once it is read.
fn said(state: &State, turn: &Turn, columns: usize) -> Vec<Line> {
    if turn.form.is_some() {
        return Vec::new();
    }
    let text = state.unmasked(turn);
    let role = state.spec.seat(&turn.participant).map(|it| &it.role).filter(|it| **it != Role::SPEAKER);
    let part: Vec<String> =
        role.map(|it| role_name(it.name()).to_owned()).into_iter().chain(figures(turn)).collect();
    let head = speaker(state, &turn.participant);
    let head = head.and(&format!("  {}", part.join(" · ")), DIM).cut(columns);
    let room = columns.saturating_sub(MARGIN.len() + 1).clamp(1, WIDEST);
    let body = markdown::lines(text.trim(), room).into_iter().map(|line| Line::of(MARGIN, PLAIN).then(line));
    let mark = turn.finish.mark().map(|mark| indented(&mark, columns)).unwrap_or_default();
    [head].into_iter().chain(body).chain(mark).chain([Line::default()]).collect()
}

fn figures(turn: &Turn) -> Vec<String> {
    if turn.reused {
        return vec!["answered this before; the answer is reused".to_owned()];
    }
    // A person's turn has no token count.
    if turn.bill.usage.completion == 0 {
        return Vec::new();
    }
    // A simulated turn costs nothing, which is known and not worth showing.
    let cost = turn
        .bill
        .cost
        .map_or(Some("unpriced".to_owned()), |it| Some(it.dollars()).filter(|it| 0.0 < *it).map(money));
    let model = turn.answered_by.clone().or_else(|| turn.model.clone());
    let figures = [time(turn.duration_ms), count(turn.bill.usage.completion, "token")];
    model.into_iter().chain(figures).chain(cost).collect()
}

fn speaker(state: &State, name: &str) -> Line {
    let seat = state.spec.participants.iter().position(|it| it.name == name).unwrap_or_default();
    Line::of("● ", colour(seat)).and(name, colour(seat).bold())
}

/// What a form says, with the reason if it takes a position.
fn read(who: Line, source: Source, reading: &Reading) -> Option<Line> {
    if source == Source::Assumed {
        return Some(who.and(&format!(" {UNREAD}"), PLAIN));
    }
    let told = reading.told.as_ref()?;
    let reason = reading.stance.as_ref().map(|_| reading.reason().trim()).filter(|it| !it.is_empty());
    let because = reason.map(|it| format!(": {it}")).unwrap_or_default();
    Some(who.and(&format!(" {told}{because}"), PLAIN))
}

/// Wraps a text into a few lines, followed by a blank one.
fn paragraph(words: &Line, columns: usize) -> Vec<Line> {
    let rows =
        words.wrapped(columns.saturating_sub(MARGIN.len() + 1).clamp(1, WIDEST)).into_iter().enumerate();
    let rows = rows.map(|(at, row)| if at == 0 { row } else { Line::of(MARGIN, PLAIN).then(row) });
    rows.chain([Line::default()]).collect()
}
