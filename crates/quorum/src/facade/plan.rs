//! Plans a discussion without asking any model: who would be asked when, and the maximum cost.

mod calls;
mod course;
mod dry_run;
mod stub_voice;
mod typical;
mod windows;

use std::collections::BTreeSet;

use quorum_core::{
    engine::services::Services,
    model::{
        agent::{Agent, Candidate, Reason},
        error::{ErrorClass, Refusal},
        event::{Event, Fact, Fork},
        id::{Seq, Step},
        money::{Price, Usage, Usd},
        outcome::{AbilitiesReport, RecallReport},
        participant::Participant,
        spec::{Spec, WindowSpec},
    },
    registry::{ContextStrategy, Length, OnOverflow},
    seams::Voice,
};
use serde::Serialize;

pub(super) use self::dry_run::run_to_the_end;
pub(super) use self::typical::Lengths;
use self::{
    dry_run::{DryRun, PastNotes, dry_run, usual_questions},
    stub_voice::Question,
};
use crate::{CapEntry, CapFit, Error, Quorum};

/// The expected course and cost of a discussion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The question.
    pub topic: String,
    /// The pattern.
    pub pattern: String,
    /// The consensus method.
    pub consensus: String,
    /// Whether the voices are simulated.
    pub simulated: bool,
    /// The participants.
    pub participants: Vec<PlannedSeat>,
    /// Who is asked in which order if nothing fails or ends the discussion early.
    pub course: Vec<PlannedPhase>,
    /// The typical figures for that course, with answers as long as those of past discussions of
    /// the same models, or as long as such answers usually are.
    pub typical: Figures,
    /// How many past discussions the lengths of typical answers are from.
    pub typical_from: u32,
    /// The maximum for that course, with every answer as long as it may be.
    pub usual: Figures,
    /// The upper bound within the given limits: every reply misread, and every call failing as
    /// often as it is retried.
    pub most: Figures,
    /// Participants without a known price; their cost is in no sum.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// Participants whose provider does not exist here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
    /// For a fork: how many answers of the original are kept. Only what is asked again is in the
    /// figures; a later answer is kept too if its question turns out to be the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<u32>,
    /// Whether participants may convene sub-discussions; only `most` includes them.
    pub sub_discussions: bool,
    /// The total time budget, in milliseconds.
    pub budget_ms: u64,
    /// What everyone is shown of past discussions; its tokens are in the figures. Absent if nothing
    /// was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recalled: Option<Vec<RecallReport>>,
    /// Values of the order that have no effect, or another one than they say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Refusal>,
    /// The spending caps of the account that it would be charged to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caps: Vec<CapEntry>,
    /// Whether it fits what is left of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap_fit: Option<CapFit>,
}

/// A participant.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSeat {
    /// The name.
    pub participant: String,
    /// The role.
    pub role: String,
    /// Whether it is a person, who costs nothing.
    pub person: bool,
    /// How often it is asked if nothing fails.
    pub calls: u32,
    /// Set if it is an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<PlannedAgent>,
}

/// An agent that would take part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedAgent {
    /// Its id.
    pub id: String,
    /// The provider it would speak through; absent if none of its candidates is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaks_through: Option<String>,
    /// Why this provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The weight of its votes and positions.
    pub weight: f64,
    /// Its abilities: those that are shown, missing or left out.
    pub abilities: AbilitiesReport,
}

/// A phase of a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedPhase {
    /// The round; `None` for the decision after all rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The phase.
    pub phase: String,
    /// Who is asked: groups in order, the members of a group concurrently.
    pub asked: Vec<Vec<String>>,
    /// What each group is asked for beside its turn, as its steps name it: `verdict`, for instance;
    /// empty for a turn.
    #[serde(skip)]
    pub purposes: Vec<String>,
}

/// Calls, tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Calls to providers.
    pub calls: u32,
    /// Tokens, input and output.
    pub tokens: u64,
    /// The cost in USD of participants with a known price.
    pub cost_usd: f64,
}

impl Quorum {
    /// Plans a checked order. Asks no model and records nothing.
    ///
    /// The figures are for one undisturbed process: a call that was under way when a process died
    /// is made again, and may be paid twice.
    pub(super) async fn plan(&self, order: &Spec, lengths: &Lengths) -> Result<Plan, Error> {
        self.check_windows(order).await?;
        self.check_calls(order).await?;
        let dry_run = dry_run(self.0.engine.services(), order, None).await?;
        Ok(self.planned(order, &dry_run, (lengths, None)))
    }

    /// Plans a fork: the same, without the questions whose answers are kept.
    pub(super) async fn plan_fork(
        &self,
        fork: &Fork,
        order: &Spec,
        lengths: &Lengths,
    ) -> Result<Plan, Error> {
        self.check_windows(order).await?;
        let services = self.0.engine.services();
        let facts = services.store.read(fork.of, Seq::START, usize::MAX).await?;
        let answered = answered_until(&facts, &fork.at);
        let asked = usual_questions(services, order).await?;
        let kept = asked.iter().filter(|it| answered.contains(&it.key)).count() as u32;
        let mut dry_run = dry_run(services, order, Some(PastNotes::of(fork, &facts))).await?;
        dry_run.usual.retain(|it| !answered.contains(&it.key));
        dry_run.all.retain(|key, _| !answered.contains(key));
        Ok(self.planned(order, &dry_run, (lengths, Some(kept))))
    }

