//! One discussion from beginning to end: seat the panel, deliberate, decide, conclude. Resuming is
//! the same over an existing record.

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    call::ledger::Ledger,
    engine::{
        conclude::{best_answer, completed, conclusion, is_for_want_of_providers, nothing_said},
        seating::{NoPanel, retry, seat_panel},
    },
    floor::{
        Floor, Now,
        convene::{Above, SubRun},
        gate::least_cost,
        halt::{Halt, Why},
        open_subs::{WENT_ON, open_subs, reported},
        purse::Purse,
        reuse::Source,
        services::Services,
    },
    model::{
        account::CapReached,
        command::Command,
        error::{Code, Problem, StateInvalid},
        event::{Event, Fact, SubConcluded},
        id::{DiscussionId, Seq, Step},
        lifecycle::Lifecycle,
        money::Usd,
        outcome::{Decision, Traced},
        phase::DECIDING,
        spec::Spec,
        state::State,
    },
    record::{Record, control::Control, failure::Failure, retry_store::patiently},
    registry::{Consensus, Pattern, report::turns_in_order},
    seams::{Release, StoreError, Then},
};

/// How a run of a discussion ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    /// It is over; the state says how it ended.
    Over(Box<State>),
    /// It waits for a person.
    Suspended(Box<State>),
}

/// The first facts of a discussion whose spec was checked.
pub(crate) fn first_facts(services: &Services, opened: Event) -> Vec<Fact> {
    let moved = |from, to| Event::LifecycleChanged { from, to };
    let events = [
        opened,
        moved(Lifecycle::Configuring, Lifecycle::Validating),
        moved(Lifecycle::Validating, Lifecycle::Ready),
    ];
    let at = services.clock.now();
    let number = |(index, event)| Fact { seq: Seq(index as u64 + 1), at, active_ms: 0, step: None, event };
    events.into_iter().enumerate().map(number).collect()
}

/// The function that the floor calls to run a sub-discussion.
fn run_sub(below: SubRun) -> BoxFuture<'static, Option<SubConcluded>> {
    Box::pin(conduct_sub(below))
}

async fn conduct_sub(below: SubRun) -> Option<SubConcluded> {
    let SubRun { services, claim, feed, control, above, id, spec, lineage } = below;
    let pattern = services.registry.pattern(&spec.pattern)?;
    let (spec, flow, lineage) = (Arc::new(spec), pattern.flow, Some(lineage));
    let opened = Event::Opened { spec, flow, lineage, fork: None, caller: None };
    let first = first_facts(&services, opened);
    patiently(&feed, || services.store.create(id, first.clone())).await.0.ok()?;
    let record = Box::new(Record::load(services.backing(), id, claim, feed).await.ok()?);
    match conduct(services, record, control, Some(above)).await {
        Ok(Ended::Over(state)) => Some(reported(&state)),
        Ok(Ended::Suspended(_)) | Err(_) => None,
    }
}

/// Runs a discussion to its end, or until it must wait.
pub(crate) async fn conduct(
    services: Arc<Services>,
    record: Box<Record>,
    control: Arc<Control>,
    above: Option<Above>,
) -> Result<Ended, Failure> {
    let spec = record.state.spec.clone();
    let (pattern, method) = vocabulary(&services, &spec, record.state.flow)?;
    let taken = record.state.spent;
    let (ledger, purse) = match above {
        Some(Above { ledger, purse }) => (Arc::new(Ledger::new(spec.limits, taken, Some(ledger))), purse),
        None => {
            let ledger = Arc::new(Ledger::new(spec.limits, taken, None));
            let purse = Purse::of(&services, &record, &ledger);
            (ledger, purse)
        }
    };
    let before = || Box::pin(Source::before(&record.state, &*services.store)) as BoxFuture<'_, _>;
    let source = patiently(record.feed(), before).await.0?;
    let now = Now::at_start(&record);
    let mut floor = Floor { services, pattern, record, control, ledger, purse, source, run_sub, now };
    if !make_ready(&mut floor).await? {
        release(&floor).await;
        return Ok(ended(floor));
    }
    let mut talked = talk(&mut floor, pattern, method).await?;
    while let Err(Halt(Why::PauseCancelled)) = talked {
        floor.now = Now::at_start(&floor.record);
        talked = talk(&mut floor, pattern, method).await?;
    }
    match talked {
        Ok(()) => {}
        Err(Halt(Why::Suspended)) => {
            let paused = floor.record.change(Lifecycle::Paused)?;
            let seen = floor.record.state.seen;
            floor.record.append_then(vec![paused], Then::Park { seen }).await?;
        }
        Err(Halt(Why::Awaiting)) => {
            let seen = floor.record.state.seen;
            floor.record.append_then(Vec::new(), Then::Park { seen }).await?;
        }
        Err(Halt(Why::Left)) => {
            floor.record.pay_up().await?;
        }
        Err(Halt(Why::Aborted)) => abort(&mut floor).await?,
        Err(Halt(Why::Failed(Failure::Store(error)))) => return Err(Failure::Store(error)),
        Err(Halt(Why::Failed(failure))) => {
            let (problem, absent) = (problem_of(&failure), Vec::new());
            fail(&mut floor, Event::Failed { absent, problem }).await?;
        }
        // Concluding never winds up: it uses what there is. After a withdrawn pause the run has
        // started again.
        Err(Halt(Why::WindUp | Why::PauseCancelled)) => {}
    }
    release(&floor).await;
    Ok(ended(floor))
}

