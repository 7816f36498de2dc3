//! The state of a discussion: a pure fold over its facts, for status, history, results and pages.

mod fold;
mod retry;
mod spending;

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

use crate::model::{
    agent::SpeaksThrough,
    command::{Command, CommandId},
    error::Problem,
    event::{
        Absent, Awaited, Conclusion, Event, Fact, FailedTurn, Fork, Lineage, Noted, Placed, SubConcluded,
        Summarised, TalkEnd, Tight, ToolUsed, UnreadReply, WindUp,
    },
    id::{DiscussionId, Seq, Step},
    lifecycle::Lifecycle,
    likeness::Comparison,
    mask,
    money::{Spent, Usd},
    outcome::Decision,
    reading::{Reading, Source},
    ruling::{Ruled, RulingAwaited, WINDOW_RULING},
    spec::{Spec, WindowSpec},
    time::Timestamp,
    transcript::Turn,
    window::{Bound, CutView},
};

pub use spending::Spending;

/// The state of a discussion. Created by [`State::opened`], updated by [`State::apply`].
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The discussion's id.
    pub id: DiscussionId,
    /// Its specification.
    pub spec: Arc<Spec>,
    /// The version of the pattern's flow it was started with.
    pub flow: u32,
    /// The discussions above it, for a sub-discussion.
    pub lineage: Option<Lineage>,
    /// The discussion it was forked from.
    pub fork: Option<Fork>,
    /// The lifecycle state.
    pub lifecycle: Lifecycle,
    /// The phase inside `running`.
    pub phase: Option<String>,
    /// The round's number, from 1; 0 before the first.
    pub round: u32,
    /// Every transition so far, with its time (A03).
    pub transitions: Vec<Transition>,
    /// The participants that are seated; `None` before the health checks.
    pub seated: Option<Vec<String>>,
    /// The participants that were absent at the start.
    pub absent: Vec<Absent>,
    /// The exact model behind each seat, by the seat's name.
    pub models: BTreeMap<String, String>,
    /// The provider that each agent speaks through, by the seat's name.
    pub agents: BTreeMap<String, SpeaksThrough>,
    /// Every turn, in the order of the record.
    pub turns: Vec<Arc<Turn>>,
    /// The participants that failed for good.
    pub failures: Vec<FailedTurn>,
    /// Every structured reply that was read.
    pub readings: Vec<RecordedReading>,
    /// Every structured reply that could not be read.
    pub unread: Vec<UnreadReply>,
    /// Values recorded by the pattern and the method, in order.
    pub noted: Vec<Noted>,
    /// The results of embedding comparisons, by round.
    pub comparisons: Vec<Comparison>,
    /// How the talk ended, if it ended by its pattern's own rules.
    pub ended: Option<TalkEnd>,
    /// The ruling that is awaited.
    pub ruling: Option<RulingAwaited>,
    /// The rulings so far.
    pub ruled: Vec<Ruled>,
    /// The labels under which models see each other, each with the name behind it.
    pub panel_labels: Vec<(String, String)>,
    /// The nonce that fences other participants' text in the requests to each participant.
    pub nonces: BTreeMap<String, String>,
    /// The labels that were drawn for one question alone, by the step of the call.
    pub labels: BTreeMap<Step, Vec<(String, String)>>,
    /// The orders drawn by lot, by step.
    pub orders: BTreeMap<Step, Vec<usize>>,
    /// The people whose turn it is.
    pub awaiting: Vec<Awaited>,
    /// Remarks from outside the panel, in order.
    pub notes: Vec<Arc<str>>,
    /// Summaries of earlier turns, including failed attempts, in order.
    pub summaries: Vec<Summarised>,
    /// The context windows that became tight.
    pub tight: Vec<Tight>,
    /// The estimated and the actual size of each request.
    pub counts: BTreeMap<Step, Counted>,
    /// The size allowed after a request that was too long, by step.
    pub bounds: BTreeMap<Step, Bound>,
    /// The participants that were not always shown all of the talk.
    pub cut_views: Vec<CutView>,
    /// The sub-discussions asked for, by step.
    pub subs: BTreeMap<Step, Sub>,
    /// The uses of tools, by step.
    pub tools: BTreeMap<Step, ToolRun>,
    /// The rounds with their start and end in active time.
    pub rounds: Vec<Span>,
    /// The usage of each participant.
    pub spending: BTreeMap<String, Spending>,
    /// The part of the budgets that was used, sub-discussions included.
    pub spent: Spent,
    /// Calls that were placed and have not ended.
    pub under_way: BTreeMap<Step, Placed>,
    /// Counts of retries, repeats and losses.
    pub wear: Wear,
    /// The groups that ended before everyone had answered.
    pub closed_early: Vec<ClosedEarly>,
    /// The last command taken from the inbox.
    pub seen: CommandId,
    /// A command that was taken but has not taken effect yet.
    pub pending: Option<Command>,
    /// Why deliberation ended early.
    pub wound_up: Option<WindUp>,
    /// What had been recorded when the talk ended, for a retry.
    pub(crate) halted: Option<Halted>,
    /// The decision, once made.
    pub decision: Option<Arc<Decision>>,
    /// The conclusion, once reached.
    pub conclusion: Option<Conclusion>,
    /// The error, if it failed.
    pub failed: Option<Problem>,
    /// When it was created.
    pub opened_at: Timestamp,
    /// When the last fact was recorded.
    pub last_at: Timestamp,
    /// The active time so far.
    pub active_ms: u64,
    /// The number of the last fact.
    pub seq: Seq,
}

