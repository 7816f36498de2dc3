//! Requirement C's three tables, written in the same transaction as the facts they are derived
//! from.

use quorum_core::model::{
    event::Fact,
    id::DiscussionId,
    seed_rows::{Seats, StateUpdate, log, stored_role},
    time::iso,
};
use rusqlite::{Connection, params};

/// Writes the participants and the initial state.
pub(crate) fn open(
    connection: &Connection,
    id: DiscussionId,
    facts: &[Fact],
    seats: &Seats,
) -> rusqlite::Result<()> {
    let project = id.to_string();
    let at = facts.first().map(|fact| iso(fact.at)).unwrap_or_default();
    let mut participant = connection.prepare_cached(
        "INSERT INTO discussion_participants (id, project_id, agent_id, role, sequence_order, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (place, seat) in seats.0.iter().enumerate() {
        let row = id.derived(&format!("participant/{place}")).to_string();
        participant.execute(params![
            row,
            project,
            seat.agent(),
            stored_role(&seat.role),
            place as i64,
            at
        ])?;
    }
    let mut state = connection.prepare_cached(
        "INSERT INTO discussion_state (id, project_id, current_turn_index, current_round, status, created_at, updated_at)
         VALUES (?1, ?2, 0, 0, 'active', ?3, ?3)",
    )?;
    state.execute(params![id.derived("state").to_string(), project, at])?;
    apply(connection, id, facts, seats)
}

/// Writes what these facts add.
pub(crate) fn apply(
    connection: &Connection,
    id: DiscussionId,
    facts: &[Fact],
    seats: &Seats,
) -> rusqlite::Result<()> {
    let project = id.to_string();
    for log in facts.iter().filter_map(|fact| log(id, fact, seats)) {
        let mut statement = connection.prepare_cached(
            "INSERT INTO discussion_logs
             (id, project_id, agent_id, role, content, turn_index, round_number, metadata, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        let (seat, at) = (log.turn_index as i64, iso(log.at));
        statement.execute(params![
            log.id,
            project,
            log.agent,
            log.role,
            log.content,
            seat,
            log.round,
            log.metadata,
            at
        ])?;
    }
    let update = StateUpdate::of(facts, seats);
    if update == StateUpdate::default() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "UPDATE discussion_state SET current_turn_index = ifnull(?2, current_turn_index),
         current_round = ifnull(?3, current_round), status = ifnull(?4, status), updated_at = ?5 WHERE project_id = ?1",
    )?;
    let at = facts.last().map(|fact| iso(fact.at)).unwrap_or_default();
    let seat = update.turn_index.map(|seat| seat as i64);
    statement.execute(params![project, seat, update.round, update.status, at]).map(drop)
}
