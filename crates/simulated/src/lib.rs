//! Voices without a model: they take positions, answer each other and change their minds, the same
//! way every time.
//!
//! Everything a voice says is determined by the seed, its name, the topic, the step and the talk so
//! far, never by a clock or by random. The sentences come from `bank/*.toml`. The engine marks the
//! results of such discussions as simulated.
//!
//! The crate depends only on the engine. A voice copies some properties of the provider whose name
//! it has; the program passes the lookup to [`SimulatedVoices::new`].

mod bank;
mod critique;
mod filler;
mod forms;
mod mind;
mod random;
mod speech;
mod stream;
mod table;
mod topic;
mod voices;
pub mod world;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use futures::{
    future::{self, BoxFuture},
    stream::BoxStream,
};
use quorum_core::{
    call::Call,
    model::{
        error::{ErrorClass, ProviderError},
        participant::Participant,
        spec::Simulation,
    },
    seams::{Chunk, Provider},
};

pub use self::voices::{FindProfile, Profile, SimulatedVoices};
use self::{mind::Mind, random::Random, stream::Answer};

/// The wait that a simulated rate limit asks for.
const RETRY_AFTER_MS: u64 = 50;

/// A simulated provider.
#[derive(Debug, Clone)]
pub struct Simulated {
    simulation: Simulation,
    strengths: &'static [String],
}

impl Simulated {
    /// A provider with this behaviour; the strengths are for seats that have none of their own.
    #[must_use]
    pub fn new(simulation: Simulation, strengths: &'static [String]) -> Self {
        Simulated { simulation, strengths }
    }

    fn check_outage(&self, who: &Participant) -> Result<(), ProviderError> {
        let dead = self.simulation.dead.iter().any(|it| it.eq_ignore_ascii_case(&who.provider));
        if dead { Err(ProviderError::new(ErrorClass::Network, "simulated outage")) } else { Ok(()) }
    }

    fn random(&self, call: &Call) -> Random {
        let spec = &call.spec;
        Random::seeded(self.simulation.seed)
            .derive(&spec.topic)
            .derive(&call.participant.name)
            .derive(call.step.as_str())
    }

    /// The error of this attempt, if it should fail.
    fn failure(&self, call: &Call) -> Option<ProviderError> {
        let random = self.random(call).derive("failure").derive(&call.attempt.to_string());
        let fails = random.fraction() < self.simulation.failure;
        fails.then(|| match random.derive("class").below(3) {
            0 => ProviderError::new(ErrorClass::Network, "simulated broken connection"),
            1 => ProviderError::new(ErrorClass::ApiError, "simulated trouble at the provider"),
            _ => ProviderError {
                retry_after_ms: Some(RETRY_AFTER_MS),
                ..ProviderError::new(ErrorClass::RateLimit, "simulated rate limit")
            },
        })
    }

    /// How long this answer duration: the configured latency, plus or minus a tenth.
    fn duration(&self, call: &Call) -> Duration {
        let about = 0.9 + 0.2 * self.random(call).derive("latency").fraction();
        Duration::from_millis(self.simulation.latency_ms).mul_f64(about)
    }
}

impl Provider for Simulated {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let duration = self.duration(&call);
        match self.check_outage(&call.participant).err().or_else(|| self.failure(&call)) {
            Some(error) => stream::failing(error, duration),
            None => stream::answering(&call, answer(&Mind::of(&call, self)), duration),
        }
    }

    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(future::ready(self.check_outage(who)))
    }
}

fn answer(mind: &Mind<'_>) -> Answer {
    if let Some((text, topic)) = speech::wants_to_convene(mind) {
        return Answer { text, convene: Some(topic) };
    }
    let text = match &mind.call.shape {
        Some(shape) => forms::answer(mind, shape),
        None => critique::speech_for(mind),
    };
    Answer { text, convene: None }
}
