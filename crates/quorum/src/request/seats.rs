//! Assigns seats and roles.

use quorum_core::{
    model::{
        error::Code,
        excerpt::in_short,
        participant::{Participant, Person, Role, is_name, not_a_participant},
        settings::Settings,
    },
    registry,
};
use quorum_providers::catalog;

use crate::{
    Complaint,
    request::{
        Request, Seat, Seating, Setting,
        bounds::Complaints,
        limits::{LONGEST_PROMPT, most_seats},
        settings::{give_role, give_roles},
    },
};

/// The provider with this name or alias: `anthropic` is `claude`. An unknown name is returned
/// unchanged.
pub(super) fn provider_named(name: &str) -> String {
    catalog::row(name).map_or_else(|| name.to_owned(), |row| row.name.to_owned())
}

/// The provider of a written seat, `claude` or `claude/MODEL`.
pub(super) fn provider_of(written: &str) -> String {
    provider_named(written.split_once('/').map_or(written, |(provider, _)| provider))
}

/// The suffix of a person's seat.
const PERSON: &str = "person";

/// Assigns a seat to each; seats of the same provider are numbered. Problems are reported under
/// this field.
pub(super) fn seated(table: &[Seating], field: &str, wrong: &mut Complaints) -> Vec<Participant> {
    let mut seats: Vec<Participant> = Vec::new();
    for written in table {
        match seat_of(written, field) {
            Ok(seat) if seat.is_person() && seats.iter().any(|it| it.name == seat.name) => {
                let name = in_short(&seat.name);
                wrong.clash(
                    field,
                    format!("two participants are named {name}; give each person a different name"),
                );
            }
            Ok(seat) => {
                let name = Participant::free_name(&seats, &seat.name);
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
    // A model's name may contain a colon; the kind of a seat follows a plain name.
    match written.rsplit_once(':').filter(|(name, _)| !name.contains('/')) {
        Some((name, PERSON)) if field == "participants" => person_of(name, None),
        Some((_, PERSON)) => {
            Err(format!("{} is a person; name the whole panel with participants instead", in_short(written)))
        }
        Some((_, kind)) if field == "participants" => {
            let (kind, written) = (in_short(format_args!("{kind:?}")), in_short(written));
            Err(format!(
                "there is no kind of participant named {kind}, as in {written}; the only one is {PERSON}"
            ))
        }
        Some(_) | None if is_name(written) => Ok(seat(written)),
        Some(_) | None => {
            let written = in_short(format_args!("{written:?}"));
            Err(format!("{written} is not a provider's name; write claude, or claude/MODEL"))
        }
    }
}

fn person_of(name: &str, user: Option<&str>) -> Result<Participant, String> {
    let name = name.trim();
    if !is_name(name) || name.contains(['/', ':', '@']) {
        let name = in_short(format_args!("{name:?}"));
        return Err(format!("{name} is not a person's name; write one word, like me:{PERSON}"));
    }
    let person = Person { user: user.map(str::to_owned) };
    Ok(Participant { person: Some(person), ..Participant::person(name).playing(Role::USER) })
}

fn seat(written: &str) -> Participant {
    let provider = provider_of(written);
    let model = written.split_once('/').map(|(_, model)| model.to_owned());
    let name = if model.is_some() { written.to_owned() } else { provider.clone() };
    let row = catalog::row(&provider);
    let strengths = row.map(|row| row.strengths.clone()).unwrap_or_default();
    // Local models go by common words, which identify no vendor.
    let known = row.filter(|row| !row.local).into_iter();
    let aliases = known.flat_map(|row| row.aliases.iter().chain(&row.model).cloned()).collect();
    Participant { name, model, strengths, aliases, ..Participant::of(&provider) }
}

/// Applies the user's configured strengths, which take precedence over the catalogue's.
pub(super) fn strengthen(seats: &mut [Participant], setting: &Setting) {
    for seat in seats.iter_mut().filter(|it| !it.is_person()) {
        if let Some(strengths) = setting.strengths.get(&seat.provider) {
            seat.strengths.clone_from(strengths);
        }
    }
}

/// The index of the seat with this name, or with another name of its provider.
pub(crate) fn place_of(seats: &[Participant], name: &str) -> Option<usize> {
    let by_name = |name: &str| seats.iter().position(|it| it.name == name);
    by_name(name).or_else(|| by_name(&provider_named(name)))
}

pub(super) fn not_seated(name: &str, seats: &[Participant]) -> String {
    not_a_participant(name, seats.iter().map(|it| it.name.as_str()))
}

/// Gives participants their own instructions.
pub(super) fn brief(seats: &mut [Participant], request: &Request, most: usize, wrong: &mut Complaints) {
    for (name, prompt) in wrong.few_named("providerPrompts", request.provider_prompts.as_ref(), most) {
        match place_of(seats, name) {
            Some(place) => {
                let field = format!("providerPrompts.{name}");
                seats[place].brief = wrong.text(&field, Some(prompt), LONGEST_PROMPT);
            }
            None => wrong.clash("providerPrompts", not_seated(name, seats)),
        }
    }
}

/// Assigns roles: those requested, those implied by an option, and those the pattern gives the rest
/// (INV-DISC-008).
pub(super) fn cast(
    seats: &mut Vec<Participant>,
    request: &Request,
    settings: &Settings,
    pattern: &str,
    setting: &Setting,
) -> Vec<Complaint> {
    let registry = &setting.registry;
    let mut wrong = Complaints::default();
    for (name, role) in wrong.few_named("roles", request.roles.as_ref(), most_seats(registry)) {
        match (place_of(seats, name), registry.role(role)) {
            (Some(place), Some(role)) => give_role(&mut seats[place], role.name, registry),
            (None, _) => {
                let complaint = Complaint::new("roles", Code::InvalidRoles, not_seated(name, seats));
                wrong.0.push(complaint.in_combination());
            }
            (_, None) => {
                let known: Vec<&str> = registry.roles().into_iter().map(|it| it.name).collect();
                let known = known.join(", ");
                let (role, name) = (in_short(role), in_short(name));
                let message = format!("there is no role {role}, given to {name}; there are {known}");
                wrong.add_coded("roles", Code::InvalidRoles, message);
            }
        }
    }
    give_roles(seats, settings, registry);
    if let Some(pattern) = registry.pattern(pattern) {
        let missing = setting.missing_roles;
        let topic = request.topic.as_str();
        let refusals =
            (pattern.seat)(&mut registry::Seating { participants: seats, settings, topic, missing });
        wrong.0.extend(refusals.into_iter().map(Complaint::from));
    }
    wrong.0
}
