//! The registry of nodes.

use quorum_core::{
    model::{
        id::{DiscussionId, NodeId},
        time::Timestamp,
    },
    seams::{Beat, Duty, Node, NodeStatus, Pulse, StoreError},
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{batch::text, connection::Connection, error::JobError, migrate};

/// Adds a node that listens at this channel, unless its id has a row.
pub(crate) async fn join(connection: &mut Connection, node: &Node, channel: &str) -> Result<(), JobError> {
    let Node { id, name, version, config, lease_ms } = node;
    let sql =
        "INSERT INTO nodes (id, name, version, config, lease_ms, channel, knows) VALUES ($1, $2, $3, $4, $5, $6, $7)
               ON CONFLICT DO NOTHING";
    let (id, lease_ms) = (Uuid::from(*id), *lease_ms as i64);
    let shown: [_; 3] = [name, version, config].map(|it| text(it));
    connection
        .execute(sql, &[&id, &shown[0], &shown[1], &shown[2], &lease_ms, &channel, &migrate::VERSION])
        .await?;
    Ok(())
}

/// Adds 1 to a node's beat and returns everyone's; `None` if it has no row.
pub(crate) async fn beat(
    connection: &mut Connection,
    node: NodeId,
    duty: Duty,
) -> Result<Option<Pulse>, JobError> {
    let sql = "WITH own AS (
                   UPDATE nodes SET beat = beat + 1, draining = $2 WHERE id = $1 RETURNING id, beat
               )
               SELECT nodes.id, coalesce(own.beat, nodes.beat), nodes.lease_ms, now_us()
               FROM nodes LEFT JOIN own USING (id) WHERE EXISTS (SELECT FROM own)";
    let rows = connection.query(sql, &[&Uuid::from(node), &(duty == Duty::Draining)]).await?;
    let beat = |row: &Row| Beat {
        node: row.get::<_, Uuid>(0).into(),
        beat: row.get::<_, i64>(1) as u64,
        lease_ms: row.get::<_, i64>(2) as u64,
    };
    let at = rows.first().map(|row| Timestamp(row.get(3)));
    Ok(at.map(|at| Pulse { beats: rows.iter().map(beat).collect(), at: Some(at) }))
}

/// Deletes a node's row if its beat is still this one. Its claims end by the foreign key.
pub(crate) async fn reap(connection: &mut Connection, node: NodeId, beat: u64) -> Result<bool, JobError> {
    let sql = "DELETE FROM nodes WHERE id = $1 AND beat = $2";
    Ok(0 < connection.execute(sql, &[&Uuid::from(node), &(beat as i64)]).await?)
}

/// Deletes the row of a node that ends.
pub(crate) async fn deregister(connection: &mut Connection, node: NodeId) -> Result<(), JobError> {
    connection.execute("DELETE FROM nodes WHERE id = $1", &[&Uuid::from(node)]).await?;
    Ok(())
}

/// Notes that a client of a node waits for a discussion.
pub(crate) async fn attach(
    connection: &mut Connection,
    id: DiscussionId,
    client: Uuid,
    node: NodeId,
) -> Result<(), JobError> {
    let sql = "INSERT INTO attached (discussion, client, node) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    let attached = connection.execute(sql, &[&Uuid::from(id), &client, &Uuid::from(node)]).await;
    attached.map(drop).map_err(|error| if error.is_gone() { StoreError::Gone(node).into() } else { error })
}

/// Ends the note of a client, and returns whether no other waits for the discussion. The lock makes
/// one of those that leave at the same time the last.
pub(crate) async fn detach(
    connection: &mut Connection,
    id: DiscussionId,
    client: Uuid,
) -> Result<bool, JobError> {
    let sql = "SELECT client FROM attached WHERE discussion = $1 ORDER BY client FOR UPDATE";
    let clients = connection.query(sql, &[&Uuid::from(id)]).await?;
    let sql = "DELETE FROM attached WHERE discussion = $1 AND client = $2";
    connection.execute(sql, &[&Uuid::from(id), &client]).await?;
    Ok(clients.iter().all(|row| row.get::<_, Uuid>(0) == client))
}

/// Needs new disk space, like many facts, and is always undone.
const TRY_WRITING: &str = "CREATE TABLE trial (body text);
    INSERT INTO trial SELECT repeat(md5(number::text), 55) FROM generate_series(1, 32) AS number;
    INSERT INTO facts (discussion, seq, at, active_ms, type, body)
    SELECT -1, number, 0, 0, 'trial', repeat(md5(number::text), 55) FROM generate_series(1, 4) AS number";

/// Writes something and takes it back; fails if that can't be done.
pub(crate) async fn try_writing(connection: &mut Connection) -> Result<(), JobError> {
    connection.begin().await?;
    let written = connection.batch(TRY_WRITING).await;
    let undone = connection.undo().await;
    written.and(undone)
}

/// The time by the database's clock.
pub(crate) async fn clock(connection: &mut Connection) -> Result<Timestamp, JobError> {
    Ok(Timestamp(connection.query("SELECT now_us()", &[]).await?[0].get(0)))
}

/// All nodes.
pub(crate) async fn all(connection: &mut Connection) -> Result<Vec<NodeStatus>, JobError> {
    let sql = "SELECT id, name, version, config, lease_ms, beat, draining,
               (SELECT count(*) FROM discussions WHERE node = nodes.id) FROM nodes ORDER BY id";
    let status = |row: &Row| NodeStatus {
        node: Node {
            id: row.get::<_, Uuid>(0).into(),
            name: row.get(1),
            version: row.get(2),
            config: row.get(3),
            lease_ms: row.get::<_, i64>(4) as u64,
        },
        beat: row.get::<_, i64>(5) as u64,
        duty: if row.get(6) { Duty::Draining } else { Duty::Serving },
        held: row.get::<_, i64>(7) as u64,
    };
    Ok(connection.query(sql, &[]).await?.iter().map(status).collect())
}
