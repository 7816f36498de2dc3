//! Hands out the voices of real providers, with a lane for each provider.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    call::lane::Lane,
    model::{participant::Participant, spec::Spec},
    seams::{Embedder, Provider, Voice, Voices},
};

use crate::{
    catalog,
    command::Spoken,
    health::Health,
    http::{Remote, Vectoriser, Web},
    source::{Endpoint, Facts, Source, Way},
    wire::Model,
};

/// Answers for the providers that are set up, and never in a simulated discussion, which must cost
/// nothing.
#[derive(Debug, Default)]
pub struct RealVoices {
    lines: BTreeMap<String, Line>,
    web: Web,
}

/// A provider with what all its calls share.
#[derive(Debug)]
struct Line {
    source: Source,
    lane: Arc<Lane>,
    health: Arc<Health>,
}

impl RealVoices {
    /// The voices of these providers.
    #[must_use]
    pub fn of(sources: Vec<Source>) -> Self {
        let line = |source: Source| {
            let lane = Arc::new(Lane::new(source.width));
            (source.name.clone(), Line { source, lane, health: Arc::default() })
        };
        RealVoices { lines: sources.into_iter().map(line).collect(), ..RealVoices::default() }
    }

    fn real(&self, who: &Participant) -> Option<Voice> {
        let line = self.lines.get(&who.provider)?;
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

impl RealVoices {
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
        let line = self.lines.get(name)?;
        let Way::Http(endpoint) = &line.source.way else { return None };
        let (embedding, remote) = (endpoint.wire.embedding?, self.remote(line, endpoint, model));
        let price = line.source.models.get(model).and_then(|facts| facts.price);
        Some(Vectoriser { remote, embedding, price })
    }
}

impl Voices for RealVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        if spec.simulation.is_some() { None } else { self.real(who) }
    }

    fn embedder(&self, _: &Spec, model: &str) -> Option<Arc<dyn Embedder>> {
        let vectoriser = self.vectoriser(model)?;
        Some(Arc::new(vectoriser))
    }
}