/// Runs the talk to its end. A panic on the way must not cost an answer that was paid for.
async fn talk(floor: &mut Floor, pattern: &Pattern, method: &Consensus) -> Result<Result<(), Halt>, Failure> {
    let talked = AssertUnwindSafe(deliberate_and_decide(floor, pattern, method)).catch_unwind().await;
    match talked {
        Ok(talked) => Ok(talked),
        Err(panic) => {
            floor.record.pay_up().await?;
            resume_unwind(panic)
        }
    }
}

/// Gives back the money that was not needed, and the claim. Most claims end with the discussion's
/// last fact.
async fn release(floor: &Floor) {
    if let Some(purse) = floor.purse.as_ref().filter(|_| floor.record.state.lineage.is_none()) {
        purse.close().await;
    }
    if floor.record.has_claim() {
        let (store, claim) = (&floor.services.store, floor.record.claim());
        let how = floor.control.leaves_how().unwrap_or(Release::Now);
        drop(patiently(floor.record.feed(), || store.release(claim.clone(), how)).await);
    }
}

fn ended(floor: Floor) -> Ended {
    let state = Box::new(floor.record.state);
    if state.lifecycle.is_terminal() { Ended::Over(state) } else { Ended::Suspended(state) }
}

fn vocabulary(
    services: &Services,
    spec: &Spec,
    flow: u32,
) -> Result<(&'static Pattern, &'static Consensus), Failure> {
    let unknown =
        |what: &str, name: &str| StoreError::Unusable(format!("this version has no {what} named {name}"));
    let pattern =
        services.registry.pattern(&spec.pattern).ok_or_else(|| unknown("pattern", &spec.pattern))?;
    let method = services.registry.method(&spec.consensus.method);
    let method = method.ok_or_else(|| unknown("consensus method", &spec.consensus.method))?;
    if pattern.flow != flow {
        let (name, now) = (pattern.name, pattern.flow);
        let message = format!(
            "this discussion was started with version {flow} of the {name} pattern, and this program has version {now}; \
             it can be read, and a new one started on the same question, but not continued"
        );
        return Err(StoreError::Unusable(message).into());
    }
    Ok((pattern, method))
}

/// Prepares a discussion for the talk. `false` if it is over or still has to wait.
async fn make_ready(floor: &mut Floor) -> Result<bool, Failure> {
    let is_root = floor.record.state.lineage.is_none();
    if is_root && floor.record.state.lifecycle != Lifecycle::Completed && floor.control.take_wake() {
        floor.record.take_commands().await?;
    }
    if floor.record.state.pending == Some(Command::Abort) && !floor.record.state.lifecycle.is_terminal() {
        abort(floor).await?;
        return Ok(false);
    }
    close_crashed(floor).await?;
    if let Some(reached) = lacks_money(floor).await? {
        return refuse(floor, reached).await.map(|()| false);
    }
    match floor.record.state.lifecycle {
        Lifecycle::Completed | Lifecycle::Aborted => Ok(false),
        Lifecycle::Paused => leave_pause(floor, is_root).await,
        Lifecycle::Error => {
            if !retry(&mut floor.record)? {
                return Ok(false);
            }
            floor.now = Now::at_start(&floor.record);
            initialize(floor).await
        }
        Lifecycle::Configuring | Lifecycle::Validating | Lifecycle::Ready | Lifecycle::Initializing => {
            initialize(floor).await
        }
        Lifecycle::Running | Lifecycle::Completing => Ok(true),
    }
}

