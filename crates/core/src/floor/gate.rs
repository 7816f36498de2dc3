//! The gate: the check, before each call, whether anything may be asked. Handles pause, stop,
//! abort, budget and deadline.

use tokio::time::{Duration, Instant};

use crate::{
    call::tokens,
    floor::{
        Floor,
        halt::{Halt, Why},
        services::Services,
    },
    model::{
        command::Command,
        error::ErrorClass,
        event::{Event, WindUp},
        id::Step,
        lifecycle::Lifecycle,
        money::{Spent, Usage, Usd},
        spec::{Limits, Spec},
        state::Sub,
    },
    registry::Consensus,
};

/// A generous estimate of the tokens of instructions around a synthesis or a vote.
const INSTRUCTIONS: u64 = 2_000;

/// Why no new call may begin, although calls under way may finish.
pub(crate) enum Draining {
    /// A person paused the discussion.
    Suspend,
    /// This process is leaving.
    Leave,
    /// Deliberation ends.
    WindUp(WindUp),
}

impl Floor {
    /// Checks whether something may be asked now. Its cost is the ledger's concern.
    pub(crate) async fn gate(&mut self, key: &Step) -> Result<(), Halt> {
        self.control.may_call().await;
        match self.take_commands().await? {
            Some(Draining::Suspend) => return Err(Halt::suspended()),
            Some(Draining::Leave) => return Err(Halt::left()),
            Some(Draining::WindUp(reason)) => return Err(self.wind_up(key, reason).await?),
            None => {}
        }
        if self.deadline() <= Instant::now() {
            return Err(self.wind_up(key, WindUp::Deadline).await?);
        }
        let kept = if self.now.deciding { Spent::default() } else { self.cost_of_deciding() };
        self.ledger.keep_back(kept);
        Ok(())
    }

    /// Takes new commands from the inbox and returns what they mean here. An abort is an error
    /// right away.
    pub(crate) async fn take_commands(&mut self) -> Result<Option<Draining>, Halt> {
        // The next process reads the commands: taking them may need a store that can't be reached.
        if self.control.is_leaving() {
            return Ok(Some(Draining::Leave));
        }
        // Sub-discussions have no inbox of their own; they follow the command that the root took.
        if self.record.state.lineage.is_none() {
            if self.control.take_wake() {
                self.record.take_commands().await?;
            }
            self.control.publish(self.record.state.pending.clone());
        }
        match self.control.pending() {
            Some(Command::Abort) => Err(Halt::aborted()),
            Some(Command::Pause) if self.now.is_talking() => Ok(Some(Draining::Suspend)),
            Some(Command::Stop) if self.now.is_talking() => Ok(Some(Draining::WindUp(WindUp::Stopped))),
            Some(
                Command::Pause
                | Command::Stop
                | Command::Resume
                | Command::Say(_)
                | Command::Rule(_)
                | Command::Note(_),
            )
            | None => Ok(None),
        }
    }

    /// Obeys a pause that arrived while the last questions of the talk were being answered. A stop
    /// needs no action, because the talk is over.
    pub(crate) async fn pause_before_deciding(&mut self) -> Result<(), Halt> {
        if self.record.state.lifecycle != Lifecycle::Running {
            return Ok(());
        }
        match self.take_commands().await? {
            Some(Draining::Suspend) => Err(Halt::suspended()),
            Some(Draining::Leave) => Err(Halt::left()),
            Some(Draining::WindUp(_)) | None => Ok(()),
        }
    }

    /// Records why deliberation ends and returns the order to leave.
    pub(crate) async fn wind_up(&mut self, key: &Step, reason: WindUp) -> Result<Halt, Halt> {
        self.record.once(key.purpose("wound-up"), Event::WoundUp { reason });
        Ok(Halt::wind_up())
    }