pub(crate) use retry::Halted;

/// One transition of the lifecycle or between phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// The old state or phase.
    pub from: String,
    /// The new state or phase.
    pub to: String,
    /// The time of the transition.
    pub at: Timestamp,
}

/// A structured reply with its reading.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReading {
    /// The step of the reading.
    pub step: Option<Step>,
    /// The participant that replied.
    pub participant: String,
    /// The round of the reply.
    pub round: u32,
    /// How the reply was understood.
    pub source: Source,
    /// The reading.
    pub reading: Reading,
    /// When it was recorded.
    pub at: Timestamp,
}

impl RecordedReading {
    /// Whether it was asked for by the consensus method, after the talk.
    #[must_use]
    pub fn is_deciding(&self) -> bool {
        self.step.as_ref().is_some_and(Step::is_deciding)
    }

    /// Whether it was asked for in a round of the talk, neither before nor after it.
    #[must_use]
    pub fn is_of_talk(&self) -> bool {
        self.round > 0 && !self.is_deciding()
    }

    /// Whether it is a second blind draw, which is a position but no change of mind.
    #[must_use]
    pub fn is_redraw(&self) -> bool {
        self.step.as_ref().is_some_and(Step::is_redraw)
    }

    /// Whether it is a first answer, whichever round that counts for.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.step.as_ref().is_some_and(Step::is_first)
    }
}

/// A sub-discussion as its parent knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sub {
    /// The participant that asked for it.
    pub participant: String,
    /// Its topic.
    pub topic: String,
    /// The active time of the parent when it was asked for.
    pub from_ms: u64,
    /// How it ended; `None` while it runs.
    pub end: Option<SubConcluded>,
}

/// The use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRun {
    /// The tool's name.
    pub tool: String,
    /// The active time of the run when it was first used.
    pub from_ms: u64,
    /// The number of the last attempt.
    pub attempt: u32,
    /// The fact that began the last attempt.
    pub from_seq: Seq,
    /// The end of the last attempt that ended.
    pub used: Option<ToolUsed>,
}

impl ToolRun {
    /// Whether an attempt was begun and has not ended.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.used.as_ref().is_none_or(|used| used.attempt < self.attempt)
    }

    /// The end, if no further attempt follows.
    #[must_use]
    pub fn end(&self) -> Option<&ToolUsed> {
        self.used.as_ref().filter(|used| !self.is_under_way() && used.retry_in_ms.is_none())
    }
}

/// The prompt size of one request in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Our estimate.
    pub ours: u64,
    /// The provider's figure.
    pub theirs: u64,
}

/// When a round was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The round's number.
    pub round: u32,
    /// The active time at its start.
    pub from_ms: u64,
    /// The active time at its end; `None` while it is open.
    pub to_ms: Option<u64>,
}

/// A group of parallel calls that ended before everyone had answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedEarly {
    /// The round of the group.
    pub round: u32,
    /// The participants whose answers count.
    pub taken: Vec<String>,
    /// The participants that were no longer waited for.
    pub dropped: Vec<String>,
}

/// Counts of retries, repeats and losses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wear {
    /// Attempts that failed and were retried.
    pub retries: u32,
    /// Calls repeated because a process ended.
    pub repeated: u32,
    /// Calls given up.
    pub abandoned: u32,
    /// Turns left out because they didn't fit a context window.
    pub unheard: u32,
}

