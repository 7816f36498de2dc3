//! The voices of a world as a provider: they answer in the form that a call asks for.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures::{
    future::{self, BoxFuture},
    stream::BoxStream,
};
use quorum_core::{
    call::{Call, Message, lane::Lane},
    model::{
        error::{ErrorClass, ProviderError},
        participant::Participant,
        spec::Spec,
    },
    seams::{Chunk, Provider, Voice, Voices},
};
use serde_json::json;

use super::{Heard, Lots, NAMES, World, persuaded};
use crate::{
    stream::{self, Answer},
    voices::{FREE, WIDTH, WINDOW},
};

/// The voices of one world, and what is true in it.
pub struct WorldVoices {
    world: Arc<World>,
    truth: Arc<RwLock<HashMap<String, usize>>>,
    lane: Arc<Lane>,
}

impl WorldVoices {
    /// The voices of this world, which know of no question yet.
    #[must_use]
    pub fn new(world: World) -> Self {
        WorldVoices { world: Arc::new(world), truth: Arc::default(), lane: Arc::new(Lane::new(WIDTH)) }
    }

    /// The world.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Makes the option at this place the right one of a topic.
    pub fn know(&self, topic: &str, right: usize) {
        self.truth.write().unwrap_or_else(PoisonError::into_inner).insert(topic.to_owned(), right);
    }
}

impl Voices for WorldVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let simulation = spec.simulation.as_ref()?;
        let place = NAMES.iter().position(|it| *it == who.provider)?;
        let (world, truth) = (self.world.clone(), self.truth.clone());
        let (latency_ms, seed) = (simulation.latency_ms, simulation.seed);
        Some(Voice {
            provider: Arc::new(WorldVoice { world, truth, place, latency_ms, seed }),
            model: None,
            lane: self.lane.clone(),
            price: Some(FREE),
            window: WINDOW,
            thinking: 0,
            is_small: false,
            follows_schemas: true,
        })
    }
}

struct WorldVoice {
    world: Arc<World>,
    truth: Arc<RwLock<HashMap<String, usize>>>,
    place: usize,
    latency_ms: u64,
    /// The seed of the discussion: another one gives other draws of the same voice.
    seed: u64,
}

impl Provider for WorldVoice {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let duration = Duration::from_millis(self.latency_ms);
        match self.answer(&call) {
            Ok(text) => stream::answering(&call, Answer { text, convene: None }, duration),
            Err(error) => stream::failing(error, duration),
        }
    }

    fn check<'a>(&'a self, _: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(future::ready(Ok(())))
    }
}

impl WorldVoice {
    fn answer(&self, call: &Call) -> Result<String, ProviderError> {
        let options = &call.spec.options;
        let topic = &call.spec.topic;
        let known = self.truth.read().unwrap_or_else(PoisonError::into_inner).get(topic).copied();
        let right = known.filter(|it| *it < options.len());
        let right = right.ok_or_else(|| {
            ProviderError::new(ErrorClass::Validation, "this world does not know the question")
        })?;
        let positions = Positions::heard(call);
        let drawn = self.world.draw(topic, self.place, &self.number_of_draw(call), (options.len(), right));
        let option = match positions.with_own(self.place, drawn.option) {
            Some(heard) => self.after_talk(call, &heard, right),
            None => drawn.option,
        };
        Ok(worded(call, self.place, option, drawn.confidence, &positions))
    }

    /// A second seat of the same voice, a later round and another seed are further draws.
    fn number_of_draw(&self, call: &Call) -> String {
        let seat = call.participant.name.strip_prefix(&call.participant.provider).unwrap_or_default();
        format!("{}/{seat}/{}", self.seed, round(call).max(1))
    }

    fn after_talk(&self, call: &Call, heard: &Heard, right: usize) -> usize {
        let place = self.place.to_string();
        let purpose = ["talk", &call.spec.topic, &place, call.step.as_str()];
        let mut lots = Lots::of(self.world.seed ^ self.seed.rotate_left(32), &purpose);
        persuaded(&self.world.talk, heard, right, &mut lots)
    }
}

/// The round in the name of a call's step.
fn round(call: &Call) -> u32 {
    call.step.as_str().split('/').next().and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// How a voice of a world states its position, so that the others can tell who holds what.
const HELD: &str = "Held: ";

/// The last position of each voice that a call shows, by the place of the voice.
#[derive(Debug, Default)]
struct Positions(BTreeMap<usize, usize>);

impl Positions {
    fn heard(call: &Call) -> Positions {
        let mut positions = Positions::default();
        for message in &call.messages {
            match message {
                Message::Said { turn, .. } => positions.read(&turn.text, call),
                Message::Ask(text) => positions.read(text, call),
                Message::Found { text, .. } => positions.read(text, call),
            }
        }
        positions
    }

    /// Reads `Held: B #2` wherever it occurs.
    fn read(&mut self, text: &str, call: &Call) {
        for part in text.split(HELD).skip(1) {
            let mut words = part.split_whitespace();
            let option = words.next().and_then(|it| call.spec.options.iter().position(|option| option == it));
            let number = words.next().and_then(|it| it.strip_prefix('#')).map(digits);
            let voice = number.and_then(|it| it.parse::<usize>().ok());
            if let Some((option, voice)) = option.zip(voice) {
                self.0.insert(voice, option);
            }
        }
    }

    /// The answers that this voice has read; `None` if it has read none.
    fn with_own(&self, place: usize, drawn: usize) -> Option<Heard> {
        let others: Vec<usize> = self.0.iter().filter(|it| *it.0 != place).map(|it| *it.1).collect();
        let own = self.0.get(&place).copied().unwrap_or(drawn);
        (!others.is_empty()).then_some(Heard { own, others })
    }

    /// The answer of most voices; the writer's own where that is a tie.
    fn plurality(&self, own: usize) -> usize {
        let count = |option: usize| self.0.values().filter(|it| **it == option).count();
        let best = self.0.values().copied().max_by_key(|it| (count(*it), usize::from(*it == own)));
        best.unwrap_or(own)
    }
}

fn digits(text: &str) -> &str {
    &text[..text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len())]
}

/// The answer in the form that the call asks for.
fn worded(call: &Call, place: usize, option: usize, confidence: f64, positions: &Positions) -> String {
    let letter = |option: usize| call.spec.options.get(option).map_or("", String::as_str);
    let held = format!("{HELD}{} #{place}.", letter(option));
    match &call.shape {
        None => format!("{held}\n\nAnswer: {}\nConfidence: {confidence:.2}", letter(option)),
        Some(shape) if asks_choice(shape.schema.as_deref()) => {
            json!({ "reasoning": held, "choice": letter(option), "confidence": confidence }).to_string()
        }
        // The writer of the panel's answer goes by heads.
        Some(shape) => {
            let written = format!("Answer: {}", letter(positions.plurality(option)));
            shape.form.stubbed(shape.schema.as_deref(), &written)
        }
    }
}

fn asks_choice(schema: Option<&serde_json::Value>) -> bool {
    schema.is_some_and(|it| it.pointer("/properties/choice/enum").is_some())
}
