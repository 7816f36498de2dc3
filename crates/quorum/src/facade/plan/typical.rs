//! The typical cost of a discussion: with answers as long as those models gave in the past, and
//! where nothing is recorded of them, as long as such answers usually are.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::{
    call::{Call, Message},
    model::{
        event::{Event, Fact},
        id::Seq,
        money::Usage,
        participant::Participant,
        spec::Spec,
        transcript::Turn,
    },
    seams::Wanted,
};

use super::{
    Figures, Sum,
    stub_voice::{OVERHEAD, Question, WORD},
};
use crate::{Error, Scope};

/// How many past discussions are looked at, and how many facts of each: enough for an average, and
/// quick to read.
const PAST: usize = 20;
const FACTS: usize = 2_000;

/// The usual length of an answer in tokens, where nothing is recorded: a speech, a form, and what
/// the decision is worded in.
const SPEECH: u64 = 450;
const FORM: u64 = 150;
const DECISION: u64 = 600;

/// The usual length of what a person says, in tokens.
const PERSON: u64 = 80;

/// The share of its thinking tokens that a model usually uses, as the denominator of a fraction.
const THOUGHT: u64 = 4;

/// The bytes of a token.
const BYTES: u64 = 4;

/// The kind of a call, by which answers differ in length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Speech,
    Form,
    Decision,
}

impl Kind {
    pub(super) fn of(call: &Call) -> Kind {
        match call.shape {
            _ if call.step.is_deciding() => Kind::Decision,
            Some(_) => Kind::Form,
            None => Kind::Speech,
        }
    }

    fn of_turn(turn: &Turn) -> Kind {
        match turn.form {
            _ if turn.step.is_deciding() => Kind::Decision,
            Some(_) => Kind::Form,
            None => Kind::Speech,
        }
    }

    fn usual(self) -> u64 {
        match self {
            Kind::Speech => SPEECH,
            Kind::Form => FORM,
            Kind::Decision => DECISION,
        }
    }
}

/// The parts of a question, for an estimate of its usual size.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) kind: Kind,
    /// The text that is known, in bytes.
    text: u64,
    /// How many earlier speeches, forms and turns of people are in it.
    speeches: u64,
    forms: u64,
    people: u64,
    /// How long the answer may be, and how much of that may be thoughts.
    longest: u64,
    thinking: u64,
    window: u64,
}

impl Asked {
    pub(super) fn of(call: &Call, (window, thinking): (u64, u32)) -> Asked {
        let schema = call.shape.as_ref().and_then(|it| it.schema.as_deref());
        let mut asked = Asked {
            kind: Kind::of(call),
            text: (call.system.len() + schema.map_or(0, |it| it.to_string().len())) as u64,
            speeches: quoted(&call.system),
            forms: 0,
            people: 0,
            longest: u64::from(call.max_tokens),
            thinking: u64::from(thinking),
            window,
        };
        call.messages.iter().for_each(|it| asked.add(call, it));
        asked
    }

    fn add(&mut self, call: &Call, message: &Message) {
        match message {
            Message::Ask(text) => {
                self.text += text.len() as u64;
                self.speeches += quoted(text);
            }
            Message::Said { turn, .. } => {
                self.text += OVERHEAD as u64;
                let name = call.labels.name(&turn.participant).unwrap_or(&turn.participant);
                match call.spec.seat(name).is_some_and(Participant::is_person) {
                    true => self.people += 1,
                    false if turn.form.is_some() => self.forms += 1,
                    false => self.speeches += 1,
                }
            }
            Message::Found { topic, .. } => {
                self.text += topic.len() as u64;
                self.speeches += 1;
            }
        }
    }

    /// What it usually takes, if everyone answers at these lengths.
    fn usage(&self, who: &str, lengths: &Lengths) -> Usage {
        let heard = self.speeches * lengths.average(Kind::Speech)
            + self.forms * lengths.average(Kind::Form)
            + self.people * PERSON;
        let usual = || self.kind.usual() + self.thinking / THOUGHT;
        let written = lengths.of(who, self.kind).unwrap_or_else(usual);
        Usage::new((self.text / BYTES + heard).min(self.window), written.min(self.longest))
    }
}

