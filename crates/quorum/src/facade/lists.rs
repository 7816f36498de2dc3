//! Finds past discussions and sessions of a tenant; hides and removes old discussions.

use quorum_core::{
    model::time::Timestamp,
    seams::{Cursor, Expired, Retention, Session, SessionsWanted, Summary, Wanted},
};
use uuid::Uuid;

use crate::{
    Candidate, Discussion, Error, Quorum, Scope,
    listing::{Entry, SessionEntry},
    request::recall::back_from_last,
};

/// How many matches the error for an ambiguous id lists, and how many it counts.
const CANDIDATES: usize = 5;
const MOST_COUNTED: usize = 1_000;

/// The limit of a list without one.
const ALL: usize = 0;

const DAY_MS: u64 = 86_400_000;

impl Scope {
    /// The discussion with this id or id prefix; the newest for `last`, the one before it for
    /// `last~1`.
    pub async fn find(&self, given: &str) -> Result<Discussion, Error> {
        let given = given.trim().to_lowercase();
        if let Ok(id) = given.parse() {
            return self.discussion(id).await;
        }
        if let Some(back) = back_from_last(&given) {
            let newest = self.archive().list(self.wanted(back + 1)).await?;
            return match (newest.get(back), newest.len()) {
                (Some(found), _) => Ok(self.named(found.id)),
                (None, 0) => Err(Error::NoneYet),
                (None, all) => Err(Error::TooFarBack { given, all }),
            };
        }
        if !could_be_id(&given) {
            return Err(Error::NotFound(given));
        }
        let found = self.archive().list(self.beginning_with(&given)).await?;
        self.the_only(&found, &given)?.ok_or(Error::NotFound(given))
    }

    /// The same including hidden discussions.
    pub async fn find_hidden(&self, given: &str) -> Result<Discussion, Error> {
        let prefix = given.trim().to_lowercase();
        let found = if could_be_id(&prefix) {
            self.archive().hidden(self.beginning_with(&prefix)).await?
        } else {
            Vec::new()
        };
        match self.the_only(&found, &prefix)? {
            Some(discussion) => Ok(discussion),
            None => self.find(given).await,
        }
    }

    /// The only match, if any.
    fn the_only(&self, found: &[Summary], given: &str) -> Result<Option<Discussion>, Error> {
        match found {
            [] => Ok(None),
            [one] => Ok(Some(self.named(one.id))),
            several => {
                let candidate = |it: &Summary| Candidate { id: it.id, topic: it.topic.clone() };
                let among: Vec<Candidate> = several.iter().take(CANDIDATES).map(candidate).collect();
                let more = several.len() - among.len();
                Err(Error::Ambiguous { given: given.to_owned(), among, more })
            }
        }
    }

    /// Discussions that retention has hidden and not yet removed, newest first.
    /// [`Discussion::restore`] brings one back.
    pub async fn hidden(&self, limit: usize) -> Result<Vec<Entry>, Error> {
        Ok(self.archive().hidden(self.wanted(limit)).await?.into_iter().map(Entry::from).collect())
    }

    /// Discussions started by people, newest first.
    pub async fn list(&self, limit: usize, session: Option<Uuid>) -> Result<Vec<Entry>, Error> {
        self.list_after(None, limit, session).await
    }

    /// The same, starting after a cursor.
    pub async fn list_after(
        &self,
        after: Option<Cursor>,
        limit: usize,
        session: Option<Uuid>,
    ) -> Result<Vec<Entry>, Error> {
        let found = self.archive().list(Wanted { session, after, ..self.wanted(limit) }).await?;
        Ok(found.into_iter().map(Entry::from).collect())
    }

    /// Discussions that run or wait, newest first.
    pub async fn unfinished(&self, limit: usize) -> Result<Vec<Entry>, Error> {
        let found = self.archive().list(Wanted { unfinished: true, ..self.wanted(limit) }).await?;
        Ok(found.into_iter().map(Entry::from).collect())
    }

