//! Finding past discussions and sessions; hiding, removing and restoring old discussions.

use quorum_core::{
    model::id::{DiscussionId, Tenant},
    seams::{Clock, Deed, Expired, Retention, Session, Summary, Wanted},
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
        if !could_be_id(&given) {
            return Err(Error::NotFound(given));
        }
        let found = self.archive.list(beginning_with(&given)).await?;
        the_only(&found, &given)?.ok_or(Error::NotFound(given))
    }

    /// The same among hidden discussions; one that is not hidden is found, too.
    pub async fn find_hidden(&self, given: &str) -> Result<DiscussionId, Error> {
        let prefix = given.trim().to_lowercase();
        let found = if could_be_id(&prefix) {
            self.archive.hidden(beginning_with(&prefix)).await?
        } else {
            Vec::new()
        };
        match the_only(&found, &prefix)? {
            Some(id) => Ok(id),
            None => self.find(given).await,
        }
    }

    /// Discussions that retention has hidden and not yet removed, newest first.
    pub async fn hidden(&self, limit: usize) -> Result<Vec<Entry>, Error> {
        let wanted = Wanted { limit, ..Wanted::default() };
        Ok(self.archive.hidden(wanted).await?.into_iter().map(Entry::from).collect())
    }

    /// Shows a hidden discussion again, and keeps it for another whole period.
    pub async fn restore(&self, id: DiscussionId) -> Result<(), Error> {
        let now = self.engine.shared().clock.now();
        self.archive.restore(id, now).await?;
        let entry = Deed {
            at: now,
            tenant: Tenant::default(),
            who: "ax".to_owned(),
            action: "restore".to_owned(),
            discussion: id,
            result: "done".to_owned(),
        };
        Ok(self.archive.log(entry).await?)
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

    /// Hides finished discussions that are older than the user wants to keep, and removes those that
    /// have been hidden for a week. What was done is to be told.
    pub async fn expire_old(&self) -> Result<Expired, Error> {
        let keep_ms = self.config.retention_days.map_or(u64::MAX, |days| u64::from(days) * DAY_MS);
        let wall = self.engine.shared().clock.now();
        Ok(self.archive.expire(Retention { keep_ms, wall }).await?)
    }
}

fn could_be_id(given: &str) -> bool {
    !given.is_empty() && given.chars().all(|it| it.is_ascii_hexdigit() || it == '-')
}

fn beginning_with(prefix: &str) -> Wanted {
    Wanted { limit: CANDIDATES, prefix: Some(prefix.to_owned()), ..Wanted::default() }
}

/// The one that was found, where something was.
fn the_only(found: &[Summary], given: &str) -> Result<Option<DiscussionId>, Error> {
    match found {
        [] => Ok(None),
        [one] => Ok(Some(one.id)),
        several => {
            let among = several.iter().map(|it| it.id.to_string()).collect();
            Err(Error::Ambiguous { given: given.to_owned(), among })
        }
    }
}
