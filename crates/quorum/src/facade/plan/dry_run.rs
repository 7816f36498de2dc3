//! Dry runs: the engine runs the order itself in memory with stub voices, without time or cost
//! limits.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError},
};

use quorum_core::{
    engine::{Engine, handle::Finished, services::Services},
    memory::MemoryStore,
    model::{
        command::{Command, Say},
        event::{Awaited, Event, Fact, Fork},
        id::{DiscussionId, Seq},
        ruling::{AwaitedChoice, Ruling, RulingAwaited},
        spec::{Limits, Spec, Timing, Tolerance, WindowSpec},
        state::State,
        transcript::Turn,
    },
    registry::Pattern,
    seams::{NoTools, Node, Store},
    vocabulary::option::Kind,
};
use serde_json::Value;

use super::stub_voice::{Asked, Question, Script, StubVoices, WORD};
use crate::{Error, clock::SystemClock, request::default_window};

/// Longer than any dry run takes.
const NO_TIME_LIMIT: Timing = Timing { step_ms: 300_000, total_ms: 86_400_000, reserve_ms: 0 };

/// A participant that fails in the last rounds asks nothing that failing in the first ones does
/// not.
const ROUNDS_TO_FAIL_IN: u32 = 2;

/// The questions of an order, from its dry runs.
pub(super) struct DryRun {
    /// All questions of a run in which nothing failed or ended early, in order.
    pub(super) usual: Vec<Question>,
    /// The facts of that run.
    pub(super) facts: Vec<Fact>,
    /// All questions that could be asked, whichever calls fail and whichever replies can't be read.
    pub(super) all: BTreeMap<String, Question>,
}

/// Runs dry until every possible question has been asked.
///
/// No single discussion asks all of them: unreadable replies lead to reminders, readable ones to
/// follow-ups, and a failed participant leaves questions to the others. Each of these branches is
/// run separately, and all of them are counted.
pub(super) async fn dry_run(
    services: &Services,
    order: &Spec,
    past: Option<PastNotes>,
) -> Result<DryRun, Error> {
    let runner = Runner { past, ..Runner::of(services, order) };
    let unreadable = runner.run_once(&runner.spec, None, None).await?.0;
    let reminders = unreadable.iter().map(|it| it.reminders).max().unwrap_or_default();
    let (usual, facts) = runner.run_once(&runner.spec, Some(0), None).await?;
    let mut all = BTreeMap::new();
    gather(&mut all, &unreadable);
    gather(&mut all, &usual);
    for after in 1..=reminders {
        gather(&mut all, &runner.run_once(&runner.spec, Some(after), None).await?.0);
    }
    let phases: BTreeSet<String> = all.values().map(|it| it.phase.clone()).collect();
    let short = runner.shortened();
    for phase in phases {
        for seat in &order.participants {
            let failing = Some((phase.clone(), seat.name.clone()));
            gather(&mut all, &runner.run_once(&short, Some(reminders), failing).await?.0);
        }
    }
    Ok(DryRun { usual, facts, all })
}

/// The questions of a run in which nothing fails or ends early, in order, as if it were no fork.
pub(super) async fn usual_questions(services: &Services, order: &Spec) -> Result<Vec<Question>, Error> {
    let runner = Runner::of(services, order);
    Ok(runner.run_once(&runner.spec, Some(0), None).await?.0)
}

/// The facts of such a run.
pub(super) async fn usual_facts(services: &Services, order: &Spec) -> Result<Vec<Fact>, Error> {
    let runner = Runner::of(services, order);
    Ok(runner.run_once(&runner.spec, Some(0), None).await?.1)
}

/// What a fork may take over besides answers: the notes of the original before the point of the
/// fork.
#[derive(Clone)]
pub(super) struct PastNotes {
    fork: Fork,
    facts: Vec<Fact>,
}

