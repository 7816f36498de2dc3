//! Finding past discussions and sessions, and forgetting old ones.

use quorum_core::{
    model::id::{DiscussionId, Tenant},
    seams::{Clock, Session, Wanted},
};
use uuid::Uuid;

use crate::{
    Error, Quorum,
    clock::SystemClock,
    listing::{Entry, SessionEntry},
};

/// How many candidates an ambiguous id is answered with.
const CANDIDATES: usize = 5;

const DAY_MS: u64 = 86_400_000;

impl Quorum {
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
