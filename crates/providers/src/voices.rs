//! Who answers for whom: the simulated voices of a process, with a lane for each provider.

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

use crate::{catalog, simulated::Simulated};

/// Simulated voices wait for nobody; the number only has to be larger than any test's.
const WIDTH: Width = Width { concurrency: 10_000, per_minute: None };

/// They cost nothing, and it is known that they do.
const FREE: Price = Price::new(Usd::ZERO, Usd::ZERO);

/// The window of a provider that isn't in the catalogue.
const WINDOW: u64 = 128_000;

/// A provider's name has so many bytes at most.
const LONGEST_NAME: usize = 64;

/// Answers for every provider in discussions that are simulated, and for none in others.
#[derive(Debug, Default)]
pub struct SimulatedVoices {
    lanes: Mutex<BTreeMap<String, Arc<Lane>>>,
}

impl SimulatedVoices {
    fn lane(&self, provider: &str) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.entry(provider.to_owned()).or_insert_with(|| Arc::new(Lane::new(WIDTH))).clone()
    }
}

impl Voices for SimulatedVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let simulation = spec.simulation.clone().filter(|_| is_name(&who.provider))?;
        Some(Voice {
            provider: Arc::new(Simulated::new(simulation)),
            lane: self.lane(&who.provider),
            price: Some(FREE),
            window: catalog::row(&who.provider).map_or(WINDOW, |row| row.window),
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
