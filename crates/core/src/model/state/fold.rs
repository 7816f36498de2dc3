//! How each fact changes the state.

use std::{collections::BTreeMap, sync::Arc};

use super::{ClosedEarly, Counted, RecordedReading, Span, State, Sub, ToolRun, Transition};
use crate::model::{
    agent::SpeaksThrough,
    command::{Command, CommandId},
    error::ErrorClass,
    event::{Event, Fact, Placed},
    id::Step,
    lifecycle::Lifecycle,
    likeness::Comparison,
    money::{Spent, Usage},
    phase::DECIDING,
    time::Timestamp,
    transcript::{Bill, Turn},
    window::{Bound, CutView, TooLong},
};

/// The phase under which a summary's shortened view is told.
const SUMMARIZING: &str = "summarizing";

impl State {
    /// Applies the next fact.
    pub fn apply(&mut self, fact: &Fact) {
        (self.seq, self.last_at, self.active_ms) = (fact.seq, fact.at, fact.active_ms);
        self.note_halt(fact);
        match &fact.event {
            Event::LifecycleChanged { from, to } => {
                self.record_transition(from.name(), to.name(), fact.at, Some(*to));
            }
            Event::PhaseEntered { phase, round } => self.enter_phase(phase, *round, fact.at),
            Event::PanelSeated { seated, absent, models, labels, agents } => {
                (self.seated, self.absent) = (Some(seated.clone()), absent.clone());
                self.models.clone_from(models);
                self.panel_labels.clone_from(labels);
                self.seat_agents(agents);
            }
            Event::RoundOpened { round } => {
                self.rounds.push(Span { round: *round, from_ms: fact.active_ms, to_ms: None });
            }
            Event::RoundClosed { round } => self.close_round(*round, fact.active_ms),
            Event::ReplyRead { participant, round, source, reading } => self.readings.push(RecordedReading {
                step: fact.step.clone(),
                participant: participant.clone(),
                round: *round,
                source: *source,
                reading: reading.clone(),
                at: fact.at,
            }),
            Event::ReplyUnread(unread) => self.unread.push(unread.clone()),
            Event::Noted(noted) => self.noted.push(noted.clone()),
            Event::OrderDrawn { order } => {
                fact.step.iter().for_each(|step| drop(self.orders.insert(step.clone(), order.clone())));
            }
            Event::RulingAwaited(awaited) => self.ruling = Some(awaited.clone()),
            Event::Ruled(ruled) => {
                self.ruling = None;
                self.ruled.push(ruled.clone());
            }
            Event::TalkEnded(end) => self.ended = Some(end.clone()),
            Event::Compared(comparison) => {
                self.settle_comparison(fact, comparison);
                self.comparisons.push(comparison.clone());
            }
            Event::GroupClosed { taken, dropped } => {
                let (round, taken, dropped) = (self.round, taken.clone(), dropped.clone());
                self.closed_early.push(ClosedEarly { round, taken, dropped });
            }
            Event::WindowTight(tight) => self.tight.push(tight.clone()),
            Event::CommandTaken { id, command } => self.apply_command(*id, command),
            Event::PersonAwaited(awaited) => self.awaiting.push(awaited.clone()),
            Event::WoundUp { reason } => {
                self.awaiting.clear();
                self.ruling = None;
                // The first reason stays; a later one only says that deciding ran short as well.
                self.wound_up.get_or_insert_with(|| reason.clone());
                self.pending = None;
            }
            Event::Decided { decision } => self.decision = Some(decision.clone()),
            Event::Concluded(conclusion) => self.conclusion = Some(conclusion.clone()),
            Event::Failed { problem, absent } => {
                self.failed = Some(problem.clone());
                self.absent.extend(absent.iter().cloned());
            }
            Event::Retried(retried) => self.apply_retried(retried),
            Event::CallPlaced(_)
            | Event::CallFailed { .. }
            | Event::CallAbandoned { .. }
            | Event::TurnCompleted { .. }
            | Event::TurnFailed(_)
            | Event::Summarised(_)
            | Event::SubRequested { .. }
            | Event::SubConcluded(_) => self.apply_call(fact),
            Event::ChildConvened(_) | Event::ToolPlaced(_) | Event::ToolUsed(_) => self.apply_work(fact),
            Event::Opened { .. } | Event::Unknown => {}
        }
    }

