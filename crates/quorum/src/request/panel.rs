//! Who shall take part, as they were written: those named, or else the usual panel.

use quorum_core::model::{error::Code, participant::Participant};

use crate::request::{Request, Seating, Setting, bounds::Complaints, check::Usual};

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
            wrong.add("participants", "names the whole table, and so does providers; leave one of them out");
        }
        fits(seats.len(), "participants", usual, wrong);
        return (seats.clone(), "participants");
    }
    let providers = providers(request, setting, simulated, usual, wrong);
    (providers.into_iter().map(Seating::Written).collect(), "providers")
}

/// People alone have nobody to write their result.
pub(super) fn with_a_model(seats: &[Participant], wrong: &mut Complaints) {
    if !seats.is_empty() && seats.iter().all(Participant::is_person) {
        wrong.add("participants", "there are only people; a discussion takes at least one model");
    }
}

fn providers(
    request: &Request,
    setting: &Setting,
    simulated: bool,
    usual: &Usual,
    wrong: &mut Complaints,
) -> Vec<String> {
    let is_there = |name: &&&str| simulated || setting.available.iter().any(|it| it == **name);
    let panel = || usual.panel.iter().filter(is_there).map(|name| (*name).to_owned()).collect();
    let providers: Vec<String> = request.providers.clone().unwrap_or_else(panel);
    let (count, least, most) = (providers.len(), usual.least, usual.most);
    if request.providers.is_none() && count < least {
        let there = if count == 0 { "none of them".to_owned() } else { providers.join(", ") };
        let panel = usual.panel.join(", ");
        let message = format!(
            "of the usual panel {panel} only {there} can be used here; name {least} to {most} that can"
        );
        wrong.add_coded("providers", Code::InsufficientProviders, message);
    } else {
        fits(count, "providers", usual, wrong);
    }
    providers
}

fn fits(count: usize, field: &str, usual: &Usual, wrong: &mut Complaints) {
    let (least, most) = (usual.least, usual.most);
    if !(least..=most).contains(&count) {
        let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let named = if count == 1 { "1 is named".to_owned() } else { format!("{count} are named") };
        wrong.add(field, format!("a discussion of this kind takes {range} {field}; {named}"));
    }
}
