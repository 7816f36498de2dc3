//! Provides simulated voices: one for every seat of a simulated discussion, with a lane for each
//! provider.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use quorum_core::{
    call::lane::{Lane, Width},
    model::{
        money::{Price, Usd},
        participant::Participant,
        spec::Spec,
    },
    seams::{Voice, Voices},
};

use crate::Simulated;

/// Simulated voices never queue; the limit only has to exceed that of any test.
pub(crate) const WIDTH: Width = Width::at_once(10_000);

/// Simulated voices are free, and that price is known.
pub(crate) const FREE: Price = Price::new(Usd::ZERO, Usd::ZERO);

/// The context window of a provider without a profile.
pub(crate) const WINDOW: u64 = 128_000;

/// The maximum length of a provider's name in bytes.
const LONGEST_NAME: usize = 64;

/// What a simulated voice copies from the provider whose name it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// The provider's strengths, best first; for seats that have none of their own.
    pub strengths: &'static [String],
    /// The context window of its usual model in tokens.
    pub window: u64,
}

/// Looks up the profile of a provider; `None` if the provider is unknown.
pub type FindProfile = fn(&str) -> Option<Profile>;

/// Voices for every provider in simulated discussions, and for none in others.
#[derive(Debug)]
pub struct SimulatedVoices {
    find_profile: FindProfile,
    lanes: Mutex<BTreeMap<String, Arc<Lane>>>,
}

impl SimulatedVoices {
    /// Voices with profiles from this lookup. It is passed in because the provider catalogue is in
    /// another crate, which this one doesn't depend on.
    #[must_use]
    pub fn new(find_profile: FindProfile) -> Self {
        SimulatedVoices { find_profile, lanes: Mutex::default() }
    }

    fn lane(&self, provider: &str) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.entry(provider.to_owned()).or_insert_with(|| Arc::new(Lane::new(WIDTH))).clone()
    }
}

impl Voices for SimulatedVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let simulation = spec.simulation.clone().filter(|_| is_name(&who.provider))?;
        let unknown = Profile { strengths: &[], window: WINDOW };
        let Profile { strengths, window } = (self.find_profile)(&who.provider).unwrap_or(unknown);
        Some(Voice {
            provider: Arc::new(Simulated::new(simulation, strengths)),
            // The provider's usual model is not asked.
            model: who.model.clone(),
            lane: self.lane(&who.provider),
            price: Some(FREE),
            window,
            thinking: 0,
            is_small: window <= Voice::SMALL_WINDOW,
            follows_schemas: true,
        })
    }
}

fn is_name(provider: &str) -> bool {
    let plain = |it: char| it.is_alphanumeric() || "-_./:".contains(it);
    let begins = provider.chars().next().is_some_and(char::is_alphanumeric);
    begins && provider.len() <= LONGEST_NAME && provider.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        let good = ["claude", "gpt-4.1", "openrouter/qwen", "model_a", "ann"];
        assert!(good.into_iter().all(is_name));
        assert!(!["", "two words", "-p", "a\nb", &"x".repeat(65)].into_iter().any(is_name));
    }
}
