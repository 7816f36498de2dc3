//! The rows of requirement C's three tables: pure functions from facts, for every store that keeps
//! these tables.

use crate::model::{
    event::{Event, Fact},
    id::DiscussionId,
    lifecycle::Lifecycle,
    participant::{Participant, Role},
    reading::{Reading, Source},
    time::Timestamp,
    transcript::Turn,
};
use serde_json::{Value, json};
use uuid::Uuid;

/// The participants in seating order.
#[derive(Debug, PartialEq)]
pub struct Seats(pub Vec<Seat>);

/// One participant, as the tables know it.
#[derive(Debug, PartialEq)]
pub struct Seat {
    /// The name.
    pub name: String,
    /// The role.
    pub role: Role,
    /// Whether a person sits there.
    pub is_person: bool,
}

impl Seat {
    /// The agent behind the seat; people have none.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        (!self.is_person).then_some(self.name.as_str())
    }
}

impl Seats {
    /// The participants of the spec that a discussion was opened with.
    #[must_use]
    pub fn of(opened: &Event) -> Self {
        let Event::Opened { spec, .. } = opened else { return Seats(Vec::new()) };
        let seat = |it: &Participant| Seat {
            name: it.name.clone(),
            role: it.role.clone(),
            is_person: it.is_person(),
        };
        Seats(spec.participants.iter().map(seat).collect())
    }

    /// The seat index and role of this participant; an unknown name gets the index after the last
    /// seat.
    fn find(&self, name: &str) -> (usize, &Role) {
        let found = self.place(name);
        found.map_or((self.0.len(), &SPEAKER), |seat| (seat, &self.0[seat].role))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|it| it.name == name)
    }

    /// The seat whose turn follows this participant's: the next one, and after the last the first.
    fn after(&self, name: &str) -> usize {
        self.place(name).map_or(0, |seat| (seat + 1) % self.0.len())
    }

    fn is_person(&self, name: &str) -> bool {
        self.place(name).is_some_and(|seat| self.0[seat].is_person)
    }

    /// The agent that goes by this name; people have none.
    fn agent<'n>(&self, name: &'n str) -> Option<&'n str> {
        (!self.is_person(name)).then_some(name)
    }

    /// The metadata of a row by this participant. A person is named here, having no agent id.
    fn metadata(&self, name: &str, mut metadata: Value) -> String {
        if self.is_person(name) {
            metadata["participant"] = name.into();
        }
        metadata.to_string()
    }
}

static SPEAKER: Role = Role::SPEAKER;

/// A role under requirement C's names; the real one is in the log's metadata.
#[must_use]
pub fn stored_role(role: &Role) -> &'static str {
    match role.name() {
        "manager" => "manager",
        "leader" => "leader",
        "user" => "user",
        _ => "specialist",
    }
}

/// A change to `discussion_state`; `None` leaves a column unchanged.
#[derive(Debug, Default, PartialEq)]
pub struct StateUpdate {
    /// The seat whose turn it is.
    pub turn_index: Option<usize>,
    /// The round.
    pub round: Option<u32>,
    /// The status: `active`, `paused` or `completed`.
    pub status: Option<&'static str>,
}

impl StateUpdate {
    /// The change that these facts make.
    #[must_use]
    pub fn of(facts: &[Fact], seats: &Seats) -> Self {
        let mut update = StateUpdate::default();
        for fact in facts {
            match &fact.event {
                Event::LifecycleChanged { to, .. } => update.status = Some(stored_status(*to)),
                Event::RoundOpened { round } | Event::PhaseEntered { round, .. } => {
                    update.round = Some(*round);
                }
                Event::CallPlaced(placed) => update.turn_index = Some(seats.find(&placed.participant).0),
                Event::PersonAwaited(awaited) => {
                    update.turn_index = Some(seats.find(&awaited.participant).0);
                }
                Event::TurnCompleted { turn } => {
                    (update.turn_index, update.round) =
                        (Some(seats.after(&turn.participant)), Some(turn.round));
                }
                _ => {}
            }
        }
        update
    }
}

fn stored_status(status: Lifecycle) -> &'static str {
    match status {
        Lifecycle::Configuring
        | Lifecycle::Validating
        | Lifecycle::Ready
        | Lifecycle::Initializing
        | Lifecycle::Running
        | Lifecycle::Completing => "active",
        // After an error it waits until a user retries it.
        Lifecycle::Paused | Lifecycle::Error => "paused",
        Lifecycle::Completed | Lifecycle::Aborted => "completed",
    }
}

