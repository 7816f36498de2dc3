//! The door itself: what there is to choose from, checking and starting discussions, and what they amount to.

mod configured;
mod discussion;
mod fork;
mod health;
mod judge;
mod lists;
mod plan;
mod providers;
mod say;
mod scope;
mod steering;
mod turnstile;

use std::sync::Arc;

use quorum_core::{
    craft::{Consensus, ContextStrategy, Crafts, Pattern},
    engine::{Engine, handle::Handle, shared::Shared},
    model::{
        error::Refusal,
        event::Fact,
        id::{DiscussionId, Seq},
        outcome::Outcome,
        spec::Spec,
        state::State,
    },
    seams::{Archive, Store, StoreError, Voices},
};
use quorum_patterns::{CONSENSUS, CONTEXTS, DETECTORS, PATTERNS, detect::Detector};
use quorum_store::SqliteStore;

use crate::{
    Config, Error, Request,
    clock::{SystemClock, machine},
    config::make_directory,
    request::{MissingRoles, Setting, again::changed, draft, flags::field_of},
    setup::{self, Machine, Setup},
    voices::AllVoices,
};

pub use configured::complaints;
pub use discussion::Discussion;
pub use fork::Forking;
pub use plan::{Figures, Plan, PlannedPhase, PlannedSeat};
pub use providers::{ModelEntry, PresetEntry, PriceEntry, ProviderEntry};
pub use scope::{OrderKey, Scope, Started};
pub use steering::{Resumed, Steered};

/// How much of a record is read at once.
const FACTS_AT_ONCE: usize = 1_000;

/// All discussions of one store.
pub struct Quorum {
    engine: Engine,
    archive: Arc<dyn Archive>,
    config: Config,
    setting: Setting,
    setup: Setup,
    owner: String,
    turnstile: turnstile::Turnstile,
}

impl Quorum {
    /// Opens the user's store.
    pub fn open(config: Config) -> Result<Quorum, Error> {
        let database = config.database();
        make_directory(&config.data_dir).map_err(|error| {
            let directory = config.data_dir.display();
            StoreError::Unusable(format!(
                "discussions can't be kept in {directory}: {error}; set AX_DATA_DIR to a directory that can be written to"
            ))
        })?;
        let setup = setup::load(&config, &Machine::this())?;
        let store = Arc::new(SqliteStore::open(&database)?);
        let quorum = Quorum::over(config, store, Arc::new(AllVoices::of(setup.sources())));
        Ok(quorum.set_up(setup))
    }

    /// The same, knowing which providers can be asked.
    #[must_use]
    pub fn set_up(mut self, setup: Setup) -> Self {
        let missing_roles = self.setting.missing_roles;
        self.setting = Setting { missing_roles, ..Setting::of(&setup) };
        self.setup = setup;
        self
    }

