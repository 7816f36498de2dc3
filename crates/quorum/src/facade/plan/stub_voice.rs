//! Stub voices that call no provider. They answer with one word or fail, as scripted, and record
//! their questions.

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
        id::Step,
        money::{Price, Usage},
        participant::Participant,
        spec::Spec,
        transcript::Finish,
    },
    seams::{Chunk, Provider, Voice, Voices},
};

use super::typical;

/// The reply. Wherever it occurs in a prompt, a real answer would be quoted in full.
pub(super) const WORD: &str = "stub_voice";

/// The tokens of a stub's turn in a window, with everything around it.
const TURN_TOKENS: u64 = 64;

/// The tokens of our own prompt text in any request, including the reserve.
pub(super) const PROMPT_TEXT: u64 = 12_000;

/// The overhead around a question or a turn when it is sent, in bytes: roles, fences, names.
pub(super) const OVERHEAD: usize = 256;

/// How many times more tokens one model may count in a text than another.
const COUNT_SPREAD: u64 = 2;

/// The script of the stub voices.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// After how many reminders a structured reply can be read; `None` is never.
    pub(super) readable_after: Option<usize>,
    /// A phase in which every participant fails but the one named.
    pub(super) failing: Option<(String, String)>,
    /// Every speech. A longer one than [`WORD`] is for stubs that have the real windows.
    pub(super) speech: String,
}

/// A recorded question.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// Identifies the question, independently of when the discussion ends.
    pub(super) key: String,
    pub(super) phase: String,
    pub(super) participant: String,
    /// How many reminders preceded it.
    pub(super) reminders: usize,
    /// The usage if the answer is as long as it may be.
    pub(super) usual: Usage,
    /// The same if every text has the most tokens that any model could count.
    pub(super) most: Usage,
    pub(super) price: Option<Price>,
    /// How many more tokens the answer may have, if an attempt was all thinking.
    pub(super) more_thinking: u64,
    /// The parts of the prompt, for its typical usage.
    pub(super) asked: typical::Asked,
}

impl Question {
    /// The most that an attempt with more room to think uses.
    pub(super) fn with_room_to_think(&self) -> Usage {
        Usage { completion: self.most.completion.saturating_add(self.more_thinking), ..self.most }
    }
}

pub(super) type Asked = Arc<Mutex<Vec<Question>>>;

/// The stub voices of all participants.
pub(super) struct StubVoices {
    /// The original order: prices and windows are those of its own voices.
    pub(super) order: Arc<Spec>,
    /// The length of everything in it, in bytes.
    pub(super) given: usize,
    /// The token limit of its longest answer.
    pub(super) longest: u32,
    pub(super) real: Arc<dyn Voices>,
    pub(super) script: Script,
    pub(super) asked: Asked,
    /// Whether the stubs have the real windows, to find those that are too small.
    pub(super) real_windows: bool,
}

impl Voices for StubVoices {
    fn voice(&self, _: &Spec, who: &Participant) -> Option<Voice> {
        let real = self.real.voice(&self.order, who)?;
        let (price, window) = (real.price, real.window);
        let (script, asked, longest) = (self.script.clone(), self.asked.clone(), self.longest);
        let (thinking, most_thinking) = (real.thinking, real.most_thinking());
        let stub = StubVoice { script, asked, price, window, longest, thinking, most_thinking };
        let lane = Arc::new(Lane::new(Width::at_once(64)));
        let window =
            if self.real_windows { window } else { self.stub_window(window) + u64::from(real.thinking) };
        Some(Voice { provider: Arc::new(stub), lane, window, ..real })
    }
}

impl StubVoices {
    /// The stub's window: room for as many one-word turns as the real window has for turns of
    /// maximum length. More turns could not be shown, and a dry run of a thousand rounds ends in
    /// time.
    fn stub_window(&self, window: u64) -> u64 {
        let turns = window / u64::from(self.order.manner.max_tokens).max(1) + 2;
        turns.saturating_mul(TURN_TOKENS) + u64::from(self.longest) + 2 * self.given as u64 + PROMPT_TEXT
    }
}

struct StubVoice {
    script: Script,
    asked: Asked,
    price: Option<Price>,
    window: u64,
    longest: u32,
    thinking: u32,
    most_thinking: u64,
}

impl Provider for StubVoice {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let question = self.question(&call);
        let answer = self.script.answer(&call, &question);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question);
        match answer {
            Ok((text, finish)) => {
                let end = Chunk::End { finish, usage: None, cost: None };
                stream::iter([Ok(Chunk::Text(text)), Ok(end)]).boxed()
            }
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn check<'a>(&'a self, _: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        std::future::ready(Ok(())).boxed()
    }
}

