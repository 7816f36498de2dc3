//! The inbox: commands to discussions, in the order they were sent.

use quorum_core::{
    model::{
        command::{Command, CommandId},
        id::DiscussionId,
        ruling::RulingAwaited,
    },
    seams::{StoreError, admit},
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    cache::Run,
    error::{JobError, unreadable},
    write_context::WriteContext,
};

/// Puts a command into the inbox, which wakes a discussion that waits.
pub(crate) fn send(
    context: &mut WriteContext,
    id: DiscussionId,
    command: &Command,
) -> Result<CommandId, JobError> {
    let mut cached = context.root(id)?;
    if cached.run == Run::Over {
        return Err(StoreError::Over(id).into());
    }
    match command {
        Command::Say(say) => check_turn_of(context, id, cached.number, &say.participant)?,
        Command::Rule(ruling) => {
            let awaited = ruling_awaited(&context.connection, id, cached.number)?;
            admit(id, awaited.as_ref(), ruling)?;
        }
        Command::Pause | Command::Resume | Command::Stop | Command::Abort | Command::Note(_) => {}
    }
    let body = serde_json::to_string(command).map_err(|error| unreadable(id, "a command", error))?;
    let mut insert = context.connection.prepare_cached(
        "INSERT INTO commands (discussion, id, command, at)
         SELECT ?1, ifnull(max(id), 0) + 1, ?2, ?3 FROM commands WHERE discussion = ?1 RETURNING id",
    )?;
    let number: i64 = insert.query_row(params![id.to_string(), body, context.now().0], |row| row.get(0))?;
    drop(insert);
    if cached.holder.is_none() {
        // Whatever kept it from being run, it can be claimed now.
        let sql = "UPDATE discussions SET run = 'runnable', stuck = 0, attempts = 0, ready_at = ?2
                   WHERE number = ?1";
        context.connection.prepare_cached(sql)?.execute(params![cached.number, context.now().0])?;
        (cached.run, cached.attempts) = (Run::Runnable, 0);
        context.cache(id, cached);
    }
    Ok(CommandId(number as u64))
}

/// Fails unless it is this participant's turn and no turn of it is already in the inbox.
fn check_turn_of(
    context: &WriteContext,
    id: DiscussionId,
    number: i64,
    speaker: &str,
) -> Result<(), JobError> {
    let awaited = awaited(&context.connection, id, number)?;
    if awaited.iter().any(|name| name == speaker) {
        return Ok(());
    }
    Err(StoreError::NotAwaited { participant: speaker.to_owned(), awaited }.into())
}

/// The participants whose turn it is: those whose step has no answer, unless the talk was wound up
/// since.
fn awaited(connection: &Connection, id: DiscussionId, number: i64) -> Result<Vec<String>, JobError> {
    let mut statement = connection.prepare_cached(
        "SELECT asked.body ->> '$.participant' FROM facts asked
         WHERE asked.discussion = ?1 AND asked.type = 'person_awaited'
         AND NOT EXISTS (SELECT 1 FROM facts WHERE discussion = ?1 AND type = 'turn_completed' AND step = asked.body ->> '$.answers')
         AND NOT EXISTS (SELECT 1 FROM facts WHERE discussion = ?1 AND type = 'wound_up' AND seq > asked.seq)
         AND NOT EXISTS (SELECT 1 FROM commands WHERE discussion = ?2 AND command ->> '$.command' = 'say'
             AND command ->> '$.participant' = asked.body ->> '$.participant'
             AND id > (SELECT ifnull(max(body ->> '$.id'), 0) FROM facts WHERE discussion = ?1 AND type = 'command_taken'))
         ORDER BY asked.seq",
    )?;
    let rows = statement.query_map(params![number, id.to_string()], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The ruling that is awaited, unless it was made or the talk was wound up since.
fn ruling_awaited(
    connection: &Connection,
    id: DiscussionId,
    number: i64,
) -> Result<Option<RulingAwaited>, JobError> {
    let mut statement = connection.prepare_cached(
        "SELECT asked.body FROM facts asked
         WHERE asked.discussion = ?1 AND asked.type = 'ruling_awaited'
         AND NOT EXISTS (SELECT 1 FROM facts WHERE discussion = ?1 AND type IN ('ruled', 'wound_up') AND seq > asked.seq)
         AND NOT EXISTS (SELECT 1 FROM commands WHERE discussion = ?2 AND command ->> '$.command' = 'rule'
             AND id > (SELECT ifnull(max(body ->> '$.id'), 0) FROM facts WHERE discussion = ?1 AND type = 'command_taken'))
         ORDER BY asked.seq DESC LIMIT 1",
    )?;
    let body: Option<String> =
        statement.query_row(params![number, id.to_string()], |row| row.get(0)).optional()?;
    let awaited = body.map(|body| serde_json::from_str(&body)).transpose();
    awaited.map_err(|error| unreadable(id, "the awaited ruling", error))
}

/// The commands after this one.
pub(crate) fn commands(
    connection: &Connection,
    id: DiscussionId,
    after: CommandId,
) -> Result<Vec<(CommandId, Command)>, JobError> {
    let sql = "SELECT 1 FROM discussions WHERE id = ?1 AND root = id";
    if !connection.prepare_cached(sql)?.exists([id.to_string()])? {
        return Err(StoreError::Unknown(id).into());
    }
    let sql = "SELECT id, command FROM commands WHERE discussion = ?1 AND id > ?2 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![id.to_string(), after.0 as i64])?;
    let mut commands = Vec::new();
    while let Some(row) = rows.next()? {
        let number = CommandId(row.get::<_, i64>(0)? as u64);
        let body: String = row.get(1)?;
        let command = serde_json::from_str(&body);
        commands.push((number, command.map_err(|error| unreadable(id, "a command", error))?));
    }
    Ok(commands)
}

/// The number of the newest command of all discussions.
pub(crate) fn newest(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT ifnull(max(number), 0) FROM commands", [], |row| row.get(0))
}

/// The discussions with commands after this number, and the newest number.
pub(crate) fn commands_since(
    connection: &Connection,
    seen: i64,
) -> rusqlite::Result<(Vec<DiscussionId>, i64)> {
    let sql = "SELECT discussion, max(number) FROM commands WHERE number > ?1 GROUP BY discussion";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([seen], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    let found: Vec<(String, i64)> = rows.collect::<Result<_, _>>()?;
    let newest = found.iter().map(|(_, number)| *number).max().unwrap_or(seen);
    Ok((found.iter().filter_map(|(id, _)| id.parse().ok()).collect(), newest))
}
