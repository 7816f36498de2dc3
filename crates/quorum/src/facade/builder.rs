//! Builds a [`Quorum`] from a program's parts: a store, voices, a clock, a configuration.
//!
//! The user's files and providers are used, and voices simulated, only if the program says so.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use quorum_core::{
    engine::{Engine, services::Services},
    memory::MemoryStore,
    registry::{Consensus, ContextStrategy, Detector, Pattern, Registry},
    seams::{Archive, Clock, Node, Store, Telemetry, Voices},
};
use quorum_providers::RealVoices;
use quorum_store::SqliteStore;

use super::{Inner, Quorum, spending};
use crate::{
    Config, Error,
    agents::Folders,
    clock::{SystemClock, machine},
    config::make_directory,
    request::{MissingRoles, Setting, Voicing, flags},
    setup::{self, Machine, Setup, supervisor::Supervisor},
    telemetry::{self, TracingStatus},
    voices::{AllVoices, WorldVoices, simulated},
    workflow::tools::ToolBox,
};

/// Collects the parts of a [`Quorum`].
pub struct Builder {
    registry: Registry,
    config: Option<Config>,
    store: Storage,
    voices: VoiceOrigin,
    clock: Option<Arc<dyn Clock>>,
    simulating: Simulating,
    missing_roles: MissingRoles,
    program: Option<String>,
    supervisor: Option<Supervisor>,
    project: Option<PathBuf>,
    world: Option<Arc<WorldVoices>>,
    telemetry: TelemetryOrigin,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            registry: quorum_patterns::registry(),
            config: None,
            store: Storage::default(),
            voices: VoiceOrigin::default(),
            clock: None,
            simulating: Simulating::default(),
            missing_roles: MissingRoles::default(),
            program: None,
            supervisor: None,
            project: None,
            world: None,
            telemetry: TelemetryOrigin::default(),
        }
    }
}

/// When simulated voices answer although the request does not ask for them.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Simulating {
    #[default]
    Never,
    WithoutProviders,
    Always,
}

/// Where discussions are kept.
#[derive(Default)]
enum Storage {
    /// In memory, until the process ends.
    #[default]
    Memory,
    /// In the database of the configuration.
    User,
    /// In the program's own store.
    Given(StoreHandles),
}

/// The two interfaces of one store.
struct StoreHandles {
    store: Arc<dyn Store>,
    archive: Arc<dyn Archive>,
}

/// Where discussions are reported to.
#[derive(Default)]
enum TelemetryOrigin {
    /// Nowhere.
    #[default]
    Unset,
    /// Where the environment says.
    User,
    /// To the program's own telemetry.
    Given(Arc<dyn Telemetry>),
}

/// The source of voices.
#[derive(Default)]
enum VoiceOrigin {
    /// None was given.
    #[default]
    Unset,
    /// The providers of the configuration, the stored keys and this machine.
    User,
    /// The providers of this setup.
    SetUp(Setup),
    /// The program's own voices.
    Given(Arc<dyn Voices>),
    /// The program's own simulated voices.
    Simulated(Arc<dyn Voices>),
}

impl Builder {
    /// Uses the user's own configuration, database and providers, and traces discussions if the
    /// environment asks for it. Opens their database.
    #[must_use]
    pub fn user(mut self, config: Config) -> Self {
        (self.store, self.voices) = (Storage::User, VoiceOrigin::User);
        self.telemetry = TelemetryOrigin::User;
        self.config(config)
    }

    /// Reports discussions to this telemetry, whatever the environment says.
    #[must_use]
    pub fn telemetry(mut self, telemetry: Arc<dyn Telemetry>) -> Self {
        self.telemetry = TelemetryOrigin::Given(telemetry);
        self
    }

    /// Adds the program's own pattern.
    #[must_use]
    pub fn pattern(mut self, pattern: &'static Pattern) -> Self {
        self.registry = self.registry.with_patterns([pattern]);
        self
    }

    /// Adds the program's own consensus method.
    #[must_use]
    pub fn method(mut self, method: &'static Consensus) -> Self {
        self.registry = self.registry.with_methods([method]);
        self
    }

    /// Adds the program's own context strategy.
    #[must_use]
    pub fn context_strategy(mut self, strategy: &'static ContextStrategy) -> Self {
        self.registry = self.registry.with_strategies([strategy]);
        self
    }

