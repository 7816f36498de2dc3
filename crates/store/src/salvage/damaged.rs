//! Reads every reachable row of a damaged database, skipping damaged pages.

use std::{collections::BTreeMap, path::Path};

use quorum_core::{
    model::{
        event::{Event, Fact},
        id::{DiscussionId, Tenant},
        time::Timestamp,
    },
    seams::{AuditEntry, KnownOutcome, Session, StoreError},
};
use rusqlite::{Connection, OptionalExtension, Row};

use super::FoundDiscussion;
use crate::{
    cache::parsed,
    connection::{self, Access, Options},
    error::{JobError, explain},
    migrate, outcomes, record,
};

/// The widest gap in row ids that is searched across.
const WIDEST_GAP: i64 = 1 << 40;

pub(super) struct Damaged {
    connection: Connection,
}

/// The contents of a damaged database, without the facts themselves.
pub(super) struct Survey {
    pub(super) sessions: Vec<Session>,
    pub(super) audit: Vec<AuditEntry>,
    pub(super) outcomes: Vec<KnownOutcome>,
    pub(super) discussions: Vec<FoundDiscussion>,
}

impl Damaged {
    /// Opens it for reading. Fails if its first page can't be read or its schema version is
    /// another.
    pub(super) fn open(file: &Path) -> Result<Self, StoreError> {
        let open = || {
            let connection = connection::to_read(file, &Options::default(), Access::ReadOnly)
                .map_err(|error| explain(&error, file))?;
            migrate::check(&connection, file)?;
            Ok(Damaged { connection })
        };
        open().map_err(|error| match error {
            // Salvage can't recover more than this finds, so don't offer it again.
            StoreError::Damaged(message) => StoreError::Unusable(message),
            other => other,
        })
    }

    /// Everything that can be found, in the order it was started.
    pub(super) fn survey(&self) -> Survey {
        let mut discussions: BTreeMap<i64, FoundDiscussion> =
            self.ids().into_iter().map(|(number, id)| (number, FoundDiscussion::new(id))).collect();
        // A discussion whose row and index entry are both lost gets a new id.
        let unnamed = || FoundDiscussion::new(DiscussionId::fresh());
        self.scan("facts", "discussion, seq", |number, row| {
            discussions.entry(row.get(1)?).or_insert_with(unnamed).add(seq(row, 2)?, Some(number));
            Ok(())
        });
        // The index may still list rows that are lost.
        let sql = "SELECT discussion, seq FROM facts INDEXED BY sqlite_autoindex_facts_1";
        self.scan_index(sql, &["discussion", "seq"], |row| {
            discussions.entry(row.get(0)?).or_insert_with(unnamed).add(seq(row, 1)?, None);
            Ok(())
        });
        Survey {
            sessions: self.sessions(),
            audit: self.audit(),
            outcomes: self.outcomes(),
            discussions: discussions.into_values().collect(),
        }
    }

    /// The ids of discussions by number, from the table and from its index.
    fn ids(&self) -> BTreeMap<i64, DiscussionId> {
        let mut ids = BTreeMap::new();
        let sql = "SELECT number, id FROM discussions INDEXED BY sqlite_autoindex_discussions_1";
        self.scan_index(sql, &["id"], |row| {
            ids.insert(row.get(0)?, parsed(row, 1)?);
            Ok(())
        });
        self.scan("discussions", "id", |number, row| {
            ids.insert(number, parsed(row, 1)?);
            Ok(())
        });
        ids
    }

    fn sessions(&self) -> Vec<Session> {
        let mut sessions = Vec::new();
        self.scan("sessions", "id, name, created_at, tenant", |_, row| {
            let (id, tenant) = (parsed(row, 1)?, Tenant::named(row.get_ref(4)?.as_str()?));
            sessions.push(Session { id, name: row.get(2)?, created_at: Timestamp(row.get(3)?), tenant });
            Ok(())
        });
        sessions
    }

