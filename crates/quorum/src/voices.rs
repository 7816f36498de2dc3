//! Chooses the voice of each seat: a simulated one in a simulated discussion, the provider's
//! otherwise.

use std::sync::Arc;

use quorum_core::{
    model::{participant::Participant, spec::Spec},
    seams::{Embedder, Voice, Voices},
};
use quorum_providers::{RealVoices, catalog, source::Source};
use quorum_simulated::Profile;
pub use quorum_simulated::{
    SimulatedVoices,
    world::{self, WorldVoices},
};

/// The voices of a process, simulated and real.
pub struct AllVoices {
    simulated: SimulatedVoices,
    real: Arc<dyn Voices>,
    world: Option<Arc<WorldVoices>>,
}

impl AllVoices {
    /// Creates simulated voices beside the real ones of these providers.
    #[must_use]
    pub fn of(sources: Vec<Source>) -> Self {
        AllVoices::beside(Arc::new(RealVoices::of(sources)))
    }

    /// Creates simulated voices beside these real ones.
    #[must_use]
    pub fn beside(real: Arc<dyn Voices>) -> Self {
        AllVoices { simulated: simulated(), real, world: None }
    }

    /// The same with the voices of a reference world, for discussions that are simulated in it.
    #[must_use]
    pub fn with_world(self, world: Option<Arc<WorldVoices>>) -> Self {
        AllVoices { world, ..self }
    }
}

impl Voices for AllVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        match &spec.simulation {
            // Another world's voices would answer something else.
            Some(simulation) if simulation.world.is_some() => {
                let own = |it: &&Arc<WorldVoices>| simulation.world == Some(it.world().to_string());
                self.world.as_ref().filter(own)?.voice(spec, who)
            }
            Some(_) => self.simulated.voice(spec, who),
            None => self.real.voice(spec, who),
        }
    }

    fn providers(&self) -> Option<Vec<String>> {
        self.real.providers()
    }

    fn embedder(&self, spec: &Spec, model: &str) -> Option<Arc<dyn Embedder>> {
        self.real.embedder(spec, model)
    }
}

/// Creates simulated voices with the strengths and windows of the catalogue's providers, and no
/// real ones.
#[must_use]
pub fn simulated() -> SimulatedVoices {
    SimulatedVoices::new(profile)
}

fn profile(provider: &str) -> Option<Profile> {
    let row = catalog::row(provider)?;
    Some(Profile { strengths: &row.strengths, window: row.window })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use quorum_core::{call::lane::Width, model::spec::Simulation};
    use quorum_providers::{
        source::{Endpoint, ModelInfo, Timeouts, Transport},
        wire::{Quirks, wire},
    };
    use quorum_testkit::spec::spec;

    use super::*;

    fn source(name: &str) -> Source {
        let endpoint = Endpoint {
            base: "http://127.0.0.1:9".parse().unwrap(),
            wire: wire("openai-chat").unwrap(),
            key: None,
            key_names: Vec::new(),
            key_path: None,
        };
        Source {
            name: name.to_owned(),
            transport: Transport::Http(Arc::new(endpoint)),
            model: "alpha-1".to_owned(),
            usual: ModelInfo { window: 4_096, price: None, quirks: Quirks::default() },
            models: BTreeMap::new(),
            width: Width::at_once(1),
            timeouts: Timeouts::default(),
        }
    }

    #[test]
    fn a_seat_has_a_simulated_voice_in_a_simulated_discussion_and_a_real_one_in_others() {
        let voices = AllVoices::of(vec![source("gemini")]);
        let real = spec("synthesis");
        let simulation = Simulation {
            seed: 7,
            latency_ms: 0,
            failure: 0.0,
            stubbornness: 0.5,
            dead: Vec::new(),
            world: None,
        };
        let simulated = Spec { simulation: Some(simulation), ..real.clone() };
        let window = |spec: &Spec, provider: &str| {
            voices.voice(spec, &Participant::of(provider)).map(|voice| voice.window)
        };
        // The source says 4,096, the catalogue 1,000,000, and a name in neither has the default
        // window.
        assert_eq!([window(&real, "gemini"), window(&real, "ann")], [Some(4_096), None]);
        assert_eq!(
            [window(&simulated, "gemini"), window(&simulated, "ann")],
            [Some(1_000_000), Some(128_000)]
        );
    }

    #[test]
    fn a_simulated_voice_has_the_strengths_of_its_row_by_any_of_its_names() {
        let claude = catalog::row("claude").unwrap();
        let expected = Profile { strengths: &claude.strengths, window: claude.window };
        assert_eq!(
            [profile("claude"), profile("Anthropic"), profile("ann")],
            [Some(expected), Some(expected), None]
        );
    }
}