    /// Adds the program's own detector.
    #[must_use]
    pub fn detector(mut self, detector: &'static Detector) -> Self {
        self.registry = self.registry.with_detectors([detector]);
        self
    }

    /// Replaces the whole vocabulary; the default is [`crate::built_in`].
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the configuration: defaults, presets and switches. Without one nothing is set.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Keeps discussions in this store; without one they are kept in memory.
    #[must_use]
    pub fn store<S: Store + Archive + 'static>(mut self, store: Arc<S>) -> Self {
        self.store = Storage::Given(StoreHandles { store: store.clone(), archive: store });
        self
    }

    /// Lets these voices answer, under the provider names they know.
    #[must_use]
    pub fn voices(mut self, voices: Arc<dyn Voices>) -> Self {
        self.voices = VoiceOrigin::Given(voices);
        self
    }

    /// Lets the providers of this setup answer.
    #[must_use]
    pub fn set_up(mut self, setup: Setup) -> Self {
        self.voices = VoiceOrigin::SetUp(setup);
        self
    }

    /// Lets simulated voices answer in every discussion started here.
    #[must_use]
    pub fn simulated(mut self) -> Self {
        self.simulating = Simulating::Always;
        self
    }

    /// The same with voices of the program's own: no model is asked, and every result is marked as
    /// simulated.
    #[must_use]
    pub fn simulated_by(mut self, voices: Arc<dyn Voices>) -> Self {
        self.voices = VoiceOrigin::Simulated(voices);
        self.simulated()
    }

    /// Lets simulated voices answer unless a provider is available.
    #[must_use]
    pub fn simulated_without_providers(mut self) -> Self {
        self.simulating = Simulating::WithoutProviders;
        self
    }

    /// Takes time and randomness from this clock instead of the system's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Assigns the roles that a debate lacks instead of demanding them.
    #[must_use]
    pub fn assigning_roles(mut self) -> Self {
        self.missing_roles = MissingRoles::Assign;
        self
    }

    /// Names this program to other processes: `NAME (process 12 on host)` runs a discussion.
    #[must_use]
    pub fn program(mut self, name: &str) -> Self {
        self.program = Some(name.to_owned());
        self
    }

    /// Ends the providers' local programs with this supervisor when the process dies, however it
    /// dies. Without one, a `kill -9` leaves them running until the next program is started.
    ///
    /// A program whose `main` calls [`serve`](crate::setup::supervisor::serve) first is its own
    /// supervisor, [`Supervisor::this_program`], and with [`Builder::user`] needs nothing else:
    ///
    /// ```no_run
    /// use quorum::{Config, Quorum, setup::supervisor};
    ///
    /// fn main() -> std::process::ExitCode {
    ///     if let Some(code) = supervisor::serve() {
    ///         return code;
    ///     }
    ///     let quorum = Config::load().map(|config| Quorum::builder().user(config).build());
    ///     // … what the program does with it.
    ///     # drop(quorum);
    ///     std::process::ExitCode::SUCCESS
    /// }
    /// ```
    ///
    /// This method is for providers that were given with [`Builder::set_up`], and for a supervisor
    /// binary other than the running one.
    #[must_use]
    pub fn supervisor(mut self, supervisor: Supervisor) -> Self {
        self.supervisor = Some(supervisor);
        self
    }

    /// Reads agents of the project that this directory is in, besides those of the user.
    #[must_use]
    pub fn project(mut self, directory: &Path) -> Self {
        self.project = Some(directory.to_owned());
        self
    }

    /// Lets the voices of this reference world answer in discussions that are simulated in it.
    #[must_use]
    pub fn world(mut self, world: Arc<WorldVoices>) -> Self {
        self.world = Some(world);
        self
    }

    /// Builds the [`Quorum`]. Returns [`Error::NoVoices`] if no voice could answer.
    pub fn build(self) -> Result<Quorum, Error> {
        let Builder {
            registry,
            config,
            store,
            voices,
            clock,
            simulating,
            missing_roles,
            program,
            supervisor,
            project,
            world,
            telemetry,
        } = self;
        registry.validate(&flags::reserved())?;
        let config = config.unwrap_or_default();
        // A store that can't be opened is reported before missing voices.
        let StoreHandles { store, archive } = store.opened(&config)?;
        let (voices, setup) = voices.found(&config, simulating, supervisor.as_ref(), world)?;
        let program = program.as_deref().unwrap_or("quorum");
        let name = format!("{program} (process {} on {})", std::process::id(), machine());
        let node = Node { config: config.digest(), lease_ms: config.lease_ms(), ..Node::fresh(&name) };
        let clock = clock.unwrap_or_else(|| Arc::new(SystemClock));
        let tools = Arc::new(ToolBox {
            archive: archive.clone(),
            clock: clock.clone(),
            declared: config.tools.clone(),
            supervisor: supervisor.clone(),
        });
        let caps = spending::configured(&config);
        let (telemetry, tracing) = telemetry.found();
        let services = Services { store, voices, tools, clock, registry: registry.clone(), caps, telemetry };
        let agents = Folders::beside(&config.file);
        let agents = project.map_or(agents.clone(), |it| agents.with_project(&it));
        let voicing = simulating.voicing(&setup);
        let setting = Setting { voicing, missing_roles, registry, agents, ..Setting::of(&setup) };
        let engine = Engine::new(services, node);
        let (locks, learned) = Default::default();
        let inner = Inner { engine, archive, config, setting, setup, owner: name, locks, learned, tracing };
        Ok(Quorum(Arc::new(inner)))
    }
}

