//! The floor: the only interface of a pattern. Everything a pattern can do is a method here.
//!
//! Each method names its effect with a step. If the record has the step's fact, that is the answer;
//! otherwise the effect happens, is recorded, and is returned. Pauses, budgets, retries, deadlines
//! and failures are handled beneath, once, so that patterns read like their description.

mod answer_text;
pub mod ask;
mod collect;
pub mod compare;
mod continuation;
pub(crate) mod convene;
mod forms;
pub(crate) mod gate;
mod group;
pub mod halt;
mod labels;
mod lengths;
pub mod notes;
pub(crate) mod open_subs;
mod pieces;
pub(crate) mod purse;
pub mod reading;
mod request;
pub(crate) mod reuse;
mod seat;
mod selection;
pub mod services;
mod share;
mod stop;
mod summarize;
pub(crate) mod view;
mod window;
pub mod work;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use crate::{
    call::{
        ledger::Ledger,
        tokens::{self, Family},
    },
    floor::{
        ask::Ask,
        convene::RunSub,
        gate::Draining,
        group::{Asked, ask_group},
        halt::Halt,
        lengths::Lengths,
        purse::Purse,
        reading::Understood,
        reuse::Source,
        services::Services,
        window::{FENCE, Ratio, SummarySize},
    },
    model::{
        error::StateInvalid,
        event::{Event, UnreadReply},
        id::Step,
        mask::Mask,
        money::Spent,
        participant::Participant,
        phase::{FIRST, Phase},
        reading::Reading,
        spec::Spec,
        transcript::Turn,
        window::Bound,
    },
    record::{Record, control::Control, failure::Failure},
    registry::{Pattern, Registry},
    vocabulary::option::{Opt, OptionValue},
};

/// The interface of a pattern. One speaker at a time holds it, which the borrow checker enforces:
///
/// ```compile_fail,E0499
/// # use quorum_core::{floor::{Floor, ask::Ask}, model::participant::Participant};
/// async fn both(floor: &mut Floor, ann: &Participant, bob: &Participant) {
///     let first = floor.ask(ann, Ask::new("", "you"));
///     let second = floor.ask(bob, Ask::new("", "and you"));
///     let _ = (first.await, second.await);
/// }
/// ```
pub struct Floor {
    pub(crate) services: Arc<Services>,
    pub(crate) pattern: &'static Pattern,
    /// In a box, because the floor and the record are moved through several futures of a run.
    pub(crate) record: Box<Record>,
    pub(crate) control: Arc<Control>,
    pub(crate) ledger: Arc<Ledger>,
    /// The money drawn from the account; `None` if that has no caps.
    pub(crate) purse: Option<Arc<Purse>>,
    pub(crate) source: Source,
    /// Runs a sub-discussion. A function of the engine, because the floor doesn't know the engine.
    pub(crate) run_sub: RunSub,
    pub(crate) now: Now,
}

/// The pattern's current position. Rebuilt by replay, never stored, so that a replay sees only the
/// past.
#[derive(Default)]
pub(crate) struct Now {
    pub(crate) round: u32,
    pub(crate) phase: Option<&'static str>,
    pub(crate) deciding: bool,
    /// Whether deliberation was wound up and only a last word may be asked for.
    pub(crate) closing: bool,
    pub(crate) transcript: Vec<Arc<Turn>>,
    /// Each turn with the panel's labels in place of names, beside the turn itself, by step.
    /// Cached, so that names are not replaced again for every request.
    pub(crate) covered: HashMap<Step, (Arc<Turn>, Arc<Turn>)>,
    /// The system text with which each participant was last asked to speak.
    pub(crate) systems: BTreeMap<String, Arc<str>>,
    /// An upper bound of the transcript's tokens, cached so that it is not counted again.
    pub(crate) tokens: u64,
    /// The transcript's length after each turn, as each family of models counts it.
    pub(crate) lengths: Lengths,
    /// The cached size of the summary in front of the transcript.
    pub(crate) summary_size: SummarySize,
    /// The families of the panel's models, computed once.
    pub(crate) families: Option<BTreeSet<Family>>,
    /// For each participant, how its provider's token counts compare with ours.
    pub(crate) ratios: BTreeMap<String, Ratio>,
    /// For each participant, what its provider's refusals said about its window.
    pub(crate) bounds: BTreeMap<String, Bound>,
    pub(crate) readings: Vec<Understood<(u32, Reading)>>,
    pub(crate) unread: Vec<UnreadReply>,
    pub(crate) out: BTreeSet<String>,
    /// How many retries of the record this replay has passed.
    pub(crate) retries: usize,
    /// The embedding vectors of texts that later speeches are still compared with.
    pub(crate) vectors: BTreeMap<Arc<str>, Vec<f32>>,
    /// The number of turns taken in this run, without replayed ones.
    pub(crate) fresh: u32,
    pub(crate) taken: HashSet<Step>,
    /// The labels of the panel, once they are used.
    pub(crate) mask: OnceLock<Arc<Mask>>,
}

