//! One tenant's part of a store. It gives no access to other tenants.

use std::sync::Arc;

use futures::future::join;
use quorum_core::{
    engine::{Order, handle::Handle},
    model::{
        account::CappedAccount,
        error::{Code, Refusal},
        event::{Event, Fact},
        id::{DiscussionId, Seq, Tenant},
        spec::Spec,
        traceparent::Traceparent,
    },
    seams::{Archive, AuditEntry, AuditWanted, Created, Queueing, Reservation, StoreError},
};

use crate::{
    Complaint, Error, Plan, Quorum, Request, SentRequest,
    facade::discussion::Discussion,
    request::{OneVoice, PanelChoice, one_voice},
};
use uuid::Uuid;

/// How long a prepared order is kept for the process it was prepared for.
const KEPT_MS: u64 = 10_000;

/// A tenant, and the user who acts for it.
#[derive(Clone)]
pub struct Scope {
    pub(super) quorum: Quorum,
    pub(super) tenant: Tenant,
    pub(super) who: Arc<str>,
    /// What it starts is charged to this account, if that has caps.
    pub(super) account: Option<CappedAccount>,
    /// The caller's span; discussions started here record it, and their traces link to it.
    pub(super) caller: Option<Traceparent>,
}

/// A discussion, and the handle of its run if this call started it.
pub struct Started {
    /// The discussion.
    pub discussion: Discussion,
    /// `None` if it was started before.
    pub handle: Option<Handle>,
}

/// An idempotency key: sending the same order twice starts one discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderKey {
    /// The key chosen by the sender.
    pub key: String,
    /// A digest of the order.
    pub digest: String,
}

impl Scope {
    /// The tenant.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The name that actions are audited under.
    #[must_use]
    pub fn who(&self) -> &str {
        &self.who
    }

    /// The same for a call from this span: the traces of what it starts are linked to it.
    #[must_use]
    pub fn called_by(self, caller: Traceparent) -> Scope {
        Scope { caller: Some(caller), ..self }
    }

    /// This order as one of this tenant, account and caller.
    pub(super) fn ordered(&self, spec: Spec) -> Order {
        Order { spec: self.as_own(spec), caller: self.caller }
    }

    /// The [`Quorum`] behind this scope.
    #[must_use]
    pub fn quorum(&self) -> &Quorum {
        &self.quorum
    }

    pub(super) fn archive(&self) -> &dyn Archive {
        &*self.quorum.0.archive
    }

    /// Checks a request and returns its spec, or all problems with it. Costs nothing. Earlier
    /// discussions to recall are looked up when the order is started; [`Scope::order`] looks them
    /// up at once. A request that follows a discussion is refused, because only [`Scope::order`]
    /// looks that discussion up.
    pub fn check(&self, request: &Request) -> Result<Spec, Error> {
        if request.follows.is_some() {
            let message = "the discussion that is followed was not looked up";
            return Err(Error::refused(Complaint::new("follows", Code::InvalidRequest, message)));
        }
        self.owned(self.quorum.check(request)?)
    }

    /// Checks a question to one voice. The configured defaults that concern one call apply: its
    /// length, time and cost, and simulation.
    pub fn check_one_voice(&self, asked: &OneVoice) -> Result<Spec, Error> {
        let own = asked.request.clone();
        let (filled, _) = self.quorum.config().fill(&own);
        let request = Request {
            temperature: filled.temperature,
            max_tokens_per_turn: filled.max_tokens_per_turn,
            provider_timeout: filled.provider_timeout,
            max_tokens: filled.max_tokens,
            max_cost: filled.max_cost,
            allow_unpriced: filled.allow_unpriced,
            offline: filled.offline,
            seed: filled.seed,
            simulate: filled.simulate,
            ..own
        };
        let asked = OneVoice { request, ..asked.clone() };
        self.owned(one_voice(&asked, &self.quorum.0.setting).map_err(Error::Refused)?)
    }