impl StubVoice {
    fn question(&self, call: &Call) -> Question {
        let phase = call.step.as_str().split('/').nth(1).unwrap_or_default().to_owned();
        let (fixed, heard) = size_of(call, u64::from(self.longest));
        let prompt = |of_text: u64, of_turns: u64| (of_text + of_turns).min(self.window);
        let written = u64::from(call.max_tokens);
        Question {
            key: key(&call.step),
            participant: call.participant.name.clone(),
            reminders: questions_in(call).saturating_sub(1),
            usual: Usage::new(prompt(tokens::at_worst(fixed), heard), written),
            // A text has at most as many tokens as bytes for any model.
            most: Usage::new(prompt(fixed as u64, heard.saturating_mul(COUNT_SPREAD)), written),
            price: self.price,
            more_thinking: self.most_thinking - u64::from(self.thinking),
            asked: typical::Asked::of(call, (self.window, self.thinking)),
            phase,
        }
    }
}

/// The name of a question. If the discussion ends early, the decision happens in another round, but
/// only once.
pub(super) fn key(step: &Step) -> String {
    match step.as_str().split_once('/') {
        Some((_, rest)) if rest.split('/').next() == Some(DECIDING) => format!("*/{rest}"),
        _ => step.to_string(),
    }
}

/// Which of the options a stub chooses: no single one is chosen most often, as far as the number of
/// participants allows it, so that nothing is decided before all have been asked.
fn choice(call: &Call) -> usize {
    let speakers = call.spec.speakers();
    let place = speakers.iter().position(|it| it.name == call.participant.name).unwrap_or_default();
    let ways = (2..=call.spec.options.len()).find(|ways| speakers.len() % ways != 1);
    // With one too many for a tie, the last one decides.
    place % ways.unwrap_or(2.min(call.spec.options.len().max(1)))
}

/// The phase after every pattern.
const DECIDING: &str = "deciding";

fn questions_in(call: &Call) -> usize {
    call.messages.iter().filter(|it| matches!(it, Message::Ask(_))).count()
}

/// The size of a request: known bytes, and tokens of answers of maximum length. Structured replies
/// and quoted ones may be as long as the longest answer.
fn size_of(call: &Call, longest_answer: u64) -> (usize, u64) {
    let longest = u64::from(call.spec.manner.max_tokens);
    let quoted = |text: &str| text.matches(WORD).count() as u64 * longest_answer;
    let people = call.spec.participants.iter().any(Participant::is_person);
    let (mut bytes, mut heard) = (call.system.len() + OVERHEAD, quoted(&call.system));
    for message in &call.messages {
        match message {
            Message::Ask(text) => {
                bytes += text.len() + OVERHEAD;
                heard += quoted(text);
            }
            Message::Said { turn, .. } => {
                bytes += OVERHEAD;
                let name = call.labels.name(&turn.participant).unwrap_or(&turn.participant);
                let by_person = call.spec.seat(name).map_or(people, Participant::is_person);
                let of_model = if turn.form.is_some() { longest_answer } else { longest };
                heard += if by_person { MOST_SAID as u64 } else { of_model };
            }
            Message::Found { topic, .. } => {
                bytes += topic.len() + OVERHEAD;
                heard += longest;
            }
        }
    }
    // After a talk of real length, the topic is repeated.
    if heard > 0 {
        bytes += call.spec.topic.len() + OVERHEAD;
    }
    // Models that support structured output are sent the schema as well.
    let form = call.shape.as_ref().and_then(|it| it.schema.as_deref());
    (bytes + form.map_or(0, |it| it.to_string().len()), heard)
}

impl Script {
    /// The answer, and how it ends. An unreadable one was cut off, because the reminder then allows
    /// a longer answer.
    fn answer(&self, call: &Call, question: &Question) -> Result<(String, Finish), ProviderError> {
        let fails =
            |(phase, but): &(String, String)| *phase == question.phase && *but != question.participant;
        if self.failing.as_ref().is_some_and(fails) {
            // An error class that is not retried.
            return Err(ProviderError::new(ErrorClass::Validation, WORD));
        }
        let readable = self.readable_after.is_some_and(|after| question.reminders >= after);
        Ok(match &call.shape {
            Some(shape) if readable => {
                (shape.form.stubbed_at(shape.schema.as_deref(), WORD, choice(call)), Finish::Stop)
            }
            Some(_) => (WORD.to_owned(), Finish::Length),
            None => (self.speech.clone(), Finish::Stop),
        })
    }
}
