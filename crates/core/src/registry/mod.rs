//! What a pattern, a consensus method, a context strategy and a detector are, and the registry of
//! those there are. Each is a constant: a name, a sentence, what it declares, and functions.

pub mod check;
pub mod report;
mod snapshot;

use std::{collections::BTreeSet, sync::Arc};

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    floor::{Floor, ask::Ask, halt::Halt},
    model::{
        error::Refusal, outcome::Decision, participant::Participant, phase::PhaseTable, settings::Settings,
        spec::Spec, state::State,
    },
    vocabulary::{
        ending::Ending,
        form::Form,
        option::{Declared, Declares, Opt, OptionValue},
        result::ResultField,
        ruling::RulingKind,
    },
};

pub use snapshot::Snapshot;

/// The options that something declares.
pub type Options = &'static [&'static dyn Declares];

/// A way to hold a discussion.
#[derive(Clone, Copy)]
pub struct Pattern {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// Raised when the flow changes so that old records can't be continued.
    pub flow: u32,
    /// What holds where an order says nothing.
    pub usual: Usual,
    /// The options it reads.
    pub options: Options,
    /// The roles it tells apart.
    pub roles: &'static [RoleKind],
    /// The structured replies it asks for.
    pub forms: &'static [&'static Form],
    /// The ways in which its talk may end by its own rules.
    pub ends: &'static [Ending],
    /// The decisions it may ask people for.
    pub rulings: &'static [RulingKind],
    /// The fields it adds to the result.
    pub results: &'static [ResultField],
    /// The moves between its phases.
    pub phases: PhaseTable,
    /// Hands out the roles that an order leaves open, or says what is missing.
    pub seat: fn(&mut Seating<'_>) -> Vec<Refusal>,
    /// What is missing in the spec for this pattern, before anything is spent.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// What makes a finished discussion less than it was meant to be, by name; usually nothing.
    pub lacks: fn(&State) -> Map<String, Value>,
    /// What it is called when too many fail.
    pub loss: Loss,
    /// Holds the discussion. `Some` when the talk itself came to a decision, so that no method need
    /// be asked.
    pub run: for<'f> fn(&'f mut Floor) -> Talk<'f>,
}

impl Pattern {
    /// A pattern that declares nothing of its own and says nothing; a base for `..Pattern::PLAIN`.
    pub const PLAIN: Pattern = Pattern {
        name: "",
        summary: "",
        flow: 1,
        usual: Usual::PLAIN,
        options: &[],
        roles: &[],
        forms: &[],
        ends: &[],
        rulings: &[],
        results: &[],
        phases: PhaseTable { first: &[], next: &[] },
        seat: |_| Vec::new(),
        check: |_| Vec::new(),
        lacks: |_| Map::new(),
        loss: Loss::TooFewProviders,
        run: |_| Box::pin(async { Ok(None) }),
    };

    /// The ending of that name.
    #[must_use]
    pub fn ending(&self, name: &str) -> Option<&'static Ending> {
        self.ends.iter().find(|it| it.name == name)
    }
}

/// A pattern at work.
pub type Talk<'f> = BoxFuture<'f, Result<Option<Decision>, Halt>>;

/// What holds where an order says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usual {
    /// How many rounds.
    pub rounds: u32,
    /// The consensus method; the registry's first where it is empty.
    pub method: &'static str,
    /// How long one step may take, in milliseconds.
    pub step_ms: u64,
    /// The least and the most participants that an order may name.
    pub seats: (usize, usize),
    /// The providers that are asked; the usual panel where it is empty.
    pub panel: &'static [&'static str],
}

impl Usual {
    /// Two rounds, a minute for each step, two to six participants.
    pub const PLAIN: Usual = Usual { rounds: 2, method: "", step_ms: 60_000, seats: (2, 6), panel: &[] };
}

/// A role that a pattern tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleKind {
    /// The name in requests.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Whether it takes turns in the talk.
    pub speaks: bool,
}

/// A table whose roles are being handed out.
pub struct Seating<'a> {
    /// The participants in seating order, with the roles that were given.
    pub participants: &'a mut Vec<Participant>,
    /// The options that were given.
    pub settings: &'a Settings,
    /// What to do about roles that nobody has.
    pub missing: MissingRoles,
}

