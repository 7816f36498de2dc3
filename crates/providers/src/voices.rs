//! Who answers for whom: the voices of a process, simulated and real, with a lane for each provider.

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
    seams::{Embedder, Provider, Voice, Voices},
};

use crate::{
    catalog,
    command::Spoken,
    health::Health,
    http::{Remote, Vectoriser, Web},
    simulated::Simulated,
    source::{Endpoint, Facts, Source, Way},
    wire::Model,
};

/// Simulated voices wait for nobody; the number only has to be larger than any test's.
const WIDTH: Width = Width::at_once(10_000);

/// They cost nothing, and it is known that they do.
const FREE: Price = Price::new(Usd::ZERO, Usd::ZERO);

/// The window of a provider that isn't in the catalogue.
const WINDOW: u64 = 128_000;

/// A provider's name has so many bytes at most.
const LONGEST_NAME: usize = 64;

/// Answers for every provider: simulated in discussions that are simulated, the provider itself in others.
#[derive(Debug, Default)]
pub struct AllVoices {
    simulated: SimulatedVoices,
    real: BTreeMap<String, Line>,
    web: Web,
}

/// A provider with what all its calls share.
#[derive(Debug)]
struct Line {
    source: Source,
    lane: Arc<Lane>,
    health: Arc<Health>,
}

impl AllVoices {
    /// The voices of these providers.
    #[must_use]
    pub fn of(sources: Vec<Source>) -> Self {
        let line = |source: Source| {
            let lane = Arc::new(Lane::new(source.width));
            (source.name.clone(), Line { source, lane, health: Arc::default() })
        };
        AllVoices { real: sources.into_iter().map(line).collect(), ..AllVoices::default() }
    }

    fn real(&self, who: &Participant) -> Option<Voice> {
        let line = self.real.get(&who.provider)?;
        let Line { source, lane, .. } = line;
        let name = who.model.as_deref().unwrap_or(&source.model);
        let facts = source.facts(name);
        let provider: Arc<dyn Provider> = match &source.way {
            Way::Http(endpoint) => Arc::new(self.remote(line, endpoint, name)),
            // The program's own choice answers unless a model is named, for this seat or in the configuration.
            Way::Command(program) => {
                Arc::new(Spoken::new(program.clone(), Some(name), source.patience).ok()?)
            }
        };
        Some(Voice {
            provider,
            lane: lane.clone(),
            price: facts.price,
            window: facts.window,
            thinking: facts.quirks.thinking,
        })
    }
}

impl AllVoices {
    fn remote(&self, line: &Line, endpoint: &Arc<Endpoint>, model: &str) -> Remote {
        let Facts { quirks, window, .. } = line.source.facts(model);
        Remote {
            web: self.web.clone(),
            endpoint: endpoint.clone(),
            model: Model { name: model.to_owned(), quirks, window },
            patience: line.source.patience,
            health: line.health.clone(),
            lane: line.lane.clone(),
        }
    }

    /// The embedding model written as `provider/model`.
    fn vectoriser(&self, written: &str) -> Option<Vectoriser> {
        let (provider, model) = written.split_once('/')?;
        let name = catalog::row(provider).map_or(provider, |row| &row.name);
        let line = self.real.get(name)?;
        let Way::Http(endpoint) = &line.source.way else { return None };
        let (embedding, remote) = (endpoint.wire.embedding?, self.remote(line, endpoint, model));
        let price = line.source.models.get(model).and_then(|facts| facts.price);
        Some(Vectoriser { remote, embedding, price })
    }
}

impl Voices for AllVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        if spec.simulation.is_some() { self.simulated.voice(spec, who) } else { self.real(who) }
    }

    fn embedder(&self, spec: &Spec) -> Option<Arc<dyn Embedder>> {
        let vectoriser = self.vectoriser(spec.debate.embeddings.as_deref()?)?;
        Some(Arc::new(vectoriser))
    }
}

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
            thinking: 0,
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