    /// Discussions that match these words, most relevant first.
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
        Wanted { limit, tenant: Some(self.tenant.clone()), ..Wanted::default() }
    }

    fn beginning_with(&self, prefix: &str) -> Wanted {
        Wanted { prefix: Some(prefix.to_owned()), ..self.wanted(MOST_COUNTED) }
    }

    /// All sessions, newest first.
    pub async fn sessions(&self) -> Result<Vec<SessionEntry>, Error> {
        self.sessions_after(None, ALL).await
    }

    /// Up to `limit` sessions, newest first, after the one of this time and id in the list.
    pub async fn sessions_after(
        &self,
        after: Option<(Timestamp, Uuid)>,
        limit: usize,
    ) -> Result<Vec<SessionEntry>, Error> {
        let wanted = SessionsWanted { limit, after, ..SessionsWanted::of(self.tenant.clone()) };
        let found = self.archive().sessions(wanted).await?;
        Ok(found.into_iter().map(SessionEntry::from).collect())
    }

    /// The sessions with this name or id.
    async fn sessions_called(&self, called: &str) -> Result<Vec<Session>, Error> {
        let wanted =
            SessionsWanted { called: Some(called.to_owned()), ..SessionsWanted::of(self.tenant.clone()) };
        Ok(self.archive().sessions(wanted).await?)
    }

    /// The session with this id, or with this name if only one has it.
    pub async fn find_session(&self, given: &str) -> Result<Uuid, Error> {
        let mut sessions = self.sessions_called(given).await?;
        if let Ok(id) = given.parse::<Uuid>()
            && sessions.is_empty()
        {
            sessions = self.sessions_called(&id.to_string()).await?;
        }
        match sessions.as_slice() {
            [] => Err(Error::NoSession(given.to_owned())),
            [one] => Ok(one.id),
            several => {
                let among = several.iter().map(|it| it.id.to_string()).collect();
                Err(Error::AmbiguousSession { given: given.to_owned(), among })
            }
        }
    }

    /// Creates a session.
    pub async fn create_session(&self, name: &str) -> Result<SessionEntry, Error> {
        let (id, name, tenant) = (Uuid::now_v7(), name.to_owned(), self.tenant.clone());
        let session = Session { id, name, created_at: self.quorum.now(), tenant };
        self.archive().create_session(session.clone()).await?;
        Ok(SessionEntry::from(session))
    }

    /// Gives a session another name.
    pub async fn rename_session(&self, id: Uuid, name: &str) -> Result<(), Error> {
        Ok(self.archive().rename_session(self.tenant.clone(), id, name.to_owned()).await?)
    }

    /// Removes a session. Its discussions must be deleted first.
    pub async fn delete_session(&self, id: Uuid) -> Result<(), Error> {
        Ok(self.archive().remove_session(self.tenant.clone(), id).await?)
    }

    /// Whether the store answers.
    pub async fn is_ready(&self) -> Result<(), Error> {
        self.archive().list(self.wanted(1)).await?;
        Ok(())
    }
}

impl Quorum {
    /// Hides finished discussions of every tenant that are older than the configured retention, and
    /// removes those that have been hidden for a week. Surfaces report what was done.
    pub async fn expire_old(&self) -> Result<Expired, Error> {
        let keep_ms = self.config().retention_days.map_or(u64::MAX, |days| u64::from(days) * DAY_MS);
        let mut all = Expired::default();
        loop {
            let slice = self.0.archive.expire(Retention { keep_ms, wall: self.now() }).await?;
            all.hidden += slice.hidden;
            all.removed += slice.removed;
            all.reappeared += slice.reappeared;
            all.leap = slice.leap;
            if !slice.more {
                return Ok(all);
            }
            // Other writers get their turn between slices.
            tokio::task::yield_now().await;
        }
    }

    /// Indexes some of the discussions that searches would have to index first, for servers that
    /// call it every few seconds.
    pub async fn index_some(&self) -> Result<(), Error> {
        Ok(self.0.archive.index().await?)
    }
}

fn could_be_id(given: &str) -> bool {
    !given.is_empty() && given.chars().all(|it| it.is_ascii_hexdigit() || it == '-')
}