    /// Checks, after each group, whether enough participants are left to go on (INV-DISC-101).
    pub(crate) async fn check_enough_left(&mut self, key: &Step) -> Result<(), Halt> {
        if !self.now.is_talking() {
            return Ok(());
        }
        let state = &self.record.state;
        let tolerance = state.spec.tolerance;
        // People may take days or be passed over, so the minimum counts models only.
        let models = state.spec.participants.iter().filter(|it| !it.is_person() && self.is_present(&it.name));
        let left = models.count() as u32;
        let reason = match self.now.out.first() {
            Some(name) if !tolerance.go_on => {
                let failure = state.failures.iter().find(|it| it.participant == *name);
                let class = failure.map_or(ErrorClass::ApiError, |it| it.class);
                WindUp::ProviderFailed { participant: name.clone(), class }
            }
            _ if left < tolerance.min_providers => WindUp::TooFew { left, needed: tolerance.min_providers },
            _ => return Ok(()),
        };
        Err(self.wind_up(key, reason).await?)
    }

    /// Whether the discussion could go on without these participants: enough are left for the talk,
    /// or anyone at all for the decision.
    pub(crate) fn is_enough_without(&self, lost: &[&str]) -> bool {
        let spec = &self.record.state.spec;
        let is_left = |name: &str| self.is_present(name) && !lost.contains(&name);
        let left = spec.participants.iter().filter(|it| !it.is_person() && is_left(&it.name)).count();
        let needed = if self.now.is_talking() { spec.tolerance.min_providers } else { 1 };
        (spec.tolerance.go_on || !self.now.is_talking()) && left as u32 >= needed
    }

    /// Lets a pattern ask for one last word although deliberation was wound up, if a person stopped
    /// it, a participant is missing or a window is full. If time or money ran out, returns the
    /// order to leave. Afterwards, a step may be asked again although it was begun before.
    pub fn last_word(&mut self, halt: Halt) -> Result<(), Halt> {
        let allowed = match (&halt.0, &self.record.state.wound_up) {
            (Why::WindUp, Some(reason)) => match reason {
                WindUp::Stopped
                | WindUp::TooFew { .. }
                | WindUp::ProviderFailed { .. }
                | WindUp::WindowFull { .. } => true,
                WindUp::CallBudget { .. }
                | WindUp::TokenBudget { .. }
                | WindUp::CostBudget { .. }
                | WindUp::SpendingCap { .. }
                | WindUp::Deadline => false,
            },
            (Why::WindUp, None) => false,
            (
                Why::Suspended
                | Why::Awaiting
                | Why::PauseCancelled
                | Why::Left
                | Why::Aborted
                | Why::Failed(_),
                _,
            ) => false,
        };
        if !allowed {
            return Err(halt);
        }
        self.now.closing = true;
        Ok(())
    }

    /// Leaves after this many turns in one run; the next run goes on (C04).
    pub fn rest_after(&self, turns: u32) -> Result<(), Halt> {
        if self.now.fresh < turns { Ok(()) } else { Err(Halt::awaiting()) }
    }