impl PastNotes {
    /// The notes in the facts of the original, with the answer at which it was forked.
    pub(super) fn of(fork: &Fork, facts: &[Fact]) -> Self {
        let is_kept = |fact: &&Fact| match &fact.event {
            Event::Opened { .. } | Event::Noted(_) => true,
            Event::TurnCompleted { .. } => fact.step.as_ref() == Some(&fork.at),
            _ => false,
        };
        let mut last = Seq::START;
        let mut facts: Vec<Fact> = facts.iter().filter(is_kept).cloned().collect();
        for fact in &mut facts {
            last = last.next();
            fact.seq = last;
            match &mut fact.event {
                Event::Opened { spec, .. } => {
                    *spec = Arc::new(Spec { session: None, ..(**spec).clone() });
                }
                // The windows of stubs have room for one-word turns.
                Event::TurnCompleted { turn } if turn.form.is_none() => {
                    *turn = Arc::new(Turn { text: WORD.into(), ..(**turn).clone() });
                }
                _ => {}
            }
        }
        PastNotes { fork: fork.clone(), facts }
    }
}

/// Runs dry in the real windows, with speeches of this text, and returns the facts.
pub(super) async fn run_in_windows(
    services: &Services,
    order: &Spec,
    speech: String,
) -> Result<Vec<Fact>, Error> {
    let runner = Runner::of(services, order);
    let strategy = order.window.strategy.clone();
    let spec = Spec { window: WindowSpec { strategy, ..runner.spec.window.clone() }, ..runner.spec.clone() };
    let script = Script { readable_after: Some(0), failing: None, speech };
    Ok(runner.run_scripted(&spec, script, true).await?.1)
}

/// Collects questions; of several versions of a question, the most expensive counts.
fn gather(all: &mut BTreeMap<String, Question>, questions: &[Question]) {
    for question in questions {
        let known = all.entry(question.key.clone()).or_insert_with(|| question.clone());
        if known.most.total() < question.most.total() {
            *known = question.clone();
        }
    }
}

/// Runs an order dry, any number of times.
struct Runner<'s> {
    services: &'s Services,
    order: Arc<Spec>,
    /// The length of everything in the order, in bytes.
    given: usize,
    /// The token limit of its longest answer.
    longest: u32,
    spec: Spec,
    /// For a fork: what it may take over.
    past: Option<PastNotes>,
}

impl<'s> Runner<'s> {
    /// Prepares a dry run that only the number of rounds ends: no limit, no timeout, no detector,
    /// no confidence threshold, no minimum of providers.
    fn of(services: &'s Services, order: &Spec) -> Self {
        let mut spec = Spec {
            timing: NO_TIME_LIMIT,
            tolerance: Tolerance { go_on: true, min_providers: 1 },
            limits: Limits::default(),
            recursion: None,
            early_exit: None,
            // Whatever the votes weigh, they may leave it open.
            known_voices: None,
            window: default_window(&services.registry),
            session: None,
            account: None,
            ..order.clone()
        };
        // No detector may end it early.
        let registry = &services.registry;
        let counting = registry.options_for(&spec.pattern, &spec.consensus.method, &spec.window.strategy);
        let counts = |name: &str| counting.iter().any(|it| it.name == name && it.kind != Kind::Detectors);
        spec.settings.retain(counts);
        // Some patterns need all participants; those end when one fails.
        let tolerates_failures = |pattern: &Pattern| (pattern.check)(&spec).is_empty();
        if !services.registry.pattern(&spec.pattern).is_some_and(tolerates_failures) {
            spec.tolerance = order.tolerance;
        }
        let given = serde_json::to_string(order).map_or(0, |it| it.len());
        let method = registry.method(&order.consensus.method);
        let longest = method.map_or(order.manner.max_tokens, |it| (it.longest)(order));
        Runner { services, order: Arc::new(order.clone()), given, longest, spec, past: None }
    }

