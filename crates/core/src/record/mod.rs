//! The record of one discussion: its facts, indexed for replay, and the only way to add to them.
//!
//! Submodules: [`feed`] (sends facts and text to subscribers), [`control`] (delivers commands to a
//! running discussion), [`retry_store`] (retries while the store is unavailable), [`suspicion`]
//! (a flag that writes have failed) and [`failure`] (errors that end a run).

pub(crate) mod control;
pub(crate) mod failure;
pub mod feed;
mod index;
pub(crate) mod retry_store;
pub(crate) mod suspicion;
mod trace;

use std::{collections::HashSet, marker::PhantomData, sync::Arc};

use tokio::time::Instant;

use crate::{
    model::{
        command::{Command, Say},
        digest::Digest,
        event::{Event, Fact},
        id::{DiscussionId, Seq, Step},
        lifecycle::Lifecycle,
        money::{Usage, Usd},
        state::{State, Sub},
        transcript::{Bill, Finish, Turn},
    },
    record::{
        failure::Failure,
        feed::Feed,
        index::Index,
        retry_store::{Waited, patiently},
    },
    seams::{Append, Claim, Clock, FactFollower, Store, StoreError, Telemetry, Then},
};

pub(crate) use index::{Past, Settled};

/// How many facts are read per page.
const PAGE: usize = 1_000;

/// A fact without a number.
pub(crate) type Entry = (Option<Step>, Event);

pub(crate) struct Record {
    /// The state after all facts, including unwritten ones.
    pub(crate) state: State,
    index: Index,
    /// Facts to write with the next append.
    unwritten: Vec<Fact>,
    /// Whether one of them was paid for; such facts are written before any wait.
    owing: bool,
    /// The number of the last durable fact.
    written: Seq,
    /// The number of the last fact before this run.
    loaded: Seq,
    backing: Backing,
    claim: Claim,
    feed: Feed,
    /// The receiver of durable facts, if there is one.
    follower: Option<Box<dyn FactFollower>>,
    /// Whether the claim ended with the last append.
    gave_up_claim: bool,
    /// The active time before this run, and when this run began.
    before_ms: u64,
    began: Instant,
}

/// The store and the clock of a record, and where it is reported to.
#[derive(Clone)]
pub(crate) struct Backing {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) telemetry: Option<Arc<dyn Telemetry>>,
}

/// Proof that every fact that was paid for is written. Code that waits for something outside
/// requires it, so that a crash meanwhile can't lose such a fact. Nothing can be added to the
/// record while it exists.
pub(crate) struct Paid<'r>(PhantomData<&'r mut ()>);

impl Record {
    /// Reads all facts of a discussion.
    pub(crate) async fn load(
        backing: Backing,
        id: DiscussionId,
        claim: Claim,
        feed: Feed,
    ) -> Result<Self, StoreError> {
        let first = patiently(&feed, || backing.store.read(id, Seq::START, PAGE)).await.0?;
        let mut record = Record::of(backing, id, claim, feed, &first).ok_or(StoreError::Unknown(id))?;
        let mut read = first.len();
        while read == PAGE {
            let after = record.state.seq;
            let more = patiently(&record.feed, || record.backing.store.read(id, after, PAGE)).await.0?;
            read = more.len();
            more.iter().for_each(|fact| record.learn(fact));
        }
        Ok(record.opened())
    }

    /// The record of a discussion that was just created with these facts; `None` if they don't
    /// start with [`Event::Opened`].
    pub(crate) fn begun(
        backing: Backing,
        id: DiscussionId,
        claim: Claim,
        feed: Feed,
        facts: &[Fact],
    ) -> Option<Self> {
        Record::of(backing, id, claim, feed, facts).map(Record::opened)
    }

    fn of(backing: Backing, id: DiscussionId, claim: Claim, feed: Feed, facts: &[Fact]) -> Option<Self> {
        let (first, rest) = facts.split_first()?;
        let state = State::opened(id, first)?;
        let follower = backing.telemetry.as_ref().map(|it| it.follow(id));
        let mut record = Record {
            written: state.seq,
            loaded: state.seq,
            before_ms: state.active_ms,
            state,
            index: Index::default(),
            unwritten: Vec::new(),
            owing: false,
            backing,
            claim,
            gave_up_claim: false,
            feed,
            follower,
            began: Instant::now(),
        };
        record.index.add(first);
        record.follower.iter_mut().for_each(|it| it.learn(first));
        rest.iter().for_each(|fact| record.learn(fact));
        Some(record)
    }

    /// Marks everything so far as written before this run.
    fn opened(self) -> Self {
        let (before_ms, written) = (self.state.active_ms, self.state.seq);
        self.feed.begins_after(written);
        Record { before_ms, written, loaded: written, ..self }
    }

