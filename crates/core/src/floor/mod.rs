//! The floor: everything a pattern can do, and the only thing it can do.
//!
//! Each method names its effect with a step. If the record has the step's fact, that is the answer;
//! else the effect happens, is recorded, and is returned. Pauses, budgets, retries, deadlines and
//! failures are handled beneath, once, so that patterns read like their description.

mod answer_text;
pub mod ask;
pub(crate) mod below;
mod collect;
pub mod compare;
pub(crate) mod convene;
mod forms;
mod gate;
mod group;
pub mod halt;
pub mod notes;
pub mod reading;
mod request;
pub(crate) mod reuse;
mod seat;
pub mod shared;
mod summarize;
pub(crate) mod view;
mod window;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use crate::{
    call::{
        ledger::Ledger,
        tokens::{self, Family},
    },
    floor::{
        ask::Ask,
        convene::HoldBelow,
        group::{Asked, hold},
        halt::Halt,
        reading::Understood,
        reuse::Source,
        shared::Shared,
        window::{FENCE, Lengths, Ratio, SummarySize},
    },
    model::{
        error::StateInvalid, event::Event, id::Step, participant::Participant, phase::Phase,
        reading::Reading, spec::Spec, transcript::Turn,
    },
    record::{Record, control::Control, failure::Failure},
    registry::{Pattern, Registry},
    vocabulary::option::{Opt, OptionValue},
};

/// The floor is held by one speaker at a time, and the borrow checker sees to it:
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
    pub(crate) shared: Arc<Shared>,
    pub(crate) pattern: &'static Pattern,
    pub(crate) record: Record,
    pub(crate) control: Arc<Control>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) source: Source,
    /// Runs a sub-discussion; a function of the engine, which the floor itself knows nothing of.
    pub(crate) hold_below: HoldBelow,
    pub(crate) now: Now,
}

/// Where the pattern stands. Rebuilt by replay, never stored, so that a replay sees only the past.
#[derive(Default)]
pub(crate) struct Now {
    pub(crate) round: u32,
    pub(crate) phase: Option<&'static str>,
    pub(crate) deciding: bool,
    /// Whether deliberation was wound up and only a last word is asked for.
    pub(crate) closing: bool,
    pub(crate) transcript: Vec<Arc<Turn>>,
    /// The transcript's size in tokens at the worst, kept so that nobody counts it again.
    pub(crate) tokens: u64,
    /// Its length after each turn, as each family of models counts.
    pub(crate) lengths: Lengths,
    /// The size of the summary in front, kept for the same reason.
    pub(crate) summary_size: SummarySize,
    /// The families of models at the table, found out once.
    pub(crate) families: Option<BTreeSet<Family>>,
    /// How each participant's provider counts beside us.
    pub(crate) ratios: BTreeMap<String, Ratio>,
    pub(crate) readings: Vec<Understood<(u32, Reading)>>,
    pub(crate) out: BTreeSet<String>,
    /// What the embedding model made of texts that are still compared with.
    pub(crate) vectors: BTreeMap<Arc<str>, Vec<f32>>,
    /// Turns taken in this run, not replayed.
    pub(crate) fresh: u32,
    pub(crate) taken: HashSet<Step>,
}

impl Now {
    /// Whether they still deliberate, so that a person may pause or stop it and too few left end
    /// it.
    pub(crate) fn is_talking(&self) -> bool {
        !(self.deciding || self.closing)
    }
}

impl Floor {
    /// What was ordered.
    #[must_use]
    pub fn spec(&self) -> Arc<Spec> {
        self.record.state.spec.clone()
    }

