//! Reads the answers of discussions: first answers, what a protocol decided, and what it cost.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::{
    model::{
        id::{DiscussionId, Step},
        outcome::Outcome,
        reading::Source,
        state::RecordedReading,
        transcript::Turn,
    },
    registry::Snapshot,
};
use serde_json::Value;

use super::{Answers, Best, Evaluation, Ran};
use crate::eval::{
    Lots,
    grade::{Graded, Key, Mark, folded, grade, letter},
    protocol::Way,
    question::Posed,
};

/// The first answers to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstAnswers {
    /// The place of the question.
    pub question: usize,
    /// The repeat.
    pub repeat: u32,
    /// The discussion they are recorded in.
    pub discussion: DiscussionId,
    /// The answers, in seating order.
    pub answers: Vec<First>,
}

/// The first answer of a voice.
#[derive(Debug, Clone, PartialEq)]
pub struct First {
    /// The voice: its seat in the panel.
    pub voice: String,
    /// The answer.
    pub answer: String,
    /// The confidence it stated.
    pub confidence: f64,
    /// Its grade.
    pub mark: Mark,
    /// Its cost.
    pub cost: Cost,
}

/// The cost of an answer, as if its protocol had been used alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Calls.
    pub calls: f64,
    /// Tokens.
    pub tokens: f64,
    /// US dollars; `None` if a price is not known.
    pub usd: Option<f64>,
    /// Milliseconds from the question to the answer.
    pub ms: f64,
}

/// Changes of mind between first and last positions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flips {
    /// From right to wrong.
    pub harmed: u32,
    /// From wrong to right.
    pub helped: u32,
    /// The voices whose first and last positions are known.
    pub of: u32,
}

/// The answer of one protocol to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The place of the question.
    pub question: usize,
    /// The repeat.
    pub repeat: u32,
    /// The place of the protocol.
    pub protocol: usize,
    /// The discussion.
    pub discussion: DiscussionId,
    /// The answer: the letter of an option, or the text that was graded.
    pub answer: String,
    /// Its grade.
    pub mark: Mark,
    /// Whether the votes were a tie, and a lot decided.
    pub is_tie: bool,
    /// The probability that the result stated, or else the share of the votes behind it.
    pub probability: Option<f64>,
    /// Its cost.
    pub cost: Cost,
    /// Changes of mind, where positions are known.
    pub flips: Flips,
}

/// The first answers of a discussion, graded where no model is needed.
pub(super) fn firsts(posed: &[Posed], ran: &Ran) -> Option<FirstAnswers> {
    let state = &ran.state;
    let posed = &posed[ran.job.question];
    let mut answers: Vec<First> = Vec::new();
    for reading in state.readings.iter().filter(|it| is_first(it)) {
        let Some(stance) = &reading.reading.stance else { continue };
        if answers.iter().any(|it| it.voice == reading.participant) {
            continue;
        }
        let turns = ran.first_turns().into_iter().filter(|it| it.participant == reading.participant);
        let cost = turns.fold(Cost::NONE, |sum, it| sum.and(cost_of(it, ran.paid_before(it))));
        answers.push(First {
            voice: reading.participant.clone(),
            answer: stance.position.clone(),
            confidence: stance.confidence,
            mark: mark(posed, &stance.position),
            cost,
        });
    }
    let seat = |name: &str| state.spec.participants.iter().position(|it| it.name == name);
    answers.sort_by_key(|it| seat(&it.voice));
    let (question, repeat, discussion) = (ran.job.question, ran.job.repeat, state.id);
    (!answers.is_empty()).then_some(FirstAnswers { question, repeat, discussion, answers })
}

fn is_first(reading: &RecordedReading) -> bool {
    let is_step = reading.step.as_ref().is_some_and(Step::is_first);
    is_step && reading.source != Source::Assumed && reading.reading.stance.is_some()
}

/// The grade of a short answer; one that only a model can grade counts as unread until it has.
pub(super) fn mark(posed: &Posed, answer: &str) -> Mark {
    match (&posed.key, posed.letters.iter().position(|it| it == answer)) {
        (Key::Choice(right), Some(place)) => Mark::of(place == *right),
        (key, _) => match grade(key, &posed.shown, answer) {
            Graded::Marked(mark) => mark,
            Graded::Open(_) => Mark::Unread,
        },
    }
}

