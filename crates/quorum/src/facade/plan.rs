//! What an order would come to, before anybody is asked: who is asked in which order, and the most it can take.

mod course;
mod rehearsal;
mod understudy;

use quorum_core::{
    engine::shared::Shared,
    model::{
        error::ErrorClass,
        money::{Price, Usage, Usd},
        participant::Participant,
        spec::Spec,
    },
    registry::{ContextStrategy, Length, OnOverflow},
    seams::Voice,
};
use serde::Serialize;

use self::{
    rehearsal::{Rehearsed, rehearse},
    understudy::Question,
};
use crate::{Error, Quorum};

/// What a discussion would come to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The question.
    pub topic: String,
    /// How it is held.
    pub pattern: String,
    /// How it is decided.
    pub consensus: String,
    /// Whether the voices are simulated.
    pub simulated: bool,
    /// Who sits there.
    pub participants: Vec<PlannedSeat>,
    /// Who is asked in which order, when nothing fails and nothing ends it early.
    pub course: Vec<PlannedPhase>,
    /// What that takes at most, every answer being as long as it may be.
    pub usual: Figures,
    /// What it can take at the very most: every reply misread, every call failing as often as it is repeated, within the limits given.
    pub most: Figures,
    /// Who has no known price; what they cost is in no sum.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
    /// Who can't take part: there is no such provider here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
    /// Whether participants may convene sub-discussions; `usual` does not know of those, `most` does.
    pub sub_discussions: bool,
    /// The time for everything, in milliseconds.
    pub budget_ms: u64,
}

/// Somebody at the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedSeat {
    /// Under which name.
    pub participant: String,
    /// In which part.
    pub role: String,
    /// Whether it is a person, who is waited for and costs nothing.
    pub person: bool,
    /// How often it is asked when nothing fails.
    pub calls: u32,
}

/// A phase of a round.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedPhase {
    /// The round; none where it is decided, after all rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The phase.
    pub phase: String,
    /// Who is asked, one group after the other; those of a group at once.
    pub asked: Vec<Vec<String>>,
}

/// How much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Calls to providers.
    pub calls: u32,
    /// Tokens, read and written.
    pub tokens: u64,
    /// USD for those whose price is known.
    pub cost_usd: f64,
}

impl Quorum {
    /// What an order that was checked would come to. Asks nobody and records nothing.
    ///
    /// The figures are for one undisturbed process: a call that was under way when a process died is
    /// made again, and may be paid twice.
    pub(super) async fn plan(&self, order: &Spec) -> Result<Plan, Error> {
        let shared = self.0.engine.shared();
        let rehearsed = rehearse(shared, order).await?;
        let voices = voices(shared, order);
        let named = |wanted: fn(&Option<Voice>) -> bool| -> Vec<String> {
            voices.iter().filter(|(_, voice)| wanted(voice)).map(|(who, _)| who.name.clone()).collect()
        };
        Ok(Plan {
            topic: order.topic.clone(),
            pattern: order.pattern.clone(),
            consensus: order.consensus.method.clone(),
            simulated: order.simulation.is_some(),
            participants: order.participants.iter().map(|it| seat(it, &rehearsed.usual)).collect(),
            course: course::course(&rehearsed.facts),
            usual: usual(order, &rehearsed.usual),
            most: most(shared, order, &rehearsed),
            unpriced: named(|voice| voice.as_ref().is_some_and(|it| it.price.is_none())),
            unavailable: named(Option::is_none),
            sub_discussions: order.recursion.is_some(),
            budget_ms: order.timing.total_ms,
        })
    }
}

fn voices<'o>(shared: &Shared, order: &'o Spec) -> Vec<(&'o Participant, Option<Voice>)> {
    let models = order.participants.iter().filter(|it| !it.is_person());
    models.map(|who| (who, shared.voices.voice(order, who))).collect()
}