    /// The value of this option.
    #[must_use]
    pub fn option<T: OptionValue + 'static>(&self, option: &Opt<T>) -> T {
        option.of(&self.record.state.spec.settings)
    }

    /// Everything that is registered.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.shared.registry
    }

    /// Those who take turns in the talk and are still able to, in seating order.
    #[must_use]
    pub fn speakers(&self) -> Vec<Participant> {
        self.present(&self.record.state.spec.speakers())
    }

    /// Everything said so far for all to hear.
    #[must_use]
    pub fn transcript(&self) -> &[Arc<Turn>] {
        &self.now.transcript
    }

    /// The structured replies of a round, as they were read, in the order they were taken.
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

    /// The round the talk has come to.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.now.round
    }

    /// Those of them who are still able to speak, in the same order.
    #[must_use]
    pub fn present(&self, among: &[Participant]) -> Vec<Participant> {
        among.iter().filter(|it| self.is_present(&it.name)).cloned().collect()
    }

    /// Announces what happens next. The pattern's table decides whether it may.
    pub async fn enter(&mut self, phase: Phase, round: u32) -> Result<(), Halt> {
        let (from, last) = (self.now.phase, self.now.round);
        if !self.pattern.phases.allows(from, phase) || !(round == last || round == last + 1) {
            let from = format!("{} in round {last}", from.unwrap_or("the beginning"));
            return Err(
                Failure::Illegal(StateInvalid { from, to: format!("{} in round {round}", phase.0) }).into()
            );
        }
        (self.now.phase, self.now.round) = (Some(phase.0), round);
        let step = Step::new(round, phase.0, "*");
        if self.record.has_mark(&step) {
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

    /// Asks one participant. `None` when it failed and the discussion goes on without it.
    pub async fn ask(&mut self, who: &Participant, ask: Ask) -> Result<Option<Arc<Turn>>, Halt> {
        let turns = self.ask_all(std::slice::from_ref(who), |_| ask.clone()).await?;
        Ok(turns.into_iter().next())
    }

    /// Asks all at once; nobody sees another's answer. Answers come back in seating order, without
    /// those who failed.
    pub async fn ask_all(
        &mut self,
        who: &[Participant],
        ask: impl Fn(&Participant) -> Ask,
    ) -> Result<Vec<Arc<Turn>>, Halt> {
        self.ask_until(who, ask, |_| false).await
    }

    /// As [`Floor::ask_all`], but lets the rest go once the answers so far are `enough`.
    pub async fn ask_until(
        &mut self,
        who: &[Participant],
        ask: impl Fn(&Participant) -> Ask,
        enough: impl Fn(&[Arc<Turn>]) -> bool + Send + Sync,
    ) -> Result<Vec<Arc<Turn>>, Halt> {
        let spoken = |who: &Participant| Ask { spoken: true, ..ask(who) };
        let asked = self.seats(who).map(|who| Asked::new(who, self.step(who), spoken(who)));
        let asked = asked.collect();
        let turns = hold(self, asked, &enough).await?;
        Ok(turns.into_iter().flatten().collect())
    }

    pub(crate) fn is_present(&self, name: &str) -> bool {
        let seated = self.record.state.seated.iter().flatten().any(|it| it == name);
        seated && !self.now.out.contains(name)
    }

    /// Takes a turn into what everyone has heard.
    pub(crate) fn hear(&mut self, turn: &Arc<Turn>) {
        self.now.tokens += FENCE + tokens::at_worst(turn.text.len());
        let models = self.record.state.spec.participants.iter().filter(|it| !it.is_person());
        let Now { families, lengths, .. } = &mut self.now;
        let families = families.get_or_insert_with(|| models.map(Family::of).collect());
        lengths.hear(families.iter().copied(), &turn.text);
        self.now.transcript.push(turn.clone());
    }

    pub(crate) fn seats<'w>(&self, who: &'w [Participant]) -> impl Iterator<Item = &'w Participant> {
        who.iter().filter(|it| self.is_present(&it.name))
    }

    pub(crate) fn step(&self, who: &Participant) -> Step {
        Step::new(self.now.round, self.now.phase.unwrap_or("opening"), &who.name)
    }
}
