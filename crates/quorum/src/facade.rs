//! All discussions of one store: built once, then reached through one [`Scope`] per tenant.
//!
//! Every action on a discussion goes through [`Scope`] and [`Discussion`]. The first checks the
//! tenant, the second writes the audit log.

mod builder;
mod catalogue;
mod configured;
mod discussion;
mod follow;
mod fork;
mod fork_run;
mod health;
mod keyed_lock;
mod lists;
mod outcomes;
mod plan;
mod prompt_preview;
mod recall;
mod remarks;
mod say;
mod scope;
pub(crate) mod spending;
mod steering;
mod take_over;
mod workflows;

use std::sync::Arc;

use quorum_core::{
    engine::Engine,
    model::{
        error::Code,
        event::Fact,
        id::{DiscussionId, Seq, Tenant},
        spec::Spec,
        time::Timestamp,
    },
    registry::{Registry, Snapshot},
    seams::Archive,
};

use crate::{
    Complaint, Config, Error, Origin, Request,
    request::{PanelChoice, Setting, Voicing, again::changed, checked_with, defaults_of, panel_choice},
    setup::Setup,
    telemetry::TracingStatus,
};

pub use builder::Builder;
pub use catalogue::{
    CellEntry, DefaultsEntry, FormEntry, MethodEntry, ModelEntry, NamedEntry, OptionEntry, PatternEntry,
    PresetEntry, PriceEntry, ProviderEntry, ResultEntry, RulingChoiceEntry, RulingEntry, StrategyEntry,
};
pub use configured::complaints;
pub use discussion::Discussion;
pub use fork::Forking;
pub use fork_run::{ForkedRun, RunForking};
pub use health::{Checked, Unanswered};
pub use outcomes::{CalibrationReport, LONGEST_ANSWER, PairReport, Resolved, VoiceReport};
pub use plan::{Figures, Plan, PlannedAgent, PlannedPhase, PlannedSeat};
pub use prompt_preview::{SentMessage, SentRequest};
pub use scope::{OrderKey, Scope, Started};
pub use spending::{CapEntry, CapFit};
pub use steering::Steered;

/// The page size for reading a record, in facts.
const FACTS_AT_ONCE: usize = 1_000;

/// All discussions of one store. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct Quorum(Arc<Inner>);

struct Inner {
    engine: Engine,
    archive: Arc<dyn Archive>,
    config: Config,
    setting: Setting,
    setup: Setup,
    owner: String,
    locks: keyed_lock::KeyedLock,
    learned: outcomes::Learned,
    tracing: TracingStatus,
}

impl Quorum {
    /// Starts a builder with no voices and an in-memory store.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Opens the user's own database with the providers they have configured.
    pub fn open(config: Config) -> Result<Quorum, Error> {
        Quorum::builder().user(config).build()
    }

    /// The scope of this tenant; its actions are audited under the name `who`. What the local user
    /// starts is charged to their own account.
    #[must_use]
    pub fn scope(&self, tenant: Tenant, who: &str) -> Scope {
        let account = spending::capped("", self.config().limits).filter(|_| tenant.is_own());
        Scope { quorum: self.clone(), tenant, who: who.into(), account, caller: None }
    }

    /// The providers the user has configured.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.0.setup
    }

    /// Whether the environment asks for traces of discussions, and what became of that.
    #[must_use]
    pub fn tracing_status(&self) -> &TracingStatus {
        &self.0.tracing
    }

    /// Sends what was reported to telemetry and not sent yet, within a few seconds, or says why it
    /// can't be sent. Call it before the program ends.
    pub async fn flush_telemetry(&self) -> Result<(), String> {
        match &self.0.engine.services().telemetry {
            Some(telemetry) => telemetry.flush().await,
            None => Ok(()),
        }
    }

    /// The vocabulary that requests are checked against.
    pub(crate) fn setting(&self) -> &Setting {
        &self.0.setting
    }

    /// The user's configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The registered patterns, consensus methods, context strategies and detectors.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.0.setting.registry
    }

    fn check(&self, request: &Request) -> Result<Spec, Error> {
        self.known_preset(request)?;
        let preset = request.preset.as_deref();
        let (request, filled) = self.config().fill(request);
        self.check_filled(&request).map_err(|complaints| {
            let complaints = complaints.into_iter().map(|it| self.with_section(it, &filled, preset));
            Error::Refused(complaints.collect())
        })
    }

    /// The request of a past discussion with these changes, checked again.
    async fn again(&self, id: DiscussionId, changes: &Request) -> Result<Spec, Error> {
        self.known_preset(changes)?;
        if changes.follows.is_some() {
            let message = "a re-run follows what its original followed; leave this out";
            let complaint = Complaint::new("follows", Code::InvalidRequest, message);
            return Err(Error::refused(complaint.in_combination()));
        }
        let past = self.state(id).await?;
        let request = changed(
            &Request::of(&past.spec, self.registry()),
            &self.config().fill_from_preset(changes),
            self.registry(),
        );
        // The past request includes its own defaults; today's are not applied to it.
        let spec = self.check_filled(&request).map_err(|complaints| {
            let from_past = |it: Complaint| Complaint { origin: Some(Origin::Past(id)), ..it };
            Error::Refused(complaints.into_iter().map(from_past).collect())
        })?;
        // Everyone is shown the same as then, unless something else is to be recalled.
        let recalled = past.spec.recalled.clone().filter(|_| changes.recall.is_none());
        Ok(Spec { follows: past.spec.follows.clone(), recalled, ..spec })
    }

    fn panel_choice(&self, request: &Request) -> Option<PanelChoice> {
        let setting = &self.0.setting;
        let (request, _) = self.config().fill(request);
        if setting.voicing == Voicing::Simulated || request.wants_simulation() {
            return None;
        }
        let first = || setting.registry.patterns().first().map_or("", |it| it.name);
        let pattern = request.pattern.as_deref().unwrap_or_else(first);
        panel_choice(&request, setting, &defaults_of(pattern, &setting.registry))
    }

    fn simulates_unasked(&self, request: &Request) -> bool {
        self.0.setting.voicing == Voicing::Simulated && !self.config().fill(request).0.wants_simulation()
    }

    fn check_filled(&self, request: &Request) -> Result<Spec, Vec<Complaint>> {
        checked_with(request, &self.0.setting, |spec| self.0.engine.refusals(spec))
    }

    async fn state(&self, id: DiscussionId) -> Result<Snapshot, Error> {
        Ok(self.0.engine.state(id).await?)
    }

    async fn facts(&self, id: DiscussionId, after: Seq) -> Result<Vec<Fact>, Error> {
        let mut facts: Vec<Fact> = Vec::new();
        loop {
            let last = facts.last().map_or(after, |fact| fact.seq);
            let more = self.0.engine.services().store.read(id, last, FACTS_AT_ONCE).await?;
            if more.is_empty() {
                return Ok(facts);
            }
            facts.extend(more);
        }
    }

    /// The time by the clock that dates facts.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.engine.services().clock.now()
    }

    fn switched_on(&self) -> Result<(), Error> {
        if self.config().discussions {
            return Ok(());
        }
        Err(Error::SwitchedOff { file: self.config().file.clone() })
    }
}
