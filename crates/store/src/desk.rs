//! What the writer has on its desk: the connection, and what it needs to know for a write.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use quorum_core::{
    model::{event::Event, id::DiscussionId, time::Timestamp},
    seams::StoreError,
};
use rusqlite::{Connection, OptionalExtension};

use crate::{
    connection::Options,
    error::{Trouble, unreadable},
    known::{self, Known},
    projection::Seats,
    runner::Runner,
};

/// How many discussions are kept in mind; a forgotten one is read again.
const DISCUSSIONS: usize = 4_096;

pub(crate) struct Desk {
    pub(crate) connection: Connection,
    pub(crate) runner: Runner,
    pub(crate) file: PathBuf,
    options: Options,
    /// What was last read or written of these. True as long as nobody else has written.
    known: HashMap<DiscussionId, Known>,
    /// Changes when somebody else has written.
    version: i64,
}

impl Desk {
    pub(crate) fn new(connection: Connection, runner: Runner, file: PathBuf, options: Options) -> Self {
        Desk { connection, runner, file, options, known: HashMap::new(), version: 0 }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.options.now)()
    }

    /// All of it or nothing.
    pub(crate) fn in_transaction(
        &mut self,
        work: impl FnOnce(&mut Desk) -> rusqlite::Result<()>,
    ) -> Result<(), Unwritten> {
        self.execute("BEGIN IMMEDIATE").map_err(Unwritten::NotBegun)?;
        let done = self.look_around().and_then(|()| work(self)).and_then(|()| self.execute("COMMIT"));
        done.map_err(|error| {
            // Some errors end the transaction by themselves.
            if !self.connection.is_autocommit() {
                drop(self.execute("ROLLBACK"));
            }
            self.forget_all();
            Unwritten::RolledBack(error)
        })
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    /// Forgets everything if anyone else has written since the last transaction. Until this one ends, nobody can.
    fn look_around(&mut self) -> rusqlite::Result<()> {
        let version =
            self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        if version != self.version {
            self.version = version;
            self.forget_all();
        }
        Ok(())
    }

    /// What there is to know of a discussion; `None` when there is none of that id.
    pub(crate) fn find(&mut self, id: DiscussionId) -> Result<Option<Known>, Trouble> {
        if let Some(known) = self.known.get(&id) {
            return Ok(Some(known.clone()));
        }
        let found = known::find(&self.connection, id)?;
        if let Some(known) = &found {
            self.learn(id, known.clone());
        }
        Ok(found)
    }

    /// The same for one that somebody started; those below it have neither a claim nor an inbox.
    pub(crate) fn root(&mut self, id: DiscussionId) -> Result<Known, Trouble> {
        self.find(id)?.filter(|known| known.root == id).ok_or(Trouble::Refused(StoreError::Unknown(id)))
    }

    /// So it stands now, as far as this transaction is concerned.
    pub(crate) fn learn(&mut self, id: DiscussionId, known: Known) {
        if self.known.len() >= DISCUSSIONS {
            self.forget_all();
        }
        self.known.insert(id, known);
    }

    /// Nothing happens there any more.
    pub(crate) fn forget(&mut self, id: DiscussionId) {
        self.known.remove(&id);
    }

    /// What is in mind may be wrong.
    pub(crate) fn forget_all(&mut self) {
        self.known.clear();
    }

    /// Who sits where in this discussion.
    pub(crate) fn seats(&mut self, id: DiscussionId, known: &mut Known) -> Result<Arc<Seats>, Trouble> {
        if let Some(seats) = &known.seats {
            return Ok(seats.clone());
        }
        let sql = "SELECT body FROM facts WHERE discussion = ?1 AND seq = 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let body: Option<String> = statement.query_row([known.number], |row| row.get(0)).optional()?;
        let event = serde_json::from_str(&body.unwrap_or_default());
        let event: Event = event.map_err(|error| unreadable(id, "the order", error))?;
        let seats = Arc::new(Seats::of(&event));
        known.seats = Some(seats.clone());
        Ok(seats)
    }
}

/// Why a transaction came to nothing.
#[derive(Debug)]
pub(crate) enum Unwritten {
    NotBegun(rusqlite::Error),
    RolledBack(rusqlite::Error),
}