    fn shortened(&self) -> Spec {
        let mut short = self.spec.clone();
        short.rounds = short.rounds.min(ROUNDS_TO_FAIL_IN);
        for declared in self.services.registry.options().into_iter().filter(|it| it.of_rounds) {
            let given = short.settings.get(declared.name).and_then(Value::as_u64);
            if let Some(given) = given {
                short.settings.set(declared.name, given.min(u64::from(ROUNDS_TO_FAIL_IN)));
            }
        }
        short
    }

    async fn run_once(
        &self,
        spec: &Spec,
        readable_after: Option<usize>,
        failing: Option<(String, String)>,
    ) -> Result<(Vec<Question>, Vec<Fact>), Error> {
        let script = Script { readable_after, failing, speech: WORD.to_owned() };
        self.run_scripted(spec, script, false).await
    }

    async fn run_scripted(
        &self,
        spec: &Spec,
        script: Script,
        real_windows: bool,
    ) -> Result<(Vec<Question>, Vec<Fact>), Error> {
        let asked = Asked::default();
        let voices = StubVoices {
            order: self.order.clone(),
            given: self.given,
            longest: self.longest,
            real: self.services.voices.clone(),
            script,
            asked: asked.clone(),
            real_windows,
        };
        let (store, registry) = (Arc::new(MemoryStore::new()), self.services.registry.clone());
        let services = Services {
            store: store.clone(),
            voices: Arc::new(voices),
            tools: Arc::new(NoTools),
            clock: Arc::new(SystemClock),
            registry,
            caps: BTreeMap::new(),
            telemetry: None,
        };
        let engine = Engine::new(services, Node::fresh("a dry run"));
        let id = self.open(&engine, &*store, spec).await?;
        run_to_the_end(&engine, id).await?;
        let facts = store.read(id, Seq::START, usize::MAX).await?;
        let questions = std::mem::take(&mut *asked.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((questions, facts))
    }
}

impl Runner<'_> {
    async fn open(&self, engine: &Engine, store: &dyn Store, spec: &Spec) -> Result<DiscussionId, Error> {
        let Some(PastNotes { fork, facts }) = self.past.clone() else {
            return Ok(engine.open(spec.clone()).await?);
        };
        store.create(fork.of, facts).await?;
        let id = DiscussionId::fresh();
        engine.fork_as(id, fork, spec.clone()).await?;
        Ok(id)
    }
}

/// Resumes after every pause, and speaks for people.
pub(in crate::facade) async fn run_to_the_end(engine: &Engine, id: DiscussionId) -> Result<(), Error> {
    loop {
        let state = match engine.run(id).await?.finished().await? {
            Finished::Over(_) => return Ok(()),
            Finished::Waiting(state) => state,
        };
        if let Some(ruling) = state.ruling.as_ref().and_then(first_choice) {
            engine.send(id, Command::Rule(ruling)).await?;
        }
        for awaited in &state.awaiting {
            let say =
                Say { participant: awaited.participant.clone(), text: words_of_person(&state, awaited) };
            let seat = state.spec.seat(&awaited.participant).and_then(|it| it.person.as_ref());
            engine.say(id, say, seat.and_then(|it| it.user.as_deref())).await?;
        }
    }
}

/// The first possible choice, preferably with a candidate, since that asks the most.
fn first_choice(awaited: &RulingAwaited) -> Option<Ruling> {
    let fits = |it: &&AwaitedChoice| !it.takes_candidate || !awaited.candidates.is_empty();
    let choice = awaited.choices.iter().find(fits)?;
    let candidate = awaited.candidates.first().filter(|_| choice.takes_candidate).cloned();
    Some(Ruling { kind: awaited.kind.clone(), choice: choice.name.clone(), candidate })
}

/// A person's reply: one of the options if a structured reply is asked for, and never agreement. It
/// is not sure of the option, because a vote that nobody is sure of goes on.
fn words_of_person(state: &State, awaited: &Awaited) -> String {
    let option = state.spec.options.first().filter(|_| awaited.shape.is_some());
    option.map_or_else(|| "no".to_owned(), |option| format!("{option}\nConfidence: 0"))
}
