//! Who sits where, and in which part.

use quorum_core::model::{
    error::Code,
    participant::{Participant, Person, Role},
};
use quorum_providers::catalog;

use crate::request::{
    MissingRoles, Request, Seat, Seating, Setting, bounds::Complaints, check::LONGEST_PROMPT,
};

/// In bytes. Some who serve models of others name them by a whole path.
const LONGEST_NAME: usize = 128;

/// What the speeches of one participant may end at: so many sequences, each so long.
const MOST_STOPS: usize = 8;
const LONGEST_STOP: usize = 100;

/// A debate is between at most this many, judges not counted.
const MOST_DEBATERS: usize = 4;

/// The provider behind a name or one of its other names: `anthropic` is `claude`. A name nobody knows stays as it is.
pub(super) fn provider_named(name: &str) -> String {
    catalog::row(name).map_or_else(|| name.to_owned(), |row| row.name.to_owned())
}

/// The provider of a seat as it was written, `claude` or `claude/MODEL`.
pub(super) fn provider_of(written: &str) -> String {
    provider_named(written.split_once('/').map_or(written, |(provider, _)| provider))
}

/// What marks a person's seat.
const PERSON: &str = "person";

/// A seat for each; two of one provider are told apart by a number. What is wrong is wrong with this field.
pub(super) fn seated(table: &[Seating], field: &str, wrong: &mut Complaints) -> Vec<Participant> {
    let mut seats: Vec<Participant> = Vec::new();
    for written in table {
        match seat_of(written, field) {
            Ok(seat) if seat.is_person() && seats.iter().any(|it| it.name == seat.name) => {
                wrong
                    .add(field, format!("two are named {}; give each person a name of their own", seat.name));
            }
            Ok(seat) => {
                let name = free_name(&seats, &seat.name);
                seats.push(Participant { name, ..seat });
            }
            Err(message) => wrong.add(field, message),
        }
    }
    seats
}

fn seat_of(written: &Seating, field: &str) -> Result<Participant, String> {
    let written = match written {
        Seating::Person(Seat { person, user }) => return person_of(person, user.as_deref()),
        Seating::Kept { seat: written, name } => {
            return Ok(Participant { name: name.clone(), ..seat(written) });
        }
        Seating::Written(written) => written.trim(),
    };
    // A model's name may have a colon in it; a seat's kind comes after a plain name.
    match written.rsplit_once(':').filter(|(name, _)| !name.contains('/')) {
        Some((name, PERSON)) if field == "participants" => person_of(name, None),
        Some((_, PERSON)) => {
            Err(format!("{written} is a person's seat; name the whole table as participants then"))
        }
        Some((_, kind)) if field == "participants" => {
            Err(format!("there is no kind of participant named {kind:?}, as in {written}; there is {PERSON}"))
        }
        Some(_) | None if is_name(written) => Ok(seat(written)),
        Some(_) | None => Err(format!("{written:?} is no provider's name; write claude, or claude/MODEL")),
    }
}

fn person_of(name: &str, user: Option<&str>) -> Result<Participant, String> {
    let name = name.trim();
    if !is_name(name) || name.contains(['/', ':', '@']) {
        return Err(format!("{name:?} is no person's name; write one word, like me:{PERSON}"));
    }
    let person = Person { user: user.map(str::to_owned) };
    Ok(Participant { person: Some(person), ..Participant::person(name).playing(Role::User) })
}

fn is_name(written: &str) -> bool {
    let plain = |it: char| it.is_alphanumeric() || "-_.:/@~+".contains(it);
    let begins = written.chars().next().is_some_and(char::is_alphanumeric);
    begins && !written.ends_with('/') && written.len() <= LONGEST_NAME && written.chars().all(plain)
}

fn seat(written: &str) -> Participant {
    let provider = provider_of(written);
    let model = written.split_once('/').map(|(_, model)| model.to_owned());
    let name = if model.is_some() { written.to_owned() } else { provider.clone() };
    let row = catalog::row(&provider);
    let strengths = row.map(|row| row.strengths.clone()).unwrap_or_default();
    // What runs on this machine goes by plain words, and gives nobody away.
    let known = row.filter(|row| !row.local).into_iter();
    let aliases = known.flat_map(|row| row.aliases.iter().chain(&row.model).cloned()).collect();
    Participant { name, model, strengths, aliases, ..Participant::of(&provider) }
}

/// What the user says a provider is good at counts more than what the catalogue does.
pub(super) fn strengthen(seats: &mut [Participant], setting: &Setting) {
    for seat in seats.iter_mut().filter(|it| !it.is_person()) {
        if let Some(strengths) = setting.strengths.get(&seat.provider) {
            seat.strengths.clone_from(strengths);
        }
    }
}

fn free_name(seats: &[Participant], name: &str) -> String {
    let is_taken = |name: &str| seats.iter().any(|it| it.name == name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|it| !is_taken(it)).unwrap_or_default()
}

/// The seat meant by a name: the seat's own, or another name of its provider.
pub(crate) fn place_of(seats: &[Participant], name: &str) -> Option<usize> {
    let by_name = |name: &str| seats.iter().position(|it| it.name == name);
    by_name(name).or_else(|| by_name(&provider_named(name)))
}