/// The cap that has no room for the least that a discussion needs to go on. One that a person ends
/// needs nothing.
async fn lacks_money(floor: &Floor) -> Result<Option<CapReached>, Failure> {
    let state = &floor.record.state;
    let Some(purse) = floor.purse.as_ref().filter(|_| state.lineage.is_none()) else { return Ok(None) };
    let least = match state.lifecycle {
        Lifecycle::Completed | Lifecycle::Aborted => return Ok(None),
        Lifecycle::Paused if state.pending != Some(Command::Resume) => return Ok(None),
        _ if state.pending == Some(Command::Stop) => return Ok(None),
        Lifecycle::Completing if state.decision.is_some() => return Ok(None),
        Lifecycle::Completing => floor.cost_of_deciding().usd,
        Lifecycle::Configuring
        | Lifecycle::Validating
        | Lifecycle::Ready
        | Lifecycle::Initializing
        | Lifecycle::Running
        | Lifecycle::Paused
        | Lifecycle::Error => least_cost(&floor.services, &state.spec),
    };
    if least == Usd::ZERO {
        return Ok(None);
    }
    Ok(purse.draw(floor.ledger.taken().usd + least).await?.err())
}

/// Leaves a discussion that a spending cap has no room for as it is. One that has not begun says
/// why; it can be retried like after any error.
async fn refuse(floor: &mut Floor, reached: CapReached) -> Result<(), Failure> {
    match floor.record.state.lifecycle {
        Lifecycle::Configuring | Lifecycle::Validating | Lifecycle::Ready | Lifecycle::Initializing => {
            if floor.record.state.lifecycle != Lifecycle::Initializing {
                floor.record.become_next(Lifecycle::Initializing)?;
            }
            let problem = Problem::new(Code::SpendingCapReached, reached.to_string());
            fail(floor, Event::Failed { absent: Vec::new(), problem }).await
        }
        _ => {
            let seen = floor.record.state.seen;
            floor.record.append_then(Vec::new(), Then::Park { seen }).await?;
            Err(Failure::SpendingCap(Box::new(reached)))
        }
    }
}

/// Leaves a pause: a sub-discussion together with its root, the root on a command.
async fn leave_pause(floor: &mut Floor, is_root: bool) -> Result<bool, Failure> {
    match floor.record.state.pending {
        Some(Command::Resume) => floor.record.become_next(Lifecycle::Running).map(|()| true),
        None if !is_root => floor.record.become_next(Lifecycle::Running).map(|()| true),
        Some(Command::Stop) => Ok(true),
        Some(Command::Pause | Command::Abort | Command::Say(_) | Command::Rule(_) | Command::Note(_))
        | None => {
            let seen = floor.record.state.seen;
            floor.record.append_then(Vec::new(), Then::Park { seen }).await?;
            Ok(false)
        }
    }
}

/// Charges sub-discussions that were under way when the process ended: they have spent from the
/// budget already.
async fn close_crashed(floor: &mut Floor) -> Result<(), Failure> {
    let open: Vec<Step> = open_subs(&floor.record.state);
    for step in open {
        let child = floor.record.state.id.derived(step.as_str());
        let state = patiently(floor.record.feed(), || Box::pin(read_state(&floor.services, child))).await.0?;
        if let Some(state) = state {
            floor.ledger.settle(Default::default(), state.spent);
        }
    }
    Ok(())
}