/// What to do about roles that nobody has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingRoles {
    /// Say so: a program should know which participant it lets argue for what (INV-DISC-008).
    #[default]
    Refuse,
    /// Hand them out; for people in a hurry.
    Assign,
}

/// What it is called when a failure leaves too few to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// There are too few providers.
    TooFewProviders,
    /// A turn failed, which nobody else can take (A14).
    TurnFailed,
}

/// A way to turn what was said into one decision.
#[derive(Clone, Copy)]
pub struct Consensus {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// The options it reads.
    pub options: Options,
    /// The structured replies it asks for.
    pub forms: &'static [&'static Form],
    /// The fields it adds to the result.
    pub results: &'static [ResultField],
    /// What is missing in the spec for this method.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// How many calls it makes at most when nothing fails; that many are kept back from the budget
    /// while the talk goes on.
    pub calls: fn(&Spec) -> u32,
    /// Decides.
    pub decide: for<'f> fn(&'f mut Floor) -> BoxFuture<'f, Result<Decision, Halt>>,
}

impl Consensus {
    /// A method that declares nothing of its own; a base for `..Consensus::PLAIN`.
    pub const PLAIN: Consensus = Consensus {
        name: "",
        summary: "",
        options: &[],
        forms: &[],
        results: &[],
        check: |_| Vec::new(),
        calls: |_| 1,
        decide: |_| Box::pin(async { Ok(Decision::default()) }),
    };
}

/// Something that watches the course of a talk (D08).
#[derive(Clone, Copy)]
pub struct Detector {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// What it notices about the latest round. Pure.
    pub detect: fn(&Course) -> Vec<Detection>,
    /// When what it noticed may end the talk.
    pub ends: Ends,
}

/// When what a detector noticed may end a talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// As soon as it notices something.
    AtOnce,
    /// When it notices something about everyone who spoke in the round.
    WhenOfAll,
}

/// The course of a talk as detectors see it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// What was said, the newest last; old speeches are forgotten.
    pub speeches: Vec<Speech>,
    /// How rounds were marked, where somebody marks them.
    pub marks: Vec<RoundMarks>,
}

/// One speech in the course of a talk.
#[derive(Debug, Clone, PartialEq)]
pub struct Speech {
    /// Whose.
    pub participant: String,
    /// In which round.
    pub round: u32,
    /// In the speaker's own words, without quotations.
    pub text: Arc<str>,
    /// How much of it its speaker said before, 0 to 1, by each measure: `lexical`, `trigrams`,
    /// `embeddings`.
    pub repeats: Vec<(&'static str, f64)>,
}

/// How a round was marked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundMarks {
    /// Which round.
    pub round: u32,
    /// The round as a whole, 0 to 10.
    pub quality: f64,
    /// How new it was, 0 to 10.
    pub novelty: Option<f64>,
    /// How much it was about the question, 0 to 10.
    pub relevance: Option<f64>,
    /// Whether it was found repetitive.
    pub repetitive: bool,
}

/// Something a detector noticed.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Detection {
    /// In which round.
    pub round: u32,
    /// Which detector.
    pub detector: String,
    /// By which measure: `lexical`, `trigrams`, `embeddings`, `judge`.
    pub measure: String,
    /// What it measured.
    pub value: f64,
    /// Whose speech, where it is one participant's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
}

impl Course {
    /// The round of the newest speech; 0 before the first.
    #[must_use]
    pub fn latest_round(&self) -> u32 {
        self.speeches.last().map_or(0, |it| it.round)
    }

    /// The speeches of this round.
    pub fn of_round(&self, round: u32) -> impl Iterator<Item = &Speech> {
        self.speeches.iter().filter(move |it| it.round == round)
    }
}

/// A way to show a talk that may outgrow a model's window (D09).
#[derive(Clone, Copy)]
pub struct ContextStrategy {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// What is shown of a talk of this length. Pure, and never slower for a longer talk.
    pub fit: fn(&Length<'_>) -> Fit,
    /// The options it reads.
    pub options: Options,
    /// What it does where a request is too long for the provider all the same.
    pub overflow: OnOverflow,
    /// The question to a participant that sums up what was said, in so many tokens at most.
    pub words: fn(&Spec, u32) -> Ask,
}

/// What a context strategy does where a request is too long for the provider all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOverflow {
    /// It can't be chosen for that.
    NotOffered,
    /// One more try at once, with half the room.
    Shrinks,
    /// One more try with half the room, once what is older is summed up.
    SumsUp,
}

