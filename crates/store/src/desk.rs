//! What the writer has on its desk: the connection, and what it needs to know for a write.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use quorum_core::model::{event::Event, id::DiscussionId, time::Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::{
    connection::Options,
    error::{Trouble, unreadable},
    projection::Seats,
    runner::Runner,
};

/// How many tables are kept in mind; a forgotten one is read again.
const TABLES: usize = 1_024;

pub(crate) struct Desk {
    pub(crate) connection: Connection,
    pub(crate) runner: Runner,
    pub(crate) file: PathBuf,
    options: Options,
    /// Who sits where, so that not every turn has to read its discussion's order.
    seats: HashMap<DiscussionId, Arc<Seats>>,
}

impl Desk {
    pub(crate) fn new(connection: Connection, runner: Runner, file: PathBuf, options: Options) -> Self {
        Desk { connection, runner, file, options, seats: HashMap::new() }
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
        let done = work(self).and_then(|()| self.execute("COMMIT"));
        done.map_err(|error| {
            // Some errors end the transaction by themselves.
            if !self.connection.is_autocommit() {
                drop(self.execute("ROLLBACK"));
            }
            self.seats.clear();
            Unwritten::RolledBack(error)
        })
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    /// Who sits where in this discussion.
    pub(crate) fn seats(&mut self, id: DiscussionId) -> Result<Arc<Seats>, Trouble> {
        if let Some(seats) = self.seats.get(&id) {
            return Ok(seats.clone());
        }
        let sql = "SELECT body FROM facts WHERE discussion = ?1 AND seq = 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let body: Option<String> = statement.query_row([id.to_string()], |row| row.get(0)).optional()?;
        drop(statement);
        let event = serde_json::from_str(&body.unwrap_or_default());
        let event: Event = event.map_err(|error| unreadable(id, "the order", error))?;
        let seats = Arc::new(Seats::of(&event));
        if self.seats.len() >= TABLES {
            self.seats.clear();
        }
        self.seats.insert(id, seats.clone());
        Ok(seats)
    }

    /// Nobody speaks there any more.
    pub(crate) fn clear_seats(&mut self, id: DiscussionId) {
        self.seats.remove(&id);
    }
}

/// Why a transaction came to nothing.
#[derive(Debug)]
pub(crate) enum Unwritten {
    NotBegun(rusqlite::Error),
    RolledBack(rusqlite::Error),
}
