//! What a discussion amounts to so far: a pure fold over its facts, for status, history, results and pages alike.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

use crate::model::{
    ballot::Source,
    command::{Command, CommandId},
    debate::DebateState,
    error::Problem,
    event::{
        Absent, Awaited, Check, Conclusion, Event, Fact, FailedTurn, Fork, Lineage, Placed, Reading,
        SubConcluded, Summarised, Tight, WindUp,
    },
    id::{DiscussionId, Seq, Step},
    lifecycle::Lifecycle,
    likeness::Comparison,
    money::{Spent, Usage, Usd},
    outcome::Decision,
    spec::Spec,
    time::Timestamp,
    transcript::{Bill, Turn},
};

/// The read model. Built with [`State::opened`], kept up with [`State::apply`].
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Which discussion.
    pub id: DiscussionId,
    /// What was ordered.
    pub spec: Arc<Spec>,
    /// The version of the pattern's flow it was begun with.
    pub flow: u32,
    /// Where it comes from, for a sub-discussion.
    pub lineage: Option<Lineage>,
    /// Which discussion it was forked from.
    pub fork: Option<Fork>,
    /// Where it stands.
    pub lifecycle: Lifecycle,
    /// The phase inside `running`.
    pub phase: Option<String>,
    /// The round, from 1; 0 before the first.
    pub round: u32,
    /// Every move so far, with its time (A03).
    pub transitions: Vec<Transition>,
    /// Who sat down; `None` before the health check.
    pub seated: Option<Vec<String>>,
    /// Who was not there at the beginning.
    pub absent: Vec<Absent>,
    /// Everything said, in the order it was recorded.
    pub turns: Vec<Arc<Turn>>,
    /// Everyone who failed for good.
    pub failures: Vec<FailedTurn>,
    /// Every structured reply as it was read.
    pub readings: Vec<Heard>,
    /// A dialogue's checks.
    pub checks: Vec<Check>,
    /// What a debate's own facts amount to.
    pub debate: DebateState,
    /// Orders drawn by lot, by their step.
    pub orders: BTreeMap<Step, Vec<usize>>,
    /// The people whose turn it is.
    pub awaiting: Vec<Awaited>,
    /// Remarks from outside the table, in order.
    pub notes: Vec<Arc<str>>,
    /// Summaries of what was said, tried ones included, in order.
    pub summaries: Vec<Summarised>,
    /// Windows that became tight.
    pub tight: Vec<Tight>,
    /// What we took a request's size to be, and what its provider said.
    pub counts: BTreeMap<Step, Counted>,
    /// Sub-discussions asked for, by their step.
    pub subs: BTreeMap<Step, Sub>,
    /// When each round was open, in active time.
    pub rounds: Vec<Span>,
    /// What each participant took.
    pub spending: BTreeMap<String, Spending>,
    /// What all of it took from the budgets, sub-discussions included.
    pub spent: Spent,
    /// Calls placed that have no end yet.
    pub under_way: BTreeMap<Step, Placed>,
    /// What went less than well.
    pub wear: Wear,
    /// The last command taken.
    pub seen: CommandId,
    /// A command taken whose effect is not yet a fact.
    pub wish: Option<Command>,
    /// Why deliberation ended early.
    pub wound_up: Option<WindUp>,
    /// The decision.
    pub decision: Option<Arc<Decision>>,
    /// The end.
    pub conclusion: Option<Conclusion>,
    /// Why it could not go on.
    pub failed: Option<Problem>,
    /// When it was ordered.
    pub opened_at: Timestamp,
    /// When the last fact was recorded.
    pub last_at: Timestamp,
    /// How long it has really been running.
    pub active_ms: u64,
    /// The last fact's number.
    pub seq: Seq,
}

/// One move, of the lifecycle or between phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// From here.
    pub from: String,
    /// To here.
    pub to: String,
    /// Then.
    pub at: Timestamp,
}

/// A structured reply as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// From which reply.
    pub step: Option<Step>,
    /// Whose.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// How it was understood.
    pub source: Source,
    /// What it says.
    pub reading: Reading,
    /// When.
    pub at: Timestamp,
}

/// A sub-discussion as its parent knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sub {
    /// Who asked for it.
    pub participant: String,
    /// What about.
    pub topic: String,
    /// How it ended; `None` while it runs.
    pub end: Option<SubConcluded>,
}