    /// What the user has set up.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Over any store and any voices; for tests and for programs that bring their own.
    pub fn over<S: Store + Archive + 'static>(
        config: Config,
        store: Arc<S>,
        voices: Arc<dyn Voices>,
    ) -> Quorum {
        let owner = format!("ax (process {} on {})", std::process::id(), machine());
        let archive: Arc<dyn Archive> = store.clone();
        let crafts = Crafts { patterns: PATTERNS, consensus: CONSENSUS, contexts: CONTEXTS };
        let shared = Shared { store, voices, clock: Arc::new(SystemClock), crafts };
        let engine = Engine::new(shared, owner.clone());
        let (setting, setup) = (Setting::default(), Setup::default());
        let turnstile = turnstile::Turnstile::default();
        Quorum { engine, archive, config, setting, setup, owner, turnstile }
    }

    /// The same, handing out the roles a debate lacks instead of demanding them.
    #[must_use]
    pub fn assigning_roles(mut self) -> Self {
        self.setting.missing_roles = MissingRoles::Assign;
        self
    }

    /// The same with real voices for these providers; for programs that bring their own. Where there are none, voices are simulated.
    #[must_use]
    pub fn with_providers(mut self, available: Vec<String>) -> Self {
        self.setting.available = available;
        self
    }

    /// The user's configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The patterns there are.
    #[must_use]
    pub fn patterns() -> &'static [Pattern] {
        PATTERNS
    }

    /// The consensus methods there are.
    #[must_use]
    pub fn methods() -> &'static [Consensus] {
        CONSENSUS
    }

    /// The ways to show a talk that outgrows a model's window.
    #[must_use]
    pub fn window_strategies() -> &'static [ContextStrategy] {
        CONTEXTS
    }

    /// What can be noticed about a debate.
    #[must_use]
    pub fn detectors() -> &'static [Detector] {
        DETECTORS
    }

    /// What a request amounts to, or everything that is wrong with it. Costs nothing.
    pub fn check(&self, request: &Request) -> Result<Spec, Error> {
        self.known_preset(request)?;
        let preset = request.preset.as_deref();
        let (request, filled) = self.config.fill(request);
        self.check_filled(&request).map_err(|refusals| {
            Error::Refused(refusals.into_iter().map(|it| self.say_where(it, &filled, preset)).collect())
        })
    }

    /// The order of a past discussion with these changes, checked anew. Costs nothing.
    pub async fn again(&self, id: DiscussionId, changes: &Request) -> Result<Spec, Error> {
        self.known_preset(changes)?;
        let past = self.state(id).await?;
        let request = changed(&Request::of(&past.spec), &self.config.fill_from_preset(changes));
        // The past order has its defaults; those of today are not its own.
        self.check_filled(&request).map_err(|refusals| {
            let note = |it: Refusal| Refusal { message: format!("{} (again from {id})", it.message), ..it };
            Error::Refused(refusals.into_iter().map(note).collect())
        })
    }

    fn check_filled(&self, request: &Request) -> Result<Spec, Vec<Refusal>> {
        let (spec, mut refusals) = draft(request, &self.setting);
        let further = self.engine.refusals(&spec).into_iter().map(in_requests_words);
        let is_new = |it: &Refusal| !refusals.iter().any(|known| known.field == it.field);
        let further: Vec<Refusal> = further.filter(is_new).collect();
        refusals.extend(further);
        if refusals.is_empty() { Ok(spec) } else { Err(refusals) }
    }

    /// Starts a discussion.
    pub async fn start(&self, request: &Request) -> Result<Handle, Error> {
        self.begin(self.check(request)?).await
    }

    /// Starts the discussion that was checked.
    pub async fn begin(&self, spec: Spec) -> Result<Handle, Error> {
        self.switched_on()?;
        Ok(self.engine.begin(spec).await?)
    }

    /// Records what was ordered, for somebody to resume.
    pub async fn prepare(&self, spec: Spec) -> Result<DiscussionId, Error> {
        self.switched_on()?;
        Ok(self.engine.open(spec).await?)
    }

    /// What a discussion amounts to so far.
    pub async fn state(&self, id: DiscussionId) -> Result<State, Error> {
        Ok(self.engine.state(id).await?)
    }

    /// Its result, or as much as there is.
    pub async fn outcome(&self, id: DiscussionId) -> Result<Outcome, Error> {
        Ok(Outcome::of(&self.state(id).await?))
    }

    /// What happened in it after this number, in order.
    pub async fn facts(&self, id: DiscussionId, after: Seq) -> Result<Vec<Fact>, Error> {
        let mut facts: Vec<Fact> = Vec::new();
        loop {
            let last = facts.last().map_or(after, |fact| fact.seq);
            let more = self.engine.shared().store.read(id, last, FACTS_AT_ONCE).await?;
            if more.is_empty() {
                return Ok(facts);
            }
            facts.extend(more);
        }
    }
}

/// Patterns speak of a spec's fields; users know those of a request.
fn in_requests_words(refusal: Refusal) -> Refusal {
    Refusal { field: field_of(&refusal.field).to_owned(), ..refusal }
}
