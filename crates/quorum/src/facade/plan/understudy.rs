//! Understudies: voices that ask nobody. They answer in a word, or fail, as a script says, and keep what they were asked.

use std::sync::{Arc, Mutex, PoisonError};

use futures::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use quorum_core::{
    call::{
        Call, Message,
        lane::{Lane, Width},
        tokens,
    },
    engine::MOST_SAID,
    model::{
        error::{ErrorClass, ProviderError},
        money::{Price, Usage},
        participant::Participant,
        spec::Spec,
        transcript::Finish,
    },
    seams::{Chunk, Provider, Voice, Voices},
};

/// What they say. Wherever it is found in a prompt, a real answer would be quoted in full.
pub(super) const WORD: &str = "understudy";

/// The tokens of a turn of theirs in a window, and of everything around it.
const TURN: u64 = 64;

/// The tokens of our own words in any request, what is kept free included.
const WORDS: u64 = 12_000;

/// So much is around a question or a turn when it is sent: roles, fences, names.
const AROUND: usize = 256;

/// A text may have more tokens for one model than for another.
const OTHER_COUNT: u64 = 2;

/// How they behave.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// After how many reminders a reply with a form can be read; `None` is never.
    pub(super) readable_after: Option<usize>,
    /// In this phase everyone fails but the one named.
    pub(super) failing: Option<(String, String)>,
}

/// A question that was put to somebody.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// What tells it from all others, whenever the talk ends.
    pub(super) key: String,
    pub(super) phase: String,
    pub(super) participant: String,
    /// How often the reply had been complained about.
    pub(super) reminders: usize,
    /// What answering takes when it is as long as it may be.
    pub(super) usual: Usage,
    /// The same where every text has as many tokens as any model could count.
    pub(super) most: Usage,
    pub(super) price: Option<Price>,
}

pub(super) type Asked = Arc<Mutex<Vec<Question>>>;

/// Everyone's understudies.
pub(super) struct Understudies {
    /// The order as it was given: prices and windows are those of its own voices.
    pub(super) order: Arc<Spec>,
    /// How long everything in it is, in bytes.
    pub(super) given: usize,
    pub(super) real: Arc<dyn Voices>,
    pub(super) script: Script,
    pub(super) asked: Asked,
}

impl Voices for Understudies {
    fn voice(&self, _: &Spec, who: &Participant) -> Option<Voice> {
        let real = self.real.voice(&self.order, who)?;
        let (price, window) = (real.price, real.window);
        let understudy = Understudy { script: self.script.clone(), asked: self.asked.clone(), price, window };
        let lane = Arc::new(Lane::new(Width::at_once(64)));
        let window = self.room(window) + u64::from(real.thinking);
        Some(Voice { provider: Arc::new(understudy), lane, window, ..real })
    }
}

impl Understudies {
    /// Room for as many turns of a word as would fill the real window if they were as long as they may be: more of them can't be shown,
    /// and a rehearsal of a thousand rounds is over in time.
    fn room(&self, window: u64) -> u64 {
        let longest = u64::from(self.order.manner.max_tokens);
        let turns = window / longest.max(1) + 2;
        turns.saturating_mul(TURN) + longest + 2 * self.given as u64 + WORDS
    }
}

struct Understudy {
    script: Script,
    asked: Asked,
    price: Option<Price>,
    window: u64,
}

impl Provider for Understudy {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let question = self.question(&call);
        let answer = self.script.answer(&call, &question);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question);
        match answer {
            Ok(text) => {
                let end = Chunk::End { finish: Finish::Stop, usage: None, cost: None };
                stream::iter([Ok(Chunk::Text(text)), Ok(end)]).boxed()
            }
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn check<'a>(&'a self, _: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        std::future::ready(Ok(())).boxed()
    }
}

impl Understudy {
    fn question(&self, call: &Call) -> Question {
        let mut parts = call.step.as_str().splitn(3, '/');
        let (round, phase, rest) = (parts.next(), parts.next(), parts.next().unwrap_or_default());
        let phase = phase.unwrap_or_default().to_owned();
        // When the talk ends early, it is decided in another round, but only once.
        let round = round.filter(|_| phase != DECIDING).unwrap_or("*");
        let (fixed, heard) = read(call);
        let prompt = |of_text: u64, of_turns: u64| (of_text + of_turns).min(self.window);
        let written = u64::from(call.max_tokens);
        Question {
            key: format!("{round}/{phase}/{rest}"),
            participant: call.participant.name.clone(),
            reminders: asks(call).saturating_sub(1),
            usual: Usage::new(prompt(tokens::at_worst(fixed), heard), written),
            // No model makes more tokens of a text than it has bytes.
            most: Usage::new(prompt(fixed as u64, heard.saturating_mul(OTHER_COUNT)), written),
            price: self.price,
            phase,
        }
    }
}

/// The phase after every pattern.
const DECIDING: &str = "deciding";

fn asks(call: &Call) -> usize {
    call.messages.iter().filter(|it| matches!(it, Message::Ask(_))).count()
}

/// What is sent: bytes that are known, and tokens of answers as long as they may be.
fn read(call: &Call) -> (usize, u64) {
    let longest = u64::from(call.spec.manner.max_tokens);
    let quoted = |text: &str| text.matches(WORD).count() as u64 * longest;
    let people = call.spec.participants.iter().any(Participant::is_person);
    let (mut bytes, mut heard) = (call.system.len() + AROUND, quoted(&call.system));
    for message in &call.messages {
        match message {
            Message::Ask(text) => {
                bytes += text.len() + AROUND;
                heard += quoted(text);
            }
            Message::Said { turn, .. } => {
                bytes += AROUND;
                // Whoever stands behind a label may be a person.
                let by_person = call.spec.seat(&turn.participant).map_or(people, Participant::is_person);
                heard += if by_person { MOST_SAID as u64 } else { longest };
            }
            Message::Found { topic, .. } => {
                bytes += topic.len() + AROUND;
                heard += longest;
            }
        }
    }
    // Models with a form of their own for replies are sent that as well.
    let form = call.shape.as_ref().and_then(|it| it.schema.as_deref());
    (bytes + form.map_or(0, |it| it.to_string().len()), heard)
}

impl Script {
    fn answer(&self, call: &Call, question: &Question) -> Result<String, ProviderError> {
        let fails =
            |(phase, but): &(String, String)| *phase == question.phase && *but != question.participant;
        if self.failing.as_ref().is_some_and(fails) {
            // Of a class that nobody tries again.
            return Err(ProviderError::new(ErrorClass::Validation, WORD));
        }
        let readable = self.readable_after.is_some_and(|after| question.reminders >= after);
        let form = call.shape.as_ref().filter(|_| readable);
        Ok(form.map_or_else(|| WORD.to_owned(), |it| it.form.stubbed(it.schema.as_deref(), WORD)))
    }
}