/// The size of one request in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// By our own count.
    pub ours: u64,
    /// By the provider's.
    pub theirs: u64,
}

/// When a round was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Which.
    pub round: u32,
    /// Active time at its beginning.
    pub from_ms: u64,
    /// Active time at its end; `None` while it is open.
    pub to_ms: Option<u64>,
}

/// What one participant took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// Calls placed.
    pub calls: u32,
    /// Tokens of finished replies.
    pub usage: Usage,
    /// What was priced.
    pub cost: Usd,
    /// Whether something was not.
    pub unpriced: bool,
}

/// What went less than well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wear {
    /// Attempts that failed and were repeated.
    pub retries: u32,
    /// Calls repeated after the end of a process.
    pub repeated: u32,
    /// Calls let go.
    pub abandoned: u32,
    /// Turns that did not fit a window.
    pub unheard: u32,
}

impl State {
    /// The state after the first fact; `None` unless that is [`Event::Opened`].
    #[must_use]
    pub fn opened(id: DiscussionId, first: &Fact) -> Option<State> {
        let Event::Opened { spec, flow, lineage, fork } = &first.event else { return None };
        Some(State {
            id,
            spec: spec.clone(),
            flow: *flow,
            lineage: lineage.clone(),
            fork: fork.clone(),
            lifecycle: Lifecycle::Configuring,
            phase: None,
            round: 0,
            transitions: Vec::new(),
            seated: None,
            absent: Vec::new(),
            turns: Vec::new(),
            failures: Vec::new(),
            readings: Vec::new(),
            checks: Vec::new(),
            debate: DebateState::default(),
            orders: BTreeMap::new(),
            awaiting: Vec::new(),
            notes: Vec::new(),
            summaries: Vec::new(),
            tight: Vec::new(),
            counts: BTreeMap::new(),
            subs: BTreeMap::new(),
            rounds: Vec::new(),
            spending: BTreeMap::new(),
            spent: Spent::default(),
            under_way: BTreeMap::new(),
            wear: Wear::default(),
            seen: CommandId::default(),
            wish: None,
            wound_up: None,
            decision: None,
            conclusion: None,
            failed: None,
            opened_at: first.at,
            last_at: first.at,
            active_ms: first.active_ms,
            seq: first.seq,
        })
    }

    /// The state after all of these facts.
    #[must_use]
    pub fn of(id: DiscussionId, facts: &[Fact]) -> Option<State> {
        let (first, rest) = facts.split_first()?;
        let mut state = State::opened(id, first)?;
        rest.iter().for_each(|fact| state.apply(fact));
        Some(state)
    }

    /// Takes in the next fact.
    pub fn apply(&mut self, fact: &Fact) {
        (self.seq, self.last_at, self.active_ms) = (fact.seq, fact.at, fact.active_ms);
        match &fact.event {
            Event::LifecycleChanged { from, to } => self.move_on(from.name(), to.name(), fact.at, Some(*to)),
            Event::PhaseEntered { phase, round } => self.enter(phase, *round, fact.at),
            Event::PanelSeated { seated, absent } => {
                (self.seated, self.absent) = (Some(seated.clone()), absent.clone());
            }
            Event::RoundOpened { round } => {
                self.rounds.push(Span { round: *round, from_ms: fact.active_ms, to_ms: None });
            }
            Event::RoundClosed { round } => self.close_round(*round, fact.active_ms),
            Event::ReplyRead { participant, round, source, reading } => self.readings.push(Heard {
                step: fact.step.clone(),
                participant: participant.clone(),
                round: *round,
                source: *source,
                reading: reading.clone(),
                at: fact.at,
            }),
            Event::ConsensusChecked(check) => self.checks.push(check.clone()),
            Event::OrderDrawn { order } => {
                fact.step.iter().for_each(|step| drop(self.orders.insert(step.clone(), order.clone())));
            }
            Event::PartsCast(_)
            | Event::Detected(_)
            | Event::JudgeAwaited(_)
            | Event::JudgeChanged(_)
            | Event::TalkEnded(_) => self.debate.apply(&fact.event),
            Event::Compared(comparison) => {
                self.settle(fact, comparison);
                self.debate.apply(&fact.event);
            }
            Event::WindowTight(tight) => self.tight.push(tight.clone()),
            Event::CommandTaken { id, command } => self.take(*id, command),
            Event::PersonAwaited(awaited) => self.awaiting.push(awaited.clone()),
            Event::WoundUp { reason } => {
                self.awaiting.clear();
                self.debate.vacancy = None;
                // The first reason is the reason; a later one only says that deciding ran short as well.
                self.wound_up.get_or_insert_with(|| reason.clone());
                self.wish = None;
            }
            Event::Decided { decision } => self.decision = Some(decision.clone()),
            Event::Concluded(conclusion) => self.conclusion = Some(conclusion.clone()),
            Event::Failed { problem, absent } => {
                self.failed = Some(problem.clone());
                self.absent.extend(absent.iter().cloned());
            }
            Event::Retried => {
                self.failed = None;
                // Who could not take a seat is asked once more; who was absent from a seated panel stays so.
                self.absent.retain(|_| self.seated.is_some());
            }
            Event::CallPlaced(_)
            | Event::CallFailed { .. }
            | Event::CallAbandoned { .. }
            | Event::TurnCompleted { .. }
            | Event::TurnFailed(_)
            | Event::Summarised(_)
            | Event::SubRequested { .. }
            | Event::SubConcluded(_) => self.apply_call(fact),
            Event::Opened { .. } | Event::GroupClosed { .. } | Event::Unknown => {}
        }
    }

