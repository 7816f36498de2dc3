//! One tenant's part of a store: nothing of another tenant can be reached through it.

use std::sync::Arc;

use futures::future::join;
use quorum_core::{
    engine::handle::Handle,
    model::{
        event::{Event, Fact},
        id::{DiscussionId, Seq, Tenant},
        spec::Spec,
    },
    seams::{Archive, Deed, Reservation, StoreError},
};

use crate::{Error, Plan, Quorum, Request, facade::discussion::Discussion, request::PanelChoice};

/// What one tenant may reach, and who of them acts.
#[derive(Clone)]
pub struct Scope {
    pub(super) quorum: Quorum,
    pub(super) tenant: Tenant,
    pub(super) who: Arc<str>,
}

/// A discussion, and the handle of its run if it was this call that began to run it.
pub struct Started {
    /// Which.
    pub discussion: Discussion,
    /// `None` where it was begun before.
    pub handle: Option<Handle>,
}

/// The sender's name for an order, so that sending it twice orders once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderKey {
    /// The sender's own.
    pub key: String,
    /// A short name for what is ordered.
    pub digest: String,
}

impl Scope {
    /// Whose discussions these are.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Who does what is done through this.
    #[must_use]
    pub fn who(&self) -> &str {
        &self.who
    }

    /// The store these discussions are in, and what was configured for it.
    #[must_use]
    pub fn quorum(&self) -> &Quorum {
        &self.quorum
    }

    pub(super) fn archive(&self) -> &dyn Archive {
        &*self.quorum.0.archive
    }

    /// What a request amounts to, or everything that is wrong with it. Costs nothing.
    pub fn check(&self, request: &Request) -> Result<Spec, Error> {
        Ok(Spec { tenant: self.tenant.clone(), ..self.quorum.check(request)? })
    }

    /// How the panel of this request differs from the usual one; `None` where it names its own, is as
    /// usual, or is simulated.
    #[must_use]
    pub fn panel_choice(&self, request: &Request) -> Option<PanelChoice> {
        self.quorum.panel_choice(request)
    }

    /// Whether simulated voices would answer though neither the request nor the configuration asks for
    /// them.
    #[must_use]
    pub fn simulates_unasked(&self, request: &Request) -> bool {
        self.quorum.simulates_unasked(request)
    }

    /// What an order that was checked would come to. Asks nobody and records nothing. The work is done
    /// where this is awaited, and by tasks beside it; for many rounds it takes seconds.
    pub async fn plan(&self, order: &Spec) -> Result<Plan, Error> {
        self.quorum.plan(order).await
    }

    /// Starts what was checked.
    pub async fn start(&self, spec: Spec) -> Result<(Discussion, Handle), Error> {
        self.quorum.switched_on()?;
        self.begin(DiscussionId::fresh(), spec).await
    }

    /// Starts what was checked. The same key and order again is the same discussion, whether it was
    /// begun a moment or a restart ago.
    pub async fn start_once(&self, spec: Spec, key: Option<&OrderKey>) -> Result<Started, Error> {
        self.quorum.switched_on()?;
        let (id, began) = self.place(key).await?;
        let _locked = self.quorum.0.locks.lock(id).await;
        if began && self.own(id).await.is_ok() {
            return Ok(Started { discussion: self.named(id), handle: None });
        }
        let (discussion, handle) = self.begin(id, spec).await?;
        Ok(Started { discussion, handle: Some(handle) })
    }

    async fn begin(&self, id: DiscussionId, spec: Spec) -> Result<(Discussion, Handle), Error> {
        let discussion = self.named(id);
        let begun = self.quorum.0.engine.begin_as(id, Spec { tenant: self.tenant.clone(), ..spec });
        // Both at once, the audit entry first: nothing runs without a record of who started it,
        // whenever the process ends.
        let ((), begun) = join(discussion.log("start", "done"), begun).await;
        match begun {
            Ok(handle) => Ok((discussion, handle)),
            Err(error) => discussion.logged("start", Err(error.into())).await,
        }
    }

    /// Records what was checked, for another process to run with [`Discussion::run_prepared`].
    pub async fn prepare(&self, spec: Spec) -> Result<Discussion, Error> {
        self.quorum.switched_on()?;
        let discussion = self.named(DiscussionId::fresh());
        let spec = Spec { tenant: self.tenant.clone(), ..spec };
        let opened = self.quorum.0.engine.open_as(discussion.id, spec).await;
        discussion.logged("start", opened.map_err(Error::from)).await?;
        Ok(discussion)
    }

    /// The id for an order, and whether the same order came before and may have been begun.
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

    /// The discussion of this id, if it is this tenant's. Another's is as unknown as one that never was.
    pub async fn discussion(&self, id: DiscussionId) -> Result<Discussion, Error> {
        self.own(id).await?;
        Ok(self.named(id))
    }

    async fn own(&self, id: DiscussionId) -> Result<(), Error> {
        let first = self.quorum.0.engine.shared().store.read(id, Seq::START, 1).await?;
        match first.first() {
            Some(Fact { event: Event::Opened { spec, .. }, .. }) if spec.tenant == self.tenant => Ok(()),
            Some(_) | None => Err(StoreError::Unknown(id).into()),
        }
    }

    pub(super) fn named(&self, id: DiscussionId) -> Discussion {
        Discussion { scope: self.clone(), id }
    }

    /// Who did what, newest first.
    pub async fn audit(&self, limit: usize) -> Result<Vec<Deed>, Error> {
        Ok(self.archive().deeds(self.tenant.clone(), limit).await?)
    }
}