/// How long a talk is beside the room there is for it, in tokens of one model.
#[derive(Debug, Clone, Copy)]
pub struct Length<'a> {
    /// The size of the first 0, 1, 2 … turns together, so that no strategy ever adds them up.
    pub sums: &'a [u64],
    /// What is summed up already.
    pub summary: Option<Covered>,
    /// What there is room for.
    pub room: u64,
    /// The options that were given.
    pub settings: &'a Settings,
}

/// A summary there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// Of how many turns, from the first one on.
    pub turns: usize,
    /// Its own size.
    pub size: u64,
}

/// What a strategy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// What stands before the newest turns.
    pub before: Before,
    /// The first of the newest turns; from here on all are shown.
    pub from: usize,
    /// What should be summed up first; what is shown holds when that can't be had.
    pub sum_up: Option<SumUp>,
    /// How much of the room the talk would take, in per cent, where that is worth a warning.
    pub tight: Option<u32>,
}

/// What stands before the newest turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// The very first turn.
    First,
    /// The summary there is.
    Summary,
}

/// A summary to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SumUp {
    /// Of how many turns, from the first one on; those already summed up are taken from the summary there is.
    pub turns: usize,
    /// How long it may be.
    pub most: u64,
}

impl Length<'_> {
    /// The value of this option.
    #[must_use]
    pub fn option<T: OptionValue + 'static>(&self, option: &Opt<T>) -> T {
        option.of(self.settings)
    }

    /// How many turns there are.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    /// The size of the turns from this one up to, and without, that one.
    #[must_use]
    pub fn size(&self, from: usize, to: usize) -> u64 {
        self.sums.get(to).zip(self.sums.get(from)).map_or(0, |(to, from)| to - from)
    }

    /// The size of all turns from this one on.
    #[must_use]
    pub fn since(&self, from: usize) -> u64 {
        self.size(from, self.turns())
    }

    /// The first of the newest turns that fit this room together, none before `earliest` among them.
    #[must_use]
    pub fn newest(&self, earliest: usize, room: u64) -> usize {
        let all = self.sums.last().copied().unwrap_or_default();
        let too_old = |sum: &u64| all - sum > room;
        self.sums.partition_point(too_old).max(earliest).min(self.turns())
    }
}

/// Everything that was registered, the default of each kind first.
///
/// Cheap to clone; a clone that is added to leaves the others as they are.
#[derive(Clone, Default)]
pub struct Registry(Arc<Lists>);

#[derive(Clone, Default)]
struct Lists {
    patterns: Vec<&'static Pattern>,
    methods: Vec<&'static Consensus>,
    strategies: Vec<&'static ContextStrategy>,
    detectors: Vec<&'static Detector>,
}

/// Two registries are the same when they have the same names in the same order.
impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        let names = |it: &Registry| format!("{it:?}");
        Arc::ptr_eq(&self.0, &other.0) || names(self) == names(other)
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |names: Vec<&'static str>| names.join(", ");
        f.debug_struct("Registry")
            .field("patterns", &names(self.patterns().iter().map(|it| it.name).collect()))
            .field("methods", &names(self.methods().iter().map(|it| it.name).collect()))
            .field("strategies", &names(self.strategies().iter().map(|it| it.name).collect()))
            .field("detectors", &names(self.detectors().iter().map(|it| it.name).collect()))
            .finish()
    }
}

impl Registry {
    /// The same with these patterns.
    #[must_use]
    pub fn with_patterns(mut self, patterns: impl IntoIterator<Item = &'static Pattern>) -> Self {
        Arc::make_mut(&mut self.0).patterns.extend(patterns);
        self
    }

    /// The same with these consensus methods.
    #[must_use]
    pub fn with_methods(mut self, methods: impl IntoIterator<Item = &'static Consensus>) -> Self {
        Arc::make_mut(&mut self.0).methods.extend(methods);
        self
    }

