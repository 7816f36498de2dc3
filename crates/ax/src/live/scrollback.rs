//! The scrollback above the screen: finished turns, and events that are worth a line.

use quorum::{
    Signal,
    model::{
        ballot::Source,
        event::{Event, Fact, Reading},
        judging::{JudgingReport, revealed},
        participant::Role,
        state::State,
        transcript::Turn,
    },
    text::{count, time},
};

use crate::{
    live::{columns::money, voice::colour},
    render::{
        card::judged,
        line::{BAD, BOLD, Colour, DIM, Line, PLAIN},
        markdown, progress,
    },
};

/// Wider lines are hard to read.
const WIDEST: usize = 100;
const MARGIN: &str = "  ";
/// How the form of a dialogue's consensus check begins.
pub(super) const CHECK: &str = "[CONSENSUS_CHECK]";

/// Lines that go above the screen with the next frame.
#[derive(Debug, Default)]
pub(crate) struct Scrollback {
    lines: Vec<Line>,
    /// Whether the last line was one of a remark, which nothing else may follow without a gap.
    remarked: bool,
}

impl Scrollback {
    /// Takes in something that happened in this discussion, which the state knows already.
    pub(crate) fn hear(&mut self, state: &State, signal: &Signal, columns: usize) {
        let lines = match signal {
            Signal::Fact { discussion, fact } if *discussion == state.id => {
                of_fact(state, signal, fact, columns)
            }
            Signal::Fact { fact, .. } if is_passing(&fact.event) => return,
            Signal::Fact { .. } | Signal::Trouble(_) => remark(state, signal, columns),
            Signal::Piece(_) => return,
        };
        let remarks = |line: &Line| line.rendered(Colour::Off).starts_with(MARGIN);
        if self.remarked && lines.first().is_some_and(|line| !remarks(line)) {
            self.lines.push(Line::default());
        }
        self.remarked = lines.last().map_or(self.remarked, remarks);
        self.lines.extend(lines);
    }

    /// Something that is said in between.
    pub(crate) fn remark(&mut self, text: &str, columns: usize) {
        self.lines.extend(indented(text, columns));
        self.remarked = true;
    }

    /// The last of it, and a gap before whatever comes then.
    pub(crate) fn end(&mut self) -> Vec<Line> {
        let gap = self.remarked.then(Line::default);
        self.take().into_iter().chain(gap).collect()
    }

    /// What there is so far.
    pub(crate) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }
}

fn of_fact(state: &State, signal: &Signal, fact: &Fact, columns: usize) -> Vec<Line> {
    match &fact.event {
        Event::RoundOpened { round } => vec![heading(&format!("round {round}"), columns), Line::default()],
        Event::TurnCompleted { turn } => said(state, turn, columns),
        Event::ReplyRead { participant, source: Source::Assumed, .. } => {
            let words = speaker(state, participant).and(" filled in a form that could not be read", PLAIN);
            paragraph(&words, columns)
        }
        Event::ReplyRead { participant, round, reading, .. } => {
            let words = read(state, participant, *round, reading);
            words.map(|words| paragraph(&words, columns)).unwrap_or_default()
        }
        Event::TurnFailed(_) => {
            let text = progress::of_signal(state.id, signal).unwrap_or_default();
            paragraph(&Line::of("✖ ", BAD).and(text.trim(), PLAIN), columns)
        }
        event if is_passing(event) => Vec::new(),
        _ => remark(state, signal, columns),
    }
}

/// What the screen shows while it lasts, and nobody needs to know of a discussion below.
fn is_passing(event: &Event) -> bool {
    matches!(
        event,
        Event::PhaseEntered { .. }
            | Event::LifecycleChanged { .. }
            | Event::CallPlaced(_)
            | Event::CallFailed { .. }
    )
}