pub(super) fn names(seats: &[Participant]) -> String {
    seats.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Gives everyone their own instructions.
pub(super) fn brief(seats: &mut [Participant], request: &Request, wrong: &mut Complaints) {
    for (name, prompt) in request.provider_prompts.iter().flatten() {
        match place_of(seats, name) {
            Some(place) => {
                let field = format!("providerPrompts.{name}");
                seats[place].brief = wrong.text(&field, Some(prompt), LONGEST_PROMPT);
            }
            None => {
                let message = format!("{name} does not take part; there are {}", names(seats));
                wrong.add("providerPrompts", message);
            }
        }
    }
}

/// Says what everyone's speeches end at (C03).
pub(super) fn stop(seats: &mut [Participant], request: &Request, wrong: &mut Complaints) {
    let Some(given) = &request.stop_sequences else { return };
    if request.pattern.as_deref() != Some("roundtable") {
        wrong.add(
            "stopSequences",
            "counts only at a roundtable; make roundtable the pattern, or leave this out",
        );
    }
    for (name, sequences) in given {
        let fits = |it: &String| !it.is_empty() && it.chars().count() <= LONGEST_STOP;
        if MOST_STOPS < sequences.len() || !sequences.iter().all(fits) {
            let field = format!("stopSequences.{name}");
            wrong
                .add(&field, format!("takes up to {MOST_STOPS} sequences of 1 to {LONGEST_STOP} characters"));
        }
        match place_of(seats, name) {
            Some(place) if seats[place].is_person() => {
                wrong.add("stopSequences", format!("{name} is a person, and says when to stop"));
            }
            Some(place) => seats[place].stop = Some(sequences.clone()),
            None => {
                let message = format!("{name} does not take part; there are {}", names(seats));
                wrong.add("stopSequences", message);
            }
        }
    }
}

/// The seat of the synthesizer asked for.
pub(super) fn synthesizer(
    seats: &[Participant],
    request: &Request,
    wrong: &mut Complaints,
) -> Option<String> {
    let given = request.synthesizer.as_deref()?;
    let seat = place_of(seats, given).map(|place| seats[place].name.clone());
    if seat.is_none() {
        wrong.add("synthesizer", format!("{given} does not take part; there are {}", names(seats)));
    }
    seat
}

/// Hands out the parts: those asked for, and in a debate the missing ones as the setting says (INV-DISC-008).
pub(super) fn cast(
    seats: &mut Vec<Participant>,
    request: &Request,
    missing: MissingRoles,
    pattern: &str,
    wrong: &mut Complaints,
) {
    for (name, role) in request.roles.iter().flatten() {
        match (place_of(seats, name), Role::named(role)) {
            (Some(place), Some(role)) => seats[place].role = role,
            (None, _) => {
                let message = format!("{name} does not take part; there are {}", names(seats));
                wrong.add_coded("roles", Code::InvalidRoles, message);
            }
            (_, None) => {
                let known = Role::ASSIGNABLE.map(Role::name).join(", ");
                let message = format!("there is no role {role}, given to {name}; there are {known}");
                wrong.add_coded("roles", Code::InvalidRoles, message);
            }
        }
    }
    seat_judge(seats, request, wrong);
    match (pattern, missing) {
        ("debate", MissingRoles::Assign) => assign(seats, request.synthesizer.as_deref()),
        ("debate", MissingRoles::Refuse) => demand(seats, wrong),
        _ => {}
    }
}

fn seat_judge(seats: &mut [Participant], request: &Request, wrong: &mut Complaints) {
    let Some(judge) = request.judge.as_deref() else { return };
    match place_of(seats, judge) {
        Some(place) => seats[place].role = Role::Judge,
        None => {
            let message = format!("{judge} does not take part; there are {}", names(seats));
            wrong.add_coded("judge", Code::InvalidRoles, message);
        }
    }
}

fn demand(seats: &[Participant], wrong: &mut Complaints) {
    let parts = [Role::Proponent, Role::Opponent, Role::Judge];
    let missing: Vec<&str> =
        parts.into_iter().filter(|role| !is_cast(seats, *role)).map(Role::name).collect();
    if !missing.is_empty() {
        let message = format!(
            "a debate needs a proponent, an opponent and a judge; nobody is {}",
            missing.join(" or ")
        );
        wrong.add_coded("roles", Code::InvalidRoles, message);
    }
}

fn is_cast(seats: &[Participant], role: Role) -> bool {
    seats.iter().any(|it| it.role == role)
}

/// First for, second against, third (or the synthesizer) to judge, further ones in turn for and against. Where nobody is left
/// to judge, the synthesizer, or else the first, takes a second seat.
fn assign(seats: &mut Vec<Participant>, synthesizer: Option<&str>) {
    let chair = synthesizer.and_then(|name| place_of(seats, name));
    let may_judge =
        |place: &usize| seats.len() > 2 && is_free(&seats[*place]) && !is_cast(seats, Role::Judge);
    if let Some(place) = chair.filter(may_judge) {
        seats[place].role = Role::Judge;
    }
    let wanted = [Role::Proponent, Role::Opponent, Role::Judge];
    for role in wanted {
        if !is_cast(seats, role) {
            seats.iter_mut().find(|it| is_free(it)).into_iter().for_each(|it| it.role = role);
        }
    }
    assign_the_rest(seats);
    if !is_cast(seats, Role::Judge) && !seats.is_empty() {
        let model = seats.iter().position(|it| !it.is_person()).unwrap_or_default();
        let again = seats[chair.unwrap_or(model)].clone();
        let name = free_name(seats, &format!("{}-judge", again.name));
        seats.push(Participant { name, brief: None, ..again.playing(Role::Judge) });
    }
}

fn is_free(seat: &Participant) -> bool {
    seat.role == Role::Speaker
}

fn assign_the_rest(seats: &mut [Participant]) {
    let count = |seats: &[Participant], role| seats.iter().filter(|it| it.role == role).count();
    while let Some(place) = seats.iter().position(is_free) {
        let (pro, contra) = (count(seats, Role::Proponent), count(seats, Role::Opponent));
        seats[place].role = if pro + contra >= MOST_DEBATERS {
            Role::Neutral
        } else if pro > contra {
            Role::Opponent
        } else {
            Role::Proponent
        };
    }
}