/// The answer of a discussion that a protocol held.
pub(super) fn row(evaluation: &Evaluation, all: &Answers, ran: &Ran, based: &[Ran]) -> Option<Row> {
    let protocol = ran.job.protocol.filter(|_| !ran.has_failed())?;
    let posed = &all.posed[ran.job.question];
    let outcome = ran.state.outcome();
    let base = based.iter().find(|it| it.state.id != ran.state.id && is_origin(it, ran));
    let decided = decided(evaluation, posed, &outcome, &ran.job.name, ran.job.repeat);
    Some(Row {
        question: ran.job.question,
        repeat: ran.job.repeat,
        protocol,
        discussion: ran.state.id,
        mark: mark(posed, &decided.answer),
        answer: decided.answer,
        is_tie: decided.is_tie,
        probability: decided.probability,
        cost: cost(ran, base),
        flips: flips(posed, &ran.state, &outcome),
    })
}

fn is_origin(base: &Ran, ran: &Ran) -> bool {
    ran.job.fork.as_ref().is_some_and(|it| it.of == base.state.id)
}

struct Decided {
    answer: String,
    is_tie: bool,
    probability: Option<f64>,
}

/// A discussion's decision: the option that won its vote, or the one in its text. Of tied options
/// one is drawn.
fn decided(evaluation: &Evaluation, posed: &Posed, outcome: &Outcome, name: &str, repeat: u32) -> Decided {
    let votes = outcome.fields.get("votingResults");
    let stated = outcome.fields.get("probability").and_then(Value::as_f64);
    let winner = votes.and_then(|it| it["winner"].as_str()).filter(|it| is_letter(posed, it));
    if let Some(winner) = winner {
        let probability = stated.or_else(|| votes.and_then(|it| share_of(it, winner)));
        return Decided { answer: winner.to_owned(), is_tie: false, probability };
    }
    let tied = votes.and_then(|it| it["tie"].as_array()).map(|it| texts(it)).unwrap_or_default();
    let tied: Vec<&str> = tied.into_iter().filter(|it| is_letter(posed, it)).collect();
    if let Some(drawn) = lot(evaluation.seed, posed, name, repeat, &tied) {
        let share = 1.0 / tied.len() as f64;
        return Decided { answer: drawn, is_tie: true, probability: stated.or(Some(share)) };
    }
    let text = outcome.synthesis.clone();
    let answer = match &posed.key {
        Key::Choice(_) => letter(&text, &posed.shown).map(|it| posed.letters[it].clone()).unwrap_or(text),
        Key::Checks(_) => text,
    };
    Decided { answer, is_tie: false, probability: stated }
}

fn is_letter(posed: &Posed, it: &str) -> bool {
    posed.letters.iter().any(|letter| letter == it)
}

fn texts(values: &[Value]) -> Vec<&str> {
    values.iter().filter_map(Value::as_str).collect()
}

/// One of the tied options, by a lot of the evaluation's seed.
fn lot(seed: u64, posed: &Posed, name: &str, repeat: u32, tied: &[&str]) -> Option<String> {
    let mut lots = Lots::of(seed, &["tie", &posed.id, name, &repeat.to_string()]);
    tied.get(lots.below(tied.len())).map(|it| (*it).to_owned())
}

/// The winner's share of the votes.
fn share_of(votes: &Value, winner: &str) -> Option<f64> {
    let counts = votes["votes"].as_object()?;
    let all: f64 = counts.values().filter_map(Value::as_f64).sum();
    let own = counts.get(winner).and_then(Value::as_f64)?;
    (all > 0.0).then(|| own / all)
}

impl Cost {
    pub(super) const NONE: Cost = Cost { calls: 0.0, tokens: 0.0, usd: Some(0.0), ms: 0.0 };

    pub(super) fn and(self, other: Cost) -> Cost {
        Cost {
            calls: self.calls + other.calls,
            tokens: self.tokens + other.tokens,
            usd: self.usd.zip(other.usd).map(|(one, other)| one + other),
            ms: self.ms.max(other.ms),
        }
    }
}

/// What a discussion would have cost alone: an answer that it took over counts as it did in the
/// discussion it was asked in.
fn cost(ran: &Ran, base: Option<&Ran>) -> Cost {
    let of_base = base.iter().flat_map(|it| it.failed.iter().chain([&it.state]));
    let before = of_base.chain(&ran.failed).flat_map(|it| &it.turns).filter(|it| !it.reused);
    let original: BTreeMap<&str, &Turn> = before.map(|it| (it.step.as_str(), &**it)).collect();
    let turns = ran.state.turns.iter();
    let sum = turns.fold(Cost::NONE, |sum, it| sum.and(cost_of(it, original.get(it.step.as_str()).copied())));
    let reused = ran.state.turns.iter().filter(|it| it.reused);
    let waited = reused.filter_map(|it| original.get(it.step.as_str())).map(|it| it.duration_ms).max();
    let own = ran.state.outcome().total_duration_ms + waited.unwrap_or_default();
    Cost { ms: own as f64, ..sum }
}

