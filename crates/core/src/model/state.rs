//! What a discussion amounts to so far: a pure fold over its facts, for status, history, results and pages alike.

mod fold;

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

use crate::model::{
    command::{Command, CommandId},
    error::Problem,
    event::{
        Absent, Awaited, Conclusion, Event, Fact, FailedTurn, Fork, Lineage, Noted, Placed, SubConcluded,
        Summarised, TalkEnd, Tight, WindUp,
    },
    id::{DiscussionId, Seq, Step},
    lifecycle::Lifecycle,
    likeness::Comparison,
    mask,
    money::{Spent, Usage, Usd},
    outcome::Decision,
    reading::{Reading, Source},
    ruling::{Ruled, RulingAwaited},
    spec::Spec,
    time::Timestamp,
    transcript::Turn,
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
    /// What the pattern and the method recorded in terms of their own, in order.
    pub noted: Vec<Noted>,
    /// What an embedding model found alike, round by round.
    pub comparisons: Vec<Comparison>,
    /// How the talk ended by its pattern's own rules.
    pub ended: Option<TalkEnd>,
    /// The decision of people that is awaited.
    pub ruling: Option<RulingAwaited>,
    /// The decisions of people so far.
    pub ruled: Vec<Ruled>,
    /// The labels that stood for names in what was shown, by the step of the call.
    pub labels: BTreeMap<Step, Vec<(String, String)>>,
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
            noted: Vec::new(),
            comparisons: Vec::new(),
            ended: None,
            ruling: None,
            ruled: Vec::new(),
            labels: BTreeMap::new(),
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

    /// Everyone still able to speak: seated, and not failed since.
    #[must_use]
    pub fn present(&self) -> Vec<&str> {
        let seated = self.seated.iter().flatten().map(String::as_str);
        seated.filter(|name| !self.failures.iter().any(|it| it.participant == *name)).collect()
    }

    /// Everything of this kind that was recorded, in order, as the type it was made of.
    pub fn noted<'s, T: serde::de::DeserializeOwned + 's>(
        &'s self,
        kind: &'s str,
    ) -> impl Iterator<Item = T> + 's {
        self.noted.iter().filter_map(move |it| it.read(kind))
    }

    /// What was said in this turn, with names in the place of the labels its speaker was shown.
    #[must_use]
    pub fn unmasked(&self, turn: &Turn) -> String {
        match self.labels.get(&turn.step) {
            Some(labels) => mask::reveal(&turn.text, labels),
            None => turn.text.to_string(),
        }
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
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{
        spec::tests::order,
        transcript::{Bill, Finish},
    };

    /// The state of this order after these events, each under its step.
    pub(crate) fn after(spec: Spec, events: Vec<(Option<Step>, Event)>) -> State {
        let opened = Event::Opened { spec: Arc::new(spec), flow: 1, lineage: None, fork: None };
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
            reserved: Spent::default(),
            nonce: String::new(),
            digest: None,
            repeats: false,
            labels: labels.collect(),
            unheard: 0,
            counted: 0,
        };
        (Some(step.clone()), Event::CallPlaced(placed))
    }

    fn turn(step: &Step, text: &str) -> Turn {
        Turn {
            step: step.clone(),
            participant: "cyd".to_owned(),
            round: 1,
            phase: "judging".to_owned(),
            form: None,
            text: text.into(),
            started_at: Timestamp(0),
            duration_ms: 0,
            finish: Finish::Stop,
            bill: Bill::default(),
            reused: false,
        }
    }

    #[test]
    fn what_was_said_under_labels_is_told_with_names() {
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