    /// The order with each agent in the seat of the candidate that it would speak through, as far
    /// as that is known without a health check.
    pub(super) fn with_voiced_agents(&self, order: Spec) -> Spec {
        let services = self.0.engine.services();
        let participants = order.participants.iter().map(|it| voiced(services, &order, it)).collect();
        Spec { participants, ..order }
    }

    fn planned(&self, order: &Spec, dry_run: &DryRun, (lengths, kept): (&Lengths, Option<u32>)) -> Plan {
        let (typical, typical_from) = typical::typical(order, &dry_run.usual, lengths);
        let services = self.0.engine.services();
        let voices = voices(services, order);
        let named = |wanted: fn(&Option<Voice>) -> bool| -> Vec<String> {
            voices.iter().filter(|(_, voice)| wanted(voice)).map(|(who, _)| who.name.clone()).collect()
        };
        Plan {
            topic: order.topic.clone(),
            pattern: order.pattern.clone(),
            consensus: order.consensus.method.clone(),
            simulated: order.simulation.is_some(),
            participants: seats(services, order, &dry_run.usual),
            course: course::course(&dry_run.facts),
            typical,
            typical_from,
            usual: usual(order, &dry_run.usual),
            most: most(services, order, dry_run),
            unpriced: named(|voice| voice.as_ref().is_some_and(|it| it.price.is_none())),
            unavailable: named(Option::is_none),
            kept,
            sub_discussions: order.recursion.is_some(),
            budget_ms: order.timing.total_ms,
            recalled: RecallReport::of(order),
            remarks: self.remarks(order),
            caps: Vec::new(),
            cap_fit: None,
        }
    }
}

/// The steps that were answered up to this one, as the questions of a dry run name them.
fn answered_until(facts: &[Fact], at: &Step) -> BTreeSet<String> {
    let last = facts.iter().filter(|it| it.step.as_ref() == Some(at)).map(|it| it.seq).max();
    let early = facts.iter().filter(|it| last.is_some_and(|last| it.seq <= last));
    let answered = early.filter_map(|it| match &it.event {
        Event::TurnCompleted { turn } => Some(stub_voice::key(&turn.step)),
        _ => None,
    });
    answered.collect()
}

fn voices<'o>(services: &Services, order: &'o Spec) -> Vec<(&'o Participant, Option<Voice>)> {
    let models = order.participants.iter().filter(|it| !it.is_person());
    models.map(|who| (who, voice(services, order, who))).collect()
}

/// The voice of a seat. An agent without a candidate has none, although its seat has a provider's
/// name.
fn voice(services: &Services, order: &Spec, who: &Participant) -> Option<Voice> {
    let has_candidate = who.agent.as_ref().is_none_or(|it| it.behind(who).is_some());
    services.voices.voice(order, who).filter(|_| has_candidate)
}

/// The same seat, with an agent in it speaking through its planned candidate, or through the first
/// that can speak if that one can't.
fn voiced(services: &Services, order: &Spec, seat: &Participant) -> Participant {
    let Some(agent) = &seat.agent else { return seat.clone() };
    let candidates = agent.behind(seat).into_iter().chain(&agent.candidates);
    let mut seats = candidates.map(|it| seat.clone().through(it));
    seats.find(|it| can_speak(services, order, it)).unwrap_or_else(|| seat.clone())
}

/// Whether a seat has a voice whose cost can be limited if it must be.
fn can_speak(services: &Services, order: &Spec, seat: &Participant) -> bool {
    let needs_price = order.limits.needs_prices() || services.caps_need_prices(order);
    voice(services, order, seat).is_some_and(|it| it.price.is_some() || !needs_price)
}

fn seats(services: &Services, order: &Spec, asked: &[Question]) -> Vec<PlannedSeat> {
    let seat = |who: &Participant| PlannedSeat {
        participant: who.name.clone(),
        role: who.role.to_string(),
        person: who.is_person(),
        calls: asked.iter().filter(|it| it.participant == who.name).count() as u32,
        agent: who.agent.as_ref().map(|agent| {
            let behind = agent.behind(who).filter(|_| can_speak(services, order, who));
            planned_agent(who, agent, behind)
        }),
    };
    order.participants.iter().map(seat).collect()
}

fn planned_agent(who: &Participant, agent: &Agent, behind: Option<&Candidate>) -> PlannedAgent {
    PlannedAgent {
        id: agent.id.clone(),
        speaks_through: behind.map(Candidate::written),
        reason: behind.map(|it| it.reason.clone()),
        weight: who.weight,
        abilities: AbilitiesReport::of(who, agent),
    }
}

