//! Chooses the participants, as written: those named, or else the default panel.

use quorum_core::model::{error::Code, excerpt::in_short, participant::Participant};
use quorum_core::registry::Defaults;
use serde::Serialize;

use crate::{
    Complaint, Remedy,
    config::nearest,
    request::{
        Request, Seating, Setting, SoleVendor,
        bounds::Complaints,
        limits::{least_seats, most_seats},
    },
};

/// The source of the participants' voices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VoiceSource {
    /// Real providers.
    Real,
    /// Simulated because the request asks for it: any name will do.
    AsAsked,
    /// Simulated because the program asks for it.
    BySetting,
}

/// The participants as written, and the field they were written in.
pub(super) fn panel(
    request: &Request,
    setting: &Setting,
    simulated: bool,
    defaults: &Defaults,
    wrong: &mut Complaints,
) -> (Vec<Seating>, &'static str) {
    if let Some(seats) = &request.participants {
        if request.providers.is_some() {
            wrong
                .clash("participants", "names the whole panel, and so does providers; leave one of them out");
        }
        fits(seats.len(), "participants", (defaults, setting), wrong);
        return (seats.clone(), "participants");
    }
    let providers = providers(request, setting, simulated, defaults, wrong);
    (providers.into_iter().map(Seating::Written).collect(), "providers")
}

/// Refuses a panel of people only, as it has no model to write the result.
pub(super) fn with_a_model(seats: &[Participant], wrong: &mut Complaints) {
    if !seats.is_empty() && seats.iter().all(Participant::is_person) {
        wrong.clash("participants", "there are only people; a discussion takes at least one model");
    }
}

/// Checks that every named participant has a voice. If no providers are known, the voices decide
/// which names they accept.
pub(super) fn with_voices(
    seats: &[Participant],
    field: &str,
    setting: &Setting,
    voiced: VoiceSource,
    wrong: &mut Complaints,
) {
    let knows = !setting.lacking.is_empty();
    let mut named: Vec<&str> = Vec::new();
    // An agent that has no voice is absent when the panel is seated.
    for seat in seats.iter().filter(|it| !it.is_person() && it.agent.is_none()) {
        let provider = seat.provider.as_str();
        if voiced == VoiceSource::AsAsked || named.contains(&provider) || is_available(setting, provider) {
            continue;
        }
        named.push(provider);
        match setting.lacking.get(provider) {
            Some(missing) if voiced == VoiceSource::Real => {
                let provide = Remedy::Provide { provider: provider.to_owned(), missing: missing.clone() };
                let message = format!("{provider} is not available: {missing}");
                let has_none = setting.available.is_empty();
                let code = if has_none { Code::InsufficientProviders } else { Code::InvalidRequest };
                wrong.0.push(Complaint::new(field, code, message).with([provide, Remedy::Simulate]));
            }
            None if knows => wrong.add(field, stranger(setting, provider)),
            Some(_) | None => {}
        }
    }
}

/// Whether a provider is available. If no providers are known, the voices decide which names they
/// accept.
pub(super) fn is_available(setting: &Setting, name: &str) -> bool {
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
    defaults: &Defaults,
    wrong: &mut Complaints,
) -> Vec<String> {
    let providers = request.providers.clone().unwrap_or_else(|| default_panel(setting, simulated, defaults));
    if request.providers.is_none() && providers.len() < defaults.seats.0 {
        wrong.0.push(too_few(setting, &providers, defaults));
    } else {
        fits(providers.len(), "providers", (defaults, setting), wrong);
    }
    providers
}

/// The available providers of the default panel, filled up with other available ones, or with
/// further models of the only available vendor.
fn default_panel(setting: &Setting, simulated: bool, defaults: &Defaults) -> Vec<String> {
    if simulated {
        return defaults.panel.iter().map(|name| (*name).to_owned()).collect();
    }
    if let Some(seats) = seats_of_sole_vendor(setting, defaults) {
        return seats;
    }
    let mut panel = default_providers(setting, defaults);
    let others = setting.available.iter().filter(|name| !defaults.panel.contains(&name.as_str()));
    let missing = defaults.seats.0.saturating_sub(panel.len());
    panel.extend(others.take(missing).cloned());
    panel
}