impl State {
    /// The state after the first fact; `None` unless that is [`Event::Opened`].
    #[must_use]
    pub fn opened(id: DiscussionId, first: &Fact) -> Option<State> {
        let Event::Opened { spec, flow, lineage, fork, .. } = &first.event else { return None };
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
            models: BTreeMap::new(),
            agents: BTreeMap::new(),
            turns: Vec::new(),
            failures: Vec::new(),
            readings: Vec::new(),
            unread: Vec::new(),
            noted: Vec::new(),
            comparisons: Vec::new(),
            ended: None,
            ruling: None,
            ruled: Vec::new(),
            panel_labels: Vec::new(),
            nonces: BTreeMap::new(),
            labels: BTreeMap::new(),
            orders: BTreeMap::new(),
            awaiting: Vec::new(),
            notes: Vec::new(),
            summaries: Vec::new(),
            tight: Vec::new(),
            counts: BTreeMap::new(),
            bounds: BTreeMap::new(),
            cut_views: Vec::new(),
            subs: BTreeMap::new(),
            tools: BTreeMap::new(),
            rounds: Vec::new(),
            spending: BTreeMap::new(),
            spent: Spent::default(),
            under_way: BTreeMap::new(),
            wear: Wear::default(),
            closed_early: Vec::new(),
            seen: CommandId::default(),
            pending: None,
            wound_up: None,
            halted: None,
            decision: None,
            conclusion: None,
            failed: None,
            opened_at: first.at,
            last_at: first.at,
            active_ms: first.active_ms,
            seq: first.seq,
        })
    }

    /// The state after these facts.
    #[must_use]
    pub fn of(id: DiscussionId, facts: &[Fact]) -> Option<State> {
        let (first, rest) = facts.split_first()?;
        let mut state = State::opened(id, first)?;
        rest.iter().for_each(|fact| state.apply(fact));
        Some(state)
    }

    /// Everyone that can still speak: seated and not failed.
    #[must_use]
    pub fn present(&self) -> Vec<&str> {
        let seated = self.seated.iter().flatten().map(String::as_str);
        seated.filter(|name| !self.failures.iter().any(|it| it.participant == *name)).collect()
    }

    /// Whether a person ended the talk when it no longer fitted a participant's window.
    #[must_use]
    pub fn is_ended_by_ruling(&self) -> bool {
        let Some(WindUp::WindowFull { participant }) = &self.wound_up else { return false };
        let of_window = |it: &&Ruled| it.ruling.kind == WINDOW_RULING && it.about == *participant;
        self.ruled.iter().find(of_window).is_some_and(|it| it.ruling.choice == WindowSpec::END)
    }

    /// How many answers were cut off at their token limit. One that a later turn finished or
    /// replaced doesn't count.
    #[must_use]
    pub fn cut_short(&self) -> u32 {
        let is_last = |(at, turn): &(usize, &Arc<Turn>)| {
            let same = |later: &Arc<Turn>| later.step.without_reminder() == turn.step.without_reminder();
            turn.finish.is_cut_off() && !self.turns[at + 1..].iter().any(same)
        };
        self.turns.iter().enumerate().filter(is_last).count() as u32
    }

    /// What sub-discussions found and the participant that asked did not live to take up, by topic.
    pub fn unused_findings(&self) -> impl Iterator<Item = (&str, &str)> {
        let found = self.subs.iter().filter_map(|(step, sub)| {
            let end = sub.end.as_ref()?.synthesis.as_deref()?;
            let (base, _) = step.as_str().rsplit_once('/')?;
            Some((format!("{base}/after"), sub.topic.as_str(), end))
        });
        let is_unused = |after: &str| !self.turns.iter().any(|turn| turn.step.as_str().starts_with(after));
        found.filter(move |it| is_unused(&it.0)).map(|(_, topic, end)| (topic, end))
    }

    /// The amount it spent itself, without its sub-discussions.
    #[must_use]
    pub fn spent_itself(&self) -> Usd {
        let below = self.subs.values().filter_map(|sub| sub.end.as_ref()).map(|end| end.spent.usd);
        self.spent.usd.less(below.fold(Usd::ZERO, |sum, usd| sum + usd))
    }

    /// Every recorded value of this kind, in order, as the type it was recorded from.
    pub fn noted<'s, T: serde::de::DeserializeOwned + 's>(
        &'s self,
        kind: &'s str,
    ) -> impl Iterator<Item = T> + 's {
        self.noted.iter().filter_map(move |it| it.read(kind))
    }

    /// The text of the turn, with names in place of the labels of older records.
    #[must_use]
    pub fn unmasked(&self, turn: &Turn) -> String {
        self.revealed(turn, &turn.text)
    }

    /// What people are shown of a turn: a speech, the prose of a form, or what was read from a form
    /// that is all data.
    #[must_use]
    pub fn shown(&self, turn: &Turn) -> String {
        if turn.form.is_none() || !turn.prose().is_empty() {
            return self.revealed(turn, turn.prose());
        }
        let step = turn.step.purpose("read");
        let read = self.readings.iter().find(|it| it.step.as_ref() == Some(&step));
        match read.and_then(|it| it.reading.in_words()) {
            Some(words) => self.revealed(turn, &words),
            None if turn.text.contains('{') => "(A form that could not be read.)".to_owned(),
            None => self.unmasked(turn),
        }
    }

    fn revealed(&self, turn: &Turn, text: &str) -> String {
        self.labels.get(&turn.step).map_or_else(|| text.to_owned(), |labels| mask::reveal(text, labels))
    }

    /// Why this participant is absent or failed, in the provider's words.
    #[must_use]
    pub fn why_missing(&self, participant: &str) -> String {
        let failed = self.failures.iter().find(|it| it.participant == participant).map(|it| &it.message);
        let absent = || self.absent.iter().find(|it| it.participant == participant).map(|it| &it.message);
        failed.or_else(absent).cloned().unwrap_or_default()
    }

    /// The phase under the names of requirement A: `idle` before the start, then the pattern's
    /// phase, then the end.
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
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{spec::tests::order, transcript::sample_turn};

    /// The state of this spec after these events, each with its step.
    pub(crate) fn after(spec: Spec, events: Vec<(Option<Step>, Event)>) -> State {
        let opened = Event::Opened { spec: Arc::new(spec), flow: 1, lineage: None, fork: None, caller: None };
        let all = std::iter::once((None, opened)).chain(events).zip(1..);
        let facts: Vec<Fact> = all
            .map(|((step, event), number)| Fact {
                seq: Seq(number),
                at: Timestamp(0),
                active_ms: 0,
                step,
                event,
            })
            .collect();
        State::of(DiscussionId::fresh(), &facts).expect("the first fact opens it")
    }

    fn placed(step: &Step, labels: &[(&str, &str)]) -> (Option<Step>, Event) {
        let labels = labels.iter().map(|(label, name)| ((*label).to_owned(), (*name).to_owned()));
        let placed = Placed {
            attempt: 1,
            participant: "cyd".to_owned(),
            provider: "cyd".to_owned(),
            model: None,
            form: None,
            price: None,
            reserved: Spent::default(),
            nonce: String::new(),
            digest: None,
            repeats: false,
            labels: labels.collect(),
            unheard: 0,
            shortened: 0,
            counted: 0,
            max_tokens: 0,
        };
        (Some(step.clone()), Event::CallPlaced(placed))
    }

    fn turn(step: &Step, text: &str) -> Turn {
        sample_turn(step.clone(), (1, "judging"), "cyd", text)
    }

    #[test]
    fn labels_in_recorded_text_are_replaced_by_names() {
        let (masked, plain) = (Step::new(1, "judging", "cyd"), Step::new(2, "speaking", "cyd"));
        let labels = [("Debater A", "bob"), ("Debater B", "ann")];
        let state = after(order(), vec![placed(&masked, &labels), placed(&plain, &[])]);
        let said = "debater a beat Debater B";
        assert_eq!(state.unmasked(&turn(&masked, said)), "bob beat ann");
        assert_eq!(state.unmasked(&turn(&plain, said)), said, "no label was shown there");
        assert_eq!(state.unmasked(&turn(&masked.purpose("strict"), said)), said, "nor there");
        let expected = labels.map(|(label, name)| (label.to_owned(), name.to_owned())).to_vec();
        assert_eq!(state.labels, [(masked, expected)].into());
    }

    #[test]
    fn notes_are_read_by_their_kind_and_type() {
        let note = |kind: &str, value: serde_json::Value| {
            let noted = Noted { kind: kind.to_owned(), round: 1, value, told: None };
            (None, Event::Noted(noted))
        };
        let events = vec![
            note("tempo", 72.into()),
            note("mood", 3.into()),
            note("tempo", "fast".into()),
            note("tempo", 96.into()),
        ];
        let state = after(order(), events);
        assert_eq!(state.noted::<u32>("tempo").collect::<Vec<_>>(), [72, 96]);
        assert_eq!(state.noted::<String>("tempo").collect::<Vec<_>>(), ["fast"]);
        assert_eq!(state.noted::<u32>("key").count(), 0);
    }
}