    /// The session of this name, created if there is none.
    pub async fn session_named(&self, name: &str) -> Result<Uuid, Error> {
        match self.find_session(name).await {
            Err(Error::NoSession(_)) => Ok(self.create_session(name).await?.session_id),
            found => found,
        }
    }

    /// The values of this order that have no effect, or not the effect that they seem to have.
    #[must_use]
    pub fn remarks(&self, spec: &Spec) -> Vec<Refusal> {
        self.quorum.remarks(spec)
    }

    /// How the panel of this request differs from the default one; `None` if the request names its
    /// own panel, gets the default one, or is simulated.
    #[must_use]
    pub fn panel_choice(&self, request: &Request) -> Option<PanelChoice> {
        self.quorum.panel_choice(request)
    }

    /// Whether simulated voices would answer although neither the request nor the configuration
    /// asks for them.
    #[must_use]
    pub fn simulates_unasked(&self, request: &Request) -> bool {
        self.quorum.simulates_unasked(request)
    }

    /// Plans a checked order. Asks no model and records nothing. The work is done by the awaiting
    /// task and tasks it spawns; for many rounds it takes seconds.
    pub async fn plan(&self, order: &Spec) -> Result<Plan, Error> {
        let order = self.with_known_voices(self.with_recalled(order.clone()).await?).await?;
        let order = self.quorum.with_voiced_agents(order);
        let lengths = self.past_lengths(&order).await?;
        self.with_caps(self.quorum.plan(&order, &lengths).await?).await
    }

    /// Runs a checked order in memory with simulated voices, and returns every request as it would
    /// be sent. Asks no model and records nothing.
    pub async fn rehearse(&self, order: &Spec) -> Result<Vec<SentRequest>, Error> {
        self.quorum.rehearse(&self.with_recalled(order.clone()).await?).await
    }

    /// Starts a checked order.
    pub async fn start(&self, spec: Spec) -> Result<(Discussion, Handle), Error> {
        self.quorum.switched_on()?;
        self.begin(DiscussionId::fresh(), spec).await
    }

    /// Starts a checked order. The same key with the same order returns the same discussion, even
    /// after a restart.
    pub async fn start_once(&self, spec: Spec, key: Option<&OrderKey>) -> Result<Started, Error> {
        self.quorum.switched_on()?;
        let (id, began) = self.place(key).await?;
        let _locked = self.quorum.0.locks.lock(id).await;
        if began && self.own(id).await.is_ok() {
            return Ok(Started { discussion: self.named(id), handle: None });
        }
        match self.begin(id, spec).await {
            Ok((discussion, handle)) => Ok(Started { discussion, handle: Some(handle) }),
            // Another process was faster with the same order.
            Err(Error::Store(StoreError::Held { .. })) if key.is_some() => {
                Ok(Started { discussion: self.named(id), handle: None })
            }
            Err(error) => Err(error),
        }
    }

    /// Lets a further key stand for a discussion, unless it already stands for another one.
    pub async fn also_under(&self, key: &OrderKey, id: DiscussionId) -> Result<(), Error> {
        let OrderKey { key, digest } = key.clone();
        self.archive().reserve(Reservation { tenant: self.tenant.clone(), key, digest, id }).await?;
        Ok(())
    }

    /// The discussion that was started under this key, if there is one.
    pub async fn started_under(&self, key: &OrderKey) -> Result<Option<Discussion>, Error> {
        let (id, began) = self.place(Some(key)).await?;
        Ok((began && self.own(id).await.is_ok()).then(|| self.named(id)))
    }

    /// Records a checked order for any node to run, once per key; at most `most` orders of a tenant
    /// may wait at the same time. Says whether it was there before.
    pub async fn queue_once(
        &self,
        spec: Spec,
        key: Option<&OrderKey>,
        most: u64,
    ) -> Result<(Discussion, Created), Error> {
        self.quorum.switched_on()?;
        let (id, began) = self.place(key).await?;
        let _locked = self.quorum.0.locks.lock(id).await;
        if began && self.own(id).await.is_ok() {
            return Ok((self.named(id), Created::Existed));
        }
        let (spec, discussion) = (self.ready(spec).await?, self.named(id));
        let queueing = Queueing { most: Some(most), ..Queueing::default() };
        let queued = self.quorum.0.engine.enqueue_as(id, self.ordered(spec), queueing).await;
        let created = discussion.logged("start", queued.map_err(Error::from)).await?;
        Ok((discussion, created))
    }