/// The first seat of the default panel, for a question to one voice.
pub(super) fn first_seat(setting: &Setting, simulated: bool, defaults: &Defaults) -> Option<String> {
    default_panel(setting, simulated, defaults).into_iter().next()
}

/// The providers of the default panel that are available.
fn default_providers(setting: &Setting, defaults: &Defaults) -> Vec<String> {
    let there = defaults.panel.iter().filter(|name| is_available(setting, name));
    there.map(|name| (*name).to_owned()).collect()
}

/// Different models of the only available vendor; `None` if others are available too, or if
/// it has too few models.
fn seats_of_sole_vendor(setting: &Setting, defaults: &Defaults) -> Option<Vec<String>> {
    let SoleVendor { provider, models } = setting.sole_vendor.as_ref()?;
    let (least, most) = defaults.seats;
    let seats = models.iter().take(most).map(|model| format!("{provider}/{model}"));
    Some(seats.collect()).filter(|it: &Vec<String>| it.len() >= least)
}

/// How the panel of an order without named participants differs from the default one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PanelChoice {
    /// Only one vendor is available, so its models discuss.
    OneVendor {
        /// The provider.
        provider: String,
        /// Its models that take part.
        models: Vec<String>,
    },
    /// Some providers of the default panel are not available, but enough others are.
    Narrowed {
        /// The providers that take part.
        panel: Vec<String>,
        /// The providers of the default panel that are missing.
        missing: Vec<String>,
    },
    /// Too few providers of the default panel are available, so others fill it up.
    FilledUp {
        /// The providers that take part.
        panel: Vec<String>,
        /// Those among them that are not in the default panel.
        added: Vec<String>,
    },
}

/// How the panel of this request differs from the default one; `None` if it names its own, or gets
/// the default one.
pub(crate) fn choice(request: &Request, setting: &Setting, defaults: &Defaults) -> Option<PanelChoice> {
    if request.providers.is_some() || request.participants.is_some() {
        return None;
    }
    if let (Some(seats), Some(sole)) = (seats_of_sole_vendor(setting, defaults), &setting.sole_vendor) {
        let models = sole.models.iter().take(seats.len()).cloned().collect();
        return Some(PanelChoice::OneVendor { provider: sole.provider.clone(), models });
    }
    let (there, panel) = (default_providers(setting, defaults), default_panel(setting, false, defaults));
    if panel.len() > there.len() {
        let added = panel.iter().filter(|it| !there.contains(it)).cloned().collect();
        return Some(PanelChoice::FilledUp { panel, added });
    }
    let missing = defaults.panel.iter().filter(|name| !is_available(setting, name));
    let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
    (!missing.is_empty()).then_some(PanelChoice::Narrowed { panel, missing })
}

fn too_few(setting: &Setting, there: &[String], defaults: &Defaults) -> Complaint {
    let least = defaults.seats.0;
    let sole = setting.sole_vendor.as_ref();
    let one = there.first().map(|one| match sole.and_then(|it| it.models.first()) {
        Some(model) => format!("only {one}, with the one model {model},"),
        None => format!("only {one}"),
    });
    let available = one.unwrap_or_else(|| "no provider".to_owned());
    let has_one = sole.filter(|it| it.models.len() == 1);
    let another = has_one.map(|it| Remedy::AnotherModel { provider: it.provider.clone() });
    let twice = there.first().map(|one| Remedy::SeatTwice { provider: one.clone() });
    let twice = another.into_iter().chain(twice);
    let provide = defaults.panel.iter().filter_map(|name| {
        let missing = setting.lacking.get(*name)?.clone();
        Some(Remedy::Provide { provider: (*name).to_owned(), missing })
    });
    let message = format!("{available} is available, and a discussion takes {least}");
    Complaint::new("providers", Code::InsufficientProviders, message)
        .with(twice.chain([Remedy::Simulate]).chain(provide))
}

fn fits(count: usize, field: &str, (defaults, setting): (&Defaults, &Setting), wrong: &mut Complaints) {
    let (least, most) = defaults.seats;
    if !(least..=most).contains(&count) {
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let named = if count == 1 { "1 is named".to_owned() } else { format!("{count} are named") };
        let message = format!("a discussion of this kind takes {range} {field}; {named}");
        let of_any = least_seats(&setting.registry)..=most_seats(&setting.registry);
        if of_any.contains(&count) { wrong.clash(field, message) } else { wrong.add(field, message) }
    }
}