fn seat(who: &Participant, asked: &[Question]) -> PlannedSeat {
    let calls = asked.iter().filter(|it| it.participant == who.name).count() as u32;
    PlannedSeat { participant: who.name.clone(), role: who.role.to_string(), person: who.is_person(), calls }
}

/// A sum that only grows.
#[derive(Clone, Copy, Default)]
struct Sum {
    calls: u32,
    tokens: u64,
    usd: Usd,
}

impl Sum {
    fn add(&mut self, times: u32, usage: Usage, price: Option<Price>) {
        let many = u64::from(times);
        self.calls = self.calls.saturating_add(times);
        self.tokens = self.tokens.saturating_add(usage.total().saturating_mul(many));
        self.usd += price.map(|it| it.of(usage)).unwrap_or_default().times(many);
    }

    /// What the limits leave of it.
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

/// What one call takes at the worst.
#[derive(Clone, Copy, Default)]
struct Worst {
    tokens: u64,
    usd: Usd,
}

impl Worst {
    fn or(self, usage: Usage, price: Option<Price>) -> Worst {
        let usd = price.map(|it| it.of(usage)).unwrap_or_default();
        Worst { tokens: self.tokens.max(usage.total()), usd: self.usd.max(usd) }
    }
}

fn usual(order: &Spec, asked: &[Question]) -> Figures {
    let (mut sum, mut worst) = (Sum::default(), Worst::default());
    for question in asked {
        sum.add(1, question.usual, question.price);
        worst = worst.or(question.usual, question.price);
    }
    sum.within(order, worst)
}

fn most(shared: &Shared, order: &Spec, rehearsed: &Rehearsed) -> Figures {
    let (mut sum, mut worst) = (Sum::default(), Worst::default());
    for question in rehearsed.all.values() {
        sum.add(attempts(), question.most, question.price);
        worst = worst.or(question.most, question.price);
    }
    let full = full_window(shared, order);
    if may_sum_up(shared, order) {
        let talk = rehearsed.all.values().filter(|it| it.phase != "deciding").count() as u32;
        // Before each question, and once more for whoever was shown too much.
        full.iter().for_each(|(usage, price)| sum.add(2 * talk * attempts(), *usage, *price));
        worst = full.iter().fold(worst, |worst, (usage, price)| worst.or(*usage, *price));
    }
    if order.recursion.is_some() {
        // How many sub-discussions there will be nobody knows; there is always a limit on the calls of all of them together.
        worst = full.iter().fold(worst, |worst, (usage, price)| worst.or(*usage, *price));
        sum = Sum { calls: u32::MAX, tokens: u64::MAX, usd: worst.usd.times(u64::MAX) };
    }
    sum.within(order, worst)
}

/// How often one question is put to a provider at most: once, again for every class of failure, and once more when it was too long.
fn attempts() -> u32 {
    2 + ErrorClass::ALL.iter().map(|class| class.retries()).sum::<u32>()
}

/// A call that fills the window and is answered at length, by each of them.
fn full_window(shared: &Shared, order: &Spec) -> Vec<(Usage, Option<Price>)> {
    let voiced = voices(shared, order).into_iter().filter_map(|(_, voice)| voice);
    let full = |voice: Voice| {
        let written = u64::from(order.manner.max_tokens.saturating_add(voice.thinking)).max(voice.window / 4);
        (Usage::new(voice.window, written), voice.price)
    };
    voiced.map(full).collect()
}

/// Whether what was said may be summed up by somebody who is paid for it.
fn may_sum_up(shared: &Shared, order: &Spec) -> bool {
    let (sums, settings) = (&[0, 1_000, 2_000, 3_000, 4_000], &order.settings);
    let crowded = Length { sums, summary: None, room: 2_000, settings };
    let sums_up = |it: &ContextStrategy| (it.fit)(&crowded).sum_up.is_some();
    let strategy = |name: &str| shared.registry.strategy(name);
    strategy(&order.window.overflow).is_some_and(|it| it.overflow == OnOverflow::SumsUp)
        || strategy(&order.window.strategy).is_some_and(sums_up)
}