    /// The same with these context strategies.
    #[must_use]
    pub fn with_strategies(mut self, strategies: impl IntoIterator<Item = &'static ContextStrategy>) -> Self {
        Arc::make_mut(&mut self.0).strategies.extend(strategies);
        self
    }

    /// The same with these detectors.
    #[must_use]
    pub fn with_detectors(mut self, detectors: impl IntoIterator<Item = &'static Detector>) -> Self {
        Arc::make_mut(&mut self.0).detectors.extend(detectors);
        self
    }

    /// The patterns.
    #[must_use]
    pub fn patterns(&self) -> &[&'static Pattern] {
        &self.0.patterns
    }

    /// The consensus methods.
    #[must_use]
    pub fn methods(&self) -> &[&'static Consensus] {
        &self.0.methods
    }

    /// The context strategies.
    #[must_use]
    pub fn strategies(&self) -> &[&'static ContextStrategy] {
        &self.0.strategies
    }

    /// The detectors.
    #[must_use]
    pub fn detectors(&self) -> &[&'static Detector] {
        &self.0.detectors
    }

    /// The pattern of that name.
    #[must_use]
    pub fn pattern(&self, name: &str) -> Option<&'static Pattern> {
        self.0.patterns.iter().copied().find(|it| it.name == name)
    }

    /// The consensus method of that name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&'static Consensus> {
        self.0.methods.iter().copied().find(|it| it.name == name)
    }

    /// The context strategy of that name.
    #[must_use]
    pub fn strategy(&self, name: &str) -> Option<&'static ContextStrategy> {
        self.0.strategies.iter().copied().find(|it| it.name == name)
    }

    /// Every role that some pattern tells apart, once each.
    #[must_use]
    pub fn roles(&self) -> Vec<&'static RoleKind> {
        let mut seen = BTreeSet::new();
        let all = self.0.patterns.iter().flat_map(|it| it.roles);
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// Every option that somebody declares, once each, in the order of registration.
    #[must_use]
    pub fn options(&self) -> Vec<&'static Declared> {
        let mut seen = BTreeSet::new();
        let patterns = self.0.patterns.iter().flat_map(|it| it.options);
        let methods = self.0.methods.iter().flat_map(|it| it.options);
        let strategies = self.0.strategies.iter().flat_map(|it| it.options);
        let all = patterns.chain(methods).chain(strategies).map(|it| it.declared());
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// The options that count in a discussion of this pattern, method and strategy, once each.
    #[must_use]
    pub fn options_for(&self, pattern: &str, method: &str, strategy: &str) -> Vec<&'static Declared> {
        let mut seen = BTreeSet::new();
        let pattern = self.pattern(pattern).map(|it| it.options);
        let method = self.method(method).map(|it| it.options);
        let strategy = self.strategy(strategy).map(|it| it.options);
        let all = [pattern, method, strategy].into_iter().flatten().flatten().map(|it| it.declared());
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// The option of that name.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&'static Declared> {
        self.options().into_iter().find(|it| it.name == name)
    }

    /// The role of that name.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&'static RoleKind> {
        self.roles().into_iter().find(|it| it.name == name)
    }

    /// Every decision that a pattern may ask people for, once each.
    #[must_use]
    pub fn rulings(&self) -> Vec<&'static RulingKind> {
        let mut seen = BTreeSet::new();
        let all = self.patterns().iter().flat_map(|it| it.rulings);
        all.filter(|it| seen.insert(it.name)).collect()
    }

    /// Every form that somebody declares, once each.
    #[must_use]
    pub fn forms(&self) -> Vec<&'static Form> {
        let mut seen = BTreeSet::new();
        let patterns = self.0.patterns.iter().flat_map(|it| it.forms);
        let methods = self.0.methods.iter().flat_map(|it| it.forms);
        patterns.chain(methods).copied().filter(|it| seen.insert(it.kind)).collect()
    }

    /// The fields that this pattern and this method add to a result, once each.
    #[must_use]
    pub fn results_of(&self, spec: &Spec) -> Vec<&'static ResultField> {
        let mut seen = BTreeSet::new();
        let pattern = self.pattern(&spec.pattern).map(|it| it.results).unwrap_or_default();
        let method = self.method(&spec.consensus.method).map(|it| it.results).unwrap_or_default();
        pattern.iter().chain(method).filter(|it| seen.insert(it.name)).collect()
    }
}