/// A running sum of calls, tokens and cost.
#[derive(Clone, Copy, Default)]
struct Sum {
    calls: u32,
    tokens: u64,
    usd: Usd,
}

impl Sum {
    /// Adds this many calls of this usage, each at this cost.
    fn add(&mut self, times: u32, usage: Usage, cost: Usd) {
        let many = u64::from(times);
        self.calls = self.calls.saturating_add(times);
        self.tokens = self.tokens.saturating_add(usage.total().saturating_mul(many));
        self.usd += cost.times(many);
    }

    /// The sum, capped by the limits of the order.
    fn within(self, order: &Spec, dearest: Worst) -> Figures {
        let calls = order.limits.calls.map_or(self.calls, |limit| limit.min(self.calls));
        let by_calls = u64::from(calls);
        let tokens = self.tokens.min(dearest.tokens.saturating_mul(by_calls));
        let usd = self.usd.min(dearest.usd.times(by_calls));
        Figures {
            calls,
            tokens: order.limits.tokens.map_or(tokens, |limit| limit.min(tokens)),
            cost_usd: order.limits.usd.map_or(usd, |limit| limit.min(usd)).dollars(),
        }
    }
}

/// The most expensive single call.
#[derive(Clone, Copy, Default)]
struct Worst {
    tokens: u64,
    usd: Usd,
}

impl Worst {
    fn or(self, usage: Usage, price: Option<Price>) -> Worst {
        let usd = at_worst(price, usage);
        Worst { tokens: self.tokens.max(usage.total()), usd: self.usd.max(usd) }
    }
}

/// The most that a call of this usage costs, whatever of it is cached.
fn at_worst(price: Option<Price>, usage: Usage) -> Usd {
    price.map(|it| it.at_worst(usage)).unwrap_or_default()
}

fn usual(order: &Spec, asked: &[Question]) -> Figures {
    let (mut sum, mut worst) = (Sum::default(), Worst::default());
    for question in asked {
        sum.add(1, question.usual, at_worst(question.price, question.usual));
        worst = worst.or(question.usual, question.price);
    }
    sum.within(order, worst)
}

fn most(services: &Services, order: &Spec, dry_run: &DryRun) -> Figures {
    let (mut sum, mut worst) = (Sum::default(), Worst::default());
    for question in dry_run.all.values() {
        let (price, thoughtful) = (question.price, question.with_room_to_think());
        sum.add(attempts(), question.most, at_worst(price, question.most));
        // Once more, with more room, if the answer was all thinking.
        sum.add(1, thoughtful, at_worst(price, thoughtful));
        worst = worst.or(question.most, price).or(thoughtful, price);
    }
    let full = full_window(services, order);
    if may_sum_up(services, order) {
        let questions = dry_run.all.len() as u32;
        // Before each question, and once more for a model whose request was too long.
        let times = 2 * questions * (attempts() + 1);
        full.iter().for_each(|(usage, price)| sum.add(times, *usage, at_worst(*price, *usage)));
        worst = full.iter().fold(worst, |worst, (usage, price)| worst.or(*usage, *price));
    }
    if order.recursion.is_some() {
        // The number of sub-discussions is unknown, but the calls of all of them together are
        // always limited.
        worst = full.iter().fold(worst, |worst, (usage, price)| worst.or(*usage, *price));
        sum = Sum { calls: u32::MAX, tokens: u64::MAX, usd: worst.usd.times(u64::MAX) };
    }
    sum.within(order, worst)
}

/// The maximum number of calls for one question: one, retries for every error class, and one more
/// when it was too long.
fn attempts() -> u32 {
    2 + ErrorClass::ALL.iter().map(|class| class.retries()).sum::<u32>()
}

/// For each participant, a call that fills the window and gets the longest answer.
fn full_window(services: &Services, order: &Spec) -> Vec<(Usage, Option<Price>)> {
    let voiced = voices(services, order).into_iter().filter_map(|(_, voice)| voice);
    let method = services.registry.method(&order.consensus.method);
    let longest = method.map_or(order.manner.max_tokens, |it| (it.longest)(order));
    let full = |voice: Voice| {
        let written = (u64::from(longest) + voice.most_thinking()).max(voice.window / 4);
        (Usage::new(voice.window, written), voice.price)
    };
    voiced.map(full).collect()
}

/// Whether earlier turns may be summarized by a paid model.
fn may_sum_up(services: &Services, order: &Spec) -> bool {
    let (sums, settings) = (&[0, 1_000, 2_000, 3_000, 4_000], &order.settings);
    let crowded = Length { sums, summary: None, room: 2_000, settings };
    let sums_up = |it: &ContextStrategy| (it.fit)(&crowded).sum_up.is_some();
    let strategy = |name: &str| services.registry.strategy(name);
    order.window.overflow == WindowSpec::ASK
        || strategy(&order.window.overflow).is_some_and(|it| it.overflow == OnOverflow::SumsUp)
        || strategy(&order.window.strategy).is_some_and(sums_up)
}
