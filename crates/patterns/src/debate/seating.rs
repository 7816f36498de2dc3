//! Assigns the sides and the judge's seat if the request leaves them open (INV-DISC-008).

use quorum_core::{
    model::{
        error::{Code, Refusal},
        participant::{Participant, Role},
    },
    registry::{MissingRoles, Seating},
};

use crate::{
    consensus::SYNTHESIZER,
    debate::MOST_DEBATERS,
    roles::{JUDGE, NEUTRAL, OPPONENT, PROPONENT},
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

/// Assigns the first seat to argue for, the second against, the third (or the synthesizer) to
/// judge, and further ones in turn for and against. If nobody is left to judge, the synthesizer, or
/// else the first model, takes a second seat.
fn assign(table: &mut Seating<'_>) {
    let seats = &mut *table.participants;
    let chair = SYNTHESIZER.of(table.settings);
    let chair = chair.and_then(|name| seats.iter().position(|it| it.name == name));
    let may_judge = |place: &usize| seats.len() > 2 && is_free(&seats[*place]) && !is_cast(seats, &JUDGE);
    if let Some(place) = chair.filter(may_judge) {
        give(&mut seats[place], JUDGE);
    }
    for role in [PROPONENT, OPPONENT, JUDGE] {
        if !is_cast(seats, &role) {
            seats.iter_mut().find(|it| is_free(it)).into_iter().for_each(|it| give(it, role.clone()));
        }
    }
    assign_the_rest(seats);
    if !is_cast(seats, &JUDGE) && !seats.is_empty() {
        seat_again_as_judge(seats, chair);
    }
}

fn give(seat: &mut Participant, role: Role) {
    seat.aside = role == JUDGE;
    seat.role = role;
}

fn is_free(seat: &Participant) -> bool {
    seat.role == Role::SPEAKER
}

fn assign_the_rest(seats: &mut [Participant]) {
    let count = |seats: &[Participant], role: &Role| seats.iter().filter(|it| it.role == *role).count();
    while let Some(place) = seats.iter().position(is_free) {
        let (pro, contra) = (count(seats, &PROPONENT), count(seats, &OPPONENT));
        seats[place].role = if pro + contra >= MOST_DEBATERS {
            NEUTRAL
        } else if pro > contra {
            OPPONENT
        } else {
            PROPONENT
        };
    }
}

fn seat_again_as_judge(seats: &mut Vec<Participant>, chair: Option<usize>) {
    let model = seats.iter().position(|it| !it.is_person()).unwrap_or_default();
    let again = seats[chair.unwrap_or(model)].clone();
    let name = Participant::free_name(seats, &format!("{}-judge", again.name));
    seats.push(Participant { name, brief: None, ..again.playing(JUDGE).aside() });
}
