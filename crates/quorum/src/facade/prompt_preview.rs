//! Previews of prompts: an order is run in memory with simulated voices, to show every request as
//! it would be sent.
//!
//! The preview of an order is always the same, because its clock and its random numbers are fixed.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{future::BoxFuture, stream::BoxStream};
use quorum_core::{
    call::{Call, MessageRole, tokens::Family},
    engine::{Engine, services::Services},
    memory::MemoryStore,
    model::{
        error::ProviderError,
        participant::Participant,
        spec::{Simulation, Spec},
        time::Timestamp,
    },
    seams::{Chunk, Clock, NoTools, Node, Provider, Voice, Voices},
};
use serde::Serialize;
use serde_json::Value;

use super::plan::run_to_the_end;
use crate::{Error, Quorum, voices::simulated};

/// A request to a model, as it would be sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentRequest {
    /// The step: round, phase and participant.
    pub step: String,
    /// The participant that is asked.
    pub participant: String,
    /// The round.
    pub round: u32,
    /// The form of the answer, if it must have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The JSON schema of that form, for providers that support structured output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// How much the model should think, if it has a setting for that: `low` or `high`. Absent if
    /// the model decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<&'static str>,
    /// The sampling temperature.
    pub temperature: f64,
    /// The maximum number of tokens of the answer.
    pub max_tokens: u32,
    /// The system text.
    pub system: String,
    /// The messages in order.
    pub messages: Vec<SentMessage>,
    /// The tokens of system text and messages, by our count.
    pub tokens: u64,
    /// How many of them repeat the beginning of an earlier request to the same participant, so that
    /// a provider may have them cached.
    pub repeated_tokens: u64,
}

/// A message of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The text.
    pub text: String,
}

impl Quorum {
    /// Previews a checked order: every request of a discussion in which nothing fails, answered by
    /// simulated voices. Asks no model and records nothing.
    pub(super) async fn rehearse(&self, order: &Spec) -> Result<Vec<SentRequest>, Error> {
        let spec = Spec { simulation: Some(SIMULATION), session: None, ..order.clone() };
        let sent = Sent::default();
        let services = Services {
            store: Arc::new(MemoryStore::new()),
            voices: Arc::new(RecordingVoices { voices: Arc::new(simulated()), sent: sent.clone() }),
            tools: Arc::new(NoTools),
            clock: Arc::new(FixedClock::default()),
            registry: self.0.engine.services().registry.clone(),
            caps: BTreeMap::new(),
            telemetry: None,
        };
        let engine = Engine::new(services, Node::fresh("a preview of prompts"));
        let id = engine.open(spec).await?;
        run_to_the_end(&engine, id).await?;
        let calls = std::mem::take(&mut *sent.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(requests(&calls))
    }
}

const SIMULATION: Simulation =
    Simulation { seed: 7, latency_ms: 0, failure: 0.0, stubbornness: 0.5, dead: Vec::new(), world: None };

type Sent = Arc<Mutex<Vec<Arc<Call>>>>;

/// Voices that also record their calls.
struct RecordingVoices {
    voices: Arc<dyn Voices>,
    sent: Sent,
}

impl Voices for RecordingVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let voice = self.voices.voice(spec, who)?;
        let recording = RecordingProvider { provider: voice.provider.clone(), sent: self.sent.clone() };
        Some(Voice { provider: Arc::new(recording), ..voice })
    }
}

struct RecordingProvider {
    provider: Arc<dyn Provider>,
    sent: Sent,
}

impl Provider for RecordingProvider {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(call.clone());
        self.provider.reply(call)
    }

    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        self.provider.check(who)
    }
}

/// A clock that doesn't advance, and that draws the same numbers in every preview.
#[derive(Default)]
struct FixedClock {
    drawn: AtomicU64,
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn draw(&self) -> u64 {
        // Consecutive numbers, spread over all bits by an odd multiplier and a shift.
        let spread = self.drawn.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(SPREAD);
        spread ^ (spread >> 29)
    }
}

/// 2^64 divided by the golden ratio, made odd.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The requests of these calls.
fn requests(calls: &[Arc<Call>]) -> Vec<SentRequest> {
    let mut earlier: HashMap<&str, Vec<String>> = HashMap::new();
    let mut requests = Vec::with_capacity(calls.len());
    for call in calls {
        let (request, whole) = request(call);
        let before = earlier.entry(call.participant.name.as_str()).or_default();
        let repeated = before.iter().map(|it| common_start(it, &whole)).max().unwrap_or_default();
        let repeated_tokens = Family::of(&call.participant).estimate(&whole[..repeated]);
        before.push(whole);
        requests.push(SentRequest { repeated_tokens, ..request });
    }
    requests
}

/// The request of a call, and all its text as one.
fn request(call: &Call) -> (SentRequest, String) {
    let messages = call.render().into_iter().map(|(role, text)| {
        let role = match role {
            MessageRole::Assistant => "assistant",
            MessageRole::User => "user",
        };
        SentMessage { role, text }
    });
    let messages: Vec<SentMessage> = messages.collect();
    let mut whole = call.system.to_string();
    for message in &messages {
        whole.extend(["\n", message.role, "\n", &message.text]);
    }
    let request = SentRequest {
        step: call.step.to_string(),
        participant: call.participant.name.clone(),
        round: call.round,
        form: call.shape.as_ref().map(|it| it.form.kind.to_owned()),
        schema: call.shape.as_ref().and_then(|it| it.schema.as_deref().cloned()),
        effort: call.effort.name(),
        temperature: call.temperature,
        max_tokens: call.max_tokens,
        system: call.system.to_string(),
        messages,
        tokens: Family::of(&call.participant).estimate(&whole),
        repeated_tokens: 0,
    };
    (request, whole)
}

/// How many bytes two texts have in common at the start.
fn common_start(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    same.map(|it| it.0.len_utf8()).sum()
}