impl Now {
    /// The position at the beginning of this record.
    pub(crate) fn at_start(record: &Record) -> Self {
        Now { out: record.latecomers().cloned().collect(), ..Now::default() }
    }

    /// This turn under the labels of the panel, if it is a whole turn of the transcript.
    pub(crate) fn covered_turn(&self, turn: &Arc<Turn>) -> Option<Arc<Turn>> {
        let (_, covered) = self.covered.get(&turn.step).filter(|it| Arc::ptr_eq(&it.0, turn))?;
        Some(covered.clone())
    }

    /// Whether the participants still deliberate. Only then can people pause or stop it, and only
    /// then does it end because too few are left.
    pub(crate) fn is_talking(&self) -> bool {
        !(self.deciding || self.closing)
    }
}

impl Floor {
    /// The spec of this discussion.
    #[must_use]
    pub fn spec(&self) -> Arc<Spec> {
        self.record.state.spec.clone()
    }

    /// The value of this option of the pattern.
    #[must_use]
    pub fn option<T: OptionValue + 'static>(&self, option: &Opt<T>) -> T {
        option.of(&self.record.state.spec.settings)
    }

    /// The registered patterns, methods, strategies and detectors.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.services.registry
    }

    /// The participants that take turns in the talk and have not failed, in seating order.
    #[must_use]
    pub fn speakers(&self) -> Vec<Participant> {
        self.present(&self.record.state.spec.speakers())
    }

    /// The turns so far that all participants are shown.
    #[must_use]
    pub fn transcript(&self) -> &[Arc<Turn>] {
        &self.now.transcript
    }

    /// The part of this turn that can stand in for a missing answer; `None` if the turn contains no
    /// answer.
    #[must_use]
    pub fn answer_in(&self, turn: &Turn) -> Option<String> {
        (self.pattern.answer_in)(turn, &turn.text)
    }

    /// The structured replies of a round, as they were read, in the order of arrival.
    #[must_use]
    pub fn readings(&self, round: u32) -> Vec<Understood<Reading>> {
        let of_round = self.now.readings.iter().filter(|it| it.value.0 == round);
        of_round
            .map(|it| Understood {
                participant: it.participant.clone(),
                source: it.source,
                value: it.value.1.clone(),
            })
            .collect()
    }

    /// The participants whose reply in this kind of form could not be read in a round.
    #[must_use]
    pub fn unread(&self, round: u32, kind: &str) -> Vec<String> {
        let of_round = self.now.unread.iter().filter(|it| it.round == round && it.kind == kind);
        of_round.map(|it| it.participant.clone()).collect()
    }

    /// The system text with which this participant was asked to speak, for a question after the
    /// talk: a request that begins like an earlier one can be cached by its provider.
    #[must_use]
    pub fn system_of(&self, name: &str) -> Option<Arc<str>> {
        self.now.systems.get(name).cloned()
    }

    /// Those of `among` that were seated, whether or not they have failed since, in the same order.
    #[must_use]
    pub fn seated(&self, among: &[Participant]) -> Vec<Participant> {
        let seated = |name: &str| self.record.state.seated.iter().flatten().any(|it| it == name);
        among.iter().filter(|it| seated(&it.name)).cloned().collect()
    }

    /// All turns on record, of the talk and beside it. During a replay this includes turns that are
    /// still to come, so a pattern must record what it concludes from them as a note.
    #[must_use]
    pub fn turns(&self) -> &[Arc<Turn>] {
        &self.record.state.turns
    }

    /// What is spent so far. During a replay this includes what is still to come, as in
    /// [`Floor::turns`].
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.record.state.spent
    }

    /// Whether the budget has room for this many more calls that write up to `longest` tokens each.
    #[must_use]
    pub fn has_room(&self, calls: u32, longest: u32) -> bool {
        self.ledger.has_room(self.cost_of(calls, longest))
    }

    /// The newest note of this kind.
    #[must_use]
    pub fn noted<T: serde::de::DeserializeOwned>(&self, kind: &str) -> Option<T> {
        self.record.state.noted(kind).last()
    }

    /// Whether this participant was seated and has failed since.
    #[must_use]
    pub fn has_failed(&self, name: &str) -> bool {
        self.now.out.contains(name)
    }

    /// The participants that were no longer waited for in a round, because the other answers were
    /// enough.
    #[must_use]
    pub fn dropped(&self, round: u32) -> Vec<String> {
        let of_round = self.record.state.closed_early.iter().filter(|it| it.round == round);
        of_round.flat_map(|it| it.dropped.clone()).collect()
    }

    /// The current round.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.now.round
    }

    /// Those of `among` that have not failed, in the same order.
    #[must_use]
    pub fn present(&self, among: &[Participant]) -> Vec<Participant> {
        among.iter().filter(|it| self.is_present(&it.name)).cloned().collect()
    }

    /// Enters a phase of a round. Fails if the pattern's phase table doesn't allow the move.
    pub async fn enter(&mut self, phase: Phase, round: u32) -> Result<(), Halt> {
        let (from, last) = (self.now.phase, self.now.round);
        if !self.pattern.phases.allows(from, phase) || !(round == last || round == last + 1) {
            let from = format!("{} in round {last}", from.unwrap_or("the beginning"));
            return Err(
                Failure::Illegal(StateInvalid { from, to: format!("{} in round {round}", phase.0) }).into()
            );
        }
        let step = Step::new(round, phase.0, "*");
        let is_recorded = self.record.has_mark(&step);
        if last > 0 && round > last && !is_recorded {
            self.stop_between_rounds(&step).await?;
        }
        (self.now.phase, self.now.round) = (Some(phase.0), round);
        self.reseat();
        if is_recorded {
            return Ok(());
        }
        let mut facts = Vec::new();
        if round > last {
            facts.extend((last > 0).then_some((None, Event::RoundClosed { round: last })));
            facts.push((None, Event::RoundOpened { round }));
        }
        facts.push((Some(step), Event::PhaseEntered { phase: phase.0.to_owned(), round }));
        self.record.note(facts);
        Ok(())
    }

    /// Obeys a stop that arrived while the last questions of a round were being answered: no other
    /// round is opened.
    async fn stop_between_rounds(&mut self, next: &Step) -> Result<(), Halt> {
        if self.record.has_mark(&next.purpose("wound-up")) {
            return Err(Halt::wind_up());
        }
        match self.take_commands().await? {
            Some(Draining::WindUp(reason)) => Err(self.wind_up(next, reason).await?),
            Some(Draining::Suspend | Draining::Leave) | None => Ok(()),
        }
    }

    /// Enters the phase before the talk, in which first answers are asked for.
    pub fn enter_first(&mut self) {
        self.now.phase = Some(FIRST);
        self.reseat();
        let step = Step::new(0, FIRST, "*");
        self.record.once(step, Event::PhaseEntered { phase: FIRST.to_owned(), round: 0 });
    }

    /// Leaves the phase before the talk, so that the pattern begins in a phase of its own.
    pub(crate) fn leave_first(&mut self) {
        self.now.phase = None;
    }

    /// Seats the participants again that a retry brought back at this phase.
    pub(crate) fn reseat(&mut self) {
        let Now { round, phase, retries, out, .. } = &mut self.now;
        let phase = phase.unwrap_or_default();
        while let Some(back) = self.record.reseated(*retries, *round, phase) {
            out.retain(|name| !back.contains(name));
            *retries += 1;
        }
    }

    /// Asks one participant. `None` if it failed and the discussion goes on without it.
    pub async fn ask(&mut self, who: &Participant, ask: Ask) -> Result<Option<Arc<Turn>>, Halt> {
        let turns = self.ask_all(std::slice::from_ref(who), |_| ask.clone()).await?;
        Ok(turns.into_iter().next())
    }

    /// Asks all participants at once, so that none sees another's answer. Returns the answers in
    /// seating order, without those that failed.
    pub async fn ask_all(
        &mut self,
        who: &[Participant],
        ask: impl Fn(&Participant) -> Ask,
    ) -> Result<Vec<Arc<Turn>>, Halt> {
        self.ask_until(who, ask, |_| false).await
    }

    /// Does the same as [`Floor::ask_all`], but drops the remaining calls once the answers so far
    /// are `enough`.
    pub async fn ask_until(
        &mut self,
        who: &[Participant],
        ask: impl Fn(&Participant) -> Ask,
        enough: impl Fn(&[Arc<Turn>]) -> bool + Send + Sync,
    ) -> Result<Vec<Arc<Turn>>, Halt> {
        let spoken = |who: &Participant| Ask { spoken: true, ..ask(who) };
        let asks: Vec<(&Participant, Ask)> =
            self.seats(who).map(|who| (who, self.fitted(who, spoken(who)))).collect();
        let systems = asks.iter().map(|(who, ask)| (who.name.clone(), ask.system.clone()));
        self.now.systems.extend(systems);
        let asked =
            asks.into_iter().map(|(who, ask)| Asked::new(who, self.step_of(who, &ask), ask)).collect();
        let turns = ask_group(self, asked, &enough).await?;
        Ok(turns.into_iter().flatten().collect())
    }

    /// The question as this participant is asked it: a small model is asked in fewer words.
    pub(crate) fn fitted(&self, who: &Participant, ask: Ask) -> Ask {
        if ask.compact.is_none() {
            return ask;
        }
        let voice = self.services.voices.voice(&self.record.state.spec, who);
        match voice.filter(|it| it.is_small) {
            Some(voice) => ask.compacted(&voice),
            None => ask,
        }
    }

    pub(crate) fn is_present(&self, name: &str) -> bool {
        let seated = self.record.state.seated.iter().flatten().any(|it| it == name);
        seated && !self.now.out.contains(name)
    }

    /// Adds a turn to the transcript that all participants are shown.
    pub(crate) fn add_to_transcript(&mut self, turn: &Arc<Turn>) {
        self.now.tokens += FENCE + tokens::at_worst(turn.text.len());
        let shown = self.mask().over(turn);
        // Its length as the others are shown it.
        let text = self.mask().measured(&shown.text).into();
        let measured = Turn { text, ..(**turn).clone() };
        let models = self.record.state.spec.participants.iter().filter(|it| !it.is_person());
        let Now { families, lengths, .. } = &mut self.now;
        let families = families.get_or_insert_with(|| models.map(Family::of).collect());
        lengths.add_turn(families.iter().copied(), &measured);
        self.now.transcript.push(turn.clone());
        self.now.covered.insert(turn.step.clone(), (turn.clone(), shown));
    }

    pub(crate) fn seats<'w>(&self, who: &'w [Participant]) -> impl Iterator<Item = &'w Participant> {
        who.iter().filter(|it| self.is_present(&it.name))
    }

    /// The step of this question.
    pub(crate) fn step_of(&self, who: &Participant, ask: &Ask) -> Step {
        if ask.is_first { Step::first(&who.name) } else { self.step(who) }
    }

    pub(crate) fn step(&self, who: &Participant) -> Step {
        Step::new(self.now.round, self.now.phase.unwrap_or("opening"), &who.name)
    }
}
