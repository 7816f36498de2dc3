//! Who shall take part, as they were written: those named, or else the usual panel.

use quorum_core::model::{error::Code, excerpt::in_short, participant::Participant};
use quorum_core::registry::Usual;

use crate::{
    Complaint, Remedy,
    config::nearest,
    request::{
        Request, Seating, Setting,
        bounds::Complaints,
        limits::{least_seats, most_seats},
    },
};

/// Whom the participants' voices come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voiced {
    /// Real providers.
    Real,
    /// Simulated, because the request asks for it: any name will do.
    AsAsked,
    /// Simulated, because the program asks for it.
    BySetting,
}

/// The table as it was written, and the field it was written in.
pub(super) fn panel(
    request: &Request,
    setting: &Setting,
    simulated: bool,
    usual: &Usual,
    wrong: &mut Complaints,
) -> (Vec<Seating>, &'static str) {
    if let Some(seats) = &request.participants {
        if request.providers.is_some() {
            wrong
                .clash("participants", "names the whole table, and so does providers; leave one of them out");
        }
        fits(seats.len(), "participants", (usual, setting), wrong);
        return (seats.clone(), "participants");
    }
    let providers = providers(request, setting, simulated, usual, wrong);
    (providers.into_iter().map(Seating::Written).collect(), "providers")
}

/// People alone have nobody to write their result.
pub(super) fn with_a_model(seats: &[Participant], wrong: &mut Complaints) {
    if !seats.is_empty() && seats.iter().all(Participant::is_person) {
        wrong.clash("participants", "there are only people; a discussion takes at least one model");
    }
}

/// Whether everyone named has a voice. Where nothing is known of any provider, names are the voices' own business.
pub(super) fn with_voices(
    seats: &[Participant],
    field: &str,
    setting: &Setting,
    voiced: Voiced,
    wrong: &mut Complaints,
) {
    let knows = !setting.lacking.is_empty();
    let mut named: Vec<&str> = Vec::new();
    for seat in seats.iter().filter(|it| !it.is_person()) {
        let provider = seat.provider.as_str();
        if voiced == Voiced::AsAsked || named.contains(&provider) || is_available(setting, provider) {
            continue;
        }
        named.push(provider);
        match setting.lacking.get(provider) {
            Some(missing) if voiced == Voiced::Real => {
                let provide = Remedy::Provide { provider: provider.to_owned(), missing: missing.clone() };
                let message = format!("{provider} can't be asked here: {missing}");
                let complaint = Complaint::new(field, Code::InvalidRequest, message).in_combination();
                wrong.0.push(complaint.with([provide, Remedy::Simulate]));
            }
            None if knows => wrong.clash(field, stranger(setting, provider)),
            Some(_) | None => {}
        }
    }
}

/// Where nothing is known of any provider, the voices know which names they answer for.
fn is_available(setting: &Setting, name: &str) -> bool {
    let knows_none = setting.available.is_empty() && setting.lacking.is_empty();
    knows_none || setting.available.iter().any(|it| it == name)
}

fn stranger(setting: &Setting, name: &str) -> String {
    let known = setting.available.iter().chain(setting.lacking.keys()).map(String::as_str);
    let known: Vec<&str> = known.collect();
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("there is no provider named {}; did you mean {nearest}?", in_short(name)),
        None => format!("there is no provider named {}; there are {}", in_short(name), known.join(", ")),
    }
}

fn providers(
    request: &Request,
    setting: &Setting,
    simulated: bool,
    usual: &Usual,
    wrong: &mut Complaints,
) -> Vec<String> {
    let providers = request.providers.clone().unwrap_or_else(|| usual_panel(setting, simulated, usual));
    if request.providers.is_none() && providers.len() < usual.seats.0 {
        wrong.0.push(too_few(setting, &providers, usual));
    } else {
        fits(providers.len(), "providers", (usual, setting), wrong);
    }
    providers
}

/// The usual panel as far as it is there, filled up with others that are.
fn usual_panel(setting: &Setting, simulated: bool, usual: &Usual) -> Vec<String> {
    let usual_ones = usual.panel.iter().filter(|name| simulated || is_available(setting, name));
    let mut panel: Vec<String> = usual_ones.map(|name| (*name).to_owned()).collect();
    let others = setting.available.iter().filter(|name| !usual.panel.contains(&name.as_str()));
    let missing = usual.seats.0.saturating_sub(panel.len());
    panel.extend(others.take(missing).cloned());
    panel
}

fn too_few(setting: &Setting, there: &[String], usual: &Usual) -> Complaint {
    let least = usual.seats.0;
    let who = there.first().map_or_else(|| "nobody".to_owned(), |one| format!("only {one}"));
    let twice = there.first().map(|one| Remedy::SeatTwice { provider: one.clone() });
    let provide = usual.panel.iter().filter_map(|name| {
        let missing = setting.lacking.get(*name)?.clone();
        Some(Remedy::Provide { provider: (*name).to_owned(), missing })
    });
    let message = format!("{who} can be asked here, and a discussion takes {least}");
    Complaint::new("providers", Code::InsufficientProviders, message)
        .in_combination()
        .with(twice.into_iter().chain([Remedy::Simulate]).chain(provide))
}

fn fits(count: usize, field: &str, (usual, setting): (&Usual, &Setting), wrong: &mut Complaints) {
    let (least, most) = usual.seats;
    if !(least..=most).contains(&count) {
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let named = if count == 1 { "1 is named".to_owned() } else { format!("{count} are named") };
        let message = format!("a discussion of this kind takes {range} {field}; {named}");
        let of_any = least_seats(&setting.registry)..=most_seats(&setting.registry);
        if of_any.contains(&count) { wrong.clash(field, message) } else { wrong.add(field, message) }
    }
}