/// A row of `discussion_logs`.
#[derive(Debug, PartialEq)]
pub struct Log<'a> {
    /// The id.
    pub id: String,
    /// The agent; people have none.
    pub agent: Option<&'a str>,
    /// The role under requirement C's names.
    pub role: &'static str,
    /// The text.
    pub content: &'a str,
    /// The seat.
    pub turn_index: usize,
    /// The round.
    pub round: u32,
    /// Further data, as JSON.
    pub metadata: String,
    /// When it was said.
    pub at: Timestamp,
}

/// Whether any of these facts is about a participant.
#[must_use]
pub fn needs_seats(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| {
        matches!(
            fact.event,
            Event::CallPlaced(_)
                | Event::PersonAwaited(_)
                | Event::TurnCompleted { .. }
                | Event::ReplyRead { .. }
        )
    })
}

/// The row derived from a fact, if any: one per speech, and one per structured reply that was read.
/// The prose of a structured reply is in its reading, so its turn has no row of its own.
#[must_use]
pub fn log<'a>(id: DiscussionId, fact: &'a Fact, seats: &Seats) -> Option<Log<'a>> {
    match &fact.event {
        Event::TurnCompleted { turn } if turn.form.is_none() => Some(turn_log(id, fact, turn, seats)),
        Event::ReplyRead { participant, round, source, reading } => {
            let (seat, role) = seats.find(participant);
            Some(Log {
                id: log_id(id, fact),
                agent: seats.agent(participant),
                role: stored_role(role),
                content: described(reading),
                turn_index: seat,
                round: *round,
                metadata: seats.metadata(participant, reading_metadata(role, *source, reading)),
                at: fact.at,
            })
        }
        _ => None,
    }
}

/// A UUIDv7 from the fact's time, number and discussion: the same for the same fact, and ordered by
/// time, so that rows written together are close together in the index.
fn log_id(id: DiscussionId, fact: &Fact) -> String {
    let (ms, seq) = ((fact.at.0.max(0) as u64 / 1_000).to_be_bytes(), fact.seq.0);
    let mut bytes = id.to_string().parse::<Uuid>().unwrap_or_default().into_bytes();
    bytes[..6].copy_from_slice(&ms[2..]);
    bytes[6] = 0x70 | (seq >> 8 & 0x0f) as u8;
    bytes[7] = seq as u8;
    let rest = (seq >> 12).to_be_bytes();
    bytes[9..].iter_mut().zip(&rest[1..]).for_each(|(byte, more)| *byte ^= more);
    Uuid::from_bytes(bytes).to_string()
}

fn turn_log<'a>(id: DiscussionId, fact: &Fact, turn: &'a Turn, seats: &Seats) -> Log<'a> {
    let (seat, role) = seats.find(&turn.participant);
    Log {
        id: log_id(id, fact),
        agent: seats.agent(&turn.participant),
        role: stored_role(role),
        content: turn.prose(),
        turn_index: seat,
        round: turn.round,
        metadata: seats
            .metadata(&turn.participant, json!({ "kind": "turn", "phase": turn.phase, "role": role.name() })),
        at: fact.at,
    }
}

fn reading_metadata(role: &Role, source: Source, reading: &Reading) -> Value {
    json!({ "kind": reading.kind, "role": role.name(), "source": source, "reading": reading })
}

/// The text shown for a structured reply: its position, else its reasons, else the line for people.
fn described(reading: &Reading) -> &str {
    let position = reading.stance.as_ref().map(|it| it.position.as_str());
    let reason = Some(reading.reason()).filter(|it| !it.is_empty());
    position.or(reason).or(reading.told.as_deref()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::model::id::Seq;

    use super::*;

    fn said(ms: i64, seq: u64) -> Fact {
        Fact { seq: Seq(seq), at: Timestamp(ms * 1_000), active_ms: 0, step: None, event: Event::Unknown }
    }

    #[test]
    fn log_ids_are_stable_distinct_ordered_and_version_7() {
        let (one, two) = (DiscussionId::fresh(), DiscussionId::fresh());
        assert_eq!(log_id(one, &said(5, 7)), log_id(one, &said(5, 7)));
        assert!(log_id(two, &said(5, 7)) < log_id(one, &said(6, 1)));
        let numbers = [1, 2, 255, 256, 4_095, 4_096, 4_097, 1 << 24, u64::MAX >> 1];
        let ids: BTreeSet<String> =
            [one, two].iter().flat_map(|id| numbers.map(|seq| log_id(*id, &said(5, seq)))).collect();
        assert_eq!(ids.len(), 2 * numbers.len());
        for id in ids.iter().map(|id| id.parse::<Uuid>().unwrap()) {
            assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
        }
    }
}
