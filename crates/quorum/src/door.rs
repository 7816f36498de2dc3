//! The door itself: starts, resumes, steers and finds discussions.

mod configured;
mod discussion;
mod fork;
mod health;
mod judge;
mod plan;
mod providers;
mod say;
mod scope;
mod turnstile;

use std::sync::Arc;

use quorum_core::{
    craft::{Consensus, ContextStrategy, Crafts, Pattern},
    engine::{Engine, handle::Handle, shared::Shared},
    model::{
        command::Command,
        error::Refusal,
        event::Fact,
        id::{DiscussionId, Seq, Tenant},
        lifecycle::Lifecycle,
        outcome::Outcome,
        spec::Spec,
        state::State,
    },
    seams::{Archive, Claim, Clock, Session, Store, StoreError, Voices, Wanted},
};
use quorum_patterns::{CONSENSUS, CONTEXTS, DETECTORS, PATTERNS, detect::Detector};
use quorum_providers::AllVoices;
use quorum_store::SqliteStore;
use uuid::Uuid;

use crate::{
    Config, Error, Request,
    clock::{SystemClock, machine},
    config::make_directory,
    listing::{Entry, SessionEntry},
    request::{MissingRoles, Setting, again::changed, draft, flags::field_of},
    setup::{self, Machine, Setup},
};

pub use configured::complaints;
pub use discussion::Discussion;
pub use fork::Forking;
pub use plan::{Figures, Plan, PlannedPhase, PlannedSeat};
pub use providers::{ModelEntry, PresetEntry, PriceEntry, ProviderEntry};
pub use scope::{OrderKey, Scope, Started};

/// How long this process may look at a discussion before others may run it.
const GLANCE_MS: u64 = 5_000;

/// How many candidates an ambiguous id is answered with.
const CANDIDATES: usize = 5;

/// How much of a record is read at once.
const FACTS_AT_ONCE: usize = 1_000;

const DAY_MS: u64 = 86_400_000;

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

/// What became of a wish to go on.
pub enum Resumed {
    /// It runs here now.
    Running(Handle),
    /// It was over already.
    Over(Box<State>),
}

/// What became of a command.
pub enum Steered {
    /// Another process runs the discussion, and will take it.
    Sent {
        /// Who.
        to: String,
    },
    /// Nobody ran it, so it is carried out here.
    Here(Handle),
    /// Nobody runs it, so there is nothing to pause.
    Idle(Box<State>),
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

    /// Goes on with a discussion that nobody runs, be it paused, failed or left behind by a process that died.
    pub async fn resume(&self, id: DiscussionId) -> Result<Resumed, Error> {
        let state = self.state(id).await?;
        if is_over(&state) {
            return Ok(Resumed::Over(Box::new(state)));
        }
        self.take(id).await?;
        self.everyone_has_a_voice(&state)?;
        if self.is_held_back(id).await? {
            self.send(id, Command::Resume).await?;
        }
        Ok(Resumed::Running(self.engine.run(id).await?))
    }

    /// Whether it is paused, or would be at once because nobody took the pause that is in its inbox.
    async fn is_held_back(&self, id: DiscussionId) -> Result<bool, Error> {
        let state = self.state(id).await?;
        let waiting = self.engine.shared().store.commands(id, state.seen).await?;
        let waits = waiting.iter().any(|(_, command)| *command == Command::Pause);
        Ok(waits || state.lifecycle == Lifecycle::Paused || state.wish == Some(Command::Pause))
    }

    /// Passes a command on to whoever runs the discussion. Where nobody does, stop and abort are carried out here.
    pub async fn steer(&self, id: DiscussionId, command: Command) -> Result<Steered, Error> {
        let state = self.state(id).await?;
        if is_over(&state) {
            return Err(StoreError::Over(id).into());
        }
        let claim = match self.take(id).await {
            Ok(claim) => claim,
            Err(StoreError::Held { owner, .. }) => {
                self.send(id, command).await?;
                return Ok(Steered::Sent { to: owner });
            }
            Err(error) => return Err(error.into()),
        };
        match command {
            Command::Pause => {
                self.engine.shared().store.release(claim).await?;
                Ok(Steered::Idle(Box::new(state)))
            }
            Command::Resume
            | Command::Stop
            | Command::Abort
            | Command::Say(_)
            | Command::Judge(_)
            | Command::Note(_) => {
                if command != Command::Abort {
                    self.everyone_has_a_voice(&state)?;
                }
                self.send(id, command).await?;
                Ok(Steered::Here(self.engine.run(id).await?))
            }
        }
    }