    async fn begin(&self, id: DiscussionId, spec: Spec) -> Result<(Discussion, Handle), Error> {
        let spec = self.ready(spec).await?;
        let discussion = self.named(id);
        let begun = self.quorum.0.engine.begin_as(id, self.ordered(spec));
        // Both at once, so that a caller that stops waiting leaves neither without the other. The
        // audit entry is sent first, and SQLite's one writer keeps that order: even if the process
        // dies, nothing has run without a record of who started it.
        let ((), begun) = join(discussion.log("start", "done"), begun).await;
        match begun {
            Ok(handle) => Ok((discussion, handle)),
            Err(error) => discussion.logged("start", Err(error.into())).await,
        }
    }

    /// The order with everything that is looked up before it starts.
    pub(super) async fn ready(&self, spec: Spec) -> Result<Spec, Error> {
        let spec = self.with_recalled(spec).await?;
        self.quorum.check_windows(&spec).await?;
        self.quorum.check_calls(&spec).await?;
        self.with_session(self.with_known_voices(spec).await?).await
    }

    /// Records a checked order, for another process to run with [`Discussion::run_prepared`] within
    /// 10 s. After that any node may run it.
    pub async fn prepare(&self, spec: Spec) -> Result<Discussion, Error> {
        self.quorum.switched_on()?;
        let spec = self.ready(spec).await?;
        let discussion = self.named(DiscussionId::fresh());
        let kept = Queueing { ready_in_ms: KEPT_MS, most: None };
        let opened = self.quorum.0.engine.enqueue_as(discussion.id, self.ordered(spec), kept).await;
        discussion.logged("start", opened.map_err(Error::from)).await?;
        Ok(discussion)
    }

    /// The id for an order, and whether the same order came before and may have been started.
    pub(super) async fn place(&self, key: Option<&OrderKey>) -> Result<(DiscussionId, bool), Error> {
        let id = DiscussionId::fresh();
        let Some(OrderKey { key, digest }) = key.cloned() else { return Ok((id, false)) };
        let wanted = Reservation { tenant: self.tenant.clone(), key, digest, id };
        let standing = self.archive().reserve(wanted.clone()).await?;
        if standing.digest != wanted.digest {
            return Err(Error::KeyReused(wanted.key));
        }
        Ok((standing.id, standing.id != id))
    }

    /// The discussion with this id, if it belongs to this tenant. Another tenant's discussion gives
    /// the same error as one that does not exist.
    pub async fn discussion(&self, id: DiscussionId) -> Result<Discussion, Error> {
        self.own(id).await?;
        Ok(self.named(id))
    }

    async fn own(&self, id: DiscussionId) -> Result<(), Error> {
        let first = self.quorum.0.engine.services().store.read(id, Seq::START, 1).await?;
        match first.first() {
            Some(Fact { event: Event::Opened { spec, .. }, .. }) if spec.tenant == self.tenant => Ok(()),
            Some(_) | None => Err(StoreError::Unknown(id).into()),
        }
    }

    pub(super) fn named(&self, id: DiscussionId) -> Discussion {
        Discussion { scope: self.clone(), id }
    }

    /// The audit log, newest first.
    pub async fn audit(&self, limit: usize) -> Result<Vec<AuditEntry>, Error> {
        Ok(self.audit_before(None, limit).await?.into_iter().map(|it| it.1).collect())
    }

    /// The same with their numbers, and only those with a smaller number than this.
    pub async fn audit_before(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, AuditEntry)>, Error> {
        let wanted = AuditWanted { tenant: self.tenant.clone(), limit, before };
        Ok(self.archive().audit_entries(wanted).await?)
    }
}
