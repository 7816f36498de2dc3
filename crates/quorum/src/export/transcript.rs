//! The contents and order of a document for people; each format decides how it looks.

use quorum_patterns::workflow::plan_of;

use quorum_core::{
    model::{
        outcome::{Outcome, Response, Round},
        participant::{Participant, Role},
        recall::{Recalled, numbered},
        state::State,
    },
    registry::Snapshot,
};

use crate::{
    export::{
        Extras,
        sources::{Citations, CitedTurn, Note},
        transcript::{
            course::course,
            fields::fields,
            results::{arguments, costs, dissent, dropped, subs},
            steps::StepBox,
        },
    },
    text::{self, clean, count, escaped, time},
};

mod agents;
mod course;
mod fields;
mod results;
pub mod steps;

pub use agents::agents;
pub use fields::drawn;

/// A section with a heading; the whole document is one.
#[derive(Debug, Default)]
pub struct Part {
    /// The heading.
    pub title: String,
    /// A note beside the title.
    pub aside: Option<String>,
    /// The author of the section, as a seat index.
    pub seat: Option<usize>,
    /// Its number among the turns that the answer rests on, from 1.
    pub cited: Option<usize>,
    /// The blocks under the heading, in order.
    pub blocks: Vec<Block>,
    /// The subsections.
    pub parts: Vec<Part>,
}

/// A block of a section. All of it is data: only [`Block::Said`] and [`Block::Sourced`] are
/// Markdown, written by participants.
#[derive(Debug)]
pub enum Block {
    /// A sentence of our own, without its full stop.
    Line(String),
    /// Text of a participant or a person.
    Said(String),
    /// The same with characters that stand for notes and marks.
    Sourced {
        /// The text.
        text: String,
        /// The notes by number.
        notes: Vec<Option<Note>>,
    },
    /// A share from 0 to 1.
    Share {
        /// The label before the value.
        label: String,
        /// The share.
        value: f64,
    },
    /// A structured reply, as JSON.
    Data(String),
    /// A list.
    Items(Vec<Item>),
    /// A table.
    Table(Table),
    /// Steps with their states.
    Steps(Vec<StepBox>),
    /// Commands to type.
    Commands(Vec<String>),
}

/// An entry of a list.
#[derive(Debug)]
pub struct Item {
    /// The author, if stated.
    pub who: Option<String>,
    /// The text.
    pub text: String,
}

/// A table; every row has as many cells as the head.
#[derive(Debug)]
pub struct Table {
    /// The headings of the columns.
    pub head: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table without its empty columns.
    fn new(head: &[&str], rows: &[Vec<String>]) -> Table {
        let is_used = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
        let used: Vec<usize> = (0..head.len()).filter(is_used).collect();
        let row = |row: &Vec<String>| used.iter().map(|column| row[*column].clone()).collect();
        Table {
            head: used.iter().map(|column| head[*column].to_owned()).collect(),
            rows: rows.iter().map(row).collect(),
        }
    }
}

impl Part {
    fn new(title: impl Into<String>, blocks: Vec<Block>) -> Part {
        Part { title: title.into(), blocks, ..Part::default() }
    }

    /// Returns the section unless it is empty.
    fn unless_empty(self) -> Option<Part> {
        (!self.blocks.is_empty() || !self.parts.is_empty()).then_some(self)
    }
}

type Section = fn(&Snapshot, &Outcome, &Citations) -> Vec<Part>;

/// The answer first, then its qualifications, then how it came about.
const SECTIONS: &[Section] = &[
    |_, outcome, cited| synthesis(outcome, cited).into_iter().collect(),
    |_, outcome, _| dissent(outcome).into_iter().collect(),
    |_, outcome, _| dropped(outcome).into_iter().collect(),
    |state, outcome, _| fields(state, outcome),
    |_, outcome, _| course(outcome),
    |_, outcome, _| arguments(outcome).into_iter().collect(),
    |_, _, cited| sources(cited).into_iter().collect(),
    |state, outcome, _| table(state, outcome).into_iter().collect(),
    |_, outcome, _| agents(outcome).into_iter().collect(),
    |state, _, _| background(state).into_iter().collect(),
    |state, _, _| earlier(state).into_iter().collect(),
    |state, outcome, cited| {
        let rounds = outcome.rounds.iter().filter(|it| is_worth_it(state, it));
        rounds.map(|it| round(state, it, cited)).collect()
    },
    |_, outcome, _| subs(outcome).into_iter().collect(),
    |_, outcome, _| vec![costs(outcome)],
];