/// The state of a discussion, read from its facts; `None` if there is none with that id.
pub(crate) async fn read_state(services: &Services, id: DiscussionId) -> Result<Option<State>, StoreError> {
    match services.store.read(id, Seq::START, usize::MAX).await {
        Ok(facts) => Ok(State::of(id, &facts)),
        Err(StoreError::Unknown(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn initialize(floor: &mut Floor) -> Result<bool, Failure> {
    if floor.record.state.lifecycle != Lifecycle::Initializing {
        floor.record.become_next(Lifecycle::Initializing)?;
    }
    let services = floor.services.clone();
    match seat_panel(&services, &mut floor.record).await? {
        None => floor.record.become_next(Lifecycle::Running).map(|()| true),
        Some(NoPanel { problem, absent }) => {
            fail(floor, Event::Failed { absent, problem }).await.map(|()| false)
        }
    }
}

async fn deliberate_and_decide(floor: &mut Floor, pattern: &Pattern, method: &Consensus) -> Result<(), Halt> {
    let talked = match deliberate(floor, pattern, method).await {
        Ok(decision) => {
            floor.pause_before_deciding().await?;
            decision
        }
        Err(Halt(Why::WindUp)) => None,
        Err(halt) => return Err(halt),
    };
    if floor.record.state.lifecycle != Lifecycle::Completing {
        let mut facts = Vec::new();
        let round = floor.now.round;
        facts.extend((round > 0).then_some((None, Event::RoundClosed { round })));
        facts.push(floor.record.change(Lifecycle::Completing)?);
        if open_subs(&floor.record.state).is_empty() {
            floor.record.note(facts);
        } else {
            // Recorded first, so that the ending is known even after a crash while sub-discussions
            // are being ended.
            floor.record.append(facts).await?;
        }
    }
    floor.end_open_subs(WENT_ON).await?;
    (floor.now.deciding, floor.now.phase) = (true, Some(DECIDING));
    floor.reseat();
    let decision = match (&floor.record.state.decision, talked) {
        (Some(recorded), _) => (**recorded).clone(),
        (None, Some(decision)) => finish(floor, method, decision).await?,
        (None, None) if pattern.decides => best_answer(floor),
        (None, None) => {
            let decision = decide(floor, method).await?;
            finish(floor, method, decision).await?
        }
    };
    if let Some(step) =
        floor.record.passed_over(&floor.now.taken).filter(|_| floor.record.state.decision.is_none())
    {
        return Err(Failure::Diverged(step.clone()).into());
    }
    conclude(floor, method, decision).await
}

/// Holds the talk, after what the method asks before it.
async fn deliberate(
    floor: &mut Floor,
    pattern: &Pattern,
    method: &Consensus,
) -> Result<Option<Decision>, Halt> {
    if (method.opens)(&floor.record.state.spec) {
        (method.open)(floor).await?;
        floor.leave_first();
    }
    (pattern.run)(floor).await
}

/// Decides on what was said, at every end but an abort; if that fails, the best recorded answer is
/// the result.
async fn decide(floor: &mut Floor, method: &Consensus) -> Result<Decision, Halt> {
    if nothing_said(floor) {
        return Ok(Decision { degraded: true, ..Decision::default() });
    }
    match (method.decide)(floor).await {
        Err(Halt(Why::WindUp)) => Ok(best_answer(floor)),
        decided => decided,
    }
}

/// Completes a decision; if no more calls can be made, it stays as it is.
async fn finish(floor: &mut Floor, method: &Consensus, decision: Decision) -> Result<Decision, Halt> {
    let decision = match (method.finish)(floor, decision.clone()).await {
        Err(Halt(Why::WindUp)) => return Ok(decision),
        finished => finished?,
    };
    match (method.compare)(floor).await {
        Err(Halt(Why::WindUp)) | Ok(()) => Ok(decision),
        Err(halt) => Err(halt),
    }
}

async fn conclude(floor: &mut Floor, method: &Consensus, decision: Decision) -> Result<(), Halt> {
    let decision = traced(floor, method, completed(floor, decision));
    let end = conclusion(floor, &decision);
    // A sub-discussion is never retried alone, so it is over.
    let may_be_retried = floor.record.state.lineage.is_none() && is_for_want_of_providers(floor, &end);
    let mut facts = Vec::new();
    if floor.record.state.decision.is_none() {
        facts.push((None, Event::Decided { decision: Arc::new(decision) }));
    }
    facts.push((None, Event::Concluded(end)));
    let (to, then) = if may_be_retried {
        (Lifecycle::Error, Then::Park { seen: floor.record.state.seen })
    } else {
        (Lifecycle::Completed, Then::Done)
    };
    facts.push(floor.record.change(to)?);
    Ok(floor.record.append_then(facts, then).await?)
}

/// The decision with its sources. One on record keeps those that were recorded with it.
fn traced(floor: &Floor, method: &Consensus, decision: Decision) -> Decision {
    if floor.record.state.decision.is_some() {
        return decision;
    }
    let state = &floor.record.state;
    let turns = turns_in_order(state, floor.pattern.in_turn);
    let Traced { provenance, dropped } = (method.trace)(state, &turns, &decision);
    Decision { provenance, dropped, ..decision }
}

/// Aborts without any call: the best recorded answer is the result, marked as degraded.
async fn abort(floor: &mut Floor) -> Result<(), Failure> {
    floor.end_open_subs("the parent discussion was aborted").await?;
    let decision = completed(floor, best_answer(floor));
    let end = crate::engine::conclude::aborted();
    let facts = vec![
        (None, Event::Decided { decision: Arc::new(decision) }),
        (None, Event::Concluded(end)),
        floor.record.change(Lifecycle::Aborted)?,
    ];
    floor.record.append_then(facts, Then::Done).await
}

async fn fail(floor: &mut Floor, failed: Event) -> Result<(), Failure> {
    let facts = vec![(None, failed), floor.record.change(Lifecycle::Error)?];
    let seen = floor.record.state.seen;
    floor.record.append_then(facts, Then::Park { seen }).await
}

fn problem_of(failure: &Failure) -> Problem {
    let code = match failure {
        Failure::Store(_) | Failure::Unwritable(_) => Code::Unknown,
        Failure::SpendingCap(_) => Code::SpendingCapReached,
        Failure::Illegal(StateInvalid { .. }) | Failure::TakenTwice(_) => Code::StateInvalid,
        Failure::Diverged(_) => Code::RecordDiverged,
    };
    Problem::new(code, failure.to_string())
}
