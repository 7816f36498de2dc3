//! The inbox: commands to discussions, in the order they were sent.

use std::collections::HashSet;

use quorum_core::{
    model::{
        command::{Command, CommandId},
        event::Event,
        id::{DiscussionId, Step},
        ruling::RulingAwaited,
    },
    seams::{StoreError, admit},
};
use uuid::Uuid;

use crate::{
    connection::Connection,
    error::{JobError, unreadable},
};

/// A command in the inbox.
pub(crate) struct Sent {
    pub(crate) id: CommandId,
    /// Where the node listens that runs the discussion.
    pub(crate) runner: Option<String>,
}

/// Puts a command into the inbox, which wakes a discussion that waits.
pub(crate) async fn send(
    connection: &mut Connection,
    id: DiscussionId,
    command: &Command,
) -> Result<Sent, JobError> {
    let sql = "SELECT number, run FROM discussions WHERE id = $1 AND root = id FOR NO KEY UPDATE";
    let row = connection.query_opt(sql, &[&Uuid::from(id)]).await?.ok_or(StoreError::Unknown(id))?;
    if row.get::<_, &str>(1) == "over" {
        return Err(StoreError::Over(id).into());
    }
    admits(connection, id, row.get(0), command).await?;
    let body = serde_json::to_string(command).map_err(|error| unreadable(id, "a command", error))?;
    // Whatever kept it from being run, it can be claimed now.
    let sql = "WITH it AS (
                   UPDATE discussions SET
                       last_command = last_command + 1,
                       run = CASE WHEN node IS NULL THEN 'runnable' ELSE run END,
                       stuck = stuck AND node IS NOT NULL,
                       attempts = CASE WHEN node IS NULL THEN 0 ELSE attempts END,
                       ready_at = CASE WHEN node IS NULL THEN now_us() ELSE ready_at END
                   WHERE number = $1 RETURNING id, last_command, node
               ), sent AS (
                   INSERT INTO commands (discussion, id, command, at) SELECT id, last_command, $2, now_us() FROM it
               )
               SELECT last_command, (SELECT channel FROM nodes WHERE nodes.id = node) FROM it";
    let row = connection.query(sql, &[&row.get::<_, i64>(0), &body]).await?.remove(0);
    Ok(Sent { id: CommandId(row.get::<_, i64>(0) as u64), runner: row.get(1) })
}

/// Fails if it is a turn or a ruling that isn't awaited, or that another command has already given.
async fn admits(
    connection: &mut Connection,
    id: DiscussionId,
    number: i64,
    command: &Command,
) -> Result<(), JobError> {
    match command {
        Command::Say(say) => {
            let awaited = Situation::read(connection, id, number).await?.awaited();
            if awaited.contains(&say.participant) {
                return Ok(());
            }
            Err(StoreError::NotAwaited { participant: say.participant.clone(), awaited }.into())
        }
        Command::Rule(ruling) => {
            let awaited = Situation::read(connection, id, number).await?.ruling();
            Ok(admit(id, awaited.as_ref(), ruling)?)
        }
        Command::Pause | Command::Resume | Command::Stop | Command::Abort | Command::Note(_) => Ok(()),
    }
}

/// What decides whether a person is awaited: facts, and commands that were not taken yet.
struct Situation {
    facts: Vec<(Option<Step>, Event)>,
    pending: Vec<Command>,
}

impl Situation {
    async fn read(connection: &mut Connection, id: DiscussionId, number: i64) -> Result<Self, JobError> {
        let sql = "SELECT step, body FROM facts WHERE discussion = $1 AND type IN
                   ('person_awaited', 'turn_completed', 'wound_up', 'command_taken', 'ruling_awaited', 'ruled')
                   ORDER BY seq";
        let mut facts = Vec::new();
        for row in connection.query(sql, &[&number]).await? {
            let event = serde_json::from_str(row.get(1)).map_err(|error| unreadable(id, "a fact", error))?;
            facts.push((row.get::<_, Option<&str>>(0).map(Step::from), event));
        }
        let taken = facts.iter().filter_map(|(_, event)| match event {
            Event::CommandTaken { id, .. } => Some(*id),
            _ => None,
        });
        let after = taken.max().unwrap_or_default();
        let pending = read(connection, id, after).await?.into_iter().map(|it| it.1).collect();
        Ok(Situation { facts, pending })
    }

    /// The participants whose turn it is: those whose step has no answer, unless the talk was wound
    /// up since, and who have not spoken yet.
    fn awaited(&self) -> Vec<String> {
        let answered: HashSet<&str> = self
            .facts
            .iter()
            .filter(|(_, event)| matches!(event, Event::TurnCompleted { .. }))
            .filter_map(|(step, _)| step.as_ref().map(Step::as_str))
            .collect();
        let mut awaited = Vec::new();
        for (_, event) in &self.facts {
            match event {
                Event::PersonAwaited(it) if !answered.contains(it.answers.as_str()) => {
                    awaited.push(it.participant.clone());
                }
                Event::WoundUp { .. } => awaited.clear(),
                _ => {}
            }
        }
        let has_spoken = |name: &String| {
            self.pending.iter().any(|it| matches!(it, Command::Say(say) if say.participant == *name))
        };
        awaited.retain(|name| !has_spoken(name));
        awaited
    }

    /// The ruling that is awaited, unless it was made or the talk was wound up since.
    fn ruling(&self) -> Option<RulingAwaited> {
        if self.pending.iter().any(|it| matches!(it, Command::Rule(_))) {
            return None;
        }
        self.facts.iter().fold(None, |awaited, (_, event)| match event {
            Event::RulingAwaited(it) => Some(it.clone()),
            Event::Ruled(_) | Event::WoundUp { .. } => None,
            _ => awaited,
        })
    }
}

/// The commands after this one.
pub(crate) async fn commands(
    connection: &mut Connection,
    id: DiscussionId,
    after: CommandId,
) -> Result<Vec<(CommandId, Command)>, JobError> {
    let found = read(connection, id, after).await?;
    let sql = "SELECT 1 FROM discussions WHERE id = $1 AND root = id";
    if found.is_empty() && connection.query_opt(sql, &[&Uuid::from(id)]).await?.is_none() {
        return Err(StoreError::Unknown(id).into());
    }
    Ok(found)
}

async fn read(
    connection: &mut Connection,
    id: DiscussionId,
    after: CommandId,
) -> Result<Vec<(CommandId, Command)>, JobError> {
    let sql = "SELECT id, command FROM commands WHERE discussion = $1 AND id > $2 ORDER BY id";
    let mut commands = Vec::new();
    for row in connection.query(sql, &[&Uuid::from(id), &(after.0 as i64)]).await? {
        let command = serde_json::from_str(row.get(1)).map_err(|error| unreadable(id, "a command", error))?;
        commands.push((CommandId(row.get::<_, i64>(0) as u64), command));
    }
    Ok(commands)
}
