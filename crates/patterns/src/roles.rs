//! The roles that our patterns distinguish.

use quorum_core::{
    model::participant::{Participant, Role},
    model::spec::Spec,
    registry::RoleKind,
};

use crate::{pattern, ranking};

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

/// Writes the answer, and takes no part in the debate.
pub const WRITER: Role = Role::named("writer");

/// The roles of a debate.
pub(crate) const OF_A_DEBATE: &[RoleKind] = &[
    RoleKind {
        name: "proponent",
        summary: "Argues for what the question proposes",
        speaks: true,
        has_part: true,
    },
    RoleKind {
        name: "opponent",
        summary: "Argues against what the question proposes",
        speaks: true,
        has_part: true,
    },
    RoleKind { name: "judge", summary: "Judges the debate", speaks: false, has_part: true },
    RoleKind {
        name: "moderator",
        summary: "Takes no side and keeps to the point",
        speaks: true,
        has_part: true,
    },
    RoleKind { name: "neutral", summary: "Gives a balanced view", speaks: true, has_part: true },
    RoleKind {
        name: "writer",
        summary: "Writes the answer and takes no part in the debate",
        speaks: false,
        has_part: false,
    },
];

/// The roles of a roundtable (C01).
pub(crate) const AT_A_ROUNDTABLE: &[RoleKind] = &[
    RoleKind { name: "manager", summary: "Runs the table", speaks: true, has_part: true },
    RoleKind { name: "leader", summary: "Leads a part of the work", speaks: true, has_part: true },
    RoleKind { name: "specialist", summary: "Knows a subject", speaks: true, has_part: true },
    RoleKind { name: "user", summary: "The person the discussion is for", speaks: true, has_part: true },
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

/// The participants whose speeches are judged in a debate, in seating order: those that argue for a
/// side, and those that give a balanced view.
pub(crate) fn judged(spec: &Spec) -> Vec<Participant> {
    spec.participants.iter().filter(|it| is_judged(it)).cloned().collect()
}

/// Whether this participant's speeches are judged.
pub(crate) fn is_judged(who: &Participant) -> bool {
    is_debater(who) || who.role == NEUTRAL
}

/// Whether positions are assigned in this discussion, so that what a participant said need not be
/// what it thinks.
pub(crate) fn are_positions_assigned(spec: &Spec) -> bool {
    spec.pattern == pattern::debate::PATTERN.name
}

/// The participants that vote after the talk. Where positions were assigned, those without one are
/// asked as well.
pub(crate) fn voters(spec: &Spec) -> Vec<Participant> {
    if are_positions_assigned(spec) { spec.participants.clone() } else { spec.speakers() }
}

/// The order in which participants are asked to write the answer, if the request names nobody:
/// models that take no side first, and people, who would have to be waited for, last.
pub(crate) fn writing_order(who: &Participant) -> WritingOrder {
    match &who.role {
        _ if who.is_person() => WritingOrder::Person,
        role if *role == WRITER => WritingOrder::Writer,
        role if *role == JUDGE => WritingOrder::Judge,
        _ if is_debater(who) => WritingOrder::Debater,
        _ => WritingOrder::WithoutSide,
    }
}

/// The participant that the user named to write. A provider's name means the seat of that provider
/// that took no side, if there is one of the same model: with two providers, one of them debates,
/// and judges from a second seat.
pub(crate) fn named_writer<'p>(among: &'p [Participant], name: &str) -> Option<&'p Participant> {
    let named = ranking::named(among, name)?;
    let is_its_second_seat =
        |it: &&Participant| !is_debater(it) && (&it.provider, &it.model) == (&named.provider, &named.model);
    let second = || among.iter().filter(|it| !it.is_person()).find(is_its_second_seat);
    let is_open = is_debater(named) && named.provider == name;
    Some(if is_open { second().unwrap_or(named) } else { named })
}

/// The place of a participant among those that may write the answer, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WritingOrder {
    /// Has no other task.
    Writer,
    /// Has weighed both sides.
    Judge,
    /// Speaks, and argues for no side.
    WithoutSide,
    /// Argues for a side.
    Debater,
    /// Would have to be waited for.
    Person,
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    #[test]
    fn participants_without_a_side_write_first_and_people_last() {
        let seat = |role: Role| Participant::of("ann").playing(role);
        let order: Vec<WritingOrder> =
            [WRITER, JUDGE, MODERATOR, NEUTRAL, Role::SPEAKER, OPPONENT, PROPONENT]
                .map(|role| writing_order(&seat(role)))
                .into();
        assert!(order.is_sorted(), "{order:?}");
        assert_eq!(writing_order(&Participant::person("eva").playing(JUDGE)), WritingOrder::Person);
    }

    #[test]
    fn a_providers_name_means_its_seat_without_a_side() {
        let seat = |name: &str, provider: &str, role: Role| Participant {
            name: name.to_owned(),
            ..Participant::of(provider).playing(role)
        };
        let written_by = |among: &[Participant], name: &str| {
            named_writer(among, name).map(|it| it.name.clone()).unwrap_or_default()
        };
        let two = [
            seat("glm", "glm", PROPONENT),
            seat("claude", "claude", OPPONENT),
            seat("claude-judge", "claude", JUDGE),
        ];
        assert_eq!(written_by(&two, "claude"), "claude-judge");
        assert_eq!(written_by(&two, "claude-judge"), "claude-judge");
        assert_eq!(written_by(&two, "glm"), "glm", "it has no other seat, so the debater is obeyed");
        assert_eq!(written_by(&two, "qwen"), "");
        let sage = [seat("sage", "claude", OPPONENT), two[2].clone()];
        assert_eq!(written_by(&sage, "sage"), "sage", "a seat's own name means that seat");
        let mut other = two.clone();
        other[2].model = Some("another".to_owned());
        assert_eq!(written_by(&other, "claude"), "claude", "another model is another participant");
    }

    #[test]
    fn everyone_votes_after_a_debate_and_the_speakers_elsewhere() {
        let names = |spec: &Spec| voters(spec).into_iter().map(|it| it.name).collect::<Vec<_>>();
        let mut debate = spec("debate");
        debate.participants.push(Participant::of("dan").playing(WRITER).aside());
        assert_eq!(names(&debate), ["ann", "bob", "cyd", "dan"]);
        debate.pattern = "synthesis".to_owned();
        assert_eq!(names(&debate), ["ann", "bob"]);
    }
}