    /// Everyone still able to speak: seated, and not failed since.
    #[must_use]
    pub fn present(&self) -> Vec<&str> {
        let seated = self.seated.iter().flatten().map(String::as_str);
        seated.filter(|name| !self.failures.iter().any(|it| it.participant == *name)).collect()
    }

    /// Why this one is not there any more, in the provider's words.
    #[must_use]
    pub fn why_missing(&self, participant: &str) -> String {
        let failed = self.failures.iter().find(|it| it.participant == participant).map(|it| &it.message);
        let absent = || self.absent.iter().find(|it| it.participant == participant).map(|it| &it.message);
        failed.or_else(absent).cloned().unwrap_or_default()
    }

    /// The phase under requirement A's names: `idle` before the start, then the pattern's own, then the end.
    #[must_use]
    pub fn visible_phase(&self) -> &str {
        match self.lifecycle {
            Lifecycle::Configuring | Lifecycle::Validating | Lifecycle::Ready => "idle",
            Lifecycle::Initializing => "initializing",
            Lifecycle::Running | Lifecycle::Paused | Lifecycle::Completing => {
                self.phase.as_deref().unwrap_or("initializing")
            }
            Lifecycle::Completed => "completed",
            Lifecycle::Error => "error",
            Lifecycle::Aborted => "aborted",
        }
    }

    fn apply_call(&mut self, fact: &Fact) {
        match &fact.event {
            Event::CallPlaced(placed) => self.place(fact, placed),
            Event::CallFailed { retry_in_ms, participant, broken, .. } => {
                self.release(fact);
                self.charge(participant, broken.as_ref().map(|it| &it.bill));
                self.wear.retries += u32::from(retry_in_ms.is_some());
            }
            Event::CallAbandoned { .. } => {
                // What was reserved stays spent: it may have been paid.
                self.under_way.retain(|step, _| Some(step) != fact.step.as_ref());
                self.wear.abandoned += 1;
            }
            Event::TurnCompleted { turn } => {
                self.bill(fact, turn);
                self.awaiting.retain(|it| it.answers != turn.step);
                self.turns.push(turn.clone());
            }
            Event::TurnFailed(failed) => {
                self.release(fact);
                self.charge(&failed.participant, failed.broken.as_ref().map(|it| &it.bill));
                self.failures.push(failed.clone());
            }
            Event::Summarised(summary) => {
                match &summary.turn {
                    Some(turn) => self.bill(fact, turn),
                    None => self.release(fact),
                }
                self.summaries.push(summary.clone());
            }
            Event::SubRequested { turn, topic } => {
                self.bill(fact, turn);
                let (participant, topic) = (turn.participant.clone(), topic.clone());
                let step = fact.step.clone().unwrap_or_else(|| turn.step.clone());
                self.subs.insert(step, Sub { participant, topic, end: None });
            }
            Event::SubConcluded(end) => {
                self.spent += end.spent;
                let sub = fact.step.as_ref().and_then(|step| self.subs.get_mut(step));
                sub.into_iter().for_each(|sub| sub.end = Some(end.clone()));
            }
            _ => {}
        }
    }