impl Simulating {
    fn voicing(self, setup: &Setup) -> Voicing {
        match self {
            Simulating::Always => Voicing::Simulated,
            Simulating::WithoutProviders if setup.sources().is_empty() => Voicing::Simulated,
            Simulating::WithoutProviders | Simulating::Never => Voicing::Real,
        }
    }
}

impl Storage {
    fn opened(self, config: &Config) -> Result<StoreHandles, Error> {
        Ok(match self {
            Storage::Given(handles) => handles,
            Storage::Memory => StoreHandles::of(Arc::new(MemoryStore::new())),
            #[cfg(feature = "postgres")]
            Storage::User if let Some(url) = &config.store.url => {
                let address = quorum_store_postgres::Address::parse(url.secret())?;
                StoreHandles::of(Arc::new(quorum_store_postgres::PostgresStore::open(address)?))
            }
            Storage::User => {
                make_directory(&config.data_dir).map_err(|error| Error::DataDirectory {
                    directory: config.data_dir.clone(),
                    reason: error.to_string(),
                })?;
                StoreHandles::of(Arc::new(SqliteStore::open(config.database())?))
            }
        })
    }
}

impl TelemetryOrigin {
    fn found(self) -> (Option<Arc<dyn Telemetry>>, TracingStatus) {
        match self {
            TelemetryOrigin::Unset => (None, TracingStatus::Off),
            TelemetryOrigin::User => telemetry::set_up(&|name| std::env::var(name).ok()),
            TelemetryOrigin::Given(telemetry) => (Some(telemetry), TracingStatus::Off),
        }
    }
}

impl StoreHandles {
    fn of<S: Store + Archive + 'static>(store: Arc<S>) -> Self {
        StoreHandles { store: store.clone(), archive: store }
    }
}

type VoicesAndSetup = (Arc<dyn Voices>, Setup);

impl VoiceOrigin {
    /// The voices, and the setup of the providers behind them.
    fn found(
        self,
        config: &Config,
        simulating: Simulating,
        supervisor: Option<&Supervisor>,
        world: Option<Arc<WorldVoices>>,
    ) -> Result<VoicesAndSetup, Error> {
        match self {
            VoiceOrigin::Unset if simulating == Simulating::Never => Err(Error::NoVoices),
            VoiceOrigin::Unset => {
                let voices = AllVoices::beside(Arc::new(simulated())).with_world(world);
                Ok((Arc::new(voices), Setup::default()))
            }
            VoiceOrigin::Given(voices) => {
                Ok((Arc::new(AllVoices::beside(voices).with_world(world)), Setup::default()))
            }
            VoiceOrigin::Simulated(voices) => Ok((voices, Setup::default())),
            VoiceOrigin::SetUp(setup) => Ok(voices_of(setup, supervisor, world)),
            VoiceOrigin::User => Ok(voices_of(setup::load(config, &Machine::this())?, supervisor, world)),
        }
    }
}

fn voices_of(
    setup: Setup,
    supervisor: Option<&Supervisor>,
    world: Option<Arc<WorldVoices>>,
) -> VoicesAndSetup {
    let setup = match supervisor {
        Some(supervisor) => setup.supervised_by(supervisor),
        None => setup,
    };
    let real = Arc::new(RealVoices::of(setup.sources()));
    (Arc::new(AllVoices::beside(real).with_world(world)), setup)
}
