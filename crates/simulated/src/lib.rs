//! Voices without a model behind them: they take positions, answer each other and change their minds, the same way
//! every time.
//!
//! What one says follows from the seed, its name, the topic and the step, and from what it heard; never from a clock or
//! from chance. The words come from `bank/*.toml`. Results of such discussions are marked as simulated by the engine.
//!
//! The crate depends on `quorum-core` alone. What a voice copies from the provider whose name it
//! has is looked up by a function that the program hands to [`SimulatedVoices::new`].

mod bank;
mod chance;
mod critique;
mod filler;
mod forms;
mod mind;
mod speech;
mod stream;
mod table;
mod topic;
mod voices;

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
use self::{chance::Chance, mind::Mind, stream::Answer};

/// What a rate-limited voice asks us to wait.
const RETRY_AFTER_MS: u64 = 50;

/// A provider that only plays one.
#[derive(Debug, Clone)]
pub struct Simulated {
    simulation: Simulation,
    strengths: &'static [String],
}

impl Simulated {
    /// A provider that behaves like this; the strengths are for seats that have none of their own.
    #[must_use]
    pub fn new(simulation: Simulation, strengths: &'static [String]) -> Self {
        Simulated { simulation, strengths }
    }

    fn alive(&self, who: &Participant) -> Result<(), ProviderError> {
        let dead = self.simulation.dead.iter().any(|it| it.eq_ignore_ascii_case(&who.provider));
        if dead { Err(ProviderError::new(ErrorClass::Network, "simulated outage")) } else { Ok(()) }
    }

    fn chance(&self, call: &Call) -> Chance {
        let spec = &call.spec;
        Chance::seeded(self.simulation.seed).of(&spec.topic).of(&call.participant.name).of(call.step.as_str())
    }

    /// The failure of this attempt, if it is to fail.
    fn failure(&self, call: &Call) -> Option<ProviderError> {
        let chance = self.chance(call).of("failure").of(&call.attempt.to_string());
        let fails = chance.share() < self.simulation.failure;
        fails.then(|| match chance.of("class").below(3) {
            0 => ProviderError::new(ErrorClass::Network, "simulated broken connection"),
            1 => ProviderError::new(ErrorClass::ApiError, "simulated trouble at the provider"),
            _ => ProviderError {
                retry_after_ms: Some(RETRY_AFTER_MS),
                ..ProviderError::new(ErrorClass::RateLimit, "simulated rate limit")
            },
        })
    }

    /// How long this answer takes: what was ordered, a tenth more or less.
    fn takes(&self, call: &Call) -> Duration {
        let about = 0.9 + 0.2 * self.chance(call).of("latency").share();
        Duration::from_millis(self.simulation.latency_ms).mul_f64(about)
    }
}

impl Provider for Simulated {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let takes = self.takes(&call);
        match self.alive(&call.participant).err().or_else(|| self.failure(&call)) {
            Some(error) => stream::failing(error, takes),
            None => stream::answering(&call, answer(&Mind::of(&call, self)), takes),
        }
    }

    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(future::ready(self.alive(who)))
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
