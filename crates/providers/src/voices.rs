//! Provides the voices of real providers, with one lane per provider.

use std::{collections::BTreeMap, sync::Arc};

use quorum_core::{
    call::lane::Lane,
    model::{participant::Participant, spec::Spec},
    seams::{Embedder, Provider, Voice, Voices},
};

use crate::{
    catalog,
    command::CommandProvider,
    health::Health,
    http::{HttpClients, HttpEmbedder, Remote},
    model_size,
    setup::address::is_this_machine,
    source::{Endpoint, ModelInfo, Source, Transport},
    wire::{Model, Quirks, Schema},
};

/// The voices of the configured providers. Never used in a simulated discussion, which must cost
/// nothing.
#[derive(Debug, Default)]
pub struct RealVoices {
    connections: BTreeMap<String, Connection>,
    clients: HttpClients,
}

/// A provider with the state that all its calls share.
#[derive(Debug)]
struct Connection {
    source: Source,
    lane: Arc<Lane>,
    health: Arc<Health>,
}

impl RealVoices {
    /// The voices of these providers.
    #[must_use]
    pub fn of(sources: Vec<Source>) -> Self {
        let connection = |source: Source| {
            let lane = Arc::new(Lane::new(source.width));
            (source.name.clone(), Connection { source, lane, health: Arc::default() })
        };
        RealVoices { connections: sources.into_iter().map(connection).collect(), ..RealVoices::default() }
    }

    fn voice_of(&self, who: &Participant) -> Option<Voice> {
        let connection = self.connections.get(&who.provider)?;
        let Connection { source, lane, .. } = connection;
        let name = who.model.as_deref().unwrap_or(&source.model);
        let info = source.model_info(name);
        let provider: Arc<dyn Provider> = match &source.transport {
            Transport::Http(endpoint) => Arc::new(self.remote(connection, endpoint, name)),
            // The program chooses the model unless one is named, for this seat or in the
            // configuration.
            Transport::Command(program) => {
                Arc::new(CommandProvider::new(program.clone(), Some(name), source.timeouts).ok()?)
            }
        };
        Some(Voice {
            provider,
            // A program without a configured model chooses its own.
            model: Some(name.to_owned()).filter(|it| !it.is_empty()),
            lane: lane.clone(),
            price: info.price,
            window: info.window,
            thinking: info.quirks.thinking,
            is_small: info.window <= Voice::SMALL_WINDOW || is_small_and_local(source, name),
            follows_schemas: follows_schemas(&source.transport, &info.quirks),
        })
    }
}

/// Whether the provider enforces a schema. A program on this machine is only asked to follow one.
fn follows_schemas(transport: &Transport, quirks: &Quirks) -> bool {
    matches!(transport, Transport::Http(_)) && quirks.schema == Schema::Strict
}

/// Whether the model runs on this machine and is too small for long instructions.
fn is_small_and_local(source: &Source, model: &str) -> bool {
    let Transport::Http(endpoint) = &source.transport else { return false };
    is_this_machine(&endpoint.base) && model_size::is_small(model)
}

impl RealVoices {
    fn remote(&self, connection: &Connection, endpoint: &Arc<Endpoint>, model: &str) -> Remote {
        let ModelInfo { quirks, window, .. } = connection.source.model_info(model);
        Remote {
            clients: self.clients.clone(),
            endpoint: endpoint.clone(),
            model: Model { name: model.to_owned(), quirks, window },
            timeouts: connection.source.timeouts,
            health: connection.health.clone(),
            lane: connection.lane.clone(),
        }
    }

    /// The embedding model written as `provider/model`.
    fn embedder_of(&self, written: &str) -> Option<HttpEmbedder> {
        let (provider, model) = written.split_once('/')?;
        let name = catalog::row(provider).map_or(provider, |row| &row.name);
        let connection = self.connections.get(name)?;
        let Transport::Http(endpoint) = &connection.source.transport else { return None };
        let (embedding, remote) = (endpoint.wire.embedding?, self.remote(connection, endpoint, model));
        let price = connection.source.models.get(model).and_then(|info| info.price);
        Some(HttpEmbedder { remote, embedding, price })
    }
}

impl Voices for RealVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        if spec.simulation.is_some() { None } else { self.voice_of(who) }
    }

    fn providers(&self) -> Option<Vec<String>> {
        let aliases = |name: &String| catalog::row(name).map(|row| row.aliases.clone()).unwrap_or_default();
        let names = self.connections.keys();
        Some(names.flat_map(|name| [name.clone()].into_iter().chain(aliases(name))).collect())
    }

    fn embedder(&self, _: &Spec, model: &str) -> Option<Arc<dyn Embedder>> {
        let embedder_of = self.embedder_of(model)?;
        Some(Arc::new(embedder_of))
    }
}
