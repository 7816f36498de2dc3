//! The registry of nodes. Besides its beat, a node's lock file tells whether its process is alive.

use quorum_core::{
    model::id::{DiscussionId, NodeId},
    seams::{Beat, Duty, Node, NodeStatus, Pulse, StoreError},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::{cache::parsed, error::JobError, write_context::WriteContext};

/// Adds a node, unless its id has a row.
pub(crate) fn join(context: &mut WriteContext, node: &Node) -> Result<(), JobError> {
    reap_dead(context)?;
    let Node { id, name, version, config, lease_ms } = node;
    let mut statement = context.connection.prepare_cached(
        "INSERT OR IGNORE INTO nodes (id, beat, name, version, config, lease_ms, draining, runner)
         VALUES (?1, 0, ?2, ?3, ?4, ?5, 0, ?6)",
    )?;
    let (lease_ms, runner) = (*lease_ms as i64, &context.liveness.name);
    statement.execute(params![id.to_string(), name, version, config, lease_ms, runner])?;
    Ok(())
}

/// Adds 1 to a node's beat and returns everyone's; `None` if it has no row.
pub(crate) fn beat(context: &mut WriteContext, node: NodeId, duty: Duty) -> Result<Option<Pulse>, JobError> {
    let sql = "UPDATE nodes SET beat = beat + 1, draining = ?2 WHERE id = ?1";
    let draining = duty == Duty::Draining;
    if context.connection.prepare_cached(sql)?.execute(params![node.to_string(), draining])? == 0 {
        return Ok(None);
    }
    reap_dead(context)?;
    let mut statement = context.connection.prepare_cached("SELECT id, beat, lease_ms FROM nodes")?;
    let beat = |row: &Row<'_>| {
        let (beat, lease_ms) = (row.get::<_, i64>(1)? as u64, row.get::<_, i64>(2)? as u64);
        Ok(Beat { node: parsed(row, 0)?, beat, lease_ms })
    };
    let beats = statement.query_map([], beat)?.collect::<Result<_, _>>()?;
    Ok(Some(Pulse { beats, at: Some(context.now()) }))
}

/// Deletes a node's row if its beat is still this one.
pub(crate) fn reap(context: &mut WriteContext, node: NodeId, beat: u64) -> Result<bool, JobError> {
    let sql = "DELETE FROM nodes WHERE id = ?1 AND beat = ?2";
    let deleted = context.connection.prepare_cached(sql)?.execute(params![node.to_string(), beat as i64])?;
    context.clear_cache();
    Ok(0 < deleted)
}

/// Deletes the row of a node that ends.
pub(crate) fn deregister(context: &mut WriteContext, node: NodeId) -> Result<(), JobError> {
    context.connection.prepare_cached("DELETE FROM nodes WHERE id = ?1")?.execute([node.to_string()])?;
    context.clear_cache();
    Ok(())
}

/// Notes that a client of a node waits for a discussion.
pub(crate) fn attach(
    context: &mut WriteContext,
    id: DiscussionId,
    client: Uuid,
    node: NodeId,
) -> Result<(), JobError> {
    check(context, node)?;
    let sql = "INSERT OR IGNORE INTO attached (discussion, client, node) VALUES (?1, ?2, ?3)";
    let row = params![id.to_string(), client.to_string(), node.to_string()];
    context.connection.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// Ends the note of a client, and returns whether no other waits for the discussion.
pub(crate) fn detach(context: &mut WriteContext, id: DiscussionId, client: Uuid) -> Result<bool, JobError> {
    reap_dead(context)?;
    let sql = "DELETE FROM attached WHERE discussion = ?1 AND client = ?2";
    context.connection.prepare_cached(sql)?.execute([id.to_string(), client.to_string()])?;
    let sql = "SELECT 1 FROM attached WHERE discussion = ?1";
    Ok(!context.connection.prepare_cached(sql)?.exists([id.to_string()])?)
}

/// Deletes the nodes whose processes are dead. Only inside a write transaction, as [`is_alive`]
/// is.
///
/// [`is_alive`]: crate::liveness::Liveness::is_alive
pub(crate) fn reap_dead(context: &mut WriteContext) -> Result<(), JobError> {
    let mut statement = context.connection.prepare_cached("SELECT id, runner FROM nodes")?;
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let all: Vec<(String, String)> = statement.query_map([], row)?.collect::<Result<_, _>>()?;
    drop(statement);
    for (id, runner) in all {
        if context.liveness.is_alive(&runner) {
            continue;
        }
        context.liveness.sweep();
        context.connection.prepare_cached("DELETE FROM nodes WHERE id = ?1")?.execute([id])?;
        context.clear_cache();
    }
    Ok(())
}

/// The name of a node for people, if its process is alive.
pub(crate) fn living(context: &mut WriteContext, node: NodeId) -> Result<Option<String>, JobError> {
    let sql = "SELECT name, runner FROM nodes WHERE id = ?1";
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    let found = context.connection.prepare_cached(sql)?.query_row([node.to_string()], row).optional()?;
    let Some((name, runner)) = found else { return Ok(None) };
    if context.liveness.is_alive(&runner) {
        return Ok(Some(name));
    }
    deregister(context, node)?;
    Ok(None)
}

/// Fails unless the node has a row.
pub(crate) fn check(context: &WriteContext, node: NodeId) -> Result<(), JobError> {
    let sql = "SELECT 1 FROM nodes WHERE id = ?1";
    let exists = context.connection.prepare_cached(sql)?.exists([node.to_string()])?;
    exists.then_some(()).ok_or(JobError::Refused(StoreError::Gone(node)))
}

/// All nodes whose processes are alive.
pub(crate) fn living_nodes(context: &mut WriteContext) -> Result<Vec<NodeStatus>, JobError> {
    reap_dead(context)?;
    all(&context.connection)
}

/// All nodes.
pub(crate) fn all(connection: &Connection) -> Result<Vec<NodeStatus>, JobError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, name, version, config, lease_ms, beat, draining,
         (SELECT count(*) FROM discussions WHERE node = nodes.id) FROM nodes ORDER BY id",
    )?;
    let status = |row: &Row<'_>| {
        let node = Node {
            id: parsed(row, 0)?,
            name: row.get(1)?,
            version: row.get(2)?,
            config: row.get(3)?,
            lease_ms: row.get::<_, i64>(4)? as u64,
        };
        let duty = if row.get(6)? { Duty::Draining } else { Duty::Serving };
        Ok(NodeStatus { node, beat: row.get::<_, i64>(5)? as u64, duty, held: row.get::<_, i64>(7)? as u64 })
    };
    Ok(statement.query_map([], status)?.collect::<Result<_, _>>()?)
}