fn quoted(text: &str) -> u64 {
    text.matches(WORD).count() as u64
}

/// How long answers were in past discussions of the same models.
#[derive(Debug, Clone, Default)]
pub(in crate::facade) struct Lengths {
    /// The sum of tokens and the number of answers, by participant and kind.
    answers: BTreeMap<(String, Kind), (u64, u64)>,
    /// How many discussions they are from.
    discussions: u32,
}

impl Lengths {
    fn of(&self, who: &str, kind: Kind) -> Option<u64> {
        let (tokens, answers) = self.answers.get(&(who.to_owned(), kind))?;
        Some(tokens / answers)
    }

    /// The average over everyone.
    fn average(&self, kind: Kind) -> u64 {
        let (mut tokens, mut answers) = (0, 0);
        for (_, sum) in self.answers.iter().filter(|((_, it), _)| *it == kind) {
            tokens += sum.0;
            answers += sum.1;
        }
        tokens.checked_div(answers).unwrap_or_else(|| kind.usual())
    }

    /// Adds the answers of a past discussion that models of this panel gave. `models` are those of
    /// the panel: participant, provider and exact model.
    fn add(&mut self, facts: &[Fact], models: &[(String, String, Option<String>)]) {
        let Some(Event::Opened { spec, .. }) = facts.first().map(|it| &it.event) else { return };
        let mut used = BTreeSet::new();
        for turn in facts.iter().filter_map(answer) {
            let provider = spec.seat(&turn.participant).map(|it| it.provider.as_str());
            let same = |(_, of, model): &&(String, String, Option<String>)| {
                Some(of.as_str()) == provider && *model == turn.model
            };
            for (who, ..) in models.iter().filter(same) {
                let sum = self.answers.entry((who.clone(), Kind::of_turn(turn))).or_default();
                *sum = (sum.0 + turn.bill.usage.completion, sum.1 + 1);
                used.insert(who);
            }
        }
        self.discussions += u32::from(!used.is_empty());
    }
}

/// A paid answer of a model.
fn answer(fact: &Fact) -> Option<&Turn> {
    match &fact.event {
        Event::TurnCompleted { turn } if !turn.reused && turn.bill.usage.completion > 0 => Some(turn),
        _ => None,
    }
}

/// The typical figures of these questions, and how many past discussions they are from.
pub(super) fn typical(order: &Spec, questions: &[Question], lengths: &Lengths) -> (Figures, u32) {
    let mut sum = Sum::default();
    for question in questions {
        let usage = question.asked.usage(&question.participant, lengths);
        let cost = question.price.map(|it| it.of(usage)).unwrap_or_default();
        sum.add(1, usage, cost);
    }
    let Sum { calls, tokens, usd } = sum;
    let figures = Figures {
        calls: order.limits.calls.map_or(calls, |limit| limit.min(calls)),
        tokens: order.limits.tokens.map_or(tokens, |limit| limit.min(tokens)),
        cost_usd: order.limits.usd.map_or(usd, |limit| limit.min(usd)).dollars(),
    };
    (figures, lengths.discussions)
}

impl Scope {
    /// How long the answers of this order's models were in the newest discussions of this tenant.
    /// Simulated ones count only for simulated ones.
    pub(in crate::facade) async fn past_lengths(&self, order: &Spec) -> Result<Lengths, Error> {
        let services = self.quorum.0.engine.services();
        let models: Vec<_> = super::voices(services, order)
            .into_iter()
            .filter_map(|(who, voice)| Some((who.name.clone(), who.provider.clone(), voice?.model)))
            .collect();
        let wanted = Wanted { limit: PAST, tenant: Some(self.tenant.clone()), ..Wanted::default() };
        let mut lengths = Lengths::default();
        for past in self.archive().list(wanted).await? {
            if past.simulated == order.simulation.is_some() {
                let facts = services.store.read(past.id, Seq::START, FACTS).await?;
                lengths.add(&facts, &models);
            }
        }
        Ok(lengths)
    }
}
