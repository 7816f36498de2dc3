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
    Complaint, Origin, Remedy,
    agents::AgentError,
    request::{
        Request, Seat, Seating, Setting, TypedSeat,
        bounds::Complaints,
        limits::{LONGEST_PROMPT, most_seats},
        panel::is_available,
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

/// The suffix of an agent's seat.
const AGENT: &str = "agent";

impl Seating {
    /// Whether an agent is meant to sit there.
    pub(super) fn is_agent(&self) -> bool {
        match self {
            Seating::Typed(TypedSeat::Agent(_)) | Seating::KeptAgent(_) => true,
            Seating::Written(written) => {
                written.trim().rsplit_once(':').is_some_and(|(_, kind)| kind == AGENT)
            }
            Seating::Person(_) | Seating::Typed(TypedSeat::Provider(_)) | Seating::Kept { .. } => false,
        }
    }
}

/// Makes the seat of the agent with this id.
pub(super) type MakeAgent<'a> = &'a dyn Fn(&str) -> Result<Participant, AgentError>;

/// Seats an agent without its profile, where only the names of the seats matter.
pub(super) fn name_only(id: &str) -> Result<Participant, AgentError> {
    Ok(Participant::of(id))
}

/// Assigns a seat to each; seats of the same provider or agent are numbered. Problems are reported
/// under this field.
pub(super) fn seated(
    table: &[Seating],
    field: &str,
    agents: MakeAgent<'_>,
    wrong: &mut Complaints,
) -> Vec<Participant> {
    let mut seats: Vec<Participant> = Vec::new();
    for written in table {
        match seat_of(written, field, agents) {
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
            Err(complaint) => wrong.0.push(*complaint),
        }
    }
    seats
}

fn seat_of(written: &Seating, field: &str, agents: MakeAgent<'_>) -> Result<Participant, Box<Complaint>> {
    let wrong = |message: String| Box::new(Complaint::new(field, Code::InvalidRequest, message));
    let agent = |id: &str| agents(id).map_err(|error| Box::new(agent_complaint(field, &error)));
    let written = match written {
        Seating::Person(Seat { person, user }) => return person_of(person, user.as_deref()).map_err(wrong),
        Seating::KeptAgent(seat) => return Ok(Participant::clone(seat)),
        Seating::Typed(TypedSeat::Agent(id)) => return agent(id),
        Seating::Typed(TypedSeat::Provider(written)) => return plain_seat(written.trim()).map_err(wrong),
        Seating::Kept { seat: written, name } => {
            return Ok(Participant { name: name.clone(), ..seat(written) });
        }
        Seating::Written(written) => written.trim(),
    };
    // A model's name may contain a colon; the kind of a seat follows a plain name.
    match written.rsplit_once(':').filter(|(name, _)| !name.contains('/')) {
        Some((name, PERSON)) if field == "participants" => person_of(name, None).map_err(wrong),
        Some((id, AGENT)) if field == "participants" => agent(id.trim()),
        Some((_, kind @ (PERSON | AGENT))) => {
            let (article, written) = (if kind == AGENT { "an" } else { "a" }, in_short(written));
            let complaint = wrong(format!("{written} is {article} {kind}, and not a provider"));
            Err(Box::new(complaint.with([Remedy::NameWholePanel])))
        }
        Some((AGENT, id)) if field == "participants" => {
            Err(wrong(format!("an agent's seat is written {}:{AGENT}, with the id first", in_short(id))))
        }
        Some((_, kind)) if field == "participants" => {
            let (kind, written) = (in_short(format_args!("{kind:?}")), in_short(written));
            Err(wrong(format!(
                "there is no kind of participant named {kind}, as in {written}; \
                 there are {PERSON} and {AGENT}"
            )))
        }
        // A path in place of an agent's id.
        None if written.ends_with(":agent") && !is_name(written) && field == "participants" => {
            agent(written.trim_end_matches(":agent"))
        }
        Some(_) | None => plain_seat(written).map_err(wrong),
    }
}

fn plain_seat(written: &str) -> Result<Participant, String> {
    if is_name(written) {
        return Ok(seat(written));
    }
    let written = in_short(format_args!("{written:?}"));
    Err(format!("{written} is not a provider's name; write claude, or claude/MODEL"))
}

/// A complaint about an agent or its profile. What is in files is not a fault of the request's
/// value, but an id that can't be one is.
pub(crate) fn agent_complaint(field: &str, error: &AgentError) -> Complaint {
    let complaint = Complaint::new(field, Code::InvalidRequest, error.to_string());
    let complaint = match error {
        AgentError::NotAnId { .. } => complaint,
        _ => complaint.in_combination(),
    };
    let origin = error.file().map(|file| Origin::Profile { file: file.to_owned() });
    let searched =
        (!error.searched().is_empty()).then(|| Remedy::FindAgents { searched: error.searched().to_vec() });
    Complaint { origin, ..complaint }.with(searched)
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

/// Whether this is the provider of a seat, or one that the agent in it may speak through.
pub(super) fn may_speak_through(seat: &Participant, provider: &str) -> bool {
    let mut candidates = seat.agent.iter().flat_map(|it| &it.candidates);
    !seat.is_person() && (seat.provider == provider || candidates.any(|it| it.provider == provider))
}

/// The provider that this seat would speak through now: its own, or for an agent the first of its
/// candidates that is available. `None` if nobody could speak there.
pub(crate) fn available_provider<'s>(setting: &Setting, seat: &'s Participant) -> Option<&'s str> {
    let can_speak = |it: &&str| is_available(setting, it);
    let Some(agent) = &seat.agent else { return Some(seat.provider.as_str()).filter(can_speak) };
    let candidates = agent.behind(seat).into_iter().chain(&agent.candidates);
    candidates.map(|it| it.provider.as_str()).find(can_speak)
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