/// The document about a discussion, finished or not, with the commands its reader can type to see
/// it again.
pub(super) fn transcript(state: &Snapshot, extras: &Extras, notes: ShowsNotes) -> Part {
    let outcome = state.outcome();
    let cited = match notes {
        ShowsNotes::Yes => Citations::of(&outcome),
        ShowsNotes::No => Citations::default(),
    };
    let (title, question) = match &extras.title {
        Some(title) => (title.clone(), Some(Block::Said(outcome.topic.clone()))),
        None => (outcome.topic.clone(), None),
    };
    let mut blocks: Vec<Block> = question.into_iter().chain(standing(&outcome)).collect();
    blocks.push(Block::Line(summary(state, &outcome)));
    blocks.extend(outcome.metadata.early_exit.as_ref().map(|it| Block::Line(text::early_exit(it))));
    blocks.extend(outcome.error.as_ref().map(|it| Block::Line(format!("{}: {}", it.code, it.message))));
    let parts = SECTIONS.iter().flat_map(|section| section(state, &outcome, &cited));
    let parts = parts.chain(again(&extras.commands)).collect();
    let mut whole = Part { parts, ..Part::new(title, blocks) };
    clean_part(&mut whole);
    whole
}

/// Whether a document shows the sources of each sentence of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShowsNotes {
    Yes,
    No,
}

/// Cleans every text separately, so that a control sequence begun in one can't swallow the others.
fn clean_part(part: &mut Part) {
    part.title = clean(&part.title);
    part.aside = part.aside.as_deref().map(clean);
    part.blocks.iter_mut().for_each(clean_block);
    part.parts.iter_mut().for_each(clean_part);
}

fn clean_block(block: &mut Block) {
    match block {
        Block::Line(text) | Block::Said(text) | Block::Sourced { text, .. } => *text = clean(text),
        Block::Data(json) => *json = escaped(json),
        Block::Items(items) => items.iter_mut().for_each(|item| {
            item.who = item.who.as_deref().map(clean);
            item.text = clean(&item.text);
        }),
        Block::Table(table) => table.rows.iter_mut().flatten().for_each(|cell| *cell = clean(cell)),
        Block::Steps(steps) => steps.iter_mut().for_each(clean_step),
        Block::Share { .. } | Block::Commands(_) => {}
    }
}

fn clean_step(step: &mut StepBox) {
    // Names come from a checked plan; only errors have text of others.
    step.error = step.error.as_deref().map(clean);
    step.turns.iter_mut().for_each(clean_step);
    step.inside.iter_mut().flat_map(|it| &mut it.steps).for_each(clean_step);
}

fn summary(state: &State, outcome: &Outcome) -> String {
    let rounds = count(outcome.rounds.len() as u64, "round");
    let method = &state.spec.consensus.method;
    let (took, at) = (time(outcome.total_duration_ms), moment(&outcome.metadata.started_at));
    let pattern = &outcome.pattern;
    if let Some(plan) = plan_of(&state.spec) {
        return format!("{at}: {} {}, {}, {took}", plan.workflow, plan.version, outcome.status);
    }
    format!("{at}: {pattern}, {rounds}, decided by {method}, {}, {took}", outcome.status)
}

/// What the result is. The line's last full stop is left to the format.
fn standing(outcome: &Outcome) -> Option<Block> {
    let line = text::standing(outcome)?;
    Some(Block::Line(line.strip_suffix('.').unwrap_or(&line).to_owned()))
}

/// `2026-11-02 14:05 UTC`
fn moment(iso: &str) -> String {
    format!("{} UTC", iso.get(..16).unwrap_or(iso).replace('T', " "))
}

fn synthesis(outcome: &Outcome, cited: &Citations) -> Option<Part> {
    if outcome.synthesis.trim().is_empty() {
        return Part::new("Synthesis", vec![Block::Line("There is none yet".into())]).unless_empty();
    }
    let consensus = &outcome.consensus;
    let mut blocks = vec![match cited.notes.is_empty() {
        true => Block::Said(outcome.synthesis.clone()),
        false => Block::Sourced { text: cited.answer(outcome), notes: cited.notes.clone() },
    }];
    blocks.extend(text::support(outcome).map(Block::Line));
    blocks
        .extend(consensus.agreement_score.map(|value| Block::Share { label: "Agreement".to_owned(), value }));
    if !consensus.agreements.is_empty() {
        blocks.push(items(&consensus.agreements));
    }
    blocks.extend(consensus.structure.told().map(|line| Block::Line(line.to_owned())));
    let aside = consensus.synthesizer.as_ref().map(|who| format!("by {who}"));
    Some(Part { aside, ..Part::new(text::heading(outcome), blocks) })
}

/// The turns that the answer rests on, with the words that were used.
fn sources(cited: &Citations) -> Option<Part> {
    let source = |(number, turn): (usize, &CitedTurn)| Item {
        who: Some(format!("{number} {} R{}", turn.participant, turn.round)),
        text: turn.words.clone(),
    };
    let sources: Vec<Item> = (1..).zip(&cited.turns).map(source).collect();
    (!sources.is_empty()).then(|| Part::new("Sources", vec![Block::Items(sources)]))
}

fn items(texts: &[String]) -> Block {
    Block::Items(texts.iter().map(|text| Item { who: None, text: text.clone() }).collect())
}

