//! Finding past discussions and sessions of a tenant, and forgetting old ones.

use quorum_core::seams::{Session, Wanted};
use uuid::Uuid;

use crate::{
    Discussion, Error, Quorum, Scope,
    listing::{Entry, SessionEntry},
};

/// How many candidates an ambiguous id is answered with.
const CANDIDATES: usize = 5;

const DAY_MS: u64 = 86_400_000;

impl Scope {
    /// The discussion meant by an id, the beginning of one, or `last`.
    pub async fn find(&self, given: &str) -> Result<Discussion, Error> {
        let given = given.trim().to_lowercase();
        if let Ok(id) = given.parse() {
            return self.discussion(id).await;
        }
        if given == "last" {
            let newest = self.archive().list(self.wanted(1)).await?;
            return newest.first().map(|it| self.named(it.id)).ok_or(Error::NoneYet);
        }
        let could_be = !given.is_empty() && given.chars().all(|it| it.is_ascii_hexdigit() || it == '-');
        if !could_be {
            return Err(Error::NotFound(given));
        }
        let wanted = Wanted { prefix: Some(given.clone()), ..self.wanted(CANDIDATES) };
        match self.archive().list(wanted).await?.as_slice() {
            [] => Err(Error::NotFound(given)),
            [one] => Ok(self.named(one.id)),
            several => {
                let among = several.iter().map(|it| it.id.to_string()).collect();
                Err(Error::Ambiguous { given, among })
            }
        }
    }

    /// Discussions people started, newest first.
    pub async fn list(&self, limit: usize, session: Option<Uuid>) -> Result<Vec<Entry>, Error> {
        let found = self.archive().list(Wanted { session, ..self.wanted(limit) }).await?;
        Ok(found.into_iter().map(Entry::from).collect())
    }

    /// Those that have to do with these words, most relevant first.
    pub async fn search(
        &self,
        words: &str,
        limit: usize,
        session: Option<Uuid>,
    ) -> Result<Vec<Entry>, Error> {
        let found = self.archive().search(words, Wanted { session, ..self.wanted(limit) }).await?;
        Ok(found.into_iter().map(Entry::from).collect())
    }

    fn wanted(&self, limit: usize) -> Wanted {
        Wanted { limit, session: None, prefix: None, tenant: Some(self.tenant.clone()) }
    }

    /// All sessions, newest first.
    pub async fn sessions(&self) -> Result<Vec<SessionEntry>, Error> {
        Ok(self.own_sessions().await?.into_iter().map(SessionEntry::from).collect())
    }

    async fn own_sessions(&self) -> Result<Vec<Session>, Error> {
        let all = self.archive().sessions().await?;
        Ok(all.into_iter().filter(|it| it.tenant == self.tenant).collect())
    }

    /// The session meant by an id, or by a name only one session has.
    pub async fn find_session(&self, given: &str) -> Result<Uuid, Error> {
        let sessions = self.own_sessions().await?;
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
        let (id, name, tenant) = (Uuid::now_v7(), name.to_owned(), self.tenant.clone());
        let session = Session { id, name, created_at: self.quorum.now(), tenant };
        self.archive().create_session(session.clone()).await?;
        Ok(SessionEntry::from(session))
    }

    /// Whether the store answers.
    pub async fn is_ready(&self) -> Result<(), Error> {
        self.archive().list(self.wanted(1)).await?;
        Ok(())
    }
}

impl Quorum {
    /// Forgets finished discussions of every tenant that are older than the configuration keeps them.
    /// Returns how many.
    pub async fn forget_old(&self) -> Result<u64, Error> {
        let Some(days) = self.config().retention_days else { return Ok(0) };
        let before = self.now().minus_ms(u64::from(days) * DAY_MS);
        Ok(self.0.archive.forget(before).await?)
    }
}
