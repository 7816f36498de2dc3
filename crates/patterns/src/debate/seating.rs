//! Assigns the sides, the judge's and the writer's seat if the request leaves them open
//! (INV-DISC-008).

use quorum_core::{
    model::{
        error::{Code, Refusal},
        participant::{Participant, Role},
        settings::Settings,
    },
    registry::{MissingRoles, Seating},
};

use crate::{
    consensus::SYNTHESIZER,
    debate::{MOST_DEBATERS, POSITIONS},
    ranking,
    roles::{JUDGE, NEUTRAL, OPPONENT, PROPONENT, WRITER},
};

/// Assigns the missing roles, or says which are missing.
pub(crate) fn seat(table: &mut Seating<'_>) -> Vec<Refusal> {
    match table.missing {
        MissingRoles::Assign => {
            assign(table);
            Vec::new()
        }
        MissingRoles::Refuse => demand(table.participants),
    }
}

fn demand(seats: &[Participant]) -> Vec<Refusal> {
    let needed = [PROPONENT, OPPONENT, JUDGE];
    let missing: Vec<&str> = needed.iter().filter(|role| !is_cast(seats, role)).map(Role::name).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let missing = missing.join(" or ");
    let message = format!("a debate needs a proponent, an opponent and a judge; nobody is {missing}");
    vec![Refusal::new("roles", Code::InvalidRoles, message)]
}

fn is_cast(seats: &[Participant], role: &Role) -> bool {
    seats.iter().any(|it| it.role == *role)
}

fn count(seats: &[Participant], role: &Role) -> usize {
    seats.iter().filter(|it| it.role == *role).count()
}

fn is_free(seat: &Participant) -> bool {
    seat.role == Role::SPEAKER
}

/// Assigns what is open: those with a position take sides, the best writer of the rest writes, the
/// next best judges, and the others take sides in seating order. If nobody is left to judge, the
/// strongest model takes a second seat.
fn assign(table: &mut Seating<'_>) {
    let seats = &mut *table.participants;
    free_writers_if_needed(seats);
    let positions = POSITIONS.of(table.settings).0;
    for part in &positions {
        let seat = seats.iter().position(|it| is_free(it) && it.name == part.participant);
        seat.into_iter().for_each(|place| take_side(seats, place));
    }
    let open = OpenSeats::of(seats, positions.is_empty());
    let mut best = best_writers(seats, table.settings, table.topic).into_iter();
    for (role, _) in [(WRITER, open.writer), (JUDGE, open.judge)].into_iter().filter(|it| it.1) {
        let name = best.next();
        let seat = seats.iter_mut().find(|it| name.as_ref() == Some(&it.name));
        seat.into_iter().for_each(|it| *it = it.clone().playing(role.clone()).aside());
    }
    take_sides(seats, open.debaters);
    if !is_cast(seats, &JUDGE) {
        seat_again_as_judge(seats, table.topic);
    }
}

/// What the free seats are for.
struct OpenSeats {
    judge: bool,
    writer: bool,
    debaters: usize,
}

impl OpenSeats {
    /// Both sides come first, then the judge, then as many debaters as make equal sides if more may
    /// join. A seat that would make them unequal is the writer's.
    fn of(seats: &[Participant], more_may_join: bool) -> Self {
        let free = seats.iter().filter(|it| is_free(it)).count();
        let needed = [PROPONENT, OPPONENT].iter().filter(|role| !is_cast(seats, role)).count();
        let judge = !is_cast(seats, &JUDGE) && needed < free;
        let rest = free - usize::from(judge);
        let sides = (count(seats, &PROPONENT), count(seats, &OPPONENT));
        let joining = if more_may_join { balanced(sides, rest) } else { 0 };
        let debaters = joining.max(needed.min(rest));
        OpenSeats { judge, writer: !is_cast(seats, &WRITER) && debaters < rest, debaters }
    }
}

/// How many of these free seats take a side: first the smaller side is filled up, then both grow.
fn balanced((pro, contra): (usize, usize), free: usize) -> usize {
    let behind = pro.abs_diff(contra);
    let room = free.min(MOST_DEBATERS.saturating_sub(pro + contra));
    if room < behind { room } else { behind + (room - behind) / 2 * 2 }
}

