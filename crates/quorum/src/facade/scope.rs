//! One tenant's part of the house. Whoever serves several goes through this, and can't reach anyone else's discussion.

use std::sync::Arc;

use futures::future::join;
use quorum_core::{
    engine::handle::Handle,
    model::{
        event::{Event, Fact},
        id::{DiscussionId, Seq, Tenant},
        spec::Spec,
    },
    seams::{Clock, Deed, Reservation, Session, StoreError, Wanted},
};
use uuid::Uuid;

use crate::{
    Error, Plan, Quorum, Request,
    clock::SystemClock,
    door::{discussion::Discussion, steering::GLANCE_MS},
    listing::{Entry, SessionEntry},
};

/// What one tenant, and who of them, may reach.
#[derive(Clone)]
pub struct Scope {
    pub(super) quorum: Arc<Quorum>,
    pub(super) tenant: Tenant,
    pub(super) who: Arc<str>,
}

/// A discussion, and the hold on it if it was this call that began to run it.
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
    /// What this tenant may reach, done in the name of `who`.
    #[must_use]
    pub fn new(quorum: Arc<Quorum>, tenant: Tenant, who: &str) -> Self {
        Scope { quorum, tenant, who: who.into() }
    }

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

    /// What a request amounts to, or everything that is wrong with it. Costs nothing.
    pub fn check(&self, request: &Request) -> Result<Spec, Error> {
        let checked = self.quorum.check(request).map_err(|error| self.quorum.told_elsewhere(error))?;
        Ok(Spec { tenant: self.tenant.clone(), ..checked })
    }

    /// What an order that was checked would come to. Asks nobody and records nothing. The work is done where this is awaited, and by
    /// tasks beside it; for many rounds it takes seconds.
    pub async fn plan(&self, order: &Spec) -> Result<Plan, Error> {
        self.quorum.plan_for(order).await
    }

    /// Starts what was checked. The same key and order again is the same discussion, whether it was begun a moment or a restart ago.
    pub async fn start(&self, spec: Spec, key: Option<&OrderKey>) -> Result<Started, Error> {
        self.quorum.switched_on()?;
        let (id, began) = self.place(key).await?;
        let _passed = self.quorum.turnstile.pass(id).await;
        let discussion = self.named(id);
        if began && self.own(id).await.is_ok() {
            return Ok(Started { discussion, handle: None });
        }
        let begun = self.quorum.engine.begin_as(id, Spec { tenant: self.tenant.clone(), ..spec });
        // Both at once, the deed first: nothing runs that nobody has started, whenever the process ends.
        let ((), begun) = join(discussion.log("start", "done"), begun).await;
        let handle = match begun {
            Ok(handle) => handle,
            Err(error) => return discussion.logged("start", Err(error.into())).await,
        };
        Ok(Started { discussion, handle: Some(handle) })
    }

    /// The id for an order, and whether the same order came before and may have been begun.
    pub(super) async fn place(&self, key: Option<&OrderKey>) -> Result<(DiscussionId, bool), Error> {
        let id = DiscussionId::fresh();
        let Some(OrderKey { key, digest }) = key.cloned() else { return Ok((id, false)) };
        let wanted = Reservation { tenant: self.tenant.clone(), key, digest, id };
        let standing = self.quorum.archive.reserve(wanted.clone()).await?;
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
        let first = self.quorum.engine.shared().store.read(id, Seq::START, 1).await?;
        match first.first() {
            Some(Fact { event: Event::Opened { spec, .. }, .. }) if spec.tenant == self.tenant => Ok(()),
            Some(_) | None => Err(StoreError::Unknown(id).into()),
        }
    }

    fn named(&self, id: DiscussionId) -> Discussion {
        Discussion { scope: self.clone(), id }
    }

    /// Discussions people started, newest first.
    pub async fn list(&self, limit: usize, session: Option<Uuid>) -> Result<Vec<Entry>, Error> {
        let found = self.quorum.archive.list(self.wanted(limit, session)).await?;
        Ok(found.into_iter().map(Entry::from).collect())
    }

    /// Those that have to do with these words, most relevant first.
    pub async fn search(
        &self,
        words: &str,
        limit: usize,
        session: Option<Uuid>,
    ) -> Result<Vec<Entry>, Error> {
        let found = self.quorum.archive.search(words, self.wanted(limit, session)).await?;
        Ok(found.into_iter().map(Entry::from).collect())
    }

    fn wanted(&self, limit: usize, session: Option<Uuid>) -> Wanted {
        Wanted { limit, session, prefix: None, tenant: Some(self.tenant.clone()) }
    }

    /// All sessions, newest first.
    pub async fn sessions(&self) -> Result<Vec<SessionEntry>, Error> {
        let all = self.quorum.archive.sessions().await?;
        Ok(all.into_iter().filter(|it| it.tenant == self.tenant).map(SessionEntry::from).collect())
    }

    /// Makes a session.
    pub async fn create_session(&self, name: &str) -> Result<SessionEntry, Error> {
        let (id, name, tenant) = (Uuid::now_v7(), name.to_owned(), self.tenant.clone());
        let session = Session { id, name, created_at: SystemClock.now(), tenant };
        self.quorum.archive.create_session(session.clone()).await?;
        Ok(SessionEntry::from(session))
    }

    /// Who did what, newest first.
    pub async fn deeds(&self, limit: usize) -> Result<Vec<Deed>, Error> {
        Ok(self.quorum.archive.deeds(self.tenant.clone(), limit).await?)
    }

    /// Whether the store answers.
    pub async fn is_ready(&self) -> Result<(), Error> {
        self.quorum.archive.list(self.wanted(1, None)).await?;
        Ok(())
    }
}

impl Quorum {
    /// What could go on and what nobody runs, oldest first: not what is paused or waits for a person. Nobody else takes it for a moment.
    pub async fn left_behind(&self) -> Result<Vec<DiscussionId>, Error> {
        // Once over the list: what ends at once, a record of another version for instance, could be claimed again and again.
        let claims = self.engine.shared().store.claim_any(usize::MAX, &self.owner, GLANCE_MS).await?;
        Ok(claims.into_iter().map(|claim| claim.id).collect())
    }

    /// Goes on with one of these, be it much later; `None` where that is done already, or can't be.
    pub async fn go_on_with(self: &Arc<Self>, id: DiscussionId) -> Result<Option<Started>, Error> {
        let _passed = self.turnstile.pass(id).await;
        if self.engine.is_running(id) {
            return Ok(None);
        }
        let Ok(handle) = self.engine.run(id).await else { return Ok(None) };
        let scope = Scope::new(self.clone(), self.state(id).await?.spec.tenant.clone(), "the server");
        Ok(Some(Started { discussion: scope.named(id), handle: Some(handle) }))
    }

    pub(super) fn switched_on(&self) -> Result<(), Error> {
        if self.config.discussions {
            return Ok(());
        }
        Err(Error::SwitchedOff(self.config.file.display().to_string()))
    }
}