/// What lines alone would say of it.
fn remark(state: &State, signal: &Signal, columns: usize) -> Vec<Line> {
    let text = progress::of_signal(state.id, signal);
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

/// A turn with its speaker. Forms that were filled in are told once they are read.
fn said(state: &State, turn: &Turn, columns: usize) -> Vec<Line> {
    let text = revealed(state, turn);
    if is_form(&text) {
        return Vec::new();
    }
    let role = state.spec.seat(&turn.participant).map(|it| it.role).filter(|it| *it != Role::Speaker);
    let part: Vec<String> = role.map(|it| it.to_string()).into_iter().chain(figures(turn)).collect();
    let head = speaker(state, &turn.participant);
    let head = head.and(&format!("  {}", part.join(" · ")), DIM).cut(columns);
    let room = columns.saturating_sub(MARGIN.len() + 1).clamp(1, WIDEST);
    let body = markdown::lines(text.trim(), room).into_iter().map(|line| Line::of(MARGIN, PLAIN).then(line));
    [head].into_iter().chain(body).chain([Line::default()]).collect()
}

fn figures(turn: &Turn) -> Vec<String> {
    if turn.reused {
        return vec!["said the same before; nobody was asked".to_owned()];
    }
    // People are not counted in tokens.
    if turn.bill.usage.completion == 0 {
        return Vec::new();
    }
    let cost = turn.bill.cost.map(|it| it.dollars()).filter(|it| 0.0 < *it).map(money);
    let figures = [time(turn.duration_ms), count(turn.bill.usage.completion, "token")];
    figures.into_iter().chain(cost).collect()
}

fn speaker(state: &State, name: &str) -> Line {
    let seat = state.spec.participants.iter().position(|it| it.name == name).unwrap_or_default();
    Line::of("● ", colour(seat)).and(name, colour(seat).bold())
}

/// Whether this is a form for programs, not words for people.
fn is_form(text: &str) -> bool {
    let text = text.trim();
    let fenced = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let inside = fenced.and_then(|it| it.strip_suffix("```")).unwrap_or(text);
    let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(inside).is_ok();
    object || text.starts_with(CHECK)
}

/// What a form says. The synthesis is the result, and comes at the end.
fn read(state: &State, participant: &str, round: u32, reading: &Reading) -> Option<Line> {
    let who = speaker(state, participant);
    let because =
        |reason: &str| if reason.trim().is_empty() { String::new() } else { format!(": {}", reason.trim()) };
    match reading {
        Reading::Ballot(ballot) => {
            let sure = format!(" ({:.2}){}", ballot.confidence.get(), because(&ballot.reasoning));
            Some(who.and(" votes for ", PLAIN).and(&ballot.choice, BOLD).and(&sure, PLAIN))
        }
        Reading::ConsensusVote(vote) => {
            let finds = if vote.agrees { "finds consensus" } else { "finds no consensus yet" };
            Some(who.and(&format!(" {finds}{}", because(&vote.reasoning)), PLAIN))
        }
        Reading::Assessment(_) => {
            let report = JudgingReport::of(state)?;
            let counted = report.rounds.iter().find(|it| it.round == round && it.judge == participant)?;
            Some(who.and(" judges ", PLAIN).then(judged(counted)))
        }
        Reading::Verdict(verdict) => {
            let winner = verdict.winner.as_ref().map(|it| format!("; {} argued best", it.participant));
            Some(who.and(&format!(" has a verdict{}", winner.unwrap_or_default()), PLAIN))
        }
        Reading::Synthesis(_) | Reading::Casting(_) => None,
    }
}

/// Something in a few lines, and a blank one.
fn paragraph(words: &Line, columns: usize) -> Vec<Line> {
    let rows =
        words.wrapped(columns.saturating_sub(MARGIN.len() + 1).clamp(1, WIDEST)).into_iter().enumerate();
    let rows = rows.map(|(at, row)| if at == 0 { row } else { Line::of(MARGIN, PLAIN).then(row) });
    rows.chain([Line::default()]).collect()
}