    pub(crate) fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Whether there is a claim left to release.
    pub(crate) fn has_claim(&self) -> bool {
        self.state.lineage.is_none() && !self.gave_up_claim
    }

    /// The number of the last fact before this run.
    pub(crate) fn loaded(&self) -> Seq {
        self.loaded
    }

    pub(crate) fn feed(&self) -> &Feed {
        &self.feed
    }

    /// The active time of the discussion so far.
    pub(crate) fn active_ms(&self) -> u64 {
        self.before_ms + self.began.elapsed().as_millis() as u64
    }

    pub(crate) fn settled(&self, step: &Step) -> Option<&Settled> {
        self.index.settled.get(step)
    }

    /// The turn at this step, if it was completed.
    pub(crate) fn turn(&self, step: &Step) -> Option<Arc<Turn>> {
        match self.settled(step)? {
            Settled::Turn(turn) => Some(turn.clone()),
            Settled::Failed => None,
        }
    }

    pub(crate) fn past(&self, step: &Step) -> Past {
        self.index.past.get(step).cloned().unwrap_or_default()
    }

    /// The reply that asked for the sub-discussion at this step, and the sub-discussion.
    pub(crate) fn sub(&self, step: &Step) -> Option<(&Arc<Turn>, &Sub)> {
        Some((self.index.subs.get(step)?, self.state.subs.get(step)?))
    }

    /// The participants whose answers counted when this group was closed early.
    pub(crate) fn group_closed(&self, key: &Step) -> Option<&[String]> {
        self.index.closed.get(&key.purpose("closed")).map(Vec::as_slice)
    }

    pub(crate) fn has_mark(&self, step: &Step) -> bool {
        self.index.marks.contains(step)
    }

    /// The participants that take part again from this phase on, by the retry with this number.
    pub(crate) fn reseated(&self, retry: usize, round: u32, phase: &str) -> Option<&[String]> {
        self.index.reseated(retry, round, phase)
    }

    /// The participants that were not on the panel until a retry.
    pub(crate) fn latecomers(&self) -> impl Iterator<Item = &String> {
        self.index.latecomers()
    }

    /// A recorded answer that this run of the pattern did not reach.
    pub(crate) fn passed_over(&self, taken: &HashSet<Step>) -> Option<&Step> {
        let is_base = |step: &&Step| !step.as_str().contains("/after");
        self.index.settled.keys().filter(is_base).find(|step| !taken.contains(*step))
    }

    /// Notes a fact unless its step already has one.
    pub(crate) fn once(&mut self, step: Step, event: Event) {
        if !self.has_mark(&step) {
            self.note(vec![(Some(step), event)]);
        }
    }

    /// Changes the lifecycle state, if the transition is legal.
    pub(crate) fn become_next(&mut self, to: Lifecycle) -> Result<(), Failure> {
        let change = self.change(to)?;
        self.note(vec![change]);
        Ok(())
    }

    /// The fact of a lifecycle transition, to be recorded with others.
    pub(crate) fn change(&self, to: Lifecycle) -> Result<Entry, Failure> {
        let from = self.state.lifecycle;
        from.become_next(to)?;
        Ok((None, Event::LifecycleChanged { from, to }))
    }

    /// Takes new commands from the inbox.
    pub(crate) async fn take_commands(&mut self) -> Result<(), Failure> {
        self.pay_up().await?;
        let (id, seen) = (self.state.id, self.state.seen);
        let commands = patiently(&self.feed, || self.backing.store.commands(id, seen)).await.0?;
        let mut entries = Vec::new();
        for (id, command) in commands {
            let answer = self.awaited_fact(&command);
            entries.push((None, Event::CommandTaken { id, command }));
            entries.extend(answer);
        }
        self.append(entries).await
    }

    /// The fact that answers a wait, if the command is what was awaited.
    fn awaited_fact(&self, command: &Command) -> Option<Entry> {
        match command {
            Command::Say(say) => {
                let turn = self.turn_of_person(say)?;
                Some((Some(turn.step.clone()), Event::TurnCompleted { turn }))
            }
            Command::Rule(ruling) => {
                let awaited = self.state.ruling.as_ref().filter(|it| it.admits(ruling).is_ok())?;
                Some((Some(awaited.answers.clone()), Event::Ruled(awaited.decided(ruling))))
            }
            Command::Pause | Command::Resume | Command::Stop | Command::Abort | Command::Note(_) => None,
        }
    }

