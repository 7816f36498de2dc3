//! The full-text index: the words of topics, syntheses and turns.

use quorum_core::model::relevance::indexed;
use rusqlite::{Connection, params};

use crate::{error::JobError, write_context::WriteContext};

/// How many discussions are indexed per transaction, so that other writes don't wait for all of
/// them.
pub(crate) const BATCH: usize = 64;

/// Whether discussions are missing from the index. They are only marked when they start, wait or
/// end, and indexed at the next search, because searches are rare.
pub(crate) fn is_stale(connection: &Connection) -> Result<bool, JobError> {
    Ok(connection.prepare_cached("SELECT 1 FROM discussions WHERE unindexed = 1")?.exists([])?)
}

/// Indexes some of the missing discussions. Returns how many; fewer than [`BATCH`] means it is
/// done.
pub(crate) fn index_batch(context: &mut WriteContext) -> Result<usize, JobError> {
    let connection = &context.connection;
    let mut missing =
        connection.prepare_cached("SELECT number FROM discussions WHERE unindexed = 1 LIMIT ?1")?;
    let missing: Vec<i64> = missing.query_map([BATCH as i64], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for number in &missing {
        index(connection, *number)?;
    }
    Ok(missing.len())
}

/// Indexes a discussion's words, replacing those indexed before.
fn index(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    let [topic, synthesis, talk] = texts(connection, number)?;
    let sql = "INSERT OR REPLACE INTO search (rowid, topic, synthesis, talk) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![number, topic, synthesis, talk])?;
    connection
        .prepare_cached("UPDATE discussions SET unindexed = 0 WHERE number = ?1")?
        .execute([number])
        .map(drop)
}

/// The words of a discussion's topic, synthesis and turns, as the index holds them.
fn texts(connection: &Connection, number: i64) -> rusqlite::Result<[String; 3]> {
    let mut statement = connection.prepare_cached(
        "SELECT topic, ifnull(synthesis, ''),
             ifnull((SELECT group_concat(content, char(10)) FROM discussion_logs
                     WHERE project_id = discussions.id AND metadata ->> '$.kind' = 'turn'), '')
         FROM discussions WHERE number = ?1",
    )?;
    let text = |row: &rusqlite::Row<'_>, column: usize| -> rusqlite::Result<String> {
        Ok(indexed(row.get_ref(column)?.as_str()?))
    };
    statement.query_row([number], |row| Ok([text(row, 0)?, text(row, 1)?, text(row, 2)?]))
}

/// The same of a discussion that the index lacks; `None` if it has it.
pub(crate) fn unindexed_texts(connection: &Connection, number: i64) -> rusqlite::Result<Option<[String; 3]>> {
    let sql = "SELECT 1 FROM discussions WHERE number = ?1 AND unindexed = 1";
    let is_missing = connection.prepare_cached(sql)?.exists([number])?;
    is_missing.then(|| texts(connection, number)).transpose()
}
