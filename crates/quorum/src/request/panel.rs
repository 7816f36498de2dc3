//! Chooses the participants, as written: those named, or else the default panel.

use quorum_core::model::{
    error::Code,
    excerpt::in_short,
    participant::{Participant, is_name},
};
use quorum_core::registry::Defaults;
use quorum_providers::catalog;
use serde::Serialize;

use crate::{
    Complaint, Origin, Remedy,
    config::nearest,
    request::{
        Request, Seating, Setting, SoleVendor,
        bounds::Complaints,
        limits::{least_seats, most_seats},
        seats::provider_of,
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
        fits(seats.len(), "participants", (defaults, setting), None, wrong);
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
    (defaults, setting): (&Defaults, &Setting),
    voiced: VoiceSource,
    wrong: &mut Complaints,
) {
    let knows = !setting.lacking.is_empty();
    let mut named: Vec<&str> = Vec::new();
    // An agent that has no voice is absent when the panel is seated.
    let is_mute = |it: &&Participant| {
        let is_provider = !it.is_person() && it.agent.is_none();
        is_provider && voiced != VoiceSource::AsAsked && !is_available(setting, &it.provider)
    };
    // With enough others, it is the order that has to change.
    let others = seats.len() - seats.iter().filter(is_mute).count();
    let too_few = setting.available.is_empty() || others < defaults.seats.0;
    for seat in seats.iter().filter(is_mute) {
        let provider = seat.provider.as_str();
        if named.contains(&provider) {
            continue;
        }
        named.push(provider);
        match setting.lacking.get(provider) {
            Some(missing) if voiced == VoiceSource::Real => {
                let provide = Remedy::Provide { provider: provider.to_owned(), missing: missing.clone() };
                let message = format!("{provider} is not available: {missing}");
                let code = if too_few { Code::InsufficientProviders } else { Code::InvalidRequest };
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
        fits(providers.len(), "providers", (defaults, setting), for_one(&providers), wrong);
    }
    providers
}

/// What to name instead of a single provider.
fn for_one(providers: &[String]) -> Option<Remedy> {
    let [written] = providers else { return None };
    let provider = Some(provider_of(written.trim())).filter(|it| is_name(it))?;
    let row = catalog::row(&provider).filter(|row| row.panel.len() > 1);
    let models = row.into_iter().flat_map(|row| row.panel.iter().take(2).cloned()).collect();
    Some(Remedy::NameModels { provider, models })
}

/// The available providers of the default panel, filled up with other available ones, or with
/// further models or seats of the only available vendor.
fn default_panel(setting: &Setting, simulated: bool, defaults: &Defaults) -> Vec<String> {
    if simulated {
        return defaults.panel.iter().map(|name| (*name).to_owned()).collect();
    }
    if let Some(seats) = seats_of_sole_vendor(setting, defaults) {
        return seats;
    }
    let least = defaults.seats.0;
    let mut panel = default_providers(setting, defaults);
    // Other vendors come before other providers of the same vendors.
    let others = unasked(setting, &panel).into_iter().chain(setting.available.iter().cloned());
    for other in others {
        if panel.len() < least && !panel.contains(&other) {
            panel.push(other);
        }
    }
    if let Some(sole) = setting.sole_vendor.as_ref().filter(|it| it.is_program) {
        panel.resize(panel.len().max(least), sole.provider.clone());
    }
    panel
}

/// The available providers without a seat, one for each vendor that has no seat.
fn unasked(setting: &Setting, panel: &[String]) -> Vec<String> {
    let vendor = |name: &str| setting.same_vendor.get(name).map_or(name, String::as_str).to_owned();
    let mut seated: Vec<String> = panel.iter().map(|it| vendor(it)).collect();
    let mut unasked = Vec::new();
    for name in &setting.available {
        if !seated.contains(&vendor(name)) {
            seated.push(vendor(name));
            unasked.push(name.clone());
        }
    }
    unasked
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
    let SoleVendor { provider, models, is_program: _ } = setting.sole_vendor.as_ref()?;
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
    /// Only one program is available, so it takes several seats.
    OneProgram {
        /// The provider that it answers for.
        provider: String,
        /// The same provider once for each seat.
        panel: Vec<String>,
    },
    /// Some providers of the default panel are not available, but enough others are.
    Narrowed {
        /// The providers that take part.
        panel: Vec<String>,
        /// The providers of the default panel that are missing.
        missing: Vec<String>,
        /// The providers that are available and not asked, one for each vendor that isn't.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        unasked: Vec<String>,
    },
    /// Too few providers of the default panel are available, so others fill it up.
    FilledUp {
        /// The providers that take part.
        panel: Vec<String>,
        /// Those among them that are not in the default panel.
        added: Vec<String>,
        /// The providers that are available and not asked, one for each vendor that isn't.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        unasked: Vec<String>,
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
    if let Some((provider, others)) = panel.split_first()
        && others.contains(provider)
    {
        return Some(PanelChoice::OneProgram { provider: provider.clone(), panel });
    }
    let unasked = unasked(setting, &panel);
    if panel.len() > there.len() {
        let added = panel.iter().filter(|it| !there.contains(it)).cloned().collect();
        return Some(PanelChoice::FilledUp { panel, added, unasked });
    }
    let missing = defaults.panel.iter().filter(|name| !is_available(setting, name));
    let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
    (!missing.is_empty()).then_some(PanelChoice::Narrowed { panel, missing, unasked })
}

fn too_few(setting: &Setting, there: &[String], defaults: &Defaults) -> Complaint {
    let least = defaults.seats.0;
    let sole = setting.sole_vendor.as_ref();
    let one = there.first().map(|one| match sole.and_then(|it| it.models.first()) {
        Some(model) => format!("only {one}, with the one model {model},"),
        None => format!("only {one}"),
    });
    let available = one.map(|one| format!("{one} is available, and a discussion takes {least}"));
    let has_one = sole.filter(|it| it.models.len() == 1);
    let another = has_one.map(|it| Remedy::AnotherModel { provider: it.provider.clone() });
    let twice = there.first().map(|one| Remedy::SeatTwice { provider: one.clone() });
    let twice = another.into_iter().chain(twice);
    let provide = suggested(defaults).into_iter().filter_map(|name| {
        let missing = setting.lacking.get(name)?.clone();
        Some(Remedy::Provide { provider: name.to_owned(), missing })
    });
    let message = available.unwrap_or_else(|| "no provider is available".to_owned());
    let complaint = Complaint::new("providers", Code::InsufficientProviders, message);
    let complaint = complaint.with(twice.chain([Remedy::Simulate]).chain(provide));
    Complaint { origin: Some(Origin::DefaultPanel), ..complaint }
}

/// The providers that are suggested to a user who has too few: those of the default panel, and
/// those that the catalogue lists among them, because it lists the best known first.
fn suggested(defaults: &Defaults) -> Vec<&'static str> {
    let known: Vec<&str> = catalog::rows().iter().map(|row| row.name.as_str()).collect();
    let last = known.iter().rposition(|name| defaults.panel.contains(name));
    let listed = &known[..last.map_or(0, |last| last + 1)];
    let others = defaults.panel.iter().filter(|name| !listed.contains(name));
    listed.iter().chain(others).copied().collect()
}

fn fits(
    count: usize,
    field: &str,
    (defaults, setting): (&Defaults, &Setting),
    for_one: Option<Remedy>,
    wrong: &mut Complaints,
) {
    let (least, most) = defaults.seats;
    if !(least..=most).contains(&count) {
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let named = if count == 1 { "1 is named".to_owned() } else { format!("{count} are named") };
        let message = format!("a discussion of this kind takes {range} {field}; {named}");
        let complaint = Complaint::new(field, Code::InvalidRequest, message).with(for_one);
        let of_any = least_seats(&setting.registry)..=most_seats(&setting.registry);
        wrong.0.push(if of_any.contains(&count) { complaint.in_combination() } else { complaint });
    }
}