    /// A person's text as a turn, if it is that person's turn. The store refuses turns that are not
    /// awaited, but the talk may have been wound up since.
    fn turn_of_person(&self, say: &Say) -> Option<Arc<Turn>> {
        let awaited = self.state.awaiting.iter().find(|it| it.participant == say.participant)?;
        let usage = Usage::default();
        Some(Arc::new(Turn {
            step: awaited.answers.clone(),
            participant: say.participant.clone(),
            round: awaited.round,
            phase: awaited.phase.clone(),
            form: awaited.shape.clone(),
            text: say.text.as_str().into(),
            prose: awaited.shape.is_some().then(|| say.text.as_str().into()),
            started_at: self.backing.clock.now(),
            duration_ms: 0,
            finish: Finish::Stop,
            bill: Bill { usage, estimated: false, price: None, cost: Some(Usd::ZERO) },
            model: None,
            answered_by: None,
            reused: false,
        }))
    }

    /// Adds facts that a restart could recreate for free. They are written, and sent to
    /// subscribers, with the next append.
    pub(crate) fn note(&mut self, entries: Vec<Entry>) {
        for fact in self.number(entries) {
            self.apply(&fact);
            self.unwritten.push(fact);
        }
    }

    /// Adds facts that were paid for and that will be written together with facts that follow at
    /// once. Waiting for anything else first requires a proof that they are
    /// [written](Record::pay_up).
    pub(crate) fn owe(&mut self, entries: Vec<Entry>) {
        self.owing |= !entries.is_empty();
        self.note(entries);
    }

    pub(crate) fn is_owing(&self) -> bool {
        self.owing
    }

    /// Writes facts that were paid for, if any are unwritten.
    pub(crate) async fn pay_up(&mut self) -> Result<Paid<'_>, Failure> {
        if self.owing {
            self.write(Then::Continue).await?;
        }
        Ok(Paid(PhantomData))
    }

    pub(crate) async fn append(&mut self, entries: Vec<Entry>) -> Result<(), Failure> {
        self.append_then(entries, Then::Continue).await
    }

    /// Adds facts and says what happens to the claim. They are durable when this returns, and not
    /// visible to anyone before.
    pub(crate) async fn append_then(&mut self, entries: Vec<Entry>, then: Then) -> Result<(), Failure> {
        if entries.is_empty() && then == Then::Continue {
            return Ok(());
        }
        self.note(entries);
        self.write(then).await
    }

    async fn write(&mut self, then: Then) -> Result<(), Failure> {
        self.owing = false;
        let append = Append {
            claim: self.claim.clone(),
            id: self.state.id,
            expected: self.written,
            facts: std::mem::take(&mut self.unwritten).into(),
            // Only the root has a claim.
            then: if self.state.lineage.is_some() { Then::Continue } else { then },
            digest: None,
        };
        let append = Append { digest: self.digest(&append), ..append };
        self.store(&append).await?;
        (self.written, self.gave_up_claim) = (self.state.seq, append.then != Then::Continue);
        for fact in append.facts.iter() {
            trace::fact(self.state.id, fact);
            self.feed.fact(self.state.id, fact);
            self.follower.iter_mut().for_each(|it| it.report(fact));
        }
        Ok(())
    }

    /// What lists show of a root after this append: renewed with every round, and when the run
    /// ends.
    fn digest(&self, append: &Append) -> Option<Arc<Digest>> {
        let renews =
            |fact: &Fact| matches!(fact.event, Event::RoundClosed { .. } | Event::PanelSeated { .. });
        let is_due = append.then != Then::Continue || append.facts.iter().any(renews);
        (is_due && self.state.lineage.is_none()).then(|| Arc::new(Digest::of(&self.state)))
    }

    /// Takes in a fact that is durable already.
    fn learn(&mut self, fact: &Fact) {
        self.follower.iter_mut().for_each(|it| it.learn(fact));
        self.apply(fact);
    }

    fn apply(&mut self, fact: &Fact) {
        self.index.add(fact);
        self.state.apply(fact);
    }

    fn number(&self, entries: Vec<Entry>) -> Vec<Fact> {
        let (at, active_ms) = (self.backing.clock.now(), self.active_ms());
        let mut seq = self.state.seq;
        let number = |(step, event)| {
            seq = seq.next();
            Fact { seq, at, active_ms, step, event }
        };
        entries.into_iter().map(number).collect()
    }

    /// Writes with retries: an answer is not given up because the store is unavailable. Stops only
    /// if another process has taken over.
    async fn store(&self, append: &Append) -> Result<(), StoreError> {
        let (stored, waited) = patiently(&self.feed, || self.backing.store.append(append.clone())).await;
        match (stored, waited) {
            (Ok(_), _) => Ok(()),
            (Err(StoreError::Fenced(id)), Waited::Yes) => {
                // The facts may have been written although the acknowledgement was lost.
                let read = || self.backing.store.read(append.id, append.expected, append.facts.len());
                let there = patiently(&self.feed, read).await.0?;
                if there[..] == append.facts[..] { Ok(()) } else { Err(StoreError::Fenced(id)) }
            }
            (Err(error), _) => Err(error),
        }
    }
}
