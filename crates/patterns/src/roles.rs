//! The roles that our patterns distinguish.

use quorum_core::{
    model::participant::{Participant, Role},
    model::spec::Spec,
    registry::RoleKind,
};

/// Argues for what the question proposes.
pub const PROPONENT: Role = Role::named("proponent");

/// Argues against what the question proposes.
pub const OPPONENT: Role = Role::named("opponent");

/// Judges the debate.
pub const JUDGE: Role = Role::named("judge");

/// Moderates.
pub const MODERATOR: Role = Role::named("moderator");

/// Gives a balanced view.
pub const NEUTRAL: Role = Role::named("neutral");

/// The roles of a debate.
pub(crate) const OF_A_DEBATE: &[RoleKind] = &[
    RoleKind { name: "proponent", summary: "Argues for what the question proposes", speaks: true },
    RoleKind { name: "opponent", summary: "Argues against what the question proposes", speaks: true },
    RoleKind { name: "judge", summary: "Judges the debate", speaks: false },
    RoleKind { name: "moderator", summary: "Takes no side and keeps to the point", speaks: true },
    RoleKind { name: "neutral", summary: "Gives a balanced view", speaks: true },
];

/// The roles of a roundtable (C01).
pub(crate) const AT_A_ROUNDTABLE: &[RoleKind] = &[
    RoleKind { name: "manager", summary: "Runs the table", speaks: true },
    RoleKind { name: "leader", summary: "Leads a part of the work", speaks: true },
    RoleKind { name: "specialist", summary: "Knows a subject", speaks: true },
    RoleKind { name: "user", summary: "The person the discussion is for", speaks: true },
];

/// The participants that argue in a debate: proponents and opponents, in seating order.
#[must_use]
pub fn debaters(spec: &Spec) -> Vec<Participant> {
    spec.participants.iter().filter(|it| is_debater(it)).cloned().collect()
}

/// Whether this participant argues for a side.
#[must_use]
pub fn is_debater(who: &Participant) -> bool {
    [PROPONENT, OPPONENT].contains(&who.role)
}