/// The names of the free seats, the best writer first: the synthesizer, then by strength.
fn best_writers(seats: &[Participant], settings: &Settings, topic: &str) -> Vec<String> {
    let free: Vec<Participant> = seats.iter().filter(|it| is_free(it)).cloned().collect();
    let named = SYNTHESIZER.of(settings);
    let named = named.and_then(|name| ranking::named(&free, &name).map(|it| it.name.clone()));
    let mut best: Vec<String> = ranking::strongest_first(free, topic).into_iter().map(|it| it.name).collect();
    best.sort_by_key(|name| named.as_ref() != Some(name));
    best
}

/// The free seats take sides, this many of them; the rest give a balanced view.
fn take_sides(seats: &mut [Participant], debaters: usize) {
    let free = |seats: &[Participant]| seats.iter().position(is_free);
    for _ in 0..debaters {
        free(seats).into_iter().for_each(|place| take_side(seats, place));
    }
    while let Some(place) = free(seats) {
        seats[place].role = NEUTRAL;
    }
}

/// This seat takes the smaller side.
fn take_side(seats: &mut [Participant], place: usize) {
    let is_behind = count(seats, &OPPONENT) < count(seats, &PROPONENT);
    seats[place].role = if is_behind { OPPONENT } else { PROPONENT };
}

/// A debate can do without a writer, and not without a side: a writer of a past debate may be
/// needed there after its roles have changed.
fn free_writers_if_needed(seats: &mut [Participant]) {
    let free = seats.iter().filter(|it| is_free(it)).count();
    let needed = [PROPONENT, OPPONENT].iter().filter(|role| !is_cast(seats, role)).count();
    let writers = seats.iter_mut().filter(|it| it.role == WRITER);
    writers.take(needed.saturating_sub(free)).for_each(|it| (it.role, it.aside) = (Role::SPEAKER, false));
}