    /// From now on, each agent's seat is that of the provider it speaks through.
    fn seat_agents(&mut self, agents: &BTreeMap<String, SpeaksThrough>) {
        if agents.is_empty() {
            return;
        }
        self.agents.clone_from(agents);
        for seat in &mut Arc::make_mut(&mut self.spec).participants {
            agents.get(&seat.name).into_iter().for_each(|chosen| seat.seat_agent(chosen));
        }
    }

    fn apply_call(&mut self, fact: &Fact) {
        match &fact.event {
            Event::CallPlaced(placed) => self.apply_placed(fact, placed),
            Event::CallFailed { class, limit, retry_in_ms, participant, broken, .. } => {
                if *class == ErrorClass::ContextOverflow {
                    self.bound_next(fact, *limit);
                }
                self.release(fact);
                self.charge(participant, broken.as_ref().map(|it| &it.bill));
                self.wear.retries += u32::from(retry_in_ms.is_some());
            }
            Event::CallAbandoned { written, .. } => {
                self.estimate_abandoned(fact, *written);
                self.wear.abandoned += 1;
            }
            Event::TurnCompleted { turn } => {
                self.settle_turn(fact, turn);
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
                    Some(turn) => self.settle_turn(fact, turn),
                    None => self.release(fact),
                }
                self.summaries.push(summary.clone());
            }
            Event::SubRequested { turn, topic } => {
                self.settle_turn(fact, turn);
                let (participant, topic) = (turn.participant.clone(), topic.clone());
                let step = fact.step.clone().unwrap_or_else(|| turn.step.clone());
                self.subs.insert(step, Sub { participant, topic, from_ms: fact.active_ms, end: None });
            }
            Event::SubConcluded(end) => {
                self.spent += end.spent;
                let sub = fact.step.as_ref().and_then(|step| self.subs.get_mut(step));
                sub.into_iter().for_each(|sub| sub.end = Some(end.clone()));
            }
            _ => {}
        }
    }

    /// The work of a pattern that begins discussions of its own and uses tools.
    fn apply_work(&mut self, fact: &Fact) {
        let Some(step) = fact.step.clone() else { return };
        match &fact.event {
            Event::ChildConvened(convened) => {
                let (participant, topic) = (convened.name.clone(), convened.name.clone());
                self.subs.insert(step, Sub { participant, topic, from_ms: fact.active_ms, end: None });
            }
            Event::ToolPlaced(placed) => {
                let run = self.tools.entry(step).or_insert_with(|| ToolRun {
                    tool: placed.tool.clone(),
                    from_ms: fact.active_ms,
                    attempt: placed.attempt,
                    from_seq: fact.seq,
                    used: None,
                });
                (run.attempt, run.from_seq) = (placed.attempt, fact.seq);
            }
            Event::ToolUsed(used) => {
                let run = self.tools.get_mut(&step);
                run.into_iter().for_each(|run| run.used = Some(used.clone()));
            }
            _ => {}
        }
    }

    fn record_transition(&mut self, from: &str, to: &str, at: Timestamp, lifecycle: Option<Lifecycle>) {
        self.transitions.push(Transition { from: from.to_owned(), to: to.to_owned(), at });
        if let Some(lifecycle) = lifecycle {
            self.lifecycle = lifecycle;
            // A command stays pending until it takes effect or it is too late for it.
            self.pending = match (self.pending.take(), lifecycle) {
                (Some(Command::Pause), Lifecycle::Paused | Lifecycle::Completing) => None,
                (Some(Command::Resume), _) => None,
                (pending, _) => pending,
            };
        }
    }

    fn enter_phase(&mut self, phase: &str, round: u32, at: Timestamp) {
        let from = self.phase.take().unwrap_or_else(|| self.lifecycle.name().to_owned());
        self.record_transition(&from, phase, at, None);
        (self.phase, self.round) = (Some(phase.to_owned()), round);
    }

    fn close_round(&mut self, round: u32, active_ms: u64) {
        let open = self.rounds.iter_mut().rfind(|span| span.round == round);
        open.into_iter().for_each(|span| span.to_ms = Some(active_ms));
    }

    fn apply_command(&mut self, id: CommandId, command: &Command) {
        self.seen = id;
        if let Command::Note(note) = command {
            self.notes.push(note.text.as_str().into());
        }
        self.pending = match (self.pending.take(), command) {
            // A turn, a ruling and a remark take effect on their own; they never stay pending.
            (pending, Command::Say(_) | Command::Rule(_) | Command::Note(_)) => pending,
            // Nothing cancels an abort, and only an abort overrides a stop.
            (Some(Command::Abort), _) => Some(Command::Abort),
            (Some(Command::Stop), Command::Pause | Command::Resume) => Some(Command::Stop),
            // Resuming a discussion that is not paused only cancels a pause that hasn't taken
            // effect yet.
            (_, Command::Resume) if self.lifecycle != Lifecycle::Paused => None,
            (_, command) => Some(command.clone()),
        };
    }

    fn apply_placed(&mut self, fact: &Fact, placed: &Placed) {
        let spending = self.spending.entry(placed.participant.clone()).or_default();
        spending.calls += 1;
        self.spent += placed.reserved;
        self.wear.repeated += u32::from(placed.repeats);
        // A call repeated after the end of a process shows the same turns again; count them once.
        self.wear.unheard += if placed.repeats { 0 } else { placed.unheard };
        self.note_cut(fact.step.as_ref(), placed);
        if !placed.nonce.is_empty() {
            self.nonces.insert(placed.participant.clone(), placed.nonce.clone());
        }
        if let Some(step) = &fact.step {
            self.under_way.insert(step.clone(), placed.clone());
            if !placed.labels.is_empty() {
                self.labels.insert(step.clone(), placed.labels.clone());
            }
        }
    }

    /// Notes a question for which the talk was shortened.
    fn note_cut(&mut self, step: Option<&Step>, placed: &Placed) {
        if placed.unheard + placed.shortened == 0 {
            return;
        }
        // Decisions and summaries are not phases of the talk; their steps say what they are.
        let phase = match step {
            Some(step) if step.is_deciding() => DECIDING,
            Some(step) if step.is_summary() => SUMMARIZING,
            Some(_) | None => self.phase.as_deref().unwrap_or_default(),
        };
        let (round, phase) = (self.round, phase.to_owned());
        let known = self.cut_views.iter().position(|it| it.participant == placed.participant);
        let place = known.unwrap_or_else(|| {
            let participant = placed.participant.clone();
            let (rounds, phases) = (Vec::new(), Vec::new());
            self.cut_views.push(CutView { participant, rounds, phases, shortened: 0, left_out: 0 });
            self.cut_views.len() - 1
        });
        self.cut_views[place].add(round, &phase, placed);
    }

    /// Notes what the next request of a step may have, after one that was too long.
    fn bound_next(&mut self, fact: &Fact, limit: Option<TooLong>) {
        let Some((step, placed)) = fact.step.as_ref().and_then(|it| Some((it, self.under_way.get(it)?)))
        else {
            return;
        };
        self.bounds.insert(step.clone(), Bound::after(placed, limit));
    }

    /// Releases the reservation of a failed attempt; the call itself still counts.
    fn release(&mut self, fact: &Fact) {
        let Some(placed) = fact.step.as_ref().and_then(|step| self.under_way.remove(step)) else { return };
        self.spent = self.spent.less(Spent { calls: 0, ..placed.reserved });
    }

    /// Settles a comparison, which is not a participant's turn and is billed under the model's
    /// name.
    fn settle_comparison(&mut self, fact: &Fact, comparison: &Comparison) {
        self.release(fact);
        if comparison.found().is_none() {
            return;
        }
        let (usage, cost) = (comparison.usage, comparison.cost);
        self.spent += Spent { calls: 0, tokens: usage.total(), usd: cost.unwrap_or_default() };
        self.spending.entry(comparison.model.clone()).or_default().charge(usage, cost);
    }

    /// Replaces the reservation with the actual usage.
    fn settle_turn(&mut self, fact: &Fact, turn: &Turn) {
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
        spending.charge(bill.usage, bill.cost);
        spending.estimated |= bill.estimated;
    }

    /// Estimates what a call cost that was given up. The budgets keep its whole reservation as
    /// spent: the provider may have charged all of it.
    fn estimate_abandoned(&mut self, fact: &Fact, written: u64) {
        let Some(placed) = fact.step.as_ref().and_then(|step| self.under_way.remove(step)) else { return };
        let usage = Usage::new(placed.counted, written);
        let spending = self.spending.entry(placed.participant).or_default();
        spending.charge(usage, placed.price.map(|price| price.of(usage)));
        spending.estimated = true;
    }
}
