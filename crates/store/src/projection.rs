//! What follows from facts for those who look at tables: pure functions from facts to rows.

use quorum_core::model::{
    ballot::Source,
    event::{Event, Fact, Reading},
    id::DiscussionId,
    lifecycle::Lifecycle,
    participant::Role,
    time::Timestamp,
    transcript::Turn,
};
use serde_json::json;

/// Who sits where, and in which part.
#[derive(Debug, PartialEq)]
pub(crate) struct Seats(pub(crate) Vec<(String, Role)>);

impl Seats {
    /// Those of the order a discussion began with.
    pub(crate) fn of(opened: &Event) -> Self {
        let Event::Opened { spec, .. } = opened else { return Seats(Vec::new()) };
        Seats(spec.participants.iter().map(|it| (it.name.clone(), it.role)).collect())
    }

    /// The place of this participant; whoever has none speaks from behind the last.
    fn find(&self, name: &str) -> (usize, Role) {
        let found = self.0.iter().position(|(seated, _)| seated == name);
        found.map_or((self.0.len(), Role::default()), |seat| (seat, self.0[seat].1))
    }
}

/// A part under requirement C's names; the real one is in the log's metadata.
pub(crate) fn stored_role(role: Role) -> &'static str {
    match role.name() {
        known @ ("manager" | "leader" | "user") => known,
        _ => "specialist",
    }
}

/// How a discussion stands, as lists show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub(crate) status: Lifecycle,
    pub(crate) success: Option<bool>,
    pub(crate) ended_at: Option<Timestamp>,
}

impl Standing {
    pub(crate) const OPENED: Standing =
        Standing { status: Lifecycle::Configuring, success: None, ended_at: None };

    /// How it stands after these facts.
    pub(crate) fn after(self, facts: &[Fact]) -> Self {
        facts.iter().fold(self, |standing, fact| match &fact.event {
            Event::LifecycleChanged { to, .. } => {
                Standing { status: *to, ended_at: to.is_terminal().then_some(fact.at), ..standing }
            }
            Event::Concluded(conclusion) => Standing { success: Some(conclusion.success), ..standing },
            Event::Failed { .. } => Standing { success: Some(false), ..standing },
            Event::Retried => Standing { success: None, ..standing },
            _ => standing,
        })
    }

    /// Whether nothing can follow. An error may be tried again.
    pub(crate) fn is_over(self) -> bool {
        matches!(self.status, Lifecycle::Completed | Lifecycle::Aborted)
    }
}

/// What was decided, where something was.
pub(crate) fn synthesis(facts: &[Fact]) -> Option<&str> {
    facts.iter().rev().find_map(|fact| match &fact.event {
        Event::Decided { decision } => Some(decision.synthesis.as_str()),
        _ => None,
    })
}

/// What changes in `discussion_state`; what is `None` stays.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) turn_index: Option<usize>,
    pub(crate) round: Option<u32>,
    pub(crate) status: Option<&'static str>,
}

impl Place {
    /// Where these facts lead to.
    pub(crate) fn of(facts: &[Fact], seats: &Seats) -> Self {
        let mut place = Place::default();
        for fact in facts {
            match &fact.event {
                Event::LifecycleChanged { to, .. } => place.status = Some(stored_status(*to)),
                Event::RoundOpened { round } | Event::PhaseEntered { round, .. } => {
                    place.round = Some(*round);
                }
                Event::CallPlaced(placed) => place.turn_index = Some(seats.find(&placed.participant).0),
                Event::TurnCompleted { turn } => {
                    (place.turn_index, place.round) =
                        (Some(seats.find(&turn.participant).0), Some(turn.round));
                }
                _ => {}
            }
        }
        place
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
        // An error stands still until somebody tries again.
        Lifecycle::Paused | Lifecycle::Error => "paused",
        Lifecycle::Completed | Lifecycle::Aborted => "completed",
    }
}

/// A row of `discussion_logs`.
#[derive(Debug, PartialEq)]
pub(crate) struct Log {
    pub(crate) id: String,
    pub(crate) agent: String,
    pub(crate) role: &'static str,
    pub(crate) content: String,
    pub(crate) turn_index: usize,
    pub(crate) round: u32,
    pub(crate) metadata: String,
    pub(crate) at: Timestamp,
}

/// Whether any of these facts is about somebody with a seat.
pub(crate) fn needs_seats(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| {
        matches!(fact.event, Event::CallPlaced(_) | Event::TurnCompleted { .. } | Event::ReplyRead { .. })
    })
}

/// The row that follows from a fact: one for each turn, one for each structured reply.
pub(crate) fn log(id: DiscussionId, fact: &Fact, seats: &Seats) -> Option<Log> {
    match &fact.event {
        Event::TurnCompleted { turn } => Some(turn_log(id, fact, turn, seats)),
        Event::ReplyRead { participant, round, source, reading } => {
            let (seat, role) = seats.find(participant);
            let (kind, content) = described(reading);
            Some(Log {
                id: id.derived(&format!("log/{}", fact.seq)).to_string(),
                agent: participant.clone(),
                role: stored_role(role),
                content: content.to_owned(),
                turn_index: seat,
                round: *round,
                metadata: reading_metadata(kind, role, *source, reading),
                at: fact.at,
            })
        }
        _ => None,
    }
}

fn turn_log(id: DiscussionId, fact: &Fact, turn: &Turn, seats: &Seats) -> Log {
    let (seat, role) = seats.find(&turn.participant);
    Log {
        id: id.derived(&format!("log/{}", fact.seq)).to_string(),
        agent: turn.participant.clone(),
        role: stored_role(role),
        content: turn.text.to_string(),
        turn_index: seat,
        round: turn.round,
        metadata: json!({ "kind": "turn", "phase": turn.phase, "role": role.name() }).to_string(),
        at: fact.at,
    }
}

fn reading_metadata(kind: &str, role: Role, source: Source, reading: &Reading) -> String {
    json!({ "kind": kind, "role": role.name(), "source": source, "reading": reading }).to_string()
}

/// The kind of a structured reply, and what to show of it.
fn described(reading: &Reading) -> (&'static str, &str) {
    match reading {
        Reading::Ballot(ballot) => ("vote", &ballot.choice),
        Reading::ConsensusVote(vote) => ("check", &vote.reasoning),
        Reading::Verdict(verdict) => ("verdict", &verdict.summary),
        Reading::Synthesis(synthesis) => ("synthesis", &synthesis.synthesis),
        Reading::Assessment(assessment) => ("assessment", &assessment.reasoning),
        Reading::Casting(_) => ("casting", ""),
    }
}