    fn audit(&self) -> Vec<AuditEntry> {
        let mut entries = Vec::new();
        self.scan("deeds", "at, tenant, who, action, discussion, result", |_, row| {
            entries.push(AuditEntry {
                at: Timestamp(row.get(1)?),
                tenant: Tenant::named(row.get_ref(2)?.as_str()?),
                who: row.get(3)?,
                action: row.get(4)?,
                discussion: parsed(row, 5)?,
                result: row.get(6)?,
            });
            Ok(())
        });
        entries
    }

    fn outcomes(&self) -> Vec<KnownOutcome> {
        let mut found = Vec::new();
        self.scan("outcomes", outcomes::COLUMNS, |_, row| {
            found.push(outcomes::outcome(row, 1)?);
            Ok(())
        });
        found
    }

    /// The facts in these rows, up to the first unreadable one. A fact of an unknown type counts as
    /// unreadable, because it couldn't be written again unchanged.
    pub(super) fn facts(&self, id: DiscussionId, rows: &[i64]) -> Vec<Fact> {
        let facts = rows.iter().map_while(|row| self.fact(id, *row).ok());
        facts.take_while(|fact| fact.event != Event::Unknown).collect()
    }

    fn fact(&self, id: DiscussionId, row: i64) -> Result<Fact, JobError> {
        let sql = "SELECT seq, at, active_ms, step, body FROM facts WHERE rowid = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([row])?;
        record::fact(id, rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
    }

    /// Reads every reachable row of a table: first the row id, then the columns.
    fn scan(&self, table: &str, columns: &str, mut read: impl FnMut(i64, &Row<'_>) -> rusqlite::Result<()>) {
        let sql = format!("SELECT rowid, {columns} FROM {table} WHERE rowid > ?1 ORDER BY rowid");
        let mut after = 0;
        while self.scan_from(&sql, &mut after, &mut read).is_err() {
            let Some(next) = self.next_readable(table, after) else { return };
            after = next;
        }
    }

    /// Reads rows to the end or to the first that can't be reached. A row that can be reached but
    /// not parsed is skipped.
    fn scan_from(
        &self,
        sql: &str,
        after: &mut i64,
        read: &mut impl FnMut(i64, &Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([*after])?;
        while let Some(row) = rows.next()? {
            *after = row.get(0)?;
            let _ = read(*after, row);
        }
        Ok(())
    }

    /// The lowest row id after `after` from which rows can be read again: found by doubling the
    /// step, then by bisection.
    fn next_readable(&self, table: &str, after: i64) -> Option<i64> {
        let sql = format!("SELECT rowid FROM {table} WHERE rowid > ?1 ORDER BY rowid LIMIT 1");
        let probe = |step: i64| {
            let mut statement = self.connection.prepare(&sql)?;
            statement.query_row([after.saturating_add(step)], |row| row.get::<_, i64>(0)).optional()
        };
        let (mut broken, mut readable) = (0, 1);
        while probe(readable).is_err() {
            (broken, readable) = (readable, readable * 2);
            if readable > WIDEST_GAP {
                return None;
            }
        }
        while readable - broken > 1 {
            let middle = broken + (readable - broken) / 2;
            if probe(middle).is_ok() { readable = middle } else { broken = middle }
        }
        Some(after.saturating_add(readable))
    }

    /// Reads an index from both ends, each up to the first unreadable entry.
    fn scan_index(&self, sql: &str, key: &[&str], mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>) {
        for order in [" ASC", " DESC"] {
            let key: Vec<String> = key.iter().map(|column| format!("{column}{order}")).collect();
            let sql = format!("{sql} ORDER BY {}", key.join(", "));
            let Ok(mut statement) = self.connection.prepare(&sql) else { return };
            let Ok(mut rows) = statement.query([]) else { continue };
            while let Ok(Some(row)) = rows.next() {
                let _ = read(row);
            }
        }
    }
}

fn seq(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.try_into().unwrap_or_default())
}