/// A run of steps has one round in which nothing is said.
fn is_worth_it(state: &State, round: &Round) -> bool {
    state.spec.plan.is_none() || !round.responses.is_empty()
}

/// The participants. The steps of a run name their own.
fn table(state: &State, outcome: &Outcome) -> Option<Part> {
    if state.spec.plan.is_some() {
        return None;
    }
    let missing = |name: &str| outcome.integrity.missing.iter().find(|it| it.provider == name);
    let row = |seat: &Participant| {
        let model = state.models.get(&seat.name).or(seat.model.as_ref()).cloned().unwrap_or_default();
        let role = if seat.role == Role::SPEAKER { String::new() } else { seat.role.to_string() };
        let note = missing(&seat.name).map(|it| it.reason.clone()).unwrap_or_default();
        vec![seat.name.clone(), seat.provider.clone(), model, role, note]
    };
    let rows: Vec<_> = state.spec.participants.iter().map(row).collect();
    let head = ["participant", "provider", "model", "role", "note"];
    Some(Part::new("Participants", vec![Block::Table(Table::new(&head, &rows))]))
}

fn background(state: &State) -> Option<Part> {
    let text = state.spec.background.clone()?;
    Some(Part::new("Background", vec![Block::Said(text)]))
}

/// The excerpts of earlier discussions that everyone was shown.
fn earlier(state: &State) -> Option<Part> {
    let shown = state.spec.recalled.as_deref()?;
    let part = |(number, it): (String, &Recalled)| {
        let score = it.score.map(|score| format!("relevance {score:.2}"));
        let cut = it.cut.then(|| "cut".to_owned());
        let tokens = Some(count(it.tokens, "token"));
        let aside: Vec<String> =
            [Some(it.id.to_string()), score, tokens, cut].into_iter().flatten().collect();
        let title = format!("[{number}] {}", it.topic);
        Part { aside: Some(aside.join(", ")), ..Part::new(title, vec![Block::Said(it.text.clone())]) }
    };
    let none = shown.is_empty().then(|| Block::Line("Nothing was recalled".into()));
    let replaced = state.spec.follows.iter().flat_map(|it| &it.replaced);
    let replaced = replaced.map(|it| Block::Line(format!("{} had the seat of {}", it.by, it.seat)));
    let pattern = state.spec.follows.as_ref().and_then(|it| it.pattern.as_ref()).map(|before| {
        let now = &state.spec.pattern;
        Block::Line(format!("The pattern was {now} in place of {before}, which votes on options"))
    });
    let blocks = none.into_iter().chain(replaced).chain(pattern).collect();
    Some(Part { parts: numbered(shown).map(part).collect(), ..Part::new("Earlier discussions", blocks) })
}

fn round(state: &State, round: &Round, cited: &Citations) -> Part {
    let blocks = round.summary.clone().map(Block::Said).into_iter().collect();
    Part {
        aside: Some(time(round.duration_ms)),
        parts: round.responses.iter().map(|it| speech(state, it, cited)).collect(),
        ..Part::new(format!("Round {}", round.round_number), blocks)
    }
}

fn speech(state: &State, response: &Response, cited: &Citations) -> Part {
    let mut aside: Vec<String> = response.role.clone().into_iter().collect();
    aside.push(response.phase.replace('-', " "));
    aside.extend(response.vote.as_ref().map(|vote| format!("votes {vote}")));
    aside.extend(response.confidence.map(|value| format!("confidence {value:.2}")));
    aside.push(time(response.duration_ms));
    aside.extend(text::response_figures(response));
    let said = match &response.error {
        Some(error) => Block::Line(format!("Failed: {error}")),
        None => reply(&response.content),
    };
    let number = cited.number(response).filter(|_| matches!(said, Block::Said(_)));
    let said = match number {
        Some(number) => Block::Sourced { text: cited.said(number, &response.content), notes: Vec::new() },
        None => said,
    };
    let mark = response.cut_reason().map(|reason| Block::Line(format!("Cut off here: {reason}")));
    let blocks = [said].into_iter().chain(mark).collect();
    let seat = state.spec.participants.iter().position(|it| it.name == response.provider);
    let cited = cited.number(response);
    Part { aside: Some(aside.join(", ")), seat, cited, ..Part::new(response.provider.clone(), blocks) }
}

/// Structured replies are shown as data, as they are hard to read as prose.
fn reply(content: &str) -> Block {
    let data = serde_json::from_str(content).ok().filter(serde_json::Value::is_object);
    let pretty = data.and_then(|it| serde_json::to_string_pretty(&it).ok());
    pretty.map_or_else(|| Block::Said(content.to_owned()), Block::Data)
}

fn again(commands: &[String]) -> Option<Part> {
    let line = "On the machine that has this discussion, these replay, export and re-run it";
    let blocks = vec![Block::Line(line.into()), Block::Commands(commands.to_vec())];
    (!commands.is_empty()).then(|| Part::new("Commands", blocks))
}