fn cost_of(turn: &Turn, original: Option<&Turn>) -> Cost {
    let paid = if turn.reused { original.unwrap_or(turn) } else { turn };
    Cost {
        calls: 1.0,
        tokens: paid.bill.usage.total() as f64,
        usd: paid.bill.cost.map(|it| it.dollars()),
        ms: paid.duration_ms as f64,
    }
}

/// Changes of mind between the first position of a voice and its last. A second blind draw is no
/// change of mind, so only the flips of the record count.
fn flips(posed: &Posed, state: &Snapshot, outcome: &Outcome) -> Flips {
    let mut ends: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for it in &outcome.positions_by_round {
        ends.entry(&it.participant).or_insert((&it.position, &it.position));
    }
    for it in &outcome.flips {
        if let Some(entry) = ends.get_mut(it.participant.as_str()) {
            entry.1 = &it.to;
        }
    }
    let mut flips = Flips::default();
    for seat in &state.spec.participants {
        let Some((first, last)) = ends.get(seat.name.as_str()) else { continue };
        let (before, after) = (mark(posed, first) == Mark::Right, mark(posed, last) == Mark::Right);
        flips.of += 1;
        flips.harmed += u32::from(before && !after);
        flips.helped += u32::from(!before && after);
    }
    flips
}

/// The answers of protocols that need no discussion of their own: they follow from the first
/// answers to these questions. The other answers to them begin at this place of the rows.
pub(super) fn derived(
    evaluation: &Evaluation,
    all: &Answers,
    asked: &BTreeSet<usize>,
    from: usize,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for first in all.firsts.iter().filter(|it| asked.contains(&it.question)) {
        for (place, protocol) in evaluation.protocols.iter().enumerate() {
            let is_known = all.rows[from..]
                .iter()
                .any(|it| (it.question, it.repeat, it.protocol) == (first.question, first.repeat, place));
            rows.extend(match &protocol.way {
                _ if is_known => None,
                Way::Single(voice) => single(first, place, voice.as_deref(), all.best.as_ref()),
                Way::Baseline => plurality(evaluation, all, first, place),
                Way::SelfConsistency { .. } | Way::Discussion { .. } => None,
            });
        }
    }
    rows
}

fn single(first: &FirstAnswers, protocol: usize, voice: Option<&str>, best: Option<&Best>) -> Option<Row> {
    let voice = voice.or(best.map(|it| it.voice.as_str()))?;
    let answer = first.answers.iter().find(|it| it.voice == voice)?;
    Some(of_first(first, protocol, answer, answer.cost, Some(answer.confidence)))
}

/// The answer that most first answers to an open question agree on; of several, one is drawn.
fn plurality(evaluation: &Evaluation, all: &Answers, first: &FirstAnswers, protocol: usize) -> Option<Row> {
    let posed = &all.posed[first.question];
    if !posed.letters.is_empty() {
        return None;
    }
    let mut groups: Vec<(String, Vec<&First>)> = Vec::new();
    for it in &first.answers {
        let key = folded(&it.answer);
        match groups.iter_mut().find(|group| group.0 == key) {
            Some(group) => group.1.push(it),
            None => groups.push((key, vec![it])),
        }
    }
    let most = groups.iter().map(|it| it.1.len()).max()?;
    let leading: Vec<&(String, Vec<&First>)> = groups.iter().filter(|it| it.1.len() == most).collect();
    let mut lots = Lots::of(evaluation.seed, &["tie", &posed.id, "plurality", &first.repeat.to_string()]);
    let chosen = leading.get(lots.below(leading.len()))?.1.first()?;
    let cost = first.answers.iter().fold(Cost::NONE, |sum, it| sum.and(it.cost));
    let share = most as f64 / first.answers.len() as f64;
    let row = of_first(first, protocol, chosen, cost, Some(share));
    Some(Row { is_tie: leading.len() > 1, ..row })
}

fn of_first(first: &FirstAnswers, protocol: usize, it: &First, cost: Cost, probability: Option<f64>) -> Row {
    Row {
        question: first.question,
        repeat: first.repeat,
        protocol,
        discussion: first.discussion,
        answer: it.answer.clone(),
        mark: it.mark,
        is_tie: false,
        probability,
        cost,
        flips: Flips::default(),
    }
}