    fn move_on(&mut self, from: &str, to: &str, at: Timestamp, lifecycle: Option<Lifecycle>) {
        self.transitions.push(Transition { from: from.to_owned(), to: to.to_owned(), at });
        if let Some(lifecycle) = lifecycle {
            self.lifecycle = lifecycle;
            // A wish remains one until it is obeyed, or until it is too late for it.
            self.wish = match (self.wish.take(), lifecycle) {
                (Some(Command::Pause), Lifecycle::Paused | Lifecycle::Completing) => None,
                (Some(Command::Resume), _) => None,
                (wish, _) => wish,
            };
        }
    }

    fn enter(&mut self, phase: &str, round: u32, at: Timestamp) {
        let from = self.phase.take().unwrap_or_else(|| self.lifecycle.name().to_owned());
        self.move_on(&from, phase, at, None);
        (self.phase, self.round) = (Some(phase.to_owned()), round);
    }

    fn close_round(&mut self, round: u32, active_ms: u64) {
        let open = self.rounds.iter_mut().rfind(|span| span.round == round);
        open.into_iter().for_each(|span| span.to_ms = Some(active_ms));
    }

    fn take(&mut self, id: CommandId, command: &Command) {
        self.seen = id;
        if let Command::Note(note) = command {
            self.notes.push(note.text.as_str().into());
        }
        self.wish = match (self.wish.take(), command) {
            // What a person says is a turn, a ruling is a fact of its own, and a remark is only shown; none is a wish.
            (wish, Command::Say(_) | Command::Judge(_) | Command::Note(_)) => wish,
            // Nothing takes back an abort, and only an abort outranks a stop.
            (Some(Command::Abort), _) => Some(Command::Abort),
            (Some(Command::Stop), Command::Pause | Command::Resume) => Some(Command::Stop),
            // Resuming what is not paused only takes back a pause that was not obeyed yet.
            (_, Command::Resume) if self.lifecycle != Lifecycle::Paused => None,
            (_, command) => Some(command.clone()),
        };
    }

    fn place(&mut self, fact: &Fact, placed: &Placed) {
        let spending = self.spending.entry(placed.participant.clone()).or_default();
        spending.calls += 1;
        self.spent += placed.reserved;
        self.wear.repeated += u32::from(placed.repeats);
        // What was asked before the end of a process is the same question once more.
        self.wear.unheard += if placed.repeats { 0 } else { placed.unheard };
        if let Some(step) = &fact.step {
            self.under_way.insert(step.clone(), placed.clone());
        }
    }

    /// Gives back what a failed attempt did not use; the call itself was made.
    fn release(&mut self, fact: &Fact) {
        let Some(placed) = fact.step.as_ref().and_then(|step| self.under_way.remove(step)) else { return };
        self.spent = self.spent.less(Spent { calls: 0, ..placed.reserved });
    }

    /// The same for a comparison, which is nobody's turn and billed under the model's name.
    fn settle(&mut self, fact: &Fact, comparison: &Comparison) {
        self.release(fact);
        if comparison.found().is_none() {
            return;
        }
        let (usage, cost) = (comparison.usage, comparison.cost);
        self.spent += Spent { calls: 0, tokens: usage.total(), usd: cost.unwrap_or_default() };
        let spending = self.spending.entry(comparison.model.clone()).or_default();
        spending.usage += usage;
        spending.cost += cost.unwrap_or_default();
        spending.unpriced |= cost.is_none();
    }

    /// Replaces what was reserved by what was used.
    fn bill(&mut self, fact: &Fact, turn: &Turn) {
        let placed = self.under_way.remove(&turn.step).or_else(|| {
            let step = fact.step.as_ref()?;
            self.under_way.remove(step)
        });
        if let Some(placed) = placed {
            self.spent = self.spent.less(Spent { calls: 0, ..placed.reserved });
            if placed.counted > 0 && !turn.bill.estimated {
                let counted = Counted { ours: placed.counted, theirs: turn.bill.usage.prompt };
                self.counts.insert(turn.step.clone(), counted);
            }
        }
        self.charge(&turn.participant, Some(&turn.bill));
    }

    fn charge(&mut self, participant: &str, bill: Option<&Bill>) {
        let Some(bill) = bill else { return };
        self.spent += Spent { calls: 0, ..bill.spent() };
        let spending = self.spending.entry(participant.to_owned()).or_default();
        spending.usage += bill.usage;
        spending.cost += bill.cost.unwrap_or_default();
        spending.unpriced |= bill.cost.is_none();
    }
}