    /// Puts a command into a discussion's inbox.
    pub async fn send(&self, id: DiscussionId, command: Command) -> Result<(), Error> {
        self.engine.send(id, command).await?;
        Ok(())
    }

    /// Makes sure that nobody else runs it. The engine takes it again under the same name.
    async fn take(&self, id: DiscussionId) -> Result<Claim, StoreError> {
        self.engine.shared().store.claim(id, &self.owner, GLANCE_MS).await
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

    /// The discussion meant by an id, the beginning of one, or `last`.
    pub async fn find(&self, given: &str) -> Result<DiscussionId, Error> {
        let given = given.trim().to_lowercase();
        if let Ok(id) = given.parse() {
            return Ok(id);
        }
        if given == "last" {
            let wanted = Wanted { limit: 1, ..Wanted::default() };
            return self.archive.list(wanted).await?.first().map(|it| it.id).ok_or(Error::NoneYet);
        }
        let could_be = !given.is_empty() && given.chars().all(|it| it.is_ascii_hexdigit() || it == '-');
        if !could_be {
            return Err(Error::NotFound(given));
        }
        let wanted = Wanted { limit: CANDIDATES, prefix: Some(given.clone()), ..Wanted::default() };
        match self.archive.list(wanted).await?.as_slice() {
            [] => Err(Error::NotFound(given)),
            [one] => Ok(one.id),
            several => {
                let among = several.iter().map(|it| it.id.to_string()).collect();
                Err(Error::Ambiguous { given, among })
            }
        }
    }

    /// Discussions people started, newest first.
    pub async fn list(&self, limit: usize, session: Option<Uuid>) -> Result<Vec<Entry>, Error> {
        let wanted = Wanted { limit, session, ..Wanted::default() };
        Ok(self.archive.list(wanted).await?.into_iter().map(Entry::from).collect())
    }

    /// Those that have to do with these words, most relevant first.
    pub async fn search(&self, words: &str, limit: usize) -> Result<Vec<Entry>, Error> {
        let wanted = Wanted { limit, ..Wanted::default() };
        Ok(self.archive.search(words, wanted).await?.into_iter().map(Entry::from).collect())
    }

    /// All sessions, newest first.
    pub async fn sessions(&self) -> Result<Vec<SessionEntry>, Error> {
        Ok(self.archive.sessions().await?.into_iter().map(SessionEntry::from).collect())
    }

    /// The session meant by an id, or by a name only one session has.
    pub async fn find_session(&self, given: &str) -> Result<Uuid, Error> {
        let sessions = self.archive.sessions().await?;
        let is_meant = |it: &&Session| it.name == given || it.id.to_string() == given.to_lowercase();
        match sessions.iter().filter(is_meant).collect::<Vec<_>>().as_slice() {
            [] => Err(Error::NoSession(given.to_owned())),
            [one] => Ok(one.id),
            several => {
                let among = several.iter().map(|it| it.id.to_string()).collect();
                Err(Error::AmbiguousSession { given: given.to_owned(), among })
            }
        }
    }

    /// Makes a session.
    pub async fn create_session(&self, name: &str) -> Result<SessionEntry, Error> {
        let (name, tenant) = (name.to_owned(), Tenant::default());
        let session = Session { id: Uuid::now_v7(), name, created_at: SystemClock.now(), tenant };
        self.archive.create_session(session.clone()).await?;
        Ok(SessionEntry::from(session))
    }

    /// Forgets finished discussions that are older than the user wants to keep. Returns how many.
    pub async fn forget_old(&self) -> Result<u64, Error> {
        let Some(days) = self.config.retention_days else { return Ok(0) };
        let before = SystemClock.now().minus_ms(u64::from(days) * DAY_MS);
        Ok(self.archive.forget(before).await?)
    }
}

/// Patterns speak of a spec's fields; users know those of a request.
fn in_requests_words(refusal: Refusal) -> Refusal {
    Refusal { field: field_of(&refusal.field).to_owned(), ..refusal }
}

/// Whether nothing more can happen in it; an error may be tried again.
fn is_over(state: &State) -> bool {
    matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted)
}