    /// The deadline of the talk, or of the decision. A sub-discussion under way postpones it,
    /// because its time counts towards the total but not towards this level.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + Duration::from_millis(self.remaining_ms())
    }

    pub(crate) fn remaining_ms(&self) -> u64 {
        let kept = if self.now.deciding { 0 } else { self.reserve_ms() };
        self.left_ms().saturating_sub(kept)
    }

    pub(crate) fn left_ms(&self) -> u64 {
        let state = &self.record.state;
        let timing = state.spec.timing;
        let active_ms = self.record.active_ms();
        let ran_ms = |sub: &Sub| match &sub.end {
            Some(end) => end.ran_ms,
            None => active_ms.saturating_sub(sub.from_ms),
        };
        let nested: u64 = state.subs.values().map(ran_ms).sum();
        let limit = (self.level_ms() + nested).min(timing.total_ms);
        limit.saturating_sub(active_ms)
    }

    /// The time of this level, its share for the synthesis included.
    fn level_ms(&self) -> u64 {
        let state = &self.record.state;
        let total_ms = state.spec.timing.total_ms;
        match (&state.lineage, &state.spec.recursion) {
            (Some(lineage), _) => lineage.level_ms,
            (None, Some(recursion)) => recursion.strategy.level_ms(total_ms, recursion.max_depth, 0),
            (None, None) => total_ms,
        }
    }

    /// INV-DISC-611: the time reserved for the decision at each level: ten seconds by default, at
    /// most half of the level's.
    fn reserve_ms(&self) -> u64 {
        if self.pattern.decides {
            return 0;
        }
        self.record.state.spec.timing.reserve_ms.min(self.level_ms() / 2)
    }

    /// The most that the consensus method can cost; this much is not available for talking.
    pub(crate) fn cost_of_deciding(&self) -> Spent {
        let spec = &self.record.state.spec;
        if spec.limits == Limits::default() && self.purse.is_none() {
            return Spent::default();
        }
        let (calls, longest) = deciding(&self.services, spec);
        self.cost_of(calls, longest)
    }

    pub(crate) fn cost_of(&self, calls: u32, longest: u32) -> Spent {
        cost_of(&self.services, &self.record.state.spec, self.now.tokens, (calls, longest))
    }

    /// Withholds from sub-discussions the budget that this discussion's own talk still needs: the
    /// calls of seats that continue after a sub-discussion, the rest of this round, and further
    /// rounds, for at most half of the calls.
    pub(crate) fn keep_for_the_talk(&self, going_on: u32, group: &[&str]) {
        let spec = &self.record.state.spec;
        if spec.recursion.is_none() || spec.limits == Limits::default() {
            return;
        }
        let of_round = self.now.transcript.iter().filter(|turn| turn.round == self.now.round);
        let spoke: Vec<&str> = of_round.map(|turn| turn.participant.as_str()).collect();
        let models = spec.participants.iter().filter(|it| !it.is_person() && self.is_present(&it.name));
        let names: Vec<&str> = models.map(|it| it.name.as_str()).collect();
        let is_open = |name: &&&str| !spoke.contains(*name) && !group.contains(*name);
        let rest = names.iter().filter(is_open).count() as u32;
        let later = spec.rounds.saturating_sub(self.now.round).saturating_mul(names.len() as u32);
        let later = later.min(spec.limits.calls.map_or(u32::MAX, |calls| calls / 2));
        self.ledger.keep_from_below(self.cost_of(going_on + rest + later, spec.manner.max_tokens));
    }

    /// Whether a sub-discussion may be asked for here at all, and has room in the budget: a call
    /// for each of its seats, one for its decision, and one to continue with its result.
    pub(crate) fn may_convene(&self) -> bool {
        let state = &self.record.state;
        let depth = state.lineage.as_ref().map_or(0, |lineage| lineage.depth);
        let talking = state.lifecycle == Lifecycle::Running && !self.now.deciding;
        let calls = self.sub_participants().len() as u32 + 2;
        talking
            && state.spec.recursion.is_some_and(|recursion| depth < recursion.max_depth)
            && self.ledger.has_room_below(Spent { calls, ..Spent::default() })
    }
}

/// The least that a discussion may need before anything is said: the decision, and one call.
pub(crate) fn least_cost(services: &Services, spec: &Spec) -> Usd {
    let call = cost_of(services, spec, 0, (1, spec.manner.max_tokens)).usd;
    cost_of(services, spec, 0, deciding(services, spec)).usd + call
}

/// How many calls the consensus method makes at most, and how many tokens each may write. A pattern
/// that decides for itself needs none.
fn deciding(services: &Services, spec: &Spec) -> (u32, u32) {
    if services.registry.pattern(&spec.pattern).is_some_and(|it| it.decides) {
        return (0, 0);
    }
    let method = services.registry.method(&spec.consensus.method).copied().unwrap_or(Consensus::PLAIN);
    ((method.calls)(spec), (method.longest)(spec))
}

/// The maximum cost of this many calls that each read a talk of `talk` tokens and write up to
/// `longest` tokens.
fn cost_of(services: &Services, spec: &Spec, talk: u64, (calls, longest): (u32, u32)) -> Spent {
    let voices = || spec.participants.iter().filter_map(|who| services.voices.voice(spec, who));
    // No request exceeds the largest window, however long the talk.
    let largest = voices().map(|voice| voice.window).max().unwrap_or(u64::MAX);
    let usage = Usage::new(
        (talk + INSTRUCTIONS + tokens::at_worst(spec.topic.len())).min(largest),
        u64::from(longest),
    );
    let dearest = voices().filter_map(|voice| voice.price).map(|price| price.of(usage)).max();
    Spent {
        calls,
        tokens: usage.total().saturating_mul(u64::from(calls)),
        usd: dearest.unwrap_or(Usd::ZERO).times(u64::from(calls)),
    }
}