fn seat_again_as_judge(seats: &mut Vec<Participant>, topic: &str) {
    let models: Vec<Participant> = seats.iter().filter(|it| !it.is_person()).cloned().collect();
    let strongest = ranking::strongest_first(models, topic).into_iter().next();
    let Some(again) = strongest.or_else(|| seats.first().cloned()) else { return };
    let name = Participant::free_name(seats, &format!("{}-judge", again.name));
    seats.push(Participant { name, brief: None, ..again.playing(JUDGE).aside() });
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn seated(given: &[(&str, Role)], settings: &Settings, topic: &str) -> Vec<Participant> {
        let mut participants: Vec<Participant> = given
            .iter()
            .map(|(name, role)| {
                let seat = Participant::of(name).playing(role.clone());
                if [JUDGE, WRITER].contains(role) { seat.aside() } else { seat }
            })
            .collect();
        let missing = MissingRoles::Assign;
        let refused = seat(&mut Seating { participants: &mut participants, settings, topic, missing });
        assert_eq!(refused, []);
        participants
    }

    #[track_caller]
    fn check(given: &[(&str, Role)], settings: &Settings, expected: &str) {
        let seats = seated(given, settings, "tabs or spaces?");
        let table: Vec<String> = seats.iter().map(|it| format!("{} {}", it.name, it.role)).collect();
        assert_eq!(table.join(", "), expected);
        for seat in seats {
            assert_eq!(seat.aside, [JUDGE, WRITER].contains(&seat.role), "{seat:?}");
        }
    }

    /// Seats without roles.
    fn free(names: &'static str) -> Vec<(&'static str, Role)> {
        names.split(' ').map(|name| (name, Role::SPEAKER)).collect()
    }

    /// The same, with these roles.
    fn with(names: &'static str, given: &[(&str, Role)]) -> Vec<(&'static str, Role)> {
        let role = |name: &str| given.iter().find(|it| it.0 == name).map(|it| it.1.clone());
        free(names).into_iter().map(|(name, free)| (name, role(name).unwrap_or(free))).collect()
    }

    #[test]
    fn inv_disc_008_two_to_six_providers_make_equal_sides_before_a_judge() {
        let none = Settings::default();
        for (names, expected) in [
            ("glm claude", "glm proponent, claude opponent, claude-judge judge"),
            ("claude glm qwen", "claude judge, glm proponent, qwen opponent"),
            ("glm qwen claude gemini", "glm judge, qwen proponent, claude writer, gemini opponent"),
            ("a b c d e", "a judge, b proponent, c opponent, d proponent, e opponent"),
            ("a b c d e f", "a writer, b judge, c proponent, d opponent, e proponent, f opponent"),
        ] {
            check(&free(names), &none, expected);
        }
    }

    #[test]
    fn inv_disc_203_the_strongest_for_the_question_writes_and_the_next_judges() {
        let seat = |provider: &str, strengths: &[&str]| {
            let strengths = strengths.iter().map(|it| (*it).to_owned()).collect();
            Participant { strengths, ..Participant::of(provider) }
        };
        let mut participants = vec![
            seat("claude", &["synthesis"]),
            seat("glm", &["code"]),
            seat("qwen", &["translation", "multilingual"]),
            seat("gemini", &["research"]),
        ];
        let (settings, missing) = (Settings::default(), MissingRoles::Assign);
        let topic = "Research on translations of multilingual texts";
        seat_all(&mut participants, &settings, topic, missing);
        let roles: Vec<&str> = participants.iter().map(|it| it.role.name()).collect();
        assert_eq!(roles, ["proponent", "opponent", "writer", "judge"]);
    }

    fn seat_all(
        participants: &mut Vec<Participant>,
        settings: &Settings,
        topic: &str,
        missing: MissingRoles,
    ) {
        assert_eq!(seat(&mut Seating { participants, settings, topic, missing }), []);
    }

    #[test]
    fn inv_disc_008_roles_that_were_given_are_kept_and_the_rest_assigned() {
        let none = Settings::default();
        for (given, expected) in [
            (with("a b c", &[("a", JUDGE)]), "a judge, b proponent, c opponent"),
            (with("a b c d", &[("c", JUDGE)]), "a writer, b proponent, c judge, d opponent"),
            (with("a b c d", &[("c", JUDGE), ("d", JUDGE)]), "a proponent, b opponent, c judge, d judge"),
            (
                with("a b c d e f", &[("d", JUDGE), ("e", JUDGE), ("f", JUDGE)]),
                "a writer, b proponent, c opponent, d judge, e judge, f judge",
            ),
            (with("a b c d", &[("d", WRITER)]), "a judge, b proponent, c opponent, d writer"),
            (with("a b c", &[("c", WRITER)]), "a proponent, b opponent, c writer, a-judge judge"),
            (with("a b c d", &[("a", OPPONENT)]), "a opponent, b writer, c judge, d proponent"),
            (
                with("a b c d e", &[("a", PROPONENT), ("b", PROPONENT)]),
                "a proponent, b proponent, c judge, d opponent, e opponent",
            ),
            (with("a b c d", &[("a", NEUTRAL)]), "a neutral, b judge, c proponent, d opponent"),
            (with("a b c d e", &[("a", WRITER)]), "a writer, b judge, c proponent, d opponent, e neutral"),
        ] {
            check(&given, &none, expected);
        }
    }

    #[test]
    fn d05_those_with_a_position_take_sides() {
        let parts = |names: &[&str]| {
            let part = |name: &&str| json!({ "participant": name, "position": format!("{name} is right") });
            let parts: Vec<Value> = names.iter().map(part).collect();
            Settings::default().with(POSITIONS.name(), parts)
        };
        check(&free("a b c"), &parts(&["a", "b"]), "a proponent, b opponent, c judge");
        check(&free("a b c d"), &parts(&["d", "a"]), "a opponent, b writer, c judge, d proponent");
        let others = "a proponent, b opponent, c writer, d judge, e neutral, f neutral";
        check(&free("a b c d e f"), &parts(&["a", "b"]), others);
        check(&free("a b c d"), &parts(&["a"]), "a proponent, b writer, c judge, d opponent");
    }

    #[test]
    fn d15_a_past_writer_takes_a_side_that_is_empty() {
        let none = Settings::default();
        let given = with("a b c d", &[("a", WRITER), ("b", JUDGE), ("d", JUDGE)]);
        check(&given, &none, "a proponent, b judge, c opponent, d judge");
    }

    #[test]
    fn b02_a_named_synthesizer_gets_the_seat_that_writes() {
        let named = Settings::default().with(SYNTHESIZER.name(), "d");
        check(&free("a b c d"), &named, "a judge, b proponent, c opponent, d writer");
        check(&free("a b c d e"), &named, "a proponent, b opponent, c proponent, d judge, e opponent");
        check(&with("a b c d", &[("d", OPPONENT)]), &named, "a writer, b judge, c proponent, d opponent");
    }
}
