//! The fields of a request that have no effect on its order: options to vote on where nothing is
//! voted on, and a panel where one voice answers.

use quorum::{Registry, model::spec::Spec};

use crate::v1::wanted::{PanelOptions, Wanted, field_of};

/// The fields of the panel that are known to have no effect on this order, by their paths. Options
/// of another pattern, method or strategy were refused.
pub(super) fn without_effect(panel: &PanelOptions, spec: &Spec, registry: &Registry) -> Vec<String> {
    let remarks = registry.remarks(spec);
    let is_remarked = |name: &str| remarks.iter().any(|it| it.field == name);
    let settings = panel.settings.keys().filter(|it| is_remarked(it)).map(|it| field_of(it));
    let options = panel.options.as_ref().filter(|_| is_remarked("votingOptions"));
    settings.chain(options.map(|_| "options".to_owned())).map(|it| format!("quorum.{it}")).collect()
}

/// The fields that describe a panel. They have no effect if one voice answers.
pub(super) fn of_panel(panel: &PanelOptions) -> Vec<String> {
    let own = [
        ("rounds", panel.rounds.is_some()),
        ("providers", panel.providers.is_some()),
        ("participants", panel.participants.is_some()),
        ("options", panel.options.is_some()),
    ];
    let own = own.into_iter().filter(|it| it.1).map(|it| it.0.to_owned());
    own.chain(panel.settings.keys().map(|it| field_of(it))).map(|it| format!("quorum.{it}")).collect()
}

/// All ignored fields of this request, including these.
pub(super) fn all(wanted: &Wanted, more: Vec<String>) -> Vec<String> {
    let fusion = wanted.fusion.iter().flat_map(|it| &it.ignored);
    let told = wanted.ignored.iter().chain(&wanted.panel.ignored).chain(fusion);
    let mut all: Vec<String> = told.cloned().chain(more).collect();
    all.sort();
    all.dedup();
    all
}
